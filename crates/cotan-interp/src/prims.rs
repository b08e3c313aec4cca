//! Scalar primitives on values and arrays, and the specified order of sums.
//!
//! `sum` of n numbers: blocks of 4096; in a block eight strided partial sums, folded as ((0+4)+(2+6))+((1+5)+(3+7)); the sums of the blocks are
//! summed in the same way. The order is part of the language, so that every engine gives the same bits.

use crate::array::{Data, array};
use crate::fault::Fault;
use crate::value::{Array, Value};
use cotan_prim::{Prim, PrimError, Scalar};

const BLOCK: usize = 4096;

/// The sum in the specified order.
pub fn sum_f64(v: &[f64]) -> f64 {
    if v.len() <= BLOCK {
        return block_sum(v);
    }
    let sums: Vec<f64> = v.chunks(BLOCK).map(block_sum).collect();
    sum_f64(&sums)
}

fn block_sum(v: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let mut chunks = v.chunks_exact(8);
    for c in &mut chunks {
        for (l, x) in lanes.iter_mut().zip(c) {
            *l += x;
        }
    }
    for (l, x) in lanes.iter_mut().zip(chunks.remainder()) {
        *l += x;
    }
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

/// A value as scalar.
pub fn scalar(v: &Value) -> Scalar {
    match v {
        Value::F64(x) => Scalar::F64(*x),
        Value::F32(x) => Scalar::F32(*x),
        Value::I64(x) => Scalar::I64(*x),
        Value::Bool(x) => Scalar::Bool(*x),
        other => unreachable!("{other:?} is no scalar"),
    }
}

/// A scalar as value.
pub fn value(s: Scalar) -> Value {
    match s {
        Scalar::F64(x) => Value::F64(x),
        Scalar::F32(x) => Value::F32(x),
        Scalar::I64(x) => Value::I64(x),
        Scalar::Bool(x) => Value::Bool(x),
    }
}

/// A primitive of scalars.
pub fn apply(prim: Prim, args: &[Value]) -> Result<Value, Fault> {
    match args {
        [Value::F64(x), Value::F64(y)] => match prim {
            Prim::Add => return Ok(Value::F64(x + y)),
            Prim::Sub => return Ok(Value::F64(x - y)),
            Prim::Mul => return Ok(Value::F64(x * y)),
            Prim::Div => return Ok(Value::F64(x / y)),
            Prim::AMul => return Ok(Value::F64(if *x == 0.0 { 0.0 } else { x * y })),
            Prim::Lt => return Ok(Value::Bool(x < y)),
            Prim::Le => return Ok(Value::Bool(x <= y)),
            Prim::Gt => return Ok(Value::Bool(x > y)),
            Prim::Ge => return Ok(Value::Bool(x >= y)),
            _ => {
                if let Some(r) = prim.eval2_f64(*x, *y) {
                    return Ok(Value::F64(r));
                }
            }
        },
        [Value::F64(x)] => {
            if let Some(r) = prim.eval1_f64(*x) {
                return Ok(Value::F64(r));
            }
        }
        [Value::Bool(c), a, b] if prim == Prim::Select => return Ok(if *c { a.clone() } else { b.clone() }),
        _ => {}
    }
    let args: smallvec::SmallVec<[Scalar; 3]> = args.iter().map(scalar).collect();
    prim.eval(&args).map(value).map_err(Fault::Prim)
}

/// A primitive on every element.
pub fn map(prim: Prim, args: &[Value]) -> Result<Value, Fault> {
    let mut shape: Option<&Vec<usize>> = None;
    for a in args {
        if let Value::Array(a) = a {
            match shape {
                Some(s) if *s != a.shape => {
                    let (left, right) = (s.clone(), a.shape.clone());
                    return Err(Fault::Shapes { left, right, what: "arrays that are combined element by element" });
                }
                _ => shape = Some(&a.shape),
            }
        }
    }
    let Some(shape) = shape.cloned() else { return apply(prim, args) };
    // Two vectors of binary64, or one and a number.
    let data = |v: &Value| match v {
        Value::Array(a) => match &a.data {
            Data::F64(v) => Some(v.clone()),
            _ => None,
        },
        _ => None,
    };
    if let [a] = args
        && let Some(mut v) = data(a)
        && v.first().is_some_and(|x| prim.eval1_f64(*x).is_some())
    {
        for x in &mut v {
            *x = prim.eval1_f64(*x).expect("a real primitive");
        }
        return Ok(array(shape, Data::F64(v)));
    }
    if let [a, b] = args
        && prim.eval2_f64(1.0, 1.0).is_some()
    {
        let f = |x: f64, y: f64| prim.eval2_f64(x, y).expect("a real primitive");
        match (a, b) {
            (Value::Array(x), Value::Array(y)) => {
                if let (Data::F64(x), Data::F64(y)) = (&x.data, &y.data) {
                    return Ok(array(shape, Data::F64(x.iter().zip(y).map(|(x, y)| f(*x, *y)).collect())));
                }
            }
            (Value::Array(x), Value::F64(y)) => {
                if let Data::F64(x) = &x.data {
                    return Ok(array(shape, Data::F64(x.iter().map(|x| f(*x, *y)).collect())));
                }
            }
            (Value::F64(x), Value::Array(y)) => {
                if let Data::F64(y) = &y.data {
                    return Ok(array(shape, Data::F64(y.iter().map(|y| f(*x, *y)).collect())));
                }
            }
            _ => {}
        }
    }
    let n: usize = shape.iter().product();
    let mut out = Data::Any(Vec::new());
    for i in 0..n {
        let items: smallvec::SmallVec<[Value; 3]> = args
            .iter()
            .map(|a| match a {
                Value::Array(a) => a.data.get(i),
                other => other.clone(),
            })
            .collect();
        out.push(apply(prim, &items)?);
    }
    Ok(array(shape, out))
}

/// The matrix product; `zero` is the empty sum. Every element sums its products from the left.
pub fn matmul(a: &Array, b: &Array, zero: &Value) -> Result<Value, Fault> {
    let (m, k, k2, n, shape) = match (&a.shape[..], &b.shape[..]) {
        ([m, k], [k2, n]) => (*m, *k, *k2, *n, vec![*m, *n]),
        ([m, k], [k2]) => (*m, *k, *k2, 1, vec![*m]),
        ([k], [k2, n]) => (1, *k, *k2, *n, vec![*n]),
        _ => unreachable!("ranks are checked before"),
    };
    if k != k2 {
        let (left, right) = (a.shape.clone(), b.shape.clone());
        return Err(Fault::Shapes { left, right, what: "the inner extents of a matrix product" });
    }
    /// Row by row, so that memory is read in order.
    fn product<T: Copy>(
        (m, k, n): (usize, usize, usize),
        (x, y, zero): (&[T], &[T], T),
        add: impl Fn(T, T, T) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut out = vec![zero; m * n];
        for i in 0..m {
            let row = &mut out[i * n..(i + 1) * n];
            for l in 0..k {
                let x = x[i * k + l];
                for (sum, y) in row.iter_mut().zip(&y[l * n..(l + 1) * n]) {
                    *sum = add(*sum, x, *y)?;
                }
            }
        }
        Some(out)
    }
    let size = (m, k, n);
    let data = match (&a.data, &b.data) {
        (Data::F64(x), Data::F64(y)) => product(size, (x, y, 0.0), |s, x, y| Some(s + x * y)).map(Data::F64),
        (Data::F32(x), Data::F32(y)) => product(size, (x, y, 0.0), |s, x, y| Some(s + x * y)).map(Data::F32),
        (Data::I64(x), Data::I64(y)) => {
            product(size, (x, y, 0), |s: i64, x, y| s.checked_add(x.checked_mul(y)?)).map(Data::I64)
        }
        // One side is empty: the sums are empty, if there are any.
        _ => Some(Data::fill(zero, m * n)),
    };
    Ok(array(shape, data.ok_or(Fault::Prim(PrimError::Overflow))?))
}

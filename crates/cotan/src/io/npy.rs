//! NumPy's `.npy` and `.npz`.
//!
//! In: bytes. Out: a [`Tensor`], elements in row-major order and the machine's byte order; and back. Versions 1 to 3,
//! `f8 f4 i8 i4 i2 i1 u1 b1`, C and Fortran order, both byte orders. Anything else is a message that names it.

use std::io::{Cursor, Read};

/// A rectangular array of one kind of number.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Extents; none for a single number.
    pub shape: Vec<usize>,
    /// Elements, the last axis runs fastest.
    pub data: Data,
}

/// The elements of a [`Tensor`].
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// binary64.
    F64(Vec<f64>),
    /// binary32.
    F32(Vec<f32>),
    /// Integers.
    I64(Vec<i64>),
    /// Truth values.
    Bool(Vec<bool>),
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads an `.npy` file.
pub fn read(bytes: &[u8]) -> Result<Tensor, String> {
    if !bytes.starts_with(MAGIC) {
        return Err("this is not an NPY file: it does not start with \\x93NUMPY".into());
    }
    let version = *bytes.get(6).ok_or("the file ends within its header")?;
    let (length, start) = match version {
        1 => {
            let b = bytes.get(8..10).ok_or("the file ends within its header")?;
            (u16::from_le_bytes([b[0], b[1]]) as usize, 10)
        }
        2 | 3 => {
            let b = bytes.get(8..12).ok_or("the file ends within its header")?;
            (u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize, 12)
        }
        _ => return Err(format!("NPY version {version} is not known (1, 2 and 3 are)")),
    };
    let header = bytes.get(start..start + length).ok_or("the file ends within its header")?;
    let header = String::from_utf8_lossy(header);
    let descr = entry(&header, "descr").ok_or("the header does not say `descr`")?;
    let fortran = entry(&header, "fortran_order").ok_or("the header does not say `fortran_order`")?;
    let shape = entry(&header, "shape").ok_or("the header does not say `shape`")?;
    let shape = parse_shape(&shape)?;
    let count = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).ok_or("the shape is too large")?;
    let data = elements(descr.trim_matches(['\'', '"']), &bytes[start + length..], count)?;
    let fortran = fortran == "True";
    let data = if fortran && shape.len() > 1 { reorder(&shape, data) } else { data };
    Ok(Tensor { shape, data })
}

/// The value of `name` in the header's dictionary, as text.
fn entry(header: &str, name: &str) -> Option<String> {
    let at = header.find(&format!("'{name}'")).or_else(|| header.find(&format!("\"{name}\"")))?;
    let rest = header[at + name.len() + 2..].trim_start().strip_prefix(':')?.trim_start();
    let end = match rest.chars().next()? {
        '(' => rest.find(')')? + 1,
        quote @ ('\'' | '"') => rest[1..].find(quote)? + 2,
        '[' => rest.rfind(']')? + 1,
        _ => rest.find([',', '}'])?,
    };
    Some(rest[..end].trim().to_string())
}

fn parse_shape(text: &str) -> Result<Vec<usize>, String> {
    text.trim_matches(['(', ')'])
        .split(',')
        .map(str::trim)
        .filter(|s| !s.is_empty())
        .map(|s| s.trim_end_matches('L').parse().map_err(|_| format!("the shape {text} cannot be read")))
        .collect()
}

/// Decodes `count` elements of the kind `descr`, such as `<f8`.
fn elements(descr: &str, bytes: &[u8], count: usize) -> Result<Data, String> {
    let unknown = || format!("elements of kind {descr:?} are not supported (f8, f4, i8, i4, i2, i1, u1 and b1 are)");
    let mut chars = descr.chars();
    let order = chars.next().ok_or_else(unknown)?;
    let kind = chars.as_str();
    let big = match order {
        '<' | '|' => false,
        '>' => true,
        '=' => cfg!(target_endian = "big"),
        _ => return Err(unknown()),
    };
    if !["f8", "f4", "i8", "i4", "i2", "i1", "u1", "b1"].contains(&kind) {
        return Err(unknown());
    }
    let width: usize = kind.get(1..).and_then(|w| w.parse().ok()).ok_or_else(unknown)?;
    let size = count.checked_mul(width).ok_or("the shape is too large")?;
    let bytes = bytes.get(..size).ok_or_else(|| {
        format!("the file ends early: {size} bytes of elements are announced, {} are there", bytes.len())
    })?;
    macro_rules! numbers {
        ($ty:ty) => {
            bytes.chunks_exact(size_of::<$ty>()).map(|c| {
                let c = c.try_into().unwrap_or_default();
                if big { <$ty>::from_be_bytes(c) } else { <$ty>::from_le_bytes(c) }
            })
        };
    }
    Ok(match kind {
        "f8" => Data::F64(numbers!(f64).collect()),
        "f4" => Data::F32(numbers!(f32).collect()),
        "i8" => Data::I64(numbers!(i64).collect()),
        "i4" => Data::I64(numbers!(i32).map(i64::from).collect()),
        "i2" => Data::I64(numbers!(i16).map(i64::from).collect()),
        "i1" => Data::I64(numbers!(i8).map(i64::from).collect()),
        "u1" => Data::I64(numbers!(u8).map(i64::from).collect()),
        "b1" => Data::Bool(bytes.iter().map(|b| *b != 0).collect()),
        _ => return Err(unknown()),
    })
}

/// Elements in Fortran order (the first axis runs fastest) to row-major order.
fn reorder(shape: &[usize], data: Data) -> Data {
    fn go<T: Copy>(shape: &[usize], from: &[T]) -> Vec<T> {
        let mut strides = Vec::with_capacity(shape.len());
        let mut stride = 1;
        for extent in shape {
            strides.push(stride);
            stride *= extent;
        }
        let mut index = vec![0; shape.len()];
        let mut out = Vec::with_capacity(from.len());
        for _ in 0..from.len() {
            out.push(from[index.iter().zip(&strides).map(|(i, s)| i * s).sum::<usize>()]);
            for axis in (0..shape.len()).rev() {
                index[axis] += 1;
                if index[axis] < shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        out
    }
    match data {
        Data::F64(v) => Data::F64(go(shape, &v)),
        Data::F32(v) => Data::F32(go(shape, &v)),
        Data::I64(v) => Data::I64(go(shape, &v)),
        Data::Bool(v) => Data::Bool(go(shape, &v)),
    }
}

/// An `.npy` file of version 1.
pub fn write(tensor: &Tensor) -> Vec<u8> {
    let descr = match tensor.data {
        Data::F64(_) => "<f8",
        Data::F32(_) => "<f4",
        Data::I64(_) => "<i8",
        Data::Bool(_) => "|b1",
    };
    let shape: String = tensor.shape.iter().map(|d| format!("{d},")).collect();
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // The elements start at a multiple of 64 bytes; the header ends in a newline.
    while !(MAGIC.len() + 4 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut out = MAGIC.to_vec();
    out.extend([1, 0]);
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    match &tensor.data {
        Data::F64(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Data::F32(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Data::I64(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        Data::Bool(v) => out.extend(v.iter().map(|b| u8::from(*b))),
    }
    out
}

/// Reads an `.npz` file: names and arrays in the order of the archive.
pub fn read_npz(bytes: &[u8]) -> Result<Vec<(String, Tensor)>, String> {
    let mut archive =
        zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| format!("this is not an NPZ file: {error}"))?;
    let mut out = Vec::new();
    for position in 0..archive.len() {
        let mut entry = archive.by_index(position).map_err(|error| format!("entry {position}: {error}"))?;
        let name = entry.name().trim_end_matches(".npy").to_string();
        let mut data = Vec::new();
        entry.read_to_end(&mut data).map_err(|error| format!("entry `{name}`: {error}"))?;
        let tensor = read(&data).map_err(|error| format!("entry `{name}`: {error}"))?;
        out.push((name, tensor));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend([version, 0]);
        if version == 1 {
            out.extend((header.len() as u16).to_le_bytes());
        } else {
            out.extend((header.len() as u32).to_le_bytes());
        }
        out.extend(header.as_bytes());
        out.extend(data);
        out
    }

    #[test]
    fn there_and_back() {
        for data in [
            Data::F64(vec![1.0, f64::NAN.copysign(1.0), -0.0, 4.0, 5.0, 6.0]),
            Data::F32(vec![1.5; 6]),
            Data::I64(vec![i64::MIN, -1, 0, 1, 2, i64::MAX]),
            Data::Bool(vec![true, false, true, true, false, false]),
        ] {
            let tensor = Tensor { shape: vec![2, 3], data };
            let back = read(&write(&tensor)).unwrap();
            assert_eq!(format!("{back:?}"), format!("{tensor:?}"));
            let width = match tensor.data {
                Data::F64(_) | Data::I64(_) => 8,
                Data::F32(_) => 4,
                Data::Bool(_) => 1,
            };
            assert_eq!(write(&tensor).len() % 64, 6 * width);
        }
    }

    #[test]
    fn fortran_order_and_big_endian() {
        let header = "{'descr': '>i4', 'fortran_order': True, 'shape': (2, 3), }\n";
        let data: Vec<u8> = [1i32, 4, 2, 5, 3, 6].iter().flat_map(|x| x.to_be_bytes()).collect();
        for version in [1, 2, 3] {
            let tensor = read(&file(version, header, &data)).unwrap();
            assert_eq!(tensor, Tensor { shape: vec![2, 3], data: Data::I64(vec![1, 2, 3, 4, 5, 6]) });
        }
    }

    #[test]
    fn single_numbers_have_no_axes() {
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (), }";
        let tensor = read(&file(1, header, &2.5f64.to_le_bytes())).unwrap();
        assert_eq!(tensor, Tensor { shape: vec![], data: Data::F64(vec![2.5]) });
    }

    #[test]
    fn bad_files_are_messages() {
        assert!(read(b"PK").is_err());
        assert!(read(MAGIC).is_err());
        assert!(read(&file(9, "", b"")).unwrap_err().contains("version 9"));
        let short = file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", &[0; 8]);
        assert!(read(&short).unwrap_err().contains("24 bytes"));
        let kind = file(1, "{'descr': '<c16', 'fortran_order': False, 'shape': (3,), }", &[0; 8]);
        assert!(read(&kind).unwrap_err().contains("<c16"));
        let huge = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({0}, {0}), }}", usize::MAX);
        assert!(read(&file(1, &huge, &[])).unwrap_err().contains("too large"));
        assert!(read_npz(b"nothing").is_err());
    }
}

//! Constants.
//!
//! In: a constant of the core. Out: a literal where its value is one (or simple arithmetic of some), else a call of the function
//! that computes it.

use crate::frame::Frame;
use cotan_core::{BinaryOp, ConstId, Expr, ExprKind, Lit, Program, Ty, UnaryOp};
use cotan_ir::{Atom, Op};

impl Frame<'_, '_> {
    /// The value of a constant.
    pub fn constant(&mut self, id: ConstId) -> Atom {
        let core = self.s.core;
        let def = &core.consts[id];
        if let Some(lit) = literal(core, &def.value, 0) {
            let ty = self.ty(&def.ty);
            return self.lit_as(&lit, ty);
        }
        let func = self.s.constant(self.b.program, id);
        self.emit(Op::Call { func, args: Vec::new() })
    }
}

/// The value of an expression that can be seen at a glance.
fn literal(core: &Program, e: &Expr, depth: usize) -> Option<Lit> {
    if depth > 8 {
        return None;
    }
    match &e.kind {
        ExprKind::Lit(Lit::Int(i)) if matches!(e.ty, Ty::Float | Ty::Float32) => Some(Lit::Float(*i as f64)),
        ExprKind::Lit(lit) => Some(lit.clone()),
        ExprKind::Const(id) => literal(core, &core.consts[*id].value, depth + 1),
        ExprKind::Unary { op: UnaryOp::Neg, operand } => match literal(core, operand, depth + 1)? {
            Lit::Float(x) => Some(Lit::Float(-x)),
            Lit::Int(i) => i.checked_neg().map(Lit::Int),
            Lit::Bool(_) | Lit::Str(_) => None,
        },
        // Only binary64: narrower numbers would have to be rounded at each step.
        ExprKind::Binary { op, left, right } if e.ty == Ty::Float => {
            let (Lit::Float(x), Lit::Float(y)) = (literal(core, left, depth + 1)?, literal(core, right, depth + 1)?)
            else {
                return None;
            };
            match op {
                BinaryOp::Add => Some(Lit::Float(x + y)),
                BinaryOp::Sub => Some(Lit::Float(x - y)),
                BinaryOp::Mul => Some(Lit::Float(x * y)),
                BinaryOp::Div => Some(Lit::Float(x / y)),
                _ => None,
            }
        }
        _ => None,
    }
}

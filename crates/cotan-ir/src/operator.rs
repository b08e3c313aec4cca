//! What both extensions of the IR ([`AdOp`] before differentiation, [`Never`] after it) have in common.
//!
//! In: an operation of unknown extension. Out: its operator of differentiation, if it can have one. Code that is
//! generic over the extension matches on [`AdOp`] exhaustively and needs no second case.

use crate::{AdOp, Never};
use std::fmt::Debug;

/// An extension of [`Op`](crate::Op).
pub trait Operator: Clone + PartialEq + Debug + Sized + 'static {
    /// The operator of differentiation that this is.
    fn ad(&self) -> &AdOp;
    /// The operator of differentiation that this is, for change.
    fn ad_mut(&mut self) -> &mut AdOp;
    /// The extension that holds this operator, if there is one.
    fn from_ad(op: AdOp) -> Option<Self>;
}

impl Operator for AdOp {
    fn ad(&self) -> &AdOp {
        self
    }
    fn ad_mut(&mut self) -> &mut AdOp {
        self
    }
    fn from_ad(op: AdOp) -> Option<Self> {
        Some(op)
    }
}

impl Operator for Never {
    fn ad(&self) -> &AdOp {
        match *self {}
    }
    fn ad_mut(&mut self) -> &mut AdOp {
        match *self {}
    }
    fn from_ad(_: AdOp) -> Option<Self> {
        None
    }
}

//! Signatures of derivatives: which results and parameters take part.

use cotan_ir::{Program, TypeId, differentiable};

/// The positions of the results that have tangents.
pub(crate) fn differentiable_results(program: &Program, types: &[TypeId]) -> Vec<usize> {
    (0..types.len()).filter(|i| differentiable(program, types[*i])).collect()
}

//! Points at which a function is checked.
//!
//! In: a program whose first entry point is the function, the arguments that were given. Out: all arguments and the value there.
//! Newly true: the function ran there without an error; its value is finite unless that was not to be had.

use crate::failure::Failure;
use crate::leaves;
use crate::pipeline::Compiled;
use crate::random::{self, Domain, Random};
use crate::session::Session;
use crate::value::Value;
use cotan_core::{FnId, Program};
use cotan_ir::TypeId;

/// Random arguments where none are given, until the function has a finite value.
pub fn find(
    session: &mut Session,
    compiled: &mut Compiled,
    (core, id): (&Program, FnId),
    given: &[Option<Value>],
    random: &mut Random,
) -> Result<(Vec<Value>, Value), Failure> {
    let tys: Vec<TypeId> = compiled.params(0).iter().map(|p| p.ty).collect();
    let all_given = given.iter().all(Option::is_some);
    let finite = |compiled: &Compiled, y: &Value| {
        let mut out = Vec::new();
        leaves::of(y, compiled.result(0), compiled.types(), "result", &mut out);
        out.iter().all(|l| l.value.is_finite())
    };
    let (mut point, mut last) = (None, None);
    // A random point may lie outside of the domain of the function; a positive one, or one between 0 and 1, may not.
    for domain in [Domain::All, Domain::Positive, Domain::Unit] {
        for _ in 0..3 {
            let args = random::arguments(core, id, given, &tys, compiled.types(), domain, random);
            match session.call(compiled, 0, args.clone()) {
                Ok(y) if all_given || finite(compiled, &y) => return Ok((args, y)),
                Ok(y) => {
                    point.get_or_insert((args, y));
                }
                Err(failure @ Failure::Bug(_)) => return Err(failure),
                Err(failure) if all_given => return Err(failure),
                Err(failure) => last = Some(failure),
            }
        }
    }
    point.ok_or_else(|| last.unwrap_or_else(|| Failure::bug("points", "no point was tried")))
}

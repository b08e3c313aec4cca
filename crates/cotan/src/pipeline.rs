//! The pipeline on one page.
//!
//! In: the typed core and entry points. Out: [`Compiled`], a program that can be called. Newly true, in this order: no type
//! variables, no function values without code (lower); smaller (opt); no derivative left to take (ad); faster (opt). In debug
//! builds the representation is validated after every pass and the pass is blamed by name.

use crate::clauses::Clauses;
use crate::entry::{self, Entry};
use crate::failure::{Failure, guard};
use crate::inputs::Param;
use crate::io::Types;
use crate::options::{AdMode, Engine};
use crate::session::{Checked, Session, blame};
use cotan_core::{FnId as CoreFn, Program as Core};
use cotan_interp::{Machine, Reference};
use cotan_ir::{AdOp, FnId, Never, Operator, Program, TypeId, validate, validate_function};
use cotan_lower::Root;
use cotan_source::{Diagnostic, Span};

/// A program that can be called at its entry points.
pub struct Compiled {
    /// The code.
    pub(crate) code: Code,
    /// The entry points, in the order asked for.
    pub(crate) roots: Vec<FnId>,
    /// Where its derivative clauses are.
    pub(crate) clauses: Clauses,
}

/// The two forms in which a program runs.
pub(crate) enum Code {
    /// With the operators of differentiation, which the evaluator computes by values.
    Values(Program<AdOp>),
    /// Without them; derivatives of function values are made when they are asked for.
    Expanded(Program<Never>),
    /// The same in the evaluator, once it was called.
    Machine(Box<Machine>),
    /// The program with operators in its evaluator.
    Reference(Box<Reference>),
}

impl Compiled {
    /// The types of the program.
    pub fn types(&self) -> Types<'_> {
        match &self.code {
            Code::Values(program) => program.into(),
            Code::Expanded(program) => program.into(),
            Code::Machine(machine) => (&machine.program).into(),
            Code::Reference(reference) => reference.program().into(),
        }
    }

    /// The parameters of an entry point.
    pub fn params(&self, root: usize) -> Vec<Param> {
        fn of<A>(program: &Program<A>, id: FnId) -> Vec<Param> {
            let func = &program.fns[id];
            let name = |p: &cotan_ir::Var| func.vars[*p].name.clone().unwrap_or_default();
            func.params.iter().map(|p| Param { name: name(p), ty: func.vars[*p].ty }).collect()
        }
        match &self.code {
            Code::Values(program) => of(program, self.roots[root]),
            Code::Expanded(program) => of(program, self.roots[root]),
            Code::Machine(machine) => of(&machine.program, self.roots[root]),
            Code::Reference(reference) => of(reference.program(), self.roots[root]),
        }
    }

    /// The type of the result of an entry point.
    pub fn result(&self, root: usize) -> TypeId {
        match &self.code {
            Code::Values(program) => program.fns[self.roots[root]].results[0],
            Code::Expanded(program) => program.fns[self.roots[root]].results[0],
            Code::Machine(machine) => machine.program.fns[self.roots[root]].results[0],
            Code::Reference(reference) => reference.program().fns[self.roots[root]].results[0],
        }
    }
}

impl Session {
    /// Core to a program that can be called.
    pub(crate) fn compile(&mut self, core: Core, entries: &[(CoreFn, Entry)]) -> Result<Compiled, Failure> {
        self.engine()?;
        let clauses = Clauses::of(&core);
        let (mut program, roots) = self.lowered(core, entries)?;
        self.simplified(&mut program)?;
        let code = match self.options.ad {
            AdMode::Values => Code::Values(program),
            AdMode::Transform => {
                let mut program = self.differentiated(&program)?;
                self.simplified(&mut program)?;
                Code::Expanded(program)
            }
        };
        Ok(Compiled { code, roots, clauses })
    }

    /// Compiles every function of the root file as it would be called from outside: nothing that was checked may fail
    /// here but for limits of compilation.
    pub fn compile_all(&mut self, checked: Checked) -> Result<Compiled, Failure> {
        let entries: Vec<(CoreFn, Entry)> = checked.core.exports.iter().map(|id| (*id, Entry::Itself)).collect();
        self.compile(checked.core, &entries)
    }

    /// Core to IR, with the entry points added.
    pub(crate) fn lowered(
        &mut self,
        mut core: Core,
        entries: &[(CoreFn, Entry)],
    ) -> Result<(Program<AdOp>, Vec<FnId>), Failure> {
        let roots: Vec<Root> = entries.iter().map(|(f, e)| Root::from(entry::add(&mut core, *f, e))).collect();
        let lowered = self.timed("lower", || guard("lower (cotan-lower)", || cotan_lower::lower(&core, &roots)))?;
        let (mut program, roots) = lowered.map_err(Failure::User)?;
        self.validated("lower (cotan-lower)", &mut program)?;
        Ok((program, roots))
    }

    /// IR with operators of differentiation to IR without.
    pub(crate) fn differentiated(&mut self, program: &Program<AdOp>) -> Result<Program<Never>, Failure> {
        let pass = "differentiate (cotan-ad)";
        let expanded = self.timed("differentiate", || guard(pass, || cotan_ad::expand(program)));
        let mut program = expanded?;
        self.validated(pass, &mut program)?;
        Ok(program)
    }

    /// IR to smaller and faster IR.
    pub(crate) fn simplified<A: Operator>(&mut self, program: &mut Program<A>) -> Result<(), Failure> {
        let validating = self.options.validate;
        let mut faults: Vec<(&'static str, Vec<String>)> = Vec::new();
        self.timed("simplify", || {
            guard("simplify (cotan-opt)", || {
                if validating {
                    cotan_opt::simplify_observed(program, &mut |program, function, pass| {
                        let found = validate_function(program, function);
                        if faults.is_empty() && !found.is_empty() {
                            faults.push((pass, found));
                        }
                    });
                } else {
                    cotan_opt::simplify(program);
                }
            })
        })?;
        faults.into_iter().try_for_each(|(pass, found)| blame(pass, found))?;
        self.validated("simplify (cotan-opt)", program)
    }

    /// Blames `pass` if the program is not well-formed.
    fn validated<A: Operator>(&mut self, pass: &'static str, program: &mut Program<A>) -> Result<(), Failure> {
        if self.options.validate { blame(pass, guard("validate (cotan-ir)", || validate(program))?) } else { Ok(()) }
    }

    /// Refuses engines that do not exist yet.
    fn engine(&self) -> Result<(), Failure> {
        let name = match self.options.engine {
            Engine::Interp => return Ok(()),
            Engine::Jit => "jit",
            Engine::Native => "native",
        };
        let message = format!("the engine `{name}` is not built yet");
        Err(Diagnostic::error("E0820", Span::NONE, message).hint("use --engine interp").into())
    }
}

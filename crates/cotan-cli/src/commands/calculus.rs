//! `cotan calculus`: the value of a term of the reference calculus.

use crate::args::{CalculusCommand, CalculusRules, CalculusStrategy};
use crate::console::Console;
use cotan::{Failure, SourceMap};
use cotan_calculus::{Options, Rules, Strategy, Trace, evaluate, parse};

/// Runs the command: the value goes to stdout, transformed lambdas and steps go to stderr.
pub fn run(command: &CalculusCommand, console: &Console) -> u8 {
    let mut sources = SourceMap::new();
    match value(command, console, &mut sources) {
        Ok(()) => 0,
        Err(failure) => console.failure(&sources, &failure),
    }
}

fn value(command: &CalculusCommand, console: &Console, sources: &mut SourceMap) -> Result<(), Failure> {
    let text = cotan::read_text(&command.file)?;
    let file = sources.add(command.file.display().to_string(), text.clone());
    let term = parse(file, &text)?;
    let mut options = Options {
        rules: match command.rules {
            CalculusRules::Printed => Rules::Printed,
            CalculusRules::Corrected => Rules::Corrected,
        },
        strategy: match command.strategy {
            CalculusStrategy::Memoised => Strategy::Memoised,
            CalculusStrategy::Forgetful => Strategy::Forgetful,
            CalculusStrategy::Eager => Strategy::Eager,
        },
        time_limit: command.time_limit,
        max_memory: command.max_memory.unwrap_or(cotan::DEFAULT_MEMORY),
        interrupt: super::interrupt(console),
        ..Options::default()
    };
    if let Some(steps) = command.max_steps {
        options.max_steps = steps;
    }
    if command.trace {
        options.trace = Some(Box::new(|text: &str| console.message(text)) as Trace<'_>);
    }
    let outcome = evaluate(&term, options)?;
    console.data(&format!("{}\n", outcome.value));
    if command.steps {
        console.message(&format!("{} steps", outcome.steps));
    }
    Ok(())
}

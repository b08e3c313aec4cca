//! `cotan show`: the program at a stage of the compiler.

use crate::args::{ShowCommand, Stage};
use crate::console::Console;

/// Runs the command.
pub fn run(command: &ShowCommand, console: &Console) -> u8 {
    let mut session = super::session(&command.engine, console);
    let stage = match command.stage {
        Stage::Syntax => cotan::Stage::Syntax,
        Stage::Core => cotan::Stage::Core,
        Stage::Ir => cotan::Stage::Ir,
        Stage::Opt => cotan::Stage::Opt,
        Stage::Expanded => cotan::Stage::Expanded,
        Stage::Final => cotan::Stage::Final,
        Stage::Derivative => cotan::Stage::Derivative,
    };
    let result = cotan::show(&mut session, &command.file, stage, command.function.as_deref()).map(|text| {
        console.data(&format!("{}\n", text.trim_end()));
        0
    });
    super::finish(&session, result, console)
}

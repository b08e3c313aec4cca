//! `cotan explain`: the page of a code, or the list of codes.

use crate::args::ExplainCommand;
use crate::console::Console;
use cotan::{Diagnostic, SourceMap, Span};

/// Runs the command.
pub fn run(command: &ExplainCommand, console: &Console) -> u8 {
    match &command.code {
        None => {
            let lines: Vec<String> =
                cotan::all_codes().iter().map(|(code, title)| format!("{code}  {title}\n")).collect();
            console.data(&lines.concat());
            0
        }
        Some(code) => match cotan::explain(code) {
            Some(page) => {
                console.data(&format!("{}\n", page.trim_end()));
                0
            }
            None => {
                let message = format!("there is no code `{code}`");
                let diagnostic =
                    Diagnostic::error("E0823", Span::NONE, message).hint("`cotan explain` lists all codes");
                console.diagnostics(&SourceMap::new(), &[diagnostic]);
                1
            }
        },
    }
}

//! The command line.
//!
//! In: words. Out: [`Cli`], or a usage error (exit code 2) by clap. Newly true: options have meaning, sizes are bytes,
//! `--arg` is split at its first `=`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// A differentiable functional language: evaluate programs, differentiate them, check their gradients.
#[derive(Debug, Parser)]
#[command(name = "cotan", version, about, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Evaluate a function and print its value
    Run(RunCommand),
    /// Print the value and the gradient of a function
    Grad(GradCommand),
    /// Look for mistakes without running anything
    Check(CheckCommand),
    /// Run the `test` blocks of files
    Test(TestCommand),
    /// Compare forward mode, reverse mode and differences
    CheckGrad(CheckGradCommand),
    /// Report the first operation, forward or back, that made a NaN or an infinity
    WhyNan(WhyNanCommand),
    /// Print a program at a stage of the compiler
    Show(ShowCommand),
    /// Explain a diagnostic code, or list all of them
    Explain(ExplainCommand),
    /// Evaluate a term of the reference calculus
    Calculus(CalculusCommand),
}

impl Command {
    /// The limit of memory, in bytes.
    pub fn max_memory(&self) -> u64 {
        let engine = match self {
            Command::Run(c) => &c.engine,
            Command::Grad(c) => &c.engine,
            Command::Test(c) => &c.engine,
            Command::CheckGrad(c) => &c.engine,
            Command::WhyNan(c) => &c.engine,
            Command::Show(c) => &c.engine,
            Command::Check(_) | Command::Explain(_) | Command::Calculus(_) => return cotan::DEFAULT_MEMORY,
        };
        engine.max_memory.unwrap_or(cotan::DEFAULT_MEMORY)
    }
}

/// `cotan run`.
#[derive(Debug, Args)]
pub struct RunCommand {
    /// The program
    pub file: PathBuf,
    /// The function
    #[arg(default_value = "main")]
    pub function: String,
    #[command(flatten)]
    pub given: Given,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub engine: EngineOptions,
}

/// `cotan grad`.
#[derive(Debug, Args)]
pub struct GradCommand {
    /// The program
    pub file: PathBuf,
    /// The function; its result is a Float
    pub function: String,
    /// Differentiate with respect to these parameters only
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub wrt: Vec<String>,
    #[command(flatten)]
    pub given: Given,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub engine: EngineOptions,
}

/// `cotan check`.
#[derive(Debug, Args)]
pub struct CheckCommand {
    /// Programs
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Show the time each file took on stderr
    #[arg(long)]
    pub time: bool,
}

/// `cotan test`.
#[derive(Debug, Args)]
pub struct TestCommand {
    /// Programs; all `.cot` files below the current folder if none are given
    pub files: Vec<PathBuf>,
    /// Run only tests whose title holds this text
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    #[command(flatten)]
    pub engine: EngineOptions,
}

/// `cotan check-grad`.
#[derive(Debug, Args)]
pub struct CheckGradCommand {
    /// The program
    pub file: PathBuf,
    /// The function
    pub function: String,
    /// The largest relative difference that counts as equal
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-6)]
    pub tolerance: f64,
    /// Check every rule that a run reaches instead: against the body, against differences, for linearity
    #[arg(long)]
    pub rules: bool,
    /// With --rules: those of the library too
    #[arg(long, requires = "rules")]
    pub library: bool,
    #[command(flatten)]
    pub given: Given,
    #[command(flatten)]
    pub engine: EngineOptions,
}

/// `cotan why-nan`.
#[derive(Debug, Args)]
pub struct WhyNanCommand {
    /// The program
    pub file: PathBuf,
    /// The function
    pub function: String,
    #[command(flatten)]
    pub given: Given,
    #[command(flatten)]
    pub engine: EngineOptions,
}

/// `cotan show`.
#[derive(Debug, Args)]
pub struct ShowCommand {
    /// The stage
    #[arg(long)]
    pub stage: Stage,
    /// The program
    pub file: PathBuf,
    /// Show this function and what it calls
    pub function: Option<String>,
    #[command(flatten)]
    pub engine: EngineOptions,
}

/// `cotan explain`.
#[derive(Debug, Args)]
pub struct ExplainCommand {
    /// Such as E0201; all codes are listed if none is given
    pub code: Option<String>,
}

/// `cotan calculus`.
#[derive(Debug, Args)]
pub struct CalculusCommand {
    /// The term
    pub file: PathBuf,
    /// How the rules of attached derivatives are read
    #[arg(long, default_value = "corrected")]
    pub rules: CalculusRules,
    /// When zeros and sums of cotangents are worked out
    #[arg(long, default_value = "memoised")]
    pub strategy: CalculusStrategy,
    /// Print each lambda that is transformed, and its transform, on stderr
    #[arg(long)]
    pub trace: bool,
    /// Print how many steps evaluation took, on stderr
    #[arg(long)]
    pub steps: bool,
    /// Stop with an error after this many steps, if not 1000000000
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,
    /// Stop with an error after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Option<Duration>,
    /// Stop with an error above this, such as 512MiB or 2GiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_memory: Option<u64>,
}

/// Readings of the rules of attached derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CalculusRules {
    /// As they stand in the paper.
    Printed,
    /// With a cotangent for each of the two uses of an attached value.
    Corrected,
}

/// Times at which the lazy primitives of the calculus are worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CalculusStrategy {
    /// When looked at, and once.
    Memoised,
    /// When looked at, each time again.
    Forgetful,
    /// At once.
    Eager,
}

/// Arguments of the function.
#[derive(Debug, Args)]
pub struct Given {
    /// An argument: JSON, or @FILE of kind .json, .csv, .npy or .npz
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub args: Vec<(String, String)>,
}

/// Where results go.
#[derive(Debug, Args)]
pub struct Output {
    /// Notation of the results
    #[arg(long, default_value = "cotan")]
    pub format: Format,
    /// Do not shorten large arrays
    #[arg(long)]
    pub full: bool,
    /// Write the result to a file of kind .json, .npy or .csv instead
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// How programs run.
#[derive(Debug, Args)]
pub struct EngineOptions {
    /// What runs the program
    #[arg(long, default_value = "interp")]
    pub engine: Engine,
    /// How derivatives are made: by transforming the program, or by the evaluator with dual numbers and a tape
    #[arg(long, default_value = "transform")]
    pub ad: Ad,
    /// How many threads may be used
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Stop with an error above this, such as 512MiB or 2GiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_memory: Option<u64>,
    /// Stop with an error after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Option<Duration>,
    /// Start of the random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Report the time of compiling and running, and the peak of memory, on stderr
    #[arg(long)]
    pub time: bool,
    /// Print what passes through `probe` forwards, and its adjoint on the way back
    #[arg(long)]
    pub probe: bool,
}

/// Notations of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Cotan's own.
    Cotan,
    /// JSON.
    Json,
}

/// Engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// The reference evaluator.
    Interp,
    /// Compiled in memory.
    Jit,
    /// Compiled to a library.
    Native,
}

/// Ways to differentiate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Ad {
    /// By transformation of the program.
    Transform,
    /// By values, in the evaluator.
    Values,
}

/// Stages of the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// The syntax tree
    Syntax,
    /// The typed core
    Core,
    /// The intermediate representation as lowered
    Ir,
    /// The intermediate representation, simplified
    Opt,
    /// The intermediate representation after differentiation
    Expanded,
    /// The same, simplified again: what the engines run
    Final,
    /// The derivative of FUNCTION as a readable program
    Derivative,
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_string(), value.to_string())),
        _ => Err("expected NAME=VALUE".into()),
    }
}

/// `1500`, `64k`, `512MiB`, `2GB`: bytes.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().map_err(|_| "expected a size such as 512MiB or 2GiB".to_string())?;
    let unit = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1u64,
        "k" | "kib" => 1 << 10,
        "kb" => 1000,
        "m" | "mib" => 1 << 20,
        "mb" => 1_000_000,
        "g" | "gib" => 1 << 30,
        "gb" => 1_000_000_000,
        "t" | "tib" => 1 << 40,
        "tb" => 1_000_000_000_000,
        other => return Err(format!("unknown unit `{other}` (KiB, MiB, GiB and TiB are known)")),
    };
    let bytes = number * unit as f64;
    if bytes < 1.0 { Err("expected a size above 0".into()) } else { Ok(bytes as u64) }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_string())?;
    Duration::try_from_secs_f64(number).map_err(|_| "expected a number of seconds above 0".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes() {
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("1.5k"), Ok(1536));
        assert_eq!(size("10"), Ok(10));
        assert!(size("GiB").is_err());
        assert!(size("3 apples").is_err());
        assert!(size("0").is_err());
    }

    #[test]
    fn arguments_split_at_the_first_equals_sign() {
        assert_eq!(name_and_value("a=b=c"), Ok(("a".into(), "b=c".into())));
        assert!(name_and_value("a").is_err());
        assert!(name_and_value("=1").is_err());
    }
}

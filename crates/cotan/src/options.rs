//! How programs are compiled and run.
//!
//! In: nothing (data only). Out: [`Options`].

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What runs a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The reference evaluator.
    #[default]
    Interp,
    /// Compiled in memory: not built yet.
    Jit,
    /// Compiled to a library: not built yet.
    Native,
}

/// How derivatives are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AdMode {
    /// By transformation of the program.
    #[default]
    Transform,
    /// By the evaluator, with dual numbers and a tape.
    Values,
}

/// How programs are compiled and run.
#[derive(Clone, Debug)]
pub struct Options {
    /// What runs them.
    pub engine: Engine,
    /// How derivatives are made.
    pub ad: AdMode,
    /// How many threads may be used; all if `None`.
    pub threads: Option<usize>,
    /// The most memory, in bytes.
    pub max_memory: u64,
    /// Bytes of the stack of the thread on which programs run: how deep a recursion may go.
    pub stack: usize,
    /// The longest time.
    pub time_limit: Option<Duration>,
    /// Start of the random numbers.
    pub seed: u64,
    /// Whether `probe` reports.
    pub probe: bool,
    /// Whether the representation is validated after each pass.
    pub validate: bool,
    /// Set from outside to end a run.
    pub interrupt: Arc<AtomicBool>,
}

/// The limit of memory where none is given.
pub const DEFAULT_MEMORY: u64 = 8 << 30;

impl Default for Options {
    fn default() -> Self {
        Options {
            engine: Engine::default(),
            ad: AdMode::default(),
            threads: None,
            max_memory: DEFAULT_MEMORY,
            // The main thread of most systems has eight times as much; others have a little more than this.
            stack: 1 << 20,
            time_limit: None,
            seed: 0,
            probe: false,
            validate: cfg!(debug_assertions),
            interrupt: Arc::new(AtomicBool::new(false)),
        }
    }
}

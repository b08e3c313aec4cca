//! Progress on stderr.
//!
//! In: reports `(label, done, total)` of the running program. Out: a bar where stderr is a terminal, else nothing.

use indicatif::{ProgressBar, ProgressStyle};

/// The bar of the label at hand.
#[derive(Default)]
pub struct Progress {
    bar: Option<(String, ProgressBar)>,
}

impl Progress {
    /// Shows that `done` of `total` steps of `label` are made.
    pub fn report(&mut self, label: &str, done: u64, total: u64) {
        if self.bar.as_ref().is_none_or(|(name, _)| name != label) {
            self.finish();
            let bar = ProgressBar::new(total);
            // The template is constant; if it were wrong, the default style would serve.
            if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}") {
                bar.set_style(style);
            }
            bar.set_message(label.to_string());
            self.bar = Some((label.to_string(), bar));
        }
        if let Some((_, bar)) = &self.bar {
            bar.set_length(total);
            bar.set_position(done);
        }
        if done >= total {
            self.finish();
        }
    }

    /// Takes the bar away.
    pub fn finish(&mut self) {
        if let Some((_, bar)) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

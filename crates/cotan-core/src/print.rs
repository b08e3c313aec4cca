//! The core as text, for `cotan show --stage core`.

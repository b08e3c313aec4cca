//! Names that nobody declared, and what was probably meant.
//!
//! In: an unknown name and the names that there are. Out: the closest one, if it is close.

use cotan_source::edit_distance;

/// The closest of `candidates` to `name`, if few letters differ; ties go to the first in alphabetical order.
pub fn suggestion<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<String> {
    let limit = match name.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate == name || candidate.len().abs_diff(name.len()) > limit {
            continue;
        }
        let d = if candidate.eq_ignore_ascii_case(name) { 0 } else { edit_distance(name, candidate) };
        if d <= limit && d < name.chars().count() && best.is_none_or(|b| (d, candidate) < b) {
            best = Some((d, candidate));
        }
    }
    best.map(|(_, c)| c.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_found() {
        let names = ["sigmoid", "sum", "sqrt", "softmax"];
        assert_eq!(suggestion("sigmiod", names.iter().copied()).as_deref(), Some("sigmoid"));
        assert_eq!(suggestion("sqtr", names.iter().copied()).as_deref(), Some("sqrt"));
        assert_eq!(suggestion("banana", names.iter().copied()), None);
    }
}

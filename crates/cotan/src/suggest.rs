//! Names that a misspelt one may have meant.
//!
//! In: a name and those that exist. Out: the nearest, if one is near.

use cotan_source::edit_distance;

/// The candidate with the smallest edit distance, if that is at most a third of the name's length (and at least 1).
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|c| (edit_distance(&name.to_lowercase(), &c.to_lowercase()), c))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names() {
        assert_eq!(nearest("weigths", ["weights", "x"]), Some("weights"));
        assert_eq!(nearest("X", ["x", "y"]), Some("x"));
        assert_eq!(nearest("abc", ["xyz"]), None);
    }
}

//! The nearest known name for a misspelt one.
//!
//! Must not know: where the names come from. The measure is the plain edit distance of bytes (insert, delete, replace), as in
//! fio: its suggestions are part of its messages.

/// Edit distance of two texts, in bytes inserted, deleted or replaced.
fn edit_distance(left: &str, right: &str) -> usize {
    strsim::generic_levenshtein(&left.as_bytes().to_vec(), &right.as_bytes().to_vec())
}

/// The first of the nearest `candidates`, and its distance. Texts beyond 256 bytes have no near name: the bound keeps
/// the work small on hostile input.
pub fn nearest<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> Option<(&'a str, usize)> {
    if text.len() > 256 {
        return None;
    }
    candidates.map(|name| (name, edit_distance(text, name))).min_by_key(|(_, distance)| *distance)
}

/// The suggestion of the `Did you mean X?` line: the nearest name when it is no farther than half of the given text
/// (rounded up). The text is an option with its value, as the user wrote it, without dashes.
pub fn did_you_mean<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest(given, candidates).filter(|(_, distance)| *distance <= given.len().div_ceil(2)).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_single_edits() {
        for (left, right, expected) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 2), ("x", "x", 0)]
        {
            assert_eq!(edit_distance(left, right), expected, "{left} {right}");
        }
    }

    // Expected values: the suggestions of fio 3.41 (or none) for the same input.
    #[test]
    fn suggests_up_to_half_of_the_text() {
        let names = || ["iodepth", "name", "ba", "filename", "prio", "flow"].into_iter();
        for (given, expected) in [
            ("iodpeth=4", Some("iodepth")),
            ("iodpeth=12345678", None),
            ("fielname=x", Some("filename")),
            ("nmae=x", None),
            ("bad=1", Some("ba")),
            ("hipri", Some("prio")),
            ("foo", Some("flow")),
            ("badopt=1", None),
        ] {
            assert_eq!(did_you_mean(given, names()), expected, "{given}");
        }
    }

    #[test]
    fn a_huge_text_has_no_near_name() {
        assert_eq!(nearest(&"a".repeat(100_000), ["a"].into_iter()), None);
    }
}

//! Loops over counts most of which are 0. They are here because this crate is always compiled for speed.
//!
//! Must not know: the meaning of the counts.

/// The index of the first count from `start` on that is not 0.
pub fn next_filled(counts: &[u64], start: usize) -> Option<usize> {
    let rest = counts.get(start..)?;
    rest.iter().position(|count| *count > 0).map(|at| start + at)
}

/// Copies what is not 0 into counts that are all 0, and writes nowhere else: memory that was never written to is not used.
pub fn copy(counts: &[u64], into: &mut [u64]) {
    for (theirs, mine) in counts.iter().zip(into) {
        if *theirs != 0 {
            *mine = *theirs;
        }
    }
}

/// Makes all counts 0, and writes only where one is not: memory that was never written to is not used.
pub fn clear(counts: &mut [u64]) {
    for count in counts {
        if *count != 0 {
            *count = 0;
        }
    }
}

/// Their sum, at most `u64::MAX`.
pub fn saturating_sum(counts: &[u64]) -> u64 {
    counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_counts_are_passed_over() {
        let counts = [0, 0, 5, 0, 7, 0];
        let found: Vec<Option<usize>> = (0..8).map(|start| next_filled(&counts, start)).collect();
        assert_eq!(found, [Some(2), Some(2), Some(2), Some(4), Some(4), None, None, None]);
    }

    #[test]
    fn copies_have_the_same_counts() {
        let mut copy_of = [0; 6];
        copy(&[0, 0, 5, 0, 7, 0], &mut copy_of);
        assert_eq!(copy_of, [0, 0, 5, 0, 7, 0]);
        clear(&mut copy_of);
        assert_eq!(copy_of, [0; 6]);
    }

    #[test]
    fn sums_saturate() {
        assert_eq!((saturating_sum(&[1, 2]), saturating_sum(&[u64::MAX, 2])), (3, u64::MAX));
    }
}

//! Which jobs of two results are the same.
//!
//! Must not know: figures. Start reading at [`pairs`].

use ferrio_formats::JobResult;
use std::collections::{HashMap, VecDeque};

/// Indexes of jobs: those in both lists, and those that only one has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct JobPairs {
    pub(super) both: Vec<(usize, usize)>,
    pub(super) only_first: Vec<usize>,
    pub(super) only_second: Vec<usize>,
    /// True if no job has a name that the other list has.
    pub(super) by_position: bool,
}

/// Pairs of jobs with the same name and group, then of those with the same name; where no name is in both, by their order.
pub(super) fn pairs(first: &[JobResult], second: &[JobResult]) -> JobPairs {
    let mut partners: Vec<Option<usize>> = vec![None; first.len()];
    let mut is_taken = vec![false; second.len()];
    match_by(first, second, &mut partners, &mut is_taken, |job| job.group_index);
    match_by(first, second, &mut partners, &mut is_taken, |_| 0);
    let by_position = partners.iter().all(Option::is_none) && !first.is_empty() && !second.is_empty();
    if by_position {
        for (index, (partner, is_taken)) in partners.iter_mut().zip(&mut is_taken).enumerate() {
            (*partner, *is_taken) = (Some(index), true);
        }
    }
    JobPairs {
        both: partners.iter().enumerate().filter_map(|(index, partner)| Some((index, (*partner)?))).collect(),
        only_first: (0..first.len()).filter(|index| partners[*index].is_none()).collect(),
        only_second: (0..second.len()).filter(|index| !is_taken[*index]).collect(),
        by_position,
    }
}

/// Gives jobs without a partner one with the same name and number; of several the first, which is then taken.
fn match_by(
    first: &[JobResult],
    second: &[JobResult],
    partners: &mut [Option<usize>],
    is_taken: &mut [bool],
    number: fn(&JobResult) -> u32,
) {
    let mut free: HashMap<(&str, u32), VecDeque<usize>> = HashMap::new();
    for (index, job) in second.iter().enumerate().filter(|(index, _)| !is_taken[*index]) {
        free.entry((&job.name, number(job))).or_default().push_back(index);
    }
    for (job, partner) in first.iter().zip(partners).filter(|(_, partner)| partner.is_none()) {
        *partner = free.get_mut(&(job.name.as_str(), number(job))).and_then(VecDeque::pop_front);
        if let Some(index) = *partner {
            is_taken[index] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(names: &[(&str, u32)]) -> Vec<JobResult> {
        let job = |(name, group_index): &(&str, u32)| JobResult {
            name: (*name).to_owned(),
            group_index: *group_index,
            ..JobResult::default()
        };
        names.iter().map(job).collect()
    }

    #[test]
    fn names_and_groups_come_before_names_and_before_positions() {
        let found = pairs(&jobs(&[("a", 0), ("b", 1), ("a", 2)]), &jobs(&[("a", 2), ("c", 0), ("a", 0)]));
        assert_eq!((found.both, found.only_first, found.only_second), (vec![(0, 2), (2, 0)], vec![1], vec![1]));
        // Clones have all the same name and group.
        let clones = jobs(&[("a", 0), ("a", 0), ("a", 0)]);
        let found = pairs(&clones, &clones[..2]);
        assert_eq!((found.both, found.only_first), (vec![(0, 0), (1, 1)], vec![2]));
        let found = pairs(&jobs(&[("a", 0)]), &jobs(&[("a", 5)]));
        assert_eq!((found.both, found.by_position), (vec![(0, 0)], false));
    }

    #[test]
    fn other_names_everywhere_are_paired_by_position() {
        let found = pairs(&jobs(&[("a", 0), ("b", 0)]), &jobs(&[("x", 0), ("y", 0), ("z", 0)]));
        assert_eq!((found.both, found.only_second, found.by_position), (vec![(0, 0), (1, 1)], vec![2], true));
        assert_eq!(pairs(&[], &[]), JobPairs::default());
    }
}

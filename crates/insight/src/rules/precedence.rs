//! Which findings stand where several rules speak about the same job.
//!
//! Must not know: what rules look at. Start reading at [`standing`].

use super::{FindingRule, Observation, RULES};
use crate::audit_input::AuditInput;

/// What a rule has found in a run.
pub(crate) struct RuleOutcome {
    pub(crate) rule: &'static FindingRule,
    pub(crate) observations: Vec<Observation>,
}

/// What rules find in a run, in the order of their table, without the observations of rules that yield to another one for a job. An
/// observation that is dropped drops no other.
pub(crate) fn standing(case: &AuditInput<'_>, is_wanted: impl Fn(&FindingRule) -> bool) -> Vec<RuleOutcome> {
    let mut found: Vec<RuleOutcome> = RULES
        .iter()
        .filter(|rule| is_needed(rule, &is_wanted, RULES.len()))
        .map(|rule| RuleOutcome { rule, observations: rule.look_at(case) })
        .collect();
    let mut open: Vec<usize> = (0..found.len()).collect();
    // A rule is decided after those to which it yields. There is no circle, so each pass decides at least one.
    while let Some(at) = open.iter().position(|index| !open.iter().any(|other| yields(&found, *index, *other))) {
        let index = open.remove(at);
        let stronger: Vec<Vec<usize>> = found
            .iter()
            .filter(|other| found[index].rule.yields_to.contains(&other.rule.id))
            .flat_map(|other| other.observations.iter().map(|observation| observation.job_indices.clone()))
            .collect();
        found[index].observations.retain(|weaker| !stronger.iter().any(|jobs| is_shared(jobs, &weaker.job_indices)));
    }
    found.retain(|found| is_wanted(found.rule));
    found
}

fn is_needed(rule: &FindingRule, is_wanted: &impl Fn(&FindingRule) -> bool, depth: usize) -> bool {
    let mut weaker = RULES.iter().filter(|weaker| weaker.yields_to.contains(&rule.id));
    is_wanted(rule) || (depth > 0 && weaker.any(|weaker| is_needed(weaker, is_wanted, depth - 1)))
}

fn yields(found: &[RuleOutcome], weaker: usize, stronger: usize) -> bool {
    found[weaker].rule.yields_to.contains(&found[stronger].rule.id)
}

/// Two observations have a job in common. One without jobs is about all.
fn is_shared(jobs: &[usize], others: &[usize]) -> bool {
    jobs.is_empty() || others.is_empty() || jobs.iter().any(|job| others.contains(job))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::path::{Path, PathBuf};

    /// The file of each rule, by the name of its module.
    fn files() -> HashMap<String, PathBuf> {
        let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
        let entries = |path: &Path| {
            let entries = std::fs::read_dir(path).expect("the folder can be read");
            entries.map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>()
        };
        let folders: Vec<PathBuf> = entries(&rules).into_iter().filter(|path| path.is_dir()).collect();
        let files = folders.iter().flat_map(|folder| entries(folder));
        let module = |path: &PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
        files.map(|path| (module(&path), path)).filter(|(name, _)| name != "mod").collect()
    }

    #[test]
    fn a_rule_names_no_other_rule() {
        let files = files();
        assert!(files.len() > 80);
        let allowed = ["{", "FindingRule", "MeasuredState", "Observation", "OutsideLoad", "testing"];
        for (own, path) in &files {
            let text = std::fs::read_to_string(path).expect("the file can be read");
            for place in text.split("rules::").skip(1) {
                assert!(allowed.iter().any(|name| place.starts_with(name)), "{own} names {:?}", place.lines().next());
            }
            for place in text.split("super::").skip(1) {
                let is_own = place.starts_with(|first: char| first == '*' || first.is_ascii_uppercase());
                assert!(is_own, "{own} names {:?}", place.lines().next());
            }
        }
    }

    #[test]
    fn rules_yield_to_rules_that_there_are_and_in_no_circle() {
        let stronger = |id: &str| RULES.iter().find(|rule| rule.id == id).map(|rule| rule.yields_to);
        for rule in RULES {
            let mut reached: Vec<&str> = rule.yields_to.to_vec();
            let mut n_followed = 0;
            while let Some(id) = reached.get(n_followed).copied() {
                n_followed += 1;
                let next = stronger(id).unwrap_or_else(|| panic!("{} yields to {id}, which there is not", rule.id));
                reached.extend(next.iter().filter(|id| !reached.contains(id)).collect::<Vec<_>>());
            }
            assert!(!reached.contains(&rule.id), "{} yields to itself by way of others", rule.id);
        }
    }

    #[test]
    fn jobs_in_common() {
        for (jobs, others, expected) in
            [(&[][..], &[1][..], true), (&[1], &[], true), (&[0, 2], &[2, 3], true), (&[0, 2], &[1, 3], false)]
        {
            assert_eq!((is_shared(jobs, others), is_shared(others, jobs)), (expected, expected));
        }
    }
}

//! A job whose name is nearly `global`.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::Severity;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "section-like-global",
    title: "A section that looks like [global] is a job",
    severity: Severity::Misleading,
    what: "The names of jobs, where there are several. It is reported where one is global with capitals, or with one letter more, less or other.",
    why: "Only a section with the very name global gives its options to the jobs behind it. Any other one is a job, which runs beside them; they run with their own options and \
          the defaults.",
    example: "--name=Global --rw=read --size=1g --name=a --rw=randread --size=1g (a job file in which [Global] stands before [a])",
    cure: "Write [global].",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let is_one = |job: &&AuditedJob<'_>| case.jobs.len() > 1 && is_like_global(job.name);
    let tell = |job: &AuditedJob<'_>| {
        let explanation =
            format!("The section [{}] is a job of its own: its options do not apply to the other jobs.", job.name);
        Observation::of(job, Vec::new(), explanation)
    };
    case.jobs.iter().filter(is_one).map(tell).collect()
}

fn is_like_global(name: &str) -> bool {
    const GLOBAL: &str = "global";
    let name = name.to_lowercase();
    // A section of that name cannot be a job; two letters may have changed places.
    let is_swapped = (1..GLOBAL.len()).any(|at| {
        format!("{}{}{}{}", &GLOBAL[..at - 1], &GLOBAL[at..=at], &GLOBAL[at - 1..at], &GLOBAL[at + 1..]) == name
    });
    name == GLOBAL || is_swapped || differs_by_one(&name, GLOBAL)
}

/// One of the names has one letter more than the other, or one letter is another one.
fn differs_by_one(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let n_same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let rest = |name: &[char], n_left_out: usize| name.get(n_same + n_left_out..).map(<[char]>::to_vec);
    one != other
        && [(1, 0), (0, 1), (1, 1)].iter().any(|(of_one, of_other)| {
            let rests = (rest(&one, *of_one), rest(&other, *of_other));
            matches!(rests, (Some(one), Some(other)) if one == other)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job, place};
    use ferrio_spec::DirectionMix;

    #[test]
    fn names_that_are_nearly_global_are_told() {
        for name in ["Global", "GLOBAL", "globals", "globl", "golbal", "globel", "gloabl", "lobal"] {
            assert!(is_like_global(name), "{name}");
        }
        for name in ["a", "global-read", "globe", "local", "glob", ""] {
            assert!(!is_like_global(name), "{name}");
        }
    }

    #[test]
    fn a_job_alone_is_none() {
        let mut scene = TestRun::new(job("Global", DirectionMix::Read)).before();
        assert!(!scene.found().contains(&RULE.id.to_owned()));
        scene.add(job("a", DirectionMix::Read), place("/data/a"));
        assert_eq!(scene.before().finding(RULE.id).jobs, ["Global"]);
    }
}

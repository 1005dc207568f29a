//! CPU time of verification within the figures.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "verification-cost",
    title: "Making and checking verified blocks took much of the time",
    severity: Severity::Note,
    what: "The user CPU time of a job with verify and files, as a share of the time of its clones without their waits for a CPU. It is reported from a quarter on.",
    why: "Each block is filled and given a checksum before it is written, and checked after it is read. That is a part of the runtime, so \
          bandwidth and IOPS are lower than those of the device.",
    example: "--name=a --rw=write --bs=1m --size=1g --direct=1 --verify=sha3-512",
    cure: "Take figures from a run without --verify, and verify in another one; --verify=crc32c costs least.",
    needs: &[EvidenceKind::CpuTurns, EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["preparation-counted", "load-generator-limit"],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

const SHARE: f64 = 0.25;
/// A shorter job says nothing of its CPU time, nanoseconds.
const LEAST_NS: u64 = 50_000_000;

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let verify = job.spec.verify.as_ref()?;
    let total = job.total.as_ref()?;
    let is_measured =
        case.provenance.clock.source != "virtual" && job.has_files() && total.total_runtime_ns >= LEAST_NS;
    // Other programs on its CPU are no part of the job.
    let waited_ns = total.usage.cpu_turns.map_or(0, |turns| turns.waited_ns);
    let share = total.usage.user_ns as f64 / total.total_runtime_ns.saturating_sub(waited_ns).max(1) as f64;
    if !is_measured || share < SHARE || job.spec.replay.is_set() {
        return None;
    }
    let method = job.spec.given_options.iter().rev().find(|(option, _)| option == "verify");
    let method = method.map_or_else(|| "verify".to_owned(), |(_, value)| format!("verify={value}"));
    let helpers = if verify.n_threads > 0 { ", with its helpers" } else { "" };
    let explanation = format!(
        "The job{helpers} used {} of its time for work of its own on the CPU, to make and check blocks ({method}) among it: bandwidth and IOPS \
         are those of the verification, and lower than those of the device.",
        text::percent(share.min(1.0), 1.0)
    );
    let evidence = vec![
        Measured::seconds("user CPU time", total.usage.user_ns as f64 / 1e9),
        Measured::seconds("time of the clones", total.total_runtime_ns as f64 / 1e9),
    ];
    Some(Observation::of(job, evidence, explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::{DirectionMix, VerifySpec};

    fn is_told(user_ms: u64, verifies: bool) -> bool {
        let mut job = job("a", DirectionMix::Write);
        job.verify = verifies.then(|| VerifySpec::of(ferrio_spec::VerifyMethod::Crc32c));
        let mut scene = TestRun::new(job);
        scene.stats().total_runtime_ns = 10_000_000_000;
        scene.stats().usage.user_ns = user_ms * 1_000_000;
        scene.found().contains(&"verification-cost".to_owned())
    }

    #[test]
    fn a_quarter_of_the_time_is_the_border() {
        assert!(is_told(2_500, true));
        assert!(!is_told(2_499, true) && !is_told(9_000, false));
    }
}

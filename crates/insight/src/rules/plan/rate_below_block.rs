//! A rate in bytes that was meant in larger units.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::given::value_of;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "rate-below-block",
    title: "The rate is less than one block a second",
    severity: Severity::Misleading,
    what: "The option rate, as it was written, and the smallest block. It is reported where the rate is a number without a unit and less than one block a second.",
    why: "A rate without a unit is in bytes a second: rate=100 is no 100 MiB and no 100 I/Os. With blocks of 4 KiB it is one I/O in 41 seconds.",
    example: "--name=a --rw=write --size=1g --bs=4k --rate=100",
    cure: "Write the unit (rate=100m), or give I/Os a second with rate_iops.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let written = value_of(case, job, "rate")?;
    let is_plain = |part: &str| part.trim().bytes().all(|byte| byte.is_ascii_digit());
    if !written.split(',').all(is_plain) {
        return None;
    }
    let used = DataDirection::ALL.into_iter().filter(|direction| job.does(*direction));
    let rate = |direction| job.spec.pace.bytes_per_sec[direction];
    let slow = used.map(|direction| (rate(direction), job.spec.pattern.block_size[direction].min_bytes));
    let (rate, block) = slow.into_iter().find(|(rate, block)| *rate > 0 && rate < block)?;
    let seconds = block as f64 / rate as f64;
    let explanation = format!(
        "rate={written} is {rate} bytes a second: one I/O of {} in {} s.",
        text::bytes(block),
        text::short(seconds)
    );
    Some(Observation::of(job, vec![Measured::seconds("time of an I/O", seconds)], explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_units::DataDirection;

    fn is_told(written: &str, bytes: u64) -> bool {
        let mut scene = TestRun::new(job("a", DirectionMix::Write)).before();
        scene.jobs[0].given_options = vec![("rate".to_owned(), written.to_owned())];
        scene.jobs[0].pace.bytes_per_sec[DataDirection::Write] = bytes;
        scene.found().contains(&"rate-below-block".to_owned())
    }

    #[test]
    fn bytes_without_a_unit_are_told_below_a_block() {
        assert!(is_told("100", 100) && is_told("100,100", 100));
        assert!(!is_told("4096", 4096), "one block a second");
        assert!(!is_told("2k", 2048), "somebody has written a unit");
        assert!(!is_told("0", 0));
    }
}

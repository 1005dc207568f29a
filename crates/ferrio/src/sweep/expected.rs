//! How long the runs of a sweep take, as far as their options tell.
//!
//! Must not know: what runs measure. Start reading at [`longest`].

use ferrio_spec::{JobSpec, RunSpec};
use std::time::Duration;

/// The longest time of a run after its files are laid out; `None`: a job has no limit of time.
pub fn longest(spec: &RunSpec) -> Option<Duration> {
    let (mut before_us, mut group_us) = (0_u64, 0_u64);
    for job in &spec.jobs {
        if job.grouping.stonewall {
            before_us = before_us.saturating_add(std::mem::take(&mut group_us));
        }
        group_us = group_us.max(longest_us(job)?);
    }
    Some(Duration::from_micros(before_us.saturating_add(group_us)))
}

fn longest_us(job: &JobSpec) -> Option<u64> {
    let limits = &job.limits;
    let before_us = limits.startdelay_us.1.saturating_add(limits.ramp_time_us);
    (limits.runtime_us > 0 && limits.ramp_bytes == 0).then(|| before_us.saturating_add(limits.runtime_us))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(runtime_s: u64, stonewall: bool) -> JobSpec {
        let mut job = JobSpec::default();
        (job.limits.runtime_us, job.grouping.stonewall) = (runtime_s * 1_000_000, stonewall);
        job
    }

    #[test]
    fn groups_follow_each_other() {
        let of = |jobs: Vec<JobSpec>| longest(&RunSpec { jobs, ..RunSpec::default() }).map(|time| time.as_secs());
        assert_eq!(of(vec![job(10, false), job(20, false)]), Some(20));
        assert_eq!(of(vec![job(10, false), job(20, false), job(5, true)]), Some(25));
        assert_eq!(of(vec![job(10, false), job(0, true)]), None);
        let mut ramped = job(10, false);
        (ramped.limits.ramp_time_us, ramped.limits.startdelay_us) = (2_000_000, (1_000_000, 3_000_000));
        assert_eq!(of(vec![ramped]), Some(15));
    }
}

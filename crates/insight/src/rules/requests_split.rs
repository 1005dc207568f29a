//! I/Os that the kernel cuts into several requests.

use super::{FindingRule, Observation, requests_merged};
use crate::case::Case;
use crate::text;
use ferrio_stats::{Measured, Severity};

pub(super) const RULE: FindingRule = FindingRule {
    id: "requests-split",
    title: "Each I/O of the jobs was several requests of the device",
    severity: Severity::Note,
    what: "The random direct I/Os that all jobs on a device have done, the requests that the kernel counted there, and the largest request \
           (max_sectors_kb). It speaks where the block is larger than that, the device had 1.9 times as many requests or more, and the \
           bytes of both agree to a tenth, so that nobody else used the device.",
    why: "An I/O is complete when its last request is, so its latency is that of the slowest of several, and the device served more I/Os a \
          second than the jobs count.",
    example: "--name=a --rw=randread --bs=8m --direct=1 --size=1g",
    cure: "Use a --bs up to /sys/block/X/queue/max_sectors_kb, or raise that (up to max_hw_sectors_kb).",
    find,
};

/// Two for each I/O, but for the last ones of a file.
const FACTOR: f64 = 1.9;

fn find(case: &Case<'_>) -> Vec<Observation> {
    let found = requests_merged::works(case).into_iter().filter_map(|work| {
        let most_bytes = case.device(work.device)?.max_sectors_kb?.saturating_mul(1024);
        let is_random = work.jobs.iter().all(|job| job.spec.pattern.random);
        let n_requests = work.n_requests as f64 / work.n_ios as f64;
        if !is_random || n_requests < FACTOR || work.largest_bytes <= most_bytes || most_bytes == 0 {
            return None;
        }
        let explanation = format!(
            "Blocks have {}, and {} takes {} at a time: each I/O of the jobs was {} requests on average, and waited for the last of them.",
            text::bytes(work.largest_bytes),
            work.device,
            text::bytes(most_bytes),
            text::short(n_requests)
        );
        let evidence = vec![
            Measured::count("I/Os of the jobs", work.n_ios as f64),
            Measured::count(&format!("requests of {}", work.device), work.n_requests as f64),
            Measured::bytes("largest request", most_bytes),
        ];
        let jobs = work.jobs.iter().map(|job| job.name.to_owned()).collect();
        Some(Observation { jobs, evidence, explanation, cure: None })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestRun, job};
    use ferrio_spec::{BlockRange, DirectionMix};

    #[test]
    fn blocks_beyond_the_largest_request_are_several() {
        let scene = |max_sectors_kb: u64, n_requests: u64, random: bool| {
            let mut job = job("a", DirectionMix::Read);
            job.pattern.random = random;
            job.pattern.block_size.0[0] = BlockRange::one(1 << 20);
            let mut scene = TestRun::new(job);
            (scene.device.max_sectors_kb, scene.disk_requests) = (Some(max_sectors_kb), [n_requests, 0]);
            scene
        };
        let finding = scene(512, 51_200, true).finding("requests-split");
        assert!(finding.explanation.contains("each I/O of the jobs was 2 requests"), "{}", finding.explanation);
        for (max_sectors_kb, n_requests, random) in [(1024, 51_200, true), (512, 25_600, true), (512, 51_200, false)] {
            assert_eq!(scene(max_sectors_kb, n_requests, random).found(), Vec::<String>::new());
        }
    }
}

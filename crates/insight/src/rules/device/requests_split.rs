//! I/Os that the kernel cuts into several requests.

use crate::audit_input::AuditInput;
use crate::measures::requests::works;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::provenance::DeviceFacts;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "requests-split",
    title: "Each I/O of the jobs was several requests of the device",
    severity: Severity::Note,
    what: "The direct I/Os that all jobs on a device have done, the requests that the kernel counted there, and the largest request \
           (max_sectors_kb, or max_segments pages). It is reported where the block is larger than that, the device had 1.9 times as many \
           requests or more (of sequential I/O, only where max_sectors_kb is 64 or less and cuts blocks into eight or more), and the bytes of both agree to a tenth, so that nobody else used the device.",
    why: "An I/O is complete when its last request is, so its latency is that of the slowest of several, and the device served more I/Os a \
          second than the jobs count.",
    example: "--name=a --rw=randread --bs=8m --direct=1 --size=1g",
    cure: "Use a --bs up to /sys/block/X/queue/max_sectors_kb, or raise that (up to max_hw_sectors_kb).",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

const CURE_OF_PIECES: &str = "Use a --bs up to /sys/block/X/queue/max_segments pages, or buffers in huge pages (--mem=mmaphuge), which have \
                              fewer pieces.";
/// Two for each I/O, but for the last ones of a file.
const FACTOR: f64 = 1.9;
/// No device has so small a limit unless somebody has set it, bytes.
const SMALL_LIMIT_BYTES: u64 = 64 << 10;
/// So many times the requests that a limit asks for may be by it.
const TOLD: f64 = 1.5;
/// A small limit cuts a large block into so many requests at least.
const FACTOR_OF_SEQUENCES: f64 = 8.0;
/// The last piece of a block may be shorter than the others.
const SHARE_OF_PIECES: f64 = 0.75;
/// A buffer is in pieces of this size where its memory is most scattered: the smallest page, bytes.
const PIECE_BYTES: u64 = 4096;

/// What a request of a device cannot exceed.
struct RequestLimit {
    bytes: u64,
    /// The limit is the number of pieces of memory.
    n_segments: Option<u64>,
}

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let found = works(case).into_iter().filter_map(|work| {
        let is_random = work.jobs.iter().all(|job| job.spec.pattern.random);
        let n_requests = work.n_requests as f64 / work.n_ios as f64;
        let limit = limit_below(case.device(work.device)?, work.largest_bytes, n_requests)?;
        let least = if is_random { FACTOR } else { least_of_sequence(&limit, work.largest_bytes)? };
        if n_requests < least {
            return None;
        }
        let takes = match limit.n_segments {
            None => format!("{} takes {} at a time", work.device, text::bytes(limit.bytes)),
            Some(number) => format!("{} takes {number} pieces of memory at a time", work.device),
        };
        let explanation = format!(
            "Blocks have {}, and {takes}: each I/O of the jobs was {} requests on average, and waited for the last of them.",
            text::bytes(work.largest_bytes),
            text::short(n_requests)
        );
        let evidence = vec![
            Measured::count("I/Os of the jobs", work.n_ios as f64),
            Measured::count(&format!("requests of {}", work.device), work.n_requests as f64),
            Measured::bytes("largest request", limit.bytes),
        ];
        let by_pieces = limit.n_segments.map(|_| CURE_OF_PIECES.to_owned());
        let found = Observation { cure: by_pieces, ..Observation::of_jobs(work.jobs, evidence, explanation) };
        Some(found.about(work.direction))
    });
    found.collect()
}

/// The least number of requests for each I/O of a sequence that is worth a word. Large blocks in a row are some requests each on most devices, which
/// their readers know; `None`: nothing is unusual.
fn least_of_sequence(limit: &RequestLimit, block_bytes: u64) -> Option<f64> {
    let n_pieces = block_bytes as f64 / limit.bytes as f64;
    let is_small = limit.n_segments.is_none() && limit.bytes <= SMALL_LIMIT_BYTES;
    (is_small && n_pieces >= FACTOR_OF_SEQUENCES).then_some(n_pieces * SHARE_OF_PIECES)
}

/// The limit of a request that is smaller than a block: that of pieces only where that of the size does not tell so many requests.
fn limit_below(device: &DeviceFacts, block_bytes: u64, n_requests: f64) -> Option<RequestLimit> {
    let by_size = device.max_sectors_kb.map(|kb| RequestLimit { bytes: kb.saturating_mul(1024), n_segments: None });
    let by_pieces = device.max_segments.map(|number| {
        let bytes = number.saturating_mul(PIECE_BYTES);
        RequestLimit { bytes, n_segments: Some(number) }
    });
    let is_below = |limit: &RequestLimit| limit.bytes > 0 && limit.bytes < block_bytes;
    let tells = |limit: &RequestLimit| n_requests <= TOLD * block_bytes.div_ceil(limit.bytes) as f64;
    let (by_size, by_pieces) = (by_size.filter(is_below), by_pieces.filter(is_below));
    match (by_size, by_pieces) {
        (Some(by_size), Some(by_pieces)) if !tells(&by_size) => Some(by_pieces),
        (by_size, by_pieces) => by_size.or(by_pieces),
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
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
        let sequential = scene(64, 25_600 * 16, false).finding("requests-split");
        assert!(sequential.explanation.contains("vda takes 64 KiB at a time"), "{}", sequential.explanation);
        let quiet = [
            (1024, 51_200, true),
            (512, 25_600, true),
            (512, 51_200, false),
            (64, 25_600 * 11, false),
            (128, 25_600 * 8, false),
        ];
        for (max_sectors_kb, n_requests, random) in quiet {
            assert_eq!(scene(max_sectors_kb, n_requests, random).found(), Vec::<String>::new());
        }
        let pieces = |max_segments| {
            let mut scene = scene(1024, 51_200, true);
            scene.device.max_segments = Some(max_segments);
            scene
        };
        let finding = pieces(254).finding("requests-split");
        assert!(finding.explanation.contains("vda takes 254 pieces of memory at a time"), "{}", finding.explanation);
        assert_eq!(pieces(256).found(), Vec::<String>::new());
        // Two of 512 KiB, or eight of 32 pieces of 4 KiB.
        let told = |n_requests| {
            let mut scene = scene(512, n_requests, true);
            scene.device.max_segments = Some(32);
            scene.finding("requests-split").explanation
        };
        assert!(told(25_600 * 2).contains("vda takes 512 KiB at a time"), "{}", told(51_200));
        assert!(told(25_600 * 8).contains("vda takes 32 pieces of memory at a time"), "{}", told(204_800));
    }
}

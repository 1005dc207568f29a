//! The best engine of this kernel, and the number of I/Os in flight.
//!
//! Must not know: the tests. Start reading at [`EngineChoice::make`], then [`EngineChoice::load`].

use ferrio_spec::engines::options::declaration::EngineOption;
use ferrio_spec::engines::options::io_uring::{FIXEDBUFS, REGISTERFILES};
use ferrio_sys::aio::AioContext;
use ferrio_sys::limits::{Resource, raise_limit};
use ferrio_sys::uring::{IoRing, RingRequest};

/// The largest depth of any test.
pub(crate) const MAX_DEPTH: u32 = 256;

/// Largest number of threads that replace a queue.
const MAX_THREADS: u32 = 64;

/// All buffers together take at most one part in so many of the memory.
const MEMORY_PARTS: u64 = 64;

/// An engine that keeps many I/Os in flight, if the kernel lets it.
struct EngineCandidate {
    name: &'static str,
    probe: fn() -> ferrio_sys::Result<()>,
}

const URING: &str = "io_uring";

/// Best first.
const CANDIDATES: [EngineCandidate; 2] =
    [EngineCandidate { name: URING, probe: probe_uring }, EngineCandidate { name: "libaio", probe: probe_aio }];

/// Works on any kernel.
const LAST_RESORT: &str = "psync";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EngineChoice {
    /// Name in `ioengine=`.
    pub(crate) name: &'static str,
    /// Keeps I/Os in flight by itself; otherwise threads do, one I/O each.
    pub(crate) has_queue: bool,
    /// Reasons why better engines were not chosen.
    pub(crate) refusals: Vec<String>,
}

/// How the I/Os of a test are kept in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Load {
    /// Number of jobs; each has its own part of the file.
    pub(crate) n_jobs: u32,
    /// I/Os in flight of each.
    pub(crate) iodepth: u32,
}

impl Load {
    /// I/Os in flight of all jobs.
    pub(crate) fn depth(self) -> u32 {
        self.n_jobs * self.iodepth
    }
}

/// Name of the best engine that this kernel offers.
pub(crate) fn engine_of_this_kernel() -> &'static str {
    EngineChoice::make().name
}

impl EngineChoice {
    /// The best engine that is built in and that this kernel offers.
    pub(crate) fn make() -> Self {
        let built: Vec<&EngineCandidate> =
            CANDIDATES.iter().filter(|candidate| ferrio_engine::find(candidate.name).is_some()).collect();
        Self::first_of(&built)
    }

    fn first_of(candidates: &[&EngineCandidate]) -> Self {
        let mut refusals = Vec::new();
        for candidate in candidates {
            match (candidate.probe)() {
                Ok(()) => return Self { name: candidate.name, has_queue: true, refusals },
                Err(error) => refusals.push(format!("{}: {error}", candidate.name)),
            }
        }
        Self { name: LAST_RESORT, has_queue: false, refusals }
    }

    /// The load of a test that wants a depth: less when the file has fewer blocks, or when the buffers would take more
    /// than a 64th of the memory. At least one I/O.
    pub(crate) fn load(&self, wanted_depth: u32, block_bytes: u64, file_bytes: u64, memory_bytes: u64) -> Load {
        let blocks = file_bytes.min(memory_bytes / MEMORY_PARTS) / block_bytes.max(1);
        // Cannot fail: it is not above a u32.
        let depth = u32::try_from(blocks.clamp(1, u64::from(wanted_depth.max(1)))).unwrap_or(1);
        if self.has_queue {
            return Load { n_jobs: 1, iodepth: depth };
        }
        Load { n_jobs: depth.min(MAX_THREADS), iodepth: 1 }
    }
}

/// Private options that save the engine CPU time: files and buffers that the kernel knows beforehand. Registered buffers
/// count as locked memory, together with those of other processes of the user: half of the limit is left to them.
pub(crate) fn saving_options(engine: &str, buffer_bytes: u64) -> Vec<EngineOption<bool>> {
    if engine != URING {
        return Vec::new();
    }
    let wanted_bytes = buffer_bytes.saturating_mul(2);
    options_within(raise_limit(Resource::Memlock, wanted_bytes), wanted_bytes)
}

fn options_within(limit_bytes: u64, wanted_bytes: u64) -> Vec<EngineOption<bool>> {
    if limit_bytes >= wanted_bytes { vec![REGISTERFILES, FIXEDBUFS] } else { vec![REGISTERFILES] }
}

fn probe_uring() -> ferrio_sys::Result<()> {
    let ring = IoRing::new(&RingRequest::new(MAX_DEPTH))?;
    if ring.supports_plain_io() {
        return Ok(());
    }
    let reason = "Linux 5.6 or newer is needed".to_owned();
    Err(ferrio_sys::Error::Unavailable { what: "reading and writing without vectors", reason })
}

fn probe_aio() -> ferrio_sys::Result<()> {
    AioContext::new(MAX_DEPTH, false).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn refuses() -> ferrio_sys::Result<()> {
        Err(ferrio_sys::Error::Unavailable { what: "it", reason: "no".to_owned() })
    }

    #[test]
    fn the_first_that_works_is_taken_and_the_others_are_named() {
        let (bad, good) =
            (EngineCandidate { name: "first", probe: refuses }, EngineCandidate { name: "second", probe: || Ok(()) });
        let choice = EngineChoice::first_of(&[&bad, &good]);
        assert_eq!((choice.name, choice.has_queue), ("second", true));
        assert_eq!(choice.refusals, ["first: it is not available: no"]);
        assert!(EngineChoice::first_of(&[&good, &bad]).refusals.is_empty());
        let choice = EngineChoice::first_of(&[]);
        assert_eq!((choice.name, choice.has_queue), ("psync", false));
    }

    #[test]
    fn buffers_are_registered_where_the_limit_allows_it() {
        assert_eq!(options_within(128 * MIB, 128 * MIB), [REGISTERFILES, FIXEDBUFS]);
        assert_eq!(options_within(128 * MIB - 1, 128 * MIB), [REGISTERFILES]);
        assert!(saving_options("libaio", MIB).is_empty());
        assert!(saving_options("io_uring", MIB).contains(&REGISTERFILES));
    }

    #[test]
    fn this_machine_has_an_engine() {
        assert!(ferrio_engine::find(EngineChoice::make().name).is_some());
    }

    #[test]
    fn the_load_is_bounded_by_file_memory_and_threads() {
        let queue = EngineChoice { name: "io_uring", has_queue: true, refusals: vec![] };
        let threads = EngineChoice { name: "psync", has_queue: false, refusals: vec![] };
        let table = [
            (&queue, 64, MIB, 4096 * MIB, 65_536 * MIB, (1, 64)),
            (&queue, 64, MIB, 16 * MIB, 65_536 * MIB, (1, 16)),
            (&queue, 64, MIB, 4096 * MIB, 2048 * MIB, (1, 32)),
            (&queue, 64, MIB, 4096 * MIB, 0, (1, 1)),
            (&queue, 256, 4096, 16 * MIB, 512 * MIB, (1, 256)),
            (&threads, 256, 4096, 16 * MIB, 512 * MIB, (64, 1)),
            (&threads, 64, MIB, 16 * MIB, 65_536 * MIB, (16, 1)),
        ];
        for (choice, wanted, block, file, memory, (n_jobs, iodepth)) in table {
            assert_eq!(choice.load(wanted, block, file, memory), Load { n_jobs, iodepth }, "{wanted} {file} {memory}");
        }
    }
}

//! Checks of random jobs against the sizes of their files: a generator that is too narrow, regions of `sprandom` that
//! are too small.
//!
//! Must not know: how blocks are drawn. Start reading at [`tell_generator`].
//! Facts: reference "The choice of the generator", "sprandom: requirements".

use crate::compat;
use crate::error::{Failure, failure};
use crate::events::{MessageStream, RunEvent};
use crate::files::FileSet;
use crate::plan::WorkerPlan;
use ferrio_spec::{RandomDistribution, RandomGenerator, SpRandomSpec};
use ferrio_stats::note::FileNote;
use ferrio_sys::errno::EINVAL;

/// Reports the files in which the 32-bit generator does not reach every block. If the job asked for no generator, the
/// first such file makes it use the 64-bit one.
pub(super) fn tell_generator(worker: &WorkerPlan, set: &FileSet, events: &mut dyn FnMut(RunEvent)) {
    let pattern = &worker.spec.pattern;
    let is_drawn = pattern.random && pattern.distribution == RandomDistribution::Uniform;
    let (takes_another, n_told) = match pattern.random_generator {
        _ if !is_drawn => return,
        None => (true, 1),
        Some(RandomGenerator::Tausworthe) => (false, usize::MAX),
        Some(RandomGenerator::Lfsr | RandomGenerator::Tausworthe64) => return,
    };
    let block_bytes = compat::size_unit_bytes(worker);
    let is_beyond = |length_bytes: u64| length_bytes / block_bytes > u64::from(u32::MAX);
    for file in set.files.iter().filter(|file| is_beyond(file.length_bytes)).take(n_told) {
        let note = FileNote::BeyondGenerator { file: file.name.clone(), takes_another };
        events(RunEvent::Message(MessageStream::Info, note.into()));
    }
}

/// A pass of `sprandom` has one file, and the cache to avoid must fit into each of its regions. fio 3.41 also checks
/// this after the files were laid out.
pub(super) fn check_regions(worker: &WorkerPlan, set: &FileSet) -> Result<(), Failure> {
    let Some(spec) = &worker.spec.pattern.sprandom else { return Ok(()) };
    if set.files.len() > 1 {
        let note = FileNote::SprandomFiles { job: worker.spec.name.clone(), n_files: set.files.len() };
        return Err(failure!(EINVAL, "sprandom").explained(note));
    }
    let block_bytes = worker.write_block_bytes();
    let refusals = set.files.iter().filter_map(|file| small_regions(spec, file.length_bytes, block_bytes));
    match refusals.into_iter().next() {
        Some(note) => Err(failure!(EINVAL, "sprandom").explained(note)),
        None => Ok(()),
    }
}

fn small_regions(spec: &SpRandomSpec, length_bytes: u64, block_bytes: u64) -> Option<FileNote> {
    let spare_bytes = (length_bytes as f64 * spec.over_provisioning).ceil() as u64;
    let physical_bytes = length_bytes.saturating_add(spare_bytes);
    let physical_bytes = physical_bytes - physical_bytes % block_bytes.max(1);
    let region_bytes = physical_bytes / u64::from(spec.n_regions.max(1));
    let cache_bytes = spec.cache_bytes;
    (cache_bytes > region_bytes).then(|| FileNote::SprandomCache {
        cache_bytes,
        region_bytes,
        n_allowed: physical_bytes / cache_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected: figures of the reference for 32 MiB in blocks of 4 KiB.
    #[test]
    fn a_cache_fits_into_a_region() {
        let refusal = |n_regions, cache_bytes| {
            let spec = SpRandomSpec { n_regions, over_provisioning: 0.10, cache_bytes };
            small_regions(&spec, 32 << 20, 4096).map(|note| ferrio_formats::words::note(&note.into()))
        };
        let said = refusal(2000, 32 << 10).expect("refused");
        let line =
            "fio: sprandom: spr_cs [32768] must be smaller than region_sz [18454] which means [1126] regions allowed";
        assert_eq!(said, line);
        assert!(refusal(50, 738_182).expect("refused").contains("[738181] which means [49] regions"));
        assert!(refusal(50, 32 << 20).expect("refused").contains("[738181] which means [1] regions"));
        assert_eq!((refusal(50, 738_181), refusal(100, 32 << 10), refusal(2000, 0)), (None, None, None));
    }
}

//! Jobs with one file, and the I/Os of their streams.
//!
//! Must not know: distributions. Start reading at [`ios`].

use ferrio_spec::JobSpec;
use ferrio_spec::{BlockRange, DirectionMix, FileService, PatternSpec};
use ferrio_units::PerDirection;
use ferrio_units::random::{DEFAULT_RAND_SEED, SeedTable};
use ferrio_workload::{FileRange, Next, NextIo, Rounds, WorkForm, Workload, WorkloadPlan};

pub(crate) const BLOCK_BYTES: u64 = 4096;

/// Seeds for distributions that have their own seed for each file.
pub(crate) const FILE_SEEDS: [u32; 3] = [1, 0x1234_5678, 0xFEDC_BA98];

/// Random reads of a file of `n_blocks` blocks.
pub(crate) fn random_reads(n_blocks: u64) -> WorkloadPlan {
    let length_bytes = n_blocks * BLOCK_BYTES;
    WorkloadPlan {
        pattern: PatternSpec {
            mix: DirectionMix::Read,
            random: true,
            rw_postfix: 1,
            norandommap: true,
            block_size: PerDirection::all(BlockRange { min_bytes: BLOCK_BYTES, max_bytes: BLOCK_BYTES }),
            ..JobSpec::default().pattern
        },
        strided: None,
        sequential: None,
        syncs: ferrio_workload::SyncIntervals::default(),
        files: vec![FileRange {
            start_bytes: 0,
            length_bytes,
            file_bytes: length_bytes,
            distribution_seed: FILE_SEEDS[0],
        }],
        openfiles: 1,
        form: WorkForm::Blocks,
        file_service: FileService::RoundRobin,
        file_service_count: 1,
        seeds: SeedTable::new(DEFAULT_RAND_SEED, 1),
        reseed_each_pass: false,
        limits: ferrio_workload::WorkLimits::NONE,
        time_based: false,
        rounds: Rounds::None,
        compatibility: ferrio_spec::Compatibility::Fio,
    }
}

/// Sequential reads of an endless file.
pub(crate) fn sequential_reads() -> WorkloadPlan {
    let mut plan = random_reads(1 << 40);
    (plan.pattern.random, plan.pattern.rw_postfix) = (false, 0);
    plan
}

/// The first I/Os, over as many passes as needed.
pub(crate) fn ios(plan: WorkloadPlan, n_ios: usize) -> Vec<NextIo> {
    let mut workload = Workload::new(plan).unwrap();
    let mut ios = Vec::with_capacity(n_ios);
    while ios.len() < n_ios {
        match workload.next() {
            Next::Io(io) => ios.push(io),
            Next::PassEnd => workload.start_pass(),
            Next::Close(_) | Next::Restart(_) => {}
            other => panic!("{other:?} from a job without rates"),
        }
    }
    ios
}

/// The block numbers of these I/Os.
pub(crate) fn blocks(plan: WorkloadPlan, n_ios: usize) -> Vec<usize> {
    ios(plan, n_ios).into_iter().map(|io| (io.offset_bytes / BLOCK_BYTES) as usize).collect()
}

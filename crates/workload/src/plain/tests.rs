//! The plain stream compared with the general one, for random plain plans.

use super::PlainStream;
use crate::compat;
use crate::io_stream::{IoStream, JobStream};
use crate::next::Next;
use crate::pace::Arrivals;
use crate::pace::Pace;
use crate::paced::PacedStream;
use crate::plan::{FileRange, Rounds, WorkForm, WorkloadPlan};
use crate::stream::Stream;
use crate::zoning::Unzoned;
use ferrio_spec::JobSpec;
use ferrio_spec::{BlockRange, Compatibility, DirectionMix, FileService, PatternSpec};
use ferrio_units::PerDirection;
use ferrio_units::random::SeedTable;
use proptest::prelude::*;

fn fixed(bytes: u64) -> BlockRange {
    BlockRange::one(bytes)
}

fn pattern() -> PatternSpec {
    PatternSpec {
        random: true,
        rw_postfix: 1,
        block_size: PerDirection::all(fixed(4096)),
        ..JobSpec::default().pattern
    }
}

fn plan(pattern: PatternSpec, range: FileRange) -> WorkloadPlan {
    WorkloadPlan {
        pattern,
        strided: None,
        sequential: None,
        syncs: crate::plan::SyncIntervals::default(),
        files: vec![range],
        openfiles: 1,
        form: WorkForm::Blocks,
        file_service: FileService::RoundRobin,
        file_service_count: 1,
        seeds: SeedTable::new(0x89, 1),
        reseed_each_pass: false,
        limits: crate::plan::WorkLimits::NONE,
        time_based: false,
        rounds: Rounds::None,
        compatibility: Compatibility::Fio,
    }
}

fn patterns() -> impl Strategy<Value = PatternSpec> {
    let mixes = prop::sample::select(vec![DirectionMix::Read, DirectionMix::Write, DirectionMix::Trim]);
    let sizes = [0; 3].map(|_| prop::sample::select(vec![512_u64, 4096, 6000]));
    (mixes, any::<bool>(), any::<bool>(), sizes).prop_map(|(mix, random, norandommap, sizes)| PatternSpec {
        mix,
        random,
        norandommap,
        rw_postfix: i64::from(random),
        block_size: PerDirection(sizes.map(fixed)),
        ..pattern()
    })
}

fn ranges() -> impl Strategy<Value = FileRange> {
    (0_u64..9000, 0_u64..200_000, 0_u64..20_000).prop_map(|(start_bytes, length_bytes, more_bytes)| FileRange {
        start_bytes,
        length_bytes,
        file_bytes: start_bytes + length_bytes + more_bytes,
        distribution_seed: 0,
    })
}

/// No limit, or one that is reached.
fn limits(largest: u64) -> impl Strategy<Value = u64> {
    prop_oneof![Just(u64::MAX), 0..largest]
}

fn plans() -> impl Strategy<Value = WorkloadPlan> {
    let limits = (limits(600_000), limits(300_000), limits(300));
    (patterns(), ranges(), limits, any::<[bool; 3]>(), any::<u32>()).prop_map(
        |(pattern, range, (bytes, pass_bytes, ios), [reseed_each_pass, time_based, is_fio], seed)| {
            compat::with_reach(WorkloadPlan {
                seeds: SeedTable::new(u64::from(seed), 1),
                reseed_each_pass,
                limits: crate::plan::WorkLimits { bytes, pass_bytes, ios, ranges_per_trim: 1 },
                time_based,
                compatibility: if is_fio { Compatibility::Fio } else { Compatibility::Native },
                ..plan(pattern, range)
            })
        },
    )
}

proptest! {
    #[test]
    fn gives_what_the_general_stream_gives(plan in plans()) {
        // Two plans are not plain after all: a map of blocks smaller than the job's, and a last block that reaches past
        // the range.
        let Some(mut plain) = PlainStream::new(&plan).unwrap() else { return Ok(()) };
        let mut general = Stream::new(plan, Unzoned).unwrap();
        for _ in 0..4 {
            for _ in 0..500 {
                let next = plain.next();
                prop_assert_eq!(next, general.next());
                prop_assert_eq!(plain.offset_state(), general.offset_state());
                if next == Next::PassEnd {
                    break;
                }
            }
            prop_assert_eq!(plain.progress(), general.progress());
            plain.start_pass();
            general.start_pass();
        }
    }
}

proptest! {
    /// Both are told the same times, some before and some after an I/O is due.
    #[test]
    fn paced_gives_what_the_general_stream_gives(
        plan in plans(),
        rate in 1_u32..2_000_000,
        steps_ns in prop::collection::vec(0_u64..3_000_000, 1..20),
    ) {
        let Some(plain) = PlainStream::new(&plan).unwrap() else { return Ok(()) };
        let mut pace = JobSpec::default().pace;
        pace.ios_per_sec = PerDirection::all(rate);
        let arrivals = Arrivals::of_job(&pace, &plan);
        let mut plain = PacedStream::new(plain, arrivals.clone());
        let mut general = PacedStream::new(Stream::steered(plan, Unzoned).unwrap(), arrivals);
        let mut now_ns = 0;
        for step_ns in steps_ns.iter().cycle().take(500) {
            let next = plain.next();
            prop_assert_eq!(next, general.next());
            prop_assert_eq!(plain.intended_ns(), general.intended_ns());
            match next {
                Next::Wait => {
                    now_ns += step_ns;
                    prop_assert_eq!(plain.turn(now_ns), general.turn(now_ns));
                }
                Next::PassEnd => {
                    plain.job_mut().unwrap().start_pass();
                    general.job_mut().unwrap().start_pass();
                }
                _ => {}
            }
        }
    }
}

/// Each case changes one thing in a plain plan.
#[test]
fn what_is_not_plain_is_left_to_the_general_stream() {
    let range = FileRange { start_bytes: 0, length_bytes: 1 << 20, file_bytes: 1 << 20, distribution_seed: 0 };
    let base = plan(pattern(), range);
    assert!(PlainStream::new(&base).unwrap().is_some());
    let changes: [fn(&mut WorkloadPlan); 11] = [
        |plan| plan.pattern.mix = DirectionMix::ReadWrite,
        |plan| plan.pattern.mix = DirectionMix::TrimWrite,
        |plan| plan.pattern.rw_postfix = 8,
        |plan| plan.pattern.block_size = PerDirection::all(BlockRange { min_bytes: 512, max_bytes: 4096 }),
        |plan| plan.pattern.bs_is_seq_rand = true,
        |plan| plan.pattern.block_align = PerDirection::all(Some(512)),
        |plan| plan.pattern.percentage_random = PerDirection::all(99),
        |plan| {
            let length_bytes = (1 << 41) + 512;
            plan.pattern.block_size = PerDirection([4096, 512, 4096].map(fixed));
            plan.files[0] = FileRange { start_bytes: 0, length_bytes, file_bytes: length_bytes, distribution_seed: 0 };
        },
        |plan| plan.syncs.fsync_blocks = 1,
        |plan| plan.files.push(plan.files[0]),
        |plan| {
            plan.files[0] =
                FileRange { start_bytes: 0, length_bytes: u64::MAX, file_bytes: u64::MAX, distribution_seed: 0 }
        },
    ];
    for (index, change) in changes.iter().enumerate() {
        let mut plan = base.clone();
        plan.pattern.norandommap = true;
        change(&mut plan);
        assert!(PlainStream::new(&plan).unwrap().is_none(), "change {index}");
    }
}

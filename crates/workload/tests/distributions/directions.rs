//! `rwmixread` and `percentage_random`: draws of 1 to 100 against a percentage.

use super::chi_square::{assert_independent, assert_uniform};
use super::jobs::{BLOCK_BYTES, ios, random_reads, sequential_reads};
use ferrio_spec::DirectionMix;
use ferrio_units::random::{Generator, GeneratorKind};
use ferrio_units::{Direction, PerDirection};

const N_IOS: usize = 200_000;

#[test]
fn percentages_are_drawn_evenly() {
    for kind in [GeneratorKind::Taus88, GeneratorKind::Taus258] {
        for seed in [1, 42, 0x1234_5678_9ABC_DEF0] {
            let mut stream = Generator::new(kind, seed);
            let draws = (0..N_IOS).map(|_| stream.percent() as usize - 1);
            assert_uniform(&format!("{kind:?}"), 100, draws);
        }
    }
}

/// The direction is drawn for each I/O once both directions have had their shares, soon after the start: the number of
/// I/Os that a direction may do in a row after a switch is then below the number that it has done.
#[test]
fn reads_and_writes() {
    for percent in [5, 10, 30, 50, 75, 90, 99] {
        let mut plan = sequential_reads();
        (plan.pattern.mix, plan.pattern.rwmix_read) = (DirectionMix::ReadWrite, percent);
        let is_read: Vec<bool> = ios(plan, N_IOS).iter().map(|io| io.direction == Direction::Read).collect();
        assert_independent(&format!("rwmixread={percent}"), f64::from(percent) / 100.0, &is_read[2_000..]);
    }
}

/// Among this many blocks, a random block almost never follows directly behind the last one.
#[test]
fn random_among_sequential() {
    for percent in [1, 10, 50, 80, 99] {
        let n_blocks = 1_u64 << 24;
        let mut plan = random_reads(n_blocks);
        plan.pattern.percentage_random = PerDirection::all(percent);
        let ios = ios(plan, N_IOS);
        let is_random = |pair: &[ferrio_workload::NextIo]| pair[1].offset_bytes != pair[0].offset_bytes + BLOCK_BYTES;
        let flags: Vec<bool> = ios.windows(2).map(is_random).collect();
        assert_independent(&format!("percentage_random={percent}"), f64::from(percent) / 100.0, &flags);
        let part = |offset_bytes: u64| (offset_bytes / BLOCK_BYTES * 64 / n_blocks) as usize;
        let random = ios.windows(2).filter(|pair| is_random(pair)).map(|pair| part(pair[1].offset_bytes));
        assert_uniform(&format!("random blocks at {percent} %"), 64, random);
    }
}

//! The engine through the contract: virtual time, contents, faults in the data.

use crate::contract::{Completion, IoUnit, Queued};
use crate::testing::{BLOCK, N_BLOCKS, Rig, RigOptions, given, shuffled_blocks};
use ferrio_sys::clock::Clock;
use ferrio_units::Direction;

const US: u64 = 1_000;

fn rig(iodepth: u32, clock: &Clock, options: &[(&str, &str)]) -> Rig {
    let options = given("sim", options);
    Rig::new("sim", None, RigOptions { iodepth, clock: clock.clone(), options, ..RigOptions::default() }).unwrap()
}

#[test]
fn reap_moves_a_virtual_clock_to_the_completion() {
    let clock = Clock::new_virtual();
    clock.advance(777);
    let mut rig = rig(4, &clock, &[("sim_service", "fixed:100us,write=fixed:30us"), ("sim_channels", "2")]);
    let units = [Direction::Read, Direction::Write, Direction::Write].map(|direction| rig.unit(direction, 0));
    for (index, unit) in units.iter().enumerate() {
        assert_eq!(rig.engine.queue(index as u32, unit), Queued::Queued);
    }
    assert_eq!(rig.engine.commit().unwrap(), 3);
    let mut seen = Vec::new();
    for _ in 0..3 {
        let mut completions = Vec::with_capacity(4);
        rig.engine.reap(1, 1, &mut completions).unwrap();
        let Completion { unit_index, result } = completions[0];
        assert_eq!(result.number(), BLOCK as i64);
        seen.push((unit_index, clock.now_ns() - 777));
    }
    assert_eq!(seen, [(1, 30 * US), (2, 60 * US), (0, 100 * US)]);
}

#[test]
fn a_minimum_waits_and_no_minimum_only_looks() {
    let clock = Clock::new_virtual();
    let mut rig = rig(4, &clock, &[]);
    let unit = rig.unit(Direction::Read, 0);
    let mut completions = Vec::with_capacity(4);
    rig.engine.reap(2, 4, &mut completions).unwrap();
    assert!(completions.is_empty(), "nothing is in flight");
    for index in 0..3 {
        rig.engine.queue(index, &unit);
    }
    rig.engine.commit().unwrap();
    rig.engine.reap(0, 4, &mut completions).unwrap();
    assert!(completions.is_empty());
    assert!(clock.now_ns() < 100 * US);
    rig.engine.reap(2, 4, &mut completions).unwrap();
    assert_eq!((completions.len(), clock.now_ns()), (2, 200 * US));
    rig.engine.reap(4, 4, &mut completions).unwrap();
    assert_eq!((completions.len(), clock.now_ns()), (3, 300 * US));
}

#[test]
fn polling_gets_on_in_virtual_time() {
    let clock = Clock::new_virtual();
    let mut rig = rig(1, &clock, &[]);
    let unit = rig.unit(Direction::Read, 0);
    rig.engine.queue(0, &unit);
    rig.engine.commit().unwrap();
    let mut completions = Vec::with_capacity(1);
    let mut n_polls = 0;
    while completions.is_empty() {
        rig.engine.reap(0, 1, &mut completions).unwrap();
        n_polls += 1;
    }
    assert_eq!(n_polls, 1001);
}

#[test]
fn a_real_clock_is_waited_for() {
    let clock = Clock::new_monotonic();
    let mut rig = rig(1, &clock, &[("sim_service", "fixed:300us")]);
    let start_ns = clock.now_ns();
    assert_eq!(rig.one(rig.unit(Direction::Read, 0)), BLOCK as i64);
    assert!(clock.now_ns() - start_ns >= 300 * US);
}

fn write_all(rig: &mut Rig, mark: u8) {
    let units: Vec<IoUnit> = shuffled_blocks().iter().map(|&block| rig.unit(Direction::Write, block)).collect();
    rig.run(&units, |index, buffer| buffer.fill(mark + shuffled_blocks()[index] as u8), |_, _, _| ());
}

/// Indexes of the blocks that do not hold what was written.
fn wrong_blocks(rig: &mut Rig, mark: u8) -> Vec<usize> {
    let units: Vec<IoUnit> = (0..N_BLOCKS).map(|block| rig.unit(Direction::Read, block)).collect();
    let mut wrong = Vec::new();
    rig.run(
        &units,
        |_, _| (),
        |block, buffer, _| {
            if buffer.iter().any(|&byte| byte != mark + block as u8) {
                wrong.push(block);
            }
        },
    );
    wrong.sort_unstable();
    wrong
}

#[test]
fn contents_are_kept_and_trimmed() {
    let clock = Clock::new_virtual();
    let mut rig = rig(8, &clock, &[("sim_data", "1"), ("sim_service", "uniform:10us-200us"), ("sim_channels", "4")]);
    write_all(&mut rig, 1);
    assert_eq!(wrong_blocks(&mut rig, 1), [0; 0]);
    assert_eq!(rig.one(rig.unit(Direction::Trim, 5)), BLOCK as i64);
    rig.run(&[rig.unit(Direction::Read, 5)], |_, _| (), |_, buffer, _| assert!(buffer.iter().all(|&byte| byte == 0)));
    assert_eq!(rig.one(rig.unit(Direction::Sync, 0)), BLOCK as i64);
}

#[test]
fn faults_are_real_in_the_data() {
    let clock = Clock::new_virtual();
    let block = |nth: usize| shuffled_blocks()[nth - 1];
    for (fault, n_wrong) in [("lost@7", 1), ("torn@7", 1), ("flip@7", 1), ("misdirected@7", 2)] {
        let mut rig = rig(1, &clock, &[("sim_data", "1"), ("sim_fault", fault)]);
        write_all(&mut rig, 100);
        let wrong = wrong_blocks(&mut rig, 100);
        // A misdirected write damages two blocks: the one that it should have written and the one that it hit, unless
        // that one is written again later.
        assert!(wrong.contains(&block(7)) && wrong.len() <= n_wrong, "{fault}: {wrong:?}");
    }
}

#[test]
fn errors_and_short_transfers_are_results() {
    let clock = Clock::new_virtual();
    let mut rig = rig(2, &clock, &[("sim_fault", "eio@2,short@3"), ("sim_capacity", "10000")]);
    let results: Vec<i64> = (0..3).map(|_| rig.one(rig.unit(Direction::Read, 0))).collect();
    assert_eq!(results, [4096, -i64::from(libc::EIO), 2048]);
    assert_eq!(rig.one(rig.unit(Direction::Read, 2)), 10_000 - 8192);
    assert_eq!(rig.one(rig.unit(Direction::Read, 3)), 0);
    assert_eq!(rig.one(rig.unit(Direction::Write, 3)), -i64::from(libc::ENOSPC));
    assert_eq!(rig.one(rig.unit(Direction::Trim, 3)), -i64::from(libc::EINVAL));
}

#[test]
fn the_same_seed_gives_the_same_times() {
    let times = |seed: &str| {
        let clock = Clock::new_virtual();
        let options = [("sim_service", "lognormal:80us/1"), ("sim_channels", "3"), ("sim_seed", seed)];
        let mut rig = rig(8, &clock, &options);
        let units: Vec<IoUnit> = shuffled_blocks().iter().map(|&block| rig.unit(Direction::Read, block)).collect();
        let mut times = Vec::new();
        rig.run(&units, |_, _| (), |index, _, _| times.push((index, clock.now_ns())));
        times
    };
    assert_eq!(times("1"), times("1"));
    assert_ne!(times("1"), times("2"));
}

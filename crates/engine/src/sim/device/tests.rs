//! The device compared with arithmetic by hand: every completion time to the nanosecond.

use super::*;
use crate::EngineOptions;
use crate::sim::options::SimOptions;
use crate::testing::given;
use proptest::prelude::*;

const US: u64 = 1_000;
const N_ARRIVALS: u32 = 400_000;

fn device(options: &[(&str, &str)]) -> SimDevice {
    SimOptions::parse(&EngineOptions::new(given("sim", options))).unwrap().device(1).unwrap()
}

fn take(device: &mut SimDevice, direction: Direction, now_ns: u64) -> u64 {
    device.take(&Arrival { direction, address: 0, length_bytes: 4096, now_ns }).done_ns
}

#[test]
fn one_channel_is_a_queue() {
    let mut device = device(&[]);
    let done: Vec<u64> = (0..3).map(|_| take(&mut device, Direction::Read, 0)).collect();
    assert_eq!(done, [100 * US, 200 * US, 300 * US]);
    assert_eq!(take(&mut device, Direction::Read, 1000 * US), 1100 * US);
}

#[test]
fn channels_work_in_parallel_and_the_earliest_free_is_taken() {
    let mut device = device(&[("sim_channels", "2"), ("sim_service", "fixed:100us,write=fixed:30us")]);
    assert_eq!(take(&mut device, Direction::Read, 0), 100 * US);
    assert_eq!(take(&mut device, Direction::Write, 0), 30 * US);
    assert_eq!(take(&mut device, Direction::Write, 0), 60 * US);
    assert_eq!(take(&mut device, Direction::Read, 0), 160 * US);
    assert_eq!(take(&mut device, Direction::Read, 0), 200 * US);
}

#[test]
fn a_sync_waits_for_what_came_before_and_holds_up_nothing() {
    let mut device = device(&[("sim_channels", "2"), ("sim_service", "fixed:100us,sync=fixed:1ms")]);
    take(&mut device, Direction::Write, 0);
    assert_eq!(take(&mut device, Direction::Sync, 10), 1100 * US);
    assert_eq!(take(&mut device, Direction::Write, 10), 100 * US + 10);
}

#[test]
fn the_write_cache_takes_writes_until_it_is_full() {
    // Two blocks fit; it drains 4096 bytes in 100 us.
    let mut device = device(&[("sim_write_cache", "8k/10us/40960000/s"), ("sim_service", "sync=fixed:0")]);
    assert_eq!(take(&mut device, Direction::Write, 0), 10 * US);
    assert_eq!(take(&mut device, Direction::Write, 0), 10 * US);
    assert_eq!(take(&mut device, Direction::Write, 0), 110 * US);
    assert_eq!(take(&mut device, Direction::Sync, 0), 300 * US);
    assert_eq!(take(&mut device, Direction::Read, 0), 100 * US, "the channel was not used");
    let large = Arrival { direction: Direction::Write, address: 0, length_bytes: 16384, now_ns: 100 * US };
    assert_eq!(device.take(&large).done_ns, 200 * US, "past the cache");
}

#[test]
fn the_read_cache_answers_what_was_read() {
    let mut device = device(&[("sim_read_cache", "64k/5us")]);
    assert_eq!(take(&mut device, Direction::Read, 0), 100 * US);
    assert_eq!(take(&mut device, Direction::Read, 0), 5 * US);
    assert_eq!(take(&mut device, Direction::Write, 0), 200 * US);
    assert_eq!(take(&mut device, Direction::Read, 0), 5 * US, "a write leaves it in");
    take(&mut device, Direction::Trim, 0);
    assert_eq!(take(&mut device, Direction::Read, 0), 400 * US);
}

#[test]
fn nothing_starts_in_a_stall() {
    let mut device = device(&[("sim_stall", "8k/1ms")]);
    assert_eq!(take(&mut device, Direction::Write, 0), 100 * US);
    assert_eq!(take(&mut device, Direction::Write, 0), 200 * US);
    assert_eq!(take(&mut device, Direction::Read, 0), 1300 * US);
}

#[test]
fn burst_limits_come_before_channels() {
    let mut device = device(&[("sim_burst", "iops:1000/1000/1"), ("sim_channels", "8")]);
    let done: Vec<u64> = (0..3).map(|_| take(&mut device, Direction::Read, 0)).collect();
    assert_eq!(done, [100 * US, 1100 * US, 2100 * US]);
}

#[test]
fn a_stalled_io_keeps_its_channel() {
    let mut device = device(&[("sim_fault", "stall:1ms@1")]);
    assert_eq!(take(&mut device, Direction::Read, 0), 1100 * US);
    assert_eq!(take(&mut device, Direction::Read, 0), 1200 * US);
}

#[test]
fn utilisation_follows_the_textbook() {
    // M/M/1 at utilisation 0.5: the mean response time is twice the mean service time. Arrivals are drawn here.
    let mut device = device(&[("sim_service", "exponential:100us")]);
    let mut arrivals = crate::sim::rng::SimRandom::new(99, 0);
    let (mut now, mut sum) = (0.0, 0.0);
    for _ in 0..N_ARRIVALS {
        now += 200_000.0 * arrivals.exponential();
        let now_ns = now as u64;
        sum += (take(&mut device, Direction::Read, now_ns) - now_ns) as f64;
    }
    let mean = sum / f64::from(N_ARRIVALS);
    assert!((mean - 200_000.0).abs() < 4_000.0, "{mean}");
}

/// Texts made of pieces of the grammar: many are valid, most others nearly so.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "fixed:",
        "uniform:",
        "exponential:",
        "lognormal:",
        "read=",
        "write=",
        "iops:",
        "bw:",
        "eio",
        "short",
        "torn",
        "lost",
        "misdirected",
        "flip",
        "stall",
        "@",
        "/",
        ",",
        "-",
        "+",
        ":",
        "1",
        "0",
        "7",
        "0.5",
        "%",
        "us",
        "ms",
        "s",
        "k",
        "m",
        "g",
        "p",
        "18446744073709551615",
        "99999999999999999999",
        ".",
        " ",
    ]);
    prop::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
}

fn any_length() -> impl Strategy<Value = u64> {
    prop_oneof![0..10_000_u64, Just(u64::MAX), Just(1 << 63), any::<u64>()]
}

proptest! {
    #[test]
    fn hostile_options_are_errors(option in 0..6_usize, text in texts()) {
        let names = ["sim_service", "sim_write_cache", "sim_stall", "sim_burst", "sim_fault", "sim_read_cache"];
        let options = given("sim", &[(names[option], text.as_str()), ("sim_data", "1")]);
        // The parser must return; its result does not matter.
        let _ = SimOptions::parse(&EngineOptions::new(options));
    }

    #[test]
    fn time_never_runs_backwards_or_over(
        ios in prop::collection::vec((0..4_usize, any_length(), any_length(), any_length()), 1..40),
    ) {
        let mut device = device(&[
            ("sim_service", "exponential:100us+1g,write=lognormal:1s/10,sync=uniform:0-86400s"),
            ("sim_channels", "3"),
            ("sim_read_cache", "64k/5us"),
            ("sim_write_cache", "8k/10us/1"),
            ("sim_stall", "8k/86400s"),
            ("sim_burst", "iops:1/1/1,bw:1/16383p/16383p"),
            ("sim_fault", "eio@0.1,short@0.1,stall:86400s@0.5"),
        ]);
        let directions = [Direction::Read, Direction::Write, Direction::Trim, Direction::Sync];
        for (direction, address, length, now_ns) in ios {
            // The engine never passes a length that goes beyond the end of the device.
            let length_bytes = if directions[direction] == Direction::Read { length % (1 << 24) } else { length };
            let arrival = Arrival { direction: directions[direction], address, length_bytes, now_ns };
            prop_assert!(device.take(&arrival).done_ns >= now_ns);
        }
    }
}

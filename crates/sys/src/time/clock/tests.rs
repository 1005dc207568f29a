//! Tests of the clock: arithmetic to the exact number; real clocks only where the result is the same on any machine.

use super::scale::{Scale, StampLine};
use super::*;
use ferrio_testing::skip;
use proptest::prelude::*;

#[test]
fn virtual_clock_moves_only_when_told() {
    let clock = Clock::new_virtual();
    let shared = clock.clone();
    assert_eq!((clock.now_ns(), clock.kind()), (0, ClockKind::Virtual));
    clock.advance(1_500);
    assert_eq!(shared.now_ns(), 1_500);
    assert!(shared.sleep_until_ns(10_000));
    assert_eq!(clock.now_ns(), 10_000);
    assert!(clock.sleep_until_ns(9_000), "a deadline in the past changes nothing");
    assert_eq!(clock.now_ns(), 10_000);
}

#[test]
fn a_clock_on_a_counter_starts_at_zero() {
    let clock = Clock::on_counter(Arc::new(AtomicU64::new(77)));
    clock.advance(5);
    assert_eq!((clock.stamp(), clock.now_ns(), clock.stamp_at_ns(100)), (82, 5, 177));
}

#[test]
fn clocks_in_ns_convert_exactly() {
    for clock in [Clock::new_monotonic(), Clock::new_virtual()] {
        for ns in [0, 1, 999, u64::from(u32::MAX), u64::MAX] {
            assert_eq!(clock.to_ns(ns), ns);
        }
    }
}

#[test]
fn real_clocks_never_go_backwards_and_sleep_long_enough() {
    let mut clocks = vec![Clock::new(), Clock::new_monotonic()];
    for clock in &mut clocks {
        let mut last = 0;
        for round in 0..2_000 {
            let now = clock.now_ns();
            assert!(now >= last, "{now} after {last}");
            last = now;
            if round % 500 == 0 {
                clock.recalibrate();
            }
        }
        let deadline = clock.now_ns() + 2_000_000;
        while !clock.sleep_until_ns(deadline) {}
        // The time line may run up to 1 % beside the kernel's clock while it is steered.
        assert!(clock.now_ns() >= deadline - 20_000);
    }
}

#[test]
fn the_counter_of_the_cpu_agrees_with_the_kernel_clock() {
    // An emulated aarch64 shows the clock sources of its host.
    let clock = if cfg!(target_arch = "aarch64") { Clock::on_cpu_counter() } else { Clock::new_cpu_counter() };
    let Some(mut clock) = clock else {
        skip!("the_counter_of_the_cpu_agrees_with_the_kernel_clock", "no reliable counter of the CPU");
        return;
    };
    std::thread::sleep(Duration::from_millis(20));
    clock.recalibrate();
    let (stamp, before_ns) = read_together(&clock);
    std::thread::sleep(Duration::from_millis(50));
    let (stamp_after, after_ns) = read_together(&clock);
    let by_counter = clock.between_ns(stamp, stamp_after);
    // The time line may run up to 1 % beside the kernel's clock while it is steered; a wrong frequency would be far off.
    let passed_ns = after_ns - before_ns;
    assert!(by_counter.abs_diff(passed_ns) < passed_ns / 100 + 1_000_000, "{by_counter} against {passed_ns}");
}

/// Both clocks, not torn apart by a busy machine.
fn read_together(clock: &Clock) -> (u64, u64) {
    loop {
        let (first_ns, stamp, last_ns) = (monotonic_ns(), clock.stamp(), monotonic_ns());
        if last_ns - first_ns < 200_000 {
            return (stamp, first_ns);
        }
    }
}

#[test]
fn kernel_that_dropped_the_counter_of_the_cpu_is_believed() {
    let trusted = format!("{} kvm-clock \n", cpu_counter::KERNEL_NAME);
    assert!(cpu_counter::kernel_trusts(Some(&trusted)));
    assert!(!cpu_counter::kernel_trusts(Some("hpet acpi_pm \n")));
    assert!(cpu_counter::kernel_trusts(None));
}

#[test]
fn scale_of_a_known_frequency() {
    // 2.5 GHz: a tick is 0.4 ns.
    let scale = Scale::measured(2_500_000, 1_000_000).unwrap();
    // 0.4 has no end in binary: rounding down may cost 1 ns.
    assert!(scale.to_ns(2_500).abs_diff(1_000) <= 1);
    assert_eq!(scale.to_stamps(1_000_000_000), 2_500_000_000);
    // 100 days in ticks: the error of a scale of 60 binary digits is below 1 ns.
    let ns_100_days = 100 * 86_400 * 1_000_000_000_u64;
    assert!(scale.to_ns(ns_100_days / 2 * 5).abs_diff(ns_100_days) <= 1);
    assert_eq!(Scale::measured(0, 1), None);
    let too_long_ns = 1 << (64 - Scale::IDENTITY.factor().0);
    assert_eq!(Scale::measured(1, too_long_ns), None, "on x86-64: slower than 62.5 MHz is no TSC");
    assert!(Scale::measured(1, too_long_ns - 1).is_some());
    assert_eq!(Scale::measured(64, 1), None, "no counter has 64 GHz");
}

#[test]
fn a_stated_frequency_is_compared_to_a_percent() {
    let scale = Scale::measured(1_000_000, 1_000_000).unwrap();
    assert!(scale.is_near(1_000_000_000) && scale.is_near(995_000_000) && scale.is_near(1_005_000_000));
    assert!(!scale.is_near(980_000_000) && !scale.is_near(1_020_000_000) && !scale.is_near(0));
}

#[test]
fn ppb_of_a_changed_scale() {
    let old = Scale::measured(1_000_000_000, 1_000_000_000).unwrap();
    let new = Scale::measured(1_000_000_000, 1_000_000_200).unwrap();
    assert_eq!((new.ppb_against(old), old.ppb_against(new), old.ppb_against(old)), (200, -200, 0));
}

#[test]
fn steering_goes_on_from_where_the_line_was_and_makes_up_the_difference() {
    // The first calibration took a 1 GHz counter for one 100 ppm slower: the line runs 100 ppm fast.
    let truth = Scale::measured(1_000_000, 1_000_000).unwrap();
    let wrong = Scale::measured(1_000_000, 1_000_100).unwrap();
    let mut line = StampLine::new(0, wrong);
    let second = 1_000_000_000;
    let shown_ns = line.at_ns(second);
    assert!(shown_ns.abs_diff(1_000_100_000) <= 1, "{shown_ns}");
    line.steer(second, second, truth);
    assert_eq!(line.at_ns(second), shown_ns, "no jump");
    assert!(line.at_ns(2 * second).abs_diff(2 * second) <= 2, "made up after as long again");
}

proptest! {
    #[test]
    fn there_and_back_is_within_a_tick(mhz in 100_u64..6_000, ns in 0_u64..1 << 53) {
        let scale = Scale::measured(mhz * 1_000, 1_000_000).unwrap();
        let back = scale.to_ns(scale.to_stamps(ns));
        prop_assert!(back <= ns + 1 && ns - back.min(ns) <= 1_000 / mhz + 2, "{ns} came back as {back}");
    }

    #[test]
    fn a_steered_line_is_monotone(
        first_ns in 1_000_000_u64..1_000_000_000,
        error_ppm in -2_000_i64..2_000,
        later in 0_u64..1_000_000_000,
    ) {
        let truth = Scale::measured(3_000_000, 1_000_000).unwrap();
        let wrong = Scale::measured(3_000_000, 1_000_000_u64.saturating_add_signed(error_ppm)).unwrap();
        let mut line = StampLine::new(0, wrong);
        let stamp = first_ns * 3;
        let before = line.at_ns(stamp);
        line.steer(stamp, first_ns, truth);
        prop_assert!(line.at_ns(stamp) >= before);
        prop_assert!(line.at_ns(stamp + later) >= line.at_ns(stamp));
    }
}

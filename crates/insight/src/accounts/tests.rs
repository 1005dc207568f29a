//! Bytes, times and endings of jobs whose figures are known.

use crate::audit;
use crate::rules::testing::{TestRun, job, layer};
use ferrio_spec::DirectionMix;
use ferrio_stats::{CpuTurns, EndedBy, LayerKind, RunEnding, TimeCounts};

#[test]
fn what_a_device_has_done_in_the_ramp_is_no_excess() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    let mut disk = layer("vda", LayerKind::Disk, &[]);
    disk.bytes = Some([200 << 20, 0]);
    scene.layers(vec![layer("/data", LayerKind::FileSystem, &["vda"]), disk]);
    scene.disk_bytes[0] = 200 << 20;
    let n_levels = |scene: &TestRun| audit(&scene.made()).accounts.expect("accounts").jobs[0].bytes[0].levels.len();
    assert_eq!(n_levels(&scene), 1);
    scene.jobs[0].limits.ramp_time_us = 1_000_000;
    assert_eq!(n_levels(&scene), 0);
    // Less is less, whatever the ramp did.
    scene.disk_bytes[0] = 50 << 20;
    let mut disk = layer("vda", LayerKind::Disk, &[]);
    disk.bytes = Some([50 << 20, 0]);
    scene.layers(vec![layer("/data", LayerKind::FileSystem, &["vda"]), disk]);
    assert_eq!(n_levels(&scene), 1);
}

/// 10 s, of which I/Os were in flight for 7.68 s: what is asleep beside that is not known.
#[test]
fn the_parts_of_a_time_add_up() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    let stats = scene.stats();
    stats.total_runtime_ns = 10_000_000_000;
    (stats.usage.user_ns, stats.usage.system_ns) = (500_000_000, 1_000_000_000);
    stats.usage.cpu_turns = Some(CpuTurns { ran_ns: 1_500_000_000, waited_ns: 250_000_000, ..CpuTurns::default() });
    let paused = TimeCounts { paused_ns: 200_000_000, spun_ns: 100_000_000, ..TimeCounts::default() };
    stats.features.times = Some(Box::new(paused));
    let time = audit(&scene.made()).accounts.expect("accounts").jobs[0].time.expect("a time");
    let parts =
        [time.storage_ns, time.kernel_ns, time.computing_ns, time.pausing_ns, time.cpu_wait_ns, time.unknown_ns];
    assert_eq!(parts.map(|part_ns| part_ns / 1_000_000), [7680, 1000, 400, 200, 250, 470]);
    assert_eq!(time.parts().iter().map(|(_, part_ns)| part_ns).sum::<u64>(), time.whole_ns);
    // Figures that cannot be do not make more time than there was.
    scene.stats().usage.system_ns = u64::MAX;
    let time = audit(&scene.made()).accounts.expect("accounts").jobs[0].time.expect("a time");
    assert_eq!(time.parts().iter().map(|(_, part_ns)| part_ns).sum::<u64>(), time.whole_ns);
}

#[test]
fn what_has_ended_the_run_comes_before_what_has_ended_a_job() {
    let mut scene = TestRun::new(job("a", DirectionMix::Read));
    let ending = |scene: &TestRun| audit(&scene.made()).accounts.expect("accounts").ending;
    assert_eq!(ending(&scene), RunEnding::AsAsked);
    scene.record.workers[0].fate.ended_by = Some(EndedBy::ExitAll { job: "b".to_owned() });
    assert!(matches!(ending(&scene), RunEnding::Early { by: EndedBy::ExitAll { .. }, .. }));
    scene.add(job("b", DirectionMix::Read), crate::rules::testing::place("/data/b"));
    scene.record.workers[1].fate.ended_by = Some(EndedBy::Request { signal: Some(2) });
    let by_signal = RunEnding::Early { by: EndedBy::Request { signal: Some(2) }, jobs: Vec::new() };
    assert_eq!(ending(&scene), by_signal);
}

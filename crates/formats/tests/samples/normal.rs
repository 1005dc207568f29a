//! Recorded reports for people of a development version of fio, read into results and written again: the text must be
//! the same. The lines before the run are made from the job's settings.

use crate::common::assert_same_text;
use crate::normal_reader;
use ferrio_formats::start::{self, StartJob};
use ferrio_formats::view::{FioView, GroupReport};
use ferrio_formats::{LocalTime, normal};
use ferrio_spec::{SteadyCriterion, SteadyMetric};
use ferrio_stats::{ReportSettings, SteadySample, SteadyState};
use ferrio_units::{DataDirection, PerDirection};

/// The recorded date in milliseconds since 1970 (UTC).
fn timestamp_ms(report: &str) -> u64 {
    let header = report.lines().find(|line| line.contains(": (groupid=")).expect("a job");
    // All samples are from one day, Fri Nov 20 2026, which began 1,795,132,800 s after the start of 1970.
    let time = header.split_whitespace().rev().nth(1).expect("a time of day");
    let parts: Vec<u64> = time.split(':').map(|part| part.parse().expect("a number")).collect();
    (1_795_132_800 + parts[0] * 3600 + parts[1] * 60 + parts[2]) * 1000
}

/// Splits a sample into the lines before the run and the report.
fn parts(sample: &str) -> (&str, &str) {
    let at = sample.find("\n\n").expect("an empty line before the report") + 1;
    sample.split_at(at)
}

fn check(name: &str, sample: &str, block_bytes: u64, settings: &ReportSettings) {
    check_adjusted(name, sample, block_bytes, settings, |_| {});
}

fn check_adjusted(
    name: &str,
    sample: &str,
    block_bytes: u64,
    settings: &ReportSettings,
    adjust: impl Fn(&mut FioView<'static>),
) {
    let (_, report) = parts(sample);
    let mut result = normal_reader::read(report, block_bytes, settings);
    adjust(&mut result);
    result.record.to_mut().timestamp_ms = timestamp_ms(report);
    assert_same_text(name, &normal::render_in(&result, &LocalTime::utc()), report);
}

fn with_defaults(name: &str, sample: &str, block_bytes: u64) {
    check(name, sample, block_bytes, &ReportSettings::default());
}

#[test]
fn reads_writes_and_syncs() {
    with_defaults("normal-psync-randrw", include_str!("../fixtures/normal-psync-randrw.txt"), 4096);
}

#[test]
fn jobs_summed_up() {
    with_defaults("normal-libaio-group", include_str!("../fixtures/normal-libaio-group.txt"), 4096);
}

#[test]
fn decimal_units() {
    let settings = ReportSettings { kb_base: 1000, ..ReportSettings::default() };
    check("normal-kb-base", include_str!("../fixtures/normal-kb-base.txt"), 65_536, &settings);
}

#[test]
fn bits() {
    let settings = ReportSettings { unit_bits: true, ..ReportSettings::default() };
    check("normal-unit-bits", include_str!("../fixtures/normal-unit-bits.txt"), 65_536, &settings);
}

#[test]
fn all_directions_as_one() {
    let settings = ReportSettings { unified_mixed: true, ..ReportSettings::default() };
    check("normal-unified-mixed", include_str!("../fixtures/normal-unified-mixed.txt"), 4096, &settings);
}

#[test]
fn without_latencies() {
    with_defaults("normal-gtod-reduce", include_str!("../fixtures/normal-gtod-reduce.txt"), 4096);
}

#[test]
fn samples_and_description() {
    with_defaults("normal-time-based-samples", include_str!("../fixtures/normal-time-based-samples.txt"), 4096);
}

/// This job was ended with 32 I/Os in flight: they were issued, and moved nothing.
#[test]
fn latency_target() {
    let sample = include_str!("../fixtures/normal-latency-target.txt");
    check_adjusted("normal-latency-target", sample, 4096, &ReportSettings::default(), |result| {
        result.jobs[0].stats.to_mut().directions[DataDirection::Read].bytes -= 32 * 4096;
        result.groups = GroupReport::from_jobs(&result.jobs);
    });
}

#[test]
fn priorities() {
    with_defaults("normal-prios", include_str!("../fixtures/normal-prios.txt"), 4096);
}

/// The report gives means and a deviation; this window has them.
#[test]
fn steady_state() {
    let sample = include_str!("../fixtures/normal-steadystate.txt");
    let criterion = SteadyCriterion { metric: SteadyMetric::Iops, is_slope: false, limit: 30.0, is_percent: true };
    check_adjusted("normal-steadystate", sample, 4096, &ReportSettings::default(), |result| {
        let mut state = SteadyState::new(criterion, 3, 3);
        for ios_per_sec in [12_948, 17_000, 15_928] {
            state.add(SteadySample { ios_per_sec, bytes_per_sec: ios_per_sec * 4096, ..SteadySample::default() });
        }
        result.jobs[0].steady_state = Some(std::borrow::Cow::Owned(state));
    });
}

#[test]
fn without_data() {
    with_defaults("normal-cpuio", include_str!("../fixtures/normal-cpuio.txt"), 0);
}

#[test]
fn several_groups() {
    with_defaults("jobfile-two", include_str!("../fixtures/jobfile-two.txt"), 65_536);
}

#[test]
fn tolerated_errors() {
    let settings = ReportSettings { show_errors: true, ..ReportSettings::default() };
    check("continue-on-error", include_str!("../fixtures/continue-on-error.txt"), 4096, &settings);
}

#[test]
fn error_that_ends_the_job() {
    with_defaults("verify-mangled", include_str!("../fixtures/verify-mangled.txt"), 4096);
}

#[test]
fn reads_of_a_verification() {
    with_defaults("verify-ok", include_str!("../fixtures/verify-ok.txt"), 4096);
}

fn job(name: &str, rw: &str, block_bytes: u64, engine: &str, iodepth: u32) -> StartJob {
    StartJob {
        name: name.into(),
        group_index: 0,
        rw: rw.into(),
        block_size: PerDirection::all((block_bytes, block_bytes)),
        bs_is_seq_rand: false,
        engine: engine.into(),
        iodepth,
        kb_base: 1024,
        significant_figures: 4,
        does_io: true,
        has_clones: false,
    }
}

const VERSION: &str = "fio-3.42-135-gf5344";

#[test]
fn lines_before_one_job() {
    let (expected, _) = parts(include_str!("../fixtures/normal-psync-randrw.txt"));
    let mut ours = start::header(&[job("mix", "randrw", 4096, "psync", 1)], VERSION, 0, 1);
    ours += &start::layout("mix", 1, 32 << 20);
    assert_same_text("normal-psync-randrw", &ours, expected);
    let (expected, _) = parts(include_str!("../fixtures/normal-kb-base.txt"));
    let decimal = StartJob { kb_base: 1000, ..job("g", "read", 65_536, "psync", 1) };
    assert_same_text("normal-kb-base", &start::header(&[decimal], VERSION, 0, 1), expected);
}

#[test]
fn lines_before_clones() {
    let (expected, _) = parts(include_str!("../fixtures/normal-libaio-group.txt"));
    let clones = StartJob { has_clones: true, ..job("grp", "randwrite", 4096, "libaio", 16) };
    let mut ours = start::header(&[clones], VERSION, 0, 4);
    ours += &start::layout("grp", 1, 16 << 20).repeat(4);
    assert_same_text("normal-libaio-group", &ours, expected);
    let (expected, _) = parts(include_str!("../fixtures/jobfile-two.txt"));
    let readers = StartJob { group_index: 1, has_clones: true, ..job("reader", "read", 65_536, "psync", 1) };
    let mut ours = start::header(&[job("writer", "write", 65_536, "psync", 1), readers], VERSION, 0, 3);
    ours += &start::layout("writer", 1, 1 << 20);
    ours += &start::layout("reader", 1, 1 << 20).repeat(2);
    assert_same_text("jobfile-two", &ours, expected);
}

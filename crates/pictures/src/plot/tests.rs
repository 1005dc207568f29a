//! Tests of the kinds, with figures whose pictures are known.

use super::*;
use crate::chart::LineWeight;
use crate::panel::LinePanel;
use crate::scale::AxisScale;
use ferrio_formats::{Figures, JobResult, LatencyFigures, LatencyHeat, LatencyKind, Quantity, SampledRate, TimeSeries};
use ferrio_units::DataDirection;

const MS: u64 = 1_000_000;

fn kind(name: &str) -> &'static PlotKind {
    KINDS.iter().find(|kind| kind.name == name).expect("a kind of this name")
}

fn rates(quantity: Quantity, values: &[f64]) -> TimeSeries {
    let mut series = TimeSeries::new(quantity, DataDirection::Read, 100 * MS);
    for (index, value) in (0..).zip(values) {
        series.add_rate(index * 100 * MS, (index + 1) * 100 * MS, *value, 100_000);
    }
    series
}

fn with_series(name: &str, series: Vec<TimeSeries>) -> JobResult {
    JobResult { name: name.to_owned(), series, ..JobResult::default() }
}

fn result(name: &str, jobs: Vec<JobResult>) -> RunResult {
    RunResult { name: name.to_owned(), jobs, ..RunResult::default() }
}

/// A job with this rate of reads, and a latency of 10 us.
fn measured(name: &str, ios_per_sec: f64, options: &[(&str, &str)]) -> JobResult {
    let clat = LatencyFigures {
        n_samples: 100,
        min_ns: 5_000,
        max_ns: 1_000_000,
        mean_ns: 10_000.0,
        stddev_ns: 2_000.0,
        percentiles: vec![(50.0, 9_000), (99.0, 500_000)],
        bins: vec![(9_000, 99), (1_000_000, 1)],
    };
    let sampled =
        SampledRate { min: ios_per_sec / 2.0, max: ios_per_sec * 2.0, mean: ios_per_sec, stddev: 1.0, n_samples: 9 };
    let read = Figures {
        n_ios: ios_per_sec as u64,
        runtime_ns: 1_000 * MS,
        ios_per_sec,
        bytes_per_sec: ios_per_sec * 4096.0,
        sampled_ios_per_sec: Some(sampled),
        clat: Some(clat),
        ..Figures::default()
    };
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let mut job = JobResult { name: name.to_owned(), options, ..JobResult::default() };
    job.directions[DataDirection::Read] = Some(read);
    job
}

fn lines(picture: &Picture, index: usize) -> &LinePanel {
    match &picture.panels[index].content {
        PanelContent::Lines(lines) => lines,
        other => panic!("no lines: {other:?}"),
    }
}

fn drawn(kind_name: &str, results: &[RunResult]) -> (Picture, String) {
    let picture = picture(kind(kind_name), results, None).expect("a picture");
    let file = picture_file(&picture, None, PictureFormat::Svg).expect("a file");
    (picture, String::from_utf8(file).expect("text"))
}

fn lacking(kind_name: &str, results: &[RunResult]) -> String {
    picture(kind(kind_name), results, None).expect_err("no picture").to_string()
}

/// Does the text stand in the SVG file as a text of its own?
fn says(svg: &str, text: &str) -> bool {
    svg.contains(&format!(">\n{text}\n</text>"))
}

#[test]
fn a_peak_in_ten_million_values_is_kept() {
    let mut series = TimeSeries::new(Quantity::Bandwidth, DataDirection::Read, MS);
    for ms in 0..10_000_000_u64 {
        series.add_rate(ms * MS, (ms + 1) * MS, if ms == 7_654_321 { 9e9 } else { 1e6 }, 4096);
    }
    let (picture, svg) = drawn("over-time", &[result("r", vec![with_series("j", vec![series])])]);
    let line = &lines(&picture, 0).lines[0];
    assert!(line.x.len() <= 1000 && line.x.len() > 500, "{}", line.x.len());
    assert!(line.high.iter().any(|high| *high > 8.99e9));
    assert!(says(&svg, "bandwidth (GB/s)") && says(&svg, "time since the start of the job (h:min)"), "{svg:.9000}");
    assert!(svg.len() < 200_000);
}

#[test]
fn each_job_has_a_line_and_a_name_and_each_quantity_a_panel() {
    let job = |name, value| {
        with_series(name, vec![rates(Quantity::Iops, &[value; 5]), rates(Quantity::Bandwidth, &[5e6; 5])])
    };
    let (picture, svg) = drawn("over-time", &[result("r", vec![job("a", 1.0), job("b", 2.0)])]);
    assert_eq!(picture.panels.len(), 2);
    let iops = lines(&picture, 1);
    assert_eq!(
        (iops.lines.len(), iops.lines[1].x.len(), (iops.lines[1].x[0], iops.lines[1].y[0])),
        (2, 5, (0.05, 2.0))
    );
    for text in ["I/Os per second", "bandwidth (MB/s)", "a: read", "b: read", "IOPS over time"] {
        assert!(says(&svg, text), "{text}");
    }
    // Panels with the same names have one legend.
    assert_eq!(svg.matches("\na: read\n").count(), 1);
}

#[test]
fn many_jobs_are_pale_lines_below_their_average() {
    let jobs =
        (0..64).map(|index| with_series(&format!("j{index}"), vec![rates(Quantity::Iops, &[f64::from(index); 20])]));
    let (picture, svg) = drawn("over-time", &[result("r", jobs.collect())]);
    let drawn = &lines(&picture, 0).lines;
    assert_eq!(
        (drawn.len(), drawn[64].weight, drawn[64].name.as_str()),
        (65, LineWeight::Bold, "read, average of 64 jobs")
    );
    assert!(drawn[64].y.iter().all(|value| (value - 31.5).abs() < 1e-9), "{:?}", drawn[64]);
    assert!(drawn[64].band().all(|band| band == (0.0, 63.0)));
    assert!(says(&svg, "read, average of 64 jobs") && !svg.contains("j17"));
}

#[test]
fn logs_of_jobs_that_differ_by_milliseconds_have_one_average() {
    let job = |index: u64| {
        let mut series = TimeSeries::new(Quantity::Iops, DataDirection::Read, MS);
        for window in 0..10_u64 {
            let start_ms = window * 200 + index % 3;
            series.add_rate(start_ms * MS, (start_ms + 200) * MS, index as f64, 4096);
        }
        with_series(&format!("j{index}"), vec![series])
    };
    let (picture, _) = drawn("over-time", &[result("r", (0..13).map(job).collect())]);
    let average = lines(&picture, 0).lines.last().expect("an average");
    assert_eq!(average.x.len(), 10, "{:?}", average.x);
    assert!(average.y.iter().all(|value| (value - 6.0).abs() < 1e-9), "{:?}", average.y);
}

#[test]
fn the_latency_of_one_job_is_shown_by_its_percentiles() {
    let mut latency = TimeSeries::new(Quantity::Latency(LatencyKind::Completion), DataDirection::Read, MS);
    let mut heat = LatencyHeat::new(MS);
    (1..=100).for_each(|latency_ns| heat.add(0, latency_ns, 1, 10));
    latency.add(0, 50.0, 10);
    latency.heat = Some(heat);
    let (picture, svg) = drawn("over-time", &[result("r", vec![with_series("j", vec![latency])])]);
    let names: Vec<&str> = lines(&picture, 0).lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["read p50", "read p99", "read max"]);
    assert!(says(&svg, "Completion latency over time, read"), "{svg}");
}

#[test]
fn names_from_inputs_are_text_and_nothing_else() {
    let name = "<script>alert(1)</script>&\"'\u{0}";
    for kind in ["by-job", "percentiles"] {
        let (_, svg) = drawn(kind, &[result(name, vec![measured(name, 1.0, &[]), measured("b", 1.0, &[])])]);
        assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;alert(1)") && !svg.contains('\u{0}'), "{svg}");
    }
    let titled = picture(kind("by-job"), &[result("r", vec![measured("j", 1.0, &[])])], Some(name)).expect("a picture");
    let svg = picture_file(&titled, None, PictureFormat::Svg).expect("a file");
    assert!(!String::from_utf8(svg).expect("text").contains("<script"));
}

#[test]
fn bars_have_average_deviation_and_range() {
    let (picture, svg) = drawn("by-job", &[result("r", vec![measured("a", 1000.0, &[]), measured("b", 3000.0, &[])])]);
    let PanelContent::Bars(iops) = &picture.panels[1].content else { panic!("no bars") };
    let spread = iops.groups[0].values[1].expect("a value");
    assert_eq!((spread.mean, spread.deviation, spread.range), (3000.0, Some((2999.0, 3001.0)), Some((1500.0, 6000.0))));
    assert_eq!((iops.classes.join(" ").as_str(), iops.value.scale), ("a b", AxisScale::Linear));
    for text in ["a", "b", "3,000", "average", "4.10 MB/s", "10.0 us", "completion latency, logarithmic"] {
        assert!(says(&svg, text), "{text}");
    }
}

#[test]
fn results_are_compared_job_by_job_where_they_have_the_same() {
    let run = |name, factor: f64| {
        result(name, vec![measured("seq", 100.0 * factor, &[]), measured("rand", 10.0 * factor, &[])])
    };
    let (same, _) = drawn("compare", &[run("before.json", 1.0), run("after.json", 2.0)]);
    let PanelContent::Bars(bars) = &same.panels[1].content else { panic!("no bars") };
    let groups: Vec<(&str, f64)> = bars
        .groups
        .iter()
        .map(|group| (group.name.as_str(), group.values[1].map_or(0.0, |value| value.mean)))
        .collect();
    assert_eq!((bars.classes.join(" ").as_str(), groups), ("seq rand", vec![("before", 10.0), ("after", 20.0)]));
    // Results with different jobs: the sums.
    let (other, _) = drawn("compare", &[run("before.json", 1.0), result("x.json", vec![measured("y", 7.0, &[])])]);
    let PanelContent::Bars(bars) = &other.panels[1].content else { panic!("no bars") };
    let means: Vec<f64> = bars.groups[0].values.iter().map(|value| value.map_or(0.0, |value| value.mean)).collect();
    assert_eq!((bars.classes.join(" ").as_str(), means), ("before x", vec![110.0, 7.0]));
    assert!(lacking("compare", &[run("a", 1.0)]).contains("at least two results"));
}

/// The means of the first bars of a panel, with their rows.
fn bars(picture: &Picture, index: usize, group: usize) -> Vec<(String, Option<u64>)> {
    let PanelContent::Bars(bars) = &picture.panels[index].content else { panic!("no bars") };
    let means = bars.groups[group].values.iter().map(|value| value.map(|value| value.mean.round() as u64));
    bars.classes.iter().cloned().zip(means).collect()
}

/// Two jobs side by side, then a third one: 1,000 and 1,000, then 3,000 reads a second.
#[test]
fn jobs_that_ran_one_after_the_other_are_never_one_bar() {
    let at = |name: &str, start_ms: u64, ios_per_sec: f64| {
        let mut job = measured(name, ios_per_sec, &[]);
        job.reach_ns = Some((start_ms * MS, (start_ms + 1_000) * MS));
        job
    };
    let stonewalled = || vec![at("a", 0, 1000.0), at("b", 0, 1000.0), at("c", 1_000, 3000.0)];
    let other = result("x.json", vec![measured("y", 7.0, &[])]);
    let (picture, svg) = drawn("compare", &[result("r.json", stonewalled()), other.clone()]);
    let expected = [("r: a, b", 2000), ("r: c", 3000), ("x", 7)];
    let expected = expected.map(|(name, value)| (name.to_owned(), Some(value)));
    assert_eq!(bars(&picture, 1, 0), expected);
    assert!(svg.contains("one after the other"), "{svg}");
    // Two jobs that overlap for half of their time: 2,000 I/Os in a second and a half.
    let delayed = vec![at("a", 0, 1000.0), at("b", 500, 1000.0)];
    let (picture, _) = drawn("compare", &[result("r.json", delayed), other.clone()]);
    assert_eq!(bars(&picture, 1, 0)[0], ("r".to_owned(), Some(1333)));
    // Clones of a name, of which one began later; the other result has one.
    let clones = vec![at("a", 0, 1000.0), at("a", 1_000, 1000.0), at("b", 0, 10.0)];
    let (picture, _) = drawn("compare", &[result("r", clones), result("s", vec![at("a", 0, 5.0), at("b", 0, 6.0)])]);
    let expected = [("a #1", Some(1000)), ("a #2", Some(1000)), ("b", Some(10))];
    assert_eq!(bars(&picture, 1, 0), expected.map(|(name, value)| (name.to_owned(), value)));
    assert_eq!(bars(&picture, 1, 1)[1], ("a #2".to_owned(), None));
}

/// A report that does not say when its jobs began: those of a group began together, unless one has a delay.
#[test]
fn jobs_are_not_added_where_their_times_are_unknown() {
    let other = result("x.json", vec![measured("y", 7.0, &[])]);
    let together = result("r.json", vec![measured("a", 100.0, &[]), measured("b", 10.0, &[])]);
    let (picture, _) = drawn("compare", &[together, other.clone()]);
    assert_eq!(bars(&picture, 1, 0)[0], ("r".to_owned(), Some(110)));
    let delayed = result("r.json", vec![measured("a", 100.0, &[]), measured("b", 10.0, &[("startdelay", "5")])]);
    let (picture, _) = drawn("compare", &[delayed, other]);
    let expected = [("r: a", 100), ("r: b", 10), ("x", 7)];
    assert_eq!(bars(&picture, 1, 0), expected.map(|(name, value)| (name.to_owned(), Some(value))));
}

/// Writes of 10 us beside syncs of 2 ms: the syncs have bars of their own in each panel.
#[test]
fn syncs_have_bars_beside_the_data() {
    let mut job = measured("a", 100.0, &[]);
    let lat = LatencyFigures {
        n_samples: 50,
        min_ns: 1_000_000,
        max_ns: 9_000_000,
        mean_ns: 2e6,
        percentiles: vec![(50.0, 2_000_000), (99.0, 5_000_000), (99.9, 8_000_000)],
        ..LatencyFigures::default()
    };
    let syncs = Figures { n_ios: 50, runtime_ns: 1_000 * MS, ios_per_sec: 50.0, lat: Some(lat), ..Figures::default() };
    let without = result("r", vec![job.clone()]);
    job.syncs = Some(syncs);
    let (picture, svg) = drawn("by-job", &[result("r", vec![job])]);
    let titles: Vec<&str> = picture.panels.iter().map(|panel| panel.title.as_str()).collect();
    let expected = ["Bandwidth", "IOPS", "Latency", "Number of I/Os", "p50 of the latency", "p99 of the latency"];
    assert_eq!(titles[..6], expected);
    assert_eq!(titles[6..], ["p99.9 of the latency", "Highest latency"]);
    let of_syncs: Vec<u64> = (1..8).filter_map(|panel| bars(&picture, panel, 1)[0].1).collect();
    assert_eq!(of_syncs, [50, 2_000_000, 50, 2_000_000, 5_000_000, 8_000_000, 9_000_000]);
    assert_eq!((bars(&picture, 4, 0)[0].1, bars(&picture, 7, 0)[0].1), (Some(9_000), Some(1_000_000)));
    assert!(says(&svg, "sync") && says(&svg, "8.00 ms"), "{svg}");
    assert_eq!(drawn("by-job", &[without]).0.panels.len(), 3);
}

fn grid() -> Vec<RunResult> {
    let run = |(depth, number): (&str, &str)| {
        let rate = depth.parse::<f64>().expect("a number") * number.parse::<f64>().expect("a number");
        let job = measured("j", rate, &[("iodepth", depth), ("bs", "4k")]);
        let global_options = vec![("numjobs".to_owned(), number.to_owned())];
        RunResult { global_options, ..result(&format!("d{depth}-n{number}"), vec![job]) }
    };
    [("16", "1"), ("1", "1"), ("1", "8"), ("4", "8")].into_iter().map(run).collect()
}

#[test]
fn a_heat_map_has_the_options_in_their_order() {
    let results = grid();
    assert_eq!(fitting(&results).name, "heat-map");
    // Two runs that differ in both options are no table.
    assert_eq!(fitting(&[results[0].clone(), results[2].clone()]).name, "compare");
    let (picture, svg) = drawn("heat-map", &results);
    let PanelContent::Grid(iops) = &picture.panels[1].content else { panic!("no grid") };
    assert_eq!((iops.columns.join(" "), iops.rows.join(" ")), ("1 4 16".to_owned(), "1 8".to_owned()));
    assert_eq!(iops.cells, [[Some(1.0), None, Some(16.0)], [Some(8.0), Some(32.0), None]]);
    assert!(says(&svg, "iodepth") && says(&svg, "numjobs") && says(&svg, "32.0"), "{svg}");
}

#[test]
fn a_heat_map_of_runs_that_differ_otherwise_is_refused() {
    let mut results = grid();
    let mut other = results[0].clone();
    "other".clone_into(&mut other.name);
    other.jobs[0].options[1].1 = "64k".to_owned();
    results.push(other);
    let reason = lacking("heat-map", &results);
    assert!(reason.contains("d16-n1 (job j) and other (job j) both have iodepth=16 and numjobs=1"), "{reason}");
    assert!(reason.contains("they differ in bs"), "{reason}");
    assert_eq!(fitting(&results).name, "compare");
    assert!(lacking("heat-map", &results[..1]).contains("differ in iodepth or numjobs"));
    results[0].jobs[0].options[0].1 = "x".to_owned();
    assert!(lacking("heat-map", &results).contains("iodepth of job j is \"x\""));
}

#[test]
fn distributions_and_percentiles_are_those_of_the_report() {
    let results = [result("a.json", vec![measured("j", 1.0, &[])]), result("b.json", vec![measured("j", 1.0, &[])])];
    let (histogram, svg) = drawn("histogram", &results);
    let panel = lines(&histogram, 0);
    assert_eq!(panel.lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(), ["a: read", "b: read"]);
    assert!(panel.lines[0].y.iter().any(|share| (share - 99.0).abs() < 1e-9));
    assert!(says(&svg, "share of the I/Os (%)") && says(&svg, "completion latency, logarithmic"));
    let (percentiles, svg) = drawn("percentiles", &results);
    assert_eq!(lines(&percentiles, 0).lines[1].points().collect::<Vec<_>>(), [(50.0, 9_000.0), (99.0, 500_000.0)]);
    assert!(says(&svg, "99") && says(&svg, "100 us"));
}

#[test]
fn a_plain_report_has_the_classes_of_fio() {
    use ferrio_formats::LatencyClass;
    let class = |up_to_ns, percent| LatencyClass { up_to_ns, percent };
    let mut job = JobResult { name: "j".to_owned(), ..JobResult::default() };
    job.latency_classes = vec![class(Some(50_000), 90.0), class(Some(20_000_000), 9.5), class(None, 0.5)];
    let (_, svg) = drawn("histogram", &[result("r", vec![job])]);
    for text in ["up to 50 us", "up to 20 ms", "more than 2 s", "90.0 %", "0.50 %", "share of the I/Os (%)"] {
        assert!(says(&svg, text), "{text}");
    }
}

#[test]
fn logs_of_the_clones_of_a_group_are_lines_of_their_own() {
    let of_file = |file: &str, value| TimeSeries { source: file.to_owned(), ..rates(Quantity::Iops, &[value; 5]) };
    let series = vec![of_file("x_iops.1.log", 1.0), of_file("x_iops.2.log", 2.0)];
    let (picture, _) = drawn("over-time", &[result("r", vec![with_series("j", series)])]);
    let found: Vec<(&str, f64)> = lines(&picture, 0).lines.iter().map(|line| (line.name.as_str(), line.y[0])).collect();
    assert_eq!(found, [("x_iops.1.log: read", 1.0), ("x_iops.2.log: read", 2.0)]);
}

#[test]
fn what_the_results_lack_is_said() {
    let empty = [result("r", vec![with_series("j", Vec::new())])];
    for (kind, reason) in [
        ("over-time", "write_bw_log"),
        ("by-job", "any I/O"),
        ("histogram", "--output-format=json+"),
        ("percentiles", "clat_percentiles"),
    ] {
        let said = lacking(kind, &empty);
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn the_kind_fits_the_results() {
    let job = || measured("a", 1.0, &[]);
    let series = || with_series("a", vec![rates(Quantity::Iops, &[1.0, 2.0])]);
    let table: [(Vec<RunResult>, &str); 6] = [
        (vec![result("r", vec![with_series("a", Vec::new())])], "by-job"),
        (vec![result("r", vec![series()])], "over-time"),
        (vec![result("r", vec![series()]), result("s", vec![series()])], "over-time"),
        (vec![result("r", vec![job()])], "percentiles"),
        (vec![result("r", vec![job(), job()])], "by-job"),
        (vec![result("r", vec![job()]), result("s", vec![job()])], "compare"),
    ];
    for (results, expected) in table {
        assert_eq!(fitting(&results).name, expected);
    }
}

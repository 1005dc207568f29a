//! Readers of performance logs: pandas, and the plotting tools of Debian's fio package.
//!
//! Start reading at [`pandas_finds_the_figures_of_the_document`].

use super::bench::{Bench, assert_near, from_pypi, number, rows};
use crate::support::has_programs;
use serde_json::Value;

const LOGS: &str = "--write_bw_log=x --write_lat_log=x --write_iops_log=x";
const EACH_IO: &str = "--name=a --size=1m --bs=4k --rw=randrw --filename=data --invalidate=0 --ioengine=psync";
/// Some ten windows for each of two jobs.
const WINDOWS: &str = "--name=a --size=1m --bs=4k --rw=randrw --filename=data --ioengine=libaio --iodepth=4 --numjobs=2 \
                       --group_reporting --time_based --runtime=2100ms --log_avg_msec=200";

/// The figure that pandas computes from a log for a direction.
fn found(answer: &Value, log: &str, direction: usize, figure: &str) -> f64 {
    number(answer, &format!("/{log}/directions/{direction}/{figure}"))
}

#[test]
fn pandas_finds_the_figures_of_the_document() {
    let Some(python) = from_pypi("pandas_finds_the_figures_of_the_document", "python") else { return };
    let bench = Bench::new("pandas-logs");
    for (extra, n_offsets) in [("", 0), ("--log_offset=1", 256)] {
        let document = bench.fio(&format!("--output-format=json {EACH_IO} {LOGS} {extra}"));
        let answer = bench.python(&python, "read_log.py", "x_clat.1.log x_lat.1.log x_bw.1.log x_iops.1.log");
        for log in ["x_clat.1.log", "x_lat.1.log", "x_bw.1.log", "x_iops.1.log"] {
            let of_log = &answer[log];
            assert_eq!((&of_log["rows"], &of_log["bytes"]), (&Value::from(256), &Value::from(1 << 20)), "{log}");
            assert_eq!((&of_log["types"], &of_log["offsets"]), (&Value::from(vec!["int64"]), &Value::from(n_offsets)));
        }
        for (direction, name) in ["read", "write"].into_iter().enumerate() {
            let job = &document["jobs"][0][name];
            for (log, latency) in [("x_clat.1.log", "clat_ns"), ("x_lat.1.log", "lat_ns")] {
                for (figure, key) in [("count", "N"), ("mean", "mean"), ("min", "min"), ("max", "max")] {
                    let expected = number(&job[latency], &format!("/{key}"));
                    assert_near(found(&answer, log, direction, figure), expected, &format!("{name} {log} {figure}"));
                }
            }
            assert_near(found(&answer, "x_iops.1.log", direction, "sum"), number(job, "/total_ios"), "iops");
            assert_near(found(&answer, "x_bw.1.log", direction, "mean"), number(job, "/bw_mean"), "bw");
        }
    }
}

#[test]
fn pandas_reads_epochs_and_logs_of_all_jobs() {
    let Some(python) = from_pypi("pandas_reads_epochs_and_logs_of_all_jobs", "python") else { return };
    let bench = Bench::new("pandas-epoch");
    let extra = "--numjobs=2 --per_job_logs=0 --log_unix_epoch=1";
    let document = bench.fio(&format!("--output-format=json {EACH_IO} {LOGS} {extra}"));
    let answer = bench.python(&python, "read_log.py", "x_lat.log");
    assert_eq!(answer["x_lat.log"]["rows"], 512);
    let end_ms = number(&document, "/timestamp_ms");
    for time in ["first_ms", "last_ms"] {
        let time_ms = number(&answer["x_lat.log"], &format!("/{time}"));
        assert!((end_ms - 60_000.0..=end_ms + 1.0).contains(&time_ms), "{time} {time_ms} before {end_ms}");
    }
}

/// Mean, least and largest of some rows' values.
fn summary(rows: &[Vec<f64>]) -> [f64; 3] {
    let values: Vec<f64> = rows.iter().map(|row| row[1]).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    [mean, values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(0.0, f64::max)]
}

/// The figure behind a name, `avg=17.20`.
fn setting(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    line.and_then(|figure| figure.parse().ok()).unwrap_or_else(|| panic!("no {name} in {text}"))
}

/// Averages of the tool equal those of the rows. (It skips rows of time 0; windows never have them.)
#[test]
fn fio2gnuplot_averages() {
    if !has_programs("fio2gnuplot_averages", &["fio2gnuplot"]) {
        return;
    }
    let bench = Bench::new("fio2gnuplot");
    let scratch = bench.scratch();
    bench.fio(&format!("--output-format=json {WINDOWS} {LOGS}"));
    // With a pattern given, the tool derives the names of its files from it.
    for (selection, kind, base) in
        [("-b", "bw", "result"), ("-i", "iops", "result"), ("-p x_clat*.log", "clat", "x_clat")]
    {
        let said = bench.call(&format!("fio2gnuplot {selection}"));
        let mut all = Vec::new();
        let of_jobs = scratch.read(&format!("{base}.average"));
        for number in 1..=2 {
            let name = format!("x_{kind}.{number}.log");
            assert!(said.contains(&name), "{said}");
            let rows = rows(&scratch.read(&name));
            assert!(rows.len() >= 2 && rows.iter().all(|row| row[0] > 0.0), "{rows:?}");
            let [mean, ..] = summary(&rows);
            let line = format!("\n{} {}", number - 1, mean.trunc());
            assert!(format!("\n{of_jobs}").contains(&line), "{line} in {of_jobs}");
            all.extend(rows);
        }
        let global = scratch.read(&format!("{base}.global"));
        let [mean, least, largest] = summary(&all);
        assert!((setting(&global, "avg") - mean).abs() < 0.011, "{mean} in {global}");
        assert_eq!((setting(&global, "min"), setting(&global, "max")), (least, largest));
        assert_eq!((setting(&global, "values_count"), setting(&global, "disks_count")), (all.len() as f64, 2.0));
    }
}

/// True for a whole picture: beginning and end of the file are those of its kind.
fn is_picture(bytes: &[u8]) -> bool {
    let is_png = bytes.starts_with(b"\x89PNG\r\n") && bytes.ends_with(b"IEND\xaeB`\x82");
    is_png || (bytes.starts_with(b"<?xml") && bytes.trim_ascii_end().ends_with(b"</svg>"))
}

#[test]
fn gnuplot_draws_the_logs() {
    let test = "gnuplot_draws_the_logs";
    if !has_programs(test, &["fio2gnuplot", "fio_generate_plots", "gnuplot"]) {
        return;
    }
    let bench = Bench::new("gnuplot");
    bench.fio(&format!("--output-format=json {WINDOWS} {LOGS}"));
    // Both pass on gnuplot's messages, e.g. about missing fonts.
    bench.call_loud("fio2gnuplot -b -g -d pictures");
    bench.call_loud("fio_generate_plots title");
    let mut names = Vec::new();
    for (directory, ending) in [("pictures", "png"), (".", "svg")] {
        let entries = std::fs::read_dir(bench.scratch().join(directory)).expect("the directory of pictures");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == ending)) {
            assert!(is_picture(&std::fs::read(&path).expect("a picture")), "{}", path.display());
            names.push(path.file_name().expect("a name").to_string_lossy().into_owned());
        }
    }
    for expected in ["compare-result-2Draw.png", "compare-result-2Dsmooth.png", "compare-result-2Dtrend.png"] {
        assert!(names.iter().any(|name| name == expected), "{names:?}");
    }
    for kind in ["bw", "iops", "slat", "clat", "lat"] {
        let name = format!("title-{kind}.svg");
        assert!(names.contains(&name), "{names:?}");
        // A line for each of the two jobs.
        assert!(bench.scratch().read(&name).matches("gnuplot_plot_").count() >= 2, "{name}");
    }
}

/// This script knows rows of four columns only, also with fio: it is given these.
#[test]
fn fiologparser_takes_four_columns() {
    let test = "fiologparser_takes_four_columns";
    let bench = Bench::new("fiologparser");
    let Some(script) = bench.packaged_script(test, "fiologparser.py") else { return };
    if !has_programs(test, &["python3"]) {
        return;
    }
    bench.fio(&format!("--output-format=json {} {LOGS}", WINDOWS.replace("randrw", "randread")));
    let mut bounds = Vec::new();
    for number in 1..=2 {
        let log = bench.scratch().read(&format!("x_iops.{number}.log"));
        let four: String =
            log.lines().map(|line| line.rsplit_once(',').expect("columns").0.to_owned() + "\n").collect();
        bench.scratch().write(&format!("four.{number}"), four);
        bounds.push(summary(&rows(&log)));
    }
    let said = bench.call(&format!("python3 {} -s -i 100000 four.1 four.2", script.display()));
    let (_, sum) = said.trim().rsplit_once(", ").expect("a row");
    let sum: f64 = sum.parse().expect("a figure");
    let [[_, least, largest], [_, other_least, other_largest]] = bounds[..] else { panic!("two logs") };
    // The tool weighs each row by the time that the row covers.
    assert!((least + other_least..=largest + other_largest).contains(&sum), "{said}");
}

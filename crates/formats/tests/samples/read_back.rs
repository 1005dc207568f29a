//! Outputs of fio in three formats of the same run: the figures that are read from its text and from its terse lines are those of its
//! JSON, as far as these have digits.
//!
//! The files of `outputs/` are the output of fio 3.33 and 3.41 with `--output-format=normal,json,terse`, whole.

use ferrio_formats::{Figures, JobResult, LatencyFigures, ResultFile, RunResult, read_files};
use ferrio_units::DataDirection;
use std::path::{Path, PathBuf};

/// The parts of a file: JSON, terse lines, the rest.
struct Parts {
    json: String,
    terse: String,
    text: String,
}

fn parts(output: &str) -> Parts {
    let mut parts = Parts { json: String::new(), terse: String::new(), text: String::new() };
    let (mut is_json, mut is_behind_terse) = (false, false);
    for line in output.lines() {
        let is_terse =
            line.split_once(';').is_some_and(|(version, _)| matches!(version, "2" | "3" | "4" | "5")) && !is_json;
        is_json |= line == "{";
        let part = match () {
            () if is_json => &mut parts.json,
            () if is_terse || (is_behind_terse && line.starts_with(';')) => &mut parts.terse,
            () => &mut parts.text,
        };
        part.push_str(line);
        part.push('\n');
        is_json &= line != "}";
        is_behind_terse = is_terse;
    }
    parts
}

fn outputs() -> Vec<(String, String)> {
    let folder = std::env::var_os("FIO_OUTPUTS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/outputs"), PathBuf::from);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("outputs").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        (
            path.file_name().expect("a name").to_string_lossy().into_owned(),
            std::fs::read_to_string(&path).expect("a text"),
        )
    };
    paths.into_iter().map(read).collect()
}

fn result(name: &str, content: &str) -> RunResult {
    let mut results =
        read_files(&[ResultFile::in_memory(name, content.as_bytes())]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(results.len(), 1, "{name}");
    results.remove(0)
}

/// A whole number whose last digits are zeros for a larger unit: nanoseconds of that unit.
fn unit_of(value_ns: u64) -> u64 {
    [1_000_000_000, 1_000_000, 1_000]
        .into_iter()
        .find(|unit| value_ns > 0 && value_ns.is_multiple_of(*unit))
        .unwrap_or(1)
}

#[track_caller]
fn assert_near(what: &str, text: f64, json: f64, share: f64, least: f64) {
    let limit = (json * share).max(least);
    assert!((text - json).abs() <= limit, "{what}: {text} in the text, {json} in the JSON");
}

fn assert_latency(what: &str, text: Option<&LatencyFigures>, json: Option<&LatencyFigures>, has_percentiles: bool) {
    let (Some(text), Some(json)) = (text, json) else {
        assert_eq!(text.is_some(), json.is_some(), "{what}: {text:?} {json:?}");
        return;
    };
    for (name, text_ns, json_ns) in [("min", text.min_ns, json.min_ns), ("max", text.max_ns, json.max_ns)] {
        let unit = unit_of(text_ns).max(1_000 * u64::from(text_ns == 0));
        // Six digits are shown, rounded; a unit is cut.
        let six_digits = json_ns / 10_000;
        assert!(
            text_ns <= json_ns + six_digits && json_ns - text_ns.min(json_ns) <= unit.max(six_digits),
            "{what} {name}: {text_ns} {json_ns}"
        );
    }
    assert_near(&format!("{what} mean"), text.mean_ns, json.mean_ns, 3e-3, 0.01);
    assert_near(&format!("{what} stddev"), text.stddev_ns, json.stddev_ns, 6e-3, 0.01);
    if !has_percentiles {
        return;
    }
    assert_eq!(text.percentiles.len(), json.percentiles.len(), "{what}");
    for (found, expected) in text.percentiles.iter().zip(&json.percentiles) {
        assert!((found.0 - expected.0).abs() < 0.01, "{what}: {found:?} {expected:?}");
        let unit = unit_of(found.1).max(1_000 * u64::from(found.1 == 0));
        assert!(found.1.abs_diff(expected.1) <= unit.max(expected.1 / 1000), "{what}: {found:?} {expected:?}");
    }
    assert!(text.bins.is_empty(), "{what}: the text has no distribution");
}

fn assert_figures(what: &str, text: &Figures, json: &Figures, is_terse: bool) {
    assert_eq!(text.runtime_ns, json.runtime_ns, "{what}");
    if is_terse {
        assert_near(
            &format!("{what} I/Os"),
            text.n_ios as f64,
            json.n_ios as f64,
            0.0,
            json.runtime_ns as f64 / 1e9 + 1.0,
        );
    } else {
        assert_eq!(text.n_ios, json.n_ios, "{what}");
    }
    let digits = if is_terse { 0.0 } else { 6e-3 };
    assert_near(&format!("{what} bytes"), text.bytes as f64, json.bytes as f64, digits, 1024.0);
    assert_near(&format!("{what} rate"), text.bytes_per_sec, json.bytes_per_sec, digits, 1024.0);
    assert_near(&format!("{what} IOPS"), text.ios_per_sec, json.ios_per_sec, digits, 1.0);
    assert_latency(&format!("{what} slat"), text.slat.as_ref(), json.slat.as_ref(), !is_terse);
    assert_latency(&format!("{what} lat"), text.lat.as_ref(), json.lat.as_ref(), !is_terse);
    // Terse output has one list of percentiles: that of the total latency, where there is one.
    let of_total = json.clat.as_ref().filter(|_| is_terse);
    let with_percentiles = of_total.and_then(|clat| {
        let percentiles = json.lat.as_ref().map(|lat| lat.percentiles.clone()).filter(|list| !list.is_empty())?;
        Some(LatencyFigures { percentiles, ..clat.clone() })
    });
    assert_latency(&format!("{what} clat"), text.clat.as_ref(), with_percentiles.as_ref().or(json.clat.as_ref()), true);
    for (name, found, expected) in [
        ("sampled rate", text.sampled_bytes_per_sec, json.sampled_bytes_per_sec),
        ("sampled IOPS", text.sampled_ios_per_sec, json.sampled_ios_per_sec),
    ] {
        let (Some(found), Some(expected)) = (found, expected) else {
            assert!(is_terse || found.is_some() == expected.is_some(), "{what} {name}: {found:?} {expected:?}");
            continue;
        };
        assert_near(&format!("{what} {name}"), found.mean, expected.mean, 1e-4, 0.006 * 1024.0 * 1024.0);
        assert!(found.n_samples == expected.n_samples || is_terse, "{what} {name}");
    }
}

fn assert_job(what: &str, text: &JobResult, json: &JobResult, is_terse: bool) {
    assert_eq!((&text.name, text.group_index, text.error), (&json.name, json.group_index, json.error), "{what}");
    assert!(text.description == json.description, "{what}: {:?} {:?}", text.description, json.description);
    for direction in DataDirection::ALL {
        let what = format!("{what} {}", direction.name());
        match (&text.directions[direction], &json.directions[direction]) {
            (Some(text), Some(json)) => assert_figures(&what, text, json, is_terse),
            (None, None) => {}
            // Terse version 3 has no trims.
            (None, Some(_)) if is_terse && direction == DataDirection::Trim => {}
            (text, json) => panic!("{what}: {text:?} {json:?}"),
        }
    }
    let (cpu, expected) = (text.cpu.expect("CPU"), json.cpu.expect("CPU"));
    assert_near(&format!("{what} usr"), cpu.user_percent, expected.user_percent, 0.0, 0.006);
    assert_near(&format!("{what} sys"), cpu.system_percent, expected.system_percent, 0.0, 0.006);
    assert_eq!(cpu.n_switches, expected.n_switches, "{what}");
    assert_eq!(text.depths.len(), json.depths.len(), "{what}");
    for (found, expected) in text.depths.iter().zip(&json.depths) {
        assert_eq!(found.0, expected.0, "{what}");
        assert_near(&format!("{what} depth {}", found.0), found.1, expected.1, 0.0, 0.06);
    }
    if !is_terse {
        assert_eq!(text.latency_classes.len(), json.latency_classes.len(), "{what}");
        for (found, expected) in text.latency_classes.iter().zip(&json.latency_classes) {
            assert_eq!(found.up_to_ns, expected.up_to_ns, "{what}");
            assert_near(&format!("{what} class"), found.percent, expected.percent, 0.0, 0.006);
        }
        assert_eq!(text.n_errors, json.n_errors, "{what}");
        let syncs = (text.syncs.as_ref(), json.syncs.as_ref());
        if let (Some(text), Some(json)) = syncs {
            assert_latency(&format!("{what} syncs"), text.lat.as_ref(), json.lat.as_ref(), true);
        }
    }
}

fn assert_result(what: &str, text: &RunResult, json: &RunResult, is_terse: bool) {
    // The text has no block of a job that did nothing.
    let has_block = |job: &&JobResult| is_terse || job.active().next().is_some();
    let expected: Vec<&JobResult> = json.jobs.iter().filter(has_block).collect();
    let found: Vec<&JobResult> = text.jobs.iter().filter(has_block).collect();
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(&expected) {
        assert_job(what, found, expected, is_terse);
    }
    assert!(text.gaps.lacks_options && !json.gaps.lacks_options, "{what}");
    if text.disks.is_empty() && is_terse {
        return;
    }
    assert_eq!(text.disks.len(), json.disks.len(), "{what}");
    for (found, expected) in text.disks.iter().zip(&json.disks) {
        assert_near(&format!("{what} util"), found.busy_percent, expected.busy_percent, 0.0, 0.006);
        let of = |disk: &ferrio_formats::DiskFigures| {
            let sectors = (!is_terse).then_some((disk.read_bytes, disk.written_bytes));
            (disk.name.clone(), disk.n_reads, disk.n_writes, disk.merged_reads, disk.merged_writes, sectors)
        };
        assert_eq!(of(found), of(expected), "{what}");
    }
}

#[test]
fn text_and_terse_have_the_figures_of_the_json() {
    let mut n_read = 0;
    for (name, output) in outputs() {
        let Parts { json, terse, text } = parts(&output);
        let json = result("r.json", &json);
        let (options, program) = (|result: &RunResult| result.jobs[0].options.clone(), json.program.clone());
        if text.contains(": (groupid=") {
            let read = result("r.txt", &text);
            assert_result(&format!("{name}: text"), &read, &json, false);
            assert_eq!(read.program, program, "{name}");
            // A post, a mail, a terminal.
            for (mark, end) in [("> ", ""), (">>> ", "\r"), ("        ", "  "), ("\u{a0}\u{a0}", "")] {
                let marked: String = text.lines().flat_map(|line| [mark, line, end, "\n"]).collect();
                let around = format!(
                    "My disk is slow, see below: {{\nfio-based test;\n{marked}\nAny ideas? (read: why)\n--\nJoe\n"
                );
                let again = result("r.txt", &around);
                assert_eq!(
                    (&again.jobs, &again.disks, options(&again)),
                    (&read.jobs, &read.disks, options(&read)),
                    "{name}: {mark:?}"
                );
            }
        }
        if !terse.is_empty() {
            let read = result("r.terse", &terse);
            assert_result(&format!("{name}: terse"), &read, &json, true);
            let around =
                format!("$ fio --minimal\n{}\n", terse.lines().flat_map(|line| ["> ", line, "\n"]).collect::<String>());
            assert_eq!(result("r.terse", &around).jobs, read.jobs, "{name}");
        }
        n_read += 1;
    }
    assert!(n_read > 0, "there are outputs");
}

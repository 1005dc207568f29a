//! `ferrio help` knows every word of fio's outputs, and numbers the fields of terse.
//!
//! Start reading at [`labels`].

use crate::support::{Program, Run, Scratch};
use serde_json::Value;
use std::collections::BTreeSet;

/// A job that has most lines of a report, without the progress line.
const JOBS: &str = "\
[global]
size=2m
bs=4k
disk_util=1
[mixed]
description=text
ioengine=libaio
iodepth=8
direct=1
rw=randrw
fsync=32
rate_iops=500,500
slat_percentiles=1
lat_percentiles=1
cmdprio_percentage=30
cmdprio_class=2
cmdprio=4
runtime=3
time_based
continue_on_error=io
steadystate=iops:0.001%
steadystate_duration=2
block_error_percentiles=1
unified_rw_reporting=both
";

fn help(scratch: &Scratch, word: &str) -> Result<String, String> {
    let ended = Run::new(Program::Ferrio, scratch.path(), &format!("help {word}")).finish();
    if ended.code == Some(0) { Ok(ended.stdout) } else { Err(ended.stderr) }
}

/// The labels of a report for people: what stands before an equals sign or, at the beginning of a line, before a colon.
fn labels(report: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for line in report.lines() {
        let mut rest = line;
        while let Some(at) = rest.find('=').map(|at| if rest[at..].starts_with("=64") { at + 3 } else { at }) {
            let before = rest[..at].rsplit([',', ':', '[', '{']).next().unwrap_or_default();
            all.insert(format!("{}=", before.trim()));
            rest = rest.get(at + 1..).unwrap_or_default();
        }
        let heading = line.split_once(':').map(|(heading, _)| heading.trim());
        all.extend(heading.filter(|heading| !heading.is_empty() && !heading.contains('=')).map(str::to_owned));
    }
    all
}

/// The keys of a document, without those that are names of options or numbers.
fn keys(value: &Value, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                if key.starts_with(|first: char| first.is_ascii_digit()) {
                    continue;
                }
                all.insert(key.clone());
                if !["job options", "global options", "ferrio"].contains(&key.as_str()) {
                    keys(value, all);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, all)),
        _ => {}
    }
}

#[test]
fn every_label_of_a_report_has_help() {
    let scratch = Scratch::new("help-words");
    scratch.write("mixed.fio", JOBS);
    let arguments = "--eta=never --idle-prof=system --output-format=normal,json+ --output=report mixed.fio";
    Run::new(Program::Ferrio, scratch.path(), arguments).finish().succeeded();
    let written = scratch.read("report");
    let json_end = written.find("\n}\n").expect("a document") + 3;
    let json_begin = written.find("{\n").expect("a document");
    let (normal, document) = (&written[json_end..], &written[json_begin..json_end]);
    let mut wanted = labels(normal);
    for label in
        ["errors", "steadystate", "samples=", "submit", "unit work", "lat (usec)", "Run status group 0 (all jobs)"]
    {
        assert!(wanted.contains(label), "{label}: {wanted:?}");
    }
    keys(&serde_json::from_str(document).expect("JSON"), &mut wanted);
    assert!(wanted.contains("bins") && wanted.contains("iodepth_submit") && wanted.len() > 120, "{wanted:?}");
    // Names of the job and of devices are no words of ferrio's.
    let names = |word: &str| word == "mixed" || normal.contains(&format!("  {word}: ios="));
    let unknown: Vec<String> =
        wanted.into_iter().filter(|word| !names(word) && help(&scratch, word).is_err()).collect();
    assert_eq!(unknown, Vec::<String>::new());
}

/// Expected: a line of fio 3.41's and ferrio's progress.
#[test]
fn every_part_of_the_progress_line_has_help() {
    let scratch = Scratch::new("help-progress");
    let line = "Jobs: 3 (f=3): [m(2),W(1)][60.0%][r=8216KiB/s,w=23.0MiB/s][r=2054,w=5891 IOPS][eta 00m:02s]";
    let parts = line.split([' ', '[', ']', ',']).filter(|part| part.contains(|letter: char| letter.is_alphabetic()));
    for part in parts.filter(|part| !part.starts_with("00m")) {
        assert!(help(&scratch, part).is_ok(), "{part}");
    }
}

/// First and last number of a field in each version; `None`: the version has none.
type PlacesOfField = [Option<(usize, usize)>; 4];

/// Where a group of fields stands in each version (first field, number of fields), by the help.
fn terse_fields(scratch: &Scratch) -> Vec<(PlacesOfField, String)> {
    let text = help(scratch, "terse").expect("the help of terse");
    let place = |cell: &str| -> Option<(usize, usize)> {
        let (first, last) = cell.split_once('-').unwrap_or((cell, cell));
        Some((first.parse().ok()?, last.parse::<usize>().ok()? + 1 - first.parse::<usize>().ok()?))
    };
    let rows = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split_whitespace().take(4).collect();
        let is_row = cells.len() == 4 && cells.iter().all(|cell| place(cell).is_some() || *cell == "-");
        let places = is_row.then(|| std::array::from_fn(|index| place(cells[index])))?;
        Some((places, line.get(36..)?.to_owned()))
    });
    rows.collect()
}

/// The numbers of the help against the document of the same run.
#[test]
fn the_fields_of_terse_have_the_numbers_of_the_help() {
    let scratch = Scratch::new("help-terse");
    let rows = terse_fields(&scratch);
    assert!(rows.len() > 30, "{rows:?}");
    for (index, version) in (2..=5).enumerate() {
        let arguments = format!(
            "--output-format=terse,json --terse-version={version} --output=out --name=words --ioengine=null --size=64m \
             --bs=4k --rw=randrw --rwmixread=70 --rate=40m,20m"
        );
        Run::new(Program::Ferrio, scratch.path(), &arguments).finish().succeeded();
        let written = scratch.read("out");
        let (line, document) = written.split_once('\n').expect("a line of terse");
        let fields: Vec<&str> = line.split(';').collect();
        let job = &serde_json::from_str::<Value>(document).expect("JSON")["jobs"][0];
        let last = rows.iter().filter_map(|(places, _)| places[index]).next_back().expect("fields");
        assert_eq!(last.0 + last.1 - 1, fields.len(), "version {version}");
        let at = |what: &str| -> Option<&[&str]> {
            let (places, _) = rows.iter().find(|(_, known)| known == what).unwrap_or_else(|| panic!("{what}"));
            places[index].map(|(first, n)| &fields[first - 1..first - 1 + n])
        };
        let number = |value: &Value| value.as_f64().expect("a number");
        assert_eq!(at("number of the terse version"), Some(&[version.to_string().as_str()][..]));
        assert_eq!(at("version of the program").is_some(), version > 2);
        assert_eq!(
            (at("job"), at("groupid"), at("error: errno, or 0")),
            (Some(&["words"][..]), Some(&["0"][..]), Some(&["0"][..]))
        );
        for direction in ["read", "write", "trim"] {
            let Some(moved) = at(&format!("{direction} KiB moved")) else {
                assert_eq!((direction, version), ("trim", 3));
                continue;
            };
            let of = &job[direction];
            assert_eq!(moved, [of["io_kbytes"].to_string()]);
            assert_eq!(at(&format!("{direction} bandwidth, KiB/s")), Some(&[of["bw"].to_string().as_str()][..]));
            assert_eq!(at(&format!("{direction} runtime, ms")), Some(&[of["runtime"].to_string().as_str()][..]));
            let iops = (number(&of["iops"]) as u64).to_string();
            assert_eq!(at(&format!("{direction} IOPS")), Some(&[iops.as_str()][..]));
            for kind in ["clat", "lat"] {
                let shown = at(&format!("{direction} {kind}: min, max, mean, stdev (us)")).expect("latencies");
                let mean = format!("{:.6}", number(&of[format!("{kind}_ns")]["mean"]) / 1000.0);
                assert!(
                    (shown[2].parse::<f64>().unwrap() - mean.parse::<f64>().unwrap()).abs() < 1e-5,
                    "{shown:?} {mean}"
                );
            }
            let percentiles = at(&format!("{direction} percentiles (us)")).expect("percentiles");
            assert!(percentiles.len() == 20 && percentiles.iter().all(|field| field.contains("%=")), "{percentiles:?}");
            let bw = at(&format!("{direction} bw: min, max, % of group, mean, stdev")).expect("samples");
            assert_eq!([bw[0], bw[1]], [of["bw_min"].to_string(), of["bw_max"].to_string()]);
            let iops = at(&format!("{direction} iops: min, max, mean, stdev, samples"));
            assert_eq!(iops.is_some(), version == 5);
            assert!(iops.is_none_or(|iops| iops[4].parse().ok() == of["iops_samples"].as_u64()), "{iops:?}");
        }
        let cpu = at("CPU: usr, sys (%)").expect("CPU");
        assert_eq!(cpu[0], format!("{:.6}%", number(&job["usr_cpu"])));
        let counts = ["ctx", "majf", "minf"].map(|key| job[key].to_string());
        assert_eq!(at("ctx, majf, minf").expect("counts"), counts);
        let depths = at("IO depths: 1 2 4 8 16 32 >=64 (%)").expect("depths");
        assert_eq!(depths[0], format!("{:.1}%", number(&job["iodepth_level"]["1"])));
        let ms = at("latency-buckets, ms: 2 ... 2000, >=2000 (%)").expect("buckets");
        assert_eq!(ms[0], format!("{:.2}%", number(&job["latency_ms"]["2"])));
    }
}

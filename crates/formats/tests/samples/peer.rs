//! fio 3.41 writes the same run as json+ and for people: the results read from the former must give the latter.
//!
//! Ignored unless `FERRIO_PEER` is 1, because the peer must be fetched. Start reading at [`two_views_of_one_run`].

use crate::common::assert_same_text;
use crate::json::run_result;
use ferrio_formats::view::GroupReport;
use ferrio_formats::{LocalTime, normal};
use ferrio_stats::ReportSettings;
use serde_json::Value;
use std::process::Command;

/// Script that runs that version.
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/fio-peer");

/// A run: arguments of fio, and their effect on the form of its report.
struct Case {
    name: &'static str,
    arguments: &'static str,
    looks: fn(&mut ReportSettings),
}

const CASES: [Case; 9] = [
    Case { name: "mix", arguments: "--name=a --ioengine=null --size=4m --rw=randrw", looks: |_| {} },
    Case {
        name: "syncs",
        arguments: "--name=a --ioengine=psync --size=256k --rw=randrw --fsync=8 --description=d",
        looks: |_| {},
    },
    Case {
        name: "all percentiles",
        arguments: "--name=a --ioengine=null --iodepth=4 --size=4m --rw=read --lat_percentiles=1 --slat_percentiles=1",
        looks: |_| {},
    },
    Case {
        name: "summed up, decimal bits",
        arguments: "--name=a --ioengine=null --size=4m --rw=read --numjobs=3 --group_reporting --kb_base=1000 --unit_base=1",
        looks: |settings| (settings.kb_base, settings.unit_bits) = (1000, true),
    },
    Case {
        name: "several groups",
        arguments: "--ioengine=null --size=4m --name=a --rw=read --numjobs=2 --name=b --rw=write --stonewall",
        looks: |_| {},
    },
    Case {
        name: "list and digits",
        arguments: "--name=a --ioengine=null --size=4m --rw=read --percentile_list=5:99.999:0.5:50 --significant_figures=6",
        looks: |settings| (settings.percentile_digits, settings.significant_figures) = (3, 6),
    },
    Case {
        name: "samples",
        arguments: "--name=a --ioengine=null --size=4g --rw=randrw --rate_iops=500 --runtime=2 --time_based --numjobs=2 \
                    --group_reporting",
        looks: |_| {},
    },
    Case {
        name: "all directions as one",
        arguments: "--name=a --ioengine=null --size=4m --rw=randrw --unified_rw_reporting=mixed",
        looks: |_| {},
    },
    Case { name: "slow", arguments: "--name=a --ioengine=psync --size=8m --bs=4m --rw=write --sync=1", looks: |_| {} },
];

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn two_views_of_one_run() {
    let directory = std::env::temp_dir().join(format!("ferrio-formats-peer-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory for the peer's files");
    for case in CASES {
        let output = Command::new(PEER)
            .args(case.arguments.split_whitespace())
            .arg("--output-format=json+,normal")
            .current_dir(&directory)
            .output()
            .expect("FERRIO_PEER=1 says that fio is there");
        let text = String::from_utf8(output.stdout).expect("fio writes text");
        compare(&case, &text[text.find("{\n").expect("a document")..]);
    }
    std::fs::remove_dir_all(&directory).expect("it was made a moment ago");
}

fn compare(case: &Case, text: &str) {
    let (document, report) = text.split_at(text.find("\n}\n").expect("the end of the document") + 3);
    let value: Value = serde_json::from_str(document).expect("valid JSON");
    let mut result = run_result(&value);
    let headers = report.lines().filter(|line| line.contains(": (groupid="));
    for (job, header) in result.jobs.iter_mut().zip(headers) {
        (case.looks)(job.settings.to_mut());
        let n_members = header.split("jobs=").nth(1).and_then(|rest| rest.split(')').next()).expect("a number");
        job.n_members = n_members.parse().expect("a number");
    }
    result.groups = GroupReport::from_jobs(&result.jobs);
    let ours = normal::render_in(&result, &LocalTime::utc());
    let (ours, theirs) = (older(&ours), older(report));
    assert_same_text(case.name, &with_their_means(&ours, &theirs), &theirs);
}

/// Our text, but with the peer's means and deviations if ours differ by at most one in the last digit: fio's running
/// mean drifts from the exact one, so that ties of the rounding may fall either way.
fn with_their_means(ours: &str, theirs: &str) -> String {
    let is_near = |our: &str, their: &str| {
        let figure = |cell: &str| -> Option<(String, f64)> {
            let (name, value) = cell.split_once('=')?;
            ["avg", "stdev"].contains(&name.trim()).then_some((name.to_owned(), value.trim().parse().ok()?))
        };
        figure(our).zip(figure(their)).is_some_and(|(our, their)| our.0 == their.0 && (our.1 - their.1).abs() < 0.011)
    };
    let line = |(our, their): (&str, &str)| {
        let cells = our.split(", ").zip(their.split(", "));
        let n_cells = our.split(", ").count();
        let cells: Vec<&str> = cells.map(|(our, their)| if is_near(our, their) { their } else { our }).collect();
        // A line with other cells than theirs stays as it is, and the test fails.
        if cells.len() == n_cells { cells.join(", ") + "\n" } else { our.to_owned() + "\n" }
    };
    let n_common = ours.lines().count().min(theirs.lines().count());
    let rest = ours.lines().skip(n_common).map(|line| line.to_owned() + "\n");
    ours.lines().zip(theirs.lines()).map(line).chain(rest).collect()
}

/// The part of 3.41's report that equals the reference version's: process ids and dates, zone resets, the heading of
/// the syncs and the units of the latency target are left out.
fn older(report: &str) -> String {
    let lines = report.lines().map(|line| {
        let line = line.split(": pid=").next().unwrap_or(line).replace("; 0 zone resets", "");
        let line = line.replace("/syncfs:", ":").replace("=0.00ns", "=0");
        line + "\n"
    });
    lines.collect()
}

//! `ferrio report FILE` and `ferrio check --result=FILE`: results of fio are examined as far as their evidence goes.
//!
//! Start reading at [`a_report_of_fio_is_shown_with_what_speaks_against_it`].

use crate::support::{Finished, Program, Run, Scratch};
use serde_json::Value;

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

/// A report as fio 3.41 writes it, with the keys that are read: cached reads at a depth that buffered I/O does not have.
const REPORT: &str = r#"fio: a message above
{
  "fio version" : "fio-3.41",
  "global options" : { "ioengine" : "libaio", "size" : "64m", "time_based" : "", "runtime" : "10" },
  "jobs" : [ {
    "jobname" : "cached", "groupid" : 0, "error" : 0, "job options" : { "name" : "cached", "rw" : "randread", "iodepth" : "32" },
    "read" : { "io_bytes" : 4096000000, "bw_bytes" : 409600000, "iops" : 100000.0, "runtime" : 10000, "total_ios" : 1000000,
      "clat_ns" : { "min" : 900, "max" : 400000, "mean" : 2000.0, "stddev" : 100.0, "N" : 1000000,
        "percentile" : { "50.000000" : 1976, "99.000000" : 3024, "99.900000" : 10048 } } },
    "usr_cpu" : 20.0, "sys_cpu" : 80.0
  } ],
  "disk_util" : [ { "name" : "vda", "read_ios" : 900, "read_sectors" : 131072, "write_sectors" : 8, "util" : 12.5 } ]
}
"#;

#[test]
fn a_report_of_fio_is_shown_with_what_speaks_against_it() {
    let scratch = Scratch::new("examined");
    scratch.write("fio.json", REPORT);
    let shown = run(&scratch, "report fio.json").succeeded().stdout;
    for text in [
        "100,000",
        "1.98 us",
        "3.02 us",
        "[device-did-less]",
        "[asynchronous-without-direct]",
        "Not examined: the machine",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    // 1,000,000 reads of 4 KiB, and half a second of ten that the counters may lack, against 64 MiB.
    assert!(shown.contains("93 % of the bytes read never reached vda"), "{shown}");
    let checked = run(&scratch, "check --json --result=fio.json");
    assert_eq!(checked.code, Some(1), "a figure is wrong: {}", checked.stderr);
    let document: Value = serde_json::from_str(&checked.stdout).expect("JSON");
    let ids: Vec<&str> =
        document["findings"].as_array().expect("findings").iter().filter_map(|of| of["id"].as_str()).collect();
    assert_eq!(ids, ["device-did-less", "asynchronous-without-direct"]);
    run(&scratch, "report fio.json -o page.html").succeeded();
    let page = std::fs::read_to_string(scratch.join("page.html")).expect("a page");
    assert!(page.contains("device-did-less") && page.contains("the machine, its devices and the course of the run"));
}

#[test]
fn what_cannot_be_examined_is_said() {
    let scratch = Scratch::new("examined");
    scratch.write("odd.json", REPORT.replace("\"randread\"", "\"sideways\""));
    let shown = run(&scratch, "report odd.json").succeeded().stdout;
    assert!(shown.contains("the options of job cached cannot be read"), "{shown}");
    for (arguments, words) in [
        ("check --result=", "--result needs a value: --result FILE"),
        ("check --result=a b", "--result takes one file, and no jobs beside it"),
        ("check --result=absent", "absent: it cannot be read: No such file or directory"),
    ] {
        let refused = run(&scratch, arguments);
        assert!(refused.code == Some(2) && refused.stderr.contains(words), "{arguments}: {}", refused.stderr);
    }
}

//! The sum of jobs over all groups (`report_total`).
//!
//! Start reading at any test.

use crate::support::{Finished, Program, Run, Scratch};
use serde_json::Value;

const JOBS: &str = "[global]\nioengine=null\nsize=1m\nbs=4k\n%\n[a]\nrw=read\nnumjobs=2\n[b]\nstonewall\nrw=write\nsize=3m\n[c]\nstonewall\nrw=rw\nrwmixread=100\n";

fn run(option: &str, arguments: &str) -> Finished {
    let scratch = Scratch::new("totals");
    scratch.write("jobs", JOBS.replace('%', option));
    Run::new(Program::Ferrio, scratch.path(), &format!("jobs {arguments}")).finish()
}

fn document(finished: &Finished) -> Value {
    let begin = finished.stdout.find("{\n").unwrap_or_else(|| panic!("no document: {}", finished.all()));
    serde_json::from_str(&finished.stdout[begin..]).expect("JSON")
}

#[test]
fn stonewalled_jobs_are_summed() {
    let report = run("report_total=1", "");
    assert_eq!(report.code, Some(0), "{}", report.all());
    let part = report.stdout.split("\nSum over all groups (jobs=4, groups=3):\n").nth(1).expect("a part");
    assert!(part.contains("     issued rwts: total=768,768,0,0 "), "{part}");
    assert_eq!(report.stdout.matches("Run status group").count(), 3);
    let json = run("report_total=1", "--output-format=json");
    let total = &document(&json)["ferrio"]["total"];
    for (path, expected) in [
        ("/jobs", 4),
        ("/groups", 3),
        ("/read/total_ios", 768),
        ("/read/io_bytes", 3 << 20),
        ("/read/clat_ns/N", 768),
        ("/write/total_ios", 768),
        ("/trim/total_ios", 0),
    ] {
        assert_eq!(total.pointer(path).and_then(Value::as_u64), Some(expected), "{path}: {total}");
    }
}

/// The row of the sum, and its times: groups run one after another.
#[test]
fn the_table_of_a_native_run_ends_with_the_sum() {
    let scratch = Scratch::new("totals");
    scratch.write("jobs", JOBS.replace('%', "report_total=1"));
    let native = |arguments: &str| Run::new(Program::Ferrio, scratch.path(), arguments).finish();
    let text = native("run jobs").stdout;
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("sum of all groups ")).collect();
    assert!(matches!(rows[..], [read, write] if read.contains(" read ") && write.contains(" write ")), "{text}");
    let document: Value = serde_json::from_str(&native("run --json jobs").stdout).expect("JSON");
    let total = &document["total"];
    for (index, direction) in ["read", "write"].into_iter().enumerate() {
        let sum = |key: &str| {
            let jobs = document["jobs"].as_array().expect("jobs").iter().filter(|job| job["direction"] == direction);
            jobs.filter_map(|job| job[key].as_u64()).sum::<u64>()
        };
        assert_eq!(total[index]["direction"], direction, "{total}");
        assert_eq!(total[index]["n_ios"], 768, "{total}");
        assert_eq!(total[index]["bytes"].as_u64(), Some(sum("bytes")), "{total}");
    }
    assert_eq!(total[0]["n_clones"], 4, "{total}");
    scratch.write("jobs", JOBS.replace('%', ""));
    assert!(!native("run jobs").stdout.contains("sum of all groups"));
}

#[test]
fn without_the_option_nothing_is_summed() {
    for option in ["", "report_total=0"] {
        assert!(!run(option, "").stdout.contains("Sum over all groups"));
        assert_eq!(document(&run(option, "--output-format=json"))["ferrio"].get("total"), None);
    }
    // Only the jobs that have the option are in the sum.
    let some = run("", "--name=d --ioengine=null --size=64k --rw=read --report_total=1");
    assert!(some.stdout.contains("\nSum over all groups (jobs=1, groups=1):\n"), "{}", some.all());
}

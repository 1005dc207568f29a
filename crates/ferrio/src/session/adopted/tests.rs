//! Reports of fio as records: what the rules see of them, and what they do not.

use super::*;
use ferrio_formats::ResultFile;
use ferrio_job::SystemEnvironment;

/// A report with one job in two rows, of 10 s and 1,000 reads a second each, and one disk.
fn report(options: &str, disk: &str) -> RunResult {
    let row = format!(
        r#"{{ "jobname" : "j", "groupid" : 0, "error" : 0, "job options" : {{ "name" : "j", {options} }},
          "read" : {{ "io_bytes" : 40960000, "bw_bytes" : 4096000, "iops" : 1000.0, "runtime" : 10000, "total_ios" : 10000,
            "clat_ns" : {{ "min" : 1000, "max" : 9000000, "mean" : 900000.0, "stddev" : 10.0, "N" : 10000,
              "percentile" : {{ "50.000000" : 897024, "99.000000" : 2007040 }} }} }},
          "usr_cpu" : 1.0, "sys_cpu" : 2.0 }}"#
    );
    let other = row.replace("9000000", "9000001");
    let text = format!(
        r#"{{ "fio version" : "fio-3.41", "global options" : {{ "size" : "1g", "numjobs" : "2" }}, "jobs" : [ {row}, {other} ], "disk_util" : [ {disk} ] }}"#
    );
    let mut results =
        ferrio_formats::read_files(&[ResultFile::in_memory("r.json", text.into_bytes())]).expect("a report");
    results.remove(0)
}

fn examined(result: &RunResult) -> ferrio_stats::Audit {
    record_of(result, &SystemEnvironment::new("ferrio")).audit.expect("an audit")
}

fn ids(result: &RunResult) -> Vec<String> {
    examined(result).findings.into_iter().map(|finding| finding.id).collect()
}

const DIRECT: &str = r#""rw" : "randread", "direct" : "1", "ioengine" : "libaio", "iodepth" : "1""#;

fn disk(read_sectors: u64) -> String {
    format!(r#"{{ "name" : "vda", "read_ios" : 20000, "read_sectors" : {read_sectors}, "write_sectors" : 0 }}"#)
}

#[test]
fn rows_of_the_same_options_are_clones_of_one_job() {
    let record = record_of(&report(DIRECT, &disk(160_000)), &SystemEnvironment::new("ferrio"));
    let jobs = &record.provenance.as_ref().expect("jobs").jobs;
    assert_eq!((jobs.len(), jobs[0].n_clones, record.workers.len()), (1, 2, 2));
    let spec = jobs[0].options.as_ref().expect("options");
    assert_eq!((spec.durability.direct, spec.engine.name.as_str(), spec.numjobs), (true, "libaio", 2));
    let clat = &record.workers[1].stats.directions.0[0].clat;
    let percentile = |percent| clat.percentile(percent).map(|found| found.latency_ns);
    assert_eq!((clat.n_samples, clat.mean_ns().round()), (10_000, 900_000.0));
    assert_eq!(
        [percentile(50.0), percentile(99.0), percentile(99.9)],
        [Some(897_024), Some(2_007_040), Some(8_978_432)]
    );
}

/// fio 3.33 does not tell `group_reporting`.
#[test]
fn one_row_of_several_clones_is_that_of_a_group() {
    let options = r#""rw" : "randread", "direct" : "1", "ioengine" : "psync", "numjobs" : "4", "rate_iops" : "500""#;
    let mut result = report(options, &disk(160_000));
    result.jobs.truncate(1);
    // The row has done what the report says in two of them.
    let record = record_of(&result, &SystemEnvironment::new("ferrio"));
    assert_eq!(record.provenance.as_ref().expect("jobs").jobs[0].n_clones, 4);
    let accounts = record.audit.expect("an audit").accounts.expect("accounts");
    let missed = |name: &str| {
        let all = &accounts.jobs[0].options;
        let option = all.iter().find(|option| option.option == name).expect("the option");
        matches!(option.outcome, ferrio_stats::OptionOutcome::NotAsAsked(_))
    };
    assert!(!missed("numjobs"));
    // 1,000 of 2,000 a second.
    assert!(missed("rate_iops"));
}

/// A percentile that the report does not have is not shown, although the distribution that rules see has a value there.
#[test]
fn percentiles_are_shown_where_the_report_has_them() {
    let record = record_of(&report(DIRECT, &disk(160_000)), &SystemEnvironment::new("ferrio"));
    let shown = ferrio_formats::native::headlines(&record);
    let percentile = |percent| shown[0].percentile(percent).map(|found| found.latency_ns);
    assert_eq!([percentile(50.0), percentile(99.0), percentile(99.9)], [Some(897_024), Some(2_007_040), None]);
}

/// Both clones have read 81,920,000 bytes, 160,000 sectors, in 10 s; the report may lack half a second of them.
#[test]
fn disks_that_did_less_than_the_jobs_are_told_and_the_last_look_is_allowed_for() {
    let quiet: [&str; 0] = [];
    assert_eq!(ids(&report(DIRECT, &disk(160_000))), quiet);
    assert_eq!(ids(&report(DIRECT, &disk(137_000))), quiet);
    assert_eq!(ids(&report(DIRECT, &disk(135_000))), ["device-did-less"]);
    // fio before 3.36 has no sectors, so that requests count; jobs in memory have no disk, and counters that are all 0 say nothing.
    for (disk, n_findings) in
        [(r#"{ "name" : "vda", "read_ios" : 1 }"#, 1), (r#"{ "name" : "vda", "read_ios" : 0 }"#, 0), ("", 0)]
    {
        let audit = examined(&report(DIRECT, disk));
        assert_eq!(
            (audit.findings.len(), audit.unexamined[0].subject.as_str()),
            (n_findings, "the work of the devices")
        );
    }
    // Reads and writes that the report does not tell apart.
    let unified = format!(r#"{DIRECT}, "unified_rw_reporting" : "mixed""#);
    assert_eq!(ids(&report(&unified, &disk(0))), quiet);
}

#[test]
fn options_and_figures_are_examined_and_the_rest_is_named() {
    let cached = r#""rw" : "randread", "ioengine" : "libaio", "iodepth" : "32""#;
    assert_eq!(ids(&report(cached, &disk(160_000))), ["asynchronous-without-direct"]);
    let deep = r#""rw" : "randread", "direct" : "1", "ioengine" : "libaio", "iodepth" : "32""#;
    assert_eq!(ids(&report(deep, &disk(160_000))), ["depth-not-reached"]);
    let audit = examined(&report(DIRECT, &disk(160_000)));
    let [rest] = &audit.unexamined[..] else { panic!("{:?}", audit.unexamined) };
    assert!(rest.rules.contains(&"stalls".to_owned()) && !rest.rules.contains(&"device-did-less".to_owned()));
}

#[test]
fn options_that_cannot_be_read_are_the_reason() {
    let audit = examined(&report(r#""rw" : "sideways""#, ""));
    assert!(audit.findings.is_empty());
    assert!(audit.unexamined[0].reason.starts_with("the options of job j cannot be read: "), "{:?}", audit.unexamined);
}

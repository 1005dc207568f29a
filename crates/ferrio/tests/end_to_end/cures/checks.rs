//! Cures of findings before a run.
//!
//! Start reading at [`CHECKS`].

use crate::findings::{has, ids};
use crate::support::{Program, Run, Scratch};
use serde_json::Value;

/// Rules that speak before a run, with the options of a run and the same with the cure.
pub(super) const CHECKS: &[(&str, &str, &str)] = &[
    (
        "unsynced-writes",
        "--rw=write --size=64m --ioengine=psync",
        "--rw=write --size=64m --ioengine=psync --end_fsync=1",
    ),
    ("few-ios-planned", "--rw=read --size=1m", "--rw=read --size=1m --time_based --runtime=10"),
    (
        "fits-in-memory",
        "--rw=randread --norandommap --size=64m --time_based --runtime=10 --ioengine=psync",
        "--rw=randread --norandommap --size=64m --time_based --runtime=10 --ioengine=psync --direct=1",
    ),
    (
        "easy-data",
        "--rw=write --size=64m --direct=1 --zero_buffers",
        "--rw=write --size=64m --direct=1 --refill_buffers",
    ),
    (
        "jobs-share-blocks",
        "--filename=g --rw=write --size=64m --numjobs=2 --direct=1",
        "--filename=g --rw=write --size=64m --numjobs=2 --direct=1 --offset_increment=64m",
    ),
    (
        "jobs-overwrite-at-random",
        "--filename=g --rw=randwrite --size=64m --numjobs=2 --direct=1",
        "--filename=g --rw=randwrite --size=64m --numjobs=2 --direct=1 --offset_increment=64m",
    ),
    ("syncs-never-due", "--rw=write --bs=1m --size=64m --fsync=100", "--rw=write --bs=1m --size=64m --fsync=10"),
    ("buffered-below-page", "--rw=randread --bs=512 --size=64m", "--rw=randread --bs=512 --size=64m --direct=1"),
    (
        "ramp-outlasts-job",
        "--rw=read --size=64m --direct=1 --ramp_size=64m",
        "--rw=read --size=64m --direct=1 --ramp_size=64m --time_based --runtime=10",
    ),
    (
        "posixaio-one-file",
        "--rw=read --size=64m --direct=1 --ioengine=posixaio --iodepth=4",
        "--rw=read --size=64m --direct=1 --ioengine=io_uring --iodepth=4",
    ),
    (
        "buffers-exceed-memory",
        "--rw=read --size=100g --direct=1 --ioengine=libaio --iodepth=65536 --bs=64m",
        "--rw=read --size=100g --direct=1 --ioengine=libaio --iodepth=4 --bs=1m",
    ),
    (
        "cached-by-earlier-job",
        "--filename=g --size=64m --rw=write --name=r --filename=g --size=64m --rw=read --stonewall",
        "--filename=g --size=64m --rw=write --name=r --filename=g --size=64m --rw=read --stonewall --direct=1",
    ),
    (
        "cannot-start",
        "--filename=missing --rw=read --size=64m --allow_file_create=0",
        "--filename=missing --rw=read --size=64m",
    ),
    (
        "comma-in-filename",
        "--filename=./x,./y --rw=read --size=64m --direct=1",
        "--filename=./x:./y --rw=read --size=64m --direct=1",
    ),
    (
        "syncs-beside-writes",
        "--rw=write --size=64m --direct=1 --ioengine=libaio --iodepth=16 --fsync=1",
        "--rw=write --size=64m --direct=1 --ioengine=libaio --iodepth=1 --fsync=1",
    ),
    ("rate-below-block", "--rw=read --size=64m --rate=100", "--rw=read --size=64m --rate=100m"),
    ("size-without-unit", "--rw=write --size=64k --bs=4 --end_fsync=1", "--rw=write --size=64k --bs=4k --end_fsync=1"),
    (
        "time-without-unit",
        "--rw=randread --size=64m --direct=1 --thinktime=10",
        "--rw=randread --size=64m --direct=1 --thinktime=10ms",
    ),
    (
        "percentiles-below-one",
        "--rw=randread --size=64m --direct=1 --percentile_list=0.5:0.99",
        "--rw=randread --size=64m --direct=1 --percentile_list=50:99",
    ),
    (
        "name-against-rw",
        "--rw=read --size=64m --direct=1 --name=randwrite --size=64m --direct=1",
        "--rw=read --size=64m --direct=1 --name=randwrite --rw=randwrite --size=64m --direct=1",
    ),
    ("traces-left-over", "--read_iolog=x.log:y.log", "--read_iolog=x.log:y.log --numjobs=2"),
    (
        "tests-at-once",
        "--filename=g --size=64m --rw=read --name=r --filename=g --size=64m --rw=randread",
        "--filename=g --size=64m --rw=read --name=r --filename=g --size=64m --rw=randread --stonewall",
    ),
    (
        "unmarked-blocks",
        "--filename=m --size=64m --rw=read --verify=crc32c",
        "--filename=m --size=64m --rw=write --verify=crc32c --name=r --filename=m --size=64m --rw=read --verify=crc32c --stonewall",
    ),
    ("cached-by-option", "--rw=read --size=64m --pre_read=1", "--rw=read --size=64m"),
    (
        "marks-of-another-kind",
        "--filename=m --size=64m --rw=write --verify=crc32c --name=r --filename=m --size=64m --rw=read --verify=md5 --stonewall",
        "--filename=m --size=64m --rw=write --verify=md5 --name=r --filename=m --size=64m --rw=read --verify=md5 --stonewall",
    ),
    ("marks-not-read", "--rw=write --size=64m --verify=crc32c --do_verify=0", "--rw=write --size=64m --verify=crc32c"),
    (
        "files-below-block",
        "--rw=randread --nrfiles=100 --size=1m --bs=64k",
        "--rw=randread --nrfiles=100 --filesize=64k --bs=64k",
    ),
    (
        "options-of-one-job",
        "--filename=m --size=64m --rw=read --direct=1 --ioengine=libaio --name=b --filename=m --size=64m --rw=randread --stonewall",
        "--filename=m --size=64m --rw=read --direct=1 --ioengine=libaio --name=b --filename=m --size=64m --rw=randread --stonewall --direct=1 \
         --ioengine=libaio",
    ),
    (
        "completions-in-batches",
        "--rw=randread --size=64m --direct=1 --ioengine=libaio --iodepth=32 --iodepth_batch_complete_min=32",
        "--rw=randread --size=64m --direct=1 --ioengine=libaio --iodepth=32 --iodepth_batch_complete_max=32",
    ),
    (
        "file-under-dev",
        "--filename=/dev/no-such-disk --rw=read --size=1g",
        "--filename=no-such-disk --rw=read --size=1g",
    ),
];

/// Rules that speak of the sections of a job file, or of values that only a job file or quotes can hold.
pub(super) const FILES: &[&str] =
    &["global-behind-jobs", "global-behind-a-job", "section-like-global", "space-in-filename"];

/// The section [global] at the beginning of the file is that of all jobs.
#[test]
fn a_global_section_at_the_beginning_rules_all_jobs() {
    let scratch = Scratch::new("cures-global");
    let (global, first, second) =
        ("[global]\ndirect=1\nsize=64m\n", "[a]\nrw=read\nsize=64m\n", "[b]\nrw=read\nsize=64m\n");
    let check = |sections: &[&str]| -> Value {
        scratch.write("jobs", sections.concat());
        let checked = Run::new(Program::Ferrio, scratch.path(), "check --json jobs").finish();
        serde_json::from_str(&checked.stdout).unwrap_or_else(|_| panic!("{}", checked.all()))
    };
    for (rule, late) in
        [("global-behind-jobs", [first, second, global]), ("global-behind-a-job", [first, global, second])]
    {
        assert!(has(&ids(&check(&late)["findings"]), rule), "{rule}");
        let cured = check(&[global, first, second]);
        assert!(!has(&ids(&cured["findings"]), rule), "{rule}: {cured}");
    }
}

/// The very name of a section, and a colon between names, are what a job file needs.
#[test]
fn names_in_a_job_file_are_cured() {
    let scratch = Scratch::new("cures-names");
    let faults = [("section-like-global", "[Global]", "x:y"), ("space-in-filename", "[global]", "./x ./y")];
    for (rule, section, names) in faults {
        let told = |section: &str, names: &str| {
            scratch.write("jobs", format!("{section}\ndirect=1\nsize=64m\n[a]\nrw=read\nsize=64m\nfilename={names}\n"));
            let checked = Run::new(Program::Ferrio, scratch.path(), "check --json jobs").finish();
            let document: Value = serde_json::from_str(&checked.stdout).unwrap_or_else(|_| panic!("{}", checked.all()));
            has(&ids(&document["findings"]), rule)
        };
        assert!(told(section, names), "{rule}");
        assert!(!told("[global]", "./x:./y"), "{rule}");
    }
}

#[test]
fn cures_before_a_run_are_cures() {
    let scratch = Scratch::new("cures-check");
    for (rule, fault, cured) in CHECKS {
        let told = |arguments: &str| {
            let arguments = format!("check --json --name=a {arguments}");
            let document: Value =
                serde_json::from_str(&Run::new(Program::Ferrio, scratch.path(), &arguments).finish().stdout)
                    .expect("JSON");
            has(&ids(&document["findings"]), rule)
        };
        assert!(told(fault), "{rule} does not speak of {fault}");
        assert!(!told(cured), "{rule} is not cured by {cured}");
    }
}

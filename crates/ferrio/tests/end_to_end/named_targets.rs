//! Engines that move no data: some change allocation or length of a file, others create, look up or delete names.

use crate::outline::{assert_same_outline, outline};
use crate::support::{Program, Run, Scratch, has_peer, has_programs, peer_too};
use crate::system_calls::calls_to;
use std::os::unix::fs::PermissionsExt;

const NAMES: [&str; 6] = ["filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"];

fn programs(test: &str) -> &'static [Program] {
    if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] }
}

/// System calls of a job on its files, started in an empty directory, and the files afterwards.
fn traced(program: Program, arguments: &str) -> (Vec<String>, Vec<(String, u64, u32)>) {
    let scratch = Scratch::new("named-targets");
    let calls = calls_to("/f.", program, &scratch, &format!("--name=f --bs=4k {arguments}"));
    let entries = std::fs::read_dir(scratch.join("data")).expect("a directory").map(|entry| {
        let entry = entry.expect("an entry");
        let metadata = entry.metadata().expect("its metadata");
        let length = if metadata.is_dir() { 0 } else { metadata.len() };
        (entry.file_name().to_string_lossy().into_owned(), length, metadata.permissions().mode())
    });
    let mut entries: Vec<_> = entries.collect();
    entries.sort();
    (calls, entries)
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn system_calls_and_what_is_left_are_those_of_the_peer() {
    let test = "system_calls_and_what_is_left_are_those_of_the_peer";
    if !has_peer(test) || !has_programs(test, &["strace"]) {
        return;
    }
    let ways = [
        "rw=write",
        "rw=read",
        "rw=randrw --nrfiles=2",
        "rw=write --nrfiles=3 --openfiles=1 --file_service_type=sequential",
    ];
    let of_names = NAMES.iter().flat_map(|engine| ways.map(|way| format!("--ioengine={engine} --size=24k --{way}")));
    let of_sizes = [
        "falloc --size=16k --rw=write --offset=4k",
        "falloc --size=16k --rw=read",
        "falloc --size=16k --rw=read --direct=1 --sync=1",
        "falloc --size=16k --rw=randtrim",
        "falloc --size=16k --rw=trimwrite --create_on_open=1",
        "ftruncate --size=16k --rw=write",
        "ftruncate --size=16k --rw=randwrite --direct=1",
        // The share of each file is less than a block.
        "filecreate --size=8k --nrfiles=4 --rw=write",
        "dircreate --size=12k --nrfiles=4 --rw=read",
        "dirdelete --size=8k --nrfiles=4 --rw=read",
    ];
    let of_sizes = of_sizes.map(|case| format!("--ioengine={case}"));
    for case in of_names.chain(of_sizes) {
        let (theirs, ours) = (traced(Program::Peer, &case), traced(Program::Ferrio, &case));
        assert_eq!(ours, theirs, "{case}");
    }
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn reports_of_openings_are_those_of_the_peer() {
    if !has_peer("reports_of_openings_are_those_of_the_peer") {
        return;
    }
    let ways = [
        "rw=write",
        "rw=read",
        "rw=randrw",
        "rw=trim",
        "rw=trimwrite",
        "disable_lat=1",
        "disable_clat=1",
        "rw=write --verify=crc32c --loops=1",
    ];
    // When fio reads files back, it opens them again; these engines would then create or delete them again.
    let can = |engine: &str, way: &str| match engine {
        "filecreate" | "filestat" | "dirstat" => true,
        _ => !way.contains("verify"),
    };
    for engine in NAMES.into_iter().chain(["falloc"]) {
        for way in ways.into_iter().filter(|way| can(engine, way)) {
            let arguments = format!("--name=f --ioengine={engine} --bs=4k --size=32k --nrfiles=2 --{way}");
            let [theirs, ours] = [Program::Peer, Program::Ferrio].map(|program| {
                let scratch = Scratch::new("reports-of-openings");
                let finished =
                    Run::new(program, scratch.path(), &arguments).recorded("targets", &[]).finish().succeeded();
                outline(&finished.stdout, false)
            });
            assert_same_outline(&arguments, &ours, &theirs);
        }
    }
}

/// Without fio: its 3.41 sometimes hangs in such a job if a pool of threads does the I/Os.
#[test]
fn a_pool_of_threads_does_them_too() {
    for engine in NAMES {
        let counts = ["inline", "offload --iodepth=2"].map(|mode| {
            let scratch = Scratch::new("openings-by-a-pool");
            let arguments = format!(
                "--name=f --ioengine={engine} --bs=4k --size=32k --nrfiles=2 --io_submit_mode={mode} --output-format=json"
            );
            let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).finish().succeeded();
            let document: serde_json::Value = serde_json::from_str(&finished.stdout).expect("JSON");
            document["jobs"][0]["read"]["total_ios"].as_u64().expect("a number")
        });
        assert_eq!(counts, [8, 8], "{engine}: 32 KiB in blocks of 4 KiB");
    }
}

#[test]
fn what_cannot_be_done_is_an_error_of_the_job() {
    let cases = [
        ("dircreate --filename=there", 17, "open(there)"),
        ("filecreate --filename=there", 21, "open(there)"),
        ("filedelete --filename=there", 21, "delete(there)"),
        ("filecreate --filename=none/below", 2, "open(none/below)"),
        ("dircreate --filename=none/below", 2, "open(none/below)"),
        ("filedelete --filename=f --loops=2", 2, "delete(f)"),
        ("dirdelete --filename=f --loops=2", 2, "delete(f)"),
        ("filestat --filename=f --create_on_open=1", 2, "stat(f) type=1"),
        ("filestat --filename=f --create_on_open=1 --stat_type=statx", 2, "stat(f) type=3"),
    ];
    for program in programs("what_cannot_be_done_is_an_error_of_the_job") {
        for (case, errno, step) in cases {
            let scratch = Scratch::new("openings-that-fail");
            std::fs::create_dir(scratch.join("there")).expect("a directory");
            let arguments = format!("--name=f --bs=4k --size=4k --ioengine={case}");
            let finished = Run::new(*program, scratch.path(), &arguments).recorded("targets", &[]).finish();
            let what = format!("{program:?} {case}: {}", finished.all());
            assert_eq!(finished.code, Some(1), "{what}");
            let line = finished.stdout.lines().find(|line| line.starts_with("fio: pid=")).unwrap_or_default();
            assert!(line.contains(&format!("err={errno}/")) && line.contains(&format!("func={step}")), "{what}");
        }
        // A directory that is to be looked up cannot be made.
        let scratch = Scratch::new("directory-that-fails");
        let arguments = "--name=f --size=4k --ioengine=dirstat --filename=none/below";
        let finished = Run::new(*program, scratch.path(), arguments).recorded("targets", &[]).finish();
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        assert!(finished.stderr.contains("none/below") || finished.stderr.contains("mkdir"), "{}", finished.all());
    }
}

#[test]
fn a_truncating_job_takes_writes_only() {
    for program in programs("a_truncating_job_takes_writes_only") {
        for rw in ["read", "trim", "randrw"] {
            let scratch = Scratch::new("truncating");
            let arguments = format!("--name=f --ioengine=ftruncate --size=16k --bs=4k --rw={rw}");
            let finished = Run::new(*program, scratch.path(), &arguments).recorded("targets", &[]).finish();
            assert_eq!(finished.code, Some(1), "{program:?} {rw}: {}", finished.all());
            assert!(finished.stdout.contains("err=22/"), "{program:?} {rw}: {}", finished.all());
        }
    }
}

/// The rows of a log, without their times and latencies.
fn rows(scratch: &Scratch, name: &str) -> Vec<String> {
    let text = scratch.read(name);
    let row = |line: &str| line.splitn(3, ", ").nth(2).unwrap_or_default().to_owned();
    text.lines().map(row).collect()
}

#[test]
fn an_opening_is_one_row_of_completion_latency() {
    let jobs = NAMES.map(|engine| format!("[{engine}]\nioengine={engine}\nfilename={engine}.target\n")).concat();
    for program in programs("an_opening_is_one_row_of_completion_latency") {
        let scratch = Scratch::new("rows-of-openings");
        scratch.write(
            "job",
            format!("[global]\nsize=16k\nbs=4k\nwrite_lat_log=log\nwrite_bw_log=log\nwrite_iops_log=log\n{jobs}"),
        );
        let finished = Run::new(*program, scratch.path(), "job").finish().succeeded();
        assert_eq!(finished.stderr, "", "{program:?}");
        for number in 1..=6 {
            assert_eq!(rows(&scratch, &format!("log_clat.{number}.log")), ["0, 0, 0"], "{program:?}");
            for kind in ["lat", "slat", "bw", "iops"] {
                assert_eq!(scratch.read(&format!("log_{kind}.{number}.log")), "", "{program:?} {kind}");
            }
        }
        let mut left: Vec<String> = scratch.names().into_iter().filter(|name| name.ends_with(".target")).collect();
        left.sort();
        assert_eq!(left, ["dircreate.target", "dirstat.target", "filecreate.target", "filestat.target"], "{program:?}");
        let length = |name: &str| std::fs::metadata(scratch.join(name)).expect("a file").len();
        assert_eq!([length("filecreate.target"), length("filestat.target")], [0, 16 << 10], "{program:?}");
    }
}

#[test]
fn unlink_removes_what_the_engine_has_made() {
    for program in programs("unlink_removes_what_the_engine_has_made") {
        for engine in NAMES {
            let scratch = Scratch::new("unlink-of-names");
            let arguments = format!("--name=f --ioengine={engine} --size=16k --bs=4k --nrfiles=2 --unlink=1");
            Run::new(*program, scratch.path(), &arguments).finish().succeeded();
            let left: Vec<String> = scratch.names().into_iter().filter(|name| name.starts_with("f.")).collect();
            assert!(left.is_empty(), "{program:?} {engine}: {left:?}");
        }
    }
}

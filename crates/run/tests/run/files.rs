//! Files of real runs: many of them, files that are only laid out, missing ones, and set-ups that fail.
//!
//! Start reading at [`ten_thousand_files`].

use crate::builder::{BLOCK, Events, job, reader, reads, run, set_depth, writes};
use crate::child::{self, Child};
use crate::processes::limit_descriptors;
use crate::scratch::Scratch;
use ferrio_run::MessageStream;
use ferrio_spec::{DirectionMix, JobSpec, SizeSpec};
use ferrio_stats::ThreadStats;
use ferrio_testing::{skip, skip_part};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use std::path::Path;

fn many_files(directory: &Path, n_files: u32) -> JobSpec {
    let mut job = reader("j", "psync", u64::from(n_files));
    job.pattern.mix = DirectionMix::Write;
    job.target.nrfiles = n_files;
    job.target.directories = vec![directory.to_owned()];
    job.layout.fallocate = ferrio_spec::Fallocate::None;
    job
}

#[test]
#[ignore = "the child half of ten_thousand_files"]
fn child_ten_thousand_files() {
    let Some(directory) = child::directory("child_ten_thousand_files") else { return };
    let usual = Rlimit { current: Some(1_024), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, usual).unwrap();
    let mut answers = Vec::new();
    for thread in [false, true] {
        let mut job = many_files(&directory, 10_000);
        job.worker.thread = thread;
        job.layout.unlink = true;
        let (outcome, events) = run(vec![job]);
        let stats = &outcome.record.workers[0].stats;
        answers.push(json!({
            "n_failed": outcome.n_failed,
            "told": events.text(MessageStream::Error),
            "n_ios": writes(stats).n_completed,
        }));
    }
    child::answer(&directory, &json!(answers));
}

#[test]
fn ten_thousand_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { maximum: Some(10_600), ..limit };
    // Even root may not raise the limit in a container.
    if let Some(hard) = limit.maximum.filter(|hard| *hard < 10_600)
        && setrlimit(Resource::Nofile, raised).is_err()
    {
        skip!("ten_thousand_files", "the hard limit of descriptors is {hard}");
        return;
    }
    let scratch = Scratch::new("tenthousand");
    let answer = Child::start("files::child_ten_thousand_files", scratch.path()).answer();
    let expected = json!({ "n_failed": 0, "told": "", "n_ios": 10_000 });
    assert_eq!(answer, json!([expected, expected]));
}

#[test]
#[ignore = "the child half of a_low_limit_is_named"]
fn child_a_low_limit_is_named() {
    let Some(directory) = child::directory("child_a_low_limit_is_named") else { return };
    limit_descriptors(128);
    let (outcome, events) = run(vec![many_files(&directory, 200)]);
    let mut few_open = many_files(&directory, 200);
    few_open.target.openfiles = 50;
    few_open.target.file_service = ferrio_spec::FileService::Sequential;
    let (with_few, _) = run(vec![few_open]);
    child::answer(
        &directory,
        &json!({
            "n_failed": outcome.n_failed,
            "errno": outcome.record.workers[0].stats.errno,
            "told": events.text(MessageStream::Error),
            "n_ios_with_few": writes(&with_few.record.workers[0].stats).n_completed,
        }),
    );
}

#[test]
fn a_low_limit_is_named() {
    let scratch = Scratch::new("lowlimit");
    scratch.open_to_all();
    let answer = Child::start("files::child_a_low_limit_is_named", scratch.path()).answer();
    assert_eq!(
        (&answer["n_failed"], &answer["errno"], &answer["n_ios_with_few"]),
        (&json!(1), &json!(24), &json!(200))
    );
    let told = answer["told"].as_str().unwrap();
    assert!(told.contains("the limit is 128 descriptors; raise it (ulimit -n) or set openfiles="), "{told}");
}

#[test]
fn create_only_makes_files_and_does_no_io() {
    let scratch = Scratch::new("createonly");
    let mut laid_out = many_files(scratch.path(), 3);
    laid_out.extent.size = Some(SizeSpec::Bytes(3 * 4 * BLOCK));
    laid_out.layout.create_only = true;
    laid_out.layout.overwrite = true;
    let (outcome, events) = run(vec![laid_out]);
    assert_eq!((outcome.n_failed, events.n_layouts, events.text(MessageStream::Error)), (0, 1, String::new()));
    assert!(outcome.record.workers[0].stats.is_idle());
    for file in ["j.0.0", "j.0.1", "j.0.2"] {
        assert_eq!(std::fs::metadata(scratch.path().join(file)).unwrap().len(), 4 * BLOCK, "{file}");
    }
}

#[test]
fn files_are_laid_out_by_the_worker_on_request() {
    let scratch = Scratch::new("unserialised");
    let mut job = reader("j", "psync", 16);
    job.target.directories = vec![scratch.path().to_owned()];
    job.layout.create_serialize = false;
    job.numjobs = 2;
    let (outcome, events) = run(vec![job]);
    assert_eq!((outcome.n_failed, events.n_layouts), (0, 2));
    assert!(outcome.record.workers.iter().all(|job| reads(&job.stats).bytes == 16 * BLOCK));
}

/// Runs a job that cannot be set up before one that can. As in fio, messages of the job's own process are information.
fn fails(bad: JobSpec) -> (ThreadStats, String) {
    let (stats, events) = failed(bad);
    (stats, events.text(MessageStream::Error))
}

fn failed(bad: JobSpec) -> (ThreadStats, Events) {
    let (outcome, events) = run(vec![bad, reader("good", "null", 10)]);
    assert_eq!(outcome.n_failed, 1, "{:?}", events.messages);
    assert_eq!(reads(&outcome.record.workers[1].stats).n_completed, 10);
    let stats = ThreadStats::clone(&outcome.record.workers[0].stats);
    assert!(stats.is_idle());
    (stats, events)
}

#[test]
fn a_job_without_size_is_skipped() {
    for serialize in [true, false] {
        let mut bad = job("bad");
        bad.target.directories = vec![std::env::temp_dir()];
        bad.layout.create_serialize = serialize;
        let (stats, events) = failed(bad);
        assert_eq!(stats.errno, 22);
        assert!(
            events.text(MessageStream::Error).starts_with("bad: you need to specify size="),
            "{:?}",
            events.messages
        );
        // A job that makes its files itself fails in its own process.
        let told = events.text(if serialize { MessageStream::Error } else { MessageStream::Info });
        let line = told.lines().last().unwrap();
        assert_eq!(line.starts_with("fio: pid=0, err=22/file:size.rs:"), serialize, "{told}");
        assert!(line.ends_with(", func=total_file_size, error=Invalid argument"), "{told}");
    }
}

#[test]
fn a_job_without_directory_is_skipped() {
    let scratch = Scratch::new("nodirectory");
    std::fs::write(scratch.path().join("file"), "").unwrap();
    let mut bad = reader("bad", "psync", 10);
    // The parent of the file is itself a file, so that the file neither exists nor can be made.
    bad.target.directories = vec![scratch.path().join("file/below")];
    let (stats, told) = fails(bad);
    assert_eq!(stats.errno, 20, "{told}");
    assert!(told.contains("pid=0, err=20/file:"), "{told}");
}

#[test]
fn a_block_that_does_not_fit_is_refused() {
    let scratch = Scratch::new("smallfile");
    std::fs::write(scratch.path().join("bad.0.0"), [0; 100]).unwrap();
    let mut bad = job("bad");
    bad.target.directories = vec![scratch.path().to_owned()];
    let (stats, told) = fails(bad);
    assert_eq!(stats.errno, 22);
    assert!(told.starts_with("fio: blocksize is larger than data set range"), "{told}");
}

#[test]
fn files_may_not_be_made() {
    let scratch = Scratch::new("nocreate");
    let mut bad = reader("bad", "psync", 10);
    bad.target.directories = vec![scratch.path().to_owned()];
    bad.target.allow_file_create = false;
    let (stats, told) = fails(bad);
    assert_eq!(stats.errno, 2);
    assert!(told.starts_with("fio: file creation disallowed by allow_file_create=0"), "{told}");
}

#[test]
fn an_engine_that_refuses_its_options_is_a_set_up_failure() {
    for thread in [false, true] {
        let mut bad = crate::builder::sim_reader("bad", "fixed:never", 10);
        bad.worker.thread = thread;
        let (stats, events) = failed(bad);
        assert_eq!(stats.errno, 22);
        assert!(events.text(MessageStream::Error).contains("sim_service"), "{:?}", events.messages);
        let told = events.text(MessageStream::Info);
        assert!(told.contains(", err=22/file:prepare.rs:") && !told.contains("pid=0"), "{told}");
    }
}

/// The stamp in every sector tells its intended place.
#[test]
fn every_engine_writes_every_sector_to_its_place() {
    for engine in ["sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap"] {
        for (iodepth, thread) in [(1, false), (8, false), (8, true)] {
            let scratch = Scratch::new("stamps");
            let mut job = reader("j", engine, 96);
            job.pattern.mix = DirectionMix::Write;
            (job.pattern.random, job.pattern.rw_postfix) = (true, 1);
            job.target.nrfiles = 3;
            job.target.directories = vec![scratch.path().to_owned()];
            // `offload.rs` explains why POSIX AIO must not run in a fork here.
            job.worker.thread = thread || engine == "posixaio";
            set_depth(&mut job, iodepth);
            job.queue.batch_submit = iodepth.min(3);
            job.queue.batch_complete_max = iodepth;
            let (outcome, events) = run(vec![job]);
            let told = events.text(MessageStream::Error);
            if told.contains("func=init") {
                skip_part!("every_engine_writes_every_sector_to_its_place", "with {engine}: {told}");
                continue;
            }
            assert_eq!((outcome.n_failed, told.as_str()), (0, ""), "{engine} {iodepth}");
            for file in ["j.0.0", "j.0.1", "j.0.2"] {
                let data = std::fs::read(scratch.path().join(file)).unwrap();
                assert_eq!(data.len() as u64, 32 * BLOCK, "{engine} {iodepth} {file}");
                for (index, sector) in data.chunks(512).enumerate() {
                    let stamp = (index as u64 * 512).to_ne_bytes();
                    assert!(sector.chunks(64).any(|line| line[..8] == stamp), "{engine} {iodepth} {file}: {index}");
                }
            }
        }
    }
}

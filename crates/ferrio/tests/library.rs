//! The library as a program uses it: its examples run, and what goes wrong is a value.

#[path = "../examples/audit_fio.rs"]
mod audit_fio;
#[path = "../examples/follow.rs"]
mod follow;
#[path = "../examples/own_engine.rs"]
mod own_engine;
#[path = "../examples/p99.rs"]
mod p99;

use ferrio::own::{Storage, StorageAccess, StorageIo, StorageJob, StorageQueue, StorageTarget};
use ferrio::{DiagnosticKind, Error, Io, IoFigures, Job, JobMeasurement, Measurement, Runner};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Storage of which each read waits until another one is in flight beside it.
#[derive(Clone, Default)]
struct Paired(Arc<(Mutex<PairedState>, Condvar)>);

#[derive(Default)]
struct PairedState {
    n_in_flight: u32,
    n_most: u32,
}

impl Storage for Paired {
    fn size_bytes(&self, _target: &str) -> io::Result<u64> {
        Ok(1 << 20)
    }

    fn open(&self, _target: &str, _access: StorageAccess) -> io::Result<Box<dyn StorageTarget>> {
        Ok(Box::new(self.clone()))
    }
}

impl StorageTarget for Paired {
    fn read_at(&mut self, _offset_bytes: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let (state, changed) = &*self.0;
        let mut state = state.lock().expect("no panic");
        state.n_in_flight += 1;
        state.n_most = state.n_most.max(state.n_in_flight);
        changed.notify_all();
        // Once two have met, none waits any more.
        let alone = |state: &mut PairedState| state.n_most < 2;
        let (mut state, _) = changed.wait_timeout_while(state, Duration::from_secs(20), alone).expect("no panic");
        state.n_in_flight -= 1;
        Ok(buffer.len())
    }

    fn write_at(&mut self, _offset_bytes: u64, data: &[u8]) -> io::Result<usize> {
        Ok(data.len())
    }
}

/// A folder of a test's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ferrio-library-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A job of the null engine: 256 I/Os of 4 KiB.
fn null(name: &str) -> Job {
    Job::new(name).option("ioengine", "null").option("size", "1m")
}

/// A simulated device on which each I/O takes 1 ms.
fn simulated(name: &str) -> Job {
    let job = Job::new(name).option("ioengine", "sim").option("filename", "device").option("size", "1g");
    job.option("sim_service", "fixed:1ms").option("rw", "randread")
}

/// Storage whose I/Os behave as the target's name says.
struct Fickle;

struct OpenFickle {
    target: String,
    n_ios: u64,
}

impl Storage for Fickle {
    fn size_bytes(&self, target: &str) -> io::Result<u64> {
        if target == "absent" { Err(io::Error::from_raw_os_error(2)) } else { Ok(1 << 20) }
    }

    fn open(&self, target: &str, access: StorageAccess) -> io::Result<Box<dyn StorageTarget>> {
        assert!(!access.writes || target != "read-only");
        if target == "closed" {
            return Err(io::Error::from_raw_os_error(13));
        }
        Ok(Box::new(OpenFickle { target: target.to_owned(), n_ios: 0 }))
    }
}

impl StorageTarget for OpenFickle {
    fn read_at(&mut self, _offset_bytes: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.n_ios += 1;
        match self.target.as_str() {
            "full" => Err(io::Error::from_raw_os_error(28)),
            "odd" => Err(io::Error::other("an error without a number")),
            "panics" => panic!("the storage panics"),
            "half" => Ok((buffer.len() / 2).max(512)),
            "much" => Ok(buffer.len() * 2),
            _ => Ok(buffer.len()),
        }
    }

    fn write_at(&mut self, _offset_bytes: u64, data: &[u8]) -> io::Result<usize> {
        Ok(data.len())
    }
}

fn on_fickle(target: &str) -> (Job, Runner) {
    let mut runner = Runner::new();
    runner.storage("fickle", Fickle);
    let job = Job::new("a").option("ioengine", "own").option("storage", "fickle").option("filename", target);
    (job.option("size", "1m").option("rw", "read"), runner)
}

/// Storage that holds back I/Os until as many as the depth are in flight, and then completes the last one first.
struct Backwards {
    n_most: Arc<AtomicUsize>,
}

struct BackwardsQueue {
    held: Vec<StorageIo>,
    iodepth: usize,
    is_lossy: bool,
    n_most: Arc<AtomicUsize>,
}

impl Storage for Backwards {
    fn size_bytes(&self, _target: &str) -> io::Result<u64> {
        Ok(1 << 20)
    }

    fn queue(&self, job: &StorageJob<'_>) -> io::Result<Box<dyn StorageQueue>> {
        assert_eq!((job.name, job.n_targets, job.max_io_bytes), ("a", 1, 4096));
        let n_most = Arc::clone(&self.n_most);
        Ok(Box::new(BackwardsQueue { held: Vec::new(), iodepth: job.iodepth as usize, is_lossy: false, n_most }))
    }
}

impl StorageQueue for BackwardsQueue {
    fn open(&mut self, target_index: u32, name: &str, access: StorageAccess) -> io::Result<()> {
        assert_eq!((target_index, access.writes), (0, name == "written"));
        self.is_lossy = name == "lossy";
        if name == "closed" { Err(io::Error::from_raw_os_error(13)) } else { Ok(()) }
    }

    fn submit(&mut self, mut io: StorageIo) {
        assert!(io.length_bytes() == 4096 && io.data().len() == 4096 && io.target_index() == 0);
        if io.kind() == Io::Read {
            io.buffer().fill(7);
        }
        self.held.push(io);
        self.n_most.fetch_max(self.held.len(), Ordering::Relaxed);
        if self.held.len() < self.iodepth {
            return;
        }
        let held = std::mem::take(&mut self.held);
        if self.is_lossy {
            return;
        }
        std::thread::spawn(move || held.into_iter().rev().for_each(|io| io.complete(Ok(4096))));
    }
}

fn on_backwards(target: &str, rw: &str) -> (Result<Measurement, Error>, usize) {
    let n_most = Arc::new(AtomicUsize::new(0));
    let mut runner = Runner::new();
    runner.storage("backwards", Backwards { n_most: Arc::clone(&n_most) });
    let job = Job::new("a").option("ioengine", "own_async").option("storage", "backwards").option("filename", target);
    let job = job.option("size", "1m").option("bs", "4k").option("iodepth", "8").option("rw", rw);
    runner.add(&job).expect("a job");
    (runner.run(), n_most.load(Ordering::Relaxed))
}

/// 256 I/Os are 32 rounds of eight.
#[test]
fn a_queue_has_as_many_in_flight_as_the_depth() {
    for (target, rw, io) in [("read", "randread", Io::Read), ("written", "write", Io::Write)] {
        let (measured, n_most) = on_backwards(target, rw);
        let measured = measured.expect("a run");
        assert_eq!((measured.n_failed(), n_most), (0, 8), "{:?}", measured.messages());
        let figures = measured.job("a").and_then(|job| job.figures(io)).expect("figures");
        assert_eq!((figures.n_ios(), figures.bytes()), (256, 1 << 20));
    }
}

#[test]
fn an_io_that_a_queue_drops_is_an_error() {
    for (target, errno) in [("lossy", 5), ("closed", 13)] {
        let (measured, _) = on_backwards(target, "read");
        let measured = measured.expect("a run");
        assert_eq!(measured.n_failed(), 1, "{target}");
        assert_eq!(
            measured.job("a").and_then(JobMeasurement::error),
            Some(errno),
            "{target}: {:?}",
            measured.messages()
        );
    }
    // A storage without a queue.
    let (job, mut runner) = on_fickle("read");
    runner.add(&job.option("ioengine", "own_async")).expect("a job");
    assert_eq!(runner.run().expect("a run").n_failed(), 1);
}

#[test]
fn the_examples_run() {
    p99::main().expect("a p99");
    follow::main().expect("a run that is followed");
    own_engine::main().expect("an engine of one's own");
}

#[test]
fn a_report_of_fio_is_audited() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../formats/tests/fixtures/json-psync-randrw.json");
    let samples: Vec<PathBuf> = vec![sample.into()];
    assert_eq!(size_of_val(&audit_fio::main), 0, "the example is a program too");
    let mut out = Vec::new();
    audit_fio::audit(&samples, &mut out).expect("the report is read");
    let text = String::from_utf8(out).expect("a text");
    assert!(text.starts_with("json-psync-randrw.json, measured by fio-3"), "{text}");
    assert!(text.contains("  not examined: "), "{text}");
}

#[test]
fn intervals_of_a_job_sum_up_to_its_figures() {
    let mut runner = Runner::new();
    runner.add(&simulated("a").option("numjobs", "3")).expect("a job");
    runner.set_all("runtime", "5").expect("an option");
    runner.set_all("time_based", "1").expect("an option");
    runner.virtual_time(true);
    let (mut n_ios, mut n_intervals, mut at) = (0, 0, Duration::ZERO);
    let measured = runner
        .follow(Duration::from_secs(1), |interval| {
            assert_eq!(interval.job(), "a");
            assert!(interval.end() >= at, "intervals come in their order");
            at = interval.end();
            n_ios += interval.figures(Io::Read).map_or(0, IoFigures::n_ios);
            n_intervals += 1;
        })
        .expect("a run");
    let reads = measured.job("a").and_then(|job| job.figures(Io::Read)).expect("reads");
    // Three clones, each with a device that takes 1 ms.
    assert_eq!((reads.n_ios(), n_ios), (15_000, 15_000));
    assert!((5..=7).contains(&n_intervals), "{n_intervals}");
    let p99 = reads.latency().and_then(|latency| latency.percentile(99.0)).expect("a distribution");
    assert_eq!(p99.latency, Duration::from_millis(1));
}

#[test]
fn what_is_refused_is_a_value() {
    let mut runner = Runner::new();
    assert!(matches!(runner.run(), Err(Error::NoJob)));
    let refused = |runner: &mut Runner, job: &Job| match runner.add(job) {
        Err(Error::Option(why)) => (why.kind, why.nearest),
        other => panic!("{other:?}"),
    };
    let unknown = refused(&mut runner, &null("a").option("iodpeth", "4"));
    assert_eq!(unknown, (DiagnosticKind::UnknownOption, Some("iodepth".into())));
    assert_eq!(refused(&mut runner, &null("a").flag("bs")).0, DiagnosticKind::ValueMissing);
    assert_eq!(runner.job_names().count(), 0, "a job that was refused is not there");
    runner.add(&null("a")).expect("a job");
    assert!(matches!(runner.set("b", "bs", "4k"), Err(Error::Option(why)) if why.kind == DiagnosticKind::UnknownJob));
    runner.set("a", "zonemode", "strided").expect("an option");
    assert!(matches!(runner.run(), Err(Error::Option(why)) if why.kind == DiagnosticKind::Conflict));
    assert!(matches!(Runner::from_arguments(["--help"]), Err(Error::Usage(_) | Error::NoJob)));
    let Err(Error::Option(why)) = Runner::from_arguments(["--name=a", "--rw=randraed"]) else { panic!("refused") };
    assert_eq!((why.given.as_str(), why.nearest.as_deref()), ("rw=randraed", Some("randread")));
    assert!(matches!(Runner::from_job_file("/no/such/file.fio"), Err(Error::Usage(_))));
    let of_reports = [
        "--output=x",
        "--output-format=json",
        "--record=x",
        "--keep",
        "--bandwidth-log",
        "--status-interval=1",
        "--anonymous",
        "--debug=io",
        "--parse-only",
        "--showcmd",
        "--version",
    ];
    for option in of_reports {
        let refused = Runner::from_arguments(["--name=a", "--ioengine=null", "--size=1m", option]);
        assert!(matches!(refused, Err(Error::Usage(_) | Error::NoJob)), "{option}: {refused:?}");
    }
}

/// Nothing of a command line is dropped: what it forbids stays forbidden, and what it says is told.
#[test]
fn a_command_line_holds_in_the_library_too() {
    let folder = Folder::new("readonly");
    let file = folder.0.join("file");
    let job = ["--name=a", "--rw=read", "--size=64k", &format!("--filename={}", file.display())].map(str::to_owned);
    let run = |further: &[&str]| {
        let arguments = job.iter().cloned().chain(further.iter().map(|word| (*word).to_owned()));
        Runner::from_arguments(arguments).expect("a job").run().expect("a run")
    };
    assert_eq!((run(&["--readonly"]).n_failed(), file.exists()), (1, false));
    assert_eq!((run(&[]).n_failed(), file.exists()), (0, true));
    let list = "--percentile_list=50:101";
    let runner = Runner::from_arguments(["--name=a", "--ioengine=null", "--size=1m", list]).expect("a job");
    assert!(runner.remarks()[0].starts_with("value out of range: 101"), "{:?}", runner.remarks());
}

#[test]
fn an_option_of_all_jobs_is_one_of_each() {
    let folder = Folder::new("global");
    let path = folder.0.join("jobs.fio");
    std::fs::write(&path, "[global]\nioengine=null\nsize=1m\n[a]\nrw=read\n").expect("a file");
    let measured = Runner::from_job_file(&path).expect("jobs").run().expect("a run");
    let report = folder.0.join("fio.json");
    std::fs::write(&report, measured.fio_json().expect("a report")).expect("a file");
    let read = ferrio::read(&[&report]).expect("it is read");
    for measured in [&measured, &read[0]] {
        let option = |name: &str| measured.job("a").and_then(|job| job.option(name));
        assert_eq!([option("size"), option("rw"), option("bs")], [Some("1m"), Some("read"), None]);
    }
}

#[test]
fn jobs_of_a_file_take_further_options() {
    let folder = Folder::new("file");
    let path = folder.0.join("-jobs.fio");
    std::fs::write(&path, "[global]\nioengine=null\nsize=1m\n[a]\nrw=read\n[b]\nrw=write\nstonewall\n")
        .expect("a file");
    let mut runner = Runner::from_job_file(&path).expect("jobs");
    assert_eq!(runner.job_names().collect::<Vec<_>>(), ["a", "b"]);
    runner.set("b", "bs", "64k").expect("an option");
    let measured = runner.run().expect("a run");
    let of = |job: &str, kind| measured.job(job).and_then(|job| job.figures(kind)).map(IoFigures::n_ios);
    assert_eq!((of("a", Io::Read), of("b", Io::Write), of("b", Io::Read)), (Some(256), Some(16), None));
}

#[test]
fn two_runs_side_by_side_do_not_know_of_each_other() {
    let n_ios = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for name in ["one", "other"] {
            let n_ios = &n_ios;
            scope.spawn(move || {
                let mut runner = Runner::new();
                runner.add(&null(name).option("rw", "randwrite")).expect("a job");
                let measured = runner.run().expect("a run");
                assert_eq!(measured.jobs().map(|job| job.name().to_owned()).collect::<Vec<_>>(), [name]);
                let writes = measured.job(name).and_then(|job| job.figures(Io::Write)).expect("writes");
                n_ios.fetch_add(writes.n_ios(), Ordering::Relaxed);
            });
        }
    });
    assert_eq!(n_ios.into_inner(), 512);
}

#[test]
fn a_measurement_is_saved_and_read_again() {
    let folder = Folder::new("saved");
    let mut runner = Runner::new();
    runner.add(&null("a").option("rw", "read")).expect("a job");
    let measured = runner.run().expect("a run");
    let (record, report) = (folder.0.join("run.ferrio"), folder.0.join("fio.json"));
    measured.save(&record).expect("a record");
    std::fs::write(&report, measured.fio_json().expect("a report")).expect("a file");
    let read = ferrio::read(&[&record, &report]).expect("both are read");
    let n_ios = read.iter().map(|read| read.job("a").and_then(|job| job.figures(Io::Read)).map(IoFigures::n_ios));
    assert_eq!(n_ios.collect::<Vec<_>>(), [Some(256), Some(256)]);
    assert!(read[1].program().starts_with("ferrio"), "{}", read[1].program());
    assert!(matches!(read[1].save(folder.0.join("other")), Err(Error::NotARun)));
    assert!(matches!(read[1].fio_json(), Err(Error::NotARun)));
    let nowhere = measured.save(folder.0.join("no/folder"));
    assert!(matches!(nowhere, Err(Error::Write { ref reason, .. }) if reason.raw_os_error() == Some(2)));
    std::fs::write(&report, "{\"fio version\": 3").expect("a file");
    assert!(matches!(ferrio::read(&[&report]), Err(Error::Read(text)) if text.contains("fio.json")));
}

#[test]
fn storage_of_the_program_fails_as_a_device_does() {
    let errors = [("absent", 2), ("closed", 13), ("full", 28), ("odd", 5)];
    for (target, errno) in errors {
        let (job, mut runner) = on_fickle(target);
        runner.add(&job).expect("a job");
        let measured = runner.run().expect("a run");
        let error = measured.job("a").and_then(JobMeasurement::error);
        assert_eq!(error, Some(errno), "{target}: {:?}", measured.messages());
        assert!(!measured.messages().is_empty(), "{target}");
    }
    let (job, mut runner) = on_fickle("good");
    runner.add(&job.option("iodepth", "4").option("io_submit_mode", "offload")).expect("a job");
    let measured = runner.run().expect("a run");
    assert_eq!(measured.job("a").and_then(|job| job.figures(Io::Read)).map(IoFigures::n_ios), Some(256));
    // An I/O that was short is continued, and no more than what was asked for counts.
    for target in ["half", "much"] {
        let (job, mut runner) = on_fickle(target);
        runner.add(&job).expect("a job");
        let measured = runner.run().expect("a run");
        let reads = measured.job("a").and_then(|job| job.figures(Io::Read)).expect("reads");
        assert_eq!((measured.n_failed(), reads.bytes()), (0, 1 << 20), "{target}: {:?}", measured.messages());
    }
}

#[test]
fn several_ios_of_a_storage_are_those_of_clones_or_of_a_pool() {
    let kinds = [("numjobs", "2"), ("io_submit_mode", "offload")];
    for (name, value) in kinds {
        let paired = Paired::default();
        let mut runner = Runner::new();
        runner.storage("paired", paired.clone());
        let job = Job::new("a").option("ioengine", "own").option("storage", "paired").option("rw", "read");
        runner.add(&job.option("iodepth", "4").option("number_ios", "16").option(name, value)).expect("a job");
        let measured = runner.run().expect("a run");
        assert_eq!(measured.n_failed(), 0, "{name}: {:?}", measured.messages());
        assert!(paired.0.0.lock().expect("no panic").n_most >= 2, "{name}: no two reads were in flight");
    }
}

#[test]
fn a_storage_that_nobody_added_is_named() {
    let (_, mut runner) = on_fickle("good");
    runner
        .add(&Job::new("a").option("ioengine", "own").option("storage", "other").option("size", "1m"))
        .expect("a job");
    let measured = runner.run().expect("a run");
    assert_eq!(measured.n_failed(), 1);
    let said = measured.messages().join("\n");
    assert!(said.contains("allowed: fickle"), "{said}");
}

#[test]
fn a_storage_that_panics_fails_its_job_alone() {
    let (job, mut runner) = on_fickle("panics");
    runner.add(&job).expect("a job");
    runner.add(&null("b").option("rw", "read")).expect("a job");
    let measured = runner.run().expect("a run");
    assert_eq!(measured.n_failed(), 1, "{:?}", measured.messages());
    assert_eq!(measured.job("b").and_then(|job| job.figures(Io::Read)).map(IoFigures::n_ios), Some(256));
}

#[test]
fn a_runner_that_was_stopped_stays_stopped() {
    let mut runner = Runner::new();
    runner.add(&null("a").option("rw", "read")).expect("a job");
    runner.stopper().expect("a handle").stop();
    for _ in 0..2 {
        let measured = runner.run().expect("a run");
        let reads = measured.job("a").and_then(|job| job.figures(Io::Read));
        assert_eq!((reads.map_or(0, IoFigures::n_ios), measured.n_failed()), (0, 0));
    }
}

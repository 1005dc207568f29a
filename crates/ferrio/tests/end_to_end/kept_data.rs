//! What becomes of a user's files that are shorter than a job needs: their contents before and after.
//!
//! Start reading at [`READS`].

use crate::support::{Program, Run, Scratch, has_programs, peer_too, send, skip};
use std::path::Path;
use std::sync::LazyLock;

/// What the files hold: 1 MiB in each.
const HELD: &[u8] = b"what a user would miss\n";

/// Jobs that only read, and more than their files hold.
const READS: &[&str] = &[
    "--filename=p --size=2m",
    "--filename=p --filesize=2m",
    "--filename=p --offset=512k --size=1m",
    "--filename=p --offset=2m --size=1m",
    "--filename=p --size=2m --overwrite=1",
    "--filename=p --size=2m --create_only=1",
    "--filename=p --size=2m --create_serialize=0",
    "--filename=p --size=2m --create_fsync=0 --end_fsync=1",
    "--filename=p --size=2m --file_append=1",
    "--filename=p --size=1m --offset_increment=1m --numjobs=2",
    "--filename=p --size=2m --pre_read=1 --invalidate=0",
    "--filename=p --size=2m --thread --loops=2",
    "--filename=p --size=2m --time_based --runtime=100ms",
    "--filename=p:q --size=5m",
    "--filename=q:new --size=4m",
    "--filename_format=file.$filenum --nrfiles=2 --filesize=1m-3m",
    "--opendir=tree --size=4m",
];

const WAYS: &[&str] = &[
    "--rw=read",
    "--rw=randread --fallocate=none",
    "--rw=read --fallocate=keep",
    "--rw=read --fallocate=posix",
    "--rw=read --fallocate=truncate --ioengine=mmap",
];

fn held() -> &'static [u8] {
    static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| HELD.repeat((1 << 20) / HELD.len() + 1)[..1 << 20].to_vec());
    &WHOLE
}

/// The files of the jobs above.
const NAMES: &[&str] = &["p", "q", "file.0", "file.1", "tree/r"];

fn make_files(scratch: &Scratch) {
    let _ = std::fs::create_dir(scratch.join("tree"));
    for name in NAMES {
        let _ = std::fs::remove_file(scratch.join(name));
        scratch.write(name, held());
    }
}

/// The files whose first bytes are no more what they held.
fn changed(directory: &Path) -> Vec<&'static str> {
    let is_kept = |name: &str| std::fs::read(directory.join(name)).is_ok_and(|now| now.starts_with(held()));
    NAMES.iter().copied().filter(|name| !is_kept(name)).collect()
}

#[test]
fn native_jobs_that_read_change_nothing_that_is_there() {
    let scratch = Scratch::new("kept-native");
    for (way, job) in WAYS.iter().flat_map(|way| READS.iter().map(move |job| (way, job))) {
        make_files(&scratch);
        let run = Run::new(Program::Ferrio, scratch.path(), &format!("run --json --name=a {way} {job}"));
        let finished = run.finish();
        let is_grown = NAMES.iter().any(|name| scratch.join(name).metadata().is_ok_and(|now| now.len() > 1 << 20));
        assert_eq!(changed(scratch.path()), Vec::<&str>::new(), "{}", finished.all());
        assert_eq!(finished.stderr.contains("what is missing is added at its end"), is_grown, "{}", finished.all());
    }
}

/// With fio's command line files are replaced, and each of them is told.
#[test]
fn what_is_replaced_as_under_the_peer_is_told() {
    let test = "what_is_replaced_as_under_the_peer_is_told";
    let scratch = Scratch::new("kept-fio");
    let programs: &[Program] = if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] };
    for job in READS {
        let replaced: Vec<Vec<&str>> = programs
            .iter()
            .map(|program| {
                make_files(&scratch);
                let finished = Run::new(*program, scratch.path(), &format!("--name=a --rw=read {job}")).finish();
                let changed = changed(scratch.path());
                if *program == Program::Ferrio && !job.contains("numjobs") {
                    let told = NAMES.iter().filter(|name| finished.stderr.contains(&format!("a: {name} held")));
                    assert_eq!(told.copied().collect::<Vec<_>>(), changed, "{}", finished.all());
                }
                changed
            })
            .collect();
        assert!(replaced.windows(2).all(|pair| pair[0] == pair[1]), "{job}: {replaced:?}");
    }
}

#[test]
fn check_names_the_file_before() {
    let scratch = Scratch::new("kept-check");
    make_files(&scratch);
    let check =
        |job: &str| Run::new(Program::Ferrio, scratch.path(), &format!("check --name=a --rw=read {job}")).finish();
    let finished = check("--filename=p --size=2m").succeeded();
    assert!(finished.stdout.contains("p holds 1 MiB, and the job reads 2 MiB."), "{}", finished.all());
    assert!(!check("--filename=p").stdout.contains("holds 1 MiB"));
    check("--filename=new/file --size=2m").succeeded();
    assert!(!scratch.join("new").exists(), "a check makes no directory");
    assert_eq!(changed(scratch.path()), Vec::<&str>::new());
    assert_eq!(
        std::fs::metadata(scratch.join("p")).expect("it is there").len(),
        1 << 20,
        "a check makes nothing longer"
    );
}

/// Where no file may be made, none is deleted; not the first of several either.
#[test]
fn without_permission_to_make_files_none_is_touched() {
    let scratch = Scratch::new("kept-create");
    let jobs = [
        "--filename=p --size=2m",
        "--filename=p --filesize=2m",
        "--filename=p --offset=512k --size=1m",
        "--filename=p --size=2m --overwrite=1",
        "--filename=p:new --size=4m",
        "--filename_format=file.$filenum --nrfiles=3 --size=6m",
    ];
    for (way, job) in ["read", "write", "randrw"].iter().flat_map(|way| jobs.iter().map(move |job| (way, job))) {
        make_files(&scratch);
        let arguments = format!("--name=a --rw={way} {job} --allow_file_create=0");
        let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).finish();
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        assert!(finished.stderr.contains("file creation disallowed by allow_file_create=0"), "{}", finished.all());
        assert_eq!(changed(scratch.path()), Vec::<&str>::new(), "{}", finished.all());
    }
    // A native run makes no file where it only adds to one.
    make_files(&scratch);
    let arguments = "run --name=a --rw=read --filename=p --size=2m --allow_file_create=0";
    Run::new(Program::Ferrio, scratch.path(), arguments).finish().succeeded();
    assert_eq!(changed(scratch.path()), Vec::<&str>::new());
}

/// A layout that has no room is refused before it begins.
#[test]
fn a_layout_without_room_touches_nothing() {
    let scratch = Scratch::new("kept-room");
    for command in ["", "run"] {
        for (way, job) in WAYS.iter().flat_map(|way| {
            ["--size=1m --offset_increment=10t --numjobs=2", "--size=20t", "--filesize=20t"].map(|job| (way, job))
        }) {
            make_files(&scratch);
            let arguments = format!("{command} --name=a --filename=p {way} {job}");
            let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).finish();
            assert_eq!(finished.code, Some(1), "{}", finished.all());
            assert!(finished.stderr.contains("it stays as it is"), "{}", finished.all());
            assert_eq!(changed(scratch.path()), Vec::<&str>::new(), "{}", finished.all());
        }
        make_files(&scratch);
        // Blocks of the shell: 2 MiB.
        let arguments = format!("{command} --name=a --filename=p --rw=read --size=3m");
        let run = Run::new(Program::Ferrio, scratch.path(), &arguments).in_shell("ulimit -f 4096; exec \"$0\" \"$@\"");
        let finished = run.finish();
        assert!(finished.code == Some(1) && finished.stderr.contains("it stays as it is"), "{}", finished.all());
        assert_eq!(changed(scratch.path()), Vec::<&str>::new());
    }
}

/// A directory may be written to, and a file in it not.
#[test]
fn a_file_that_may_not_be_written_is_not_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let test = "a_file_that_may_not_be_written_is_not_replaced";
    if rustix::process::geteuid().is_root() {
        return skip(test, "root may write to all files; .ci/run has a user");
    }
    let scratch = Scratch::new("kept-mode");
    make_files(&scratch);
    let mode = std::fs::Permissions::from_mode(0o444);
    std::fs::set_permissions(scratch.join("p"), mode).expect("its owner may");
    for command in ["", "run"] {
        let arguments = format!("{command} --name=a --rw=read --filename=p --size=2m");
        let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).finish();
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        assert!(finished.stderr.contains("Permission denied"), "{}", finished.all());
        assert_eq!(changed(scratch.path()), Vec::<&str>::new());
    }
}

/// What a stopped layout has added is taken away again.
#[test]
fn a_stopped_layout_leaves_what_was_there() {
    let test = "a_stopped_layout_leaves_what_was_there";
    if !has_programs(test, &["strace"]) {
        return;
    }
    let scratch = Scratch::new("kept-stopped");
    make_files(&scratch);
    let arguments = "run --name=a --rw=read --filename=p --size=65m --bs=64k --fallocate=none";
    // A thousand writes of 20 ms.
    let slow = "strace -f -qq -e trace=write -e inject=write:delay_enter=20000 -o /dev/null";
    let mut running = Run::new(Program::Ferrio, scratch.path(), arguments).under(slow).start();
    let size = || std::fs::metadata(scratch.join("p")).map_or(0, |now| now.len());
    let has_begun =
        || std::fs::metadata(scratch.join("p")).is_ok_and(|now| std::os::unix::fs::MetadataExt::blocks(&now) > 4096);
    running.wait_until("a part of the layout", |_| has_begun());
    let jobs = running.jobs();
    send(*jobs.first().expect("ferrio runs under strace"), rustix::process::Signal::INT);
    let finished = running.finish();
    assert_eq!((changed(scratch.path()), size()), (Vec::new(), 1 << 20), "{}", finished.all());
}

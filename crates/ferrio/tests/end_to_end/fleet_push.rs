//! ferrio that a fleet copies to its hosts: a program in the place of ssh gives each host a cache of its own.
//!
//! Start reading at [`hosts_without_ferrio_get_it_once`].

use crate::fleets::document;
use crate::support::{Finished, Program, Run, Scratch};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

/// In the place of ssh: hosts have their caches here, and a directory of programs that come first.
const SHELL: &str = "#!/bin/sh\necho \"Welcome to $1\"\nexport XDG_CACHE_HOME=\"$PWD/cache of $1\" PATH=\"$PWD/programs:$PATH\"\n\
                     shift\nexec sh -c \"exec $*\"\n";

fn program(scratch: &Scratch, name: &str, text: &str) {
    scratch.write(name, text);
    fs::set_permissions(scratch.join(name), fs::Permissions::from_mode(0o755)).expect("permissions");
}

fn scratch(test: &str) -> Scratch {
    let scratch = Scratch::new(test);
    fs::create_dir(scratch.join("programs")).expect("a directory");
    program(&scratch, "shell", SHELL);
    scratch
}

fn run(scratch: &Scratch, remote: &str, push: &str) -> Finished {
    let job = "--name=s --ioengine=sim --sim_time=virtual --rw=randread --size=64m --number_ios=1000";
    let options = format!("fleet --hosts=a,b --rsh=./shell --remote-program={remote} {push} --json {job}");
    Run::new(Program::Ferrio, scratch.path(), &options).finish()
}

/// The files in the cache of a host.
fn cached(scratch: &Scratch, host: &str) -> Vec<PathBuf> {
    let entries = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    entries(scratch.join(&format!("cache of {host}/ferrio"))).flat_map(entries).collect()
}

#[test]
fn hosts_without_ferrio_get_it_once() {
    let scratch = scratch("fleet-push");
    let without = run(&scratch, "no-ferrio", "");
    assert!(without.code == Some(2) && without.stderr.contains("no ferrio answers there"), "{}", without.all());
    assert_eq!(document(&run(&scratch, "no-ferrio", "--push").succeeded())["jobs"][0]["n_ios"].as_u64(), Some(2_000));
    let [copy] = &cached(&scratch, "a")[..] else { panic!("{:?}", cached(&scratch, "a")) };
    let about = || fs::metadata(copy).expect("the copy");
    let (own, first) = (fs::metadata(Program::Ferrio.path()).expect("this one"), about());
    assert_eq!((first.len(), first.mode() & 0o777), (own.len(), 0o700));
    let directory = copy.parent().expect("a directory");
    assert_eq!(fs::metadata(directory).expect("the directory").mode() & 0o077, 0);
    // It is there, and is not copied again.
    run(&scratch, "no-ferrio", "--push").succeeded();
    assert_eq!(about().ino(), first.ino());
    // Another version is none; what was changed is copied anew, whatever is left of a copy that was interrupted.
    program(&scratch, "programs/old-ferrio", "#!/bin/sh\necho fio-3.42-ferrio-0.0.1\n");
    fs::write(copy, "#!/bin/sh\n").expect("a file");
    let again = run(&scratch, "old-ferrio", "--push").succeeded();
    assert_eq!(about().len(), own.len());
    assert_eq!(cached(&scratch, "a").len(), 1);
    assert!(!again.stderr.contains("older cop"), "{}", again.all());
}

/// Older copies are named when a new one comes, and stay: a run elsewhere may use them. What is no copy is not among them.
#[test]
fn older_copies_are_named_and_stay() {
    let scratch = scratch("fleet-push-older");
    let place = "cache of b/ferrio";
    for name in [
        "fio-3.42-ferrio-0.0.1-0123456789abcdef/ferrio",
        "fio-3.42-ferrio-0.0.2-0123456789abcdef/ferrio",
        "notes/ferrio",
    ] {
        let path = scratch.join(&format!("{place}/{name}"));
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, "").expect("a file");
    }
    let first = run(&scratch, "no-ferrio", "--push").succeeded();
    let directory = scratch.join(place);
    let line = format!("2 older copies of ferrio in {} on b: where no run uses them", directory.display());
    assert!(first.stderr.contains(&line) && !first.stderr.contains("on a"), "{}", first.all());
    assert_eq!(cached(&scratch, "b").len(), 4);
    let second = run(&scratch, "no-ferrio", "--push").succeeded();
    assert!(!second.stderr.contains("older"), "told once: {}", second.all());
}

#[test]
fn a_host_with_this_version_gets_nothing() {
    let scratch = scratch("fleet-push-present");
    run(&scratch, Program::Ferrio.path(), "--push").succeeded();
    assert!(cached(&scratch, "a").is_empty() && cached(&scratch, "b").is_empty());
}

#[test]
fn what_cannot_be_copied_says_why() {
    let scratch = scratch("fleet-push-refused");
    let refused = |push: &str, reason: &str| {
        let run = run(&scratch, "no-ferrio", push);
        assert!(run.code == Some(2) && run.stderr.contains(reason), "{reason}: {}", run.all());
        assert!(cached(&scratch, "a").is_empty(), "{reason}");
    };
    refused("--push=shell", "this is no program for Linux");
    refused("--push=absent", "No such file");
    refused("--push=/bin/true", "cannot be used");
    program(&scratch, "programs/uname", "#!/bin/sh\necho sparc64\n");
    refused("--push", "its machine is sparc64, and this ferrio is for");
    fs::remove_file(scratch.join("programs/uname")).expect("a file");
    // What comes is not what was sent.
    program(&scratch, "programs/sha256sum", "#!/bin/sh\ncat > /dev/null\necho 0123  -\n");
    refused("--push", "is not what was sent");
    fs::remove_file(scratch.join("programs/sha256sum")).expect("a file");
    fs::remove_dir_all(scratch.join("cache of a")).expect("a directory");
    scratch.write("cache of a", "a file");
    refused("--push", "cannot be written");
    let unused = Run::new(Program::Ferrio, scratch.path(), "fleet --push --name=s --ioengine=null --size=1m").finish();
    assert!(unused.stderr.contains("--push has no effect without hosts"), "{}", unused.all());
}

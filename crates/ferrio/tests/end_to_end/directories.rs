//! Jobs whose files are in several directories: `directory_per`, and trees of `opendir`.
//!
//! Start reading at any test.

use crate::support::{Finished, Program, Run, Scratch};

fn run(scratch: &Scratch, options: &str) -> Finished {
    let common = "--ioengine=psync --thread --fallocate=none";
    Run::new(Program::Ferrio, scratch.path(), &format!("{common} {options}")).finish()
}

/// A scratch directory with these directories in it.
fn with_directories(test: &str, names: &[&str]) -> Scratch {
    let scratch = Scratch::new(test);
    for name in names {
        std::fs::create_dir_all(scratch.join(name)).expect("a directory");
    }
    scratch
}

/// The files of a directory, sorted, joined by blanks.
fn files_in(scratch: &Scratch, directory: &str) -> String {
    let entries = std::fs::read_dir(scratch.join(directory)).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names.join(" ")
}

#[test]
fn the_files_of_a_job_are_spread_over_its_directories() {
    let scratch = with_directories("spread", &["x", "y", "z"]);
    let how = "--name=j --directory=x:y:z --nrfiles=5 --size=40k --numjobs=2 --verify=crc32c --do_verify=0";
    let written = run(&scratch, &format!("{how} --rw=write --directory_per=file"));
    assert_eq!(written.code, Some(0), "{}", written.all());
    let found = ["x", "y", "z"].map(|directory| files_in(&scratch, directory));
    assert_eq!(found, ["j.0.0 j.0.3 j.1.0 j.1.3", "j.0.1 j.0.4 j.1.1 j.1.4", "j.0.2 j.1.2"]);
    // A later job finds each file where it is, and what was written in it.
    let read = run(&scratch, &format!("{how} --rw=read --directory_per=file --allow_file_create=0"));
    assert_eq!(read.code, Some(0), "{}", read.all());
    assert!(read.stdout.contains("issued rwts: total=10,0,0,0"), "{}", read.all());
    // Without the option the files of the second clone are all in the second directory, as in fio.
    let together = run(&scratch, "--name=k --directory=x:y:z --nrfiles=2 --size=8k --numjobs=2 --rw=write");
    assert_eq!(together.code, Some(0), "{}", together.all());
    assert!(files_in(&scratch, "x").ends_with("k.0.0 k.0.1") && files_in(&scratch, "y").ends_with("k.1.0 k.1.1"));
}

/// Nothing is made in any directory if a file in one of them is none that a job can use.
#[test]
fn all_files_are_looked_at_before_one_is_made() {
    let scratch = with_directories("spread-safe", &["x", "y/j.0.1"]);
    let failed = run(&scratch, "--name=j --directory=x:y --directory_per=file --nrfiles=4 --size=16k --rw=write");
    assert_ne!(failed.code, Some(0), "{}", failed.all());
    assert_eq!((files_in(&scratch, "x"), files_in(&scratch, "y")), (String::new(), "j.0.1".to_owned()));
}

/// A report must not replace a file of a job, in whichever directory it is.
#[test]
fn no_output_replaces_a_file_that_is_spread() {
    let scratch = with_directories("spread-output", &["x", "y"]);
    scratch.write("y/j.0.1", [7; 8192]);
    let how = "--name=j --directory=x:y --directory_per=file --nrfiles=2 --size=16k --rw=read --output=y/j.0.1";
    let refused = run(&scratch, how);
    assert_ne!(refused.code, Some(0), "{}", refused.all());
    assert!(std::fs::read(scratch.join("y/j.0.1")).expect("the file") == [7; 8192]);
}

#[test]
fn the_files_of_several_trees_are_used() {
    let scratch = with_directories("trees", &["a/sub", "b", "c:d", "none"]);
    for name in ["a/one", "a/sub/two", "b/three", "c:d/four"] {
        scratch.write(name, [0; 8192]);
    }
    let ios = |options: &str| {
        let read = run(&scratch, &format!("--name=r --rw=read {options}"));
        assert_eq!(read.code, Some(0), "{options}: {}", read.all());
        let line = read.stdout.lines().find(|line| line.contains("issued rwts")).expect("a count").to_owned();
        line.split("total=").nth(1).and_then(|rest| rest.split(',').next()).and_then(|n| n.parse().ok()).unwrap_or(0)
    };
    // Two blocks a file.
    let counts: [u64; 6] = [
        ios("--opendir=a:b"),
        ios("--opendir=a:none:b"),
        ios(r"--opendir=a:c\:d"),
        ios("--opendir=c:d"),
        ios("--opendir=a --opendir=b"),
        ios("--opendir=b --filename=a/one"),
    ];
    assert_eq!(counts, [6, 6, 6, 2, 6, 4]);
    let absent = run(&scratch, "--name=r --rw=read --opendir=a:absent:b");
    assert_eq!(absent.code, Some(1), "{}", absent.all());
    assert!(absent.all().contains("absent is not a directory"), "{}", absent.all());
    let empty = run(&scratch, "--name=r --rw=read --opendir=none:none");
    assert!(empty.all().contains("opendir: no regular file is there"), "{}", empty.all());
}

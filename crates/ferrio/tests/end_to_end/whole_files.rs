//! Jobs whose I/Os are whole files (`whole_files`), on files and on objects.
//!
//! Start reading at any test.

use crate::support::{Program, Run, Scratch};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Sizes of the files of a directory, by name.
fn sizes(directory: &Path) -> BTreeMap<String, u64> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    entries
        .map(|entry| {
            let entry = entry.expect("an entry");
            let size = entry.metadata().expect("a size").len();
            (entry.file_name().to_string_lossy().into_owned(), size)
        })
        .collect()
}

fn run(scratch: &Scratch, options: &str) -> crate::support::Finished {
    let common =
        "--name=t --directory=files --filename_format=f.$filenum --thread --whole_files=1 --output-format=json";
    Run::new(Program::Ferrio, scratch.path(), &format!("{common} {options}")).finish()
}

/// A number of the job in a document.
fn figure(finished: &crate::support::Finished, path: &str) -> u64 {
    let begin = finished.stdout.find("{\n").unwrap_or_else(|| panic!("no document: {}", finished.all()));
    let document: Value = serde_json::from_str(&finished.stdout[begin..]).expect("JSON");
    document["jobs"][0].pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path}: {}", finished.stdout))
}

/// The shares of sizes are those that were asked for, and the sizes are found again by another job, whatever its order.
#[test]
fn files_are_written_and_read_as_wholes() {
    let scratch = Scratch::new("whole");
    std::fs::create_dir(scratch.path().join("files")).expect("a directory");
    let how = "--nrfiles=400 --filesize_split=4k/50:12k/30:64k/20 --verify=crc32c";
    let written = run(&scratch, &format!("{how} --rw=write --do_verify=0"));
    assert_eq!(written.code, Some(0), "{}", written.all());
    assert_eq!(figure(&written, "/write/total_ios"), 400);
    let sizes = sizes(&scratch.path().join("files"));
    let sum: u64 = sizes.values().sum();
    assert_eq!((sizes.len(), figure(&written, "/write/io_bytes")), (400, sum));
    let count = |size: u64| sizes.values().filter(|other| **other == size).count();
    let counts = [count(4096), count(12_288), count(65_536)];
    assert_eq!(counts.iter().sum::<usize>(), 400);
    // Five times the standard deviation of a binomial distribution: 50, 45.8 and 40.
    assert!((150..=250).contains(&counts[0]) && (74..=166).contains(&counts[1]) && (40..=120).contains(&counts[2]));
    for options in ["--rw=randread", "--rw=read --ioengine=io_uring --iodepth=8 --openfiles=20", "--rw=read --direct=1"]
    {
        let read = run(&scratch, &format!("{how} {options}"));
        assert_eq!(read.code, Some(0), "{options}: {}", read.all());
        let found =
            (figure(&read, "/read/total_ios"), figure(&read, "/read/io_bytes"), figure(&read, "/read/short_ios"));
        assert_eq!(found, (400, sum, 0), "{options}");
    }
}

#[test]
fn passes_limits_and_mixes_count_files() {
    let scratch = Scratch::new("whole");
    std::fs::create_dir(scratch.path().join("files")).expect("a directory");
    let how = "--nrfiles=10 --filesize=4k-40k";
    let twice = run(&scratch, &format!("{how} --rw=write --loops=2 --fsync=1"));
    assert_eq!(twice.code, Some(0), "{}", twice.all());
    let sum: u64 = sizes(&scratch.path().join("files")).values().sum();
    assert_eq!((figure(&twice, "/write/total_ios"), figure(&twice, "/write/io_bytes")), (20, 2 * sum));
    assert_eq!(figure(&twice, "/sync/total_ios"), 20);
    // A verified job goes on with further passes too; what it reads back counts for io_size, as in fio.
    let again = run(&scratch, &format!("{how} --rw=write --verify=crc32c --verify_state_save=0 --io_size={}", 4 * sum));
    assert_eq!(again.code, Some(0), "{}", again.all());
    let found = (figure(&again, "/write/total_ios"), figure(&again, "/read/total_ios"));
    assert_eq!(found, (20, 20));
    let some = run(&scratch, &format!("{how} --rw=randread --number_ios=7"));
    assert_eq!(figure(&some, "/read/total_ios"), 7, "{}", some.all());
    let often = run(&scratch, &format!("{how} --rw=read --file_service_type=zipf --io_size=1m"));
    assert!(figure(&often, "/read/io_bytes") >= 1 << 20, "{}", often.all());
    let mixed = run(&scratch, &format!("{how} --rw=randrw --loops=30"));
    let (reads, writes) = (figure(&mixed, "/read/total_ios"), figure(&mixed, "/write/total_ios"));
    assert!(reads + writes == 300 && reads > 50 && writes > 50, "{reads} {writes}");
    // A size is shared by the files.
    let shared = run(&scratch, "--nrfiles=4 --size=64k --rw=write --unlink=1");
    assert_eq!((figure(&shared, "/write/total_ios"), figure(&shared, "/write/io_bytes")), (4, 65_536));
}

#[test]
fn options_about_parts_are_refused() {
    let scratch = Scratch::new("whole");
    std::fs::create_dir(scratch.path().join("files")).expect("a directory");
    for (options, why) in [
        ("--rw=write", "whole_files=1 needs filesize, filesize_split or a size in bytes"),
        ("--rw=write --filesize=2g", "a file of 2147483648 bytes is more than an I/O may have"),
        ("--rw=trimwrite --filesize=4k", "whole_files=1 and rw=trimwrite are not compatible"),
        ("--rw=write --filesize=4k --bssplit=4k/50:8k/50", "whole_files=1 and bssplit are not compatible"),
        ("--rw=write --filesize=4k --bs=8k", "whole_files=1 and bs are not compatible"),
        ("--rw=write --filesize=4k --offset=4k", "whole_files=1 and offset are not compatible"),
        ("--rw=write --filesize_split=4k/50:1m/50 --filesize=4k", "filesize and filesize_split are not compatible"),
        ("--rw=write --filesize_split=4k/60:8k/x", "split conversion failed"),
    ] {
        let refused = run(&scratch, options);
        assert!(refused.code == Some(1) && refused.all().contains(why), "{options}: {}", refused.all());
    }
}

/// Files of 0 bytes are opened, read or written, and closed like the others.
#[test]
fn files_may_be_empty() {
    let scratch = Scratch::new("whole");
    std::fs::create_dir(scratch.path().join("files")).expect("a directory");
    let how = "--nrfiles=40 --filesize_split=0/50:4k/50";
    for engine in ["psync", "libaio --iodepth=4"] {
        for (kind, rw) in [("write", "write"), ("read", "read"), ("read", "randread")] {
            let done = run(&scratch, &format!("{how} --rw={rw} --ioengine={engine}"));
            assert_eq!(done.code, Some(0), "{engine} {rw}: {}", done.all());
            let sizes: Vec<u64> = sizes(&scratch.path().join("files")).into_values().collect();
            let n_empty = sizes.iter().filter(|bytes| **bytes == 0).count() as u64;
            assert!(n_empty > 0 && n_empty < 40, "{sizes:?}");
            let figures = ["total_ios", "io_bytes"].map(|key| figure(&done, &format!("/{kind}/{key}")));
            assert_eq!(figures, [40, (40 - n_empty) * 4096], "{engine} {rw}: {}", done.all());
        }
    }
    for options in ["--filesize_split=0/50:4k/50 --whole_files=0", "--filesize_split=0"] {
        let refused = run(&scratch, options);
        assert!(refused.code == Some(1) && refused.all().contains("files of 0 bytes need"), "{}", refused.all());
    }
}

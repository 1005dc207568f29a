//! `ferrio verify --after-crash`: journals of real runs, of which some are killed, and files that are damaged by hand.
//!
//! Start reading at [`damaged_blocks_are_found_and_no_others`].

use crate::support::{Finished, Program, Run, Scratch, send};
use rustix::process::Signal;

const JOB: &str =
    "--name=a --filename=f --size=64k --bs=4k --verify=crc32c --verify_crash_log=journal --verify_state_save=0";
const BLOCK: usize = 4096;

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

/// Writes 16 blocks, of which `more` says how they are synced.
fn written(test: &str, more: &str) -> Scratch {
    let scratch = Scratch::new(test);
    let finished = run(&scratch, &format!("{JOB} {more}"));
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{more}");
    scratch
}

fn check(scratch: &Scratch, more: &str) -> Finished {
    run(scratch, &format!("verify --after-crash {JOB} {more}"))
}

fn has(finished: &Finished, lines: &[&str]) {
    for line in lines {
        assert!(finished.stdout.contains(&format!("{line}\n")), "{line}: {}", finished.all());
    }
}

#[test]
fn what_is_whole_is_there() {
    for more in [
        "--rw=write",
        "--rw=write --do_verify=0 --end_fsync=1",
        "--rw=randwrite --fsync=4 --loops=3",
        "--rw=randrw --fdatasync=2 --ioengine=libaio --iodepth=8",
        "--rw=randwrite --norandommap --ioengine=io_uring --iodepth=8 --fsync=5 --io_size=256k",
        "--rw=write --sync=dsync --verify_interval=1k --verify_offset=200",
    ] {
        let scratch = written("whole-crash", more);
        let before = std::fs::read(scratch.join("f")).expect("the file");
        let checked = check(&scratch, more);
        assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{more}: {}", checked.stdout);
        has(&checked, &["  lost before the last sync: 0", "  torn: 0", "  lost after the last sync (allowed): 0"]);
        assert!(std::fs::read(scratch.join("f")).expect("the file") == before, "{more}: nothing is changed");
    }
}

#[test]
fn damaged_blocks_are_found_and_no_others() {
    let more = "--rw=write --do_verify=0 --end_fsync=1";
    let scratch = written("damaged-crash", more);
    let mut data = std::fs::read(scratch.join("f")).expect("the file");
    data[3 * BLOCK..4 * BLOCK].fill(0);
    data[5 * BLOCK + 700] ^= 0x10;
    data.copy_within(8 * BLOCK..9 * BLOCK, 7 * BLOCK);
    data[10 * BLOCK + 1024..11 * BLOCK].fill(9);
    scratch.write("f", &data);
    let checked = check(&scratch, more);
    let name = scratch.join("f").display().to_string();
    let expected = [
        "12288: lost: write 3 was synced, and none is there",
        "20480: torn: 1 of 8 atomic units are of no write that may be there",
        "28672: lost: write 7 was synced, and none is there",
        "40960: torn: 6 of 8 atomic units are of no write that may be there",
    ];
    let expected = expected.map(|line| format!("ferrio verify: {name} offset {line}\n")).concat();
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(1), expected.as_str()));
    has(&checked, &["  there: 12", "  torn: 2", "  lost before the last sync: 2"]);
    // The larger the unit, the less may be of it.
    let larger = check(&scratch, &format!("{more} --atomic-unit=4096"));
    assert!(larger.stderr.contains("20480: torn: 1 of 1 atomic units"), "{}", larger.stderr);
    let missing = std::fs::remove_file(scratch.join("f")).map(|()| check(&scratch, more)).expect("the file is gone");
    assert_eq!(missing.code, Some(1));
    has(&missing, &["  unreadable: 16"]);
}

/// The job syncs after 4, 8 and 12 writes; later writes may be lost, or torn at sectors.
#[test]
fn what_was_not_synced_may_be_lost() {
    let more = "--rw=write --do_verify=0 --fsync=4";
    let scratch = written("lost-crash", more);
    let whole = std::fs::read(scratch.join("f")).expect("the file");
    let mut data = whole.clone();
    data[13 * BLOCK..14 * BLOCK].fill(0);
    data[14 * BLOCK + 512..15 * BLOCK].fill(0);
    scratch.write("f", &data[..15 * BLOCK]);
    let checked = check(&scratch, more);
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{}", checked.stdout);
    has(
        &checked,
        &[
            "a: 16 writes issued, 16 acknowledged, 12 of them before the last completed sync",
            "  there: 13",
            "  lost after the last sync (allowed): 2",
            "  of several writes (allowed): 1",
        ],
    );
    // Torn within a sector, and where the device writes more as a whole.
    assert_eq!(check(&scratch, &format!("{more} --atomic-unit=1024")).code, Some(1));
    data[14 * BLOCK + 512..14 * BLOCK + 600].copy_from_slice(&whole[14 * BLOCK + 512..14 * BLOCK + 600]);
    scratch.write("f", &data);
    let torn = check(&scratch, more);
    assert_eq!(torn.code, Some(1));
    assert!(torn.stderr.contains("torn: 1 of 8 atomic units"), "{}", torn.stderr);
}

/// Places come from a trace; the writes before its syncs must be there.
#[test]
fn traces_are_judged() {
    let scratch = Scratch::new("trace-crash");
    let trace = |writes: &[(u64, u64)], others: &str| {
        let lines: Vec<String> = writes.iter().map(|(offset, length)| format!("f write {offset} {length}\n")).collect();
        let (first, later) = lines.split_at(lines.len() / 2);
        let (first, later) = (first.concat(), later.concat());
        let text = format!("fio version 2 iolog\nf add\nf open\n{first}f sync 0 0\n{later}{others}f close\n");
        scratch.write("t", text);
    };
    let blocks: Vec<(u64, u64)> = (0..8).map(|block| (block * 3 % 8 * 8192, 8192)).collect();
    trace(&blocks, "f read 0 4096\n");
    let more = "--read_iolog=t";
    let job = JOB.replace("--filename=f --size=64k --bs=4k", more);
    let written = run(&scratch, &format!("{job} --do_verify=0"));
    assert_eq!((written.code, written.stderr.as_str()), (Some(0), ""));
    let check = || run(&scratch, &format!("verify --after-crash {job}"));
    let whole = check();
    assert_eq!((whole.code, whole.stderr.as_str()), (Some(0), ""), "{}", whole.stdout);
    has(&whole, &["a: 8 writes issued, 8 acknowledged, 4 of them before the last completed sync", "  there: 8"]);
    // The second was synced, the sixth was not.
    let mut data = std::fs::read(scratch.join("f")).expect("the file");
    data[24576..32768].fill(0);
    data[57344..65536].fill(0);
    scratch.write("f", &data);
    let damaged = check();
    assert_eq!(damaged.code, Some(1));
    let name = scratch.join("f").display().to_string();
    let line = format!("ferrio verify: {name} offset 24576: lost: write 1 was synced, and none is there\n");
    assert_eq!(damaged.stderr, line);
    has(&damaged, &["  there: 6", "  lost after the last sync (allowed): 1", "  lost before the last sync: 1"]);
    for (writes, others, message) in [
        (&[(0, 4096), (4096, 8192)][..], "", "may lie over parts of others"),
        (&[(0, 4096), (2048, 4096)], "", "may lie over parts of others"),
        (&[(0, 4096), (4096, 4096)], "f trim 0 4096\n", "what is trimmed is not judged"),
        (&[], "f read 0 4096\n", "the trace writes nothing"),
    ] {
        trace(writes, others);
        let refused = run(&scratch, &job);
        assert_eq!(refused.code, Some(1), "{message}: {}", refused.all());
        assert!(refused.stderr.contains(message), "{message}: {}", refused.stderr);
    }
}

/// If two jobs wrote to one part of a file, neither knows the other's writes.
#[test]
fn jobs_need_parts_of_their_own() {
    let more = "--rw=randwrite --do_verify=0 --end_fsync=1 --numjobs=2";
    let scratch = written("shared-crash", more);
    let shared = check(&scratch, more);
    assert_eq!(shared.code, Some(2));
    assert!(shared.stderr.contains("journal.1: the job of journal.0 wrote to the same part of"), "{}", shared.stderr);
    let apart = format!("{more} --offset_increment=64k");
    assert_eq!(run(&scratch, &format!("{JOB} {apart}")).code, Some(0));
    let checked = check(&scratch, &apart);
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{}", checked.stdout);
}

/// If memory holds only a part of the blocks, the journal is read again for the others, with the same result.
#[test]
fn memory_is_bounded() {
    let more = "--rw=randwrite --do_verify=0 --end_fsync=1 --size=5m --bs=512";
    let scratch = written("memory-crash", more);
    let mut data = std::fs::read(scratch.join("f")).expect("the file");
    for block in [0, 5000, 10239] {
        data[block * 512..(block + 1) * 512].fill(0);
    }
    scratch.write("f", &data);
    let [whole, parts] = ["", "--memory=1"].map(|memory| check(&scratch, &format!("{more} {memory}")));
    assert_eq!((whole.code, parts.code, &whole.stderr), (Some(1), Some(1), &parts.stderr));
    assert_eq!(whole.stderr.lines().count(), 3, "{}", whole.stderr);
    let split = |finished: &Finished| {
        let is_memory = |line: &&str| line.contains("memory for them");
        let (memory, others): (Vec<&str>, Vec<&str>) = finished.stdout.lines().partition(is_memory);
        (memory.concat(), others.join("\n"))
    };
    let ((all, of_whole), (some, of_parts)) = (split(&whole), split(&parts));
    assert_eq!(of_whole, of_parts);
    assert!(all.ends_with("the journal read 1 times") && !some.ends_with("the journal read 1 times"), "{all} {some}");
    let n_bytes = |line: &str| line.split_whitespace().find_map(|word| word.parse::<u64>().ok());
    assert!(n_bytes(&some) <= Some(1 << 20) && n_bytes(&all) > Some(1 << 20), "{all} {some}");
}

/// A job whose every write is durable: each is in the journal when the next begins.
#[test]
fn writes_that_need_no_sync_are_in_the_journal_at_once() {
    for more in ["--rw=write --sync=dsync", "--rw=randwrite --sync=sync --ioengine=libaio --iodepth=4"] {
        let scratch = Scratch::new("durable-crash");
        let arguments = format!("{JOB} {more} --do_verify=0 --number_ios=8 --thinktime=1h --thinktime_blocks=8");
        let mut running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
        running.wait_until("the journal has all writes", |_| {
            run(&scratch, &format!("verify --after-crash {JOB} {more}")).stdout.contains("8 acknowledged, 8 of them")
        });
        for pid in running.jobs() {
            send(pid, Signal::KILL);
        }
        running.finish();
    }
    let scratch = Scratch::new("empty-crash");
    let none = "--rw=write --thinktime=1h";
    let mut running = Run::new(Program::Ferrio, scratch.path(), &format!("{JOB} {none}")).start();
    let journal = scratch.join("journal");
    running.wait_until("the journal", |_| std::fs::metadata(&journal).is_ok_and(|file| file.len() > 0));
    for pid in running.jobs() {
        send(pid, Signal::KILL);
    }
    running.finish();
    has(&check(&scratch, none), &["  nothing is checked: the journal has no writes"]);
}

/// After a kill, the kernel still has the data that the job has written.
#[test]
fn a_killed_job_has_lost_nothing() {
    for depth in ["", "--ioengine=libaio --iodepth=8 --numjobs=2 --filename_format=f.$jobnum"] {
        let scratch = Scratch::new("killed-crash");
        let job = JOB.replace("--filename=f", if depth.is_empty() { "--filename=f" } else { "" });
        let arguments = format!("{job} --rw=randwrite --size=1m --fsync=7 --time_based --runtime=100000 {depth}");
        let mut running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
        let journal = scratch.join(if depth.is_empty() { "journal" } else { "journal.1" });
        running.wait_until("many records", |_| std::fs::metadata(&journal).is_ok_and(|file| file.len() > 100_000));
        for pid in running.jobs() {
            send(pid, Signal::KILL);
        }
        running.finish();
        let checked = run(&scratch, &format!("verify --after-crash {arguments}"));
        assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""), "{}", checked.stdout);
        has(&checked, &["  lost before the last sync: 0", "  torn: 0", "  unreadable: 0"]);
        assert!(!checked.stdout.contains(", 0 of them before"), "{}", checked.stdout);
    }
}

#[test]
fn journals_that_are_none_are_refused() {
    let more = "--rw=write";
    let scratch = written("bad-journal", more);
    let journal = std::fs::read(scratch.join("journal")).expect("the journal");
    for (bytes, message) in [
        (Vec::new(), "it is no crash journal"),
        (vec![7; 5000], "it is no crash journal of this version"),
        (journal[..60].to_vec(), "its first part is damaged"),
    ] {
        scratch.write("journal", bytes);
        let checked = check(&scratch, more);
        assert_eq!(checked.code, Some(2));
        assert!(checked.stderr.contains(message), "{}", checked.stderr);
    }
    // A journal that was cut, as by a crash, says less.
    scratch.write("journal", &journal[..journal.len() - 100]);
    let cut = check(&scratch, more);
    assert_eq!((cut.code, cut.stderr.as_str()), (Some(0), ""));
    has(&cut, &["  the journal ends with 44 bytes of no record"]);
    std::fs::remove_file(scratch.join("journal")).expect("it was there");
    assert!(check(&scratch, more).stderr.contains("verify_crash_log journal: No such file"));
}

#[test]
fn what_cannot_be_judged_is_refused() {
    let scratch = Scratch::new("refused-crash");
    for (more, message) in [
        ("--rw=read", "the job must write"),
        ("--rw=trimwrite", "trim nothing"),
        ("--rw=write --verify=null", "keeps no header"),
        ("--rw=write --verify_pattern=7", "cannot be told from older ones"),
        ("--rw=write --verify_header_layout=3.33", "cannot tell the writes apart"),
        ("--rw=randwrite --bsrange=4k-8k", "one block size"),
        ("--rw=randwrite --ba=512", "one block size"),
        ("--rw=write:1k", "one block size"),
        ("--rw=write --verify=0", "verify_crash_log needs verify"),
        ("--rw=write --verify_crash_log=f", "is a file of the job itself"),
        ("--rw=write --ioengine=null", "engine null keeps nothing"),
    ] {
        let finished = run(&scratch, &format!("{JOB} {more}"));
        assert_eq!(finished.code, Some(1), "{more}");
        assert!(finished.stderr.contains(message), "{more}: {}", finished.stderr);
    }
    for arguments in [
        "verify",
        "verify --after-crash",
        "verify --after-crash --atomic-unit=100 x",
        "verify --after-crash --memory=0 x",
    ] {
        let finished = run(&scratch, arguments);
        assert_eq!(finished.code, Some(2));
        assert!(finished.stderr.contains("Usage: ferrio verify [OPTIONS] --after-crash"), "{}", finished.stderr);
    }
    let without = run(&scratch, "verify --after-crash --name=a --size=4k");
    assert_eq!((without.code, without.stderr.as_str()), (Some(2), "ferrio verify: no job has a verify_crash_log\n"));
}

/// What happens to a journal.
type Damage<'a> = &'a dyn Fn(&mut Vec<u8>);

/// Records behind damaged ones are not left out in silence.
#[test]
fn a_journal_that_is_damaged_before_its_end_is_refused() {
    let more = "--rw=write --do_verify=0 --fsync=4";
    let scratch = written("damaged-journal", more);
    let journal = std::fs::read(scratch.join("journal")).expect("the journal");
    let start = 16 + u32::from_le_bytes(journal[8..12].try_into().expect("four bytes")) as usize;
    let n_records = (journal.len() - start) / 48;
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut journal = journal.clone();
        change(&mut journal);
        scratch.write("journal", journal);
        check(&scratch, more)
    };
    for record in [0, 1, 17, n_records - 2, n_records - 1] {
        let offset = start + record * 48;
        let flipped = changed(&|journal| journal[offset + 20] ^= 0x10);
        assert_eq!(flipped.code, Some(2), "{record}: {}", flipped.all());
        assert!(flipped.stderr.contains(&format!("it is damaged at byte {offset}")), "{}", flipped.all());
    }
    let last = start + (n_records - 1) * 48;
    let cases: [(&str, Damage<'_>); 4] = [
        ("bytes are missing", &|journal| drop(journal.drain(start + 500..start + 510))),
        ("a part is of zeroes", &|journal| journal[start + 96..start + 480].fill(0)),
        ("damage before a torn end", &|journal| {
            journal[last - 30] ^= 1;
            journal.truncate(last + 20);
        }),
        ("a whole record is behind", &|journal| journal.extend([7; 48])),
    ];
    for (what, change) in cases {
        let refused = changed(change);
        assert_eq!(refused.code, Some(2), "{what}: {}", refused.all());
        assert!(refused.stderr.contains("it is damaged at byte"), "{what}: {}", refused.all());
    }
    for (what, n_bytes) in [("a part of a record", last + 20), ("nothing of a record", last)] {
        let torn = changed(&|journal| {
            journal.truncate(n_bytes);
            journal.resize(n_bytes + usize::from(n_bytes == last) * 4096, 0);
        });
        assert_eq!(torn.code, Some(0), "{what}: {}", torn.all());
    }
}

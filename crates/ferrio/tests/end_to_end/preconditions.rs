//! `ferrio precondition`: all of a target is overwritten (or read), then rounds of a load until they are steady; what must not be destroyed is refused.
//!
//! Start reading at [`all_of_the_target_is_written_and_rounds_become_steady`].

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, has_programs, is_root, send, skip, tool, unmount};
use rustix::process::Signal;
use serde_json::Value;

const SIZE: usize = (5 << 20) + 4_096;
/// Rounds that a busy machine carries too: 50 I/Os each.
const ROUNDS: &str = "--round=250ms --rate_iops=200 --bs=4k";

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

/// A file whose blocks are all of one byte, with some bytes behind the last block.
fn target(scratch: &Scratch) {
    std::fs::write(scratch.join("disk.img"), vec![0xA5; SIZE + 100]).expect("written");
}

fn content(scratch: &Scratch) -> Vec<u8> {
    std::fs::read(scratch.join("disk.img")).expect("read")
}

fn progress(scratch: &Scratch) -> Value {
    std::fs::read(scratch.join("f/progress.json"))
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default()
}

#[test]
fn all_of_the_target_is_written_and_rounds_become_steady() {
    let scratch = Scratch::new("precondition");
    target(&scratch);
    let finished =
        run(&scratch, &format!("precondition disk.img --yes --json --folder=f --rounds=60 {ROUNDS}")).succeeded();
    let document: Value =
        serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {}", finished.all()));
    assert_eq!(document["is_steady"], true);
    assert_eq!(document["progress"]["pass_bytes"], 2 * SIZE);
    let rounds = document["progress"]["rounds"].as_array().cloned().unwrap_or_default();
    let last = rounds.last().cloned().unwrap_or_default();
    // What is steady is checked with the figures of the rounds themselves.
    let rates: Vec<f64> = rounds[rounds.len() - 5..].iter().filter_map(|round| round["ios_per_sec"].as_f64()).collect();
    let mean = rates.iter().sum::<f64>() / 5.0;
    let range = 100.0
        * (rates.iter().copied().fold(f64::MIN, f64::max) - rates.iter().copied().fold(f64::MAX, f64::min))
        / mean;
    assert!(
        (last["window"]["range_percent"].as_f64().unwrap_or(f64::NAN) - range).abs() < 1e-6 && range <= 20.0,
        "{rounds:?}"
    );
    // Every block is another than before, those of the last one too, and what lies behind the last block is as it was.
    let content = content(&scratch);
    let (blocks, rest) = content.split_at(SIZE);
    assert!(blocks.chunks(512).all(|block| block.iter().any(|byte| *byte != 0xA5)));
    assert_eq!(rest, [0xA5; 100]);
    let report = run(&scratch, &format!("report f/rounds/round-{:03}.record", rounds.len())).succeeded();
    assert!(report.stdout.contains("load"), "{}", report.all());
    // Work that is done stays done.
    let again = run(&scratch, "precondition --resume f").succeeded();
    assert!(again.stdout.contains("Steady in rounds"), "{}", again.all());
    assert_eq!(progress(&scratch)["rounds"].as_array().map(Vec::len), Some(rounds.len()));
}

#[test]
fn too_few_rounds_are_not_steady() {
    let scratch = Scratch::new("precondition");
    target(&scratch);
    let finished = run(&scratch, &format!("precondition disk.img --yes --passes=0 --rounds=4 {ROUNDS}"));
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(finished.stdout.contains("Not steady after 4 rounds"), "{}", finished.all());
    assert!(scratch.join("disk.img.precondition/rounds/round-004.record").exists());
}

#[test]
fn reading_destroys_nothing() {
    let scratch = Scratch::new("precondition");
    target(&scratch);
    let finished = run(&scratch, "precondition disk.img --read --rounds=0 --folder=f").succeeded();
    assert!(finished.stdout.contains("Done: 5 MiB were moved"), "{}", finished.all());
    assert_eq!(progress(&scratch)["pass_bytes"], SIZE);
    let refused = run(&scratch, "precondition disk.img --read --rw=randrw");
    assert!(refused.code == Some(2) && refused.stderr.contains("the load may only read"), "{}", refused.all());
    assert!(content(&scratch).iter().all(|byte| *byte == 0xA5));
}

/// In an option of a job, a colon would separate two names, and a backslash take its meaning away.
#[test]
fn names_are_taken_as_they_are() {
    let scratch = Scratch::new("precondition");
    let name = r"a:b\c:.img";
    std::fs::write(scratch.join(name), vec![0xA5; 1 << 20]).expect("written");
    run(&scratch, &format!("precondition {name} --yes --passes=1 --rounds=1 {ROUNDS} --folder=f"));
    let content = std::fs::read(scratch.join(name)).expect("read");
    assert!(content.chunks(512).all(|block| block.iter().any(|byte| *byte != 0xA5)));
    assert_eq!(scratch.names(), [name, "f"]);
}

#[test]
fn what_is_not_meant_is_refused_and_stays_as_it_is() {
    let scratch = Scratch::new("precondition");
    target(&scratch);
    scratch.write("load.fio", "[a]\nrw=randwrite\n");
    for (arguments, reason) in [
        ("disk.img", "give --yes if that is meant"),
        ("none.img --yes", "No such file"),
        (". --yes", "it is a directory"),
        ("/dev/null --yes", "neither a block device nor a file"),
        ("--yes --bs=4k", "the first word is the device"),
        ("disk.img --yes --rounds=many", "no number from 0"),
        ("disk.img --yes --passes=101", "no number from 0"),
        ("disk.img --yes --round=1ms", "at least 100 ms"),
        ("disk.img --yes --runtime=10", "--round is the time of a round"),
        ("disk.img --yes --filename=other", "the target is the first word"),
        ("disk.img --yes --opendir=.", "names another target"),
        ("disk.img --yes --nrfiles=2", "names another target"),
        ("disk.img --yes --unlink=1", "made or removed"),
        ("disk.img --yes --ioengine=net --hostname=localhost", "names another target"),
        ("disk.img --yes --allow_mounted_write=1", "never written to here"),
        ("disk.img --yes --iodpeth=4", "iodpeth"),
        ("disk.img --yes load.fio", "options of one job"),
        ("disk.img --yes --output=x", "--output has no effect here"),
        ("--resume=none", "holds no preconditioning"),
        ("--resume=none disk.img", "has no effect"),
    ] {
        let refused = run(&scratch, &format!("precondition {arguments}"));
        assert_eq!(refused.code, Some(2), "{arguments}: {}", refused.all());
        assert!(refused.stderr.contains(reason), "{arguments}: {}", refused.all());
        assert_eq!(scratch.names(), ["disk.img", "load.fio"], "{arguments}");
    }
    let plan = run(&scratch, "precondition disk.img --plan --bs=8k").succeeded();
    assert!(plan.stdout.contains("written twice: 10") && plan.stdout.contains("(--bs=8k)"), "{}", plan.all());
    assert!(content(&scratch).iter().all(|byte| *byte == 0xA5));
}

#[test]
fn devices_and_files_in_use_are_refused() {
    let test = "devices_and_files_in_use_are_refused";
    if !is_root(test) || !has_programs(test, &["losetup", "mkfs.ext4", "mount", "umount"]) {
        return;
    }
    let scratch = Scratch::new("precondition");
    let Some(device) = LoopDevice::new(&scratch, 32 << 20) else {
        return skip(test, "no loop device can be set up");
    };
    tool(&format!("mkfs.ext4 -q {}", device.path())).expect("a file system");
    let asked = run(&scratch, &format!("precondition {}", device.path()));
    assert!(
        asked.code == Some(2) && asked.stderr.contains("it holds an ext2, ext3 or ext4 file system"),
        "{}",
        asked.all()
    );
    let directory = scratch.join("mnt");
    std::fs::create_dir(&directory).expect("a directory");
    tool(&format!("mount {} {}", device.path(), directory.display())).expect("mounted");
    let refused = run(&scratch, &format!("precondition {} --yes", device.path()));
    let unmounted = unmount(&directory);
    assert!(refused.code == Some(2) && refused.stderr.contains("it is mounted on"), "{}", refused.all());
    unmounted.expect("unmounted");
    // The file below the device is in use as well.
    let file = tool(&format!("losetup --noheadings --output BACK-FILE {}", device.path())).expect("its file");
    let refused = run(&scratch, &format!("precondition {} --yes", file.trim()));
    assert!(refused.code == Some(2) && refused.stderr.contains("it is in use by loop"), "{}", refused.all());
    // Free, it is written to.
    let written =
        run(&scratch, &format!("precondition {} --yes --passes=1 --rounds=0 --folder=f", device.path())).succeeded();
    assert!(written.stdout.contains("Done: 32 MiB were moved"), "{}", written.all());
}

/// Passes that are done are not made again, and rounds before the kill do not count.
#[test]
fn work_that_was_killed_goes_on() {
    let scratch = Scratch::new("precondition");
    target(&scratch);
    let n_rounds = || progress(&scratch)["rounds"].as_array().map_or(0, Vec::len);
    let arguments = format!("precondition disk.img --yes --folder=f --rounds=60 {ROUNDS}");
    let mut running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
    running.wait_until("two rounds are made", |_| n_rounds() >= 2);
    send(running.pid(), Signal::KILL);
    running.finish();
    let before = n_rounds();
    assert!((2..5).contains(&before), "{before} rounds");
    let mut running = Run::new(Program::Ferrio, scratch.path(), "precondition --yes --resume=f").start();
    running.wait_until("a round is made", |_| n_rounds() > before);
    send(running.pid(), Signal::INT);
    let ended = running.finish();
    assert_eq!(ended.code, Some(130), "{}", ended.all());
    assert!(ended.stderr.contains("go on: ferrio precondition --resume f"), "{}", ended.all());
    let before = n_rounds();
    let finished = run(&scratch, "precondition --yes --resume=f").succeeded();
    let document = progress(&scratch);
    assert_eq!(
        (document["pass_bytes"].as_u64(), document["n_before"].as_u64()),
        (Some(2 * SIZE as u64), Some(before as u64))
    );
    assert!(n_rounds() >= before + 5, "{}", finished.all());
    assert!(finished.stdout.contains("Steady in rounds"), "{}", finished.all());
}

//! Traces that are replayed elsewhere in their files (`replay_offset`).
//!
//! Start reading at any test.

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, skip};

/// Writes of two blocks, and where a trace would put them without a move.
const WRITES: &str = "fio version 2 iolog\nf add\nf open\nf write 0 4096\nf write 8192 4096\nf close\n";
const READS: &str = "fio version 2 iolog\nf add\nf open\nf read 8192 4096\nf read 0 4096\nf close\n";

fn replay(scratch: &Scratch, options: &str) -> Finished {
    let common = "--name=j --ioengine=psync --thread --read_iolog=t --buffer_pattern=0x55";
    Run::new(Program::Ferrio, scratch.path(), &format!("{common} {options}")).finish()
}

/// Offsets in KiB of the blocks of 4 KiB that were written.
fn written(bytes: &[u8]) -> Vec<usize> {
    let blocks = bytes.chunks(4096).enumerate();
    blocks.filter(|(_, block)| block.iter().any(|byte| *byte != 0)).map(|(index, _)| index * 4).collect()
}

fn with_trace(test: &str, trace: &str) -> Scratch {
    let scratch = Scratch::new(test);
    scratch.write("t", trace);
    scratch.write("f", vec![0; 256 << 10]);
    scratch
}

#[test]
fn clones_replay_a_trace_in_different_places() {
    for (options, expected) in [
        ("", &[0, 8][..]),
        ("--offset_increment=64k", &[0, 8]),
        ("--replay_offset=32k", &[32, 40]),
        ("--replay_offset=32k --offset_increment=64k", &[32, 40, 96, 104]),
        ("--replay_offset=0 --offset_increment=64k --replay_scale=2", &[0, 4, 64, 68]),
        ("--replay_offset=64k --replay_redirect=f", &[64, 72]),
        // A file that the trace writes becomes longer.
        ("--replay_offset=252k", &[252, 260]),
    ] {
        let scratch = with_trace("moved", WRITES);
        let finished = replay(&scratch, &format!("--numjobs=2 {options}"));
        assert_eq!(finished.code, Some(0), "{options}: {}", finished.all());
        assert_eq!(written(&std::fs::read(scratch.join("f")).expect("the file")), expected, "{options}");
    }
}

/// What is verified is found where it was written.
#[test]
fn moved_writes_are_verified() {
    let scratch = with_trace("moved-verify", WRITES);
    let finished = replay(&scratch, "--replay_offset=64k --verify=crc32c");
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    assert!(finished.stdout.contains("issued rwts: total=2,2,0,0"), "{}", finished.all());
    assert_eq!(written(&std::fs::read(scratch.join("f")).expect("the file")), [64, 72]);
}

#[test]
fn a_trace_that_reads_beyond_the_end_is_refused() {
    let scratch = with_trace("moved-beyond", READS);
    let last = replay(&scratch, "--replay_offset=244k");
    assert_eq!(last.code, Some(0), "{}", last.all());
    assert!(last.stdout.contains("issued rwts: total=2,0,0,0 short=0,0,0"), "{}", last.all());
    for (options, end_bytes) in [
        ("--replay_offset=244k --offset_increment=4k --numjobs=2", 266_240),
        ("--replay_offset=1g", (1 << 30) + 12_288),
    ] {
        let refused = replay(&scratch, options);
        assert_eq!(refused.code, Some(1), "{options}: {}", refused.all());
        let told = format!(
            "t: line 4: with replay_offset an I/O ends at byte {end_bytes}, beyond the end of f (262144 bytes)"
        );
        assert!(refused.all().contains(&told), "{options}: {}", refused.all());
    }
}

#[test]
fn nothing_of_a_device_is_written_if_a_write_would_be_beyond_its_end() {
    let test = "nothing_of_a_device_is_written_if_a_write_would_be_beyond_its_end";
    let scratch = with_trace("moved-device", WRITES);
    let Some(device) = LoopDevice::new(&scratch, 1 << 20) else {
        skip(test, "no loop device");
        return;
    };
    let on_device = |options: &str| replay(&scratch, &format!("--replay_redirect={} {options}", device.path()));
    let refused = on_device("--replay_offset=1020k");
    assert_eq!(refused.code, Some(1), "{}", refused.all());
    assert!(refused.all().contains("t: line 5: with replay_offset an I/O ends at byte 1056768,"), "{}", refused.all());
    let contents = || std::fs::read(device.path()).expect("the device");
    assert_eq!(written(&contents()), [0_usize; 0]);
    let fits = on_device("--replay_offset=1012k --end_fsync=1");
    assert_eq!(fits.code, Some(0), "{}", fits.all());
    assert_eq!(written(&contents()), [1012, 1020]);
}

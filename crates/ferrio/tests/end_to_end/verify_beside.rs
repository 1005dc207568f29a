//! Verification together with other features: contents of buffers, traces, zones, several files and jobs, passes.
//! Undamaged runs raise no alarm, each program reads the other's data, and damage is found.
//!
//! Start reading at [`contents_are_those_of_the_peer`].

use crate::support::{Finished, Program, Run, Scratch, peer_too};

fn run(program: Program, scratch: &Scratch, arguments: &str) -> Finished {
    let fixed = "--name=v --verify_state_save=0 --randrepeat=0 --randseed=137";
    Run::new(program, scratch.path(), &format!("{fixed} {arguments}")).finish()
}

fn is_clean(finished: &Finished, what: &str) {
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{what}: {}", finished.all());
}

/// For each piece of 32 bytes: the byte that fills it, if all its bytes are equal.
fn constant_pieces(data: &[u8]) -> Vec<Option<u8>> {
    data.chunks(32).map(|piece| piece.iter().all(|byte| *byte == piece[0]).then_some(piece[0])).collect()
}

const BUFFERS: &[&str] = &[
    "--verify=crc32c --zero_buffers",
    "--verify=crc32c --buffer_pattern=0xab",
    "--verify=crc32c --buffer_compress_percentage=50",
    "--verify=md5 --buffer_compress_percentage=33 --buffer_compress_chunk=4k",
    "--verify=xxhash --buffer_compress_percentage=75 --buffer_pattern=0xab",
    "--verify=sha256 --buffer_compress_percentage=100",
    "--verify=crc64 --buffer_compress_percentage=90 --verify_interval=1k --verify_offset=300",
    "--verify=crc32c --dedupe_percentage=50",
    "--verify=crc32c --dedupe_percentage=50 --buffer_compress_percentage=50",
    "--verify=crc32c --buffer_compress_percentage=60 --ioengine=libaio --iodepth=8 --bs=16k",
    "--verify=meta --buffer_compress_percentage=50",
    "--verify=crc32c --verify_pattern=0xcd --zero_buffers --buffer_compress_percentage=50",
    "--verify=crc32c --refill_buffers --scramble_buffers=1",
    "--verify=null --zero_buffers",
    "--verify=null --buffer_pattern=0xab",
    "--verify=null --buffer_compress_percentage=50",
];

/// With verification, fio obeys only the compression options of buffers, over whole blocks; `null` changes nothing.
#[test]
fn contents_are_those_of_the_peer() {
    let peer = peer_too("contents_are_those_of_the_peer");
    let scratch = Scratch::new("verify-buffers");
    for options in BUFFERS {
        let job = format!("--filename=f --size=64k --bs=4k --rw=write {options}");
        is_clean(&run(Program::Ferrio, &scratch, &job), options);
        let ours = std::fs::read(scratch.join("f")).expect("the file");
        if !peer {
            continue;
        }
        let read = job.replace("--rw=write", "--rw=read");
        is_clean(&run(Program::Peer, &scratch, &read), options);
        is_clean(&run(Program::Peer, &scratch, &job), options);
        let peers = std::fs::read(scratch.join("f")).expect("the file");
        is_clean(&run(Program::Ferrio, &scratch, &read), options);
        assert_eq!(constant_pieces(&ours), constant_pieces(&peers), "{options}");
    }
}

/// Options of buffers with `verify=null`: the number of blocks (of 16) that fio 3.41 leaves different from the others,
/// and the first bytes of all blocks.
const UNCHECKED: &[(&str, usize, &[u8])] = &[
    ("", 1, &[]),
    ("--scramble_buffers=1", 1, &[]),
    ("--scramble_buffers=1 --buffer_compress_percentage=100", 1, &[0; 8]),
    ("--loops=2", 1, &[]),
    ("--verify_backlog=4", 1, &[]),
    ("--ioengine=libaio --iodepth=4", 4, &[]),
    ("--refill_buffers", 16, &[]),
    ("--buffer_compress_percentage=50", 16, &[]),
    ("--verify_pattern=0x123456", 1, &[0x12, 0x34, 0x56, 0x12]),
    ("--verify_pattern=0x1234%o", 1, &[0x12, 0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0x12]),
    ("--verify_pattern=0x1234 --zero_buffers", 1, &[0x12, 0x34, 0x12]),
    ("--verify_pattern=0x1234 --buffer_pattern=0xabcd", 1, &[0x12, 0x34, 0x12]),
    ("--verify_pattern=0x1234 --ioengine=libaio --iodepth=4", 1, &[0x12, 0x34, 0x12]),
    ("--verify_pattern=0x1234 --refill_buffers", 16, &[]),
];

/// A job that does not check its blocks writes the buffers' contents without stamps; with a pattern, that is their
/// initial content.
#[test]
fn unchecked_blocks_are_those_of_the_peer() {
    let peer = peer_too("unchecked_blocks_are_those_of_the_peer");
    let scratch = Scratch::new("verify-unchecked");
    for (options, n_different, begin) in UNCHECKED {
        for program in [Program::Ferrio, Program::Peer] {
            if program == Program::Peer && !peer {
                continue;
            }
            let job = format!("--filename=f --size=64k --bs=4k --rw=write --verify=null {options}");
            is_clean(&run(program, &scratch, &job), options);
            let data = std::fs::read(scratch.join("f")).expect("the file");
            let blocks: std::collections::BTreeSet<_> = data.chunks(4096).collect();
            assert_eq!(blocks.len(), *n_different, "{program:?} {options}");
            assert!(blocks.iter().all(|block| block.starts_with(begin)), "{program:?} {options}");
        }
    }
}

/// Traces of writes, and the options of a job with blocks of 4 KiB that verifies them.
const TRACES: &[(&[&str], &str)] = &[
    (&["write 0 4096", "write 4096 8192", "write 12288 16384", "sync 0 0"], "--bs=4k --size=28k"),
    (&["write 4096 4096", "write 0 4096", "write 0 4096"], "--bs=4k --size=8k"),
    (&["write 0 8192", "write 8192 8192", "write 4096 4096"], "--bs=4k --size=16k"),
    (&["write 0 512", "write 512 512"], "--bs=512 --size=1k"),
];

#[test]
fn traces_are_verified_as_by_the_peer() {
    let test = "traces_are_verified_as_by_the_peer";
    let peer = peer_too(test);
    let scratch = Scratch::new("verify-traces");
    for (steps, reader) in TRACES {
        let steps = steps.join("\nf ");
        scratch.write("trace", format!("fio version 2 iolog\nf add\nf open\nf {steps}\nf close\n"));
        for more in ["", "--verify_backlog=2", "--ioengine=libaio --iodepth=4", "--verify_interval=1k"] {
            if more.contains("interval") && steps.contains(" 512\nf ") {
                continue;
            }
            let replay = format!("--read_iolog=trace --verify=crc32c {more}");
            let interval = if more.contains("interval") { more } else { "" };
            let read = format!("--filename=f --rw=read --verify=crc32c {reader} {interval}");
            is_clean(&run(Program::Ferrio, &scratch, &replay), &replay);
            if peer {
                is_clean(&run(Program::Peer, &scratch, &read), &replay);
                let again = run(Program::Peer, &scratch, &replay);
                // For overlapping writes, fio 3.41 expects the number of the older one.
                let false_alarm =
                    steps.matches("write 0 4096").count() > 1 && again.stderr.contains("bad header numberio");
                if !false_alarm {
                    is_clean(&again, &replay);
                }
            }
            is_clean(&run(Program::Ferrio, &scratch, &read), &replay);
            is_clean(&run(Program::Ferrio, &scratch, &format!("{replay} --verify_only")), &replay);
            let mut damaged = std::fs::read(scratch.join("f")).expect("the file");
            let at = damaged.len() - 100;
            damaged[at] ^= 1;
            scratch.write("f", damaged);
            let found = run(Program::Ferrio, &scratch, &format!("{replay} --verify_only"));
            assert_eq!(found.code, Some(1), "{replay}");
            assert!(found.stderr.contains("1 bit is flipped"), "{}", found.stderr);
            std::fs::remove_file(scratch.join("f")).expect("it was there");
        }
    }
    // A trace that only reads has no numbers that a state could bound.
    scratch.write("trace", "fio version 2 iolog\nf add\nf open\nf read 0 512\nf close\n");
    scratch.write("local-v-0-verify.state", "");
    let refused = run(Program::Ferrio, &scratch, "--read_iolog=trace --verify=crc32c --verify_state_load=1");
    assert_eq!(refused.code, Some(1));
}

/// Jobs on eight zones of 32 KiB.
const ZONES: &[&str] = &[
    "--rw=write",
    "--rw=randwrite",
    "--rw=randwrite --ioengine=libaio --iodepth=16",
    "--rw=randwrite --io_size=600k --norandommap",
    "--rw=randwrite --io_size=600k --norandommap --ioengine=libaio --iodepth=8",
    "--rw=randwrite --max_open_zones=1 --io_size=600k",
    "--rw=write --loops=3",
    "--rw=write --zonecapacity=20k",
    "--rw=randwrite --bsrange=4k-16k --io_size=512k",
    "--rw=randwrite --verify_backlog=4",
    "--rw=trimwrite --bs=4k,4k,32k",
    "--rw=trimwrite --bs=4k,4k,32k --loops=2",
    "--rw=write --time_based --runtime=100ms --verify_backlog=8",
];

/// fio 3.41 gives a false alarm in these, or ends with an assertion of its own.
const OWN_ZONES: &[&str] = &[
    "--rw=randrw --io_size=512k",
    "--rw=randrw --io_size=512k --ioengine=libaio --iodepth=8",
    "--rw=randwrite --zone_reset_threshold=0.3 --zone_reset_frequency=0.2 --io_size=512k",
    "--rw=randrw --bssplit=4k/30:8k/30:12k/40 --io_size=512k",
];

#[test]
fn zones_raise_no_alarm() {
    let peer = peer_too("zones_raise_no_alarm");
    let scratch = Scratch::new("verify-zones");
    let fixed = "--zonemode=zbd --zonesize=32k --filename=f --size=256k --bs=4k --verify=crc32c --thread";
    for (own, options) in ZONES.iter().map(|options| (false, options)).chain(OWN_ZONES.iter().map(|job| (true, job))) {
        scratch.write("f", vec![0; 256 << 10]);
        let job = format!("{fixed} {options}");
        let reads = |finished: &Finished| finished.stdout.contains("read: IOPS");
        let ours = run(Program::Ferrio, &scratch, &job);
        is_clean(&ours, options);
        assert!(reads(&ours), "{options}: {}", ours.stdout);
        if peer && !own {
            is_clean(&run(Program::Peer, &scratch, &job), options);
        }
    }
}

/// Features together with verification, each with files of its own.
const FEATURES: &[&str] = &[
    "--rw=write --time_based --runtime=100ms --verify_backlog=16",
    "--rw=randwrite --time_based --runtime=100ms --verify_backlog=16 --ioengine=libaio --iodepth=8",
    "--rw=read --pre_read=1",
    "--rw=randwrite --nrfiles=4 --openfiles=2",
    "--rw=randwrite --nrfiles=4 --file_service_type=random",
    "--rw=write --nrfiles=3 --file_service_type=sequential --ioengine=libaio --iodepth=16",
    "--rw=randwrite --loops=3",
    "--rw=write --io_size=600k",
    "--rw=randwrite --io_size=600k --norandommap --ioengine=libaio --iodepth=16",
    "--rw=randwrite --io_size=100k",
    "--rw=randwrite --norandommap --serialize_overlap=1 --ioengine=libaio --iodepth=16 --io_size=600k",
    "--rw=randwrite --io_submit_mode=offload --ioengine=libaio --iodepth=8",
    "--rw=randwrite --io_submit_mode=offload --ioengine=psync --iodepth=8 --verify_async=2",
    "--rw=write --numjobs=2 --offset_increment=128k --size=128k --thread",
    "--rw=randrw --numjobs=2 --nrfiles=2 --group_reporting",
    "--rw=write --fsync=3 --end_fsync=1 --verify_async=3",
    "--rw=randwrite --bssplit=4k/40:12k/30:16k/30",
    "--rw=randwrite --percentage_random=40",
    "--rw=write:8k",
    "--rw=write --zonemode=strided --zonesize=16k --zoneskip=16k",
    "--rw=randwrite --number_ios=20",
    "--rw=write --rate_iops=100k",
    "--rw=randwrite --random_generator=lfsr --bssplit=4k/40:16k/60",
    "--rw=write --thinktime=10us",
];

/// fio 3.41 gives false alarms.
const FEATURES_OF_OURS_ALONE: &[&str] = &["offload", "--norandommap", "--percentage_random", "lfsr", "strided"];

#[test]
fn features_raise_no_alarm() {
    let peer = peer_too("features_raise_no_alarm");
    let scratch = Scratch::new("verify-features");
    for options in FEATURES {
        let job = format!("--size=256k --bs=4k --verify=crc32c {options}");
        if options.contains("--rw=read") {
            is_clean(&run(Program::Ferrio, &scratch, &job.replace("--rw=read", "--rw=write")), options);
        }
        is_clean(&run(Program::Ferrio, &scratch, &job), options);
        if peer && !FEATURES_OF_OURS_ALONE.iter().any(|word| options.contains(word)) {
            is_clean(&run(Program::Peer, &scratch, &job), options);
        }
        for name in scratch.names() {
            let _ = std::fs::remove_file(scratch.join(&name));
        }
    }
}

/// Damage between two runs is found by a second run that computes the writes of the first again.
#[test]
fn damage_beside_features_is_found() {
    let scratch = Scratch::new("verify-feature-damage");
    for options in [
        "--rw=randwrite --nrfiles=4 --openfiles=2",
        "--rw=randwrite --nrfiles=4 --file_service_type=sequential --ioengine=libaio --iodepth=16",
        "--rw=write --loops=3",
        "--rw=randwrite --io_submit_mode=offload --ioengine=libaio --iodepth=8",
        "--rw=randwrite --bssplit=4k/40:12k/30:16k/30",
        "--rw=write --buffer_compress_percentage=80",
        "--rw=randwrite --verify_async=2 --verify_backlog=4",
        "--rw=write --pre_read=1",
    ] {
        let job = format!("--filename_format=f.$filenum --size=256k --bs=4k --verify=crc32c {options}");
        is_clean(&run(Program::Ferrio, &scratch, &job), options);
        let mut names = scratch.names();
        names.retain(|name| name.starts_with("f."));
        let last = names.last().expect("a file").clone();
        let mut data = std::fs::read(scratch.join(&last)).expect("the file");
        let at = data.len() - 5;
        data[at] ^= 8;
        scratch.write(&last, data);
        let found = run(Program::Ferrio, &scratch, &format!("{job} --verify_only"));
        assert_eq!(found.code, Some(1), "{options}: {}", found.all());
        assert!(found.stderr.contains("verify failed at file"), "{options}: {}", found.stderr);
        for name in names {
            let _ = std::fs::remove_file(scratch.join(&name));
        }
    }
}

/// Once for each clone, before anything starts, and with `--output` there too. `--parse-only` does not look.
#[test]
fn blocks_of_several_sizes_without_a_map_are_told() {
    let test = "blocks_of_several_sizes_without_a_map_are_told";
    let line = "fio: norandommap given for variable block sizes, verify limited\n";
    let with_peer = peer_too(test);
    for program in [Program::Ferrio, Program::Peer].into_iter().take(1 + usize::from(with_peer)) {
        let scratch = Scratch::new("verify-without-map");
        let stderr = |more: &str| {
            let job = "--name=a --ioengine=null --rw=write --bsrange=4k-16k --size=64k --norandommap";
            Run::new(program, scratch.path(), &format!("{job} {more}")).recorded("verify", &["report"]).finish()
        };
        assert_eq!(stderr("--verify=null").succeeded().stderr, line);
        assert_eq!(stderr("--verify=null --numjobs=3").succeeded().stderr, line.repeat(3));
        assert_eq!(stderr("--verify=null --parse-only").succeeded().stderr, "");
        assert_eq!(stderr("--verify=null --bsrange=4k-4k").succeeded().stderr, "");
        let fatal = stderr("--verify=null --warnings-fatal");
        assert_eq!((fatal.code, fatal.stderr.as_str()), (Some(1), line));
        let written = stderr("--verify=null --output=report").succeeded();
        assert_eq!(written.stderr, line);
        let report = std::fs::read_to_string(scratch.path().join("report")).expect("a report");
        assert!(report.starts_with(line), "{report}");
    }
}

//! Bad values and contradictions of the options that shape a workload, beside the peer: who refuses what.
//!
//! What both accept stands here too: a value that is refused by mistake would show. Must not know: what is said of it (see
//! `refusals`). Start reading at [`SETTINGS`].

use crate::support::{Program, Run, Scratch, has_peer};

/// Whether the peer (3.33) refuses it too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Peer {
    Same,
    /// It accepts what ferrio refuses, for this reason.
    Differs(&'static str),
    /// Not asked, for this reason.
    NotAsked(&'static str),
}
use Peer::{Differs, NotAsked, Same};

/// Arguments; whether ferrio refuses them (or fails on them); the peer.
const SETTINGS: &[(&str, bool, Peer)] = &[
    ("NULL --rw=randread --random_distribution=bogus", true, Same),
    ("NULL --rw=randread --random_distribution=zipf:-1", true, Differs("nothing is meant by a negative number")),
    ("NULL --rw=randread --random_distribution=zipf:1", true, Same),
    ("NULL --rw=randread --random_distribution=zipf:abc", true, Same),
    ("NULL --rw=randread --random_distribution=pareto:1.5", true, Same),
    ("NULL --rw=randread --random_distribution=pareto:0", true, Same),
    ("NULL --rw=randread --random_distribution=normal:150", true, Same),
    ("NULL --rw=randread --random_distribution=normal:0", false, Same),
    ("NULL --rw=randread --random_distribution=zoned:50/50", true, Same),
    ("NULL --rw=randread --random_distribution=zoned:50/50:60/50", true, Same),
    ("NULL --rw=randread --random_distribution=zoned:150/50", true, Same),
    ("NULL --rw=randread --random_distribution=zoned:50/50:50", false, Same),
    (
        "NULL --rw=randread --random_distribution=zoned_abs:50/200k:50/64k",
        true,
        Differs("the zones do not lie in the file"),
    ),
    ("NULL --rw=randread --random_distribution=zipf:1.2:2", true, Same),
    ("NULL --rw=randread --random_distribution=zipf", false, Same),
    ("NULL --rw=randread --random_distribution=random:5", false, Same),
    ("NULL --rw=randread --random_distribution=zipf:1.2 --random_generator=lfsr", false, Same),
    ("NULL --rw=randread --random_distribution=zipf:1.2 --norandommap", false, Same),
    ("NULL --random_distribution=zipf:1.2", false, Same),
    ("NULL --rw=randread --random_generator=bogus", true, Same),
    ("NULL --rw=randread --random_generator=lfsr --bsrange=4k-8k", false, Same),
    ("NULL --rw=randread --random_generator=tausworthe64", false, Same),
    ("NULL --bssplit=4k/50:8k/60", false, Same),
    ("NULL --bssplit=4k/50:8k/10", false, Same),
    ("NULL --bssplit=4k/-10", true, Differs("nothing is meant by a negative number")),
    ("NULL --bssplit=4k/101", false, Same),
    ("NULL --bssplit=4k/abc", true, Differs("no number")),
    ("NULL --bssplit=0/50:4k/50", true, Differs("no I/O has no bytes")),
    ("NULL --bssplit=128k/100", true, Same),
    ("NULL --bssplit=4k", false, Same),
    ("NULL --bssplit=4k/50:8k/50 --bs_is_seq_rand=1", false, Same),
    ("NULL --bsrange=8k-4k", false, Same),
    ("NULL --bsrange=0-4k", true, Differs("no I/O has no bytes")),
    ("NULL --blockalign=3k --rw=randread", false, Same),
    ("NULL --zonemode=bogus", true, Same),
    ("NULL --zonemode=strided", true, Same),
    ("NULL --zonemode=strided --zonesize=0", true, Same),
    ("NULL --zonemode=strided --zonesize=8k --zonerange=4k", false, Same),
    ("NULL --zonemode=none --zonesize=8k", true, Same),
    ("NULL --zonesize=8k --zonemode=strided --rw=randread --random_distribution=zipf:1.2", false, Same),
    ("NULL --rate=-1", false, Same),
    ("NULL --rate=0", false, Same),
    ("NULL --rate=1m --rate_iops=100", true, Same),
    ("NULL --rate=1k --rate_min=2k", true, Same),
    ("NULL --rate_min=2k", false, Same),
    ("NULL --rate_iops=10 --rate_iops_min=20", true, Same),
    ("NULL --rate_process=bogus", true, Same),
    ("NULL --rate_process=poisson", false, Same),
    ("NULL --rate_cycle=0 --rate=1m", false, Same),
    ("NULL --thinktime_blocks=0 --thinktime=1", false, Same),
    ("NULL --thinktime_blocks=4", false, Same),
    (
        "NULL --thinktime=10 --thinktime_spin=20",
        false,
        NotAsked("it hangs when it is kept from the CPU while it spins"),
    ),
    ("NULL --thinktime_blocks_type=bogus", true, Same),
    ("NULL --latency_window=10", false, Same),
    ("NULL --latency_percentile=101", true, Same),
    ("NULL --latency_run=1", false, Same),
    ("NULL --max_latency=-1", true, Differs("nothing is meant by a negative number")),
    ("NULL --flow=-1", true, Differs("nothing is meant by a negative number")),
    ("NULL --flow=0", false, Same),
    ("NULL --flow=1 --flow_id=0", false, Same),
    ("NULL --flow_watermark=10", false, Same),
    ("NULL --flow_sleep=10", false, Same),
    ("WRITE --dedupe_percentage=101", true, Same),
    ("WRITE --dedupe_percentage=-1", true, Differs("nothing is meant by a negative number")),
    ("WRITE --dedupe_percentage=50 --dedupe_mode=bogus", true, Same),
    ("WRITE --dedupe_percentage=50 --dedupe_mode=working_set --dedupe_working_set_percentage=101", true, Same),
    ("WRITE --dedupe_percentage=97 --dedupe_mode=working_set --dedupe_working_set_percentage=5", true, Same),
    ("WRITE --dedupe_percentage=50 --dedupe_mode=working_set --nrfiles=2", true, Same),
    ("WRITE --dedupe_mode=working_set", false, Same),
    ("WRITE --dedupe_percentage=50 --buffer_pattern=0xab", false, Same),
    ("WRITE --dedupe_percentage=50 --zero_buffers=1", false, Same),
    ("WRITE --dedupe_percentage=50 --verify=crc32c", false, Same),
    ("WRITE --buffer_compress_percentage=101", true, Same),
    ("WRITE --buffer_compress_percentage=-1", true, Differs("nothing is meant by a negative number")),
    ("WRITE --buffer_compress_percentage=50 --buffer_compress_chunk=0", false, Same),
    ("WRITE --buffer_compress_chunk=8k", false, Same),
    ("WRITE --buffer_compress_percentage=50 --buffer_compress_chunk=1g", false, Same),
    ("WRITE --buffer_compress_percentage=50 --buffer_pattern=0xab", false, Same),
    ("WRITE --buffer_pattern=", true, Same),
    ("WRITE --buffer_pattern=xyz", true, Same),
    ("NULL --rw=randtrimwrite --bs=4k,8k", false, Same),
    ("NULL --rw=trimwrite --rwmixread=50", false, Same),
    ("NULL --num_range=0 --rw=trim", true, Same),
    ("NULL --num_range=4 --rw=read", true, Same),
    ("WRITE --fsync=-1", true, Differs("nothing is meant by a negative number")),
    ("WRITE --fdatasync=-1", true, Differs("nothing is meant by a negative number")),
    ("WRITE --sync_file_range=bogus:1", true, Same),
    ("WRITE --sync_file_range=write:0", false, Same),
    ("WRITE --sync_file_range=write", false, Same),
    ("WRITE --sync=bogus", true, Same),
    ("WRITE --sync=2", true, Same),
    ("WRITE --end_fsync=2", true, Same),
    ("WRITE --fsync_on_close=x", true, Same),
    ("WRITE --verify=bogus", true, Same),
    ("WRITE --verify=pattern", true, Differs("there is no pattern")),
    ("WRITE --verify=crc32c --verify_interval=3", true, Same),
    ("WRITE --verify=crc32c --verify_interval=4", true, Same),
    ("WRITE --verify=crc32c --verify_interval=3000", true, Differs("no header fits between")),
    ("WRITE --verify=crc32c --verify_offset=5000", true, Same),
    ("WRITE --verify=crc32c --verify_offset=4090", true, Same),
    ("WRITE --verify=crc32c --bs=16", true, Same),
    ("WRITE --verify=crc32c --norandommap --rw=randwrite", false, Same),
    ("WRITE --verify=crc32c --rw=read", true, Same),
    ("WRITE --verify_pattern=0x11", false, Same),
    ("WRITE --verify=crc32c --do_verify=2", true, Same),
    ("WRITE --verify=pattern --verify_pattern=xyz", true, Same),
    ("WRITE --verify=crc32c --verify_dump=2", true, Same),
    ("WRITE --verify=null", false, Same),
    ("WRITE --verify=crc32c --ioengine=null", false, Same),
    ("NULL --read_iolog=", true, Same),
    ("NULL --read_iolog=missing", true, Same),
    ("NULL --read_iolog=.", true, Same),
    ("NULL --replay_align=3 --read_iolog=v3", true, Same),
    ("NULL --replay_scale=0 --read_iolog=v3", false, Same),
    ("NULL --replay_scale=-1 --read_iolog=v3", true, Differs("nothing is meant by a negative number")),
    ("NULL --replay_time_scale=0 --read_iolog=v3", true, Same),
    ("NULL --replay_skip=bogus --read_iolog=v3", true, Same),
    ("NULL --replay_redirect=", true, Same),
    ("NULL --replay_no_stall=2 --read_iolog=v3", true, Same),
    ("NULL --iodepth_batch=5 --iodepth=2", false, Same),
    ("NULL --iodepth_batch_complete_min=9 --iodepth=2", false, Same),
    ("NULL --iodepth_low=9 --iodepth=2", false, Same),
    ("NULL --rw=read:bogus", true, Same),
    ("NULL --rw=randread:0", true, Differs("nothing is meant by none")),
    ("NULL --rw=read:-4k", false, Same),
    ("NULL --rw=randread:4k --rw_sequencer=bogus", true, Same),
    ("NULL --percentage_random=150", true, Same),
    ("NULL --percentage_random=50,50,50,50", true, Differs("there are three directions")),
    ("NULL --offset=64k", false, Same),
    ("NULL --offset=128k", false, Same),
    ("NULL --offset_increment=-1", true, Differs("nothing is meant by a negative number")),
    ("NULL --offset_align=3", false, Same),
    ("NULL --offset_align=0", false, Same),
    ("NULL --number_ios=-1", true, Differs("nothing is meant by a negative number")),
    ("NULL --ramp_time=-1", true, Differs("nothing is meant by a negative number")),
    ("NULL --ramp_size=-1", true, Same),
    ("NULL --startdelay=-1", true, Differs("nothing is meant by a negative number")),
    ("NULL --loops=0", false, Same),
    ("NULL --runtime=-1", true, Differs("nothing is meant by a negative number")),
    ("NULL --file_service_type=bogus", true, Same),
    ("NULL --file_service_type=zipf:1", true, Same),
    ("NULL --file_service_type=random:0", false, Same),
    ("NULL --openfiles=-1", true, Differs("nothing is meant by a negative number")),
    ("NULL --nrfiles=0", true, Differs("nothing is meant by none")),
    ("NULL --nrfiles=100 --bs=4k", false, Same),
    ("NULL --steadystate=bogus:1", true, Same),
    ("NULL --steadystate=iops:-1", false, Same),
    ("NULL --steadystate=iops:0.3%", false, Same),
    ("NULL --steadystate=iops:1% --steadystate_duration=0", false, Same),
    ("NULL --steadystate_ramp_time=5", false, Same),
    ("NULL --log_avg_msec=-1", true, Differs("nothing is meant by a negative number")),
];

fn is_refused(program: Program, arguments: &str) -> bool {
    let scratch = Scratch::new("bad-settings");
    scratch.write("v3", "fio version 3 iolog\n1 f add\n2 f open\n3 f read 0 4096\n10 f close\n");
    scratch.write("f", vec![b'x'; 65_536]);
    let arguments = arguments
        .replace("NULL", "--name=a --ioengine=null --size=64k")
        .replace("WRITE", "--name=a --size=64k --rw=write");
    Run::new(program, scratch.path(), &arguments).finish().code != Some(0)
}

#[test]
fn bad_settings_are_refused() {
    for (arguments, refuses, _) in SETTINGS {
        assert_eq!(is_refused(Program::Ferrio, arguments), *refuses, "{arguments}");
    }
}

#[test]
fn bad_settings_end_as_under_the_peer() {
    if !has_peer("bad_settings_end_as_under_the_peer") {
        return;
    }
    for (arguments, refuses, peer) in SETTINGS {
        let expected = match peer {
            Same => *refuses,
            Differs(_) => !*refuses,
            NotAsked(_) => continue,
        };
        assert_eq!(is_refused(Program::Peer, arguments), expected, "{arguments}");
    }
}

#[test]
fn deviations_have_a_reason() {
    assert!(SETTINGS.iter().all(|(.., peer)| !matches!(peer, Differs("") | NotAsked(""))));
}

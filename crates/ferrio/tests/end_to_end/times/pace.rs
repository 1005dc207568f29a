//! Cases of pace: think time, rates, ramps, loops, limits, delays of starts, traces.
//!
//! Must not know: how a case is run. Start reading at [`CASES`].
// tidy: table

use super::{Case, own, same};

/// Jobs that wait.
pub(super) const CASES: &[Case] = &[
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --loops=3",
        "job=600 write=600 write.n=12 write.lat.mean=50",
    ),
    same(
        "pread64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=read --ioengine=psync --time_based --runtime=500ms",
        "job=500 read=500 read.lat.mean=50",
    ),
    same(
        "pread64=300",
        "--name=j --filename=f --size=32k --bs=8k --rw=read --ioengine=psync --time_based --runtime=500ms",
        "job=600 read=600 read.n=2",
    ),
    same(
        "pread64=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=read --ioengine=psync --runtime=120ms",
        "job=200 read=200 read.n=2",
    ),
    // Think time follows each block, the last one too.
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --thinktime=50000",
        "job=400 write=400 write.lat.mean=50",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --thinktime=100000 --thinktime_blocks=2",
        "job=400 write=400",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --thinktime=100000 --thinktime_blocks=2 --thinktime_blocks_type=issue",
        "job=400 write=400",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --thinktime=100000 --thinktime_spin=50000",
        "job=600 write=600",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --thinktime=150000 --thinktime_iotime=190000 --thinktime_blocks=2",
        "job=500 write=500",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --thinktime=500000 --runtime=300ms --time_based",
        "job=300 write=300 write.n=1",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --thinkcycles=1000",
        "job=200 write=200",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=16k --bs=8k --rw=write --ioengine=psync --loops=3 --thinktime=50000",
        "job=600 write=600",
    ),
    own(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --thinktime=50000 --io_submit_mode=offload",
        "job=400 write=400",
        "The pause of fio runs beside the I/O of its other thread, so that think time and I/O are not apart.",
    ),
    // A rate: the last of N I/Os is due N - 1 intervals after the first.
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --rate=80k",
        "job=350 write=350 write.lat.mean=50",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --rate_iops=10",
        "job=350 write=350",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --rate_iops=40",
        "job=200 write=200",
    ),
    same(
        "pwrite64=300:when=2",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --ioengine=psync --rate_iops=20",
        "job=350 write=350 write.lat.max=300",
    ),
    same(
        "pwrite64=300:when=2",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --ioengine=psync --rate_iops=20 --rate_process=linear",
        "job=350 write=350",
    ),
    same(
        "pwrite64=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --rate_iops=1000 --rate_process=poisson",
        "job=400 write=400 write.lat.mean=100",
    ),
    same(
        "fsync=100",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --ioengine=psync --rate_iops=40 --fsync=2",
        "job=300 write=300 sync.n=3",
    ),
    same(
        "fsync=200",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --rate_iops=20 --end_fsync=1",
        "job=350 write=350",
    ),
    same(
        "pwrite64=1",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --ioengine=psync --rate_iops=20 --rate_ignore_thinktime=1 --thinktime=300000 --thinktime_blocks=4",
        "job=930 write=930",
    ),
    // The first I/O after a pause is due at its end.
    same(
        "pwrite64=1",
        "--name=j --filename=f --size=40k --bs=8k --rw=write --ioengine=psync --rate_iops=20 --rate_ignore_thinktime=1 --thinktime=300000 --thinktime_blocks=1",
        "job=1500 write=1500",
    ),
    // A ramp is not counted, whatever ends the job.
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --ramp_time=1 --time_based --runtime=400ms",
        "job=400 write=400 write.lat.mean=50",
    ),
    same(
        "pwrite64=230",
        "--name=j --filename=f --size=80k --bs=8k --rw=write --ioengine=psync --ramp_time=1",
        "job=1150 write=1150 write.n=5",
    ),
    same(
        "fsync=300",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --ramp_time=1 --time_based --runtime=200ms --end_fsync=1 --thinktime=1000",
        "job=500 write=500",
    ),
    own(
        "pwrite64=230",
        "--name=j --filename=f --size=16k --bs=8k --rw=write --ioengine=psync --ramp_time=1 --loops=5",
        "job=1150 write=1150 write.n=5",
        "fio counts nothing at all of a job whose ramp is longer than one of its loops.",
    ),
    // Limits of bytes, of numbers and of latencies.
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --ioengine=psync --io_size=32k",
        "job=200 write=200 write.n=4",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --io_size=48k",
        "job=300 write=300 write.n=6",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --number_ios=3",
        "job=150 write=150 write.n=3",
    ),
    same(
        "pwrite64=150",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --max_latency=50ms",
        "job=150 write=150 write.n=1",
    ),
    same(
        "pread64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=read --ioengine=psync --startdelay=500ms",
        "job=200 read=200",
    ),
    // Traces: the first times of a trace are no delays.
    same(
        "pwrite64=50",
        "--name=j --ioengine=psync --read_iolog=trace",
        "job=250 write=250 write.n=3 write.lat.mean=50",
    ),
    same("pwrite64=50", "--name=j --ioengine=psync --read_iolog=trace --replay_no_stall=1", "job=150 write=150"),
    same("pwrite64=150", "--name=j --ioengine=psync --read_iolog=trace", "job=450 write=450"),
    same(
        "fsync=200",
        "--name=j --ioengine=psync --read_iolog=trace --replay_no_stall=1 --end_fsync=1",
        "job=200 write=200",
    ),
];

//! Cases of syncs: closing ones, those between I/Os, and those that the engine does.
//!
//! Must not know: how a case is run. Start reading at [`CASES`].
// tidy: table

use super::{Case, own, same};

/// Jobs that sync.
pub(super) const CASES: &[Case] = &[
    same(
        "fsync=300",
        "--name=j --filename=f --size=2m --bs=64k --rw=write --ioengine=psync --end_fsync=1",
        "job=300 write=300 write.lat.max=0 write.n=32",
    ),
    same(
        "fsync=150",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --ioengine=psync --end_fsync=1 --loops=3",
        "job=450 write=450 write.n=48",
    ),
    same(
        "fsync=150",
        "--name=j --filename=f:g --size=1m --bs=64k --rw=write --ioengine=psync --end_fsync=1",
        "job=300 write=300",
    ),
    same(
        "fsync=300",
        "--name=j --size=1m --bs=64k --rw=write --end_fsync=1 --numjobs=2 --group_reporting",
        "job=600 write=300 write.n=32",
    ),
    same("fsync=200", "--name=j --size=1m --bs=64k --rw=write --end_fsync=1 --numjobs=2 --thread", "job=200 write=200"),
    same(
        "fsync=300",
        "--name=j --filename=f --size=256k --bs=64k --rw=write --end_fsync=1 --time_based --runtime=500ms",
        "job=800 write=800",
    ),
    same(
        "fsync=200",
        "--name=j --filename=f --size=1m --bs=64k --rw=randrw --end_fsync=1",
        "job=200 read=200 write=200",
    ),
    same("fsync=200", "--name=j --filename=f --size=1m --bs=64k --rw=read --end_fsync=1", "job=0 read=0"),
    same(
        "fsync=200",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --end_fsync=1 --number_ios=2",
        "job=200 write=200 write.n=2",
    ),
    same(
        "fsync=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --end_fsync=1 --fsync=4",
        "job=100 write=100 write.n=4",
    ),
    same(
        "fsync=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --end_fsync=1 --fsync=1",
        "job=400 write=400 sync.n=3 sync.max=100",
    ),
    same("fsync=300", "--name=j --filename=f --size=1m --bs=64k --rw=write --fsync_on_close=1", "job=300 write=300"),
    same(
        "fsync=200",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --fsync_on_close=1 --end_fsync=1",
        "job=200 write=200",
    ),
    same(
        "fsync=100",
        "--name=j --nrfiles=2 --size=32k --bs=8k --rw=write --fsync_on_close=1 --openfiles=1 --ioengine=psync",
        "job=300 write=300 write.lat.max=0",
    ),
    own(
        "syncfs=200",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_syncfs=1",
        "job=200 write=200",
        "fio 3.41 has no end_syncfs; 3.42 has it.",
    ),
    own(
        "syncfs=200",
        "--name=j --filename=f:g --size=1m --bs=64k --rw=write --end_syncfs=1 --ioengine=libaio",
        "job=200 write=200",
        "fio 3.41 has no end_syncfs; 3.42 has it.",
    ),
    own(
        "syncfs=150",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_syncfs=1 --loops=2",
        "job=300 write=300",
        "fio 3.41 has no end_syncfs; 3.42 has it.",
    ),
    // A queue takes the sync as a request, so that fsync(2) is not called.
    same(
        "fsync=300",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_fsync=1 --ioengine=libaio --iodepth=4",
        "job=0 write=0 write.n=16",
    ),
    same(
        "fsync=300",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_fsync=1 --ioengine=libaio",
        "job=0 write=0",
    ),
    same(
        "fsync=300",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_fsync=1 --ioengine=io_uring --iodepth=4",
        "job=0 write=0",
    ),
    same(
        "io_submit=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --end_fsync=1 --ioengine=libaio",
        "job=500 write=500",
    ),
    same(
        "io_submit=100",
        "--name=j --nrfiles=2 --size=32k --bs=8k --rw=write --end_fsync=1 --ioengine=libaio",
        "job=600 write=600",
    ),
    same(
        "fsync=200",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_fsync=1 --ioengine=posixaio --iodepth=4",
        "job=200 write=200",
    ),
    same(
        "fsync=200",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_fsync=1 --ioengine=pvsync2",
        "job=200 write=200",
    ),
    same(
        "fsync=200",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_fsync=1 --ioengine=vsync --iodepth=4",
        "job=200 write=200",
    ),
    same(
        "fsync=200",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_fsync=1 --ioengine=splice",
        "job=200 write=200",
    ),
    same(
        "fsync=200",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_fsync=1 --ioengine=sync",
        "job=200 write=200",
    ),
    same(
        "fsync=200",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_fsync=1 --ioengine=psync --io_submit_mode=offload",
        "job=200 write=200",
    ),
    same(
        "msync=200",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_fsync=1 --ioengine=mmap",
        "job=200 write=200",
    ),
    same(
        "fsync=200",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_fsync=1 --ioengine=mmap",
        "job=0 write=0",
    ),
    same(
        "msync=100",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --ioengine=mmap --fsync=4 --end_fsync=1",
        "job=200 write=200 sync.n=1 sync.max=100",
    ),
    same("fsync=200", "--name=j --size=1m --bs=64k --rw=write --end_fsync=1 --ioengine=null", "job=0 write=0"),
    own(
        "fsync=200",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_fsync=1 --ioengine=falloc",
        "job=200 write=200",
        "The falloc engine of fio leaves syncs out without a word.",
    ),
    own(
        "fsync=200",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_fsync=1 --ioengine=ftruncate",
        "job=200 write=200",
        "The ftruncate engine of fio can't sync, and the job fails.",
    ),
    same(
        "fsync=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --fsync=1",
        "job=300 write=300 sync.n=3 sync.max=100 write.lat.max=0",
    ),
    same(
        "fsync=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --fsync=2 --loops=2",
        "job=300 write=300 sync.n=3",
    ),
    same(
        "fsync=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=randwrite --fsync=1 --ioengine=posixaio",
        "job=300 write=300 sync.n=3",
    ),
    same(
        "fsync=200",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --fsync=1 --ioengine=libaio --iodepth=2",
        "job=0 write=0 sync.n=3",
    ),
    same(
        "fdatasync=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --fdatasync=1",
        "job=300 write=300 write.lat.max=0",
    ),
    same("fdatasync=100", "--name=j --filename=f --size=32k --bs=8k --rw=write --fdatasync=2", "job=100 write=100"),
    own(
        "fdatasync=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --fdatasync=1",
        "sync.n=3 sync.max=100",
        "fio 3.41 measures no fdatasync.",
    ),
    own(
        "fdatasync=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --fdatasync=2 --ioengine=posixaio",
        "job=100 write=100",
        "fio lets posixaio call fsync(2) for fdatasync=N.",
    ),
    same(
        "sync_file_range=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --sync_file_range=write:2 --ioengine=psync",
        "job=100 write=100 write.lat.max=0",
    ),
    own(
        "sync_file_range=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --sync_file_range=write:2 --ioengine=libaio",
        "job=100 write=100",
        "fio lets a queue sync the whole file instead of the range.",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --sync=1 --ioengine=psync",
        "job=200 write=200 write.lat.mean=50",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --sync=dsync --ioengine=psync",
        "job=200 write=200 write.lat.mean=50",
    ),
    same(
        "fsync=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --overwrite=1 --create_fsync=1",
        "job=0 write=0",
    ),
    // The runtime ends in a closing sync: no pass follows, and no second sync.
    same(
        "fsync=300",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --end_fsync=1 --loops=3 --runtime=200ms",
        "job=300 write=300 write.n=4",
    ),
];

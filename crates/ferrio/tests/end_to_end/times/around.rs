//! Cases of what surrounds I/O: layout, opening, closing, removal, commands, groups.
//!
//! Must not know: how a case is run. Start reading at [`CASES`].
// tidy: table

use super::{Case, same};

/// Jobs around whose I/O something takes time.
pub(super) const CASES: &[Case] = &[
    same(
        "fadvise64=100",
        "--name=j --filename=f --size=256k --bs=8k --rw=write --ioengine=psync",
        "job=200 write=200 write.lat.max=0",
    ),
    same(
        "fadvise64=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=libaio --iodepth=2",
        "job=200 write=200 write.lat.max=0 write.slat.max=0",
    ),
    same(
        "openat=150@f",
        "--name=j --filename=f --size=256k --bs=8k --rw=write --ioengine=psync --create_on_open=1",
        "job=150 write=150 write.lat.max=0",
    ),
    same(
        "openat=100@f",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --loops=2 --create_on_open=1",
        "job=200 write=200 write.lat.max=0",
    ),
    same("close=100@f", "--name=j --filename=f --size=256k --bs=8k --rw=write --ioengine=psync", "job=0 write=0"),
    same(
        "close=100@f",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --loops=3",
        "job=200 write=200 write.lat.max=0",
    ),
    same(
        "close=100@j.0.0",
        "--name=j --nrfiles=2 --size=32k --bs=8k --rw=write --ioengine=psync --openfiles=1",
        "job=100 write=100 write.lat.max=0",
    ),
    same(
        "close=100@j.0.1",
        "--name=j --nrfiles=2 --size=32k --bs=8k --rw=write --ioengine=psync --openfiles=1",
        "job=0 write=0",
    ),
    same(
        "close=100@j.0.0",
        "--name=j --nrfiles=2 --size=32k --bs=8k --rw=write --ioengine=libaio --iodepth=2 --openfiles=1",
        "job=100 write=100 write.lat.max=0",
    ),
    same(
        "close=100@j.0.0 close=100@j.0.1",
        "--name=j --nrfiles=3 --size=72k --bs=8k --rw=write --ioengine=libaio --iodepth=8 --openfiles=1",
        "job=200 write=200 write.lat.max=0",
    ),
    same(
        "unlink,unlinkat=200",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --unlink=1",
        "job=0 write=0",
    ),
    same(
        "unlink,unlinkat=200",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --unlink=1 --numjobs=2",
        "job=0 write=0",
    ),
    same(
        "unlink,unlinkat=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --unlink_each_loop=1 --loops=3",
        "job=200 write=200 write.lat.max=0",
    ),
    same(
        "unlink,unlinkat=100 fsync=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --unlink_each_loop=1 --unlink=1 --loops=2 --end_fsync=1",
        "job=300 write=300",
    ),
    same(
        "fallocate=200",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --fallocate=native",
        "job=0 write=0",
    ),
    same(
        "pread64,read=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=read --ioengine=psync --pre_read=1",
        "job=200 read=200 read.lat.mean=50",
    ),
    same("ftruncate=200", "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync ", "job=0 write=0"),
    same(
        "fsync=200",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --overwrite=1 --create_fsync=1 --end_fsync=1",
        "job=200 write=200",
    ),
    same(
        "",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --exec_prerun=./pause --exec_postrun=./pause",
        "job=0 write=0",
    ),
    same(
        "fsync=200",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --exec_prerun=./pause --exec_postrun=./pause --end_fsync=1",
        "job=200 write=200",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --exec_prerun=./pause --exec_postrun=./pause --loops=2 --thread",
        "job=400 write=400 write.lat.mean=50 write.lat.max=50",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --exec_postrun=./pause --numjobs=2",
        "job=200 write=200 write.lat.max=50",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --exec_prerun=./pause --time_based --runtime=1",
        "job=1000 write=1000 write.lat.max=50",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --name=k --stonewall --filename=g --size=32k --bs=8k --rw=write --ioengine=psync",
        "job=200 write=200",
    ),
    same(
        "fsync=200",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --end_fsync=1 --name=k --stonewall --filename=g --size=32k --bs=8k --rw=write --ioengine=psync --end_fsync=1",
        "job=200 write=200",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --group_reporting --numjobs=3 --thread",
        "job=600 write=200 write.lat.mean=50",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --group_reporting --numjobs=3",
        "job=600 write=200 write.lat.mean=50",
    ),
];

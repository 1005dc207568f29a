//! Cases of verification: after a pass, between writes, in threads of its own.
//!
//! Must not know: how a case is run. Start reading at [`CASES`].
// tidy: table

use super::{Case, own, same};

/// Why ferrio takes longer where a job reads back without a closing sync.
const SYNCS_FIRST: &str = "ferrio syncs before it reads back, so that reads come from the device; fio does not.";

/// Jobs that read back what they wrote.
pub(super) const CASES: &[Case] = &[
    same(
        "fsync=200",
        "--name=j --filename=f --size=1m --bs=64k --rw=write --end_fsync=1 --verify=crc32c",
        "job=200 write=200 read=0",
    ),
    same(
        "fsync=200",
        "--name=j --filename=f --size=256k --bs=64k --rw=write --end_fsync=1 --verify=crc32c --loops=2",
        "job=400 write=400 read=0",
    ),
    same(
        "fsync=200",
        "--name=j --filename=f --size=256k --bs=64k --rw=write --end_fsync=1 --verify=md5 --do_verify=0",
        "job=200 write=200",
    ),
    own(
        "fsync=200",
        "--name=j --filename=f --size=256k --bs=64k --rw=write --verify=crc32c",
        "job=200 write=0 read=0",
        SYNCS_FIRST,
    ),
    same(
        "pwrite64=10 pread64=40",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --verify=crc32c --verify_backlog=4 --ioengine=psync",
        "job=400 read=400 write=240 read.n=8 write.n=8",
    ),
    same(
        "pread64=20",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --verify=md5 --verify_backlog=2 --ioengine=psync",
        "job=160 read=160 write=120",
    ),
    same(
        "pread64=20",
        "--name=j --filename=f --size=128k --bs=8k --rw=write --verify=md5 --verify_backlog=4 --verify_backlog_batch=2 --ioengine=psync",
        "job=320 read=320",
    ),
    same(
        "pread64=20",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --verify=md5 --verify_backlog=3 --loops=2 --ioengine=psync",
        "job=320 read=320 write=240",
    ),
    same(
        "pread64=20",
        "--name=j --filename=f --size=64k --bs=8k --rw=randwrite --verify=md5 --verify_backlog=2 --ioengine=libaio",
        "job=0",
    ),
    same(
        "pread64=40",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --verify=crc32c --ioengine=psync",
        "job=320 read=320 write=0 read.lat.mean=40",
    ),
    same(
        "pread64=40",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --verify=crc32c --loops=2 --ioengine=psync",
        "job=320 read=320 write=0",
    ),
    same(
        "pread64=40",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --verify=crc32c --verify_async=2 --ioengine=psync",
        "job=320 read=320 write=0",
    ),
    same(
        "pwrite64=40",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --verify=sha256 --ioengine=psync",
        "job=320 read=0 write=320 write.lat.mean=40",
    ),
    same(
        "pwrite64=20 pread64=40",
        "--name=j --filename=f --size=64k --bs=8k --rw=randwrite --verify=xxhash --ioengine=psync",
        "job=480 read=320 write=160",
    ),
    same(
        "pwrite64=40",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --verify=pattern --verify_pattern=0xab --ioengine=psync",
        "job=320 read=0 write=320",
    ),
    same(
        "pwrite64=40",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --verify=null --ioengine=psync",
        "job=320 write=320",
    ),
    same(
        "pread64=40",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --verify=md5 --verify_interval=4k --ioengine=psync",
        "job=320 read=320 write=0",
    ),
    same(
        "pread64=20",
        "--name=j --size=128k --bs=8k --rw=write --verify=crc32c --numjobs=2 --ioengine=psync",
        "job=320 read=320 write=0",
    ),
    same(
        "fsync=100",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --end_fsync=1 --verify=md5 --verify_backlog=4",
        "job=100 read=100 write=100",
    ),
];

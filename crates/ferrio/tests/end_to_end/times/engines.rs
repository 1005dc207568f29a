//! Cases of engines: the calls that do their I/O.
//!
//! Must not know: how a case is run. Start reading at [`CASES`].
// tidy: table

use super::{Case, own, same};

/// Jobs of all engines.
pub(super) const CASES: &[Case] = &[
    same(
        "write=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=sync",
        "job=200 write=200 write.lat.mean=50",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync ",
        "job=200 write=200 write.lat.mean=50",
    ),
    same(
        "preadv,pwritev=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=rw --ioengine=pvsync ",
        "job=200 read=200 write=200",
    ),
    same(
        "preadv2,pwritev2=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=rw --ioengine=pvsync2 ",
        "job=200 read=200 write=200",
    ),
    same(
        "writev=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=vsync --iodepth=1",
        "job=400 write=400",
    ),
    own(
        "writev=100",
        "--name=j --filename=f --size=32k --bs=8k --rw=randwrite --ioengine=vsync --iodepth=4",
        "job=400 write=400 write.n=4 write.lat.mean=100 write.lat.max=100",
        "fio 3.41 loses all I/Os but the last one of those that wait to be reaped.",
    ),
    same(
        "sendto=50",
        "--name=r --ioengine=net --protocol=tcp --bs=8k --size=32k --port={port} --listen --rw=read --name=w --ioengine=net --protocol=tcp --bs=8k --size=32k --port={port} --hostname=127.0.0.1 --rw=write --startdelay=500ms",
        "w:job=200 w:write=200 w:write.lat.mean=50 w:write.n=4 r:read=165 r:read.n=4",
    ),
    same(
        "sendto=50",
        "--name=r --ioengine=net --protocol=tcp --bs=8k --size=32k --port={port} --listen --rw=read --thread --name=w --ioengine=net --protocol=tcp --bs=8k --size=32k --port={port} --hostname=127.0.0.1 --rw=write --startdelay=500ms --thread",
        "w:job=200 w:write=200 w:write.lat.mean=50 w:write.n=4 r:read=165 r:read.n=4",
    ),
    same(
        "recvfrom=50",
        "--name=r --ioengine=net --protocol=tcp --bs=8k --size=32k --port={port} --listen --rw=read --name=w --ioengine=net --protocol=tcp --bs=8k --size=32k --port={port} --hostname=127.0.0.1 --rw=write --startdelay=500ms",
        "r:job=200 r:read=200 r:read.lat.mean=50 r:read.n=4 w:job=0 w:write=0 w:write.n=4",
    ),
    same(
        "",
        "--name=r --ioengine=net --protocol=tcp --bs=8k --size=20k --port={port} --listen --rw=read --name=w --ioengine=net --protocol=tcp --bs=8k --size=20k --port={port} --hostname=127.0.0.1 --rw=write --startdelay=500ms",
        "w:write.n=3 w:write.lat.max=0",
    ),
    own(
        "",
        "--name=j --ioengine=exec --program=./pause",
        "job=300 read=0 write=0",
        "The job of fio 3.41 does not end with its program.",
    ),
    own(
        "",
        "--name=j --ioengine=exec --program=/bin/sleep --arguments=9 --runtime=1 --time_based",
        "job=1000 read=0 write=0",
        "fio 3.41 waits a second more before it ends the program.",
    ),
    same("", "--name=j --ioengine=cpuio --cpuload=50 --runtime=1 --time_based", "job=1000"),
    same(
        "splice=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=splice ",
        "job=200 write=200 write.lat.mean=50",
    ),
    same(
        "io_submit=50",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --ioengine=libaio --iodepth=4",
        "job=400 write=400",
    ),
    same(
        "io_submit=100",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --ioengine=libaio --iodepth=4 --iodepth_batch=4",
        "job=500 write=500",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=posixaio --iodepth=1",
        "job=200 write=200 write.lat.mean=50",
    ),
    same(
        "io_uring_enter=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=io_uring --iodepth=1",
        "job=400 write=400",
    ),
    same("fallocate=50", "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=falloc ", "job=200 write=200"),
    same(
        "fallocate=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=trim --ioengine=falloc ",
        "job=200 trim=200 trim.lat.mean=50",
    ),
    same(
        "ftruncate=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=ftruncate ",
        "job=200 write=200",
    ),
    same(
        "pwrite64=150",
        "--name=j --filename=f --size=64k --bs=8k --rw=write --ioengine=psync --io_submit_mode=offload --iodepth=4",
        "job=300 write=300",
    ),
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --io_submit_mode=offload",
        "job=200 write=200",
    ),
    same(
        "openat=100@f",
        "--name=j --filename=f --filesize=4k --size=4k --bs=4k --rw=read --ioengine=filecreate",
        "job=100 read=100 read.clat.max=100",
    ),
    same(
        "newfstatat,stat,statx=100@f",
        "--name=j --filename=f --filesize=4k --size=4k --bs=4k --rw=read --ioengine=filestat",
        "job=100 read=100 read.clat.max=100",
    ),
    same(
        "unlink,unlinkat=50",
        "--name=j --nrfiles=3 --filesize=4k --size=12k --bs=4k --rw=read --ioengine=filedelete",
        "job=150 read=150 read.clat.mean=50",
    ),
    same(
        "mkdir,mkdirat=50",
        "--name=j --nrfiles=3 --filesize=4k --size=12k --bs=4k --rw=read --ioengine=dircreate",
        "job=150 read=150 read.clat.mean=50",
    ),
];

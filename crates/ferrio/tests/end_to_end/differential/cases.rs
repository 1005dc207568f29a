//! The jobs whose reports are compared.
//!
//! Sections are separated by `|`, options by blanks. Cases in which 3.41 has a fault are left out: with `stats=0` it
//! writes objects without a name. Start reading at [`all`].

use crate::support::Scratch;

/// Kinds of `rw`.
const KINDS: [&str; 10] =
    ["read", "write", "randread", "randwrite", "rw", "randrw", "trim", "randtrim", "trimwrite", "randtrimwrite"];

/// Engines with the options that they need.
const ENGINES: [&str; 10] = [
    "ioengine=psync",
    "ioengine=sync",
    "ioengine=vsync",
    "ioengine=pvsync2",
    "ioengine=splice",
    "ioengine=mmap",
    "ioengine=libaio iodepth=4",
    "ioengine=io_uring iodepth=4",
    "ioengine=posixaio iodepth=2",
    "ioengine=null iodepth=4",
];

/// All combinations of latencies that may have percentiles.
const PERCENTILES: [&str; 8] = [
    "clat_percentiles=0 lat_percentiles=0 slat_percentiles=0",
    "clat_percentiles=0 lat_percentiles=0 slat_percentiles=1",
    "clat_percentiles=0 lat_percentiles=1 slat_percentiles=0",
    "clat_percentiles=0 lat_percentiles=1 slat_percentiles=1",
    "clat_percentiles=1 lat_percentiles=0 slat_percentiles=0",
    "clat_percentiles=1 lat_percentiles=0 slat_percentiles=1",
    "clat_percentiles=1 lat_percentiles=1 slat_percentiles=0",
    "clat_percentiles=1 lat_percentiles=1 slat_percentiles=1",
];

/// Options of a job that moves data in both directions through a queue.
const OPTIONS: &[&str] = &[
    "disable_lat=1",
    "disable_clat=1",
    "disable_slat=1",
    "disable_bw=1",
    "disable_lat=1 disable_clat=1 disable_slat=1 disable_bw=1",
    "disable_lat=1 lat_percentiles=1",
    "disable_clat=1 lat_percentiles=1",
    "disable_slat=1 slat_percentiles=1",
    "gtod_reduce=1",
    "gtod_reduce=1 lat_percentiles=1",
    "clocksource=clock_gettime",
    "percentile_list=50",
    "percentile_list=0.001:0.1:5:99.99999:100",
    "percentile_list=90:10:50 lat_percentiles=1",
    "percentile_list=1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20",
    "significant_figures=1",
    "significant_figures=10",
    "unified_rw_reporting=none",
    "unified_rw_reporting=mixed",
    "unified_rw_reporting=both",
    "unified_rw_reporting=0",
    "unified_rw_reporting=1",
    "unified_rw_reporting=mixed lat_percentiles=1 slat_percentiles=1",
    "unified_rw_reporting=both lat_percentiles=1 slat_percentiles=1",
    "unified_rw_reporting=both gtod_reduce=1",
    "unified_rw_reporting=both numjobs=2 group_reporting",
    "unified_rw_reporting=mixed numjobs=2 group_reporting",
    "unified_rw_reporting=both numjobs=2",
    "numjobs=3",
    "numjobs=3 group_reporting",
    "numjobs=2 thread",
    "numjobs=2 thread group_reporting description=both",
    "kb_base=1000",
    "kb_base=1000 unit_base=1",
    "unit_base=8",
    "unit_base=1",
    "unit_base=0",
    "disk_util=0",
    "description=a-job",
    "continue_on_error=none",
    "continue_on_error=all",
    "continue_on_error=read",
    "continue_on_error=verify description=x",
    "ignore_error=EIO,ENOSPC",
    "loops=2",
    "number_ios=7",
    "io_size=64k",
    "bs=4k,8k",
    "bsrange=4k-16k",
    "rwmixread=0",
    "rwmixread=100",
    "nrfiles=3",
    "iodepth=1",
    "iodepth=16 iodepth_batch=4 iodepth_batch_complete_min=2",
    "randrepeat=0 randseed=42",
];

/// Number of options at the start of the list that choose what is measured.
const N_OF_STATISTICS: usize = 10;

/// Several sections, and options given for all.
const SECTIONS: &[&str] = &[
    "[global] ioengine=null size=1m | [a] rw=read | [b] rw=write",
    "[global] ioengine=null size=1m bs=8k | [a] rw=read | [b] rw=write stonewall | [c] rw=randrw",
    "[global] ioengine=null size=1m group_reporting | [a] rw=read | [b] rw=write | [c] rw=randrw stonewall",
    "[global] ioengine=null size=1m | [a] group_reporting | [b] | [c] group_reporting rw=write",
    "[global] ioengine=null size=1m group_reporting | [a] rw=read new_group | [b] rw=write new_group numjobs=3",
    "[global] ioengine=null | [global] size=1m | [a] | [global] bs=8k | [b]",
    "[global] ioengine=null size=1m description=for-all | [a] | [b] description=own",
    "[global] ioengine=null size=1m name=named | [a] | [b] name=own",
    "[global] ioengine=net port=FREE_PORT size=256k bs=4k pingpong | [a] listen rw=read | [b] startdelay=1 hostname=127.0.0.1 rw=write",
    "[global] ioengine=net protocol=tcpv6 port=FREE_PORT size=64k unit_base=8 pingpong | [a] listen rw=read | [b] startdelay=1 hostname=::1 rw=write",
    "[global] ioengine=netsplice port=FREE_PORT size=256k bs=4k pingpong | [a] listen rw=read | [b] startdelay=1 hostname=127.0.0.1 rw=write",
    "[global] ioengine=null size=1m | [a] kb_base=1000 | [b] unit_base=1 stonewall",
    "[global] ioengine=null size=1m | [a] disk_util=0 | [b]",
    "[global] ioengine=null size=1m | [a] rw=read lat_percentiles=1 | [b] rw=write percentile_list=50 | [c] gtod_reduce=1",
    "[a] ioengine=psync size=64k rw=write | [b] ioengine=libaio size=64k rw=read iodepth=2 | [c] ioengine=null size=64k",
    "[a] blocksize=8k ioengine=null size=64k runtime=5 rw=randread | [b] bs=4k ioengine=null size=64k",
    "[a] ioengine=null size=64k bs=4k bs=8k rw=read rw=write",
    "[a] ioengine=null size=64k | [b] ioengine=null size=64k wait_for=a",
];

/// Jobs whose I/Os move no data. They run as threads, because processes of 3.41 lose the line that they print at their
/// start.
const TURNS: &[&str] = &[
    "[a] ioengine=cpuio cpuload=50 cpuchunks=1000 number_ios=4 thread",
    "[a] ioengine=cpuio cpuload=100 cpuchunks=300 cpumode=qsort number_ios=2 thread numjobs=2 group_reporting",
    "[a] ioengine=cpuio cpuload=101 cpuchunks=0 number_ios=3 rw=write bs=64k lat_percentiles=1 thread",
    "[a] ioengine=exec program=sleep arguments=0 runtime=5 number_ios=3 thread",
    "[a] ioengine=exec program=echo arguments=%r-%n runtime=5 number_ios=2 std_redirect=0 thread rw=write bs=64k",
    "[a] ioengine=exec program=true runtime=5 number_ios=2 grace_time=0 thread | [b] ioengine=null size=64k",
];

/// Jobs on ext4. Without `filesize` the peer takes no `inplace=0`.
const ON_EXT4: &[&str] = &[
    "[a] ioengine=e4defrag donorname=donor inplace=1 size=256k bs=16k rw=write",
    "[a] ioengine=e4defrag donorname=donor inplace=0 filesize=256k bs=16k rw=randwrite thread",
    "[a] ioengine=e4defrag donorname=donor inplace=1 size=64k bs=3k rw=write nrfiles=2 lat_percentiles=1",
];

/// Jobs that do no I/O, or that fail.
const IDLE_OR_FAILING: &[&str] = &[
    "[a] ioengine=psync size=64k rw=write create_only=1",
    "[a] ioengine=psync size=64k rw=read create_only=1 | [b] ioengine=null size=64k",
    "[a] ioengine=null size=64k startdelay=5 runtime=1 | [b] ioengine=null size=64k",
    "[a] filename=/dev/full size=64k rw=write",
    "[a] filename=/dev/full size=64k rw=write numjobs=2",
    "[a] filename=/dev/full size=64k rw=write numjobs=2 group_reporting",
    "[a] filename=/dev/full size=64k rw=write continue_on_error=all",
    "[a] filename=/dev/full size=64k rw=write continue_on_error=write description=text",
    "[a] filename=/dev/full size=64k rw=write ignore_error=,ENOSPC",
    "[a] filename=/dev/full size=64k rw=write unified_rw_reporting=mixed",
    "[a] filename=/dev/full size=64k rw=randrw unified_rw_reporting=both",
    "[a] filename=/dev/full size=64k rw=write stonewall | [b] ioengine=null size=64k stonewall",
    "[a] filename=/dev/zero size=64k rw=write fsync=4",
    "[a] filename=/dev/null size=64k rw=read",
    "[a] size=64k rw=trim",
    "[a] filename=/dev/null/x size=64k rw=read | [b] ioengine=null size=64k",
    "[a] filename=/dev/null/x size=64k rw=read",
];

/// Jobs that are long enough for samples of bandwidth.
const LONG: &[&str] = &[
    "[a] ioengine=psync size=1m rw=randrw time_based runtime=1200ms",
    "[a] ioengine=null size=1m rw=rw time_based runtime=1200ms unified_rw_reporting=mixed",
    "[a] ioengine=null size=1m rw=rw time_based runtime=1200ms unified_rw_reporting=both numjobs=2 group_reporting",
    "[a] ioengine=null size=1m rw=read time_based runtime=1200ms disable_bw=1",
    "[a] ioengine=null size=1m rw=read time_based runtime=1200ms gtod_reduce=1",
    "[a] ioengine=null size=1m rw=trimwrite time_based runtime=900ms bwavgtime=100 iopsavgtime=200",
    "[a] ioengine=null size=1m rw=read time_based runtime=700ms ramp_time=500ms",
    "[global] ioengine=null size=1m time_based runtime=700ms | [a] rw=read | [b] rw=write stonewall kb_base=1000",
];

/// Options that make both programs draw the same values in every run.
const SEEDS: &str = "randrepeat=0 randseed=137";

/// The parts of a report that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Everything that is no time.
    Counts,
    /// Everything except counts: 3.41 repeats a sync that had to wait for I/Os in flight.
    NoCounts,
    /// Not the counts, but samples: it runs long enough for them.
    Samples,
}

/// A job file, and the parts of its report that can be compared.
pub(super) type Case = (String, Extent);

pub(super) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for engine in ENGINES {
        // Trims need a device, except of the engine that does nothing.
        let n_kinds = if engine.contains("null") { KINDS.len() } else { 6 };
        cases.extend(KINDS[..n_kinds].iter().map(|kind| format!("[a] {engine} size=256k rw={kind} {SEEDS}")));
    }
    let queued = |options: &&str| format!("[a] ioengine=libaio size=256k rw=randrw iodepth=4 {SEEDS} {options}");
    let alone = |options: &&str| format!("[a] ioengine=psync size=256k rw=randrw {SEEDS} {options}");
    cases.extend(PERCENTILES.iter().chain(OPTIONS).map(queued));
    cases.extend(PERCENTILES.iter().chain(OPTIONS).map(alone));
    let synced = PERCENTILES.iter().chain(&OPTIONS[..N_OF_STATISTICS]);
    cases.extend(synced.map(|options| format!("[a] size=256k rw=write fsync=8 {SEEDS} {options}")));
    cases.extend(SECTIONS.iter().chain(IDLE_OR_FAILING).chain(TURNS).map(|case| (*case).to_owned()));
    if crate::engines_e4defrag::is_ext4(&Scratch::new("differential")) {
        cases.extend(ON_EXT4.iter().map(|case| (*case).to_owned()));
    }
    let counted = cases.into_iter().map(|case| (case, Extent::Counts));
    let long = LONG.iter().map(|case| ((*case).to_owned(), Extent::Samples));
    counted.chain(syncs_of_engines()).chain(long).collect()
}

/// Jobs with syncs on each engine.
fn syncs_of_engines() -> Vec<Case> {
    let mut cases = Vec::new();
    for engine in ENGINES.iter().filter(|engine| !engine.contains("mmap")) {
        let repeats = ["io_uring", "posixaio", "null"].iter().any(|name| engine.contains(name));
        let extent = if repeats { Extent::NoCounts } else { Extent::Counts };
        for sync in ["fsync=4", "fdatasync=8 end_fsync=1", "fsync=4 lat_percentiles=1 clat_percentiles=0"] {
            cases.push((format!("[a] {engine} size=256k rw=randwrite {sync} {SEEDS}"), extent));
        }
    }
    cases
}

//! The profile `act`: the load that a database of a certain kind puts on its devices (Aerospike's certification tool): small
//! random reads and large writes at fixed rates, judged by the share of slow ones in each hour.
//!
//! Must not know: how values are parsed, how latencies are judged. The jobs are those that fio 3.41 shows with `--debug=parse`. Start
//! reading at [`expand`].

use super::{ProfileJobs, Setting, on, set};
use crate::contradiction::Contradiction;
use crate::message::UserLine;

/// The options of the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActDraft {
    pub device_names: Option<String>,
    pub load: u32,
    /// `test-duration`, microseconds.
    pub duration_us: u64,
    /// `threads-per-queue`.
    pub n_threads: u32,
    /// `read-req-num-512-blocks`.
    pub n_sectors: u32,
    /// `large-block-op-kbytes`, which counts bytes.
    pub write_bytes: u32,
    /// `prep`.
    pub prepares: bool,
}

impl Default for ActDraft {
    fn default() -> Self {
        Self {
            device_names: None,
            load: 1,
            duration_us: 24 * SLICE_US,
            n_threads: 8,
            n_sectors: 3,
            write_bytes: 131_072,
            prepares: false,
        }
    }
}

/// Reads of a device per second at load 1.
const READS_PER_SEC: u64 = 2_000;

/// Records that are written per second and load; many of them make a write.
const RECORDS_PER_SEC: u64 = 1_000;

/// A row of the table of latencies: an hour.
pub const SLICE_US: u64 = 3_600_000_000;

/// Options that the table of latencies depends on.
const MEASURES: &[&str] =
    &["clat_percentiles", "lat_percentiles", "slat_percentiles", "disable_clat", "gtod_reduce", "stats"];

/// The jobs: for each device one of reads and one of writes, or with `prep` two that fill it.
pub(super) fn expand(draft: &ActDraft) -> Result<ProfileJobs, Vec<UserLine>> {
    let names = draft.device_names.as_deref().unwrap_or_default();
    let devices: Vec<&str> = names.split(',').filter(|name| !name.is_empty()).collect();
    if devices.is_empty() {
        return refused("you need to set IO target(s) with the device-names option.");
    }
    let globals = vec![
        set("direct", &1),
        set("ioengine", &"sync"),
        set("random_generator", &"lfsr"),
        set("group_reporting", &1),
        on("thread"),
    ];
    if draft.prepares {
        let jobs = devices.iter().flat_map(|device| [zeroes(device), salt(device)]).collect();
        return Ok(ProfileJobs { globals, jobs, ..ProfileJobs::default() });
    }
    let rates = rates(draft).or_else(refused)?;
    let fixed = vec![set("runtime", &duration(draft.duration_us)), set("time_based", &1)];
    let jobs =
        devices.iter().flat_map(|device| [reads(device, draft, &rates), writes(device, draft, &rates)]).collect();
    let n_slices = Some(draft.duration_us.div_ceil(SLICE_US));
    Ok(ProfileJobs { globals, fixed, jobs, reserved: MEASURES, n_slices })
}

fn refused<T>(why: impl std::fmt::Display) -> Result<T, Vec<UserLine>> {
    Err(vec![format!("act: {why}").into(), UserLine::named("profile act prep failed")])
}

/// I/Os per second of each job, and bytes of a read.
struct ActRates {
    reads: u64,
    writes: u64,
    read_bytes: u64,
}

fn rates(draft: &ActDraft) -> Result<ActRates, Contradiction> {
    let load = u64::from(draft.load);
    let read_bytes = u64::from(draft.n_sectors) * 512;
    let records_per_write = u64::from(draft.write_bytes).checked_div(read_bytes).unwrap_or(0);
    if draft.duration_us == 0 {
        return Err(Contradiction::ActDuration);
    }
    if draft.n_sectors == 0 || records_per_write == 0 {
        return Err(Contradiction::ActSizes);
    }
    let reads = (load * READS_PER_SEC).checked_div(u64::from(draft.n_threads)).unwrap_or(0);
    if reads == 0 {
        return Err(Contradiction::ActLoad);
    }
    Ok(ActRates { reads, writes: (load * RECORDS_PER_SEC).div_ceil(records_per_write), read_bytes })
}

/// Whole seconds where they are.
fn duration(duration_us: u64) -> String {
    if duration_us.is_multiple_of(1_000_000) {
        format!("{}s", duration_us / 1_000_000)
    } else {
        format!("{duration_us}us")
    }
}

type Job = (String, Vec<Setting>);

fn reads(device: &str, draft: &ActDraft, rates: &ActRates) -> Job {
    let settings = vec![
        set("filename", &device),
        set("rw", &"randread"),
        set("numjobs", &draft.n_threads),
        set("rate_iops", &rates.reads),
        set("bs", &rates.read_bytes),
    ];
    (format!("act-read-{device}"), settings)
}

fn writes(device: &str, draft: &ActDraft, rates: &ActRates) -> Job {
    let settings = vec![
        set("filename", &device),
        set("rw", &"randwrite"),
        set("rate_iops", &rates.writes),
        set("bs", &draft.write_bytes),
    ];
    (format!("act-write-{device}"), settings)
}

/// `prep`: zeroes over the whole device.
fn zeroes(device: &str) -> Job {
    let settings = vec![set("filename", &device), set("bs", &(1 << 20)), on("zero_buffers"), set("rw", &"write")];
    (format!("act-prep-zeroes-{device}"), settings)
}

/// `prep`: then data over all of it.
fn salt(device: &str) -> Job {
    let settings = vec![
        on("stonewall"),
        set("filename", &device),
        set("bs", &4096),
        set("ioengine", &"libaio"),
        set("iodepth", &64),
        set("rw", &"randwrite"),
    ];
    (format!("act-prep-salt-{device}"), settings)
}

//! From the keys of a report to the model.
//!
//! Must not know: JSON's syntax. Start reading at [`result`]. Figures that no run can have are errors: a negative count, a
//! time that is no number.

use crate::json::form::{
    DirectionKeys, DiskKeys, Document, JobKeys, LatencyKeys, Pairs, ResponseKeys, SteadyKeys, SyncKeys,
};
use crate::results::error::ReadErrorKind;
use crate::results::figure::{figure, impossible};
use crate::results::provenance::of_text;
use crate::results::text::mixed_remark;
use crate::results::{CpuFigures, DiskFigures, JobResult, LatencyClass, RunResult, Shares, SteadyOutcome};
use ferrio_stats::{Audit, Figures, LatencyFigures, SampledRate};
use ferrio_units::{DataDirection, PerDirection};

type Outcome<T> = Result<T, ReadErrorKind>;

/// Bytes of a sector in a disk's counters.
const SECTOR_BYTES: u64 = 512;
const NS_PER_MS: u64 = 1_000_000;

pub(super) fn result(document: Document) -> Outcome<RunResult> {
    let time = |key, value: Option<i64>| value.map(|value| count(key, value)).transpose();
    let seconds = time("timestamp", document.timestamp)?;
    let mut result = RunResult {
        program: document.version,
        timestamp_ms: time("timestamp_ms", document.timestamp_ms)?.or(seconds.map(|one| one.saturating_mul(1000))),
        global_options: document.global_options.0,
        ..RunResult::default()
    };
    let of_hosts = document.client_stats.items.into_iter().filter(|job| job.jobname != "All clients");
    let mut starts_ms = Vec::new();
    for mut job in document.jobs.items.into_iter().chain(of_hosts) {
        result.steady.extend(job.fate.steadystate.take().map(|keys| steady(&job.jobname, keys)));
        starts_ms.push(u64::try_from(job.fate.start_ms).unwrap_or_default());
        result.jobs.push(self::job(job, &mut result.remarks)?);
    }
    place(&mut result, &starts_ms);
    for disk in document.disk_util.items {
        result.disks.push(self::disk(disk)?);
    }
    if let Some(ferrio) = document.ferrio {
        let (unexamined, n_rules, accounts) = (ferrio.unexamined, ferrio.n_rules, ferrio.accounts);
        result.audit = ferrio.findings.map(|findings| Audit { findings, unexamined, n_rules, accounts });
        result.precision = ferrio.precision;
        responses(ferrio.response.items, &mut result.jobs)?;
        result.provenance = ferrio.provenance.as_deref().map(of_text).transpose()?.flatten().map(Box::new);
        if !ferrio.version.is_empty() {
            result.program = format!("ferrio {}", ferrio.version);
        }
    }
    Ok(result)
}

/// Adds response latencies to the jobs, whose order they have; clones of a job have one name.
fn responses(all: Vec<ResponseKeys>, jobs: &mut [JobResult]) -> Outcome<()> {
    let mut jobs = jobs.iter_mut().peekable();
    for keys in all {
        let direction = DataDirection::ALL.into_iter().find(|direction| direction.name() == keys.direction);
        let Some(direction) = direction else { continue };
        let group_index = u32::try_from(keys.groupid).unwrap_or_default();
        let lacks_it = |job: &JobResult| {
            let figures = job.directions[direction].as_ref();
            (job.name.as_str(), job.group_index) == (&keys.jobname, group_index)
                && figures.is_some_and(|figures| figures.response.is_none())
        };
        while jobs.next_if(|job| !lacks_it(job)).is_some() {}
        let Some(figures) = jobs.peek_mut().and_then(|job| job.directions[direction].as_mut()) else { break };
        figures.response = latency("response_ns", keys.response_ns)?;
    }
    Ok(())
}

/// Places the jobs on one clock, which begins with the first of them. fio before 3.34 does not say when its jobs began.
pub(crate) fn place(result: &mut RunResult, starts_ms: &[u64]) {
    let Some(first_ms) = starts_ms.iter().copied().min().filter(|first_ms| *first_ms > 0) else { return };
    result.start_ms = Some(first_ms);
    for (job, start_ms) in result.jobs.iter_mut().zip(starts_ms) {
        let start_ns = (start_ms - first_ms).saturating_mul(NS_PER_MS).min(u64::MAX / 8);
        job.reach_ns = Some((start_ns, start_ns.saturating_add(job.runtime_ns().min(u64::MAX / 8))));
    }
}

/// The outcome of a search for a steady state.
fn steady(job: &str, keys: SteadyKeys) -> SteadyOutcome {
    let measured = keys.criterion.as_str().map_or_else(|| keys.criterion.to_string(), str::to_owned);
    let mean_ios_per_sec = keys.data.and_then(|data| data.iops_mean);
    SteadyOutcome {
        mean_ios_per_sec,
        ..SteadyOutcome::of_texts(job, &(keys.ss, measured), keys.duration, keys.attained != 0)
    }
}

fn job(job: JobKeys, remarks: &mut Vec<String>) -> Outcome<JobResult> {
    let mut directions = PerDirection([direction(job.read)?, direction(job.write)?, direction(job.trim)?]);
    if let (Some(mixed), PerDirection([None, None, None])) = (direction(job.mixed)?, &directions) {
        directions.0[0] = Some(mixed);
        remarks.push(mixed_remark(&job.jobname));
    }
    let n_members = members(job.fate.runtime_ms, &directions);
    let name = if job.hostname.is_empty() { job.jobname } else { format!("{} on {}", job.jobname, job.hostname) };
    Ok(JobResult {
        name,
        description: job.desc,
        group_index: u32::try_from(job.groupid).unwrap_or_default(),
        error: i32::try_from(job.fate.error).unwrap_or(i32::MAX),
        reach_ns: None,
        options: job.options.0,
        clones: Vec::new(),
        syncs: syncs(job.sync, &directions)?,
        n_errors: count("total_err", job.fate.total_err)?,
        directions,
        cpu: Some(CpuFigures {
            user_percent: figure("usr_cpu", job.usr_cpu)?,
            system_percent: figure("sys_cpu", job.sys_cpu)?,
            n_switches: count("ctx", job.ctx)?,
            n_major_faults: count("majf", job.majf)?,
            n_minor_faults: count("minf", job.minf)?,
        }),
        depths: shares(job.iodepth_level.0)?,
        latency_classes: latency_classes([job.latency_ns, job.latency_us, job.latency_ms])?,
        series: Vec::new(),
        n_members,
    })
}

/// The least number of jobs whose times together are as long, none of them longer than the figures.
fn members(together_ms: i64, directions: &PerDirection<Option<Figures>>) -> Option<u32> {
    let longest_ns =
        directions.0.iter().flatten().map(|figures| figures.runtime_ns).max().filter(|longest| *longest > 0)?;
    let summed_ns = u64::try_from(together_ms).ok().filter(|summed| *summed > 0)?.saturating_mul(NS_PER_MS);
    u32::try_from(summed_ns.div_ceil(longest_ns)).ok()
}

/// Classes of latencies that are not empty, from the objects for nanoseconds, microseconds and milliseconds.
fn latency_classes(units: [Pairs<f64>; 3]) -> Outcome<Vec<LatencyClass>> {
    let mut classes = Vec::new();
    let keys = [("latency_ns", 1), ("latency_us", 1_000), ("latency_ms", 1_000_000)];
    for (pairs, (key, unit_ns)) in units.into_iter().zip(keys) {
        for (name, percent) in pairs.0 {
            let percent = figure(&format!("{key}.{name}"), percent)?;
            // The last class has no upper end: ">=2000".
            let up_to_ns = if name.starts_with(">=") {
                None
            } else {
                let number: u64 = name.parse().map_err(|_| impossible(key, &name))?;
                Some(number.saturating_mul(unit_ns))
            };
            if percent > 0.0 {
                classes.push(LatencyClass { up_to_ns, percent });
            }
        }
    }
    Ok(classes)
}

/// Shares of classes, percent.
fn shares(shares: Vec<(String, f64)>) -> Outcome<Shares> {
    let checked = |(class, share): (String, f64)| {
        let share = figure(&format!("iodepth_level.{class}"), share)?;
        Ok((class, share))
    };
    shares.into_iter().map(checked).collect()
}

fn direction(figures: Option<DirectionKeys>) -> Outcome<Option<Figures>> {
    let Some(figures) = figures.filter(|figures| figures.total_ios != 0 || figures.io_bytes != 0) else {
        return Ok(None);
    };
    let kib_per_sec = figure("bw", figures.bw)?;
    let bytes_per_sec =
        figures.bw_bytes.map_or(Ok(kib_per_sec * 1024.0), |bw| count("bw_bytes", bw).map(|bw| bw as f64))?;
    let n_samples = count("iops_samples", figures.iops_samples)?;
    let of_iops = [
        ("iops_min", figures.iops_min),
        ("iops_max", figures.iops_max),
        ("iops_mean", figures.iops_mean),
        ("iops_stddev", figures.iops_stddev),
    ];
    let iops = sampled(of_iops, n_samples, 1.0)?;
    let n_samples = count("bw_samples", figures.bw_samples)?;
    let of_bandwidth = [
        ("bw_min", figures.bw_min),
        ("bw_max", figures.bw_max),
        ("bw_mean", figures.bw_mean),
        ("bw_dev", figures.bw_dev),
    ];
    let bandwidth = sampled(of_bandwidth, n_samples, 1024.0)?;
    Ok(Some(Figures {
        n_ios: count("total_ios", figures.total_ios)?,
        bytes: count("io_bytes", figures.io_bytes)?,
        runtime_ns: count("runtime", figures.runtime)?.saturating_mul(1_000_000),
        ios_per_sec: figure("iops", figures.iops)?,
        bytes_per_sec,
        sampled_ios_per_sec: iops,
        sampled_bytes_per_sec: bandwidth,
        slat: latency("slat_ns", figures.slat_ns)?,
        clat: latency("clat_ns", figures.clat_ns)?,
        lat: latency("lat_ns", figures.lat_ns)?,
        response: None,
    }))
}

/// Syncs have no runtime in a report: theirs is that of the direction with the longest one.
fn syncs(syncs: Option<SyncKeys>, directions: &PerDirection<Option<Figures>>) -> Outcome<Option<Figures>> {
    let Some(syncs) = syncs else { return Ok(None) };
    let n_timed = syncs.lat_ns.as_ref().and_then(|latency| latency.n).unwrap_or_default();
    // fio's report counts no syncs of fdatasync, and none of a group; the number of their latencies is right.
    let n_ios = count("total_ios", syncs.total_ios)?.max(count("N", n_timed)?);
    if n_ios == 0 {
        return Ok(None);
    }
    let runtimes = directions.0.iter().flatten().map(|figures| figures.runtime_ns);
    let figures = Figures {
        n_ios,
        runtime_ns: runtimes.max().unwrap_or_default(),
        lat: latency("lat_ns", syncs.lat_ns)?,
        ..Figures::default()
    };
    Ok(Some(figures.with_rates()))
}

/// Minimum, maximum, mean and deviation with their keys.
fn sampled(values: [(&str, f64); 4], n_samples: u64, unit: f64) -> Outcome<Option<SampledRate>> {
    for (key, value) in values {
        figure(key, value)?;
    }
    let [min, max, mean, stddev] = values.map(|(_, value)| value);
    let rate = SampledRate { min: min * unit, max: max * unit, mean: mean * unit, stddev: stddev * unit, n_samples };
    Ok((n_samples > 0).then_some(rate))
}

/// A latency below a key, which errors name.
fn latency(key: &str, latency: Option<LatencyKeys>) -> Outcome<Option<LatencyFigures>> {
    // fio writes the latency of a direction without samples as zeros.
    let Some(latency) = latency.filter(|latency| latency.max != 0.0 && latency.n != Some(0)) else { return Ok(None) };
    let figure = |name: &str, value: f64| figure(&format!("{key}.{name}"), value);
    let mut percentiles = Vec::with_capacity(latency.percentile.len());
    for (name, value) in &latency.percentile {
        // fio 2 writes further keys with names among the percentiles.
        let (Ok(percent), Some(value_ns)) = (name.parse::<f64>(), value.as_f64()) else { continue };
        let name = format!("percentile.{name}");
        percentiles.push((figure(&name, percent)?, figure(&name, value_ns)? as u64));
    }
    percentiles.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut bins = Vec::with_capacity(latency.bins.len());
    for (value_ns, n_ios) in &latency.bins {
        let at_ns = value_ns.parse().map_err(|_| impossible(&format!("{key}.bins"), &value_ns))?;
        bins.push((at_ns, count(&format!("{key}.bins.{value_ns}"), *n_ios)?));
    }
    bins.sort_unstable();
    Ok(Some(LatencyFigures {
        n_samples: count(&format!("{key}.N"), latency.n.unwrap_or_default())?,
        min_ns: figure("min", latency.min)? as u64,
        max_ns: figure("max", latency.max)? as u64,
        mean_ns: figure("mean", latency.mean)?,
        stddev_ns: figure("stddev", latency.stddev)?,
        percentiles,
        bins,
    }))
}

fn disk(disk: DiskKeys) -> Outcome<DiskFigures> {
    let bytes = |name, sectors: Option<i64>| -> Outcome<Option<u64>> {
        let counted = sectors.map(|sectors| count(name, sectors)).transpose()?;
        Ok(counted.map(|sectors| sectors.saturating_mul(SECTOR_BYTES)))
    };
    Ok(DiskFigures {
        name: disk.name,
        n_reads: count("read_ios", disk.read_ios)?,
        n_writes: count("write_ios", disk.write_ios)?,
        merged_reads: count("read_merges", disk.read_merges)?,
        merged_writes: count("write_merges", disk.write_merges)?,
        read_bytes: bytes("read_sectors", disk.read_sectors)?,
        written_bytes: bytes("write_sectors", disk.write_sectors)?,
        busy_percent: figure("util", disk.util)?,
    })
}

/// A count is not negative.
fn count(name: &str, value: i64) -> Outcome<u64> {
    u64::try_from(value).map_err(|_| impossible(name, &value))
}

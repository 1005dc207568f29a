//! Terse output, read: versions 2 to 5, with other lines before and behind.
//!
//! Must not know: files. Start reading at [`read`]. What the fields do not have is not there in the result: options, distributions, the
//! numbers of I/Os (which are made of rate and runtime), the time of the run.

use super::{N_PERCENTILE_SLOTS, TerseVersion};
use crate::direction_block::{DEPTH_LABELS, LATENCY_LABELS};
use crate::json::form::Limited;
use crate::results::error::{ReadError, ReadErrorKind};
use crate::results::text::{clean, is_no_number, lines_of, mixed_remark, tell_no_numbers};
use crate::results::{
    CpuFigures, DiskFigures, Figures, JobResult, LatencyClass, LatencyFigures, ReportGaps, ResultFile, RunResult,
    SampledRate,
};

const N_TAIL_FIELDS: usize = 34;
/// Most semicolons of a job's name.
const MOST_IN_NAME: usize = 16;
const MOST: f64 = 1e30;

/// True of a line that is a job in terse output.
pub(crate) fn is_line_of_job(line: &str) -> bool {
    let line = clean(line);
    matches!(line.as_bytes(), [b'2'..=b'5', b';', ..])
        && line.bytes().filter(|byte| *byte == b';').count() > N_TAIL_FIELDS + 40
}

/// Reads the jobs, one a line. All lines of the file are jobs of one result.
pub(crate) fn read(file: &ResultFile, bytes: &[u8]) -> Result<RunResult, ReadError> {
    let mut result = RunResult { name: file.name(), ..RunResult::default() };
    let (mut is_behind_v2, mut n_no_numbers) = (false, 0);
    for (number, line) in lines_of(bytes) {
        let line = clean(&line);
        if line.is_empty() {
            continue;
        }
        if is_behind_v2 && let (Some(text), Some(job)) = (line.strip_prefix(';'), result.jobs.last_mut()) {
            text.clone_into(&mut job.description);
        }
        is_behind_v2 = false;
        if !is_line_of_job(line) {
            continue;
        }
        let mut fields: Vec<&str> = line.split(';').collect();
        for field in fields.iter_mut().filter(|field| is_no_number(field)) {
            *field = if field.ends_with('%') { "0%" } else { "0" };
            n_no_numbers += 1;
        }
        let job =
            TerseLine::of(&fields).ok_or_else(|| file.at_line(number, ReadErrorKind::TerseFields(fields.len())))?;
        is_behind_v2 = job.version == TerseVersion::V2;
        if !job.program.is_empty() {
            job.program.clone_into(&mut result.program);
        }
        if job.is_mixed {
            result.remarks.push(mixed_remark(&job.job.name));
        }
        // Each line has the counters of all disks.
        if !job.disks.is_empty() {
            result.disks = job.disks;
        }
        result.jobs.push(job.job);
        let (found, most) = (result.jobs.len(), Limited::<()>::MOST);
        if found > most {
            return Err(ReadErrorKind::TooMany { what: "jobs", found, most }.of(file.path()));
        }
    }
    if result.jobs.is_empty() {
        return Err(ReadErrorKind::Unknown.of(file.path()));
    }
    if result.program.is_empty() {
        "fio".clone_into(&mut result.program);
    }
    result.gaps = ReportGaps { lacks_options: true, has_whole_us: true, ..ReportGaps::default() };
    tell_no_numbers(&mut result, n_no_numbers);
    result.remarks.push(
        "Terse output has no numbers of I/Os (they are IOPS times runtime), and extremes and percentiles in whole microseconds. Its \
         percentiles are those of the completion latency; with lat_percentiles=1, which it does not tell, they are those of the total one."
            .to_owned(),
    );
    Ok(result)
}

/// A line as its parts.
struct TerseLine {
    version: TerseVersion,
    program: String,
    job: JobResult,
    is_mixed: bool,
    disks: Vec<DiskFigures>,
}

impl TerseLine {
    fn of(fields: &[&str]) -> Option<Self> {
        let version = TerseVersion::from_number(fields.first()?.parse().ok()?)?;
        let n_before = if version == TerseVersion::V2 { 1 } else { 2 };
        // A name may have semicolons: then the fields behind it are further on.
        (0..MOST_IN_NAME).find_map(|n_more| Self::with_name(version, fields, n_before, n_before + 1 + n_more))
    }

    /// The line, if the job's name ends before this field.
    fn with_name(version: TerseVersion, fields: &[&str], start: usize, end: usize) -> Option<Self> {
        let [group, error, rest @ ..] = fields.get(end..)? else { return None };
        let block = if version == TerseVersion::V5 { 47 } else { 41 };
        let blocks: Vec<&[&str]> = rest.chunks_exact(block).take_while(|fields| is_block(fields)).take(4).collect();
        let tail = FieldsBehind(rest.get(blocks.len() * block..)?);
        let is_mixed = blocks.len() == 1;
        let (shares, others) = tail.0.split_at_checked(N_TAIL_FIELDS)?;
        let mut job = JobResult {
            name: fields[start..end].join(";"),
            group_index: group.parse().ok()?,
            error: error.parse().ok()?,
            cpu: Some(tail.cpu()?),
            depths: depths(&shares[5..12])?,
            latency_classes: classes(&shares[12..])?,
            ..JobResult::default()
        };
        // A block behind those of the directions is their sum.
        let n_directions = if version == TerseVersion::V3 { 2 } else { 3 };
        for (place, fields) in blocks.iter().take(n_directions).enumerate() {
            job.directions.0[place] = direction(fields).ok()?;
        }
        if blocks.is_empty() || (!is_mixed && blocks.len() < n_directions) {
            return None;
        }
        let (disks, rest) = disks(others)?;
        let rest = match rest {
            [count, errno, rest @ ..] if whole(count).is_some() && whole(errno).is_some() => {
                job.n_errors = whole(count)?;
                rest
            }
            rest => rest,
        };
        job.description = rest.join(";");
        let program = if start == 1 { String::new() } else { fields[1].to_owned() };
        let is_mixed = is_mixed && job.directions.0[0].is_some();
        if is_mixed {
            job.options.push(("unified_rw_reporting".to_owned(), "mixed".to_owned()));
        }
        Some(Self { version, program, job, is_mixed, disks })
    }
}

/// The fields behind the directions.
struct FieldsBehind<'a>(&'a [&'a str]);

impl FieldsBehind<'_> {
    fn cpu(&self) -> Option<CpuFigures> {
        let [user, system, switches, major, minor, ..] = self.0 else { return None };
        Some(CpuFigures {
            user_percent: percent(user)?,
            system_percent: percent(system)?,
            n_switches: whole(switches)?,
            n_major_faults: whole(major)?,
            n_minor_faults: whole(minor)?,
        })
    }
}

/// The fields are those of a direction, as their percentiles show.
fn is_block(fields: &[&str]) -> bool {
    fields[12..12 + N_PERCENTILE_SLOTS].iter().all(|slot| slot.contains("%="))
}

fn whole(text: &str) -> Option<u64> {
    text.parse().ok()
}

fn decimal(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value| (0.0..=MOST).contains(value))
}

fn percent(text: &str) -> Option<f64> {
    decimal(text.strip_suffix('%')?)
}

/// A field is not what its place asks for.
#[derive(Debug)]
struct WrongField;

/// A direction; `None`: it had no I/O.
fn direction(fields: &[&str]) -> Result<Option<Figures>, WrongField> {
    let moved = || Some([whole(fields[0])?, whole(fields[1])?, whole(fields[2])?, whole(fields[3])?]);
    let [kib, kib_per_sec, iops, runtime_ms] = moved().ok_or(WrongField)?;
    let (bytes, ios_per_sec) = (kib.saturating_mul(1024), iops as f64);
    let slot = |slot: &&str| {
        let (percent, latency_us) = slot.split_once("%=")?;
        Some((decimal(percent)?, whole(latency_us)?.saturating_mul(1000)))
    };
    let slots: Option<Vec<(f64, u64)>> = fields[12..12 + N_PERCENTILE_SLOTS].iter().map(slot).collect();
    let percentiles: Vec<(f64, u64)> =
        slots.ok_or(WrongField)?.into_iter().filter(|(percent, _)| *percent > 0.0).collect();
    let clat = latency(&fields[8..12])?.map(|clat| LatencyFigures { percentiles, ..clat });
    let figures = Figures {
        n_ios: (ios_per_sec * runtime_ms as f64 / 1e3).round() as u64,
        bytes,
        runtime_ns: runtime_ms.saturating_mul(1_000_000),
        ios_per_sec,
        bytes_per_sec: kib_per_sec.saturating_mul(1024) as f64,
        sampled_ios_per_sec: samples(&fields[41..])?,
        sampled_bytes_per_sec: bandwidth_samples(&fields[36..])?,
        slat: latency(&fields[4..8])?,
        clat,
        lat: latency(&fields[32..36])?,
        response: None,
    };
    Ok((bytes > 0 || figures.n_ios > 0).then_some(figures))
}

/// Minimum, maximum, mean and deviation in microseconds; `None`: there is none.
fn latency(fields: &[&str]) -> Result<Option<LatencyFigures>, WrongField> {
    let read = || {
        Some(LatencyFigures {
            min_ns: whole(fields[0])?.saturating_mul(1000),
            max_ns: whole(fields[1])?.saturating_mul(1000),
            mean_ns: decimal(fields[2])? * 1e3,
            stddev_ns: decimal(fields[3])? * 1e3,
            ..LatencyFigures::default()
        })
    };
    let latency = read().ok_or(WrongField)?;
    Ok((latency.mean_ns > 0.0).then_some(latency))
}

/// Samples of I/Os a second, which version 5 has behind the number of samples of the bandwidth; `None`: there are none.
fn samples(fields: &[&str]) -> Result<Option<SampledRate>, WrongField> {
    let [_, min, max, mean, stddev, n_samples] = fields else { return Ok(None) };
    let read = || {
        let [min, max, mean, stddev] = [decimal(min)?, decimal(max)?, decimal(mean)?, decimal(stddev)?];
        Some(SampledRate { min, max, mean, stddev, n_samples: whole(n_samples)? })
    };
    let rate = read().ok_or(WrongField)?;
    Ok((rate.n_samples > 0).then_some(rate))
}

/// Samples of the bandwidth. Only version 5 tells their number.
fn bandwidth_samples(fields: &[&str]) -> Result<Option<SampledRate>, WrongField> {
    let kib = |field: &str| decimal(field).map(|figure| figure * 1024.0);
    let read = || {
        percent(fields[2])?;
        let [min, max, mean, stddev] = [kib(fields[0])?, kib(fields[1])?, kib(fields[3])?, kib(fields[4])?];
        let n_samples = fields.get(5).map_or(Some(0), |count| whole(count))?;
        Some(SampledRate { min, max, mean, stddev, n_samples })
    };
    let rate = read().ok_or(WrongField)?;
    Ok((rate.mean > 0.0).then_some(rate))
}

fn depths(fields: &[&str]) -> Option<Vec<(String, f64)>> {
    let all = DEPTH_LABELS.iter().zip(fields);
    all.map(|(label, share)| Some(((*label).to_owned(), percent(share)?))).collect()
}

/// Ten classes of microseconds and twelve of milliseconds.
fn classes(fields: &[&str]) -> Option<Vec<LatencyClass>> {
    let labels = LATENCY_LABELS[..10]
        .iter()
        .map(|label| (label, 1_000))
        .chain(LATENCY_LABELS.iter().map(|label| (label, 1_000_000)));
    let mut classes = Vec::new();
    for ((label, unit_ns), share) in labels.zip(fields) {
        let percent = percent(share)?;
        if percent > 0.0 {
            classes.push(LatencyClass { up_to_ns: label.parse::<u64>().ok().map(|number| number * unit_ns), percent });
        }
    }
    Some(classes)
}

/// The devices, nine fields each, and what stands behind them.
fn disks<'f, 'a>(mut fields: &'f [&'a str]) -> Option<(Vec<DiskFigures>, &'f [&'a str])> {
    let mut disks: Vec<DiskFigures> = Vec::new();
    while let [name, counters @ ..] = fields {
        let Some(disk) = disk(name, counters) else { break };
        // Means over the members of a device, which have fields of their own.
        if *name != "slaves" {
            disks.push(disk);
        }
        fields = fields.get(9..)?;
    }
    Some((disks, fields))
}

fn disk(name: &str, counters: &[&str]) -> Option<DiskFigures> {
    let [reads, writes, read_merges, write_merges, _, _, _, busy, ..] = counters else { return None };
    Some(DiskFigures {
        name: name.to_owned(),
        n_reads: whole(reads)?,
        n_writes: whole(writes)?,
        merged_reads: whole(read_merges)?,
        merged_writes: whole(write_merges)?,
        read_bytes: None,
        written_bytes: None,
        busy_percent: percent(busy)?,
    })
}

#[cfg(test)]
mod tests;

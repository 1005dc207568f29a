//! Single lines of the report for people.
//!
//! Must not know: what stands above or below a line. Start reading at any function; all take a line without the blanks around it.

use super::amounts::{percent, plain, scaled, unit_ns, value};
use crate::results::{CpuFigures, DiskFigures, Figures, JobResult, LatencyClass, LatencyFigures, SampledRate, Shares};

const NS_PER_MS: u64 = 1_000_000;
const SECTOR_BYTES: u64 = 512;

/// What the line at the start of a run says about a job: `a: (g=0): rw=read, bs=(R) ..., ioengine=psync, iodepth=1`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StartLine {
    pub(super) name: String,
    pub(super) group: u32,
    pub(super) options: Vec<(String, String)>,
    pub(super) iodepth: u32,
}

pub(super) fn start(line: &str) -> Option<StartLine> {
    let (name, rest) = line.split_once(": (g=")?;
    let (group, rest) = rest.split_once("): ")?;
    let iodepth = value(rest, "iodepth")?;
    let mut options = vec![("rw".to_owned(), value(rest, "rw")?.to_owned())];
    options.extend(block_size(rest).map(|bytes| ("bs".to_owned(), bytes.to_string())));
    options.push(("ioengine".to_owned(), value(rest, "ioengine")?.to_owned()));
    options.push(("iodepth".to_owned(), iodepth.to_owned()));
    Some(StartLine { name: name.to_owned(), group: group.parse().ok()?, options, iodepth: iodepth.parse().ok()? })
}

/// The block size, where it is one for all directions and is not rounded.
fn block_size(line: &str) -> Option<u64> {
    let (_, sizes) = line.split_once("bs=(R) ")?;
    let sizes = sizes.split(", ").take(3).map(|size| size.trim_start_matches("(W) ").trim_start_matches("(T) "));
    let mut all = sizes.flat_map(|size| size.split('-')).map(|size| Some((size, scaled(size)?)));
    let (first, bytes) = all.next()??;
    let is_whole =
        bytes.fract() == 0.0 && bytes < 1e12 && (first.ends_with("iB") || first.bytes().nth_back(1)?.is_ascii_digit());
    (is_whole && all.all(|other| other.is_some_and(|(text, _)| text == first))).then_some(bytes as u64)
}

/// A program's version on a line alone.
pub(super) fn version(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("fio-")?;
    (rest.starts_with(|first: char| first.is_ascii_digit()) && !line.contains(char::is_whitespace) && line.len() < 100)
        .then_some(line)
}

/// True of the first line of a job's block.
pub(super) fn is_header(line: &str) -> bool {
    line.contains(": (groupid=") && line.contains("): err=")
}

/// The first line of a job's block: its name, group and error, the number of its jobs, and the rest, which no other job has.
pub(super) fn header(line: &str) -> Option<(JobResult, u32, String)> {
    let at = line.rfind(": (groupid=")?;
    let (name, rest) = (&line[..at], &line[at + ": (groupid=".len()..]);
    let (group, rest) = rest.split_once(", jobs=")?;
    let (n_jobs, rest) = rest.split_once("): err=")?;
    let rest = rest.trim_start();
    let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let pid = value(rest, "pid").unwrap_or_default().split(':').next().unwrap_or_default();
    let name = match name.strip_prefix('<').and_then(|host| host.split_once("> ")) {
        Some((host, name)) => format!("{name} on {host}"),
        None => name.to_owned(),
    };
    let identity = format!("{name} {group} {pid}");
    let job = JobResult {
        name,
        group_index: group.parse().ok()?,
        error: rest[..n_digits].parse().ok()?,
        ..JobResult::default()
    };
    Some((job, n_jobs.parse().ok()?, identity))
}

/// The position and the rest of the first line of a direction; reads and writes in one count as reads.
pub(super) fn direction_start(line: &str) -> Option<(usize, bool)> {
    let starts = |name: &str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(": IOPS="));
    let place = ["read", "write", "trim", "mixed"].iter().position(|name| starts(name))?;
    Some(if place == 3 { (0, true) } else { (place, false) })
}

/// True of the first line of a direction in the text of fio 2.
pub(super) fn is_of_fio_2(line: &str) -> bool {
    let is_direction = ["read", "write", "trim", "mixed"].iter().any(|name| line.starts_with(name));
    is_direction && line.contains(": io=") && line.contains("runt=")
}

/// `read: IOPS=50.8k, BW=199MiB/s (208MB/s)(11.1MiB/56msec)`.
pub(super) fn direction(line: &str) -> Option<Figures> {
    let (_, moved) = line.split_once(")(").or_else(|| line.split_once(") ("))?;
    let (bytes, runtime) = moved.split(')').next()?.split_once('/')?;
    let runtime_ms: u64 = runtime.strip_suffix("msec")?.parse().ok()?;
    Some(Figures {
        bytes: scaled(bytes)? as u64,
        runtime_ns: runtime_ms.saturating_mul(NS_PER_MS),
        ios_per_sec: scaled(value(line, "IOPS")?)?,
        bytes_per_sec: scaled(value(line, "BW")?)?,
        ..Figures::default()
    })
}

/// The word before the unit, and the rest: `clat (usec): ...`, `clat percentiles (usec):`.
pub(super) fn with_unit<'a>(line: &'a str, middle: &str) -> Option<(&'a str, u64, &'a str)> {
    let (kind, rest) = line.split_once(middle)?;
    let (unit, rest) = rest.split_once(')')?;
    let is_kind = ["slat", "clat", "lat", "response", "sync"].contains(&kind);
    Some((kind, unit_ns(unit)?, rest.trim_start())).filter(|_| is_kind)
}

/// `: min=3, max=245, avg= 6.95, stdev=10.59`.
pub(super) fn latency(rest: &str, unit: u64) -> Option<LatencyFigures> {
    let extreme = |key| scaled(value(rest, key)?).map(|figure| (figure * unit as f64) as u64);
    let moment = |key| plain(value(rest, key)?).map(|figure| figure * unit as f64);
    Some(LatencyFigures {
        min_ns: extreme("min")?,
        max_ns: extreme("max")?,
        mean_ns: moment("avg")?,
        stddev_ns: moment("stdev")?,
        ..LatencyFigures::default()
    })
}

/// `|  1.00th=[  117],  5.00th=[  153]`.
pub(super) fn percentiles(line: &str, unit: u64) -> Option<Vec<(f64, u64)>> {
    let cells = line.trim_start_matches('|').split("],").map(str::trim).filter(|cell| !cell.is_empty());
    let cell = |cell: &str| {
        let (percent, latency) = cell.split_once("th=[")?;
        let latency: u64 = latency.trim_end_matches(']').trim().parse().ok()?;
        Some((plain(percent.trim())?, latency.saturating_mul(unit)))
    };
    cells.map(cell).collect()
}

/// `bw (  KiB/s): min= 3824, ...` in bytes, or `iops        : min=  956, ...`.
pub(super) fn samples(line: &str) -> Option<SampledRate> {
    let unit = match line.strip_prefix("bw (").and_then(|rest| rest.split_once("/s)")) {
        // The samples are KiB; with kb_base=1000 the label changes and the number does not.
        Some((unit, _)) if matches!(unit.trim(), "KiB" | "kB" | "KB") => 1024.0,
        Some((unit, _)) if matches!(unit.trim(), "MiB" | "MB") => 1024.0 * 1024.0,
        Some(_) => return None,
        None => 1.0,
    };
    let of = |key| plain(value(line, key)?).map(|figure| figure * unit);
    let n_samples = value(line, "samples")?.parse().ok()?;
    Some(SampledRate { min: of("min")?, max: of("max")?, mean: of("avg")?, stddev: of("stdev")?, n_samples })
}

/// `lat (usec)   : 100=17.68%, 250=1.44%`.
pub(super) fn latency_classes(line: &str) -> Option<Vec<LatencyClass>> {
    let (unit, cells) = line.strip_prefix("lat (")?.split_once(')')?;
    let unit = unit_ns(unit)?;
    let class = |(name, percent): (String, f64)| {
        let up_to_ns = match name.strip_prefix(">=") {
            Some(_) => None,
            None => Some(name.parse::<u64>().ok()?.saturating_mul(unit)),
        };
        Some(LatencyClass { up_to_ns, percent })
    };
    shares(cells)?.into_iter().filter(|(_, percent)| *percent > 0.0).map(class).collect()
}

/// `: 1=100.9%, 2=0.0%, >=64=0.0%`.
pub(super) fn shares(rest: &str) -> Option<Shares> {
    let cells = rest.trim_start().strip_prefix(':')?.split(',').map(str::trim).filter(|cell| !cell.is_empty());
    let cell = |cell: &str| cell.rsplit_once('=').and_then(|(name, share)| Some((name.to_owned(), percent(share)?)));
    cells.map(cell).collect()
}

/// `cpu          : usr=2.73%, sys=26.36%, ctx=1607, majf=0, minf=32`.
pub(super) fn cpu(line: &str) -> Option<CpuFigures> {
    let count = |key| value(line, key)?.parse().ok();
    Some(CpuFigures {
        user_percent: percent(value(line, "usr")?)?,
        system_percent: percent(value(line, "sys")?)?,
        n_switches: count("ctx")?,
        n_major_faults: count("majf")?,
        n_minor_faults: count("minf")?,
    })
}

/// `issued rwts: total=2846,1250,0,38 short=0,0,0,0 ...`: reads, writes, trims and syncs.
pub(super) fn issued(line: &str) -> Option<[u64; 4]> {
    let (_, counts) = line.split_once("total=")?;
    let mut all = counts.split([',', ' ']).map_while(|count| count.parse().ok());
    let first = [all.next()?, all.next()?, all.next()?];
    // fio before 3.7 has no syncs here.
    Some([first[0], first[1], first[2], all.next().unwrap_or(0)])
}

/// `vda: ios=13317/7031, sectors=27527/7031, merge=0/0, ticks=2696/1078, in_queue=3774, util=82.83%`.
pub(super) fn disk(line: &str) -> Option<DiskFigures> {
    let (name, rest) = line.split_once(": ios=")?;
    let rest = format!("ios={rest}");
    let pair = |key| {
        let (read, write) = value(&rest, key)?.split_once('/')?;
        Some((read.parse::<u64>().ok()?, write.parse::<u64>().ok()?))
    };
    let (n_reads, n_writes) = pair("ios")?;
    let sectors = pair("sectors");
    let bytes = |sectors: u64| sectors.saturating_mul(SECTOR_BYTES);
    let (merged_reads, merged_writes) = pair("merge").unwrap_or_default();
    Some(DiskFigures {
        name: name.to_owned(),
        n_reads,
        n_writes,
        merged_reads,
        merged_writes,
        read_bytes: sectors.map(|(read, _)| bytes(read)),
        written_bytes: sectors.map(|(_, written)| bytes(written)),
        busy_percent: percent(value(&rest, "util")?)?,
    })
}

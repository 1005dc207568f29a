//! Terse output (`--output-format=terse`, `--minimal`): for each job a line of fields separated by semicolons.
//!
//! Must not know: threads, engines, other formats. Start reading at [`render`], or at `reader`.

pub(crate) mod reader;

use crate::compat::LEAST_SHARE_OF_NS;
use crate::direction_block::{
    DirectionBlock, cpu_percent, depth_percents, latency_percent, min_ns, min_sample, percent,
};
use crate::view::{DiskReport, FioView, JobReport};
use ferrio_stats::{DiskCounters, LatencyStat, ReportSettings, SampleStat, ThreadStats, percentiles};

/// Number of percentiles in a direction's fields; unused ones are `0%=0`.
const N_PERCENTILE_SLOTS: usize = 20;

/// Layout of the fields (`--terse-version`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub enum TerseVersion {
    /// No program version; the description has a line of its own; no devices.
    V2,
    /// Without trims.
    #[default]
    V3,
    V4,
    /// With the statistics of the samples of I/Os per second.
    V5,
}

impl TerseVersion {
    /// The version with this number, 2 to 5.
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            2 => Some(Self::V2),
            3 => Some(Self::V3),
            4 => Some(Self::V4),
            5 => Some(Self::V5),
            _ => None,
        }
    }

    /// Its number, the first field of a line.
    pub fn number(self) -> u32 {
        self as u32 + 2
    }
}

/// A line for each job, including jobs that moved nothing.
pub fn render(result: &FioView<'_>, version: TerseVersion) -> String {
    result.jobs.iter().map(|job| line(result, job, version)).collect()
}

fn line(result: &FioView<'_>, job: &JobReport<'_>, version: TerseVersion) -> String {
    let mut fields = Fields::default();
    head(&mut fields, result, job, version);
    for block in DirectionBlock::all(result, job) {
        // Version 3 is older than trims.
        if version != TerseVersion::V3 || block.name != "trim" {
            direction(&mut fields, &job.settings, &block, version);
        }
    }
    tail(&mut fields, &job.stats);
    if version != TerseVersion::V2 {
        for disk in result.disks.as_deref().unwrap_or_default() {
            device(&mut fields, disk);
        }
    }
    if job.settings.show_errors {
        fields.add(job.stats.tolerated.n_total);
        fields.add(job.stats.tolerated.first_errno);
    }
    match (&job.description, version) {
        (None, _) => format!("{}\n", fields.0),
        (Some(description), TerseVersion::V2) => format!("{}\n;{description}\n", fields.0),
        (Some(description), _) => format!("{};{description}\n", fields.0),
    }
}

/// The fields so far.
#[derive(Default)]
struct Fields(String);

impl Fields {
    fn add(&mut self, field: impl std::fmt::Display) {
        if !self.0.is_empty() {
            self.0.push(';');
        }
        self.0.push_str(&field.to_string());
    }

    fn add_all<T: std::fmt::Display>(&mut self, fields: impl IntoIterator<Item = T>) {
        fields.into_iter().for_each(|field| self.add(field));
    }

    fn add_float(&mut self, value: f64) {
        self.add(format_args!("{value:.6}"));
    }
}

fn head(fields: &mut Fields, result: &FioView<'_>, job: &JobReport<'_>, version: TerseVersion) {
    fields.add(version.number());
    if version != TerseVersion::V2 {
        fields.add(&result.record.version);
    }
    fields.add(&job.name);
    fields.add(job.group_index);
    fields.add(job.stats.errno);
}

fn direction(fields: &mut Fields, settings: &ReportSettings, block: &DirectionBlock<'_>, version: TerseVersion) {
    let stats = &*block.stats;
    fields.add(stats.bytes >> 10);
    fields.add(stats.bw_bytes_per_sec() / 1024);
    fields.add(stats.whole_ios_per_sec());
    fields.add(stats.runtime_ms());
    latency(fields, &stats.slat);
    latency(fields, &stats.clat);
    let kind = match (settings.lat_percentiles, settings.clat_percentiles) {
        (true, _) => Some(&stats.lat),
        (false, true) => Some(&stats.clat),
        (false, false) => None,
    };
    percentile_slots(fields, kind, &settings.percentiles);
    latency(fields, &stats.lat);
    extremes(fields, &stats.bw);
    fields.add(format_args!("{:.6}%", block.percent_of_group()));
    fields.add_float(stats.bw.mean);
    fields.add_float(stats.bw.standard_deviation());
    if version == TerseVersion::V5 {
        fields.add(stats.bw.n_samples);
        extremes(fields, &stats.iops);
        fields.add_float(stats.iops.mean);
        fields.add_float(stats.iops.standard_deviation());
        fields.add(stats.iops.n_samples);
    }
}

/// Microseconds: extremes rounded down, mean and deviation with six decimals.
fn latency(fields: &mut Fields, stat: &LatencyStat) {
    fields.add(min_ns(stat) / 1000);
    fields.add(stat.max_ns / 1000);
    fields.add_float(stat.mean_ns() / 1000.0);
    fields.add_float(stat.standard_deviation_ns() / 1000.0);
}

fn extremes(fields: &mut Fields, stat: &SampleStat) {
    fields.add(min_sample(stat));
    fields.add(stat.max);
}

fn percentile_slots(fields: &mut Fields, stat: Option<&LatencyStat>, wanted: &[f64]) {
    let list = match stat.map(|stat| &stat.histogram) {
        None => Vec::new(),
        Some(Some(histogram)) => percentiles(histogram, wanted),
        Some(None) => percentiles(&ferrio_stats::Histogram::default(), wanted),
    };
    let slots = list.iter().map(|(percentile, latency_ns)| format!("{percentile:.6}%={}", latency_ns / 1000));
    fields.add_all(slots.chain(std::iter::repeat_with(|| "0%=0".to_owned())).take(N_PERCENTILE_SLOTS));
}

fn tail(fields: &mut Fields, stats: &ThreadStats) {
    let usage = &stats.usage;
    for cpu_ns in [usage.user_ns, usage.system_ns] {
        fields.add(format_args!("{:.6}%", cpu_percent(cpu_ns, stats.total_runtime_ns)));
    }
    fields.add_all([usage.context_switches, usage.major_faults, usage.minor_faults]);
    let depths = depth_percents(&stats.depth.0, stats.n_issued());
    fields.add_all(depths.map(|percent| format!("{percent:3.1}%")));
    let buckets = &stats.latency_buckets;
    let share = |count: &u64| latency_percent(*count, stats.n_issued());
    let us = buckets.us.iter().map(share).collect::<Vec<f64>>();
    let n_below_us = buckets.ns.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let below_us = percent(n_below_us, stats.n_issued(), LEAST_SHARE_OF_NS);
    fields.add(format_args!("{:3.2}%", below_us + us[0]));
    fields
        .add_all(us[1..].iter().copied().chain(buckets.ms.iter().map(share)).map(|percent| format!("{percent:3.2}%")));
}

fn device(fields: &mut Fields, disk: &DiskReport) {
    fields.add(&disk.name);
    device_counters(fields, &disk.counters);
    if let Some(slaves) = &disk.slaves {
        fields.add("slaves");
        device_counters(fields, slaves);
    }
}

/// Device fields have no sectors.
fn device_counters(fields: &mut Fields, counters: &DiskCounters) {
    fields.add_all([counters.ios, counters.merges, counters.ticks_ms].concat());
    fields.add(counters.in_queue_ms);
    fields.add(format_args!("{:3.2}%", counters.util_percent));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_their_numbers() {
        for number in 2..=5 {
            assert_eq!(TerseVersion::from_number(number).map(TerseVersion::number), Some(number));
        }
        assert_eq!(TerseVersion::from_number(1), None);
        assert_eq!(TerseVersion::from_number(6), None);
        assert_eq!(TerseVersion::default().number(), 3);
    }

    #[test]
    fn slots_are_filled_up() {
        let slots = |stat: Option<&LatencyStat>, wanted: &[f64]| {
            let mut fields = Fields::default();
            percentile_slots(&mut fields, stat, wanted);
            fields.0
        };
        assert_eq!(slots(None, &[1.0]), ["0%=0"; 20].join(";"));
        let unmeasured = slots(Some(&LatencyStat::default()), &[1.5, 2.0]);
        assert!(unmeasured.starts_with("1.500000%=0;2.000000%=0;0%=0;"), "{unmeasured}");
        assert_eq!(unmeasured.split(';').count(), 20);
        let many: Vec<f64> = (1..=30).map(f64::from).collect();
        assert_eq!(slots(Some(&LatencyStat::new(true)), &many).split(';').count(), 20);
    }
}

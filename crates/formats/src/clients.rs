//! Reports of the servers of `--client`: those of each, and the sum of their jobs.
//!
//! Must not know: connections. Start reading at [`render`]. Source: reference, "Client and server".

use crate::json::{self, Detail};
use crate::text::put;
use crate::view::{FioView, JobReport};
use crate::{RenderOptions, fio_view, normal, terse};
use ferrio_spec::{OutputFormat, OutputFormats};
use ferrio_stats::{LatencySearch, RunRecord, WorkerRecord};
use std::borrow::Cow;

/// Name of the sum of the jobs of all servers.
const ALL_CLIENTS: &str = "All clients";

/// What one server has measured.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedRun<'a> {
    /// Its host as it was written in `--client`; the path of a local socket; empty: the local host.
    pub address_host: String,
    /// Its port; 0: a local socket.
    pub port: u16,
    /// The name that its host has for itself.
    pub host_name: &'a str,
    pub record: &'a RunRecord,
}

/// The reports of all servers in all requested formats. `together`: the record of all, with its findings and messages.
pub fn render(
    served: &[ServedRun<'_>],
    together: &FioView<'_>,
    formats: &OutputFormats,
    options: &RenderOptions,
) -> String {
    let views: Vec<FioView<'_>> = served.iter().map(|run| fio_view(run.record)).collect();
    let sum = sum_record(&views);
    let sum = sum.as_ref().map(|(record, n_blocks)| sum_view(record, *n_blocks));
    let one = |format| match format {
        OutputFormat::Normal => normal_text(served, &views, sum.as_ref(), options),
        OutputFormat::Terse => {
            views.iter().chain(&sum).map(|view| terse::render(view, options.terse_version)).collect()
        }
        OutputFormat::Json | OutputFormat::JsonPlus => {
            let detail = if format == OutputFormat::Json { Detail::Plain } else { Detail::WithBins };
            let parts = json::ServedParts { served, views: &views, sum: sum.as_ref(), together };
            json::render_served(&parts, detail, &options.zone)
        }
        OutputFormat::Jsonl => String::new(),
    };
    formats.written().into_iter().map(one).collect()
}

/// The report of a server while its jobs run (`--status-interval`), as text.
pub fn status_text(run: &ServedRun<'_>, options: &RenderOptions) -> String {
    normal_text(std::slice::from_ref(run), &[fio_view(run.record)], None, options)
}

fn normal_text(
    served: &[ServedRun<'_>],
    views: &[FioView<'_>],
    sum: Option<&FioView<'_>>,
    options: &RenderOptions,
) -> String {
    let mut text = String::new();
    for (run, view) in served.iter().zip(views) {
        put!(&mut text, "<{}> ", run.host_name);
        text.push_str(&normal::render_in(view, &options.zone));
    }
    text.extend(sum.map(|view| normal::job_block(view, &options.zone)));
    text
}

/// The sum of the blocks of all servers as the record of one job, and the number of blocks; `None`: there are fewer than two.
fn sum_record(views: &[FioView<'_>]) -> Option<(RunRecord, u32)> {
    let blocks: Vec<&JobReport<'_>> = views.iter().flat_map(|view| &view.jobs).collect();
    let (first, last) = (blocks.first()?, blocks.last()?);
    if blocks.len() < 2 {
        return None;
    }
    let mut settings = first.settings.clone().into_owned();
    let mut stats = first.stats.clone().into_owned();
    for block in &blocks[1..] {
        settings.slat_percentiles |= block.settings.slat_percentiles;
        settings.clat_percentiles |= block.settings.clat_percentiles;
        settings.lat_percentiles |= block.settings.lat_percentiles;
        stats.merge(&block.stats);
    }
    // fio sets none of these for the sum.
    settings.percentile_digits = 0;
    settings.is_reported = true;
    stats.latency_search = LatencySearch::default();
    stats.job_start_ms = 0;
    let worker = WorkerRecord {
        name: ALL_CLIENTS.to_owned(),
        group_index: last.group_index,
        settings,
        stats: Box::new(stats),
        ..WorkerRecord::default()
    };
    let timestamp_ms = views.iter().map(|view| view.record.timestamp_ms).max().unwrap_or_default();
    let record = RunRecord { timestamp_ms, workers: vec![worker], ..RunRecord::default() };
    Some((record, blocks.len() as u32))
}

fn sum_view(record: &RunRecord, n_blocks: u32) -> FioView<'_> {
    let mut view = fio_view(record);
    for job in &mut view.jobs {
        (job.n_members, job.is_sum_of_clients, job.latency_depth) = (n_blocks, true, 0);
        job.given_options = Cow::default();
    }
    view
}

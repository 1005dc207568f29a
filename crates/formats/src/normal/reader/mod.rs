//! The report for people, read from a file that may have other lines before and behind it: a post, a mail, a terminal.
//!
//! What the text does not have is not there in the result: distributions, and all options but those of the lines that fio prints at the
//! start. Must not know: files. Start reading at [`read`]; `lines` knows single lines, `amounts` numbers.

mod amounts;
mod lines;

use crate::json::form::Limited;
use crate::results::error::{ReadError, ReadErrorKind};
use crate::results::text::{clean, lines_of};
use crate::results::{Figures, JobResult, ReportGaps, ResultFile, RunResult, SteadyOutcome};
use lines::StartLine;
use std::borrow::Cow;
use std::collections::HashSet;

/// Rows of percentiles of a table beyond these are not kept.
const MOST_PERCENTILES: usize = 1_000;

/// True of a line that only this report has.
pub(crate) fn is_line_of_report(line: &str) -> bool {
    lines::is_header(clean(line))
}

/// Reads a report. Of several (`--status-interval`) the last counts.
pub(crate) fn read(file: &ResultFile, bytes: &[u8]) -> Result<RunResult, ReadError> {
    let mut report = TextReport::default();
    for (number, line) in lines_of(bytes) {
        let line = with_zeroes(clean(&line), &mut report.n_no_numbers);
        report.take(&line).map_err(|kind| file.at_line(number, kind))?;
    }
    let mut result = report.finish().map_err(|kind| kind.of(file.path()))?;
    result.name = file.name();
    Ok(result)
}

/// Where the lines belong that name no job, direction or device.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum TextPlace {
    /// Outside of any block.
    #[default]
    Outside,
    Job,
    /// A direction, by its position; `None`: the sum beside the directions, which is not kept.
    Direction(Option<usize>),
    Disks,
}

/// The report as far as it was read.
#[derive(Default)]
struct TextReport {
    result: RunResult,
    starts: Vec<StartLine>,
    place: TextPlace,
    /// The latency whose percentiles follow, and nanoseconds of their unit.
    table: Option<(String, u64)>,
    syncs: Figures,
    /// Reads, writes, trims and syncs of the job; `None`: the line has not come.
    issued: Option<[u64; 4]>,
    /// Jobs of the report, by what no two of them have in common.
    seen: HashSet<String>,
    /// All jobs of the report have come.
    is_past_jobs: bool,
    n_reports: usize,
    n_no_numbers: usize,
}

/// The line with a zero in the place of each figure that is no number, which are counted.
fn with_zeroes<'a>(line: &'a str, n_found: &mut usize) -> Cow<'a, str> {
    let mut line = Cow::Borrowed(line);
    for word in ["=-nan", "=nan", "=-inf", "=inf", "= -nan", "=  nan"] {
        let n_words = line.matches(word).count();
        if n_words > 0 {
            *n_found += n_words;
            line = Cow::Owned(line.replace(word, "=0"));
        }
    }
    line
}

fn expected(what: &'static str, line: &str) -> ReadErrorKind {
    ReadErrorKind::Text { what, text: line.chars().take(80).collect() }
}

impl TextReport {
    fn take(&mut self, line: &str) -> Result<(), ReadErrorKind> {
        if line.is_empty() {
            return Ok(());
        }
        if let Some(version) = lines::version(line) {
            version.clone_into(&mut self.result.program);
        } else if lines::is_header(line) {
            return self.begin_job(line);
        } else if let Some(start) = lines::start(line) {
            if self.starts.len() < Limited::<()>::MOST {
                self.starts.push(start);
            }
        } else if line.starts_with("Run status group ") || line.starts_with("Sum over all groups ") {
            self.end_job();
            self.is_past_jobs = true;
        } else if line.starts_with("Disk stats (read/write)") {
            self.end_job();
            self.is_past_jobs = true;
            self.place = TextPlace::Disks;
            self.result.disks.clear();
        } else if self.place == TextPlace::Disks {
            return self.disk(line);
        } else if self.place != TextPlace::Outside {
            return self.line_of_job(line);
        }
        Ok(())
    }

    fn disk(&mut self, line: &str) -> Result<(), ReadErrorKind> {
        if !line.contains(": ios=") {
            return Ok(());
        }
        let disk = lines::disk(line).ok_or_else(|| expected("the counters of a disk", line))?;
        let (found, most) = (self.result.disks.len() + 1, Limited::<()>::MOST);
        if found > most {
            return Err(ReadErrorKind::TooMany { what: "disks", found, most });
        }
        self.result.disks.push(disk);
        Ok(())
    }

    fn begin_job(&mut self, line: &str) -> Result<(), ReadErrorKind> {
        self.end_job();
        let (mut job, n_jobs, identity) =
            lines::header(line).ok_or_else(|| expected("the first line of a job", line))?;
        if self.is_past_jobs || !self.seen.insert(identity.clone()) {
            self.result.jobs.clear();
            self.result.disks.clear();
            self.result.steady.clear();
            self.result.remarks.clear();
            self.seen = HashSet::from([identity]);
            self.n_reports += 1;
            self.is_past_jobs = false;
        }
        let (found, most) = (self.result.jobs.len() + 1, Limited::<()>::MOST);
        if found > most {
            return Err(ReadErrorKind::TooMany { what: "jobs", found, most });
        }
        job.options = self.options_of(&job, n_jobs);
        job.n_members = Some(n_jobs);
        self.result.jobs.push(job);
        self.place = TextPlace::Job;
        Ok(())
    }

    /// The options that the lines at the start of the run tell; a group of jobs has the depth of the deepest.
    fn options_of(&self, job: &JobResult, n_jobs: u32) -> Vec<(String, String)> {
        let of_group = || self.starts.iter().filter(|start| start.group == job.group_index);
        let Some(own) = of_group().rfind(|start| start.name == job.name) else { return Vec::new() };
        let mut options = own.options.clone();
        if n_jobs > 1 {
            // What all jobs of the group have, and the depth of the deepest.
            options.retain(|option| of_group().all(|start| start.options.contains(option)));
            let deepest = of_group().map(|start| start.iodepth).max().unwrap_or(own.iodepth);
            let has_engine = options.iter().any(|(name, _)| name == "ioengine");
            options.retain(|(name, _)| name != "iodepth");
            if has_engine {
                options.push(("iodepth".to_owned(), deepest.to_string()));
            }
            options.push(("numjobs".to_owned(), n_jobs.to_string()));
            options.push(("group_reporting".to_owned(), "1".to_owned()));
        }
        options
    }

    fn line_of_job(&mut self, line: &str) -> Result<(), ReadErrorKind> {
        let Some(job) = self.result.jobs.last_mut() else { return Ok(()) };
        if lines::is_of_fio_2(line) {
            return Err(ReadErrorKind::TextOfFio2);
        }
        if line.starts_with('|') {
            return self.percentiles(line);
        }
        self.table = None;
        if let Some((place, is_mixed)) = lines::direction_start(line) {
            let figures = lines::direction(line).ok_or_else(|| expected("the rates of a direction", line))?;
            // The sum beside the directions (unified_rw_reporting=both) is none of them.
            let is_sum = is_mixed && job.active().next().is_some();
            self.place = TextPlace::Direction(Some(place).filter(|_| !is_sum));
            if !is_sum {
                job.directions.0[place] = Some(figures);
            }
            if is_mixed && !is_sum {
                job.options.push(("unified_rw_reporting".to_owned(), "mixed".to_owned()));
                self.result.remarks.push(crate::results::text::mixed_remark(&job.name));
            }
            return Ok(());
        }
        if let Some((kind, unit, rest)) = lines::with_unit(line, " percentiles (") {
            self.table = rest.starts_with(':').then(|| (kind.to_owned(), unit));
            return Ok(());
        }
        if let Some((kind, unit, rest)) = lines::with_unit(line, " (")
            && rest.starts_with(": min=")
        {
            let latency = lines::latency(rest, unit).ok_or_else(|| expected("a latency", line))?;
            if let Some(place) = self.latency_of(kind) {
                *place = Some(latency);
            }
            return Ok(());
        }
        self.other_line(line)
    }

    /// The place of a latency in the direction, or in the syncs, whose lines are read.
    fn latency_of(&mut self, kind: &str) -> Option<&mut Option<crate::results::LatencyFigures>> {
        let Some(at) = ["slat", "clat", "lat", "response"].iter().position(|name| *name == kind) else {
            return Some(&mut self.syncs.lat);
        };
        let TextPlace::Direction(Some(place)) = self.place else { return None };
        let figures = self.result.jobs.last_mut()?.directions.0[place].as_mut()?;
        [&mut figures.slat, &mut figures.clat, &mut figures.lat, &mut figures.response].into_iter().nth(at)
    }

    fn percentiles(&mut self, line: &str) -> Result<(), ReadErrorKind> {
        let Some((kind, unit)) = self.table.clone() else { return Ok(()) };
        let found = lines::percentiles(line, unit).ok_or_else(|| expected("percentiles", line))?;
        if let Some(Some(latency)) = self.latency_of(&kind) {
            let n_left = MOST_PERCENTILES.saturating_sub(latency.percentiles.len());
            latency.percentiles.extend(found.into_iter().take(n_left));
        }
        Ok(())
    }

    /// The lines behind a colon: samples, classes of latencies, use of the CPU, depths, counts.
    fn other_line(&mut self, line: &str) -> Result<(), ReadErrorKind> {
        let place = self.place;
        let Some(job) = self.result.jobs.last_mut() else { return Ok(()) };
        let head = line.split(':').next().unwrap_or_default().trim_end();
        let rest = &line[line.find(':').unwrap_or(line.len())..];
        let figures = match place {
            TextPlace::Direction(Some(at)) => job.directions.0[at].as_mut(),
            _ => None,
        };
        match head {
            "iops" => {
                let rate = lines::samples(line).ok_or_else(|| expected("sampled rates", line))?;
                if let Some(figures) = figures {
                    figures.sampled_ios_per_sec = Some(rate);
                }
            }
            head if head.starts_with("bw (") => {
                let rate = lines::samples(line).ok_or_else(|| expected("sampled rates", line))?;
                if let Some(figures) = figures {
                    figures.sampled_bytes_per_sec = Some(rate);
                }
            }
            head if head.starts_with("lat (") => {
                let classes = lines::latency_classes(line).ok_or_else(|| expected("shares of latencies", line))?;
                job.latency_classes.extend(classes);
            }
            "cpu" => job.cpu = Some(lines::cpu(line).ok_or_else(|| expected("the use of the CPU", line))?),
            "IO depths" => job.depths = lines::shares(rest).ok_or_else(|| expected("shares of depths", line))?,
            "issued rwts" | "issued rwt" => {
                self.issued = Some(lines::issued(line).ok_or_else(|| expected("the numbers of I/Os", line))?);
            }
            "errors" => {
                let n_errors = amounts::value(line, "total").and_then(|count| count.parse().ok());
                job.n_errors = n_errors.ok_or_else(|| expected("the number of errors", line))?;
            }
            "Description" => {
                rest.trim_start_matches([':', ' ', '[']).trim_end_matches(']').clone_into(&mut job.description);
            }
            "steadystate" => self.result.steady.push(steady(&job.name, line)),
            _ => {}
        }
        Ok(())
    }

    /// Gives the directions of the job their numbers of I/Os, which stand below all of them.
    fn end_job(&mut self) {
        let (issued, syncs) = (self.issued.take(), std::mem::take(&mut self.syncs));
        self.table = None;
        if matches!(std::mem::take(&mut self.place), TextPlace::Outside | TextPlace::Disks) {
            return;
        }
        let Some(job) = self.result.jobs.last_mut() else { return };
        for (place, figures) in job.directions.0.iter_mut().enumerate() {
            let Some(figures) = figures else { continue };
            let by_rate = (figures.ios_per_sec * figures.runtime_ns as f64 / 1e9).round() as u64;
            figures.n_ios = issued.map_or(by_rate, |issued| issued[place]);
        }
        if issued.is_none() && job.active().next().is_some() {
            self.result.remarks.push(format!(
                "The text of job {:?} has no line of its numbers of I/Os: they are IOPS times runtime.",
                job.name
            ));
        }
        let n_syncs = issued.map_or(0, |issued| issued[3]);
        if n_syncs > 0 {
            let runtime_ns = job.runtime_ns();
            job.syncs = Some(Figures { n_ios: n_syncs, runtime_ns, ..syncs }.with_rates());
        }
    }

    fn finish(mut self) -> Result<RunResult, ReadErrorKind> {
        self.end_job();
        let mut result = self.result;
        if result.jobs.is_empty() {
            return Err(ReadErrorKind::Unknown);
        }
        if result.program.is_empty() {
            "fio".clone_into(&mut result.program);
        }
        result.gaps = ReportGaps { lacks_options: true, ..ReportGaps::default() };
        crate::results::text::tell_no_numbers(&mut result, self.n_no_numbers);
        if self.n_reports > 0 {
            let n = self.n_reports + 1;
            result.remarks.push(format!("The file has {n} reports; the figures are those of the last one."));
        }
        Ok(result)
    }
}

/// `steadystate  : attained=yes, bw=..., iops=961, iops mean dev=0.693%`.
fn steady(job: &str, line: &str) -> SteadyOutcome {
    let (criterion, measured) = line.rsplit_once(", ").and_then(|(_, last)| last.split_once('=')).unwrap_or_default();
    let is_attained = amounts::value(line, "attained") == Some("yes");
    let mean_ios_per_sec = amounts::value(line, "iops").and_then(amounts::scaled);
    let texts = (criterion.to_owned(), measured.to_owned());
    SteadyOutcome { mean_ios_per_sec, ..SteadyOutcome::of_texts(job, &texts, 0, is_attained) }
}

#[cfg(test)]
mod tests;

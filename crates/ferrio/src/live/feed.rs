//! The side of the run: an observer that turns events into frames for viewers.
//!
//! Must not know: screens, pages. Start reading at [`LiveFeed`].

use crate::live::frame::{FindingLine, HostInterval, JobInterval, JobName, LiveFrame, RunState};
use crate::live::link::FrameWriter;
use crate::live::totals::JobTotals;
use crate::session::Observer;
use ferrio_formats::native::note_text;
use ferrio_run::{Handle, RunEvent};
use ferrio_stats::provenance::JobOptions;
use ferrio_stats::{ClonesTogether, IntervalStats, JobEnd, JobIntervalStats, Provenance, RunRecord};
use ferrio_units::PerDirection;
use std::time::{Duration, Instant};

/// Time between two looks of the rules at the figures so far.
const AUDIT_INTERVAL: Duration = Duration::from_secs(5);

/// Sends frames to viewers. The run needs snapshots (`snapshot_interval`) and intervals (`tells_series` or `record_interval`).
pub struct LiveFeed {
    writers: Vec<FrameWriter>,
    /// A viewer wants the counts since the start.
    sends_totals: bool,
    /// What asks for reports of the running state; `None`: there are none.
    handle: Option<Handle>,
    clones: ClonesTogether,
    jobs: Vec<FedJob>,
    audited_at: Instant,
}

/// A job whose clones end one after the other.
struct FedJob {
    first_number: u32,
    n_clones: u32,
    n_ended: u32,
    n_failed: u32,
    totals: JobTotals,
    /// The counts have changed since they were sent.
    has_news: bool,
}

impl LiveFeed {
    /// A feed for the run that the handle controls: it asks for reports of the running state, which the rules look at.
    pub fn new(writers: Vec<FrameWriter>, handle: Handle) -> Self {
        Self { handle: Some(handle), ..Self::without_audit(writers) }
    }

    /// A feed for a run whose running state no rules look at: that of many hosts.
    pub fn without_audit(writers: Vec<FrameWriter>) -> Self {
        Self {
            writers,
            sends_totals: false,
            handle: None,
            clones: ClonesTogether::default(),
            jobs: Vec::new(),
            audited_at: Instant::now(),
        }
    }

    /// The same, and viewers are sent the counts of jobs since their start.
    #[must_use]
    pub fn with_totals(self) -> Self {
        Self { sends_totals: true, ..self }
    }

    /// Tells the viewers that the run is over.
    pub fn end(mut self) -> Vec<FrameWriter> {
        // The last ones may have been left out.
        self.jobs.iter_mut().for_each(|job| job.has_news = true);
        self.send_totals();
        self.send(&LiveFrame::End);
        self.writers
    }

    /// Tells how many hosts have come, of how many.
    pub fn hosts_coming(&mut self, n_here: u32, n_hosts: u32) {
        self.send(&LiveFrame::HostsComing { n_here, n_hosts });
    }

    /// Tells the names of the hosts by rank, once the jobs are known.
    pub fn hosts(&mut self, names: Vec<String>) {
        self.send(&LiveFrame::Hosts(names));
    }

    /// Tells what all clones of a job on the host with this rank did in an interval. The job is named by its index.
    pub fn host_interval(&mut self, rank: u32, job: u32, clones: &JobIntervalStats) {
        self.send(&LiveFrame::HostInterval(HostInterval::new(rank, job, clones)));
    }

    /// Tells that all clones of a job on the host with this rank have ended.
    pub fn host_job_ended(&mut self, rank: u32, job: u32) {
        self.send(&LiveFrame::HostJobEnded { rank, job });
    }

    /// Tells that the host with this rank is lost, and with it the clones with these numbers: they count as failed.
    pub fn host_lost(&mut self, rank: u32, reason: &str, clones: &[u32]) {
        self.send(&LiveFrame::HostLost { rank, reason: reason.to_owned() });
        for number in clones {
            let sums = self.clones.lost(*number);
            self.intervals(&sums);
            self.clone_ended(*number, true);
        }
    }

    /// Tells a line of text.
    pub fn message(&mut self, text: &str) {
        self.send(&LiveFrame::Message(text.to_owned()));
    }

    /// Tells the state of the run, and the counts that have changed.
    pub fn state(&mut self, state: RunState) {
        self.send(&LiveFrame::State(state));
        self.send_totals();
    }

    fn send(&mut self, frame: &LiveFrame) {
        self.writers.iter_mut().for_each(|writer| writer.send(frame));
    }

    fn begin(&mut self, provenance: &Provenance, interval: Duration) {
        let interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        self.clones = ClonesTogether::of_all_jobs(&provenance.jobs, interval_ns);
        let fed = provenance.jobs.iter().zip(0..).map(|(job, index)| FedJob {
            first_number: job.first_number,
            n_clones: job.n_clones,
            n_ended: 0,
            n_failed: 0,
            totals: JobTotals { job: index, ..JobTotals::default() },
            has_news: false,
        });
        self.jobs = fed.collect();
        let words = provenance.command_line.iter().skip(1).filter(|word| *word != "--live");
        self.send(&LiveFrame::Begin {
            title: words.map(String::as_str).collect::<Vec<_>>().join(" "),
            jobs: provenance.jobs.iter().map(name).collect(),
            devices: provenance.devices.iter().map(|device| device.name.clone()).collect(),
        });
    }

    fn intervals(&mut self, sums: &[JobIntervalStats]) {
        for sum in sums {
            let Some(job) = self.index_of(sum.sum.job_number) else { continue };
            self.send(&LiveFrame::Interval(JobInterval::new(job as u32, sum)));
        }
    }

    /// Adds an interval of a worker to the counts of its job.
    fn count(&mut self, stretch: &IntervalStats) {
        let Some(index) = self.index_of(stretch.job_number) else { return };
        let job = &mut self.jobs[index];
        job.totals.add(&stretch.stats);
        job.has_news = true;
    }

    /// Sends the counts that have changed.
    fn send_totals(&mut self) {
        if !self.sends_totals {
            return;
        }
        for job in self.jobs.iter_mut().filter(|job| job.has_news) {
            job.has_news = false;
            let frame = LiveFrame::Totals(job.totals.clone());
            self.writers.iter_mut().for_each(|writer| writer.send(&frame));
        }
    }

    fn job_ended(&mut self, end: &JobEnd) {
        let (sums, _) = self.clones.ended(end);
        self.intervals(&sums);
        self.clone_ended(end.stretch.job_number, end.failure.is_some() || end.killed_by.is_some());
    }

    fn clone_ended(&mut self, number: u32, has_failed: bool) {
        let Some(index) = self.index_of(number) else { return };
        let job = &mut self.jobs[index];
        job.n_ended += 1;
        job.n_failed += u32::from(has_failed);
        if job.n_ended == job.n_clones {
            let n_failed = job.n_failed;
            self.send(&LiveFrame::JobEnded { job: index as u32, n_failed });
        }
    }

    fn index_of(&self, number: u32) -> Option<usize> {
        let is_of = |job: &FedJob| number >= job.first_number && number - job.first_number < job.n_clones;
        self.jobs.iter().position(is_of)
    }

    /// Shows what the rules say about the running state.
    fn audit(&mut self, record: &RunRecord) {
        let line = |finding: ferrio_stats::Finding| FindingLine {
            severity: finding.severity,
            title: finding.title,
            jobs: finding.jobs,
        };
        let findings = ferrio_insight::audit(record).findings.into_iter().map(line).collect();
        self.send(&LiveFrame::Findings(findings));
    }

    fn ask_for_audit(&mut self) {
        if self.audited_at.elapsed() >= AUDIT_INTERVAL {
            self.audited_at = Instant::now();
            self.handle.iter().for_each(Handle::snapshot);
        }
    }
}

/// A job as viewers know it.
fn name(job: &JobOptions) -> JobName {
    let directions = job.options.as_ref().map(|options| options.pattern.mix.directions());
    JobName {
        name: job.name.clone(),
        n_clones: job.n_clones,
        directions: directions.unwrap_or_else(|| PerDirection::all(false)),
    }
}

impl Observer for LiveFeed {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Recording { provenance, interval, .. } => self.begin(provenance, *interval),
            RunEvent::Interval(stretch) => {
                if self.sends_totals {
                    self.count(stretch);
                }
                let sums = self.clones.interval(stretch);
                self.intervals(&sums);
            }
            RunEvent::JobEnded(end) => self.job_ended(end),
            RunEvent::Eta(snapshot) => {
                let (n_running, eta_secs, only_ramps) = (snapshot.n_running, snapshot.eta_secs, snapshot.only_ramps);
                self.state(RunState { n_running, eta_secs, only_ramps });
                self.ask_for_audit();
            }
            RunEvent::Status(record) => self.audit(record),
            RunEvent::Message(_, note) => self.send(&LiveFrame::Message(note_text(note))),
            RunEvent::LayingOut { job_name, .. } => {
                self.send(&LiveFrame::Message(format!("{job_name}: files are laid out")));
            }
            RunEvent::Starting { .. }
            | RunEvent::Began { .. }
            | RunEvent::AtStonewall(_)
            | RunEvent::Stopping
            | RunEvent::Trace(_)
            | RunEvent::Bandwidth(_) => {}
        }
    }
}

//! What the views of a fleet (`--live`, `--web`) are told: what its jobs do on all hosts together, as the jobs of one run, and each host.
//!
//! Must not know: how it is shown. Start reading at [`FleetViews::event`].

use super::clones::HostClones;
use ferrio::fleet::FleetEvent;
use ferrio::live::feed::LiveFeed;
use ferrio::live::frame::RunState;
use ferrio::session::Observer;
use ferrio_run::RunEvent;
use ferrio_stats::provenance::JobOptions;
use ferrio_stats::{ClonesTogether, JobIntervalStats};
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

/// Time between two words about the state of the run, where nothing else changes it.
const STATE_INTERVAL: Duration = Duration::from_secs(1);

/// Tells viewers of a fleet.
pub(super) struct FleetViews {
    feed: LiveFeed,
    interval: Duration,
    /// Number of hosts that are to come.
    n_expected: u32,
    clones: HostClones,
    /// The clones of each host, by rank; empty before the run has begun.
    hosts: BTreeMap<u32, ClonesTogether>,
    /// Numbers of the first clones of the jobs on a host.
    first_numbers: Vec<u32>,
    /// Hosts that were lost before the run has begun, with the reason.
    lost_early: Vec<(u32, String)>,
    /// Numbers of the clones that run.
    running: HashSet<u32>,
    planned: Option<Duration>,
    begun_at: Option<Instant>,
    told_at: Option<Instant>,
}

impl FleetViews {
    /// Views of a run whose figures come at this interval.
    pub(super) fn new(feed: LiveFeed, interval: Duration) -> Self {
        Self {
            feed,
            interval,
            n_expected: 0,
            clones: HostClones::default(),
            hosts: BTreeMap::new(),
            first_numbers: Vec::new(),
            lost_early: Vec::new(),
            running: HashSet::new(),
            planned: None,
            begun_at: None,
            told_at: None,
        }
    }

    /// The run is over: what tells the viewers.
    pub(super) fn into_feed(self) -> LiveFeed {
        self.feed
    }

    /// So many hosts are to come.
    pub(super) fn expect(&mut self, n_hosts: u32) {
        self.n_expected = n_hosts;
        self.feed.hosts_coming(0, n_hosts);
    }

    /// Shows a line of text.
    pub(super) fn message(&mut self, text: &str) {
        self.feed.message(text);
    }

    pub(super) fn event(&mut self, event: &FleetEvent<'_>) {
        self.clones.take(event);
        match event {
            FleetEvent::Joined { .. } => self.feed.hosts_coming(self.clones.hosts.len() as u32, self.n_expected),
            FleetEvent::Began => self.begin(),
            FleetEvent::Interval { rank, host, interval } => {
                self.begin();
                let stretch = self.clones.on_host(interval, *rank, host, 0);
                let is_new = self.running.insert(stretch.job_number);
                self.feed.event(&RunEvent::Interval(Box::new(stretch)));
                let sums = self.hosts.get_mut(rank).map(|clones| clones.interval(interval));
                self.tell_host(*rank, &sums.unwrap_or_default());
                self.tell_state(is_new);
            }
            FleetEvent::JobEnded { rank, host, end } => {
                self.begin();
                let mut of_all = (*end).clone();
                of_all.stretch = self.clones.on_host(&end.stretch, *rank, host, 0);
                self.running.remove(&of_all.stretch.job_number);
                self.feed.event(&RunEvent::JobEnded(Box::new(of_all)));
                let ended = self.hosts.get_mut(rank).map(|clones| clones.ended(end));
                let (sums, total) = ended.unwrap_or_default();
                self.tell_host(*rank, &sums);
                if let Some(job) = total.and_then(|total| self.job_of(&total)) {
                    self.feed.host_job_ended(*rank, job);
                }
                self.tell_state(true);
            }
            FleetEvent::Lost { rank, reason, .. } if self.begun_at.is_some() => {
                self.lose(*rank, reason);
                self.tell_state(true);
            }
            FleetEvent::Lost { rank, reason, .. } => self.lost_early.push((*rank, (*reason).to_owned())),
            _ => {}
        }
    }

    /// Tells the jobs and the hosts, once.
    fn begin(&mut self) {
        let Some(of_one) = self.clones.facts_of_one().filter(|_| self.begun_at.is_none()) else { return };
        self.begun_at = Some(Instant::now());
        self.planned = planned(&of_one.jobs);
        let interval_ns = u64::try_from(self.interval.as_nanos()).unwrap_or(u64::MAX);
        let clones = ClonesTogether::of_all_jobs(&of_one.jobs, interval_ns);
        self.hosts = self.clones.hosts.keys().map(|rank| (*rank, clones.clone())).collect();
        self.first_numbers = of_one.jobs.iter().map(|job| job.first_number).collect();
        let mut facts = self.clones.facts_of_all();
        // Devices of other machines: how busy they are is not seen from here.
        facts.devices = Vec::new();
        self.feed.event(&RunEvent::Recording { provenance: Box::new(facts), run_epoch_ms: 0, interval: self.interval });
        self.feed.hosts(self.clones.hosts.values().cloned().collect());
        for (rank, reason) in std::mem::take(&mut self.lost_early) {
            self.lose(rank, &reason);
        }
    }

    fn lose(&mut self, rank: u32, reason: &str) {
        let numbers = self.clones.numbers_on(rank);
        for number in &numbers {
            self.running.remove(number);
        }
        self.feed.host_lost(rank, reason, &numbers);
    }

    /// The index of the job of these figures of one host.
    fn job_of(&self, clones: &JobIntervalStats) -> Option<u32> {
        let before = self.first_numbers.iter().take_while(|first| **first <= clones.sum.job_number).count();
        u32::try_from(before).ok()?.checked_sub(1)
    }

    fn tell_host(&mut self, rank: u32, sums: &[JobIntervalStats]) {
        for sum in sums {
            if let Some(job) = self.job_of(sum) {
                self.feed.host_interval(rank, job, sum);
            }
        }
    }

    /// Tells the state of the run, if it has changed, or from time to time.
    fn tell_state(&mut self, has_changed: bool) {
        if !has_changed && self.told_at.is_some_and(|told_at| told_at.elapsed() < STATE_INTERVAL) {
            return;
        }
        self.told_at = Some(Instant::now());
        let left =
            self.planned.zip(self.begun_at).map(|(planned, begun_at)| planned.saturating_sub(begun_at.elapsed()));
        let eta_secs = left.map(|left| left.as_secs_f64().ceil() as u64);
        self.feed.state(RunState { n_running: self.running.len() as u32, eta_secs, only_ramps: false });
    }
}

/// The time that jobs take which all end by their time; `None`: some end otherwise.
fn planned(jobs: &[JobOptions]) -> Option<Duration> {
    let (mut before, mut longest) = (Duration::ZERO, Duration::ZERO);
    for job in jobs {
        let spec = job.options.as_ref()?;
        if !(spec.limits.time_based && spec.limits.runtime_us > 0) {
            return None;
        }
        if spec.grouping.stonewall {
            before = before.saturating_add(std::mem::take(&mut longest));
        }
        let limits = &spec.limits;
        let own_us = limits.runtime_us.saturating_add(limits.ramp_time_us).saturating_add(limits.startdelay_us.1);
        longest = longest.max(Duration::from_micros(own_us));
    }
    Some(before.saturating_add(longest))
}

//! The passes of a worker, and what happens before the first, between them, and after the last.
//!
//! Must not know: the loops. Start reading at [`Worker::run_to_end`].
//! Facts: reference "When a pass ends", "Sync and barriers".

use super::iolog::IoLog;
use super::{Stop, Worker};
use crate::error::{JobError, job_error};
use crate::events::Stream;
use crate::plan::limit_ios;
use crate::supervisor::board::WorkerState;
use crate::trace::TraceGroup;
use ferrio_job::spec::{DirectionMix, SizeSpec};
use ferrio_stats::ThreadStats;
use ferrio_units::{DataDirection, errno_text};
use ferrio_workload::sprandom::{PassOutline, RegionOutline};

impl Worker<'_> {
    /// Does all passes. Returns why the job failed, if it did.
    pub(super) fn run_to_end(&mut self) -> Option<JobError> {
        let result = self.begin().and_then(|()| self.run_passes());
        self.leave_flow();
        self.finish_log();
        if self.plan.spec.layout.unlink && !self.context.readonly {
            self.files.unlink();
        }
        let logged = self.iolog.take().map_or(Ok(()), IoLog::finish);
        let logged = logged.map_err(|error| job_error!(error.raw_os_error().unwrap_or(5), "write iolog"));
        let told = self.finish_journal();
        self.save_state_at_end();
        result.and(logged).and(told).err()
    }

    /// Tells what the first pass of `sprandom` is to do.
    fn trace_sprandom(&self) {
        let Some(spec) = self.plan.spec.pattern.sprandom else { return };
        if !self.context.trace.has(TraceGroup::SpRandom, self.plan.thread_number) {
            return;
        }
        let block_bytes = self.plan.write_block_bytes();
        for index in 0..self.files.n_files() {
            let file = self.files.plan(index);
            let outline = PassOutline::new(&spec, file.length_bytes / block_bytes.max(1), block_bytes);
            let PassOutline { n_blocks, n_overwrites, n_cached, oldest_valid, n_regions, .. } = outline;
            let model = format!("over-provisioning={}, oldest valid={oldest_valid:.4}", spec.over_provisioning);
            let counts =
                format!("blocks={n_blocks}, overwrites={n_overwrites}, cached={n_cached}, regions={n_regions}");
            self.trace(TraceGroup::SpRandom, || format!("{}: {counts}, {model}", file.name));
            for (region, RegionOutline { n_writes, n_overwrites }) in outline.regions().enumerate() {
                let counts = format!("writes={n_writes}, overwrites={n_overwrites}");
                self.trace(TraceGroup::SpRandom, || format!("{}: region {region}: {counts}", file.name));
            }
        }
    }

    fn begin(&mut self) -> Result<(), JobError> {
        if self.plan.spec.layout.pre_read && !self.plan.engine.diskless {
            self.control.slot().set_state(WorkerState::PreReading);
            self.files.pre_read()?;
        }
        self.trace(TraceGroup::Mem, || format!("buffers: {} x {} bytes", self.queue.iodepth, self.block_bytes));
        self.trace_sprandom();
        self.usage_at_start = self.usage();
        let now_ns = self.clock.now_ns();
        self.control.start(now_ns);
        self.pass_start_ns = now_ns;
        self.workload.start_pace(now_ns);
        self.pauses.start(now_ns);
        self.join_flow();
        if self.control.is_ramping() {
            self.account.start_ramp();
        } else {
            self.steady.start(now_ns, self.steady_totals());
            self.minima.start(now_ns);
            self.start_latency_search(now_ns);
        }
        self.account.start_windows(now_ns);
        self.intervals.start(now_ns);
        self.start_log(now_ns)?;
        self.account.stats.job_start_ms = self.job_start_ms().ok_or_else(|| {
            let id = self.plan.spec.reporting.job_start_clock_id;
            job_error!(22, "clock_gettime").explained(format!("fio: job_start_clock_id={id}: no such clock"))
        })?;
        self.set_first_depth();
        self.control.slot().set_state(if self.account.is_ramping() {
            WorkerState::Ramping
        } else {
            WorkerState::Running
        });
        if let Some(path) = &self.plan.spec.write_iolog {
            let log = IoLog::open(path).map_err(|error| {
                let errno = error.raw_os_error().unwrap_or(5);
                job_error!(errno, "write_iolog").explained(format!("fio: open write iolog {}: {error}", path.display()))
            })?;
            self.iolog = Some(log);
            self.observes_issues = self.wants_issues();
            (0..self.files.n_files()).for_each(|file| self.log_file(file, "add"));
        }
        Ok(())
    }

    pub(super) fn finish_log(&mut self) {
        let now_ns = self.clock.now_ns();
        if let Some(log) = self.log.as_mut().filter(|_| !self.account.is_ramping()) {
            log.finish(now_ns, &self.account.stats);
        }
    }

    fn run_passes(&mut self) -> Result<(), JobError> {
        let mut n_passes = 0;
        loop {
            let done_before = (self.account.ios(), self.unread_bytes());
            let stop = self.do_pass();
            n_passes += 1;
            let now_ns = self.clock.now_ns();
            self.end_of_pass(now_ns);
            let stop = self.with_late_failure(stop);
            let stop = self.verified(stop);
            let moved = (self.account.ios(), self.unread_bytes()) != done_before;
            let goes_on = matches!(stop, Stop::PassEnd) && moved && self.goes_on(n_passes);
            let stop = if goes_on { stop } else { self.verified_at_last(stop) };
            match self.with_late_failure(stop) {
                Stop::Failed(error) => {
                    // The job has failed already.
                    let _ = self.close_all();
                    return Err(*error);
                }
                Stop::PassEnd if goes_on => {}
                Stop::PassEnd | Stop::Ended | Stop::Filled => return self.finish_files(),
            }
            self.finish_files()?;
            if self.plan.spec.layout.unlink_each_loop && !self.context.readonly {
                self.files.unlink();
            }
            self.workload.start_pass();
            if let Some(priorities) = &mut self.priorities {
                priorities.start_pass();
            }
            self.pass_start_ns = self.clock.now_ns();
        }
    }

    /// One pass of what the job is to do.
    fn do_pass(&mut self) -> Stop {
        if self.plan.spec.is_verify_only() {
            return self.remember_pass();
        }
        self.mark_pass();
        self.run_pass()
    }

    /// One pass by the loop of the job.
    pub(super) fn run_pass(&mut self) -> Stop {
        let stop = match self.queue.iodepth {
            1 if self.stamps_wanted && self.plan.engine.stamps_calls => self.run_depth_one::<true>(),
            1 => self.run_depth_one::<false>(),
            _ => self.run_queued(),
        };
        self.finish_checks();
        stop
    }

    /// What comes of a pass once what it wrote is read back.
    fn verified(&mut self, stop: Stop) -> Stop {
        match stop {
            Stop::PassEnd | Stop::Filled => match self.verify_pass() {
                Stop::PassEnd => stop,
                other => other,
            },
            other => other,
        }
    }

    /// What comes of the last pass once what all of them left is read back.
    fn verified_at_last(&mut self, stop: Stop) -> Stop {
        match stop {
            Stop::PassEnd | Stop::Filled if self.late_failure.is_none() => match self.verify_passes() {
                Stop::PassEnd => stop,
                other => other,
            },
            other => other,
        }
    }

    fn unread_bytes(&self) -> u64 {
        self.verifier.as_ref().map_or(0, |verifier| verifier.unread_bytes())
    }

    /// The job fails, but not within the completion that shows it: at its next look up, or the end of its pass.
    pub(super) fn fail_soon(&mut self, error: JobError) {
        self.late_failure.get_or_insert_with(|| Box::new(error));
        self.control.look_up();
    }

    /// A pass in which something was wrong is the last.
    fn with_late_failure(&mut self, stop: Stop) -> Stop {
        match self.late_failure.take() {
            Some(failure) if !matches!(stop, Stop::Failed(_)) => Stop::Failed(failure),
            _ => stop,
        }
    }

    /// A job verifies what it wrote.
    fn verifies_writes(&self) -> bool {
        let spec = &self.plan.spec;
        spec.verify.is_some() && matches!(spec.pattern.mix, DirectionMix::Write | DirectionMix::ReadWrite)
    }

    /// What counts for `io_size`: also what a job reads back (as seen on fio 3.33).
    fn moved_bytes(&self) -> u64 {
        let issued_bytes = self.workload.issued_bytes();
        if !self.verifies_writes() {
            return issued_bytes;
        }
        let bytes = self.account.bytes();
        if self.plan.spec.is_verify_only() {
            // Of the run that did the I/Os of this stream, and read back what is read now.
            return issued_bytes.saturating_add(bytes[DataDirection::Read]).saturating_add(self.unread_bytes());
        }
        issued_bytes.max(bytes[DataDirection::Read].saturating_add(bytes[DataDirection::Write]))
    }

    /// Another pass follows: `loops`, an `io_size` beyond the pass, or time that is left.
    fn goes_on(&self, n_passes: u32) -> bool {
        let spec = &self.plan.spec;
        // As seen on fio 3.33: one of the loops begins, and syncs its files, though the job may do no more I/Os.
        if n_passes < spec.limits.loops {
            return true;
        }
        if self.workload.n_issued() >= limit_ios(self.plan) {
            return false;
        }
        // As seen on fio 3.33: a pass that ends before as many bytes as were asked for is followed by another, whether they are
        // more than the size or not, unless a percentage was asked for. No pass begins for less than the largest block of any
        // direction, also of those that the job does not use.
        let left_bytes = self.set.io_bytes.saturating_sub(self.moved_bytes());
        let is_more = match spec.extent.io_size {
            // As seen on fio 3.33: writes that are verified, but not read back by the job itself, are done once where engines
            // complete them at once and the passes are not counted.
            _ if self.verifies_writes()
                && spec.verify.as_ref().is_some_and(|verify| !verify.reads_back)
                && self.plan.engine.inline
                && spec.limits.loops == 1 =>
            {
                false
            }
            Some(SizeSpec::Bytes(_)) => true,
            Some(SizeSpec::Percent(_)) => !self.set.zones.is_empty(),
            None => self.set.io_bytes > self.set.pass_bytes,
        };
        spec.limits.time_based || (is_more && left_bytes >= spec.pattern.largest_block_bytes())
    }

    pub(super) fn end_of_pass(&mut self, now_ns: u64) {
        let mut stats = std::mem::take(&mut self.account.stats);
        self.add_runtime(&mut stats, now_ns);
        self.account.stats = stats;
        self.pass_start_ns = now_ns;
    }

    /// Adds the time of the present pass to the directions that moved data.
    pub(super) fn add_runtime(&self, stats: &mut ThreadStats, now_ns: u64) {
        if self.account.is_ramping() {
            return;
        }
        for direction in DataDirection::ALL {
            let figures = &mut stats.directions[direction];
            let is_reading_back = self.is_reading_back();
            let trims_between = direction == DataDirection::Trim && self.plan.trims_between();
            let takes_part = if is_reading_back {
                direction == DataDirection::Read
            } else {
                self.plan.used_directions()[direction] || trims_between
            };
            if figures.n_completed > 0 && takes_part {
                figures.runtime_ns += now_ns.saturating_sub(self.pass_start_ns);
            }
        }
    }

    /// Syncs what was written, as the job asks, and closes all files.
    fn finish_files(&mut self) -> Result<(), JobError> {
        let durability = &self.plan.spec.durability;
        // As seen on fio 3.33: where files are synced as they close, all of them are at the end.
        let syncs =
            (durability.end_fsync || durability.fsync_on_close) && self.plan.writes() && !self.workload.last_was_sync();
        let syncs_file_systems = durability.end_syncfs && self.plan.writes();
        let mut synced = Ok(());
        if syncs {
            self.control.slot().set_state(WorkerState::Syncing);
            synced = self.sync_files();
        }
        if synced.is_ok() && syncs_file_systems {
            self.control.slot().set_state(WorkerState::Syncing);
            synced = self.sync_file_systems();
        }
        if syncs {
            self.close_all_as_they_are();
            return synced;
        }
        let closed = self.close_all();
        synced.and(closed)
    }

    /// Syncs all files; one that had been closed is opened for it.
    fn sync_files(&mut self) -> Result<(), JobError> {
        for file in 0..self.files.n_files() {
            let was_open = self.files.ready(file).is_some();
            self.open_if_closed(file)?;
            self.sync_file(file)?;
            if !was_open {
                self.close_as_it_is(file);
            }
        }
        Ok(())
    }

    pub(super) fn open_if_closed(&mut self, file: u32) -> Result<(), JobError> {
        if self.files.ready(file).is_none() {
            self.files.open(file, self.engine.as_mut())?;
            self.log_file(file, "open");
        }
        Ok(())
    }

    /// `end_syncfs`: each file system once, however many files are on it. Outside of statistics.
    fn sync_file_systems(&mut self) -> Result<(), JobError> {
        let mut synced = Vec::new();
        for file in 0..self.files.n_files() {
            self.open_if_closed(file)?;
            let device = self.files.device(file);
            if synced.contains(&device) {
                continue;
            }
            let errno = self.files.sync_file_system(file);
            if errno != 0 {
                let (name, text) = (&self.files.plan(file).name, errno_text(errno));
                let message = format!("fio: end_syncfs failed for the file system of {name}: {text}");
                return Err(job_error!(errno, "end_syncfs").explained(message));
            }
            synced.push(device);
        }
        Ok(())
    }

    /// Closes all files, synced where the job asks for it, also when one fails; the first failure is that of the job.
    fn close_all(&mut self) -> Result<(), JobError> {
        let mut first = Ok(());
        for file in 0..self.files.n_files() {
            let closed = self.close_file(file);
            first = first.and(closed);
        }
        self.say_file_warnings();
        first
    }

    /// Closes all files, which need no sync.
    fn close_all_as_they_are(&mut self) {
        (0..self.files.n_files()).for_each(|file| self.close_as_it_is(file));
        self.say_file_warnings();
    }

    fn say_file_warnings(&mut self) {
        for warning in std::mem::take(&mut self.files.warnings) {
            self.say(Stream::Info, warning);
        }
    }
}

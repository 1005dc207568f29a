//! Writes the logs of `--bandwidth-log` on a thread of their own. A log may accept no rows for a long time (a pipe
//! without a reader, a server that does not answer); with the thread, the run and its signals continue meanwhile.
//!
//! Must not know: where samples come from, the format of a row. Start reading at [`BandwidthLogs`].

use ferrio_formats::logs::AggregateLogs;
use ferrio_run::BandwidthSample;
use ferrio_sys::signals;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Rows that are not written within this time after a signal are lost.
const LIMIT: Duration = Duration::from_secs(3);

/// Between two looks at signals.
const TICK: Duration = Duration::from_millis(20);

/// The caller's side of the thread: sends samples, receives errors.
pub(crate) struct BandwidthLogs {
    samples: Sender<BandwidthSample>,
    problems: Receiver<io::Error>,
}

impl BandwidthLogs {
    pub(crate) fn start(mut logs: AggregateLogs) -> io::Result<Self> {
        let (samples, its_samples) = mpsc::channel::<BandwidthSample>();
        let (its_problems, problems) = mpsc::channel();
        std::thread::Builder::new().name("ferrio-bandwidth".to_owned()).spawn(move || {
            let _ = signals::block_in_this_thread();
            for sample in its_samples {
                if let Err(error) = logs.rows(sample.time_ms, &sample.kib_per_sec) {
                    let _ = its_problems.send(error);
                }
            }
        })?;
        Ok(Self { samples, problems })
    }

    /// Sends a sample to the thread; returns the errors of earlier samples.
    pub(crate) fn take(&self, sample: BandwidthSample) -> Vec<io::Error> {
        // The thread ends before this does only if it has died, which `end` sees no worse than a log that lost rows.
        let _ = self.samples.send(sample);
        self.problems.try_iter().collect()
    }

    /// Waits until all samples are written; after a signal, at most three seconds. Returns the errors.
    pub(crate) fn end(self, has_signal: &dyn Fn() -> bool) -> Vec<io::Error> {
        drop(self.samples);
        let mut errors = Vec::new();
        let mut until = None;
        loop {
            if has_signal() {
                until.get_or_insert_with(|| Instant::now() + LIMIT);
            }
            match self.problems.recv_timeout(TICK) {
                Ok(error) => errors.push(error),
                Err(RecvTimeoutError::Disconnected) => return errors,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                errors.push(io::ErrorKind::TimedOut.into());
                return errors;
            }
        }
    }
}

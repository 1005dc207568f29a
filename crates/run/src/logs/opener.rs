//! How a run gets the sink for its performance logs.
//!
//! Must not know: the run, what a sink does with rows. Start reading at [`LogOpener`].

use super::no_sink::NoSink;
use ferrio_stats::LogSink;
use ferrio_sys::output::ProtectedPaths;
use std::fmt;
use std::sync::Arc;

type Open = dyn Fn(&Arc<ProtectedPaths>) -> Box<dyn LogSink> + Send + Sync;

/// Makes the sink for the rows of performance logs, which replace none of the files that it gets. A run calls it once, and only if a job
/// logs something.
#[derive(Clone)]
pub struct LogOpener(Arc<Open>);

impl LogOpener {
    /// The sinks that this function makes, in the thread that uses them.
    pub fn new(open: impl Fn(&Arc<ProtectedPaths>) -> Box<dyn LogSink> + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }

    pub(super) fn open(&self, kept: &Arc<ProtectedPaths>) -> Box<dyn LogSink> {
        (self.0)(kept)
    }
}

/// Every log is refused, so that the run reports which ones are lost.
impl Default for LogOpener {
    fn default() -> Self {
        Self::new(|_| Box::new(NoSink))
    }
}

impl fmt::Debug for LogOpener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LogOpener")
    }
}

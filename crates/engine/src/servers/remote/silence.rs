//! How long a server has answered nothing while a job waits for it.
//!
//! Must not know: protocols. Start reading at [`Silence`].

use crate::contract::IoResult;
use crate::files::control::error_result;
use ferrio_sys::Errno;
use std::time::Duration;

/// A server that answers nothing for so long is gone, unless the job says otherwise (`server_timeout`): the I/Os fail.
pub(crate) const MOST_SILENCE: Duration = Duration::from_secs(120);

/// Why an I/O fails that has no answer for too long.
pub(crate) const SILENT: &str = "the server has answered nothing for as long as server_timeout allows";

/// Time that a job has waited since the last answer. Waits are summed up, so that a job that is stopped or late blames no server.
#[derive(Debug)]
pub(crate) struct Silence {
    waited: Duration,
    /// The server is gone after so long.
    limit: Duration,
}

impl Silence {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { waited: Duration::ZERO, limit }
    }

    /// Notes a wait without an answer. The result of all I/Os if the server is gone.
    pub(crate) fn add(&mut self, waited: Duration) -> Option<IoResult> {
        self.waited = self.waited.saturating_add(waited);
        self.is_too_long().then(|| error_result(Errno::TIMEDOUT))
    }

    /// Notes an answer.
    pub(crate) fn end(&mut self) {
        self.waited = Duration::ZERO;
    }

    /// True if the server is gone.
    pub(crate) fn is_too_long(&self) -> bool {
        self.waited >= self.limit
    }
}

/// The limit that a job gives, in seconds.
pub(crate) fn limit_of(timeout_s: i64) -> Duration {
    Duration::from_secs(u64::try_from(timeout_s).unwrap_or(MOST_SILENCE.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_add_up_until_an_answer_comes() {
        let mut silence = Silence::new(MOST_SILENCE);
        assert_eq!(silence.add(MOST_SILENCE / 2), None);
        silence.end();
        assert_eq!(silence.add(MOST_SILENCE / 2), None);
        assert!(!silence.is_too_long());
        assert_eq!(silence.add(MOST_SILENCE / 2), Some(error_result(Errno::TIMEDOUT)));
        assert!(silence.is_too_long());
    }
}

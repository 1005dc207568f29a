//! How long a server has answered nothing while a job waits for it.
//!
//! Must not know: protocols. Start reading at [`Silence`].

use std::time::Duration;

/// A server that answers nothing for so long is gone: the I/Os fail.
pub(crate) const MOST_SILENCE: Duration = Duration::from_secs(120);

/// Time that a job has waited since the last answer. Waits are summed up, so that a job that is stopped or late blames no server.
#[derive(Debug, Default)]
pub(crate) struct Silence(Duration);

impl Silence {
    /// Notes a wait without an answer.
    pub(crate) fn add(&mut self, waited: Duration) {
        self.0 = self.0.saturating_add(waited);
    }

    /// Notes an answer.
    pub(crate) fn end(&mut self) {
        self.0 = Duration::ZERO;
    }

    /// True if the server is gone.
    pub(crate) fn is_too_long(&self) -> bool {
        self.0 >= MOST_SILENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_add_up_until_an_answer_comes() {
        let mut silence = Silence::default();
        silence.add(MOST_SILENCE / 2);
        assert!(!silence.is_too_long());
        silence.end();
        silence.add(MOST_SILENCE / 2);
        assert!(!silence.is_too_long());
        silence.add(MOST_SILENCE / 2);
        assert!(silence.is_too_long());
    }
}

//! What a run that stops says to the keeper of its viewer, which then gives the terminal back.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Time beyond it in which a keeper that lives has ended.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// What the run says to the keeper: it is about to stop, it goes on, it is over. The keeper answers the first of them.
pub(crate) const STOPS: u8 = b's';
pub(crate) const GOES_ON: u8 = b'g';

/// Tells the keeper that the run is about to stop, and that it goes on.
#[derive(Debug)]
pub(crate) struct StopNotice(UnixStream);

impl StopNotice {
    /// A notice through a connection to the keeper.
    pub(crate) fn new(control: UnixStream) -> Self {
        Self(control)
    }

    /// The terminal is free when this returns, or the keeper is gone.
    pub(crate) fn before(&self) {
        let mut control = &self.0;
        let _ = control.set_read_timeout(Some(GRACE));
        let _ = control.write_all(&[STOPS]).and_then(|()| control.read(&mut [0]));
    }

    /// The run goes on.
    pub(crate) fn behind(&self) {
        let _ = (&self.0).write_all(&[GOES_ON]);
    }
}

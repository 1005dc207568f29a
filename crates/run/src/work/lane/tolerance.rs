//! What an error of an I/O does to a job: `continue_on_error`, `ignore_error`.
//!
//! Must not know: I/Os. Start reading at [`treatment`].

use ferrio_spec::ErrorSpec;
use ferrio_sys::errno::{EILSEQ, EIO};
use ferrio_units::Direction;

/// What an error does to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// It is counted, and the job goes on.
    Tolerated,
    /// It is counted, since errors of its class are, and ends the job.
    CountedAndFatal,
    /// It ends the job.
    Fatal,
}

/// What an error does: a class lists its errno values, or has the default ones.
pub(crate) fn treatment(errors: &ErrorSpec, direction: Direction, errno: i32) -> Treatment {
    let (class, continues) = match direction {
        _ if errno == EILSEQ => (2, errors.continue_on.verify),
        Direction::Read => (0, errors.continue_on.read),
        _ => (1, errors.continue_on.write),
    };
    let tolerated = match &errors.ignore[class] {
        Some(list) => list.contains(&errno),
        None if continues => matches!(errno, EIO | EILSEQ),
        None => return Treatment::Fatal,
    };
    if tolerated { Treatment::Tolerated } else { Treatment::CountedAndFatal }
}

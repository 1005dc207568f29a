//! The effect of an I/O's error on a job: `continue_on_error`, `ignore_error`.
//!
//! Must not know: I/Os. Start reading at [`treatment`].

use ferrio_spec::ErrorSpec;
use ferrio_sys::errno::{EILSEQ, EIO};
use ferrio_units::Direction;

/// The effect of an error on a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// The error is counted, and the job continues.
    Tolerated,
    /// The error is counted, because errors of its class are, and ends the job.
    CountedAndFatal,
    /// The error ends the job.
    Fatal,
}

/// The effect of an error. For each class, the job lists errno values or has the default ones.
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

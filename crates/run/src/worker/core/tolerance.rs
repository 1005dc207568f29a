//! The effect of an I/O's error on a job: `continue_on_error`, `ignore_error`, and the job's other rules for failed I/Os.
//!
//! Must not know: I/Os. Start reading at [`ErrorRules::treatment`].

use crate::compat;
use crate::plan::WorkerPlan;
use ferrio_spec::{ErrorSpec, ZoneSpec};
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

/// A job's rules for failed I/Os.
pub(crate) struct ErrorRules {
    /// Tolerated errors of reads, of writes and other I/Os, and of verification; `None`: each error ends the job.
    tolerated: [Option<Vec<i32>>; 3],
    /// Errors that are tolerated are reported.
    pub(crate) tells_tolerated: bool,
    /// A full device ends the job without an error.
    pub(crate) ends_when_full: bool,
    /// A read that moved no byte is done; otherwise it is an error.
    pub(crate) empty_reads_are_done: bool,
    /// Files are open with `O_DIRECT`.
    pub(crate) is_direct: bool,
    /// I/Os keep to zones of the files.
    pub(crate) has_zones: bool,
}

impl ErrorRules {
    pub(crate) fn new(plan: &WorkerPlan) -> Self {
        let spec = &*plan.spec;
        Self {
            tolerated: tolerated(&spec.errors),
            tells_tolerated: spec.errors.dump,
            ends_when_full: spec.extent.fill_device,
            empty_reads_are_done: compat::empty_reads_are_done(plan),
            is_direct: spec.durability.direct,
            has_zones: spec.zones != ZoneSpec::None,
        }
    }

    pub(crate) fn treatment(&self, direction: Direction, errno: i32) -> Treatment {
        let class = match direction {
            _ if errno == EILSEQ => 2,
            Direction::Read => 0,
            _ => 1,
        };
        match &self.tolerated[class] {
            None => Treatment::Fatal,
            Some(list) if list.contains(&errno) => Treatment::Tolerated,
            Some(_) => Treatment::CountedAndFatal,
        }
    }
}

/// Tolerated errors by class. For each class, the job lists errno values or has the default ones.
fn tolerated(errors: &ErrorSpec) -> [Option<Vec<i32>>; 3] {
    let continues = [errors.continue_on.read, errors.continue_on.write, errors.continue_on.verify];
    let mut classes = errors.ignore.clone();
    for (list, continues) in classes.iter_mut().zip(continues) {
        if continues && list.is_none() {
            *list = Some(vec![EIO, EILSEQ]);
        }
    }
    classes
}

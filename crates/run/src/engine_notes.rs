//! What engines say, as values of the record.
//!
//! Must not know: single engines. Start reading at [`refused`] and [`told`].

use ferrio_engine::{EngineError, EngineRemark};
use ferrio_spec::engines::EngineDef;
use ferrio_stats::Note;
use ferrio_stats::note::{EngineNote, SystemError};
use ferrio_sys::errno::EAGAIN;
use ferrio_sys::process::ChildEnd;

/// What an engine has refused, for the record. `job`: name of the job, where the line has it.
pub(crate) fn refused(job: Option<&str>, error: &EngineError) -> Note {
    refused_for(None, job, error)
}

pub(crate) fn refused_target(file: &str, error: &EngineError) -> Note {
    refused_for(Some(file), None, error)
}

fn refused_for(file: Option<&str>, job: Option<&str>, error: &EngineError) -> Note {
    let note = match error {
        EngineError::Unfit { what, is_named, .. } => {
            EngineNote::Unfit { file: file.filter(|_| *is_named).map(str::to_owned), what: what.clone() }
        }
        EngineError::BadOption { engine, option, value, why } => EngineNote::BadOption {
            engine: (*engine).into(),
            option: (*option).into(),
            value: value.clone(),
            why: why.clone(),
        },
        EngineError::Failed { engine, what, source, .. } => {
            EngineNote::Failed { engine: (*engine).into(), what: what.clone(), error: source.into() }
        }
        EngineError::Target { step, source } => EngineNote::Target { step: step.clone(), error: source.into() },
        EngineError::Refused { engine, what, source, hint } => EngineNote::Refused {
            engine: (*engine).into(),
            what: what.clone(),
            error: source.into(),
            hint: hint.clone(),
        },
    };
    Note::Engine { job: job.map(str::to_owned), note }
}

/// The system has too few requests for a queue of native AIO. `limit`, `taken`: of all queues together.
pub(crate) fn too_deep(depth: u32, limit: u64, taken: u64) -> Note {
    let note = EngineNote::Refused {
        engine: "libaio".into(),
        what: format!("io_setup for iodepth={depth}"),
        error: SystemError::Errno(EAGAIN),
        hint: format!(
            "all queues of the system together may have {limit} requests (fs.aio-max-nr), and {taken} are taken; lower iodepth, or raise the \
             limit: sysctl fs.aio-max-nr=N"
        ),
    };
    Note::Engine { job: None, note }
}

pub(crate) fn told(job: &str, engine: &EngineDef, remark: EngineRemark) -> Note {
    let note = match remark {
        EngineRemark::Mode { mode, settings } => {
            let settings = settings.into_iter().map(|(name, value)| (name.into(), value)).collect();
            EngineNote::Mode { engine: engine.name.into(), mode: mode.into(), settings }
        }
        EngineRemark::Program { program, arguments } => EngineNote::Program { program, arguments },
        EngineRemark::ProgramStarts { program, arguments, files } => {
            EngineNote::ProgramStarts { program, arguments, files }
        }
        EngineRemark::ProgramFailed { program, end: ChildEnd::Exited(code) } => {
            EngineNote::ProgramFailed { program, code }
        }
        EngineRemark::ProgramFailed { program, end: ChildEnd::Signaled(signal) } => {
            EngineNote::ProgramKilled { program, signal }
        }
    };
    Note::Engine { job: Some(job.to_owned()), note }
}

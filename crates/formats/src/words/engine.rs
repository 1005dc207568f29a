//! What an engine has to say, in words.
//!
//! Must not know: when it is said. Start reading at [`text`].

use super::system;
use ferrio_stats::note::EngineNote;

/// The line. `job`: name of the job, where the line has it.
pub(super) fn text(job: Option<&str>, note: &EngineNote, mark: &str) -> String {
    let job_name = job.unwrap_or_default();
    let name = job.map(|job| format!("{job}: ")).unwrap_or_default();
    match note {
        EngineNote::BadOption { engine, option, value, why } => {
            format!("{mark}{name}{engine}: option {option}={value}: {why}")
        }
        EngineNote::Failed { engine, what, error } => {
            format!("{mark}{name}{engine}: {what}: {}", system::said(error))
        }
        EngineNote::Target { step, error } => format!("{mark}{name}{step}: {}", system::said(error)),
        EngineNote::Unfit { file: Some(file), what } => format!("{file}: {what}"),
        EngineNote::Unfit { file: None, what } => what.clone(),
        EngineNote::NoPlacement { engine, file, errno } => {
            format!("{file}: engine ({engine}) lacks fetch ruhs\n{mark}ruh info failed for {file} ({errno})")
        }
        EngineNote::Refused { engine, what, error, hint } => {
            format!("{mark}{name}{engine}: {what} failed: {}; {hint}", system::said(error))
        }
        EngineNote::Mode { engine, mode, settings } => {
            let settings = settings.iter().map(|(name, value)| format!("{name}={value}"));
            let facts: Vec<String> = std::iter::once(format!("ioengine={engine}")).chain(settings).collect();
            format!("{job_name} ({mode}): {}", facts.join(", "))
        }
        EngineNote::Program { program, arguments } => {
            format!("{job_name} : program={program}, arguments={}", shown(arguments.as_deref()))
        }
        EngineNote::ProgramStarts { program, arguments, files: Some([output, errors]) } => format!(
            "{job_name} : Saving output of {program} {} : stdout={output} stderr={errors}",
            shown(arguments.as_deref())
        ),
        EngineNote::ProgramStarts { program, arguments, files: None } => {
            format!("{job_name} : Running {program} {}", shown(arguments.as_deref()))
        }
        EngineNote::ProgramFailed { program, code } => format!("{job_name} : {program} ended with exit code {code}"),
        EngineNote::ProgramKilled { program, signal } => {
            format!("{job_name} : {program} was ended by signal {signal}")
        }
    }
}

/// Arguments of a program; where there are none, as fio shows them.
fn shown(arguments: Option<&str>) -> &str {
    arguments.unwrap_or("(null)")
}

//! The runs as command lines of jobs: a part of a pass, and a round of the load.
//!
//! Must not know: what was done already. Start reading at [`part`] and [`round`].

use crate::precondition::filling::FillPart;
use crate::precondition::{PreconditionError, PreconditionPlan, PreconditionWay};
use ferrio_job::{Environment, Mode};
use ferrio_spec::engines::by_name;
use ferrio_spec::{Compatibility, JobSpec, PlacementSpec, RunSpec, TargetSpec};
use ferrio_units::Wording;
use ferrio_units::byte_text;
use std::ffi::OsString;

/// I/Os in flight, of passes and of loads that do not say.
const DEPTH: u32 = 32;

/// Options of a load that are those of the plan, with the reason.
const NOT_OF_A_LOAD: [(&str, &str); 9] = [
    ("name", "the load is one job"),
    ("filename", "the target is the first word of the command"),
    ("directory", "the target is the first word of the command"),
    ("runtime", "--round is the time of a round"),
    ("time_based", "--round is the time of a round"),
    ("randseed", "each round has a seed of its own"),
    ("randrepeat", "each round has a seed of its own"),
    ("allow_mounted_write", "what is mounted is never written to here"),
    ("readonly", "--read writes nothing"),
];

pub(crate) fn part(
    plan: &PreconditionPlan,
    part: FillPart,
    environment: &dyn Environment,
) -> Result<RunSpec, PreconditionError> {
    let is_written = plan.way == PreconditionWay::Write;
    let mut words = common(plan, "pass");
    words.push(format!("--rw={}", if is_written { "write" } else { "read" }));
    words.extend([
        format!("--bs={}", part.block_bytes),
        format!("--offset={}", part.offset),
        format!("--size={}", part.bytes),
        format!("--randseed={}", part.number + 1),
    ]);
    if is_written {
        words.extend(["--refill_buffers", "--end_fsync=1"].map(str::to_owned));
    }
    spec_of(&words, environment).map(|spec| on_target(plan, spec))
}

/// The run of a round, which are numbered from 1.
///
/// # Errors
/// The load is refused: by an option, or because it is no single job on the target.
pub(crate) fn round(
    plan: &PreconditionPlan,
    number: u32,
    environment: &dyn Environment,
) -> Result<RunSpec, PreconditionError> {
    for word in &plan.load {
        let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
        if let Some((name, reason)) = NOT_OF_A_LOAD.iter().find(|(other, _)| *other == name) {
            return Err(PreconditionError::Load(format!("--{name} is no option of the load: {reason}")));
        }
    }
    let mut words = common(plan, "load");
    let direction = if plan.way == PreconditionWay::Write { "randwrite" } else { "randread" };
    words.extend([
        format!("--rw={direction}"),
        "--bs=4k".to_owned(),
        "--norandommap".to_owned(),
        "--refill_buffers".to_owned(),
    ]);
    words.extend(plan.load.iter().cloned());
    // Blocks and data of a round are not those of the round before.
    words.extend([
        format!("--runtime={}ms", plan.round_ms),
        "--time_based".to_owned(),
        format!("--randseed={}", 1_000 + number),
    ]);
    let spec = spec_of(&words, environment)?;
    let unchanged = spec_of(&common(plan, "load"), environment)?;
    let ([job], [unchanged]) = (&spec.jobs[..], &unchanged.jobs[..]) else {
        return Err(PreconditionError::Load(
            "the load is given by options of one job, such as --rw=randwrite --bs=4k".to_owned(),
        ));
    };
    if !has_target_of(job, unchanged) {
        return Err(PreconditionError::Load(
            "an option of the load names another target, or changes how files are made or removed: all I/O goes to the target, the first word of the command"
                .to_owned(),
        ));
    }
    if plan.way == PreconditionWay::Read && job.changes_files() {
        return Err(PreconditionError::Load("with --read nothing is written: the load may only read".to_owned()));
    }
    Ok(on_target(plan, spec))
}

/// The jobs on the target. Its name is used as it is: in an option, a colon would separate names.
fn on_target(plan: &PreconditionPlan, mut spec: RunSpec) -> RunSpec {
    let name = byte_text::from_bytes(plan.target.path.as_os_str().as_encoded_bytes());
    spec.jobs.iter_mut().for_each(|job| job.target.filenames = vec![name.clone()]);
    spec
}

/// True if the options of a job name no target, and change nothing of how files are made and removed. An option has several names and short forms: its effect is
/// compared with a job that has none of the user's options.
fn has_target_of(job: &JobSpec, unchanged: &JobSpec) -> bool {
    let target = |job: &JobSpec| TargetSpec { placement: PlacementSpec::default(), ..job.target.clone() };
    let is_for_files = by_name(&job.engine.name).is_some_and(|engine| engine.targets.are_files());
    target(job) == target(unchanged) && job.layout == unchanged.layout && !job.replay.is_set() && is_for_files
}

/// The options of all runs.
fn common(plan: &PreconditionPlan, name: &str) -> Vec<String> {
    vec![
        format!("--name={name}"),
        format!("--ioengine={}", plan.engine),
        format!("--iodepth={DEPTH}"),
        "--direct=1".to_owned(),
        "--allow_file_create=0".to_owned(),
        "--fallocate=none".to_owned(),
    ]
}

fn spec_of(words: &[String], environment: &dyn Environment) -> Result<RunSpec, PreconditionError> {
    let arguments: Vec<OsString> =
        std::iter::once("ferrio").chain(words.iter().map(String::as_str)).map(OsString::from).collect();
    let parsed = ferrio_job::parse_template(&arguments, environment).map_err(|error| {
        let said =
            || error.messages.iter().map(|(_, text)| text.text(Wording::Own).trim()).collect::<Vec<_>>().join("; ");
        PreconditionError::Load(error.refusals().unwrap_or_else(said))
    });
    let (invocation, _) = parsed?;
    if let Some(name) = invocation.options_of_reports().next() {
        return Err(PreconditionError::Load(format!(
            "{name} has no effect here: the folder has a record of each round"
        )));
    }
    if invocation.mode != Mode::Run {
        return Err(PreconditionError::Load(
            "the load is given by options of one job, such as --rw=randwrite --bs=4k".to_owned(),
        ));
    }
    Ok(RunSpec { compatibility: Compatibility::Native, ..invocation.run })
}

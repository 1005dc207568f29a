//! Shell commands before and after a job's I/O: `exec_prerun`, `exec_postrun`.
//!
//! Must not know: loops. Start reading at [`before`] and [`after`].
//! Facts: reference "Environment options".

use crate::error::{Failure, failure};
use crate::events::MessageStream;
use crate::link::context::WorkerContext;
use crate::plan::WorkerPlan;
use ferrio_stats::Note;
use ferrio_stats::note::{During, RunNote};
use ferrio_sys::errno::EIO;
use ferrio_sys::output::{self, OutputStart};
use ferrio_sys::process::{self, Pid, Signal};
use ferrio_sys::signals::reset_in_program;
use ferrio_units::byte_text;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// Longest time between two checks whether a command has ended.
const MAX_NAP: Duration = Duration::from_millis(50);

/// Runs the command before the first I/O. If it fails, the job ends without I/O and without an error. If the run ends
/// meanwhile, so does the command.
pub(super) fn before(plan: &WorkerPlan, context: &WorkerContext<'_>) -> Result<(), Failure> {
    let Some(command) = &plan.spec.surroundings.exec_prerun else { return Ok(()) };
    let slot = context.board.slot(context.slot_index);
    match run(command, "prerun", plan, context, &|| slot.is_told_to_end())? {
        None => Err(Failure::stopped()),
        Some(status) if status.success() => Ok(()),
        Some(status) => {
            let note = RunNote::PrerunFailed { job: plan.spec.name.clone(), wait_status: status.into_raw() };
            context.say(MessageStream::Info, note);
            Err(Failure::stopped())
        }
    }
}

/// Runs the command after the last I/O, however the job ended. Its exit code does not matter.
pub(super) fn after(plan: &WorkerPlan, context: &WorkerContext<'_>) {
    let Some(command) = &plan.spec.surroundings.exec_postrun else { return };
    if let Err(error) = run(command, "postrun", plan, context, &|| false)
        && let Some(note) = error.note
    {
        context.say(MessageStream::Error, *note);
    }
}

/// Runs a command; all that it prints goes to a file named after the job. `None`: the command was ended because `stop`
/// returned true.
fn run(
    command: &str,
    kind: &'static str,
    plan: &WorkerPlan,
    context: &WorkerContext<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<Option<ExitStatus>, Failure> {
    let name = &plan.spec.name;
    let path = format!("{name}.{kind}.txt");
    context.say(MessageStream::Info, RunNote::SavesOutput { job: name.clone(), kind: kind.into(), path: path.clone() });
    let output = output::open(Path::new(&path), OutputStart::Empty, context.kept)
        .and_then(|output| Ok((output.try_clone()?, output)));
    let (errors, output) = output.map_err(|error| failed(&error, kind, &path))?;
    // The shell gets its own process group, so that all that it starts can be ended with it.
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(byte_text::to_os_string(command)).stdout(output).stderr(errors).process_group(0);
    reset_in_program(&mut shell)
        .spawn()
        .and_then(|child| wait(child, stop))
        .map_err(|error| failed(&error, kind, &byte_text::shown(command)))
}

fn failed(error: &io::Error, kind: &str, what: &str) -> Failure {
    let errno = error.raw_os_error().unwrap_or(EIO);
    failure!(errno, format!("exec_{kind}"))
        .explained(Note::system(During::Command { kind: kind.to_owned(), what: what.to_owned() }, error))
}

fn wait(mut child: Child, stop: &dyn Fn() -> bool) -> io::Result<Option<ExitStatus>> {
    let mut nap = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if stop() {
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                // The group may have ended just now.
                let _ = process::kill_group(group, Signal::KILL);
            }
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(MAX_NAP);
    }
}

//! One run of a program: wall time, CPU time of its whole process tree, peak memory.
//!
//! CPU time is what `getrusage` says of children that were waited for, and of theirs; runs go one at a time, so the
//! difference belongs to the run. Must not know: what is run. Start reading at [`run`].

use super::stage::MemoryGroup;
use anyhow::{Context, Result, bail};
use ferrio_sys::limits::Usage;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// What a run, or an I/O of it, cost.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sample {
    /// Wall time, ns.
    pub(super) wall_ns: f64,
    /// CPU time in the program, ns.
    pub(super) user_ns: f64,
    /// CPU time in the kernel, ns.
    pub(super) system_ns: f64,
    /// Most memory that all its processes had at once, kernel memory included, where it could be measured.
    pub(super) peak_bytes: Option<u64>,
}

impl Sample {
    /// CPU time, ns.
    pub(super) fn cpu_ns(&self) -> f64 {
        self.user_ns + self.system_ns
    }

    /// What this run cost more than another, divided among `n` I/Os. Noise may make it negative: at least a thousandth
    /// of a nanosecond stays, so that ratios exist.
    pub(super) fn less(&self, other: &Self, n: f64) -> Self {
        let share = |mine: f64, theirs: f64| ((mine - theirs) / n).max(0.001);
        Self {
            wall_ns: share(self.wall_ns, other.wall_ns),
            user_ns: share(self.user_ns, other.user_ns),
            system_ns: share(self.system_ns, other.system_ns),
            peak_bytes: None,
        }
    }
}

/// Runs a program to its end. Its output goes nowhere; a failure is an error with what it said.
pub(super) fn run(program: &Path, arguments: &[String], measures_memory: bool) -> Result<Sample> {
    let group = if measures_memory { MemoryGroup::new() } else { None };
    let mut command = command(program, arguments, group.as_ref());
    let usage = Usage::of_children();
    let start = Instant::now();
    let output = command.output().with_context(|| format!("cannot start {}", program.display()))?;
    let wall_ns = start.elapsed().as_nanos() as f64;
    let used = Usage::of_children().since(usage);
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        bail!(
            "{} {}: {}\n{}",
            program.display(),
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&said).trim()
        );
    }
    Ok(Sample {
        wall_ns,
        user_ns: used.user_ns as f64,
        system_ns: used.system_ns as f64,
        peak_bytes: group.and_then(|group| group.peak_bytes()),
    })
}

/// The command, which a shell first puts into the memory group, if there is one.
fn command(program: &Path, arguments: &[String], group: Option<&MemoryGroup>) -> Command {
    let mut command = match group {
        None => Command::new(program),
        Some(group) => {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", "echo $$ >\"$0\" && exec \"$@\""]).arg(group.members_file()).arg(program);
            shell
        }
    };
    command.args(arguments).stdin(Stdio::null());
    command
}

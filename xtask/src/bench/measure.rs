//! One run of a program: wall time, CPU time of its whole process tree, peak memory.
//!
//! CPU time is from `getrusage`, which sums up all finished children and their descendants; only one run goes at a
//! time, so the increase belongs to it. Must not know: the case. Start reading at [`run`].

use super::stage::MemoryGroup;
use anyhow::{Context, Result, bail};
use ferrio_sys::limits::Usage;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Cost of a run or of one I/O.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sample {
    pub(super) wall_ns: f64,
    /// CPU time in the program, ns.
    pub(super) user_ns: f64,
    /// CPU time in the kernel, ns.
    pub(super) system_ns: f64,
    /// Most memory that all its processes had at once, kernel memory included, where it could be measured.
    pub(super) peak_bytes: Option<u64>,
}

impl Sample {
    pub(super) fn cpu_ns(&self) -> f64 {
        self.user_ns + self.system_ns
    }

    /// Additional cost of this run over another, divided by `n` I/Os. Because of noise it could be negative; the result
    /// is at least a thousandth of a nanosecond, so that ratios exist.
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

/// Runs a program to its end. Its output is discarded, except that the error after a failure contains it.
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

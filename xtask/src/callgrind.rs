//! Instructions per I/O of a program, counted by callgrind. A count, unlike a time, is the same on a busy machine.
//!
//! Must not know: the comparison. Start reading at [`instructions_per_io`].

use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

/// True if valgrind can be started.
pub(crate) fn is_there() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// User-mode instructions per I/O: those of a run with `n_ios` less those of one with a third of it, divided by the
/// difference. The job has to be a thread (callgrind sees one process); `options` says everything but the number.
pub(crate) fn instructions_per_io(program: &Path, options: &[String], n_ios: u64) -> Result<u64> {
    let n_few = n_ios / 3;
    let few = count(program, options, n_few)?;
    Ok(count(program, options, n_ios)?.saturating_sub(few) / (n_ios - n_few))
}

fn count(program: &Path, options: &[String], n_ios: u64) -> Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(options)
        .args(["--thread", "--output=/dev/null"])
        .arg(format!("--number_ios={n_ios}"))
        .output()
        .context("cannot start valgrind (Debian: apt-get install valgrind)")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "callgrind, {}: {}\n{said}", options.join(" "), output.status);
    collected(&said).with_context(|| format!("callgrind did not say what it collected:\n{said}"))
}

/// The number in callgrind's last words, `==PID== Collected : N`.
fn collected(said: &str) -> Option<u64> {
    said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_read() {
        let said = "==7== Events    : Ir\n==7== Collected : 44396852\n==7== \n==7== I   refs:      44,396,852\n";
        assert_eq!(collected(said), Some(44_396_852));
        assert_eq!(collected("valgrind: no such file"), None);
    }
}

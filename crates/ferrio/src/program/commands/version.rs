//! `ferrio --version --verbose`: what this program is, where it runs, and what works here.
//!
//! Must not know: jobs. Start reading at [`run`]. `--version` alone is fio's, and is answered as fio answers it.

use crate::shared::engine_checks;
use crate::ui::console::Console;
use crate::ui::exit;
use ferrio::session::VERSION;
use ferrio_spec::engines::ENGINES;
use ferrio_sys::clock::{Clock, ClockKind};
use ferrio_sys::system_info::{SystemInfo, cpu_model};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::ExitCode;

/// True for these two words, in any order. Under the name `fio` there is no such switch.
pub(crate) fn is_asked_for(arguments: &[OsString]) -> bool {
    let [_, words @ ..] = arguments else { return false };
    let has = |name: &str| words.iter().any(|word| word == name);
    words.len() == 2 && has("--version") && has("--verbose")
}

/// Prints the lines.
pub(crate) fn run() -> ExitCode {
    let mut console = Console::of_command("ferrio");
    console.report(&text());
    exit::at_end(console.has_failed)
}

fn text() -> String {
    let here = SystemInfo::read();
    let built = ENGINES.iter().filter(|engine| engine.status.is_built());
    let built: Vec<&str> = built.map(|engine| engine.name).collect();
    let program = [
        ("ferrio", env!("CARGO_PKG_VERSION").to_owned()),
        ("in place of", format!("fio 3.42, as {VERSION}")),
        (
            "built for",
            format!("{} Linux, {}", std::env::consts::ARCH, if cfg!(debug_assertions) { "debug" } else { "release" }),
        ),
        ("engines", built.join(", ")),
    ];
    let machine = [
        ("kernel", format!("Linux {} on {}", here.kernel_release, here.architecture)),
        (
            "CPUs",
            format!("{} online, {}", here.n_online_cpus, cpu_model().unwrap_or_else(|| "model unknown".to_owned())),
        ),
        ("memory", format!("{} MiB in pages of {} bytes", here.memory_mib, here.page_bytes)),
        ("clock", clock().to_owned()),
        ("io_uring", engine_checks::io_uring("io_uring").value()),
        ("libaio", engine_checks::libaio("libaio").value()),
        ("locked memory", locked_memory()),
        ("user", user().to_owned()),
    ];
    let mut text = String::new();
    for (name, value) in program.iter().chain(&machine) {
        let value = textwrap::wrap(value, 80 - 15).join("\n               ");
        // Infallible: writing to a String never fails.
        let _ = writeln!(text, "{name:<13}  {value}");
    }
    text
}

fn clock() -> &'static str {
    match Clock::new().kind() {
        ClockKind::CpuCounter => "the counter of the CPU",
        _ => "CLOCK_MONOTONIC of the kernel; no counter of the CPU can be trusted here",
    }
}

fn locked_memory() -> String {
    use ferrio_sys::limits::{Privilege, Resource, has_privilege, soft_limit};
    match soft_limit(Resource::Memlock) {
        _ if has_privilege(Privilege::LockMemory) => "no limit".to_owned(),
        None => "no limit".to_owned(),
        Some(bytes) => format!("{} KiB (ulimit -l)", bytes >> 10),
    }
}

fn user() -> &'static str {
    if ferrio_sys::process::effective_user() == 0 { "root" } else { "not root: some evidence is not seen" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_for_by_two_words() {
        let asked = |words: &[&str]| is_asked_for(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(asked(&["ferrio", "--version", "--verbose"]) && asked(&["ferrio", "--verbose", "--version"]));
        for other in [&["ferrio"][..], &["ferrio", "--version"], &["ferrio", "--version", "--version"], &[]] {
            assert!(!asked(other), "{other:?}");
        }
    }

    #[test]
    fn lines_fit_a_terminal_and_name_what_is_here() {
        let text = text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for name in ["ferrio ", "kernel ", "clock ", "io_uring ", "libaio "] {
            assert!(text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
        }
    }
}

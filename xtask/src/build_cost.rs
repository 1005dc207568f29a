//! `xtask build-cost`: the CPU time of a clean release build, as README's first command makes it, by crate.
//!
//! cargo calls this program in the place of the compiler (`RUSTC_WRAPPER`), which it runs and whose CPU time it notes. What is left of the
//! whole are build scripts, mostly C compilers. Must not know: what the crates do. Start reading at [`check`].

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Path of the recorded sum, relative to the root of the repository.
const FILE: &str = "xtask/build-cost.toml";
/// A rise by more than this fails the check.
const TOLERANCE_PERCENT: f64 = 15.0;
/// Number of crates that are listed, the dearest first.
const N_LISTED: usize = 30;
/// The file for the notes of the wrapper. Where this is set, the program is the wrapper.
const NOTES: &str = "FERRIO_BUILD_COST_NOTES";
/// Clock ticks of `/proc/self/stat`: 100 a second on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// The file with the recorded sum.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Recorded {
    /// Compiler of the build.
    rustc: String,
    /// CPU time of the build, seconds.
    cpu_seconds: f64,
}

/// CPU times of a build, seconds.
struct Cost {
    crates: BTreeMap<String, f64>,
    sum: f64,
}

pub(crate) fn show(root: &Path) -> Result<String> {
    Ok(listing(&measured(root)?))
}

/// Fails if the build takes more CPU time than the recorded one, by more than the tolerance.
pub(crate) fn check(root: &Path) -> Result<String> {
    let text = std::fs::read_to_string(root.join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    let recorded: Recorded = toml::from_str(&text).with_context(|| format!("cannot parse {FILE}"))?;
    let cost = measured(root)?;
    let listing = listing(&cost);
    if is_dearer(cost.sum, recorded.cpu_seconds) {
        let (sum, before) = (cost.sum, recorded.cpu_seconds);
        bail!(
            "{listing}\nthe build takes {sum:.0} s of CPU, and {before:.0} s are recorded (rustc {})",
            recorded.rustc
        );
    }
    Ok(listing)
}

/// Writes the present sum.
pub(crate) fn update(root: &Path) -> Result<String> {
    let cost = measured(root)?;
    let output = Command::new("rustc").arg("--version").output().context("cannot start rustc")?;
    let version = String::from_utf8_lossy(&output.stdout).split_whitespace().nth(1).unwrap_or_default().to_owned();
    let text = format!(
        "# CPU time of a clean `cargo build --release`, as `cargo xtask build-cost --update` measured it. `--check` fails above 115 % of it.\n\n\
         rustc = \"{version}\"\ncpu_seconds = {:.1}\n",
        cost.sum
    );
    std::fs::write(root.join(FILE), text).with_context(|| format!("cannot write {FILE}"))?;
    Ok(format!("{}\nwritten to {FILE}", listing(&cost)))
}

fn is_dearer(sum: f64, recorded: f64) -> bool {
    sum > recorded * (1.0 + TOLERANCE_PERCENT / 100.0)
}

/// Builds in a directory of its own.
fn measured(root: &Path) -> Result<Cost> {
    let target = root.join("target/build-cost");
    match std::fs::remove_dir_all(&target) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).context("cannot empty target/build-cost");
        }
        _ => std::fs::create_dir_all(&target)?,
    }
    let notes = target.join("notes");
    let before = cpu_seconds_of_children()?;
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--release", "--locked", "--quiet"]).current_dir(root).env("CARGO_TARGET_DIR", &target);
    command.env("CARGO_INCREMENTAL", "0").env(NOTES, &notes).env("RUSTC_WRAPPER", std::env::current_exe()?);
    let status = command.status().context("cannot start cargo build")?;
    if !status.success() {
        bail!("cargo build --release: {status}");
    }
    let sum = cpu_seconds_of_children()? - before;
    let text = std::fs::read_to_string(&notes).context("the compiler has left no notes")?;
    Ok(Cost { crates: by_crate(&text)?, sum })
}

/// Sums of lines `CRATE SECONDS`.
fn by_crate(notes: &str) -> Result<BTreeMap<String, f64>> {
    let mut crates = BTreeMap::new();
    for line in notes.lines() {
        let (name, seconds) = line.split_once(' ').with_context(|| format!("no note of the compiler: {line}"))?;
        *crates.entry(name.to_owned()).or_default() += seconds.parse::<f64>()?;
    }
    Ok(crates)
}

fn listing(cost: &Cost) -> String {
    let mut crates: Vec<(&String, &f64)> = cost.crates.iter().collect();
    crates.sort_by(|one, other| other.1.total_cmp(one.1));
    let mut text = "CPU seconds of a clean release build\n".to_owned();
    for (name, seconds) in crates.iter().take(N_LISTED) {
        // Writing into a text cannot fail.
        let _ = writeln!(text, "  {seconds:>7.1}  {name}");
    }
    let others: f64 = crates.iter().skip(N_LISTED).map(|(_, seconds)| **seconds).sum();
    let compiler: f64 = cost.crates.values().sum();
    let _ = writeln!(text, "  {others:>7.1}  {} other crates", crates.len().saturating_sub(N_LISTED));
    let _ = writeln!(text, "  {:>7.1}  build scripts and cargo", cost.sum - compiler);
    let _ = write!(text, "  {:>7.1}  all", cost.sum);
    text
}

/// In the place of the compiler, if cargo has called this program so: runs it and notes its CPU time.
pub(crate) fn as_compiler(arguments: &[std::ffi::OsString]) -> Option<ExitCode> {
    let notes = std::env::var_os(NOTES)?;
    let (compiler, arguments) = arguments.split_first()?;
    let status = Command::new(compiler).args(arguments).status().ok()?;
    let name = arguments.iter().skip_while(|argument| *argument != "--crate-name").nth(1);
    if let (Some(name), Ok(seconds)) = (name, cpu_seconds_of_children()) {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(notes).ok()?;
        file.write_all(format!("{} {seconds}\n", name.to_string_lossy()).as_bytes()).ok()?;
    }
    Some(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// CPU time of all children that have ended, and of theirs.
fn cpu_seconds_of_children() -> Result<f64> {
    of_stat(&std::fs::read_to_string("/proc/self/stat")?).context("no CPU times in /proc/self/stat")
}

/// `cutime` and `cstime`: fields 16 and 17, of which the second, in parentheses, may have blanks.
fn of_stat(stat: &str) -> Option<f64> {
    let (_, behind) = stat.rsplit_once(')')?;
    let mut fields = behind.split_whitespace().skip(13);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_rise_beyond_the_tolerance_fails() {
        assert!(!is_dearer(459.0, 400.0) && is_dearer(461.0, 400.0));
    }

    #[test]
    fn times_of_a_crate_are_summed() {
        let crates = by_crate("syn 1.5\nserde 2\nsyn 0.25\n").expect("notes");
        assert_eq!(crates, BTreeMap::from([("syn".to_owned(), 1.75), ("serde".to_owned(), 2.0)]));
        assert!(by_crate("syn").is_err());
    }

    #[test]
    fn the_times_of_children_are_those_of_the_manual_page() {
        let stat = "1 (a ) b) S 4 5 6 7 8 9 10 11 12 13 14 15 250 15 18";
        assert_eq!(of_stat(stat), Some(2.65));
    }

    #[test]
    fn a_sum_is_recorded() {
        let text = std::fs::read_to_string(crate::repository_root().join(FILE)).expect("the file is there");
        let recorded: Recorded = toml::from_str(&text).expect("well formed");
        assert!(recorded.cpu_seconds > 0.0);
    }
}

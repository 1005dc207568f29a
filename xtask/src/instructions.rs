//! `xtask instructions`: how many instructions an I/O of the null engine takes, counted by callgrind.
//!
//! Unlike a time, the count is the same on a busy machine, so that a check can hold it: see `xtask/instructions.toml`.
//! Must not know: the loops. Start reading at [`check`].

use crate::bench::build_release;
use crate::callgrind::instructions_per_io;
use anyhow::{Context, Result, bail};
use ferrio_sys::Clock;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Path of the counts, relative to the root of the repository.
const FILE: &str = "xtask/instructions.toml";
/// A rise by more than this fails the check.
const TOLERANCE_PERCENT: u64 = 3;
/// How often a count that rose is counted again.
const N_RECOUNTS: usize = 2;
/// I/Os of the longer run.
const N_IOS: u64 = 300_000;

/// Options of all runs.
const COMMON: &[&str] = &["--name=b", "--ioengine=null", "--size=64g", "--bs=4k"];

/// The runs, by the name under which their count is kept.
const RUNS: &[(&str, &str)] = &[
    ("null-read-1", "--rw=read --iodepth=1"),
    ("null-read-32", "--rw=read --iodepth=32"),
    ("null-randread-1", "--rw=randread --iodepth=1"),
    ("null-randread-32", "--rw=randread --iodepth=32"),
    ("null-rate-1", "--rw=randread --iodepth=1 --rate_iops=1000000000"),
    ("null-rwmix-1", "--rw=randrw --iodepth=1 --rwmixread=70"),
    ("null-bssplit-1", "--rw=randread --iodepth=1 --bssplit=4k/50:8k/30:64k/20"),
    ("null-zipf-1", "--rw=randread --iodepth=1 --random_distribution=zipf:1.1"),
];

/// Opens the file of counts.
const HEADER: &str = "\
# Instructions per I/O, as `cargo xtask instructions` counts them with callgrind: the release build, null engine, 4 KiB,
# all default statistics, one job as a thread. `--check` fails when a count rises by more than 3 %;
# `--update` writes what it counts. A commit that changes a count says why.
";

/// The file of counts.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Recorded {
    /// Compiler of the counted build: another one generates other code.
    rustc: String,
    /// Counts by run.
    instructions: BTreeMap<String, u64>,
}

pub(crate) fn show(root: &Path) -> Result<String> {
    let Some(counts) = count_all(root)? else { return Ok(skipped()) };
    Ok(listing(&counts, &read(root)?))
}

/// Fails when a count rose by more than the tolerance.
pub(crate) fn check(root: &Path) -> Result<String> {
    let Some(mut counts) = count_all(root)? else { return Ok(skipped()) };
    let recorded = read(root)?;
    // A job looks at the clock now and then: on a busy machine it has more to do meanwhile. Only a rise that stays counts.
    for _ in 0..N_RECOUNTS {
        for (name, count) in &mut counts {
            if recorded.instructions.get(name).is_some_and(|before| rose(*count, *before)) {
                *count = (*count).min(count_one(root, name)?);
            }
        }
    }
    let listing = listing(&counts, &recorded);
    let complaints = complaints(&counts, &recorded);
    if complaints.is_empty() {
        return Ok(listing);
    }
    bail!("{listing}\n{}\nrecorded with rustc {}, counted with {}", complaints.join("\n"), recorded.rustc, rustc()?)
}

/// Writes the current counts.
pub(crate) fn update(root: &Path) -> Result<String> {
    let Some(counts) = count_all(root)? else { return Ok(skipped()) };
    let listing = listing(&counts, &read(root)?);
    let text = to_toml(&rustc()?, &counts);
    std::fs::write(root.join(FILE), text).with_context(|| format!("cannot write {FILE}"))?;
    Ok(format!("{listing}\nwritten to {FILE}"))
}

fn skipped() -> String {
    "SKIPPED instructions: no counter of the CPU that can be trusted, so that another clock would be counted".to_owned()
}

/// Counts of all runs; `None` if ferrio uses another clock than when the counts were recorded.
fn count_all(root: &Path) -> Result<Option<BTreeMap<String, u64>>> {
    if Clock::new_cpu_counter().is_none() {
        return Ok(None);
    }
    let counted = RUNS.iter().map(|(name, _)| Ok(((*name).to_owned(), count_one(root, name)?)));
    counted.collect::<Result<_>>().map(Some)
}

fn count_one(root: &Path, name: &str) -> Result<u64> {
    let program = build_release(root, &["ferrio"])?.join("ferrio");
    let (_, options) =
        RUNS.iter().find(|(known, _)| *known == name).with_context(|| format!("no run is called {name}"))?;
    let options: Vec<String> = COMMON.iter().copied().chain(options.split(' ')).map(str::to_owned).collect();
    instructions_per_io(&program, &options, N_IOS)
}

fn rustc() -> Result<String> {
    let output = Command::new("rustc").arg("--version").output().context("cannot start rustc")?;
    let text = String::from_utf8(output.stdout).context("rustc gave no text")?;
    // `rustc 1.95.0 (hash date)`
    Ok(text.split_whitespace().nth(1).unwrap_or_default().to_owned())
}

fn read(root: &Path) -> Result<Recorded> {
    let text = std::fs::read_to_string(root.join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    toml::from_str(&text).with_context(|| format!("cannot parse {FILE}"))
}

fn to_toml(rustc: &str, counts: &BTreeMap<String, u64>) -> String {
    let mut text = format!("{HEADER}\nrustc = \"{rustc}\"\n\n[instructions]\n");
    for (name, count) in counts {
        // Writing into a text cannot fail.
        let _ = writeln!(text, "{name} = {count}");
    }
    text
}

fn rose(count: u64, recorded: u64) -> bool {
    count.saturating_mul(100) > recorded.saturating_mul(100 + TOLERANCE_PERCENT)
}

fn listing(counts: &BTreeMap<String, u64>, recorded: &Recorded) -> String {
    let lines = counts.iter().map(|(name, count)| match recorded.instructions.get(name) {
        Some(before) => {
            let change = 100.0 * (*count as f64 / *before as f64 - 1.0);
            format!("  {name:<18} {count:>6}  recorded {before:>6}  {change:>+6.1} %")
        }
        None => format!("  {name:<18} {count:>6}  not recorded"),
    });
    format!("instructions per I/O\n{}", lines.collect::<Vec<_>>().join("\n"))
}

fn complaints(counts: &BTreeMap<String, u64>, recorded: &Recorded) -> Vec<String> {
    let complaint = |(name, count): (&String, &u64)| match recorded.instructions.get(name) {
        None => Some(format!("{name} is not recorded: cargo xtask instructions --update")),
        Some(before) if rose(*count, *before) => {
            Some(format!("{name} rose from {before} to {count} instructions per I/O"))
        }
        Some(_) => None,
    };
    counts.iter().filter_map(complaint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
        pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn only_a_rise_beyond_the_tolerance_fails() {
        let recorded = Recorded { rustc: "1".to_owned(), instructions: counts(&[("a", 100), ("b", 100)]) };
        assert!(complaints(&counts(&[("a", 103), ("b", 50)]), &recorded).is_empty());
        assert_eq!(complaints(&counts(&[("a", 104), ("c", 1)]), &recorded).len(), 2);
    }

    #[test]
    fn the_file_reads_back() {
        let written = Recorded { rustc: "1.95.0".to_owned(), instructions: counts(&[("null-read-1", 400)]) };
        let read: Recorded = toml::from_str(&to_toml(&written.rustc, &written.instructions)).expect("well formed");
        assert_eq!(read, written);
    }

    #[test]
    fn every_run_is_recorded() {
        let recorded = read(&crate::repository_root()).expect("the file of counts is there");
        let names: Vec<&str> = recorded.instructions.keys().map(String::as_str).collect();
        let mut expected: Vec<&str> = RUNS.iter().map(|(name, _)| *name).collect();
        expected.sort_unstable();
        assert_eq!(names, expected);
    }
}

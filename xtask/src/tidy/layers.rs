//! The crates form layers: each depends only on those listed for it, all of them lower, and only the program uses
//! `anyhow`.
//!
//! Start reading at [`LAYERS`].

use super::Finding;
use anyhow::{Context, Result};

/// The crates, lowest first, each with those of ours that it may use. A crate can only reach the crates in its row:
/// formats cannot use threads, and loops cannot use option strings.
const LAYERS: &[(&str, &[&str])] = &[
    ("ferrio-units", &[]),
    // For the tests of all crates, and for nothing else.
    (TESTING, &[]),
    ("ferrio-sys", &["ferrio-units"]),
    ("ferrio-spec", &["ferrio-units"]),
    ("ferrio-job", &["ferrio-units", "ferrio-spec"]),
    ("ferrio-manual", &["ferrio-spec", "ferrio-job"]),
    ("ferrio-stats", &["ferrio-units", "ferrio-sys", "ferrio-spec"]),
    // From `stats` the engines have the figures that only they can measure: the steps to a server (`ServerSteps`).
    ("ferrio-engine", &["ferrio-units", "ferrio-sys", "ferrio-spec", "ferrio-stats"]),
    // From `sys` the workload uses CPU features but no system calls: `multiply_fill`; from `stats` the values of its
    // messages (`note`).
    ("ferrio-workload", &["ferrio-units", "ferrio-sys", "ferrio-spec", "ferrio-stats"]),
    ("ferrio-run", &["ferrio-units", "ferrio-sys", "ferrio-spec", "ferrio-stats", "ferrio-engine", "ferrio-workload"]),
    ("ferrio-formats", &["ferrio-units", "ferrio-sys", "ferrio-spec", "ferrio-stats"]),
    ("ferrio-inference", &["ferrio-units", "ferrio-stats"]),
    ("ferrio-insight", &["ferrio-units", "ferrio-spec", "ferrio-stats", "ferrio-formats", "ferrio-inference"]),
    ("ferrio-pictures", &["ferrio-units", "ferrio-stats", "ferrio-formats", "ferrio-insight"]),
    (PACKAGE, &[]),
];

/// Further crates that the tests of a crate may use: tests of `run` check whole runs as reports show them.
const IN_TESTS: &[(&str, &str)] = &[("ferrio-run", "ferrio-formats")];

/// What the tests of any crate may use.
const TESTING: &str = "ferrio-testing";

/// The package that people install or depend on: the program, and the library over all others. The rule `parts` looks into it.
const PACKAGE: &str = "ferrio";

/// Dependencies of a crate that are not in a lower layer, and `anyhow` in a library, whose callers need an error type.
pub(super) fn check(file: &str, text: &str) -> Result<Vec<Finding>> {
    let manifest: toml::Table = text.parse().with_context(|| format!("cannot parse {file}"))?;
    let name = manifest.get("package").and_then(|package| package.get("name")).and_then(toml::Value::as_str);
    let name = name.with_context(|| format!("{file} names no package"))?;
    let tables = ["dependencies", "dev-dependencies", "build-dependencies"];
    let dependencies = tables.iter().flat_map(|table| {
        let of_tests = *table == "dev-dependencies";
        let names = manifest.get(*table).and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys);
        names.filter(move |dependency| !(of_tests && is_of_tests(name, dependency)))
    });
    let complaints = dependencies.filter_map(|dependency| complaint(name, dependency));
    Ok(complaints.map(|message| Finding { file: file.to_owned(), what: "layer", line: 1, count: 1, message }).collect())
}

fn is_of_tests(name: &str, dependency: &str) -> bool {
    dependency == TESTING || IN_TESTS.contains(&(name, dependency))
}

fn complaint(name: &str, dependency: &str) -> Option<String> {
    let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == name) else {
        return Some(format!("{name} has no place in the layers of xtask/src/tidy/layers.rs"));
    };
    if dependency == "anyhow" && name != PACKAGE {
        return Some(format!("{name} is a library: its errors have a type of their own, not anyhow's"));
    }
    let is_ours = dependency.starts_with("ferrio");
    let is_allowed = name == PACKAGE || allowed.contains(&dependency);
    (is_ours && !is_allowed).then(|| format!("{name} may not depend on {dependency}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n_complaints(name: &str, dependencies: &str) -> usize {
        let text = format!("[package]\nname = \"{name}\"\n[dependencies]\n{dependencies}\n");
        check("crates/x/Cargo.toml", &text).expect("parses").len()
    }

    #[test]
    fn dependencies_point_downward() {
        assert_eq!(n_complaints("ferrio-run", "ferrio-spec.workspace = true\nlibc = \"0.2\""), 0);
        assert_eq!(n_complaints("ferrio-job", "ferrio-run.workspace = true"), 1);
        assert_eq!(n_complaints("ferrio-job", "ferrio-job = { path = \"\" }"), 1);
        assert_eq!(n_complaints("ferrio-run", "ferrio-formats.workspace = true"), 1);
        assert_eq!(n_complaints("ferrio-run", "[dev-dependencies]\nferrio-formats.workspace = true"), 0);
        assert_eq!(n_complaints("ferrio-units", "[dev-dependencies]\nferrio-sys.workspace = true"), 1);
    }

    #[test]
    fn a_crate_without_a_layer_is_found() {
        assert_eq!(n_complaints("ferrio-new", "libc = \"0.2\""), 1);
        assert_eq!(n_complaints("ferrio-run", "ferrio-new = { path = \"\" }"), 1);
    }

    #[test]
    fn the_layers_are_in_order() {
        for (index, (name, allowed)) in LAYERS.iter().enumerate() {
            for other in *allowed {
                assert!(LAYERS[..index].iter().any(|(below, _)| below == other), "{name} {other}");
            }
        }
    }

    #[test]
    fn only_the_package_of_the_program_uses_anyhow() {
        assert_eq!(n_complaints("ferrio", "anyhow = \"1\""), 0);
        assert_eq!(n_complaints("ferrio-run", "anyhow = \"1\""), 1);
    }
}

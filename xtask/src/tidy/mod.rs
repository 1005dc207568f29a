//! `xtask tidy`: the house rules as a check, with a ratchet.
//!
//! Each rule counts violations in a file. A count above zero must be listed in `xtask/ratchet.toml`; it may only
//! shrink. Must not know: the purpose of the code. Start reading at [`check`], then the table in [`rules`].

mod circles;
mod engine_options;
mod layers;
mod paths;
mod ratchet;
mod rules;
mod source;
mod spec_fields;
mod type_names;
mod workspace;

use anyhow::{Context, Result, bail};
use ratchet::Ratchet;
use source::Source;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Path of the exceptions, relative to the root of the repository.
const RATCHET_FILE: &str = "xtask/ratchet.toml";

/// One violation of a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// File (or directory, for rules about crates), relative to the root of the repository.
    file: String,
    what: &'static str,
    /// Line, from 1.
    line: usize,
    /// Weight of the violation: 1, or the lines beyond a limit.
    count: usize,
    message: String,
}

/// Sums of the findings by file and rule.
type Counts = BTreeMap<(String, String), usize>;

/// Fails when a count rose, is new, or fell without the ratchet being lowered.
pub(crate) fn check(root: &Path) -> Result<String> {
    let (files, findings) = find_all(root)?;
    let ratchet = Ratchet::read(&root.join(RATCHET_FILE))?;
    let complaints = ratchet.compare(&sum(&findings), &findings);
    if complaints.is_empty() {
        return Ok(format!("tidy: {} files, {} excepted counts", files.len(), ratchet.len()));
    }
    bail!("tidy: {} complaints\n{}", complaints.len(), complaints.join("\n"))
}

/// Lowers the exceptions that shrank and drops those that are gone; never raises one.
pub(crate) fn update(root: &Path) -> Result<String> {
    let (_, findings) = find_all(root)?;
    let path = root.join(RATCHET_FILE);
    let mut ratchet = Ratchet::read(&path)?;
    let n_lowered = ratchet.lower(&sum(&findings));
    if n_lowered > 0 {
        std::fs::write(&path, ratchet.to_toml()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(format!("tidy: {n_lowered} exceptions lowered in {RATCHET_FILE}"))
}

fn find_all(root: &Path) -> Result<(Vec<PathBuf>, Vec<Finding>)> {
    let files = repository_files(root)?;
    let forbidden = paths::forbidden_paths(root);
    let mut findings = Vec::new();
    let mut fields = spec_fields::Fields::default();
    let mut options = engine_options::PrivateOptions::default();
    let mut names = type_names::TypeNames::default();
    let mut imports = circles::Imports::default();
    for file in &files {
        // A file that is not UTF-8 (a picture, a recorded binary) has no style.
        let Ok(text) = std::fs::read_to_string(root.join(file)) else { continue };
        let name = file.to_string_lossy();
        findings.extend(paths::check(&name, &text, &forbidden));
        if name == "Cargo.toml" {
            findings.extend(workspace::check(&name, &text)?);
        }
        if name.starts_with("crates/") && name.ends_with("/Cargo.toml") {
            findings.extend(layers::check(&name, &text)?);
        }
        if file.extension().is_some_and(|extension| extension == "rs") {
            let source = Source::parse(&name, &text).with_context(|| format!("cannot parse {name}"))?;
            findings.extend(rules::check(&source));
            fields.take(&source);
            options.take(&source);
            names.take(&source);
            imports.take(&source);
        }
    }
    findings.extend(fields.unread());
    findings.extend(options.unread());
    findings.extend(names.given_twice());
    findings.extend(imports.circles());
    Ok((files, findings))
}

/// All files that git knows or would take, from the root of the repository.
fn repository_files(root: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("cannot start git")?;
    if !output.status.success() {
        bail!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let listing = String::from_utf8(output.stdout).context("a file name is no UTF-8")?;
    let files = listing.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from);
    // A file that was deleted but is not yet committed as such is still listed.
    Ok(files.filter(|file| root.join(file).is_file()).collect())
}

fn sum(findings: &[Finding]) -> Counts {
    let mut counts = Counts::new();
    for finding in findings {
        *counts.entry((finding.file.clone(), finding.what.to_owned())).or_default() += finding.count;
    }
    counts
}

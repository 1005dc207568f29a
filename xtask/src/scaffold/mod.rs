//! `xtask scaffold`: the effort of adding a new thing.
//!
//! Each [`Thing`] (an option, an engine, ...) is added as a dummy to a copy of the repository, by new files and by
//! lines that are inserted into existing files; CONTRIBUTING.md must name all of them. Then the copy is built, each
//! dummy must be in the help and work, and the tests that a contributor runs must pass. A change that makes adding a thing harder
//! therefore fails here.
//! Must not know: the purpose of the things. Start reading at [`THINGS`], then [`check`].

mod commands;
mod copy;
mod things;

use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use std::process::Command;
use things::THINGS;

/// A thing to add, and the calls that show it works.
struct Thing {
    /// Its section in CONTRIBUTING.md: the words after `## `.
    section: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// Additions to existing files.
    rows: &'static [Row],
    /// Calls of the built program.
    calls: &'static [Call],
}

/// A text that is put into a file, before the first line that contains another.
struct Row {
    path: &'static str,
    before: &'static str,
    text: &'static str,
}

/// A call of the program, which must succeed.
struct Call {
    arguments: &'static [&'static str],
    /// Text that its output must contain.
    says: &'static str,
}

/// Tests that pass with all dummies in place. CONTRIBUTING.md names each of these calls of cargo.
const TESTS: &[&str] = &[
    "cargo xtask generate",
    "cargo test -p ferrio -p ferrio-engine -p ferrio-insight -p ferrio-job -p ferrio-spec --lib --test end_to_end -- \
     engines:: registry:: options:: rules:: refusals::",
];

/// Adds all dummies to a copy below `target/scaffold`, builds it, and runs their calls.
pub(crate) fn check(root: &Path) -> Result<String> {
    let work = root.join("target/scaffold");
    let source = work.join("source");
    copy::repository(root, &source)?;
    let guide = std::fs::read_to_string(root.join("CONTRIBUTING.md")).context("cannot read CONTRIBUTING.md")?;
    for thing in THINGS {
        is_described(thing, &guide)?;
        add(thing, &source).with_context(|| format!("## {}", thing.section))?;
    }
    for call in TESTS {
        ensure!(guide.contains(call), "CONTRIBUTING.md does not name '{call}'");
    }
    let target = work.join("target");
    // The program and the tests are built in one call: cargo then builds each dependency once.
    let build =
        "cargo test --quiet --no-run -p ferrio -p ferrio-engine -p ferrio-insight -p ferrio-job -p ferrio-spec --lib";
    cargo(&format!("{build} --test end_to_end"), &source, &target)?;
    let program = work.join("target/debug/ferrio");
    for thing in THINGS {
        thing
            .calls
            .iter()
            .try_for_each(|call| call.check(&program, &work).with_context(|| format!("## {}", thing.section)))?;
    }
    for call in TESTS {
        cargo(call, &source, &target)?;
    }
    let tests = TESTS.iter().map(|call| format!("scaffold: {call}: passed with all of them"));
    Ok(THINGS.iter().map(Thing::cost).chain(tests).collect::<Vec<_>>().join("\n"))
}

impl Thing {
    fn paths(&self) -> impl Iterator<Item = &'static str> {
        self.files.iter().map(|(path, _)| *path).chain(self.rows.iter().map(|row| row.path))
    }

    /// The files and lines that it needs, in one line.
    fn cost(&self) -> String {
        let Self { section, files, rows, .. } = self;
        format!("scaffold: {section}: {} new files, {} rows or lines in files that are there", files.len(), rows.len())
    }
}

/// The section of the guide names the files, or the directories of those that are new.
fn is_described(thing: &Thing, guide: &str) -> Result<()> {
    let section =
        section(guide, thing.section).with_context(|| format!("CONTRIBUTING.md has no '## {}'", thing.section))?;
    let named: Vec<&str> = section.split('`').skip(1).step_by(2).collect();
    for path in thing.paths() {
        let is_named = named.iter().any(|name| path == *name || (name.ends_with('/') && path.starts_with(name)));
        ensure!(is_named, "'## {}' of CONTRIBUTING.md does not name {path}", thing.section);
    }
    Ok(())
}

fn section<'a>(guide: &'a str, title: &str) -> Option<&'a str> {
    let (_, rest) = guide.split_once(&format!("\n## {title}\n"))?;
    Some(rest.split("\n## ").next().unwrap_or(rest))
}

fn add(thing: &Thing, source: &Path) -> Result<()> {
    for (path, text) in thing.files {
        let path = source.join(path);
        ensure!(!path.exists(), "{} is there already", path.display());
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    for row in thing.rows {
        let path = source.join(row.path);
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let text = with_row(&text, row).with_context(|| format!("{} has no line with '{}'", row.path, row.before))?;
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn with_row(text: &str, row: &Row) -> Option<String> {
    let place = text.find(row.before)?;
    let line = text[..place].rfind('\n').map_or(0, |end| end + 1);
    Some([&text[..line], row.text, "\n", &text[line..]].concat())
}

/// Runs a call of cargo in the copy.
fn cargo(call: &str, source: &Path, target: &Path) -> Result<()> {
    // The cargo of the caller, or by its name: that of the build would take compilers that some packages ask for in their folders.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(call.split(' ').skip(1))
        .current_dir(source)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_TEST_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_TEST_DEBUG", "0")
        .env_remove("FERRIO_PEER")
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "'{call}' fails in the copy with its dummies, {}", source.display());
    Ok(())
}

impl Call {
    fn check(&self, program: &Path, directory: &Path) -> Result<()> {
        let output =
            Command::new(program).args(self.arguments).current_dir(directory).output().context("cannot run it")?;
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        if !output.status.success() || !text.contains(self.says) {
            bail!("ferrio {}: no '{}' in this, or no success:\n{text}", self.arguments.join(" "), self.says);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_stands_before_its_line() {
        let row = Row { path: "", before: "zwei", text: "    new," };
        assert_eq!(with_row("one\n  zwei // 2\n", &row).as_deref(), Some("one\n    new,\n  zwei // 2\n"));
        assert_eq!(with_row("zwei", &row).as_deref(), Some("    new,\nzwei"));
        assert_eq!(with_row("one", &row), None);
    }

    #[test]
    fn every_thing_is_described() {
        let guide = include_str!("../../../CONTRIBUTING.md");
        for thing in THINGS {
            is_described(thing, guide).expect("CONTRIBUTING.md names the files");
        }
        let other = Thing { section: "Add an option", files: &[("crates/run/src/x.rs", "")], rows: &[], calls: &[] };
        assert!(is_described(&other, guide).is_err());
        assert!(is_described(&Thing { section: "Add a moon", ..other }, guide).is_err());
    }
}

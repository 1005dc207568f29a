//! Lints that the root `Cargo.toml` allows for all crates: each one is counted.

use super::Finding;
use anyhow::{Context, Result};

/// Counts the lints with level `allow` under `[workspace.lints]`.
pub(super) fn check(file: &str, text: &str) -> Result<Vec<Finding>> {
    let manifest: toml::Table = text.parse().with_context(|| format!("cannot parse {file}"))?;
    let lints = manifest.get("workspace").and_then(|workspace| workspace.get("lints")).and_then(toml::Value::as_table);
    let groups = lints.into_iter().flatten().filter_map(|(_, group)| group.as_table());
    let allowed = groups.flatten().filter(|(_, level)| is_allow(level));
    Ok(allowed
        .map(|(lint, _)| Finding {
            file: file.to_owned(),
            what: "workspace-lint",
            line: line_of(text, lint),
            count: 1,
            message: format!("{lint} is allowed for the whole workspace"),
        })
        .collect())
}

fn is_allow(level: &toml::Value) -> bool {
    level.as_str().or_else(|| level.get("level")?.as_str()) == Some("allow")
}

fn line_of(text: &str, lint: &str) -> usize {
    let names_it = |line: &str| line.strip_prefix(lint).is_some_and(|rest| rest.trim_start().starts_with('='));
    text.lines().position(names_it).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_allow_are_counted() {
        let text = "[workspace.lints.clippy]\nall = { level = \"warn\" }\na = \"allow\"\nb = { level = \"allow\" }\n";
        let found = check("Cargo.toml", text).expect("parses");
        assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [3, 4]);
    }

    #[test]
    fn a_manifest_without_lints_has_none() {
        assert!(check("Cargo.toml", "[package]\nname = \"a\"\n").expect("parses").is_empty());
        assert!(check("Cargo.toml", "[package").is_err());
    }
}

//! `xtask licences`: may ferrio be given away with all that it is built from?
//!
//! A dependency passes when its SPDX expression can be satisfied with licences of [`ALLOWED`] alone. These require at
//! most a notice (MPL-2.0: and the source of changes to its own files). Must not know: the purpose of the dependencies.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use spdx::{Expression, ParseMode};
use std::path::Path;
use std::process::Command;

/// Licences that ferrio accepts, by SPDX identifier.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// The one exception text that only adds permissions and occurs among Rust crates.
const ALLOWED_ADDITION: &str = "LLVM-exception";

/// The part of `cargo metadata` that matters here.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
}

/// Checks every package of the resolved graph, all features of all platforms, the workspace's own crates included.
pub(crate) fn check(root: &Path) -> Result<String> {
    let metadata = read_metadata(root)?;
    let offenders: Vec<String> = metadata.packages.iter().filter_map(offence).collect();
    if offenders.is_empty() {
        return Ok(format!("licences: {} packages, all on the allow list", metadata.packages.len()));
    }
    bail!("licences: {} of {} packages refused\n  {}", offenders.len(), metadata.packages.len(), offenders.join("\n  "))
}

fn read_metadata(root: &Path) -> Result<Metadata> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--all-features"])
        .current_dir(root)
        .output()
        .context("cannot start cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("cargo metadata wrote JSON of an unknown form")
}

/// The reason why a package is not allowed; `None`: it is.
fn offence(package: &Package) -> Option<String> {
    let Some(licence) = package.license.as_deref() else {
        return Some(format!("{} {}: names no licence", package.name, package.version));
    };
    match is_satisfiable(licence) {
        Ok(true) => None,
        Ok(false) => Some(format!("{} {}: {licence}", package.name, package.version)),
        Err(error) => Some(format!("{} {}: {licence}: {error}", package.name, package.version)),
    }
}

/// Can the expression be met with allowed licences alone? `MIT/Apache-2.0`, the old way of writing OR, is understood.
fn is_satisfiable(expression: &str) -> Result<bool> {
    let parsed =
        Expression::parse_mode(expression, ParseMode::LAX).map_err(|error| anyhow::anyhow!("{}", error.reason))?;
    Ok(parsed.evaluate(|requirement| {
        let known = requirement.license.id().is_some_and(|id| ALLOWED.contains(&id.name));
        known && requirement.addition.as_ref().is_none_or(|addition| addition.to_string() == ALLOWED_ADDITION)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(expression: &str) -> bool {
        is_satisfiable(expression).expect("a well-formed expression")
    }

    #[test]
    fn one_allowed_alternative_is_enough() {
        for expression in
            ["MIT", "MIT OR Apache-2.0", "MIT/Apache-2.0", "GPL-2.0-only OR MIT", "(LGPL-2.1-or-later OR ISC)"]
        {
            assert!(accepts(expression), "{expression}");
        }
    }

    #[test]
    fn every_part_of_a_conjunction_is_needed() {
        assert!(accepts("MIT AND BSD-3-Clause"));
        assert!(accepts("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(!accepts("(MIT OR Apache-2.0) AND GPL-3.0-only"));
        assert!(accepts("MIT OR (Apache-2.0 AND GPL-3.0-only)"));
    }

    #[test]
    fn copyleft_and_unknown_licences_are_refused() {
        for expression in
            ["GPL-2.0-only", "GPL-3.0-or-later", "AGPL-3.0-only", "LGPL-2.1-only", "SSPL-1.0", "LicenseRef-own"]
        {
            assert!(!accepts(expression), "{expression}");
        }
    }

    #[test]
    fn only_the_llvm_exception_may_be_added() {
        assert!(accepts("Apache-2.0 WITH LLVM-exception"));
        assert!(!accepts("Apache-2.0 WITH Swift-exception"));
        assert!(!accepts("GPL-3.0-only WITH LLVM-exception"));
    }

    #[test]
    fn a_malformed_expression_is_an_error() {
        assert!(is_satisfiable("MIT OR").is_err());
        assert!(is_satisfiable("(MIT").is_err());
        assert!(is_satisfiable("").is_err());
    }

    #[test]
    fn offenders_are_named() {
        let package = |license: Option<&str>| Package {
            name: "p".to_owned(),
            version: "1.0.0".to_owned(),
            license: license.map(str::to_owned),
        };
        assert_eq!(offence(&package(Some("MIT"))), None);
        assert_eq!(offence(&package(Some("AGPL-3.0-only"))).as_deref(), Some("p 1.0.0: AGPL-3.0-only"));
        assert_eq!(offence(&package(None)).as_deref(), Some("p 1.0.0: names no licence"));
    }

    #[test]
    fn the_allow_list_holds_known_identifiers_only() {
        for name in ALLOWED {
            assert!(spdx::license_id(name).is_some(), "{name}");
        }
    }
}

//! From a value of `ioengine` to a row of the table of engines.
//!
//! Must not know: engines' code.
//! Start reading at [`resolve`].

use crate::error::JobError;
use ferrio_spec::Status;
use ferrio_spec::engines::{EngineDef, by_name};

/// The engine of libraries of others.
const EXTERNAL: &str = "external";

/// What stands before the path of a library.
const EXTERNAL_PREFIX: &str = "external:";

/// The engine a value of `ioengine` means; `None` when there is none of that name.
///
/// Text from the first `:` on is not part of the name. `aio...` and `linuxaio...` mean `libaio`. A path means the engine in that
/// library.
pub fn resolve(text: &str) -> Option<&'static EngineDef> {
    if is_path(text) {
        return by_name(EXTERNAL);
    }
    let name = text.split(':').next().unwrap_or_default();
    let name = if name.starts_with("aio") || name.starts_with("linuxaio") { "libaio" } else { name };
    by_name(name)
}

/// True if an engine is named by the path of its library.
fn is_path(text: &str) -> bool {
    !text.starts_with(EXTERNAL_PREFIX)
        && text.contains('/')
        && text.split(':').next().is_none_or(|name| by_name(name).is_none())
}

/// The path of the library that a value of `ioengine` names, without blanks around it.
pub fn library_path(text: &str) -> Option<&str> {
    let path = text.strip_prefix(EXTERNAL_PREFIX).or_else(|| is_path(text).then_some(text))?;
    Some(path.trim()).filter(|path| !path.is_empty())
}

/// Refuses an engine that is known but not built.
pub fn refuse_unbuilt(engine: &EngineDef) -> Result<(), JobError> {
    match engine.status {
        Status::Supported | Status::Deviates(_) => Ok(()),
        Status::Planned(None) => Err(JobError::NotYet(format!(": engine {}", engine.name))),
        Status::Planned(Some(why)) => Err(JobError::NotYet(format!(": engine {}: {why}", engine.name))),
        Status::NotApplicable(why) => Err(JobError::NotApplicable(format!("engine {} {why}", engine.name))),
    }
}

/// True when two engines have the same private options, so that their values survive a change of `ioengine`.
pub fn share_options(left: &str, right: &str) -> bool {
    by_name(left).zip(by_name(right)).is_some_and(|(left, right)| left.family == right.family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_of_libaio() {
        for text in ["libaio", "aio", "aio-foo", "linuxaio", "libaio:x"] {
            assert_eq!(resolve(text).map(|engine| engine.name), Some("libaio"), "{text}");
        }
        assert!(resolve("nul").is_none());
        assert!(resolve(" null").is_none());
        assert!(resolve("null,").is_none());
        assert!(resolve("mmap,psync").is_none());
    }

    #[test]
    fn a_path_names_a_library() {
        for (text, path) in [
            ("external:/a/b.so", Some("/a/b.so")),
            ("external: ./b.so ", Some("./b.so")),
            ("external:b.so", Some("b.so")),
            ("/a/b:c.so", Some("/a/b:c.so")),
            ("external:", None),
            ("external", None),
            ("libaio:/x", None),
            ("b.so", None),
        ] {
            assert_eq!(library_path(text), path, "{text}");
            assert_eq!(
                resolve(text).map(|engine| engine.name) == Some("external"),
                path.is_some() || text.starts_with("ext")
            );
        }
    }

    #[test]
    fn options_survive_within_a_family() {
        assert!(share_options("net", "netsplice") && share_options("dirstat", "filestat"));
        assert!(share_options("psync", "psync") && !share_options("psync", "libaio"));
    }
}

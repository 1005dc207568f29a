//! From a value of `ioengine` to a row of the table of engines.
//!
//! Must not know: engines' code.
//! Start reading at [`resolve`].

use crate::error::JobError;
use ferrio_spec::Status;
use ferrio_spec::engines::{EngineDef, by_name};

/// The engine a value of `ioengine` means; `None` when there is none of that name.
///
/// Text from the first `:` on is not part of the name. `aio...` and `linuxaio...` mean `libaio`.
pub fn resolve(text: &str) -> Option<&'static EngineDef> {
    let name = text.split(':').next().unwrap_or_default();
    let name = if name.starts_with("aio") || name.starts_with("linuxaio") { "libaio" } else { name };
    by_name(name)
}

/// Refuses an engine that is known but not built.
pub fn refuse_unbuilt(engine: &EngineDef) -> Result<(), JobError> {
    match engine.status {
        Status::Supported | Status::Deviates(_) => Ok(()),
        Status::Planned(_) => Err(JobError::NotYet(format!(": engine {}", engine.name))),
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
    fn options_survive_within_a_family() {
        assert!(share_options("net", "netsplice") && share_options("dirstat", "filestat"));
        assert!(share_options("psync", "psync") && !share_options("psync", "libaio"));
    }
}

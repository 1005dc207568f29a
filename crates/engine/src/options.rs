//! Values of an engine's private options, by name.
//!
//! Must not know: how they were written. Start reading at [`EngineOptions`].

use crate::own::Storages;
use ferrio_spec::Compatibility;
pub use ferrio_spec::EngineValue;

/// The private options that a job gives to its engine.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineOptions {
    entries: Vec<(String, EngineValue)>,
    compatibility: Compatibility,
    storages: Storages,
}

impl EngineOptions {
    /// Options of a job of fio by canonical name; the last of a name wins.
    pub fn new(entries: Vec<(String, EngineValue)>) -> Self {
        Self { entries, compatibility: Compatibility::Fio, storages: Storages::default() }
    }

    /// The same options in a run with or without the oddities of fio.
    #[must_use]
    pub fn of_run(self, compatibility: Compatibility) -> Self {
        Self { compatibility, ..self }
    }

    /// The same options in a run that has these storages.
    #[must_use]
    pub fn with_storages(self, storages: &Storages) -> Self {
        Self { storages: storages.clone(), ..self }
    }

    /// The storages of the run.
    pub(crate) fn storages(&self) -> &Storages {
        &self.storages
    }

    /// If the job has fio's oddities.
    pub fn compatibility(&self) -> Compatibility {
        self.compatibility
    }

    /// The value of an option, if it was given.
    pub fn get(&self, name: &str) -> Option<&EngineValue> {
        self.entries.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// A flag or boolean; numbers count as true unless 0. False when not given.
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Some(EngineValue::Bool(value)) => *value,
            Some(EngineValue::Int(value)) => *value != 0,
            _ => false,
        }
    }

    /// A number, if it was given.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(EngineValue::Int(value)) => Some(*value),
            Some(EngineValue::Bool(value)) => Some(i64::from(*value)),
            _ => None,
        }
    }

    /// A text, if it was given.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(EngineValue::Text(value)) => Some(value),
            _ => None,
        }
    }
}

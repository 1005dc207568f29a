//! An engine and the values of its private options.
//!
//! Must not know: which engines and options exist. Start reading at [`EngineSpec`].

use super::CommandPrioritySpec;
use super::secret::{HIDDEN, Secret};
use crate::engines::options::declaration::EngineOption;
use crate::engines::options::typed::OptionType;
use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

/// Value of an engine's private option.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum EngineValue {
    Bool(bool),
    /// A number, in the unit of the option.
    Int(i64),
    Text(String),
    /// Read, write, trim.
    PerDirection(PerDirection<i64>),
    /// A text that is not shown.
    Secret(Secret),
}

/// Engine and its private options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineSpec {
    /// `ioengine`, canonical name.
    pub name: String,
    /// Private options that were given.
    pub options: GivenOptions,
    /// Names of targets with passwords (URLs): what stands in [`filenames`](crate::TargetSpec::filenames), and the whole names.
    pub secret_names: Vec<Secret>,
    /// Priorities of single I/Os, for engines with such options.
    pub command_priority: CommandPrioritySpec,
}

/// Private options that were given to an engine: canonical name and value; the last of a name wins.
///
/// They are read by their declarations ([`crate::engines::options`]) and by nothing else.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GivenOptions(Vec<(String, EngineValue)>);

impl EngineSpec {
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        let of_options = self.options.0.iter().filter_map(|(_, value)| match value {
            EngineValue::Secret(secret) => Some(secret),
            _ => None,
        });
        of_options.chain(&self.secret_names)
    }

    /// The name of the first option with a secret that is lost when the job is saved, as its text does not say where it is.
    pub fn secret_without_source(&self) -> Option<&str> {
        let is_lost = |secret: &Secret| secret.shown().contains(HIDDEN);
        let of_options = self.options.0.iter().find_map(|(name, value)| match value {
            EngineValue::Secret(secret) if is_lost(secret) => Some(name.as_str()),
            _ => None,
        });
        of_options.or_else(|| self.secret_names.iter().any(is_lost).then_some("filename"))
    }
}

impl GivenOptions {
    /// The value of an option: the one that was given, or the default.
    pub fn get<T: OptionType>(&self, option: &EngineOption<T>) -> T::Read<'_> {
        let given = self.0.iter().rev().find(|(name, _)| name == option.name());
        option.read(given.map(|(_, value)| value))
    }

    pub fn set<T: OptionType>(&mut self, option: &EngineOption<T>, value: T::Given<'_>) {
        self.put(option.name(), T::keep(value));
    }

    /// The same options, and this one.
    #[must_use]
    pub fn with<T: OptionType>(mut self, option: &EngineOption<T>, value: T::Given<'_>) -> Self {
        self.set(option, value);
        self
    }

    /// Gives the option of this canonical name a value that was parsed by the syntax of its declaration.
    pub fn put(&mut self, name: &str, value: EngineValue) {
        self.0.retain(|(given, _)| given != name);
        self.0.push((name.to_owned(), value));
    }

    /// Takes all options back.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The names of the options that were given, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::options::{cpuio, exec, io_uring};

    #[test]
    fn the_saved_form_is_a_list_of_names_and_values() {
        let options = GivenOptions::default()
            .with(&io_uring::HIPRI, true)
            .with(&cpuio::CPULOAD, 50)
            .with(&exec::PROGRAM, "ls")
            .with(&io_uring::HIPRI, false);
        let saved = r#"[["cpuload",{"Int":50}],["program",{"Text":"ls"}],["hipri",{"Bool":false}]]"#;
        assert_eq!(serde_json::to_string(&options).unwrap(), saved);
        assert_eq!(serde_json::from_str::<GivenOptions>(saved).unwrap(), options);
    }

    #[test]
    fn the_last_value_of_a_name_counts() {
        let saved = r#"[["hipri",{"Bool":false}],["hipri",{"Int":1}]]"#;
        assert!(serde_json::from_str::<GivenOptions>(saved).unwrap().get(&io_uring::HIPRI));
    }
}

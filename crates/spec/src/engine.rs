//! An engine and the values of its private options.
//!
//! Must not know: which engines and options exist. Start reading at [`EngineSpec`].

use super::CommandPrioritySpec;
use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

/// Value of an engine's private option.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum EngineValue {
    /// A flag or boolean.
    Bool(bool),
    /// A number, in the unit of the option.
    Int(i64),
    /// A text.
    Text(String),
    /// Read, write, trim.
    PerDirection(PerDirection<i64>),
}

/// Engine and its private options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineSpec {
    /// `ioengine`, canonical name.
    pub name: String,
    /// Private options that were given, canonical name and value; the last of a name wins.
    pub options: Vec<(String, EngineValue)>,
    /// Priorities of single I/Os, for engines with such options.
    pub command_priority: CommandPrioritySpec,
}

//! The help about options: the texts of the option table.
//!
//! Start reading at [`option_help`].

use ferrio_job::help::options::details;
use ferrio_job::options::{OPTIONS, find_general};
use ferrio_units::Wording;

/// Everything that ferrio knows of an option of jobs or of engines, by any of its names: what it does, what it takes, its default.
/// `None`: no option has this name.
///
/// ```
/// let help = ferrio::option_help("sim_service").expect("an option of the engine sim");
/// assert!(help.contains("exponential:MEAN"));
/// assert!(ferrio::option_help("no-such-option").is_none());
/// ```
pub fn option_help(name: &str) -> Option<String> {
    let of_engines = || OPTIONS.iter().find(|def| def.is_called(name) && !def.engines.is_empty());
    find_general(name).or_else(of_engines).map(|def| details(def, Wording::Fio))
}

/// The options that an engine has beside those of all jobs, a line each: name and what it does. Empty where it has none, and for an
/// unknown engine.
///
/// ```
/// assert!(ferrio::engine_help("sim").lines().any(|line| line.starts_with("sim_channels")));
/// assert_eq!(ferrio::engine_help("psync"), "");
/// ```
pub fn engine_help(engine: &str) -> String {
    let of_engine = OPTIONS.iter().filter(|def| def.engines.contains(&engine));
    of_engine.map(|def| def.name.to_owned() + ": " + def.help + "\n").collect()
}

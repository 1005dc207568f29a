//! The names that a command line knows: switches, and the options of jobs.
//!
//! Must not know: what they do. Start reading at [`known_names`].

use super::getopt::{LongName, NameTarget};
use super::profile::Chosen;
use super::switches::{Argument, SWITCHES};
use crate::options;
use crate::options::definition::OptionDef;

/// The names that the command line knows while the current job has this engine, those of a profile first: they count before
/// options of jobs that are called the same.
pub(super) fn known_names(engine: &str, profile: Option<&Chosen>) -> Vec<LongName> {
    let switches =
        SWITCHES.iter().map(|def| LongName { name: def.name, argument: def.argument, target: NameTarget::Switch(def) });
    let names = |def: &'static OptionDef| {
        let argument = if def.kind.value_is_optional() { Argument::Optional } else { Argument::Required };
        def.names().map(move |name| LongName { name, argument, target: NameTarget::Option(def) })
    };
    let own = profile.into_iter().flat_map(Chosen::options).flat_map(names);
    let options = options::general().chain(options::of_engine(engine)).flat_map(names);
    // Without a chosen profile the options of all profiles are accepted, without effect.
    let unchosen = profile.is_none().then(options::of_profiles_alone).into_iter().flatten().flat_map(names);
    // The option `profile` is reached through the switch of that name.
    own.chain(switches).chain(options.filter(|known| known.name != "profile")).chain(unchosen).collect()
}

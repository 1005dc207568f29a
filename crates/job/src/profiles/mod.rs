//! Built-in sets of jobs (`--profile`): from the options of a profile to jobs, as names and values of ordinary options.
//!
//! Must not know: the effect of jobs' options. Start reading at [`PROFILES`]; a new profile is a file and a row here,
//! and its options in `options/profile.rs`.

pub mod act;
pub mod tiobench;

use crate::environment::Environment;
use crate::message::UserLine;
use act::ActDraft;
use tiobench::TiobenchDraft;

/// A built-in set of jobs.
#[derive(Debug)]
pub struct ProfileDef {
    pub name: &'static str,
    /// Makes the jobs, or the lines that say why not.
    pub expand: fn(&ProfileDraft, &dyn Environment) -> Result<ProfileJobs, Vec<UserLine>>,
}

pub const PROFILES: &[ProfileDef] = &[
    ProfileDef { name: "act", expand: |draft, _| act::expand(&draft.act) },
    ProfileDef {
        name: "tiobench",
        expand: |draft, environment| tiobench::expand(&draft.tiobench, environment.memory_mib()),
    },
];

/// Values of profiles' options while they are being read.
#[derive(Debug, Clone, Default)]
pub struct ProfileDraft {
    pub act: ActDraft,
    pub tiobench: TiobenchDraft,
}

/// An option of a job: its name, and its value where it has one.
pub type Setting = (&'static str, Option<String>);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProfileJobs {
    pub globals: Vec<Setting>,
    /// Defaults that the user cannot change with a job option, because an option of the profile sets the same.
    pub fixed: Vec<Setting>,
    /// The jobs: the name of each, and its own settings.
    pub jobs: Vec<(String, Vec<Setting>)>,
    /// Options that the user must not set, because the profile's figures depend on them.
    pub reserved: &'static [&'static str],
    /// Hours in the table of latencies that a profile reports.
    pub n_slices: Option<u64>,
}

impl ProfileJobs {
    /// True for options that the profile sets for some job alone or for good, or has to itself.
    pub fn fixes(&self, name: &str) -> bool {
        let of_jobs = self.jobs.iter().flat_map(|(_, settings)| settings);
        self.reserved.contains(&name) || self.fixed.iter().chain(of_jobs).any(|(fixed, _)| *fixed == name)
    }
}

pub fn by_name(name: &str) -> Option<&'static ProfileDef> {
    PROFILES.iter().find(|profile| profile.name == name)
}

fn set(name: &'static str, value: &(impl ToString + ?Sized)) -> Setting {
    (name, Some(value.to_string()))
}

/// An option without a value.
const fn on(name: &'static str) -> Setting {
    (name, None)
}

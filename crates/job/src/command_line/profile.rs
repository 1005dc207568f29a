//! `--profile` while a command line is read: its own options, and in the end its jobs.
//!
//! Must not know: which profiles there are. Start reading at [`Chosen`] and [`expand`].

use crate::collector::{Collector, Section, Stopped};
use crate::error::JobError;
use crate::explain;
use crate::message::UserLine;
use crate::options::definition::OptionDef;
use crate::options::{OPTIONS, find_general, find_private};
use crate::origin::Origin;
use crate::profiles::{ProfileDef, ProfileJobs, Setting, by_name};

#[derive(Default)]
pub(super) struct Profiles {
    pub(super) chosen: Option<Chosen>,
    /// Options of profiles that came before `--profile`.
    pub(super) unclaimed: Vec<(&'static OptionDef, Option<String>)>,
}

/// The profile of the run, and its options as far as they were read.
pub(super) struct Chosen {
    profile: &'static ProfileDef,
    section: Section,
}

impl Chosen {
    /// The profile of that name, or the lines of the refusal.
    pub(super) fn new(name: &str) -> Result<Self, Vec<UserLine>> {
        let profile = by_name(name).ok_or_else(|| vec![UserLine::named(format!("profile '{name}' not found"))])?;
        Ok(Self { profile, section: Section::default() })
    }

    pub(super) fn options(&self) -> impl Iterator<Item = &'static OptionDef> + use<> {
        of_profile(self.profile.name)
    }

    pub(super) fn set(
        &mut self,
        collector: &mut Collector<'_>,
        def: &'static OptionDef,
        value: Option<&str>,
    ) -> Result<(), JobError> {
        collector.set(&mut self.section, def, value)
    }
}

/// The private options of a profile.
fn of_profile(name: &'static str) -> impl Iterator<Item = &'static OptionDef> {
    OPTIONS.iter().filter(move |def| def.profile == Some(name))
}

/// Makes the jobs of the profile, with the defaults of the command line where the profile leaves a choice.
///
/// Returns the hours of its table of latencies.
pub(super) fn expand(collector: &mut Collector<'_>, chosen: Chosen) -> Result<Option<u64>, Stopped> {
    let expanded = (chosen.profile.expand)(&chosen.section.draft.open.profile, collector.environment);
    let jobs = expanded.or_else(|lines| stop(collector, lines))?;
    let given = std::mem::take(&mut collector.defaults);
    if let Some((name, _)) = given.given.iter().find(|(name, _)| jobs.fixes(name)) {
        let profile = chosen.profile.name;
        return stop(collector, vec![UserLine::named(format!("{name}: the profile {profile} sets it itself"))]);
    }
    let n_slices = jobs.n_slices;
    collector.defaults.given = chosen.section.given;
    defaults(collector, &jobs, given)?;
    for (name, settings) in &jobs.jobs {
        job(collector, name, settings)?;
    }
    Ok(n_slices)
}

fn defaults(collector: &mut Collector<'_>, jobs: &ProfileJobs, given: Section) -> Result<(), Stopped> {
    let mut section = std::mem::take(&mut collector.defaults);
    for (name, value) in jobs.globals.iter().chain(&jobs.fixed) {
        apply(collector, &mut section, name, value.as_deref())?;
    }
    for (name, value) in given.given {
        // An option without `=` has no value.
        apply(collector, &mut section, &name, Some(value.as_str()).filter(|value| !value.is_empty()))?;
    }
    collector.defaults = section;
    Ok(())
}

fn job(collector: &mut Collector<'_>, name: &str, settings: &[Setting]) -> Result<(), Stopped> {
    let mut section = collector.begin(name)?;
    apply(collector, &mut section, "name", Some(name))?;
    for (name, value) in settings {
        apply(collector, &mut section, name, value.as_deref())?;
    }
    collector.finish(section)
}

fn apply(collector: &mut Collector<'_>, section: &mut Section, name: &str, value: Option<&str>) -> Result<(), Stopped> {
    let engine = section.draft.job.engine.name.clone();
    let Some(def) = find_general(name).or_else(|| find_private(&engine, name)) else {
        return stop(collector, vec![UserLine::named(format!("{name}: the engine of the profile does not have it"))]);
    };
    collector.set(section, def, value).map_err(|error| {
        let text = value.map_or_else(|| name.to_owned(), |value| format!("{name}={value}"));
        explain::refused(&mut collector.messages, &error, def, &text, &Origin::CommandLine);
        Stopped
    })
}

fn stop<T>(collector: &mut Collector<'_>, lines: Vec<UserLine>) -> Result<T, Stopped> {
    for line in lines {
        collector.messages.err(line);
    }
    Err(Stopped)
}

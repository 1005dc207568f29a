//! Collects jobs from sections and from the command line: defaults, one job after the other, checks between jobs.
//!
//! Must not know: how a job file or a command line is written. Start reading at [`Collector`].

use crate::beyond::{self, Beyond};
use crate::changes::{self, ReadonlyChange};
use crate::diagnostic::Diagnostic;
use crate::environment::{AnyMachine, Environment};
use crate::error::JobError;
use crate::lower::{Strictness, lower};
use crate::message::{UserLine, UserMessages};
use crate::options::definition::OptionDef;
use crate::options::draft::{ApplyContext, Draft};
use crate::options::set;
use crate::origin::Origin;
use ferrio_spec::{Compatibility, JobSpec, LateGlobal, RunSpec};
use ferrio_units::{Wording, byte_text};
use std::collections::{BTreeSet, HashMap};

/// Most workers of a run, clones counted.
pub const MAX_WORKERS: u64 = 1_000_000;

/// Most jobs of a run, clones not counted. It bounds the memory that an endless job file can take.
pub const MAX_JOBS: usize = 100_000;

/// Most bytes of option text that all jobs together may take over from their defaults. It bounds the memory of a job
/// file with long defaults and very many jobs.
const MAX_INHERITED_BYTES: usize = 256 << 20;

/// Options of one section or of one job of the command line.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// The job so far.
    pub draft: Draft,
    /// Options given here, canonical name and text.
    pub given: Vec<(String, String)>,
    /// Bytes of option text in the draft, inherited options included.
    n_text_bytes: usize,
}

/// The run stops; why is in the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// Everything collected so far.
pub struct Collector<'a> {
    pub environment: &'a dyn Environment,
    /// How strict the command line wants the checks of every job.
    pub strictness: Strictness,
    /// Only parse: no checks beyond single values, and no questions to this machine (directories, limits).
    pub parse_only: bool,
    /// Lines to print, in order.
    pub messages: UserMessages,
    /// The options that every job starts from.
    pub defaults: Section,
    /// Where the options that are set now were written.
    pub(crate) origin: Origin,
    /// What the options so far do beyond I/O.
    pub(crate) beyond: Vec<Beyond>,
    /// What the options change beside the I/O of the jobs.
    pub(crate) changes: Vec<ReadonlyChange>,
    /// Texts that variables of the environment put into values.
    pub(crate) from_environment: BTreeSet<String>,
    /// Sections `[global]` behind jobs.
    pub(crate) late_globals: Vec<LateGlobal>,
    jobs: Vec<JobSpec>,
    /// The sections of the jobs, where further options shall be set on them.
    pub(crate) kept_sections: Option<Vec<Section>>,
    n_sections_by_name: HashMap<String, u32>,
    n_workers: u64,
    n_inherited_bytes: usize,
}

impl<'a> Collector<'a> {
    /// A collector without jobs, with the built-in defaults.
    pub fn new(environment: &'a dyn Environment) -> Self {
        Self {
            environment,
            strictness: Strictness::default(),
            parse_only: false,
            messages: UserMessages::new(),
            defaults: Section::default(),
            origin: Origin::CommandLine,
            beyond: Vec::new(),
            changes: Vec::new(),
            from_environment: BTreeSet::new(),
            late_globals: Vec::new(),
            jobs: Vec::new(),
            kept_sections: None,
            n_sections_by_name: HashMap::new(),
            n_workers: 0,
            n_inherited_bytes: 0,
        }
    }

    /// Number of jobs without their clones.
    pub fn n_jobs(&self) -> usize {
        self.jobs.len()
    }

    /// Forgets the defaults, as before every job file but the first.
    pub fn reset_defaults(&mut self) {
        self.defaults = Section::default();
    }

    /// A new job with the defaults.
    pub fn begin(&mut self, name: &str) -> Result<Section, Stopped> {
        self.n_inherited_bytes += self.defaults.n_text_bytes;
        if self.n_inherited_bytes > MAX_INHERITED_BYTES {
            self.messages.err(UserLine::named("the jobs take over too many options from [global] sections"));
            return Err(Stopped);
        }
        self.messages.parse(|| "dup options".to_owned());
        let mut section = Section { given: Vec::new(), ..self.defaults.clone() };
        name.clone_into(&mut section.draft.job.name);
        name.clone_into(&mut section.draft.job.section);
        Ok(section)
    }

    pub fn set(&mut self, section: &mut Section, def: &'static OptionDef, text: Option<&str>) -> Result<(), JobError> {
        let any_machine = AnyMachine(self.environment);
        let mut context = ApplyContext {
            environment: if self.parse_only { &any_machine } else { self.environment },
            readonly: self.strictness.readonly,
            messages: &mut self.messages,
        };
        set::set(&mut section.draft, def, text, &mut context)?;
        let text = text.unwrap_or_default();
        section.n_text_bytes += text.len();
        let shown = byte_text::shown(&def.shown(text)).into_owned();
        self.beyond.extend(beyond::of_option(def, text, &shown, &self.origin));
        self.changes.extend(changes::of_option(def, text, &shown, &self.origin));
        section.given.push((def.name.to_owned(), shown));
        Ok(())
    }

    /// Ends a job: lowers it, checks it against those before, and keeps it.
    pub fn finish(&mut self, section: Section) -> Result<(), Stopped> {
        self.messages.parse(|| "free options".to_owned());
        if self.parse_only {
            return Ok(());
        }
        if let Some(kept) = &mut self.kept_sections {
            kept.push(section.clone());
        }
        let Section { draft, given, .. } = section;
        let name = draft.job.name.clone();
        let mut lowered = match lower(draft, self.strictness) {
            Ok(lowered) => lowered,
            Err(lines) => return self.stop(&name, lines),
        };
        self.tell(&lowered.notes, &lowered.warnings);
        lowered.job.given_options = given;
        if let Some(lines) = self.conflicts(&lowered.job) {
            return self.stop(&name, lines);
        }
        if self.is_steady_otherwise(&lowered.job) {
            // On standard output, where fio has it.
            self.messages.out(UserLine::of(|wording| {
                let refused = "job rejected: steadystate options must be consistent within reporting groups";
                let reason = "Invalid argument";
                match wording {
                    Wording::Fio => format!("fio: file:collector.rs:{}, func={refused}, error={reason}", line!()),
                    Wording::Own => format!("{refused}: {reason}"),
                }
            }));
            return Err(Stopped);
        }
        for _ in 1..lowered.job.numjobs {
            self.tell(&lowered.notes, &lowered.clone_warnings);
        }
        self.keep(lowered.job);
        Ok(())
    }

    fn tell(&mut self, notes: &[UserLine], warnings: &[UserLine]) {
        for line in notes {
            self.messages.out(line.clone());
        }
        for line in warnings {
            self.messages.err(line.clone());
        }
    }

    /// What the jobs may do beyond I/O on files of their directory.
    pub fn take_beyond(&mut self) -> Vec<Beyond> {
        std::mem::take(&mut self.beyond)
    }

    pub fn into_run(self) -> RunSpec {
        RunSpec {
            global_options: self.defaults.given,
            jobs: self.jobs,
            compatibility: Compatibility::Fio,
            from_environment: self.from_environment.into_iter().collect(),
            late_globals: self.late_globals,
        }
    }

    /// The options of a job are refused together.
    fn stop(&mut self, job: &str, lines: Vec<UserLine>) -> Result<(), Stopped> {
        self.messages.diagnose(Diagnostic::conflict(job, &lines));
        for line in lines {
            self.messages.err(line);
        }
        Err(Stopped)
    }

    fn keep(&mut self, job: JobSpec) {
        self.n_workers += u64::from(job.numjobs);
        *self.n_sections_by_name.entry(job.name.clone()).or_default() += 1;
        self.jobs.push(job);
    }

    /// Lines on why `job` cannot run together with the jobs before it; `None`: it can.
    fn conflicts(&self, job: &JobSpec) -> Option<Vec<UserLine>> {
        let limit = if self.jobs.len() == MAX_JOBS {
            Some(format!("{}: ferrio takes at most {MAX_JOBS} jobs with options of their own", job.name))
        } else {
            let too_many = self.n_workers + u64::from(job.numjobs) > MAX_WORKERS;
            too_many.then(|| format!("{}: ferrio starts at most {MAX_WORKERS} jobs in one run", job.name))
        };
        if let Some(limit) = limit {
            return Some(vec!["error: maximum number of jobs reached.".into(), limit.into()]);
        }
        self.waitee_conflict(job).or_else(|| self.percentile_conflict(job)).or_else(|| self.interval_conflict(job))
    }

    /// A group is judged by one criterion: a job that is steady ends, and takes the group's figures with it.
    fn is_steady_otherwise(&self, job: &JobSpec) -> bool {
        let same_group = !job.grouping.stonewall && !job.grouping.new_group;
        let is_judged = |job: &JobSpec| job.steady_state.duration_us > 0;
        self.jobs.last().is_some_and(|before| {
            same_group && (is_judged(before) || is_judged(job)) && before.steady_state != job.steady_state
        })
    }

    fn interval_conflict(&self, job: &JobSpec) -> Option<Vec<UserLine>> {
        let interval_us = |job: &JobSpec| (job.steady_state.duration_us > 0).then_some(job.steady_state.interval_us);
        let wanted_us = interval_us(job)?;
        let other_us = self.jobs.iter().rev().find_map(interval_us)?;
        let said = || {
            UserLine::named(format!(
                "conflicting ss_check_interval: {wanted_us} and {other_us}, must be globally equal"
            ))
        };
        (wanted_us != other_us).then(|| vec![said()])
    }

    fn waitee_conflict(&self, job: &JobSpec) -> Option<Vec<UserLine>> {
        let (name, waitee) = (&job.section, job.grouping.wait_for.as_ref()?);
        if *waitee == job.name {
            return Some(vec![format!("{name}: a job cannot wait for itself (wait_for={waitee}).").into()]);
        }
        match self.n_sections_by_name.get(waitee) {
            None => Some(vec![format!("{name}: waitee job {waitee} unknown.").into()]),
            Some(1) => None,
            Some(_) => Some(vec![
                format!("{name}: multiple waitees {waitee} found,").into(),
                "please avoid duplicates when using wait_for option.".into(),
            ]),
        }
    }

    /// Jobs that are reported together must use the same latency for their percentiles.
    fn percentile_conflict(&self, job: &JobSpec) -> Option<Vec<UserLine>> {
        let before = self.jobs.last()?;
        let same_group = !job.grouping.stonewall && !job.grouping.new_group;
        let together = same_group && job.grouping.group_reporting && before.grouping.group_reporting;
        let differs = before.reporting.lat_percentiles != job.reporting.lat_percentiles;
        (together && differs)
            .then(|| vec![UserLine::named(format!("lat_percentiles in job: {} differs from group", job.name))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::find_general;
    use crate::testing::World;

    /// Collects jobs given as name and options; returns the result, the printed lines and the run.
    fn collect(jobs: &[(&str, &[(&str, &str)])]) -> (Result<(), Stopped>, Vec<String>, RunSpec) {
        let world = World::default();
        let mut collector = Collector::new(&world);
        let mut result = Ok(());
        for (name, options) in jobs {
            let mut section = collector.begin(name).unwrap();
            for (option, text) in *options {
                collector.set(&mut section, find_general(option).unwrap(), Some(text)).unwrap();
            }
            result = result.and_then(|()| collector.finish(section));
        }
        let lines = collector.messages.take().into_iter().map(|(_, line)| line.trim_end().to_owned()).collect();
        (result, lines, collector.into_run())
    }

    // Texts as fio 3.41 prints them.
    #[test]
    fn waiting_needs_one_earlier_job() {
        let wait = |waitee| vec![("wait_for", waitee)];
        for (jobs, expected) in [
            (vec![("x", wait("x"))], "x: a job cannot wait for itself (wait_for=x)."),
            (vec![("x", wait("y"))], "x: waitee job y unknown."),
            (vec![("x", wait("y")), ("y", vec![])], "x: waitee job y unknown."),
            (vec![("y", vec![]), ("y", vec![]), ("x", wait("y"))], "x: multiple waitees y found,"),
        ] {
            let jobs: Vec<_> = jobs.iter().map(|(name, options)| (*name, &options[..])).collect();
            let (result, lines, _) = collect(&jobs);
            assert_eq!((result, lines[0].as_str()), (Err(Stopped), expected));
        }
        let clones = [("numjobs", "2")];
        assert!(collect(&[("y", &clones), ("x", &wait("y"))]).0.is_ok());
    }

    #[test]
    fn workers_are_bounded() {
        let (result, lines, run) = collect(&[("x", &[("numjobs", "1000000")]), ("y", &[])]);
        assert_eq!(result, Err(Stopped));
        assert_eq!(lines[0], "error: maximum number of jobs reached.");
        assert_eq!(run.jobs.len(), 1);
    }

    #[test]
    fn percentiles_agree_within_a_report() {
        let (grouped, other) = (("group_reporting", "1"), ("lat_percentiles", "1"));
        let (result, lines, _) = collect(&[("x", &[grouped, other]), ("y", &[grouped])]);
        assert_eq!(
            (result, lines),
            (Err(Stopped), vec!["fio: lat_percentiles in job: y differs from group".to_owned()])
        );
        assert!(collect(&[("x", &[grouped, other]), ("y", &[grouped, ("stonewall", "1")])]).0.is_ok());
        assert!(collect(&[("x", &[other]), ("y", &[grouped])]).0.is_ok());
    }

    // As fio 3.41, except that fio prints this line after the lines of all jobs.
    #[test]
    fn a_group_has_one_criterion() {
        let (limit, window) = (("steadystate", "iops:5%"), ("steadystate_duration", "2"));
        let (result, lines, _) = collect(&[("x", &[limit, window]), ("y", &[])]);
        assert_eq!(result, Err(Stopped));
        assert!(lines[0].contains("steadystate options must be consistent within reporting groups"), "{lines:?}");
        assert!(collect(&[("x", &[]), ("y", &[limit, window])]).0.is_err());
        assert!(collect(&[("x", &[limit, window]), ("y", &[limit, window])]).0.is_ok());
        assert!(collect(&[("x", &[limit, window]), ("y", &[("stonewall", "1")])]).0.is_ok());
        assert!(collect(&[("x", &[limit]), ("y", &[])]).0.is_ok(), "without a window nothing is looked at");
    }

    #[test]
    fn all_jobs_have_one_check_interval() {
        let (window, interval) = (("ss_dur", "6"), ("ss_interval", "3"));
        let (result, lines, _) = collect(&[("x", &[window]), ("y", &[window, interval, ("stonewall", "1")])]);
        assert_eq!(
            (result, lines),
            (
                Err(Stopped),
                vec!["fio: conflicting ss_check_interval: 3000000 and 1000000, must be globally equal".to_owned()]
            )
        );
        let alone = [window, ("stonewall", "1")];
        assert!(collect(&[("x", &[("ss_interval", "3")]), ("y", &alone)]).0.is_ok());
    }

    #[test]
    fn inherited_text_is_bounded() {
        let world = World::default();
        let mut collector = Collector::new(&world);
        let mut defaults = collector.defaults.clone();
        let long = "x".repeat(1 << 20);
        collector.set(&mut defaults, find_general("description").unwrap(), Some(&long)).unwrap();
        collector.defaults = defaults;
        let n_jobs = (0..1000).take_while(|_| collector.begin("x").is_ok()).count();
        assert_eq!(n_jobs, 256);
    }
}

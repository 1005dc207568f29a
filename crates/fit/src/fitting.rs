//! Runs the loads of a recipe until they decide.
//!
//! Must not know: terminals, signals. Start reading at [`Fitting::new`], then [`Fitting::run`].

use crate::outcome::{DecidedLoad, FitOutcome, LoadOutcome};
use crate::runs::{LoadRuns, N_RUNS};
use crate::together::{self, Bins};
use crate::{FitError, FitLimit, FitLoad, FitVerdict, Recipe, headroom, scale};
use ferrio_job::{Diagnostic, Environment, Mode, Template, UsageError};
use ferrio_results::of_record;
use ferrio_run::RunError;
use ferrio_session::{Session, SessionOutcome};
use ferrio_spec::{Compatibility, JobSpec, RunSpec, SizeSpec};
use ferrio_stats::JobSeries;
use ferrio_sweep::with_own_numbers;
use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// What conducts the runs.
pub trait FitConductor {
    /// A run of a load is to begin, and at least `n_to_come` runs follow it.
    fn next(&mut self, what: &str, n_to_come: u32);

    /// Runs a session.
    ///
    /// # Errors
    /// The run cannot be started or supervised.
    fn run(&mut self, session: Session) -> Result<SessionOutcome, RunError>;

    /// True if no further run is to begin, and the one that was under way does not count.
    fn is_stopped(&self) -> bool;

    /// True if no further run is to begin, because it would not be over in time. The runs that were made count.
    fn is_out_of_time(&self) -> bool {
        false
    }
}

/// A recipe on a directory.
pub struct Fitting<'a> {
    /// The recipe.
    pub recipe: &'a Recipe,
    loads: Vec<PreparedLoad<'a>>,
    environment: &'a dyn Environment,
    most_runs: Option<u32>,
}

/// A load with its jobs.
pub(crate) struct PreparedLoad<'a> {
    pub(crate) load: &'a FitLoad,
    template: Template,
    spec: RunSpec,
}

impl<'a> Fitting<'a> {
    /// The loads of a recipe, whose files are in `directory`.
    ///
    /// # Errors
    /// Jobs of a load are refused, or a limit is about a job that its load does not have.
    pub fn new(recipe: &'a Recipe, directory: &Path, environment: &'a dyn Environment) -> Result<Self, FitError> {
        let prepared = |load: &'a FitLoad| {
            let (template, spec) = jobs(load, directory, environment)?;
            check_jobs_of_limits(recipe, load, &spec)?;
            Ok(PreparedLoad { load, template, spec })
        };
        let loads = recipe.loads.iter().map(prepared).collect::<Result<_, FitError>>()?;
        Ok(Self { recipe, loads, environment, most_runs: None })
    }

    /// The same with another number of runs of a load at most, where they do not decide. It is at least that after which storage may fit.
    #[must_use]
    pub const fn with_most_runs(mut self, most_runs: Option<u32>) -> Self {
        self.most_runs = most_runs;
        self
    }

    /// Most runs of a load where they do not decide.
    pub fn most_runs(&self, load: &FitLoad) -> u32 {
        self.most_runs.map_or(self.recipe.most_runs(load), |most| most.max(self.recipe.fewest_runs(load)))
    }

    /// Most space that the files of all loads take, bytes.
    pub fn laid_out_bytes(&self) -> u64 {
        let of_job = |job: &JobSpec| {
            let in_files =
                job.extent.filesize.map_or(0, |(_, most)| most.saturating_mul(u64::from(job.target.nrfiles)));
            let bytes = match job.extent.size {
                Some(SizeSpec::Bytes(bytes)) => bytes,
                _ => in_files,
            };
            bytes.saturating_mul(u64::from(job.numjobs))
        };
        self.loads.iter().flat_map(|one| &one.spec.jobs).map(of_job).fold(0, u64::saturating_add)
    }

    /// Runs all loads, and with `wants_headroom` also larger ones.
    ///
    /// # Errors
    /// A run cannot be made, a job fails, or the conductor ends the runs.
    pub fn run(&self, wants_headroom: bool, conductor: &mut dyn FitConductor) -> Result<FitOutcome, FitError> {
        let mut loads = Vec::new();
        let mut provenance = None;
        for prepared in &self.loads {
            let mut runs = LoadRuns::default();
            let decided = self.decide(prepared, scale::ONE, &mut runs, conductor)?;
            let has_room = wants_headroom && !prepared.load.scale.is_empty() && !conductor.is_out_of_time();
            let headroom = match decided.verdict() {
                Some(FitVerdict::Fits) if has_room => {
                    Some(headroom::find(self, prepared, (&decided, &runs), conductor)?)
                }
                _ => None,
            };
            provenance = provenance.or_else(|| runs.results.first().and_then(|result| result.provenance.clone()));
            loads.push(LoadOutcome::new(prepared.load, decided, &runs, headroom));
        }
        Ok(FitOutcome::new(self.recipe, loads, conductor.is_out_of_time(), provenance))
    }

    /// Runs a load, so many hundredths of it, until its limits are decided or the time is over. Its runs are added to `runs`.
    pub(crate) fn decide(
        &self,
        prepared: &PreparedLoad<'_>,
        hundredths: u64,
        runs: &mut LoadRuns,
        conductor: &mut dyn FitConductor,
    ) -> Result<DecidedLoad, FitError> {
        let most_runs = self.most_runs(prepared.load);
        loop {
            let is_out_of_time = conductor.is_out_of_time();
            if !is_out_of_time {
                self.one_run(prepared, hundredths, runs, conductor)?;
            }
            let n_runs = runs.results.len() as u32;
            if !is_out_of_time && n_runs < N_RUNS && n_runs < most_runs {
                continue;
            }
            let decided = DecidedLoad::of(self.recipe, prepared.load, runs, most_runs as usize, |limit| {
                let is_multiplied = scale::is_multiplied(&prepared.spec, &limit.job, &prepared.load.scale);
                if is_multiplied { hundredths as f64 / scale::ONE as f64 } else { 1.0 }
            });
            if is_out_of_time || n_runs >= most_runs || decided.is_final() {
                return Ok(decided);
            }
        }
    }

    /// Least number of runs that follow the one after `n_made` runs of a load: the others of this load, and all of the loads after it.
    fn n_to_come(&self, prepared: &PreparedLoad<'_>, n_made: u32) -> u32 {
        let n_loads_after = self.loads.iter().rev().take_while(|one| !std::ptr::eq(*one, prepared)).count() as u32;
        N_RUNS.saturating_sub(n_made + 1) + n_loads_after * N_RUNS
    }

    fn one_run(
        &self,
        prepared: &PreparedLoad<'_>,
        hundredths: u64,
        runs: &mut LoadRuns,
        conductor: &mut dyn FitConductor,
    ) -> Result<(), FitError> {
        let n_made = runs.results.len();
        if conductor.is_stopped() {
            return Err(FitError::Stopped);
        }
        let load = prepared.load;
        let factor =
            if hundredths == scale::ONE { String::new() } else { format!(" times {}", factor_text(hundredths)) };
        conductor.next(&format!("{}{factor}, run {}", load.name, n_made + 1), self.n_to_come(prepared, n_made as u32));
        let mut template = prepared.template.clone();
        let refused =
            |diagnostic: Diagnostic| FitError::Jobs { load: load.name.clone(), reason: diagnostic.to_string() };
        scale::multiply(&mut template, &prepared.spec, &load.scale, hundredths, self.environment).map_err(refused)?;
        with_own_numbers(&mut template, n_made as u32, self.environment).map_err(refused)?;
        let spec = template.run_spec(self.environment).map_err(refused)?;
        let mut session = Session::new(RunSpec { compatibility: Compatibility::Native, ..spec })?;
        session.settings.control.looks_into_files = true;
        session.settings.keeps_series = true;
        let outcome = conductor.run(session)?;
        if conductor.is_stopped() || outcome.is_stopped {
            return Err(FitError::Stopped);
        }
        if outcome.n_failed > 0 {
            return Err(FitError::Failed { load: load.name.clone(), reason: outcome.said() });
        }
        runs.sums.push(self.sums(prepared, &outcome.record.series));
        runs.results.push(of_record(&outcome.record));
        Ok(())
    }

    /// The sums of latencies in a run that limits of a load are about.
    fn sums(&self, prepared: &PreparedLoad<'_>, courses: &[JobSeries]) -> BTreeMap<usize, Bins> {
        let of_limit = |(index, limit): (usize, &FitLimit)| {
            let jobs = prepared.spec.jobs.iter().zip(0_u32..).filter(|(job, _)| job.name == limit.job);
            let job_indexes: Vec<u32> = jobs.map(|(_, job_index)| job_index).collect();
            Some((index, together::sums(courses, &job_indexes, limit.together?)))
        };
        self.recipe.limits_of(prepared.load).filter_map(of_limit).collect()
    }
}

/// Looks whether a load has the jobs that its limits are about.
fn check_jobs_of_limits(recipe: &Recipe, load: &FitLoad, spec: &RunSpec) -> Result<(), FitError> {
    let is_known = |name: &str| spec.jobs.iter().any(|job| job.name == name);
    let Some((_, limit)) = recipe.limits_of(load).find(|(_, limit)| !is_known(&limit.job)) else { return Ok(()) };
    let names: Vec<&str> = spec.jobs.iter().map(|job| job.name.as_str()).collect();
    let reason = format!(
        "the limit of {} is about a job that it does not have, {}; there are {}",
        limit.figure,
        limit.job,
        names.join(", ")
    );
    Err(FitError::Jobs { load: load.name.clone(), reason })
}

/// A factor in hundredths as people write it: `1.5`.
pub(crate) fn factor_text(hundredths: u64) -> String {
    let text = format!("{:.2}", hundredths as f64 / scale::ONE as f64);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The jobs of a load, whose files are in a directory, for its part of the time.
fn jobs(load: &FitLoad, directory: &Path, environment: &dyn Environment) -> Result<(Template, RunSpec), FitError> {
    let refused = |diagnostic: Diagnostic| FitError::Jobs { load: load.name.clone(), reason: diagnostic.to_string() };
    let no_jobs = |reason: String| FitError::Jobs { load: load.name.clone(), reason };
    let of_load = OfLoad { text: &load.jobs, environment };
    let words = ["ferrio", "-"].map(std::ffi::OsString::from);
    let mut template = match ferrio_job::parse_template(&words, &of_load) {
        Ok((invocation, _)) if !invocation.beyond.is_empty() => {
            let lines = invocation.beyond.iter().map(|one| format!("{} {}", one.option, one.kind.deed()));
            let lines = lines.collect::<Vec<_>>().join("; ");
            return Err(no_jobs(format!("{lines}: a load only does I/O on files of its directory")));
        }
        Ok((invocation, template)) if invocation.mode == Mode::Run => template,
        Ok(_) => return Err(no_jobs("its text has no jobs".to_owned())),
        Err(error) => return Err(no_jobs(said(&error))),
    };
    let run_ms = u64::from(load.seconds) * 1_000 / u64::from(N_RUNS);
    let options = [
        ("directory", directory.display().to_string().replace(':', "\\:")),
        ("runtime", format!("{run_ms}ms")),
        ("time_based", "1".to_owned()),
    ];
    for (name, value) in &options {
        template.set(None, name, Some(value), environment).map_err(refused)?;
    }
    let spec = template.run_spec(environment).map_err(refused)?;
    Ok((template, spec))
}

fn said(error: &UsageError) -> String {
    error.messages.iter().map(|(_, text)| text.trim()).collect::<Vec<_>>().join("; ")
}

/// The machine, with the text of a load as its standard input.
struct OfLoad<'a> {
    text: &'a str,
    environment: &'a dyn Environment,
}

impl Environment for OfLoad<'_> {
    fn version(&self) -> String {
        self.environment.version()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.environment.variable(name)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        self.environment.open(path)
    }

    fn stdin(&self) -> Box<dyn Read> {
        Box::new(Cursor::new(self.text.as_bytes().to_vec()))
    }

    fn check_directory(&self, path: &Path) -> io::Result<()> {
        self.environment.check_directory(path)
    }

    fn page_size_bytes(&self) -> u64 {
        self.environment.page_size_bytes()
    }

    fn memory_mib(&self) -> u64 {
        self.environment.memory_mib()
    }

    fn n_cpus(&self) -> u32 {
        self.environment.n_cpus()
    }

    fn numa_nodes(&self) -> Vec<u32> {
        self.environment.numa_nodes()
    }
}

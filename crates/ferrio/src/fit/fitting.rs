//! The loads of a recipe as sources of runs, until they decide.
//!
//! Must not know: terminals, signals. Start reading at [`Fitting::new`], then [`Fitting::run`].

use crate::fit::outcome::{DecidedLoad, FitOutcome, LoadOutcome};
use crate::fit::runs::{LoadRuns, N_RUNS};
use crate::fit::together::{self, Bins};
use crate::fit::{FitError, FitLimit, FitLoad, FitVerdict, Recipe, headroom, scale};
use crate::session::SessionOutcome;
use crate::session::runs::{NextRun, RunDriver, RunNotice, RunSource, Runs, RunsEnding, WorkUnit};
use crate::sweep::with_own_numbers;
use ferrio_formats::of_record;
use ferrio_job::{Diagnostic, Environment, Mode, Template, UsageError};
use ferrio_spec::{JobSpec, RunSpec, SizeSpec};
use ferrio_stats::JobSeries;
use ferrio_units::Wording;
use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// A recipe on a directory.
pub struct Fitting<'a> {
    /// The recipe.
    pub recipe: &'a Recipe,
    loads: Vec<PreparedLoad<'a>>,
    environment: &'a dyn Environment,
    most_runs: Option<u32>,
}

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
    /// A run cannot be made, a job fails, or the driver ends the runs.
    pub fn run(&self, wants_headroom: bool, driver: &mut dyn RunDriver) -> Result<FitOutcome, FitError> {
        let mut all = Runs::new(driver);
        let mut loads = Vec::new();
        let mut provenance = None;
        for prepared in &self.loads {
            let mut runs = LoadRuns::default();
            let decided = self.decide(prepared, scale::ONE, &mut runs, &mut all)?;
            let has_room = wants_headroom && !prepared.load.scale.is_empty() && !all.is_out_of_time();
            let headroom = match decided.verdict() {
                Some(FitVerdict::Fits) if has_room => {
                    Some(headroom::find(self, prepared, (&decided, &runs), &mut all)?)
                }
                _ => None,
            };
            provenance = provenance.or_else(|| runs.results.first().and_then(|result| result.provenance.clone()));
            loads.push(LoadOutcome::new(prepared.load, decided, &runs, headroom));
        }
        Ok(FitOutcome::new(self.recipe, loads, all.is_out_of_time(), provenance))
    }

    /// Runs a load, so many hundredths of it, until its limits are decided or the time is over. Its runs are added to `runs`.
    pub(crate) fn decide(
        &self,
        prepared: &PreparedLoad<'_>,
        hundredths: u64,
        runs: &mut LoadRuns,
        all: &mut Runs<'_>,
    ) -> Result<DecidedLoad, FitError> {
        let mut source = LoadSource { fitting: self, prepared, hundredths, runs, decided: None };
        match all.all(&mut source)? {
            RunsEnding::Stopped => Err(FitError::Stopped),
            RunsEnding::All | RunsEnding::OutOfTime => {
                Ok(source.decided.take().unwrap_or_else(|| self.judge(prepared, hundredths, runs)))
            }
        }
    }

    /// The verdict of the runs of a load that were made.
    fn judge(&self, prepared: &PreparedLoad<'_>, hundredths: u64, runs: &LoadRuns) -> DecidedLoad {
        DecidedLoad::of(self.recipe, prepared.load, runs, self.most_runs(prepared.load) as usize, |limit| {
            let is_multiplied = scale::is_multiplied(&prepared.spec, &limit.job, &prepared.load.scale);
            if is_multiplied { hundredths as f64 / scale::ONE as f64 } else { 1.0 }
        })
    }

    /// Least number of runs that follow the one after `n_made` runs of a load: the others of this load, and all of the loads after it.
    fn n_to_come(&self, prepared: &PreparedLoad<'_>, n_made: u32) -> u32 {
        let n_loads_after = self.loads.iter().rev().take_while(|one| !std::ptr::eq(*one, prepared)).count() as u32;
        N_RUNS.saturating_sub(n_made + 1) + n_loads_after * N_RUNS
    }

    /// The jobs of a run of a load, so many hundredths of it. Each run has random numbers of its own.
    fn jobs_of_run(&self, prepared: &PreparedLoad<'_>, hundredths: u64, run_index: u32) -> Result<RunSpec, Diagnostic> {
        let mut template = prepared.template.clone();
        scale::multiply(&mut template, &prepared.spec, &prepared.load.scale, hundredths, self.environment)?;
        with_own_numbers(&mut template, run_index, self.environment)?;
        template.run_spec(self.environment)
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

/// The runs of a load until its limits are decided.
struct LoadSource<'a> {
    fitting: &'a Fitting<'a>,
    prepared: &'a PreparedLoad<'a>,
    hundredths: u64,
    runs: &'a mut LoadRuns,
    decided: Option<DecidedLoad>,
}

impl RunSource for LoadSource<'_> {
    type Error = FitError;

    fn next(&mut self, n_made: u64) -> Result<Option<NextRun>, FitError> {
        if self.decided.is_some() {
            return Ok(None);
        }
        let (load, n_runs) = (self.prepared.load, self.runs.results.len() as u32);
        let jobs = self.fitting.jobs_of_run(self.prepared, self.hundredths, n_runs);
        let refused =
            |diagnostic: Diagnostic| FitError::Jobs { load: load.name.clone(), reason: diagnostic.to_string() };
        let factor = match self.hundredths {
            scale::ONE => String::new(),
            hundredths => format!(" times {}", factor_text(hundredths)),
        };
        let notice = RunNotice {
            name: format!("{}{factor}, run {}", load.name, n_runs + 1),
            number: n_made as usize + 1,
            done: n_made,
            whole: n_made + 1 + u64::from(self.fitting.n_to_come(self.prepared, n_runs)),
            unit: WorkUnit::Runs,
        };
        Ok(Some(NextRun::new(jobs.map_err(refused)?, notice)))
    }

    fn take(&mut self, outcome: SessionOutcome) -> Result<(), FitError> {
        if outcome.run.n_failed > 0 {
            return Err(FitError::Failed { load: self.prepared.load.name.clone(), reason: outcome.said() });
        }
        self.runs.sums.push(self.fitting.sums(self.prepared, &outcome.run.record.series));
        self.runs.results.push(of_record(&outcome.run.record));
        let (n_runs, most_runs) = (self.runs.results.len() as u32, self.fitting.most_runs(self.prepared.load));
        if n_runs >= N_RUNS.min(most_runs) {
            let decided = self.fitting.judge(self.prepared, self.hundredths, self.runs);
            self.decided = (n_runs >= most_runs || decided.is_final()).then_some(decided);
        }
        Ok(())
    }
}

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
        Ok((invocation, template)) if invocation.mode == Mode::Run => {
            let lines =
                invocation.beyond(|_| true).into_iter().map(|one| format!("{} {}", one.option, one.kind.deed()));
            let lines = lines.collect::<Vec<_>>().join("; ");
            if !lines.is_empty() {
                return Err(no_jobs(format!("{lines}: a load only does I/O on files of its directory")));
            }
            template
        }
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
    error.messages.iter().map(|(_, text)| text.text(Wording::Own).trim()).collect::<Vec<_>>().join("; ")
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

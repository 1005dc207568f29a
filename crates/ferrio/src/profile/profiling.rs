//! The parts of a profile as a source of runs.
//!
//! Must not know: terminals, signals, pages. Start reading at [`Profiling::run`].

use crate::profile::outcome::SectionOutcome;
use crate::profile::{ProfileError, ProfileOutcome, ProfileSection, SECTIONS};
use crate::session::SessionOutcome;
use crate::session::runs::{NextRun, RunDriver, RunNotice, RunSource, Runs, RunsEnding, WorkUnit};
use crate::sweep::outcome::SweepOutcome;
use crate::sweep::space::{Space, SweepAxis, SweepPoint};
use crate::sweep::{OPEN_LOOP_SHARES, OpenLoop, session_at};
use ferrio_formats::{RunResult, of_record};
use ferrio_job::{Environment, Template};
use ferrio_stats::{Provenance, RunRecord};
use ferrio_units::Wording;
use ferrio_units::byte_text;
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::slice;

/// Smallest file: less would be read from caches of the device.
const LEAST_BYTES: u64 = 64 << 20;
const MIB: u64 = 1 << 20;
/// The first write has at least this time, milliseconds, also where the profile is a short one.
const LEAST_FIRST_MS: u64 = 20_000;

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileTarget {
    /// A file that is not there yet, or a device that is only read.
    pub path: PathBuf,
    /// Size of the file that is made, or of the device, bytes.
    pub bytes: u64,
    /// It is a new file; else only the parts that read are measured.
    pub is_written: bool,
    /// Engine of the runs.
    pub engine: String,
}

/// A part with its points.
#[derive(Clone)]
struct PreparedSection {
    section: ProfileSection,
    axes: Vec<SweepAxis>,
    points: Vec<SweepPoint>,
}

/// A profile of a target, in so much time.
pub struct Profiling<'a> {
    target: ProfileTarget,
    /// Time of all runs but the first write, milliseconds.
    time_ms: u64,
    environment: &'a dyn Environment,
    sections: Vec<PreparedSection>,
}

impl<'a> Profiling<'a> {
    /// A profile whose runs share a time, milliseconds. The first write has at most a tenth of that beside it, or 20 s.
    ///
    /// # Errors
    /// An option of a part is refused here.
    pub fn new(target: ProfileTarget, time_ms: u64, environment: &'a dyn Environment) -> Result<Self, ProfileError> {
        let wanted = SECTIONS.into_iter().filter(|section| target.is_written || !section.is_written);
        let prepared = |section: ProfileSection| {
            let axes = section.over.iter().map(|text| SweepAxis::parse(text)).collect::<Result<Vec<_>, _>>();
            // The points of an open loop are known when those of the closed one have been run.
            let space = axes.and_then(|axes| Space::new(axes, &[]));
            let points = space.and_then(|space| Ok((space.axes().to_vec(), space.points()?)));
            let (axes, points) = points.map_err(crate::sweep::SweepError::from)?;
            Ok(PreparedSection { section, axes, points })
        };
        let sections = wanted.map(prepared).collect::<Result<Vec<_>, ProfileError>>()?;
        Ok(Self { target, time_ms, environment, sections })
    }

    /// Number of runs.
    pub fn n_runs(&self) -> usize {
        let n_runs = |one: &PreparedSection| match one.section.open_loop_of {
            Some(_) => OPEN_LOOP_SHARES.len(),
            None => one.points.len(),
        };
        self.sections.iter().map(n_runs).sum()
    }

    /// Makes all runs.
    ///
    /// # Errors
    /// A run cannot be made, a job fails, too little could be written, or the driver ends the runs.
    pub fn run(&self, driver: &mut dyn RunDriver) -> Result<ProfileOutcome, ProfileError> {
        let mut source = ProfileRuns {
            profiling: self,
            waiting: self.sections.iter(),
            current: None,
            made: Vec::new(),
            provenance: None,
            bytes: self.target.bytes / MIB * MIB,
        };
        match Runs::new(driver).all(&mut source)? {
            RunsEnding::All => Ok(ProfileOutcome::new(source.made, source.bytes, source.provenance)),
            RunsEnding::Stopped | RunsEnding::OutOfTime => Err(ProfileError::Stopped),
        }
    }

    /// Cuts the file to what was written, so that no part reads blocks without data.
    fn cut_file(&self, bytes: u64) -> Result<(), ProfileError> {
        let cut = File::options().write(true).open(&self.target.path).and_then(|file| file.set_len(bytes));
        cut.map_err(|source| ProfileError::File { path: self.target.path.clone(), source })
    }

    /// The run of a part at one of its points, on a file of so many bytes.
    fn next_run(
        &self,
        one: &PreparedSection,
        point: &SweepPoint,
        bytes: u64,
        n_made: u64,
    ) -> Result<NextRun, ProfileError> {
        let mut spec = session_at(&self.template(one, bytes)?, point, self.environment)?;
        let name = byte_text::from_bytes(self.target.path.as_os_str().as_encoded_bytes());
        // As it is: in an option, a colon would separate names.
        spec.jobs.iter_mut().for_each(|job| job.target.filenames = vec![name.clone()]);
        let notice = RunNotice {
            name: format!("{} {point}", one.section.title).trim_end().to_owned(),
            number: n_made as usize + 1,
            done: n_made,
            whole: self.n_runs() as u64,
            unit: WorkUnit::Runs,
        };
        // A second guard: a device is not opened for writing.
        Ok(NextRun { is_readonly: !self.target.is_written, ..NextRun::new(spec, notice) })
    }

    /// The job of a part, for its share of the time.
    fn template(&self, one: &PreparedSection, bytes: u64) -> Result<Template, ProfileError> {
        let section = one.section;
        let mut words = vec![
            "ferrio".to_owned(),
            // Both loops are of one job.
            format!("--name={}", section.open_loop_of.unwrap_or(section.id)),
            format!("--size={bytes}"),
            format!("--ioengine={}", self.target.engine),
            "--direct=1".to_owned(),
            "--randrepeat=0".to_owned(),
        ];
        if section.share == 0 {
            words.push(format!("--runtime={}ms", (self.time_ms / 10).max(LEAST_FIRST_MS)));
        } else {
            let time_ms = self.time_ms * u64::from(section.share) / 1_000 / one.points.len().max(1) as u64;
            // A part of it passes before the figures count, so that nothing of the part before is in them.
            let ramp_ms = if section.has_course { 0 } else { (time_ms / 10).min(1_000) };
            words.extend([
                "--time_based".to_owned(),
                format!("--runtime={}ms", (time_ms - ramp_ms).max(1)),
                format!("--ramp_time={ramp_ms}ms"),
                "--allow_file_create=0".to_owned(),
                "--overwrite=0".to_owned(),
            ]);
        }
        words.extend(section.words.split(' ').map(str::to_owned));
        let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        ferrio_job::parse_template(&words, self.environment).map(|(_, template)| template).map_err(|error| {
            let said =
                error.messages.iter().map(|(_, text)| text.text(Wording::Own).trim()).collect::<Vec<_>>().join("; ");
            ProfileError::Jobs { section: section.title, reason: said }
        })
    }
}

/// The parts that were measured, the one that is, and those that wait.
struct ProfileRuns<'a> {
    profiling: &'a Profiling<'a>,
    waiting: slice::Iter<'a, PreparedSection>,
    current: Option<MeasuredSection>,
    made: Vec<SectionOutcome>,
    provenance: Option<Box<Provenance>>,
    /// Size of the file, once it was written.
    bytes: u64,
}

/// A part that is being measured.
struct MeasuredSection {
    prepared: PreparedSection,
    n_points: usize,
    /// What they have told so far.
    outcome: SectionOutcome,
}

impl MeasuredSection {
    fn begin(prepared: PreparedSection, beside: Option<(usize, OpenLoop)>) -> Self {
        let figures = SweepOutcome::empty(prepared.axes.clone(), 1);
        let outcome = SectionOutcome { section: prepared.section, figures, beside, course: None };
        Self { prepared, n_points: 0, outcome }
    }

    fn finish(mut self) -> SectionOutcome {
        self.outcome.figures.finish();
        self.outcome
    }
}

impl RunSource for ProfileRuns<'_> {
    type Error = ProfileError;

    fn next(&mut self, n_made: u64) -> Result<Option<NextRun>, ProfileError> {
        loop {
            if let Some(current) = self.current.take() {
                if let Some(point) = current.prepared.points.get(current.n_points) {
                    let next = self.profiling.next_run(&current.prepared, point, self.bytes, n_made);
                    self.current = Some(current);
                    return next.map(Some);
                }
                self.made.push(current.finish());
            }
            let Some(one) = self.waiting.next() else { return Ok(None) };
            self.current = match (open_section(one.section, &self.made)?, one.section.open_loop_of) {
                (Some(open), _) => Some(MeasuredSection::begin(open.prepared, Some(open.beside))),
                // The closed loop was too slow.
                (None, Some(_)) => None,
                (None, None) => Some(MeasuredSection::begin(one.clone(), None)),
            };
        }
    }

    fn take(&mut self, outcome: SessionOutcome) -> Result<(), ProfileError> {
        let Some(current) = &mut self.current else { return Ok(()) };
        let section = current.prepared.section;
        if outcome.run.n_failed > 0 {
            return Err(ProfileError::Failed { section: section.title, reason: outcome.said() });
        }
        let record = outcome.run.record;
        if section.share == 0 {
            self.bytes = written(&record, self.bytes)?;
            self.profiling.cut_file(self.bytes)?;
        }
        let index = current.n_points;
        current.outcome.figures.add(index, &current.prepared.points[index], std::slice::from_ref(&record));
        current.n_points += 1;
        let result = RunResult { name: section.id.to_owned(), ..of_record(&record) };
        self.provenance = self.provenance.take().or(record.provenance);
        let course = &mut current.outcome.course;
        *course = course.take().or(section.has_course.then_some(result));
        Ok(())
    }
}

/// A part that is an open loop, and the index of the part with the closed one beside which it stands.
struct OpenSection {
    prepared: PreparedSection,
    beside: (usize, OpenLoop),
}

/// The points of a part that is an open loop; `None`: it is none, or the closed loop was too slow.
fn open_section(section: ProfileSection, made: &[SectionOutcome]) -> Result<Option<OpenSection>, ProfileError> {
    let index = section.open_loop_of.and_then(|id| made.iter().position(|one| one.section.id == id));
    let Some(index) = index else { return Ok(None) };
    let closed = &made[index].figures;
    let Some(beside) = OpenLoop::beside(closed) else { return Ok(None) };
    // Each part has one job.
    let space = beside.space(closed, &|_| 1)?;
    let points = space.points().map_err(crate::sweep::SweepError::from)?;
    let prepared = PreparedSection { section, axes: space.axes().to_vec(), points };
    Ok(Some(OpenSection { prepared, beside: (index, beside) }))
}

/// Size of the file that the first write has made.
fn written(record: &RunRecord, wanted: u64) -> Result<u64, ProfileError> {
    let result = of_record(record);
    let figures = result.jobs.iter().flat_map(ferrio_formats::JobResult::active).map(|(_, figures)| figures.bytes);
    let written_bytes = figures.sum::<u64>().min(wanted) / MIB * MIB;
    if written_bytes < LEAST_BYTES.min(wanted) {
        Err(ProfileError::TooSlow { written_bytes })
    } else {
        Ok(written_bytes)
    }
}

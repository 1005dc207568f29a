//! Turns the sections of a job file into jobs of a [`Collector`]; the error texts are fio's.
//!
//! Must not know: the command line, except for the section filter. Start reading at [`add_file`].

use super::reader::Line;
use super::{RawSection, arithmetic, read, substitute};
use crate::beyond;
use crate::collector::{Collector, Section, Stopped};
use crate::diagnostic::Diagnostic;
use crate::error::JobError;
use crate::explain;
use crate::message::{OutputStream, UserLine};
use crate::options::definition::OptionDef;
use crate::options::kind::Kind;
use crate::options::secret::shown_line;
use crate::options::{self, find_general, find_of_profile, find_private};
use crate::origin::Origin;
use crate::refused_value::RefusedValue;
use crate::showcmd::CommandLine;
use crate::suggest::did_you_mean;
use ferrio_spec::LateGlobal;
use ferrio_spec::engines::by_name;
use std::ffi::OsStr;

/// Most unknown options that are reported for one section.
const MAX_REPORTED: usize = 20;

/// A job file, and the switches that choose what to read from it.
#[derive(Debug, Clone, Copy)]
pub struct FileRequest<'a> {
    /// The file; `-` is standard input.
    pub name: &'a OsStr,
    /// A file was read before: the first job waits for all earlier ones.
    pub follows_another: bool,
    /// `--section`: only these, when there are any.
    pub only_sections: &'a [String],
    /// `--showcmd`: write the file as a command line instead of keeping its jobs.
    pub show: bool,
}

pub fn add_file(collector: &mut Collector<'_>, request: &FileRequest<'_>) -> Result<(), Stopped> {
    collector.messages.parse(|| format!("Parsing ini file {}", request.name.display()));
    let file = read(request.name, collector.environment);
    let mut shown = CommandLine::new();
    let mut waits = request.follows_another;
    let mut order = SectionOrder { n_jobs_above: collector.n_jobs() as u32, ..SectionOrder::default() };
    for raw in &file.sections {
        let only = request.only_sections;
        if !raw.is_global() && !only.is_empty() && !only.contains(&raw.name) {
            continue;
        }
        collector.messages.parse(|| format!("Parsing section [{}]", raw.name));
        let first_given = if raw.is_global() { collector.defaults.given.len() } else { 0 };
        let mut section = begin(collector, raw)?;
        section.draft.job.grouping.stonewall |= waits && !raw.is_global();
        apply_lines(collector, &mut section, raw)?;
        shown.section(raw.is_global(), &raw.name, &section.given[first_given..]);
        if raw.is_global() {
            order.see_global(collector, &section.given[first_given..]);
            collector.defaults = section;
        } else if !request.show {
            waits = false;
            order.see_job();
            collector.finish(section)?;
        }
    }
    collector.late_globals.append(&mut order.late);
    if let Some(failure) = file.failure {
        collector.messages.diagnose(Diagnostic::job_file(&failure));
        collector.messages.extend(failure.lines());
        return Err(Stopped);
    }
    if request.show {
        collector.messages.raw(OutputStream::Stdout, shown.finish());
    }
    Ok(())
}

/// The order of `[global]` and jobs in a file.
#[derive(Default)]
struct SectionOrder {
    /// Jobs of the run before the file.
    n_jobs_above: u32,
    has_job: bool,
    has_global: bool,
    late: Vec<LateGlobal>,
}

impl SectionOrder {
    fn see_global(&mut self, collector: &Collector<'_>, options: &[(String, String)]) {
        if options.is_empty() {
            return;
        }
        if self.has_job {
            self.late.push(LateGlobal {
                n_jobs_above: self.n_jobs_above,
                n_jobs_before: collector.n_jobs() as u32,
                options: options.to_vec(),
                has_jobs_behind: false,
                has_earlier: self.has_global,
            });
        }
        self.has_global = true;
    }

    fn see_job(&mut self) {
        self.has_job = true;
        self.late.iter_mut().for_each(|global| global.has_jobs_behind = true);
    }
}

fn begin(collector: &mut Collector<'_>, raw: &RawSection) -> Result<Section, Stopped> {
    if raw.is_global() {
        return Ok(collector.defaults.clone());
    }
    collector.beyond.extend(beyond::of_section(&raw.name, &raw.origin));
    collector.begin(&raw.name)
}

/// An option line after the replacements.
struct OptionLine<'a> {
    line: &'a Line,
    name: String,
    value: Option<String>,
    /// A keyword was replaced in the value.
    computed: bool,
    /// What variables of the environment put into the value, with the rest of each word.
    inserted: Vec<String>,
}

fn apply_lines(collector: &mut Collector<'_>, section: &mut Section, raw: &RawSection) -> Result<(), Stopped> {
    let mut lines = Vec::with_capacity(raw.lines.len());
    for line in &raw.lines {
        collector.messages.parse(|| shown_line(&line.text).into_owned());
        let line = expand(collector, line)?;
        if line.line.is_comment && !options::is_own(&line.name) {
            let what =
                format!("{} in a comment for ferrio: only options that fio does not have may stand there", line.name);
            let place = line.line.origin.with_column().unwrap_or_default();
            collector.messages.extend(JobError::BadFile { place, what }.lines());
            return Err(Stopped);
        }
        lines.push(line);
    }
    let (known, unknown) = by_priority(lines);
    let mut failed = false;
    for (def, line) in &known {
        failed |= !apply_line(collector, section, def, line)?;
    }
    let mut n_unknown = 0;
    for line in &unknown {
        let private = find_private(&section.draft.job.engine.name, &line.name);
        match private.or_else(|| find_of_profile(&line.name)) {
            Some(def) => failed |= !apply_line(collector, section, def, line)?,
            None if n_unknown < MAX_REPORTED => {
                n_unknown += 1;
                report_unknown(collector, section, line);
            }
            None => n_unknown += 1,
        }
    }
    if failed || n_unknown > 0 {
        collector.messages.err(UserLine::named(format!("job {} dropped", raw.name)));
        return Err(Stopped);
    }
    Ok(())
}

fn expand<'a>(collector: &mut Collector<'_>, line: &'a Line) -> Result<OptionLine<'a>, Stopped> {
    let Some(expanded) = substitute::variables(&line.text, collector.environment) else {
        let what = format!("longer than {} bytes once variables are put in", substitute::MAX_EXPANDED_BYTES);
        let place = line.origin.with_column().unwrap_or_default();
        collector.messages.extend(JobError::BadFile { place, what }.lines());
        return Err(Stopped);
    };
    let (name, value, inserted) = match expanded.text.split_once('=') {
        Some((name, value)) => {
            let inserted = expanded.inserted_words(name.len() + 1).map(str::to_owned).collect();
            (name.trim_end().to_owned(), Some(value.to_owned()), inserted)
        }
        None => (expanded.text, None, Vec::new()),
    };
    let replaced = value.as_deref().and_then(|value| substitute::keywords(value, collector.environment));
    Ok(OptionLine { line, name, computed: replaced.is_some(), value: replaced.or(value), inserted })
}

type Sorted<'a> = (Vec<(&'static OptionDef, OptionLine<'a>)>, Vec<OptionLine<'a>>);

/// Sorts options by the order in which they take effect. Options that others depend on come first, file names come
/// last.
fn by_priority(lines: Vec<OptionLine<'_>>) -> Sorted<'_> {
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for line in lines {
        match find_general(&line.name) {
            Some(def) => known.push((def, line)),
            None => unknown.push(line),
        }
    }
    known.sort_by_key(|(def, _)| match def.name {
        "kb_base" | "unit_base" | "lockfile" | "cpus_allowed_policy" => 0,
        "filename" | "filename_format" => 2,
        _ => 1,
    });
    (known, unknown)
}

/// Sets one option; returns false when its value was refused (the refusal is already reported).
fn apply_line(
    collector: &mut Collector<'_>,
    section: &mut Section,
    def: &'static OptionDef,
    line: &OptionLine<'_>,
) -> Result<bool, Stopped> {
    collector.origin = line.line.origin.clone();
    let result = computed(def, line).and_then(|value| collector.set(section, def, value.as_deref()));
    collector.origin = Origin::CommandLine;
    if matches!(def.kind, Kind::Text | Kind::OptionalText | Kind::Pattern) {
        let shown = def.shown(line.value.as_deref().unwrap_or_default());
        // A word that is no part of what outputs show is a secret.
        let told = line.inserted.iter().filter(|word| shown.contains(word.as_str()) && is_telling(word));
        collector.from_environment.extend(told.cloned());
    }
    let Err(error) = result else {
        explain::without_effect(&mut collector.messages, def, &line.line.origin);
        return Ok(true);
    };
    let text = shown_line(&line.line.text);
    explain::refused(&mut collector.messages, &error, def, &text, &line.line.origin);
    match explain::stops_at_once(&error) {
        // The lines above remain remarks: nothing is started, and fio accepts files with engines that it lacks. It has no options of theirs.
        true if collector.parse_only && def.name == "ioengine" => Ok(true),
        true if collector.parse_only && is_of_unbuilt_engine(section) => Ok(false),
        true => Err(Stopped),
        false => Ok(false),
    }
}

/// False for a word of the environment that says nothing about the machine or its user: a short number, a word of the option table, the name of
/// an engine.
fn is_telling(word: &str) -> bool {
    let is_short_number = word.starts_with(|symbol: char| symbol.is_ascii_digit()) && word.len() < 6;
    let mut words = options::OPTIONS.iter().filter_map(|def| def.kind.choices()).flatten();
    word.len() > 1 && !is_short_number && by_name(word).is_none() && !words.any(|choice| choice.word == word)
}

/// True if a refusal may be that of an option of an engine that is not here.
fn is_of_unbuilt_engine(section: &Section) -> bool {
    by_name(&section.draft.job.engine.name).is_some_and(|engine| !engine.status.is_built())
}

/// The value, computed when a keyword was replaced in it. Texts that are no expression stay as they are: a `-` in a
/// file name is no minus.
fn computed(def: &OptionDef, line: &OptionLine<'_>) -> Result<Option<String>, JobError> {
    let Some(value) = line.value.as_ref().filter(|value| line.computed && substitute::is_arithmetic(value)) else {
        return Ok(line.value.clone());
    };
    match arithmetic::evaluate(value) {
        Some(result) => Ok(Some(result)),
        None if matches!(def.kind, Kind::Text | Kind::OptionalText) => Ok(Some(value.clone())),
        None => Err(RefusedValue::NotComputed(value.clone()).into()),
    }
}

fn report_unknown(collector: &mut Collector<'_>, section: &Section, line: &OptionLine<'_>) {
    let text = &line.line.text;
    let engine = &section.draft.job.engine.name;
    let names = || options::general().chain(options::of_engine(engine)).flat_map(OptionDef::names);
    collector.messages.err(format!("Bad option <{}>", shown_line(text)));
    if let Some(name) = did_you_mean(text, names()) {
        collector.messages.err(format!("Did you mean {name}?"));
    }
    explain::unknown(&mut collector.messages, &line.name, engine, &line.line.origin);
}

//! Jobs whose options are not put together yet: further options can be set on them by name, as if they had been written behind the
//! others. A sweep takes one template and makes many runs of it.
//!
//! Must not know: what options mean. Start reading at [`Template::new`] or [`crate::parse_template`], then [`Template::set`].

use crate::collector::{Collector, Section, Stopped};
use crate::diagnostic::Diagnostic;
use crate::environment::Environment;
use crate::explain::{self, Near};
use crate::lower::Strictness;
use crate::options::{find_general, find_private};
use crate::origin::Origin;
use crate::refusal;
use ferrio_spec::RunSpec;
use ferrio_units::Wording;

/// Jobs with options that can still be set.
#[derive(Debug, Clone, Default)]
pub struct Template {
    pub(crate) jobs: Vec<Section>,
    /// What a run has beside its jobs.
    pub(crate) run: RunSpec,
    pub(crate) strictness: Strictness,
}

impl Template {
    /// No job.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a job without options, at the end.
    pub fn add_job(&mut self, name: &str) {
        let mut section = Section::default();
        name.clone_into(&mut section.draft.job.name);
        name.clone_into(&mut section.draft.job.section);
        section.given.push(("name".to_owned(), name.to_owned()));
        self.jobs.push(section);
    }

    /// Names of the jobs, in their order.
    pub fn job_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.jobs.iter().map(|section| section.draft.job.name.as_str())
    }

    /// Sets an option, by any of its names, on the jobs of this name, or on all jobs where `job` is `None`. The value is written as in a
    /// job file; `None` is for options without a value. Nothing is set where one of the jobs refuses it.
    ///
    /// # Errors
    /// No job has this name, no option has this name, or it does not take this value.
    pub fn set(
        &mut self,
        job: Option<&str>,
        name: &str,
        value: Option<&str>,
        environment: &dyn Environment,
    ) -> Result<(), Diagnostic> {
        if let Some(job) = job.filter(|job| self.job_names().all(|name| name != *job)) {
            return Err(Diagnostic::unknown_job(job, self.job_names()));
        }
        let mut jobs = self.jobs.clone();
        for section in jobs.iter_mut().filter(|section| job.is_none_or(|job| section.draft.job.name == job)) {
            set_on(section, name, value, environment)?;
        }
        self.jobs = jobs;
        Ok(())
    }

    /// Sets an option on the job that was added last, whatever the names of the others are; on none where there is no job.
    ///
    /// # Errors
    /// No option has this name, or it does not take this value.
    pub fn set_on_last(
        &mut self,
        name: &str,
        value: Option<&str>,
        environment: &dyn Environment,
    ) -> Result<(), Diagnostic> {
        let Some(last) = self.jobs.last() else { return Ok(()) };
        let mut section = last.clone();
        set_on(&mut section, name, value, environment)?;
        self.jobs.pop();
        self.jobs.push(section);
        Ok(())
    }

    /// The run of these jobs.
    ///
    /// # Errors
    /// Options of a job, or of two jobs, cannot go together.
    pub fn run_spec(&self, environment: &dyn Environment) -> Result<RunSpec, Diagnostic> {
        let mut collector = Collector::new(environment);
        collector.strictness = self.strictness;
        for section in &self.jobs {
            if let Err(Stopped) = collector.finish(section.clone()) {
                let said = collector.messages.take_diagnostics().pop();
                return Err(said.unwrap_or_else(|| Diagnostic::conflict(&section.draft.job.name, &[])));
            }
        }
        let RunSpec { jobs, compatibility, .. } = collector.into_run();
        Ok(RunSpec { jobs, compatibility, ..self.run.clone() })
    }
}

/// Sets an option, by any of its names, on a job.
fn set_on(
    section: &mut Section,
    name: &str,
    value: Option<&str>,
    environment: &dyn Environment,
) -> Result<(), Diagnostic> {
    let engine = section.draft.job.engine.name.clone();
    let Some(def) = find_general(name).or_else(|| find_private(&engine, name)) else {
        return Err(Diagnostic::unknown(
            name,
            explain::near_name(name, &engine).as_ref().map(Near::name),
            &Origin::CommandLine,
        ));
    };
    Collector::new(environment).set(section, def, value).map_err(|error| {
        let text = refusal::written(def, value);
        let takes = explain::expected(def, &error, &text, Wording::Own);
        Diagnostic::refused(&error, &text, takes, &Origin::CommandLine)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::DiagnosticKind;
    use crate::testing::World;
    use ferrio_spec::SizeSpec;

    fn template() -> Template {
        let mut template = Template::new();
        template.add_job("a");
        template.add_job("b");
        template.set(None, "size", Some("1m"), &World::default()).unwrap();
        template
    }

    #[test]
    fn an_option_is_set_on_one_job_or_on_all() {
        let (mut template, world) = (template(), World::default());
        template.set(Some("b"), "bs", Some("64k"), &world).unwrap();
        template.set(Some("b"), "blocksize", Some("8k"), &world).unwrap();
        let jobs = template.run_spec(&world).unwrap().jobs;
        let sizes = jobs.iter().map(|job| (job.extent.size, job.pattern.block_size.0[0].min_bytes));
        assert_eq!(
            sizes.collect::<Vec<_>>(),
            [(Some(SizeSpec::Bytes(1 << 20)), 4096), (Some(SizeSpec::Bytes(1 << 20)), 8192)]
        );
        assert_eq!(jobs[1].given_options.last(), Some(&("bs".to_owned(), "8k".to_owned())));
    }

    #[test]
    fn a_template_makes_many_runs() {
        let world = World::default();
        for depth in [1, 4, 16] {
            let mut template = template();
            template.set(None, "iodepth", Some(&depth.to_string()), &world).unwrap();
            assert!(template.run_spec(&world).unwrap().jobs.iter().all(|job| job.queue.iodepth == depth));
        }
    }

    #[test]
    fn a_refusal_is_a_value() {
        let (mut template, world) = (template(), World::default());
        let mut refusal = |name: &str, value: &str| template.set(None, name, Some(value), &world).unwrap_err();
        let unknown = refusal("iodpeth", "4");
        assert_eq!((unknown.kind, unknown.nearest.as_deref()), (DiagnosticKind::UnknownOption, Some("iodepth")));
        assert_eq!(unknown.to_string(), "no option is called iodpeth; did you mean iodepth?");
        let kind = refusal("rw", "randraed");
        assert_eq!((kind.kind, kind.nearest.as_deref()), (DiagnosticKind::BadValue, Some("randread")));
        assert!(kind.to_string().starts_with("rw=randraed: one of read, write, "), "{kind}");
        let number = refusal("iodepth", "many");
        assert!(number.to_string().starts_with("iodepth=many: iodepth takes: "), "{number}");
        let engine = refusal("ioengine", "libiao");
        assert_eq!((engine.kind, engine.nearest.as_deref()), (DiagnosticKind::UnknownEngine, Some("libaio")));
        assert_eq!(template.run_spec(&world).unwrap().jobs[0].queue.iodepth, 1);
    }

    #[test]
    fn a_name_of_no_job_is_refused() {
        let mut template = template();
        template.add_job("writes");
        let refusal = template.set(Some("write"), "bs", Some("8k"), &World::default()).unwrap_err();
        assert_eq!(refusal.to_string(), "no job is called write; did you mean writes?");
    }

    #[test]
    fn the_last_job_may_have_the_name_of_another() {
        let (mut template, world) = (template(), World::default());
        template.add_job("a");
        template.set_on_last("bs", Some("16k"), &world).unwrap();
        assert!(template.set_on_last("bs", Some("many"), &world).is_err());
        template.set_on_last("size", Some("1m"), &world).unwrap();
        let sizes =
            template.run_spec(&world).unwrap().jobs.into_iter().map(|job| job.pattern.block_size.0[0].min_bytes);
        assert_eq!(sizes.collect::<Vec<_>>(), [4096, 4096, 16384]);
    }

    #[test]
    fn options_that_cannot_go_together_are_named_with_their_job() {
        let (mut template, world) = (template(), World::default());
        template.set(Some("b"), "zonemode", Some("strided"), &world).unwrap();
        let refusal = template.run_spec(&world).unwrap_err();
        assert_eq!(refusal.kind, DiagnosticKind::Conflict);
        assert_eq!(refusal.to_string(), "job b: --zonesize must be specified when using --zonemode=strided.");
    }
}

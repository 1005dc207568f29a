//! What the audit says.
//!
//! Must not know: rules. Start reading at [`AuditFinding`].

use crate::{Io, Severity};
use ferrio_stats::{Finding, Unexamined};
use ferrio_units::DataDirection;
use std::fmt;

/// A figure that the evidence contradicts, or that is easily misread.
///
/// ```
/// use ferrio::{Job, Runner, Severity};
///
/// # fn main() -> Result<(), ferrio::Error> {
/// let mut runner = Runner::new();
/// let job = Job::new("a").option("ioengine", "psync").option("iodepth", "32").option("filename", "/no/file");
/// runner.add(&job.option("size", "1m"))?;
/// let expected = runner.check()?;
/// let finding = expected.findings().find(|finding| finding.id() == "depth-of-synchronous-engine").expect("a finding");
/// assert_eq!(finding.severity(), Severity::Misleading);
/// println!("{finding}");
/// for (what, value) in finding.evidence() {
///     println!("  {what}: {value}");
/// }
/// println!("  {} See {}", finding.cure(), finding.page());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct AuditFinding<'a>(pub(crate) &'a Finding);

impl<'a> AuditFinding<'a> {
    /// Short name of its rule, such as `device-did-less`; it does not change from version to version.
    pub fn id(self) -> &'a str {
        &self.0.id
    }

    /// The rule in a few words.
    pub fn title(self) -> &'a str {
        &self.0.title
    }

    /// Its effect on the figures.
    pub fn severity(self) -> Severity {
        self.0.severity
    }

    /// Names of the affected jobs; none: all.
    pub fn jobs(self) -> impl Iterator<Item = &'a str> {
        self.0.jobs.iter().map(String::as_str)
    }

    /// The kind of I/O whose figures it is about; `None`: the job as a whole. A finding about writes is about their syncs too.
    pub fn direction(self) -> Option<Io> {
        self.0.direction.map(|direction| match direction {
            DataDirection::Read => Io::Read,
            DataDirection::Write => Io::Write,
            DataDirection::Trim => Io::Trim,
        })
    }

    /// The measured values that it rests on: what they are, and the value with its unit.
    pub fn evidence(self) -> impl Iterator<Item = (&'a str, String)> {
        self.0.evidence.iter().map(|measured| (measured.what.as_str(), ferrio_formats::native::value(measured)))
    }

    /// Meaning of the evidence, in a sentence or two.
    pub fn explanation(self) -> &'a str {
        &self.0.explanation
    }

    /// How to avoid it, with the option to add.
    pub fn cure(self) -> &'a str {
        &self.0.cure
    }

    /// The page that describes the rule.
    pub fn page(self) -> &'a str {
        &self.0.page
    }
}

/// Severity, title, scope and explanation in a line.
impl fmt::Display for AuditFinding<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (finding, scope) = (self.0, self.0.scope());
        write!(formatter, "{}: {}", finding.severity.word(), finding.title)?;
        if !scope.is_empty() {
            write!(formatter, " ({scope})")?;
        }
        write!(formatter, ": {}", finding.explanation)
    }
}

/// A subject of which the audit could not examine all. That there is no finding says something only of what was examined.
///
/// ```
/// # use ferrio::{Job, Runner};
/// # fn main() -> Result<(), ferrio::Error> {
/// # let mut runner = Runner::new();
/// # runner.add(&Job::new("a").option("ioengine", "null").option("size", "1m"))?;
/// # let measured = runner.run()?;
/// for unexamined in measured.unexamined() {
///     println!("{unexamined}; {} rules could not look", unexamined.rules().count());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct UnexaminedSubject<'a>(pub(crate) &'a Unexamined);

impl<'a> UnexaminedSubject<'a> {
    /// The subject in a few words, such as `the work of the devices`.
    pub fn subject(self) -> &'a str {
        &self.0.subject
    }

    /// The missing evidence, and why it is missing.
    pub fn reason(self) -> &'a str {
        &self.0.reason
    }

    /// Names of the affected jobs; none: all.
    pub fn jobs(self) -> impl Iterator<Item = &'a str> {
        self.0.jobs.iter().map(String::as_str)
    }

    /// Short names of the rules that could not look.
    pub fn rules(self) -> impl Iterator<Item = &'a str> {
        self.0.rules.iter().map(String::as_str)
    }

    /// This machine never has the evidence (no sensor, no counter of the kernel): the same holds for each run on it.
    pub fn is_of_machine(self) -> bool {
        self.0.is_of_machine
    }
}

/// Subject and reason in a line.
impl fmt::Display for UnexaminedSubject<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.0.subject, self.0.reason)
    }
}

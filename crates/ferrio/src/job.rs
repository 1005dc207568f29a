//! A job: a name with options.
//!
//! Must not know: what options mean. Start reading at [`Job`].

/// A name with options, which are written as in a job file of fio. [`option_help`](crate::option_help) says what an option takes.
///
/// Options are looked at when the job is added to a [`Runner`](crate::Runner).
///
/// ```
/// let job = ferrio::Job::new("log").option("rw", "write").option("bs", "4k").option("fdatasync", "1").flag("unlink");
/// assert_eq!(job.name(), "log");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    name: String,
    options: Vec<(String, Option<String>)>,
}

impl Job {
    /// A job of this name, without options.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), options: Vec::new() }
    }

    /// The job with an option. Of options of the same name the last one holds, unless the option is a list (`filename` and the like are
    /// given once, with colons).
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.push((name.into(), Some(value.into())));
        self
    }

    /// The job with an option that has no value (`unlink`, `time_based`).
    #[must_use]
    pub fn flag(mut self, name: impl Into<String>) -> Self {
        self.options.push((name.into(), None));
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its options in their order; those without a value have `None`.
    pub fn options(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.options.iter().map(|(name, value)| (name.as_str(), value.as_deref()))
    }
}

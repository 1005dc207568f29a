//! What an engine knows of its run before it is prepared: the values of its private options, and what programs add.
//!
//! Must not know: how they were written. Start reading at [`EngineOptions`].

use crate::program::own::Storages;
use ferrio_spec::engines::options::declaration::EngineOption;
use ferrio_spec::engines::options::typed::OptionType;
use ferrio_spec::secret::Secret;
use ferrio_spec::{Compatibility, GivenOptions};

/// The private options that a job gives to its engine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EngineOptions {
    given: GivenOptions,
    compatibility: Compatibility,
    storages: Storages,
    secret_names: Vec<Secret>,
}

impl EngineOptions {
    /// Options of a job of fio.
    pub fn new(given: GivenOptions) -> Self {
        Self { given, compatibility: Compatibility::Fio, storages: Storages::default(), secret_names: Vec::new() }
    }

    /// The same options in a run with or without the oddities of fio.
    #[must_use]
    pub fn of_run(self, compatibility: Compatibility) -> Self {
        Self { compatibility, ..self }
    }

    /// The same options in a run that has these storages.
    #[must_use]
    pub fn with_storages(self, storages: &Storages) -> Self {
        Self { storages: storages.clone(), ..self }
    }

    /// The same options of a job whose targets have these names with passwords.
    #[must_use]
    pub fn with_secret_names(self, secret_names: Vec<Secret>) -> Self {
        Self { secret_names, ..self }
    }

    /// Names of targets with passwords.
    pub(crate) fn secret_names(&self) -> &[Secret] {
        &self.secret_names
    }

    pub(crate) fn storages(&self) -> &Storages {
        &self.storages
    }

    /// If the job has fio's oddities.
    pub fn compatibility(&self) -> Compatibility {
        self.compatibility
    }

    /// The value of an option: the one that was given, or the default.
    pub fn get<T: OptionType>(&self, option: &EngineOption<T>) -> T::Read<'_> {
        self.given.get(option)
    }
}

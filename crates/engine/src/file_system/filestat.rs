//! `ioengine=filestat`: looks a file up, by the system call that `stat_type` names (`stat`, the default, `lstat` or `statx`).
//!
//! `ioengine=dirstat` does the same with a directory, which it makes before. Must not know: I/Os. Start reading at `Stat`.

use crate::contract::options::EngineOptions;
use crate::contract::{EngineError, Prepare};
use crate::file_system::open_op::{AtOpen, OpenOp};
use ferrio_spec::engines::options::filestat::{STAT_TYPE, StatCall};
use ferrio_sys::file::{self, Lookup};
use std::path::Path;

pub(crate) const PREPARE: Prepare = |options| Ok(Box::new(AtOpen(Stat::new(options))));

/// Looks names up.
pub(crate) struct Stat(Lookup);

impl Stat {
    pub(crate) fn new(options: &EngineOptions) -> Self {
        Self(match options.get(&STAT_TYPE) {
            StatCall::Stat => Lookup::Stat,
            StatCall::Lstat => Lookup::Lstat,
            StatCall::Statx => Lookup::Statx,
        })
    }
}

impl OpenOp for Stat {
    type Kept = ();

    fn act(&mut self, name: &Path) -> Result<(), EngineError> {
        let looked_up = match self.0 {
            // As seen on fio 3.41: the absolute path.
            Lookup::Statx => match std::path::absolute(name) {
                Ok(absolute) => file::look_up(&absolute, Lookup::Statx),
                Err(_) => file::look_up(name, Lookup::Statx),
            },
            lookup => file::look_up(name, lookup),
        };
        // As seen on fio 3.41: the type has a number.
        let number = 1 + self.0 as u32;
        let step = || format!("stat({}) type={number}", name.display());
        looked_up.map_err(|source| EngineError::Target { step: step(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::GivenOptions;

    #[test]
    fn every_type_has_its_call() {
        for (call, lookup) in
            [(StatCall::Stat, Lookup::Stat), (StatCall::Lstat, Lookup::Lstat), (StatCall::Statx, Lookup::Statx)]
        {
            let mut stat = Stat::new(&EngineOptions::new(GivenOptions::default().with(&STAT_TYPE, call)));
            assert_eq!(stat.0, lookup);
            assert!(stat.act(Path::new(".")).is_ok());
            assert_eq!(stat.act(Path::new("no/such")).map_err(|error| error.errno()), Err(libc::ENOENT));
        }
        assert_eq!(Stat::new(&EngineOptions::new(GivenOptions::default())).0, Lookup::Stat);
    }
}

//! The common part of all engines whose work is one call on the name of a target when it is opened: create it, look it
//! up or delete it. The I/Os of such an engine succeed at once and do nothing.
//!
//! Must not know: which call that is. Start reading at [`OpenOp`].
//! Facts: as seen on fio 3.41 by strace.

use crate::contract::{Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, OpenTarget, Prepared, Queued};
use std::path::Path;

pub(crate) trait OpenOp {
    /// What the call leaves open until the target is closed (a descriptor, say).
    type Kept;

    /// See [`Prepared::make_target`].
    fn make(&self, _name: &Path) -> Result<(), EngineError> {
        Ok(())
    }

    fn act(&mut self, name: &Path) -> Result<Self::Kept, EngineError>;

    /// See [`Engine::remove_target`].
    fn remove(&mut self, _name: &Path) {}
}

/// An engine around a [`OpenOp`], in its first state.
pub(crate) struct AtOpen<D>(pub(crate) D);

impl<D: OpenOp + 'static> Prepared for AtOpen<D> {
    fn make_target(&self, name: &Path) -> Result<(), EngineError> {
        self.0.make(name)
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(Running { deed: self.0, kept: (0..setup.n_files).map(|_| None).collect() }))
    }
}

/// The same engine in its second state.
struct Running<D: OpenOp> {
    deed: D,
    /// What each open target keeps, by the index of its file.
    kept: Vec<Option<D::Kept>>,
}

impl<D: OpenOp> Engine for Running<D> {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        if let (OpenTarget::Name(name), Some(kept)) = (file.target, self.kept.get_mut(file.index as usize)) {
            *kept = Some(self.deed.act(name)?);
        }
        Ok(())
    }

    fn close_file(&mut self, file_index: u32) {
        if let Some(kept) = self.kept.get_mut(file_index as usize) {
            *kept = None;
        }
    }

    fn remove_target(&mut self, name: &Path) {
        self.deed.remove(name);
    }

    fn queue(&mut self, _unit_index: u32, unit: &IoUnit) -> Queued {
        Queued::Completed(IoResult::done(unit.length_bytes))
    }
}

/// Turns an error of a call on a name into that of the engine.
pub(crate) fn failed(operation: &'static str, name: &Path) -> impl Fn(ferrio_sys::Error) -> EngineError {
    move |source| EngineError::Target { step: format!("{operation}({})", name.display()), source }
}

#[cfg(test)]
mod tests {
    use crate::contract::options::EngineOptions;
    use crate::contract::{Cancellation, EngineFile};
    use crate::testing::{given, setup};
    use crate::{Engine, EngineError, OpenTarget, Prepared, Queued};
    use ferrio_sys::Clock;
    use std::path::{Path, PathBuf};

    /// A directory that is removed when dropped.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("ferrio-at-open-{name}-{}", std::process::id()));
            std::fs::create_dir(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn prepared(engine: &str, options: &[(&str, &str)]) -> Box<dyn Prepared> {
        crate::find(engine).unwrap().io().unwrap()(&EngineOptions::new(given(engine, options))).unwrap()
    }

    fn started(engine: &str) -> Box<dyn Engine> {
        prepared(engine, &[]).start(setup(1, &Clock::new_virtual())).unwrap()
    }

    fn open(engine: &mut dyn Engine, name: &Path) -> Result<(), EngineError> {
        let target = OpenTarget::Name(name);
        engine.open_file(&EngineFile {
            index: 0,
            target,
            writable: true,
            range_start: 0,
            range_bytes: 1,
            random: false,
            cancellation: Cancellation::ENDLESS,
        })
    }

    #[test]
    fn each_engine_does_one_thing_when_a_target_is_opened() {
        let place = Place::new("deeds");
        let (file, directory) = (place.0.join("file"), place.0.join("directory"));
        let outcome = |engine: &str, name: &Path| {
            let mut engine = started(engine);
            let opened = open(&mut *engine, name);
            engine.close_file(0);
            match opened {
                Ok(()) => "done".to_owned(),
                Err(EngineError::Target { step, source }) => {
                    let operation = step.replace(&format!("({})", name.display()), "");
                    format!("{operation} {:?}", source.errno())
                }
                Err(error) => panic!("{error}"),
            }
        };
        let missing = Some(libc::ENOENT);
        assert_eq!(outcome("filestat", &file), format!("stat type=1 {missing:?}"));
        assert_eq!(outcome("filecreate", &file), "done");
        assert_eq!((outcome("filecreate", &file), outcome("filestat", &file)), ("done".into(), "done".into()));
        assert_eq!((outcome("filedelete", &file), file.exists()), ("done".into(), false));
        assert_eq!(outcome("filedelete", &file), format!("delete {missing:?}"));
        assert_eq!(outcome("dircreate", &directory), "done");
        assert_eq!(outcome("dircreate", &directory), format!("open {:?}", Some(libc::EEXIST)));
        assert_eq!((outcome("dirstat", &directory), outcome("dirdelete", &directory)), ("done".into(), "done".into()));
        assert_eq!(outcome("dirdelete", &directory), format!("delete {missing:?}"));
    }

    #[test]
    fn directories_are_made_and_removed_where_they_are_looked_up_or_deleted() {
        let place = Place::new("made");
        for (engine, is_made) in [("dirstat", true), ("dirdelete", true), ("dircreate", false), ("filecreate", false)] {
            let name = place.0.join(engine);
            // The second round finds the directory that the first one made, which is no error.
            for _ in 0..2 {
                prepared(engine, &[]).make_target(&name).unwrap();
            }
            assert_eq!(name.is_dir(), is_made, "{engine}");
            started(engine).remove_target(&name);
            assert!(!name.exists(), "{engine}");
        }
        let missing = prepared("dirstat", &[]).make_target(&place.0.join("none/below"));
        assert_eq!(missing.map_err(|error| error.errno()), Err(libc::ENOENT));
    }

    #[test]
    fn an_io_does_nothing_and_succeeds() {
        let unit = crate::testing::nowhere(ferrio_units::Direction::Write);
        let length = crate::contract::IoResult::done(unit.length_bytes);
        assert_eq!(started("filecreate").queue(0, &unit), Queued::Completed(length));
    }
}

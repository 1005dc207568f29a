//! The open files of a worker: opening for I/O, cache advice, closing.
//!
//! Must not know: loops. Start reading at [`FileTable::open`].
//! Facts: reference "Open for I/O".

use crate::engine_notes;
use crate::error::{Failure, errno_of, failure};
use crate::files::{FilePlan, FileSet};
use crate::plan::WorkerPlan;
use ferrio_engine::{Cancellation, Engine, EngineError, EngineFile, OpenTarget};
use ferrio_spec::engines::{EngineDef, Opening};
use ferrio_spec::{FadviseHint, SyncMode};
use ferrio_stats::Note;
use ferrio_stats::note::{During, FileNote};
use ferrio_sys::block_device::{self, DeviceNumber};
use ferrio_sys::errno::{EINVAL, EMFILE};
use ferrio_sys::file::{Access, FileInfo, FileKind, OpenRequest};
use ferrio_sys::file_cache::{self, CacheAdvice};
use ferrio_sys::limits::{Resource, raise_limit};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

#[derive(Debug, Clone, Copy)]
struct FileState {
    is_open: bool,
    /// The file is to be closed once none of its units is in flight.
    is_closing: bool,
    n_in_flight: u32,
}

/// Files of a worker by index.
pub(crate) struct FileTable {
    spec: Arc<ferrio_spec::JobSpec>,
    engine: EngineDef,
    plans: Vec<FilePlan>,
    open: Vec<Option<OwnedFd>>,
    states: Vec<FileState>,
    n_open: u32,
    /// Files that are closed once none of their units is in flight.
    n_closing: u32,
    /// Messages for the user that did not end the job.
    warnings: Vec<Note>,
}

impl FileTable {
    pub(crate) fn new(worker: &WorkerPlan, set: &FileSet) -> Self {
        let n = set.files.len();
        Self {
            spec: Arc::clone(&worker.spec),
            engine: worker.engine.def,
            plans: set.files.clone(),
            open: (0..n).map(|_| None).collect(),
            states: vec![FileState { is_open: false, is_closing: false, n_in_flight: 0 }; n],
            n_open: 0,
            n_closing: 0,
            warnings: Vec::new(),
        }
    }

    /// Takes the warnings about files that were opened or closed since the last call.
    pub(crate) fn take_warnings(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.warnings)
    }

    /// True if the file is open, so that the loop may use it.
    #[inline]
    pub(crate) fn is_open(&self, index: u32) -> bool {
        self.states[index as usize].is_open
    }

    /// Counts a unit of the file as in flight.
    #[inline]
    pub(crate) fn takes_off(&mut self, index: u32) {
        self.states[index as usize].n_in_flight += 1;
    }

    /// Counts a unit of the file as completed. True if the file is to be closed now.
    #[inline]
    pub(crate) fn lands(&mut self, index: u32) -> bool {
        let state = &mut self.states[index as usize];
        debug_assert!(state.n_in_flight > 0, "only what is in flight lands");
        state.n_in_flight -= 1;
        state.is_closing && state.n_in_flight == 0
    }

    /// The file has nothing left to do. True: close it now; false: when its last unit completes.
    pub(crate) fn close_when_idle(&mut self, index: u32) -> bool {
        let is_closing = self.states[index as usize].n_in_flight > 0;
        self.set_closing(index, is_closing);
        !is_closing
    }

    fn set_closing(&mut self, index: u32, is_closing: bool) {
        let was_closing = std::mem::replace(&mut self.states[index as usize].is_closing, is_closing);
        self.n_closing = self.n_closing + u32::from(is_closing) - u32::from(was_closing);
    }

    /// True if another file may be opened only after one of those that are to be closed (`openfiles`).
    pub(crate) fn awaits_close(&self) -> bool {
        let most = self.spec.target.openfiles;
        most > 0 && self.n_open >= most && self.n_closing > 0
    }

    /// True if no other file may be opened (`openfiles`).
    pub(crate) fn is_full(&self) -> bool {
        let most = self.spec.target.openfiles;
        most > 0 && self.n_open >= most
    }

    /// An open file of which nothing is in flight, the first one.
    pub(crate) fn idle(&self) -> Option<u32> {
        self.states.iter().position(|state| state.is_open && state.n_in_flight == 0).map(|index| index as u32)
    }

    /// Cancels the close of a file. False: it is not open.
    pub(crate) fn stays_open(&mut self, index: u32) -> bool {
        self.set_closing(index, false);
        self.is_open(index)
    }

    pub(crate) fn plan(&self, index: u32) -> &FilePlan {
        &self.plans[index as usize]
    }

    pub(crate) fn n_files(&self) -> u32 {
        self.plans.len() as u32
    }

    pub(crate) fn n_open(&self) -> u32 {
        self.n_open
    }

    /// Opens a file for the job's I/O, and tells the engine; an engine that owns its targets opens the target itself.
    pub(crate) fn open(
        &mut self,
        index: u32,
        engine: &mut dyn Engine,
        cancellation: Cancellation<'_>,
    ) -> Result<(), Failure> {
        let plan = &self.plans[index as usize];
        let writable = self.spec.changes_files();
        let fd = self.engine.targets.are_opened_by_run().then(|| self.open_for_io(plan, writable)).transpose()?;
        if let Some(fd) = &fd {
            if let Some(warning) = self.drop_cache(plan, fd) {
                self.warnings.push(warning);
            }
            self.advise(plan, fd);
            self.hint(plan, fd)?;
        }
        let file = EngineFile {
            index,
            target: match &fd {
                Some(fd) => OpenTarget::Descriptor(fd.as_fd()),
                None => OpenTarget::Name(&plan.path),
            },
            writable,
            range_start: plan.start_bytes,
            range_bytes: plan.length_bytes,
            random: self.spec.pattern.random,
            cancellation,
        };
        engine.open_file(&file).map_err(|error| refused(&plan.name, &error))?;
        self.states[index as usize].is_open = true;
        self.open[index as usize] = fd;
        self.n_open += 1;
        Ok(())
    }

    fn open_for_io(&self, plan: &FilePlan, writable: bool) -> Result<OwnedFd, Failure> {
        let durability = &self.spec.durability;
        let regular = plan.kind == FileKind::Regular;
        let creates = regular && self.spec.target.allow_file_create;
        let request = match self.engine.opening {
            Opening::AsAsked | Opening::ForCommands => OpenRequest {
                access: if writable || self.engine.opening == Opening::ForCommands {
                    Access::ReadWrite
                } else {
                    Access::Read
                },
                is_create: writable && creates,
                is_direct: durability.direct,
                is_sync: writable && durability.sync == SyncMode::Sync,
                is_dsync: writable && durability.sync == SyncMode::Dsync,
                is_noatime: !regular,
                mode: 0o600,
                ..OpenRequest::default()
            },
            Opening::ToChange => {
                OpenRequest { access: Access::ReadWrite, is_create: creates, mode: 0o600, ..OpenRequest::default() }
            }
        };
        request.open(&plan.path).map_err(|error| {
            let errno = errno_of(&error);
            let note = if errno == EINVAL && durability.direct {
                FileNote::NoDirectIo.into()
            } else if errno == EMFILE {
                Note::system(During::Descriptors(raise_limit(Resource::Nofile, 0)), &error)
            } else {
                Note::system(During::Nothing, &error)
            };
            failure!(errno, format!("open({})", plan.name)).explained(note)
        })
    }

    /// Drops the cache of the range. A failure is a warning.
    fn drop_cache(&self, plan: &FilePlan, fd: &OwnedFd) -> Option<Note> {
        if !self.spec.layout.invalidate || self.spec.layout.pre_read {
            return None;
        }
        let result = match plan.kind {
            FileKind::Regular => file_cache::advise(fd, plan.start_bytes, plan.length_bytes, CacheAdvice::DontNeed),
            FileKind::Block => block_device::flush_buffers(fd),
            _ => Ok(()),
        };
        result.err().map(|error| Note::system(During::CacheInvalidation(plan.name.clone()), &error))
    }

    fn advise(&self, plan: &FilePlan, fd: &OwnedFd) {
        let random = self.spec.pattern.random;
        let advice = match self.spec.layout.fadvise_hint {
            FadviseHint::None => return,
            FadviseHint::ByWorkload if random => CacheAdvice::Random,
            FadviseHint::Random => CacheAdvice::Random,
            FadviseHint::ByWorkload | FadviseHint::Sequential => CacheAdvice::Sequential,
            FadviseHint::NoReuse => CacheAdvice::NoReuse,
        };
        if matches!(plan.kind, FileKind::Regular | FileKind::Block) {
            // This is only advice; some file systems do not know it.
            let _ = file_cache::advise(fd, plan.start_bytes, plan.length_bytes, advice);
        }
    }

    /// `write_hint`; fio sets it on files that are only read, too.
    fn hint(&self, plan: &FilePlan, fd: &OwnedFd) -> Result<(), Failure> {
        let Some(hint) = self.spec.durability.write_hint else { return Ok(()) };
        file_cache::set_write_hint(fd, hint).map_err(|error| {
            failure!(errno_of(&error), "fcntl write hint")
                .explained(Note::system(During::File(plan.name.clone()), &error))
        })
    }

    /// The range starts over: drops its cache again, unless I/O bypasses the cache.
    pub(crate) fn restarted(&mut self, index: u32) {
        if self.spec.durability.direct {
            return;
        }
        let plan = &self.plans[index as usize];
        if let Some(fd) = &self.open[index as usize]
            && let Some(warning) = self.drop_cache(plan, fd)
        {
            self.warnings.push(warning);
        }
    }

    /// Syncs an open file; returns 0 or an errno.
    pub(crate) fn sync(&self, index: u32) -> i32 {
        let Some(fd) = &self.open[index as usize] else { return 0 };
        file_cache::sync(fd).map_or_else(ferrio_sys::Errno::raw_os_error, |()| 0)
    }

    /// Device number of an open file's file system.
    pub(crate) fn device(&self, index: u32) -> Option<DeviceNumber> {
        let fd = self.open[index as usize].as_ref()?;
        FileInfo::of_file(fd).ok().map(|info| info.on_device)
    }

    /// Closes a file of which nothing is in flight. Returns whether it was open.
    pub(crate) fn close(&mut self, index: u32, engine: &mut dyn Engine) -> bool {
        self.set_closing(index, false);
        if !std::mem::take(&mut self.states[index as usize].is_open) {
            return false;
        }
        engine.close_file(index);
        drop(self.open[index as usize].take());
        debug_assert!(self.n_open > 0, "only an open file is closed");
        self.n_open -= 1;
        true
    }

    /// Removes the files of the job; an engine removes the targets that it owns.
    pub(crate) fn unlink(&self, engine: &mut dyn Engine) {
        if !self.engine.targets.are_files() {
            self.plans.iter().for_each(|plan| engine.remove_target(&plan.path));
            return;
        }
        for plan in self.plans.iter().filter(|plan| plan.kind == FileKind::Regular) {
            // Another clone may have removed the file already, which is no error.
            let _ = ferrio_sys::file::unlink(&plan.path);
        }
    }

    /// Reads the ranges once, so that they are cached.
    pub(crate) fn pre_read(&self) -> Result<(), Failure> {
        let block = self.spec.pattern.block_size.0[0].max_bytes.clamp(1, 1 << 26) as usize;
        let mut buffer = vec![0; block];
        for plan in self.plans.iter().filter(|plan| matches!(plan.kind, FileKind::Regular | FileKind::Block)) {
            let failed = |errno: i32| failure!(errno, "pre_read");
            let fd = OpenRequest::default().open(&plan.path).map_err(|error| failed(errno_of(&error)))?;
            ferrio_sys::file_io::seek(&fd, plan.start_bytes).map_err(|errno| failed(errno.raw_os_error()))?;
            let mut left = plan.length_bytes;
            while left > 0 {
                let wanted = block.min(usize::try_from(left).unwrap_or(usize::MAX));
                match ferrio_sys::file_io::read(&fd, &mut buffer[..wanted]) {
                    Ok(0) => break,
                    Ok(n) => left -= n as u64,
                    Err(errno) => return Err(failed(errno.raw_os_error())),
                }
            }
        }
        Ok(())
    }
}

/// The failure for a target that an engine cannot open.
fn refused(file: &str, error: &EngineError) -> Failure {
    match error {
        EngineError::Target { step, .. } => failure!(error.errno(), step.clone()),
        EngineError::Unfit { step, .. } => {
            failure!(error.errno(), *step).explained(engine_notes::refused_target(file, error))
        }
        _ => failure!(error.errno(), "open_file").explained(engine_notes::refused(None, error)),
    }
}

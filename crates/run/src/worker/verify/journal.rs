//! The crash journal of a job (`verify_crash_log`): issued and acknowledged writes, and syncs, for the check after a
//! crash.
//!
//! The journal is on disk whenever a sync of the job is complete. Later acknowledgements may be missing from it, which
//! only makes the check say less.
//! Must not know: verdicts. Start reading at [`CrashLog`].

use crate::crash::header::{CrashHeader, log_path};
use crate::crash::record::{JournalEvent, JournalRecord, RECORD_BYTES};
use crate::error::{Failure, failure};
use crate::files::FileSet;
use crate::plan::WorkerPlan;
use ferrio_spec::SyncMode;
use ferrio_spec::engines::Data;
use ferrio_stats::Note;
use ferrio_stats::note::{During, VerifyNote};
use ferrio_sys::errno::{EINVAL, EIO};
use ferrio_sys::output::{self, OutputStart, ProtectedPaths};
use ferrio_units::{DataDirection, Direction};
use ferrio_workload::verify::block::Write;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Bytes that are collected before they are written to the file.
const BUFFER_BYTES: usize = 64 << 10;

/// The journal while the job runs.
pub(crate) struct CrashLog {
    file: File,
    path: PathBuf,
    buffer: Vec<u8>,
    n_records: u64,
    /// By slot: the write in flight.
    writes: Vec<Option<JournalRecord>>,
    /// By slot: the point up to which the sync in flight makes writes durable, and its file.
    syncs: Vec<Option<(u32, u64)>>,
    /// Each acknowledged write is durable (`sync`), as if a sync followed it.
    writes_are_durable: bool,
}

impl CrashLog {
    /// Makes the journal of a worker, if it has one. `varies_writes`: not all writes leave their data.
    pub(crate) fn create(
        plan: &WorkerPlan,
        set: &FileSet,
        kept: &ProtectedPaths,
        varies_writes: bool,
    ) -> Result<Option<Box<Self>>, Failure> {
        let Some(path) = log_path(&plan.spec, plan.clone_index) else { return Ok(None) };
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let refused = |note: VerifyNote| failure!(EINVAL, "verify_crash_log").explained(note);
        if !plan.engine.def.targets.are_opened_by_run() || plan.engine.def.data != Data::Kept {
            return Err(refused(VerifyNote::JournalOfNothing { engine: plan.engine.def.name.to_owned() }));
        }
        if varies_writes {
            return Err(refused(VerifyNote::JournalOfOtherWrites));
        }
        if set.files.iter().any(|file| absolute(&file.path) == absolute(&path)) {
            return Err(refused(VerifyNote::JournalIsOwnFile { path: path.display().to_string() }));
        }
        let Some(verify) = &plan.spec.verify else { return Ok(None) };
        let writes_are_durable = plan.spec.durability.sync != SyncMode::None;
        let header = CrashHeader {
            job_name: plan.spec.name.clone(),
            // Fits: job numbers in headers have 16 bits.
            job_number: plan.thread_number as u16,
            content: verify.content.clone(),
            files: set.files.iter().map(|file| absolute(&file.path).to_string_lossy().into_owned()).collect(),
            block_bytes: plan.spec.pattern.block_size[DataDirection::Write].max_bytes,
            writes_are_durable,
        };
        let failed = |error: io::Error| failed(&path, &error);
        let mut file = output::open(&path, OutputStart::Empty, kept).map_err(failed)?;
        file.write_all(&header.encode()).and_then(|()| file.sync_all()).map_err(failed)?;
        sync_directory(&path);
        let iodepth = plan.queue().iodepth as usize;
        Ok(Some(Box::new(Self {
            file,
            path,
            buffer: Vec::with_capacity(BUFFER_BYTES + RECORD_BYTES),
            n_records: 0,
            writes: vec![None; iodepth],
            syncs: vec![None; iodepth],
            writes_are_durable,
        })))
    }

    pub(crate) fn issued(
        &mut self,
        slot_index: u32,
        file_index: u32,
        length: usize,
        write: Write,
    ) -> Result<(), Failure> {
        // Fits: blocks are below 4 GiB.
        let length_bytes = u32::try_from(length).unwrap_or(u32::MAX);
        let record = JournalRecord { event: JournalEvent::Issued, file_index, length_bytes, write };
        self.writes[slot_index as usize] = Some(record);
        self.append(&record)
    }

    fn ended(&mut self, slot_index: u32, event: JournalEvent) -> Result<(), Failure> {
        match self.writes[slot_index as usize].take() {
            Some(record) => self.append(&JournalRecord { event, ..record }),
            None => Ok(()),
        }
    }

    /// Records a completed sync of a file; `covers` is the number of records when it was issued. The record is on disk
    /// before the job continues.
    fn synced(&mut self, file_index: u32, covers: u64) -> Result<(), Failure> {
        let write = Write { offset_bytes: 0, seed: 0, sequence: 0, start_ns: 0 };
        self.append(&JournalRecord { event: JournalEvent::Synced { covers }, file_index, length_bytes: 0, write })?;
        self.flush()
    }

    /// Called before a sync is issued from a slot.
    pub(crate) fn sync_issued(&mut self, slot_index: u32, direction: Direction, file_index: u32) {
        if direction != Direction::SyncFileRange {
            self.syncs[slot_index as usize] = Some((file_index, self.n_records));
        }
    }

    /// Called after the I/O of a slot has ended.
    pub(crate) fn over(&mut self, slot_index: u32, direction: Direction, has_failed: bool) -> Result<(), Failure> {
        match direction {
            Direction::Read | Direction::Trim => Ok(()),
            Direction::Write if has_failed => self.ended(slot_index, JournalEvent::Failed),
            Direction::Write => {
                self.ended(slot_index, JournalEvent::Acknowledged)?;
                // A kept promise of the device that no record tells could not be checked.
                if self.writes_are_durable { self.flush() } else { Ok(()) }
            }
            _ => match self.syncs[slot_index as usize].take().filter(|_| !has_failed) {
                Some((file_index, covers)) => self.synced(file_index, covers),
                None => Ok(()),
            },
        }
    }

    /// Called after a file was synced by the system call while none of its writes was in flight.
    pub(crate) fn synced_now(&mut self, file_index: u32) -> Result<(), Failure> {
        self.synced(file_index, self.n_records)
    }

    fn append(&mut self, record: &JournalRecord) -> Result<(), Failure> {
        self.n_records += 1;
        self.buffer.extend(record.encode());
        if self.buffer.len() >= BUFFER_BYTES { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<(), Failure> {
        let written = self.file.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|error| failed(&self.path, &error))
    }

    /// Writes all records to disk.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.hand_over()?;
        self.file.sync_data().map_err(|error| failed(&self.path, &error))
    }
}

/// Makes the journal's name durable too. A file system that cannot sync directories keeps names by itself.
fn sync_directory(path: &Path) {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(parent).and_then(|directory| directory.sync_all());
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    let note = Note::system(During::CrashLog(path.display().to_string()), error);
    failure!(error.raw_os_error().unwrap_or(EIO), "verify_crash_log").explained(note)
}

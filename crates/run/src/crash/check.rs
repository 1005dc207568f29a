//! The check after a crash: compares the journal of a job with the contents of its files.
//!
//! Must not know: how blocks are judged, formats. Start reading at [`after_crash`].

use crate::crash::error::{CrashError, JournalError};
use crate::crash::header::{CrashHeader, log_path};
use crate::crash::history::{History, SyncedRecords, WrittenPlace};
use crate::crash::judge::{Verdict, judge};
use crate::crash::record::{JournalEvent, JournalRecord, RECORD_BYTES};
use ferrio_spec::JobSpec;
use ferrio_stats::note::SystemError;
use ferrio_sys::file::open_regular;
use ferrio_workload::verify::block::BlockRules;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes of a journal that are read at once.
const JOURNAL_BUFFER_BYTES: usize = 1 << 20;

/// What a disk writes as a whole, bytes.
const SECTOR_BYTES: u64 = 512;

/// A block that must not be as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub file: String,
    pub offset_bytes: u64,
    /// The verdict; `Err`: the block cannot be read.
    pub verdict: Result<Verdict, SystemError>,
}

/// Assumptions of a check, and its limit of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashCheck {
    /// The device's atomic unit, bytes.
    pub unit_bytes: usize,
    /// Memory for the blocks of a journal, bytes; if they need more, the journal is read several times.
    pub memory_bytes: usize,
}

/// The result of a check: how many blocks of a job are in which state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CrashReport {
    pub job_name: String,
    /// Number of writes in the journal.
    pub n_issued: u64,
    pub n_acknowledged: u64,
    /// Number of writes that were acknowledged before a completed sync was issued.
    pub n_durable: u64,
    /// Number of bytes at the end of the journal that are no record, because the crash cut it off.
    pub n_cut_bytes: u64,
    /// Number of times that the journal was read to judge all blocks.
    pub n_readings: u64,
    /// The most memory that its blocks took at once, bytes.
    pub memory_bytes: u64,
    pub n_blocks: u64,
    /// Number of blocks by their state, in the order of [`Verdict`].
    pub n_there: u64,
    /// None of the writes was acknowledged.
    pub n_in_flight: u64,
    /// Writes after the last sync are lost, which is allowed.
    pub n_lost_later: u64,
    /// The block has parts of several writes, which is allowed.
    pub n_mixed: u64,
    /// A durable write is lost.
    pub n_lost: u64,
    /// The block is torn in a way that is not allowed.
    pub n_torn: u64,
    /// The block cannot be read.
    pub n_unreadable: u64,
}

impl CrashReport {
    /// Number of blocks for which the device has broken its promise, or which cannot be read.
    pub fn n_violations(&self) -> u64 {
        self.n_lost + self.n_torn + self.n_unreadable
    }

    fn count(&mut self, verdict: &Result<Verdict, SystemError>) {
        self.n_blocks += 1;
        let count = match verdict {
            Ok(Verdict::There) => &mut self.n_there,
            Ok(Verdict::InFlight) => &mut self.n_in_flight,
            Ok(Verdict::LostLater) => &mut self.n_lost_later,
            Ok(Verdict::Mixed) => &mut self.n_mixed,
            Ok(Verdict::Lost { .. }) => &mut self.n_lost,
            Ok(Verdict::Torn { .. }) => &mut self.n_torn,
            Err(_) => &mut self.n_unreadable,
        };
        *count += 1;
    }
}

/// Judges the files of all jobs that have a journal (`verify_crash_log`), and changes nothing.
///
/// # Errors
/// A line about a journal that cannot be read, or about the lack of any journal.
pub fn after_crash(
    jobs: &[JobSpec],
    how: CrashCheck,
    tell: &mut dyn FnMut(Violation),
) -> Result<Vec<CrashReport>, CrashError> {
    let clones = jobs.iter().flat_map(|job| (0..job.numjobs).map(move |clone_index| (job, clone_index)));
    let paths = clones.filter_map(|(job, clone_index)| log_path(job, clone_index));
    let mut journals = paths.map(|path| Journal::open(&path)).collect::<Result<Vec<_>, _>>()?;
    if journals.is_empty() {
        return Err(CrashError::NoJournal);
    }
    check_shared(&journals)?;
    journals.iter_mut().map(|journal| journal.judge(how, tell).map_err(|why| journal.complaint(why))).collect()
}

/// A journal, after all of its records were read once.
struct Journal {
    path: PathBuf,
    input: BufReader<File>,
    header: CrashHeader,
    /// Offset of the first record.
    start: u64,
    syncs: SyncedRecords,
    n_cut_bytes: u64,
    /// By file: the range from the start of its first write to the end of the last one.
    written: BTreeMap<u32, Range<u64>>,
}

impl Journal {
    fn open(path: &Path) -> Result<Self, CrashError> {
        Self::read(path).map_err(|why| CrashError::Journal { path: path.to_owned(), why })
    }

    fn read(path: &Path) -> Result<Self, JournalError> {
        let file = open_regular(path)?;
        let mut input = BufReader::with_capacity(JOURNAL_BUFFER_BYTES, file);
        let header = CrashHeader::read(&mut input)?;
        let start = input.stream_position()?;
        let mut syncs = SyncedRecords::new(header.writes_are_durable);
        let mut written: BTreeMap<u32, Range<u64>> = BTreeMap::new();
        let n_cut_bytes = each_record(&mut input, start, &mut |record| {
            check_record(&header, record)?;
            syncs.see(record);
            if record.event == JournalEvent::Issued {
                let (first, length) = (record.write.offset_bytes, u64::from(record.length_bytes));
                let range = written.entry(record.file_index).or_insert(first..first);
                // Cannot overflow: `check_record` has checked that the end is a valid file offset.
                *range = range.start.min(first)..range.end.max(first + length);
            }
            Ok(())
        })?;
        Ok(Self { path: path.to_owned(), input, header, start, syncs, n_cut_bytes, written })
    }

    fn complaint(&self, why: JournalError) -> CrashError {
        CrashError::Journal { path: self.path.clone(), why }
    }

    fn judge(&mut self, how: CrashCheck, tell: &mut dyn FnMut(Violation)) -> Result<CrashReport, JournalError> {
        let Self { input, header, start, syncs, n_cut_bytes, .. } = self;
        let (job_name, n_cut_bytes) = (header.job_name.clone(), *n_cut_bytes);
        let mut report = CrashReport { job_name, n_cut_bytes, ..CrashReport::default() };
        let mut part = Some(History::new(std::mem::take(syncs), how.memory_bytes));
        while let Some(mut history) = part {
            input.seek(SeekFrom::Start(*start))?;
            each_record(input, *start, &mut |record| Ok(history.see(record)?))?;
            report.n_readings += 1;
            report.memory_bytes = report.memory_bytes.max(history.n_most_bytes() as u64);
            // Each part of a journal counts all writes.
            report.n_issued = history.n_issued;
            report.n_acknowledged = history.n_acknowledged;
            report.n_durable = history.n_durable;
            judge_all(header, &history, how.unit_bytes, &mut |violation| {
                report.count(&violation.verdict);
                if !matches!(&violation.verdict, Ok(verdict) if !verdict.is_violation()) {
                    tell(violation);
                }
            });
            part = history.next_part();
        }
        Ok(report)
    }
}

/// Refuses blocks that several jobs wrote, because no journal tells which write is the last.
fn check_shared(journals: &[Journal]) -> Result<(), CrashError> {
    let mut by_file: BTreeMap<&str, Vec<(&Range<u64>, &Journal)>> = BTreeMap::new();
    for journal in journals {
        for (file_index, range) in &journal.written {
            // The index is valid: `check_record` has checked it.
            by_file.entry(&journal.header.files[*file_index as usize]).or_default().push((range, journal));
        }
    }
    for (file, mut writers) in by_file {
        writers.sort_by_key(|(range, _)| range.start);
        let overlap = writers.windows(2).find(|pair| matches!(pair, [(a, _), (b, _)] if a.end > b.start));
        if let Some([(_, first), (_, second)]) = overlap {
            let (other, file) = (first.path.clone(), file.to_owned());
            return Err(second.complaint(JournalError::Shared { other, file }));
        }
    }
    Ok(())
}

fn check_record(header: &CrashHeader, record: &JournalRecord) -> Result<(), JournalError> {
    let end = record.write.offset_bytes.saturating_add(record.length_bytes.into());
    let is_of_file = (record.file_index as usize) < header.files.len() && i64::try_from(end).is_ok();
    if !is_of_file || u64::from(record.length_bytes) > header.block_bytes {
        return Err(JournalError::NoBlock);
    }
    Ok(())
}

/// Reads all records, of which the first begins at an offset; returns the number of bytes behind the last one, which the crash cut off.
///
/// # Errors
/// Bytes that are no record cannot come from a crash: the journal was damaged.
fn each_record(
    input: &mut impl Read,
    start: u64,
    take: &mut dyn FnMut(&JournalRecord) -> Result<(), JournalError>,
) -> Result<u64, JournalError> {
    let (mut bytes, mut offset_bytes) = ([0; RECORD_BYTES], start);
    loop {
        let n_read = read_up_to(input, &mut bytes)?;
        let Some(record) = JournalRecord::decode(&bytes).filter(|_| n_read == RECORD_BYTES) else {
            let rest = JournalRest::read(&bytes[..n_read], input)?;
            return if rest.is_torn_end(offset_bytes) {
                Ok(rest.n_bytes)
            } else {
                Err(JournalError::DamagedRecord { offset_bytes, n_bytes: rest.n_bytes })
            };
        };
        take(&record)?;
        offset_bytes += RECORD_BYTES as u64;
    }
}

/// What stands behind the last intact record before the first bytes that are no record.
#[derive(Debug, PartialEq, Eq)]
struct JournalRest {
    n_bytes: u64,
    /// The number of bytes up to the last one that is not zero.
    n_filled_bytes: u64,
}

impl JournalRest {
    /// Reads the rest to its end; `first` was read before.
    fn read(first: &[u8], input: &mut impl Read) -> io::Result<Self> {
        let mut rest = Self { n_bytes: 0, n_filled_bytes: 0 };
        rest.add(first);
        let mut buffer = [0; 4096];
        loop {
            match read_up_to(input, &mut buffer)? {
                0 => return Ok(rest),
                n_read => rest.add(&buffer[..n_read]),
            }
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        if let Some(index) = bytes.iter().rposition(|byte| *byte != 0) {
            self.n_filled_bytes = self.n_bytes + index as u64 + 1;
        }
        self.n_bytes += bytes.len() as u64;
    }

    /// True if a crash may have left it: a part of a record at the end of the file, or a record of which whole sectors are missing
    /// (zeroes up to the end). A whole record with a wrong checksum, or anything behind it, is damage.
    fn is_torn_end(&self, offset_bytes: u64) -> bool {
        let n_to_sector = (SECTOR_BYTES - offset_bytes % SECTOR_BYTES) % SECTOR_BYTES;
        let n_torn = if n_to_sector < RECORD_BYTES as u64 { n_to_sector } else { 0 };
        self.n_bytes < RECORD_BYTES as u64 || self.n_filled_bytes <= n_torn
    }
}

/// Fills the buffer, as far as there are bytes.
fn read_up_to(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut n_read = 0;
    while n_read < buffer.len() {
        match input.read(&mut buffer[n_read..]) {
            Ok(0) => break,
            Ok(n_more) => n_read += n_more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n_read)
}

fn judge_all(header: &CrashHeader, history: &History, unit_bytes: usize, tell: &mut dyn FnMut(Violation)) {
    let rules = BlockRules::new(header.content.clone(), header.job_number);
    let mut open: Option<(u32, io::Result<File>)> = None;
    for ((file_index, offset_bytes), place) in &history.places {
        let name = &header.files[*file_index as usize];
        if open.as_ref().is_none_or(|(index, _)| index != file_index) {
            open = Some((*file_index, File::open(name)));
        }
        let Some((_, file)) = &open else { continue };
        let received = match file {
            Ok(file) => read_block(file, *offset_bytes, place).map_err(|error| SystemError::from(&error)),
            Err(error) => Err(error.into()),
        };
        let verdict = received.map(|received| judge(&rules, place, history.last, &received, unit_bytes));
        tell(Violation { file: name.clone(), offset_bytes: *offset_bytes, verdict });
    }
}

/// Bytes beyond the end of a file count as zeroes, because its size was not durable.
fn read_block(file: &File, offset_bytes: u64, place: &WrittenPlace) -> io::Result<Vec<u8>> {
    let mut block = vec![0; place.length_bytes as usize];
    let mut file = file;
    file.seek(SeekFrom::Start(offset_bytes))?;
    read_up_to(&mut file, &mut block)?;
    Ok(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rests of a journal behind a record that ends at an offset, and if a crash may have left them.
    #[test]
    fn a_crash_cuts_the_end_off_and_damages_nothing() {
        let zeroes = |n: usize| vec![0_u8; n];
        let filled = |n: usize| vec![7_u8; n];
        for (offset_bytes, rest, is_torn) in [
            (96, Vec::new(), true),
            (96, filled(47), true),
            (96, filled(48), false),
            (96, filled(49), false),
            (96, zeroes(4096), true),
            (96, [zeroes(4095), filled(1)].concat(), false),
            (500, [filled(12), zeroes(36)].concat(), true),
            (500, [filled(12), zeroes(5000)].concat(), true),
            (500, [filled(13), zeroes(35)].concat(), false),
            (512, [filled(1), zeroes(47)].concat(), false),
        ] {
            let read = JournalRest::read(&rest[..rest.len().min(20)], &mut &rest[rest.len().min(20)..]).unwrap();
            assert_eq!(read.n_bytes, rest.len() as u64);
            assert_eq!(read.is_torn_end(offset_bytes), is_torn, "{offset_bytes} {} {read:?}", rest.len());
        }
    }
}

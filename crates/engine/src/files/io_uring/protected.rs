//! Reads and writes of a block device with protection information beside the data (`md_per_io_size`): the kernel hands the tuples of the
//! job to the device, and those of the device to the job.
//!
//! Everything else is done by the engine without protection, so that its I/Os cost no instruction for this.
//! Must not know: how tuples look. Start reading at [`Protected`], then [`protection_of`].
#![expect(unsafe_code, reason = "requests point into the buffer area and to metadata")]

use super::{NAME, Running};
use crate::commands::payloads::{CheckedReads, Payloads};
use crate::commands::protection::{ProtectedBlocks, Protection, ProtectionOptions, metadata_bytes};
use crate::contract::options::EngineOptions;
use crate::contract::parts::{FailureDetails, TagMismatch};
use crate::contract::{
    Completion, Engine, EngineError, EngineFile, IoResult, IoUnit, JobFacts, OpenTarget, Outcome, Queued,
};
use crate::files::control;
use crate::files::io_uring::traffic::Traffic;
use ferrio_spec::engines::options::io_uring_cmd::APPTAG_MASK;
use ferrio_sys::block_device::metadata::MetadataForm;
use ferrio_sys::nvme::namespace::ProtectionFormat;
use ferrio_sys::uring::{ProtectionSlots, RingProtection};
use ferrio_sys::{Clock, Errno};
use ferrio_units::Direction;
use std::io;
use std::os::fd::AsFd;

/// What a job wants of protection information.
#[derive(Debug, Clone, Copy)]
pub(super) struct MetadataOptions {
    /// Room for the metadata of an I/O, bytes; above 0.
    room_bytes: u32,
    protection: ProtectionOptions,
}

impl MetadataOptions {
    /// Reads the options; `None`: I/Os have no metadata.
    pub(super) fn parse(options: &EngineOptions) -> Result<Option<Self>, EngineError> {
        let room_bytes = metadata_bytes(NAME, options)?;
        if room_bytes == 0 {
            return Ok(None);
        }
        let protection = ProtectionOptions::parse(NAME, options)?;
        if protection.application_mask != 0xFFFF {
            // The kernel has no mask.
            let what = format!("io_uring with metadata requires an {} of 0xffff", APPTAG_MASK.name());
            return Err(EngineError::Unfit { step: "init", what, is_named: false, errno: libc::EINVAL });
        }
        Ok(Some(Self { room_bytes, protection }))
    }
}

/// The engine of a job whose reads and writes have protection information.
pub(super) struct Protected {
    /// The ring is in here, so this is dropped first.
    running: Running,
    /// By slot: the tuples of its I/O.
    tuples: Payloads,
    attributes: ProtectionSlots,
    checked: CheckedReads,
    options: MetadataOptions,
    /// By file, of those that are open.
    protections: Vec<Option<Protection>>,
    job: JobFacts,
}

impl Protected {
    pub(super) fn new(running: Running, options: MetadataOptions, job: JobFacts) -> Result<Self, EngineError> {
        let (n_slots, n_files) = (running.sync_lengths.len(), running.trims_by_ring.len());
        Ok(Self {
            tuples: Payloads::new(NAME, n_slots, options.room_bytes as usize)?,
            attributes: ProtectionSlots::new(n_slots as u32),
            checked: CheckedReads::new(n_slots),
            protections: vec![None; n_files],
            options,
            job,
            running,
        })
    }

    /// Queues a read or write.
    fn queue_data(&mut self, unit_index: u32, unit: &IoUnit) -> Result<Queued, Errno> {
        let protection = self.protections.get(unit.file_index as usize).copied().flatten().ok_or(Errno::BADF)?;
        let fd = self.running.fd_of(unit)?;
        let io = self.running.io_of(unit, fd);
        let (first, tuple_bytes) = tuples_of(&protection, unit)?;
        if tuple_bytes > self.options.room_bytes as usize {
            return Err(Errno::INVAL);
        }
        let is_by_host = protection.is_by_host();
        if unit.direction == Direction::Write && is_by_host {
            let mut arena = self.running.arena.borrow_mut();
            let buffer = arena.slice_mut(unit.buffer_offset, unit.length_bytes);
            protection.fill(buffer, self.tuples.slice_mut(unit_index, tuple_bytes), first);
        }
        let is_checked = unit.direction == Direction::Read && is_by_host;
        self.checked.note(unit_index, is_checked.then_some(*unit));
        let wanted = &self.options.protection;
        let request = RingProtection {
            metadata: self.tuples.region(unit_index, tuple_bytes),
            checks_guard: wanted.checks_guard,
            checks_reference: wanted.checks_reference && protection.has_reference(),
            checks_application: wanted.checks_application,
            application_tag: wanted.application_tag,
            first_reference: if wanted.checks_reference { first & u64::from(u32::MAX) } else { 0 },
        };
        let attributes = &mut self.attributes;
        // SAFETY: by the contract of engines the loop touches neither this part of the area nor the slot, and does not close the file,
        // until the unit is reaped; the area, the tuples and the attributes live as long as the ring, which waits when dropped.
        Ok(self.running.push(unit_index, IoResult::done(0), |ring| unsafe {
            ring.push_protected(unit_index, &io, &request, attributes)
        }))
    }

    /// Checks the tuples of reads that are done; a mismatch is an error of the I/O.
    fn check_reads(&mut self, completions: &mut [Completion]) {
        for completion in completions {
            let Some(unit) = self.checked.done(completion.unit_index) else { continue };
            let Outcome::Done(n_bytes) = completion.result.outcome() else { continue };
            let read = IoUnit { length_bytes: n_bytes as usize, ..unit };
            if let Some(mismatch) = self.mismatch_in(completion.unit_index, &read) {
                self.checked.keep(completion.unit_index, mismatch);
                completion.result = IoResult::failed(libc::EIO);
            }
        }
    }

    fn mismatch_in(&mut self, unit_index: u32, read: &IoUnit) -> Option<TagMismatch> {
        let protection = self.protections.get(read.file_index as usize).copied().flatten()?;
        let (first, tuple_bytes) = tuples_of(&protection, read).ok()?;
        let mut arena = self.running.arena.borrow_mut();
        let buffer = arena.slice_mut(read.buffer_offset, read.length_bytes);
        protection.check(buffer, self.tuples.slice_mut(unit_index, tuple_bytes), first)
    }
}

/// The first block of an I/O, and the length of the metadata of all its blocks. EINVAL: it is not made of whole blocks.
fn tuples_of(protection: &Protection, unit: &IoUnit) -> Result<(u64, usize), Errno> {
    let blocks = &protection.blocks;
    let data_bytes = blocks.data_bytes as u64;
    let is_whole = unit.offset_bytes.is_multiple_of(data_bytes) && unit.length_bytes.is_multiple_of(blocks.data_bytes);
    if !is_whole {
        return Err(Errno::INVAL);
    }
    Ok((unit.offset_bytes / data_bytes, unit.length_bytes / blocks.data_bytes * blocks.metadata_bytes))
}

/// The protection information of an open device, in the words of fio where it has some.
fn protection_of(device: impl AsFd, options: ProtectionOptions) -> Result<Protection, EngineError> {
    let form = MetadataForm::of(device).map_err(|error| {
        let errno = error.errno().unwrap_or(libc::EIO);
        unfit(format!("failed to query protection information capabilities; error {errno}"), errno)
    })?;
    let blocks = blocks_of(&form).map_err(|fault| unfit(fault.to_string(), libc::EOPNOTSUPP))?;
    Ok(Protection { blocks, options })
}

/// Why the protection information of a device is not used, in fio's words but for the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum ProtectionFault {
    #[error("Protection information not supported")]
    NoProtection,
    #[error("Storage tag not supported")]
    StorageTag,
    #[error("unsupported checksum type {0}")]
    GuardKind(u8),
    #[error("the place of the protection information in the metadata is not supported")]
    Place,
}

/// The same from what the kernel says of the device.
fn blocks_of(form: &MetadataForm) -> Result<ProtectedBlocks, ProtectionFault> {
    if !form.has_protection {
        return Err(ProtectionFault::NoProtection);
    }
    if form.storage_tag_bytes > 0 {
        return Err(ProtectionFault::StorageTag);
    }
    let guard_bits = match form.guard_kind {
        2 => 16,
        4 => 64,
        other => return Err(ProtectionFault::GuardKind(other)),
    };
    let is_first = form.protection_at == 0 && form.metadata_bytes > form.protection_bytes;
    let kind = if form.has_reference_tag { 1 } else { 3 };
    let format = ProtectionFormat { kind, guard_bits, storage_tag_bits: 0, is_first };
    let end_bytes = form.protection_at + form.protection_bytes;
    let is_at_an_end = is_first || end_bytes == form.metadata_bytes;
    if form.data_bytes == 0 || form.protection_bytes != format.bytes() || !is_at_an_end {
        return Err(ProtectionFault::Place);
    }
    Ok(ProtectedBlocks {
        format,
        data_bytes: form.data_bytes as usize,
        metadata_bytes: form.metadata_bytes as usize,
        is_extended: false,
    })
}

/// Checks the blocks of the job against those of the device.
fn check_job(blocks: &ProtectedBlocks, job: &JobFacts, room_bytes: u32) -> Result<(), EngineError> {
    let data_bytes = blocks.data_bytes as u64;
    let is_odd = |(min, max): &(u64, u64)| !min.is_multiple_of(data_bytes) || !max.is_multiple_of(data_bytes);
    if job.block_bytes.iter().any(is_odd) {
        return Err(unfit("block size must be a multiple of LBA data size", libc::EINVAL));
    }
    let largest = job.block_bytes.iter().map(|(_, max)| *max).max().unwrap_or(0);
    let needed = largest / data_bytes * blocks.metadata_bytes as u64;
    if needed > u64::from(room_bytes) {
        return Err(unfit(format!("md_per_io_size should be at least {needed} bytes"), libc::EINVAL));
    }
    Ok(())
}

/// What does not fit, in a line that begins with the name of the device.
fn unfit(what: impl Into<String>, errno: i32) -> EngineError {
    EngineError::Unfit { step: "fio_ioring_open_file", what: what.into(), is_named: true, errno }
}

/// A possible reason for the errno of an I/O.
fn hint(errno: i32) -> Option<&'static str> {
    match errno {
        libc::EINVAL | libc::EOPNOTSUPP => Some(
            "protection information by io_uring (md_per_io_size) needs Linux 6.14, direct=1, no hipri, and whole blocks of the \
             device; without md_per_io_size the kernel makes and checks the information by itself",
        ),
        libc::EILSEQ => Some(
            "the device or the kernel has found protection information that does not fit the data or its place; with \
             pi_act=1 the metadata go to the device as they are: pi_act=0 makes them",
        ),
        _ => None,
    }
}

impl Engine for Protected {
    fn has_kernel_workers(&self) -> bool {
        self.running.has_kernel_workers()
    }

    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        if let OpenTarget::Descriptor(fd) = file.target {
            let protection = protection_of(fd, self.options.protection)?;
            check_job(&protection.blocks, &self.job, self.options.room_bytes)?;
            self.protections[file.index as usize] = Some(protection);
        }
        self.running.open_file(file)
    }

    fn close_file(&mut self, file_index: u32) {
        self.protections[file_index as usize] = None;
        self.running.close_file(file_index);
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        if control::is_control(unit.direction) {
            return self.running.queue(unit_index, unit);
        }
        let queued = self.queue_data(unit_index, unit);
        queued.unwrap_or_else(|errno| Queued::Completed(control::error_result(errno)))
    }

    fn commit(&mut self) -> io::Result<u32> {
        self.running.submit_queued()
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        let n_before = completions.len();
        self.running.take(min, max, completions)?;
        self.check_reads(&mut completions[n_before..]);
        Ok(())
    }

    fn reap_until(
        &mut self,
        max: u32,
        until_ns: u64,
        clock: &Clock,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        let n_before = completions.len();
        self.running.take_until(max, until_ns, clock, completions)?;
        self.check_reads(&mut completions[n_before..]);
        Ok(())
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        hint(errno).or_else(|| self.running.hint(unit, errno))
    }

    fn failures(&mut self) -> Option<&mut dyn FailureDetails> {
        Some(self)
    }
}

impl FailureDetails for Protected {
    fn take_mismatch(&mut self, unit_index: u32) -> Option<TagMismatch> {
        self.checked.take_mismatch(unit_index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rig, RigOptions, TestFile, given};

    fn form() -> MetadataForm {
        MetadataForm {
            has_protection: true,
            has_reference_tag: true,
            data_bytes: 512,
            metadata_bytes: 8,
            protection_at: 0,
            protection_bytes: 8,
            guard_kind: 2,
            storage_tag_bytes: 0,
        }
    }

    /// The texts are those of fio, but for the last.
    #[test]
    fn a_device_that_does_not_fit_is_refused() {
        for (form, text) in [
            (MetadataForm { has_protection: false, ..form() }, "Protection information not supported"),
            (MetadataForm { storage_tag_bytes: 4, ..form() }, "Storage tag not supported"),
            (MetadataForm { guard_kind: 1, ..form() }, "unsupported checksum type 1"),
            (
                MetadataForm { metadata_bytes: 24, protection_at: 8, ..form() },
                "the place of the protection information in the metadata is not supported",
            ),
        ] {
            assert_eq!(blocks_of(&form).map_err(|fault| fault.to_string()), Err(text.to_owned()));
        }
    }

    #[test]
    fn tuples_are_at_either_end_of_the_metadata() {
        let place = |form: MetadataForm| blocks_of(&form).map(|blocks| (blocks.format.is_first, blocks.format.kind));
        assert_eq!(place(form()), Ok((false, 1)));
        assert_eq!(place(MetadataForm { metadata_bytes: 16, ..form() }), Ok((true, 1)));
        let behind = MetadataForm { metadata_bytes: 16, protection_at: 8, has_reference_tag: false, ..form() };
        assert_eq!(place(behind), Ok((false, 3)));
        let long = MetadataForm { guard_kind: 4, metadata_bytes: 16, protection_bytes: 16, ..form() };
        assert_eq!(blocks_of(&long).map(|blocks| blocks.format.guard_bits), Ok(64));
    }

    #[test]
    fn the_room_for_metadata_fits_the_largest_block() {
        let blocks = blocks_of(&form()).unwrap();
        let check = |block_bytes: &[(u64, u64)], room_bytes| {
            let job = JobFacts { block_bytes: block_bytes.to_vec(), ..JobFacts::default() };
            check_job(&blocks, &job, room_bytes).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[(512, 4096), (1024, 1024)], 64), Ok(()));
        assert_eq!(check(&[(4096, 4096)], 63), Err("md_per_io_size should be at least 64 bytes".to_owned()));
        assert_eq!(check(&[(1000, 1000)], 64), Err("block size must be a multiple of LBA data size".to_owned()));
    }

    #[test]
    fn the_kernel_has_no_mask_and_a_file_no_metadata() {
        let masked = given(NAME, &[("md_per_io_size", "8"), ("apptag_mask", "65280")]);
        let refusal = MetadataOptions::parse(&EngineOptions::new(masked)).unwrap_err().to_string();
        assert_eq!(refusal, "io_uring with metadata requires an apptag_mask of 0xffff");
        let file = TestFile::new(NAME);
        let options = RigOptions { options: given(NAME, &[("md_per_io_size", "64")]), ..RigOptions::default() };
        if let Err(error) = Rig::new(NAME, Some(&file), options) {
            let text = error.to_string();
            let is_told = text.starts_with("failed to query protection information capabilities; error ");
            assert!(is_told || text.contains("io_uring_setup"), "{text}");
        }
    }
}

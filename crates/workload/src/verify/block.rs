//! Stamps a block before it is written, checks it after it was read.
//!
//! Must not know: files, buffers. Start reading at [`BlockRules`].
//! Facts: reference "Verify header" (offsets of header, checksum and data; the order of the checks).

use super::data;
use super::digest;
use super::fault::{Fault, FaultKind};
use super::header::{Header, HeaderError, MAGIC, ReadHeader, VERSION, header_bytes};
use super::known::KnownBlock;
use ferrio_spec::{HeaderLayout, VerifyContentSpec, VerifyForm};
use ferrio_units::checksum::{Checksum, MAX_CHECKSUM_BYTES};
use wanted::Interval;

/// A write, as described by its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// Offset of the block in its file.
    pub offset_bytes: u64,
    pub seed: u64,
    /// Number of the job's writes before it.
    pub sequence: u64,
    /// Start of the write, nanoseconds of the run's clock.
    pub start_ns: u64,
}

/// Expected properties of a block that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// Offset of the block in its file.
    pub offset_bytes: u64,
    /// Seed of its data, if it is known and to be checked.
    pub seed: Option<u64>,
    /// Number of its write, if it is known and to be checked.
    pub sequence: Option<u64>,
    /// The block was trimmed after it was written, so it must be zeroes.
    pub is_trimmed: bool,
}

/// Rules by which the blocks of a job are made and checked.
#[derive(Debug, Clone)]
pub struct BlockRules {
    spec: VerifyContentSpec,
    job_number: u16,
    checksum: Option<Checksum>,
    /// The rules of the other header layout, if blocks may have either.
    other: Option<Box<Self>>,
}

impl BlockRules {
    /// The rules of a job; `job_number` counts from 1.
    pub fn new(spec: VerifyContentSpec, job_number: u16) -> Self {
        let checksum = match spec.method.def().form {
            VerifyForm::Header(Some(Checksum::Sha512)) if spec.layout == HeaderLayout::V2 => {
                Some(Checksum::Sha512Unfinished)
            }
            VerifyForm::Header(checksum) => checksum,
            VerifyForm::Bare | VerifyForm::Nothing => None,
        };
        Self { spec, job_number, checksum, other: None }
    }

    /// Accepts blocks with the headers of either layout. This is for jobs that read what other jobs wrote. A job that
    /// reads its own writes must not accept both: an old block of the other layout, with the same seed, would hide that
    /// a write was lost.
    #[must_use]
    pub fn recognising(self) -> Self {
        let other = Box::new(self.in_other_layout());
        Self { other: Some(other), ..self }
    }

    fn in_other_layout(&self) -> Self {
        let layout = match self.spec.layout {
            HeaderLayout::V3 => HeaderLayout::V2,
            HeaderLayout::V2 => HeaderLayout::V3,
        };
        Self::new(VerifyContentSpec { layout, ..self.spec.clone() }, self.job_number)
    }

    /// The rules by which a block was made, as a whole header in it shows.
    fn of_block(&self, block: &[u8], offset_bytes: u64) -> &Self {
        match &self.other {
            Some(other)
                if !self.has_whole_header(block, offset_bytes) && other.has_whole_header(block, offset_bytes) =>
            {
                other
            }
            _ => self,
        }
    }

    /// The other layout, if the block has its headers and these rules do not accept it.
    pub fn foreign_layout(&self, block: &[u8], offset_bytes: u64) -> Option<HeaderLayout> {
        let other = self.in_other_layout();
        let is_foreign = self.other.is_none()
            && !self.has_whole_header(block, offset_bytes)
            && other.has_whole_header(block, offset_bytes);
        is_foreign.then_some(other.spec.layout)
    }

    /// True if an interval of a block has an undamaged header for its offset, length and method.
    fn has_whole_header(&self, block: &[u8], offset_bytes: u64) -> bool {
        let (interval_bytes, area_bytes) = (self.interval_bytes(block.len()), self.area_bytes());
        if area_bytes == 0 || interval_bytes < area_bytes {
            return false;
        }
        let at = self.header_place(interval_bytes).unwrap_or(0);
        block.chunks_exact(interval_bytes).enumerate().any(|(index, interval)| {
            Header::read(self.spec.layout, &interval[at..]).is_ok_and(
                |ReadHeader { header, stored_crc, computed_crc }| {
                    stored_crc == computed_crc
                        && header.method_number == self.spec.method.def().number
                        && header.interval_bytes as usize == interval_bytes
                        && header.offset_bytes == offset_bytes + (index * interval_bytes) as u64
                },
            )
        })
    }

    /// Length of header and checksum; an interval must be longer.
    pub fn area_bytes(&self) -> usize {
        match self.spec.method.def().form {
            VerifyForm::Header(_) => header_bytes(self.spec.layout) + self.checksum.map_or(0, Checksum::n_bytes),
            VerifyForm::Bare | VerifyForm::Nothing => 0,
        }
    }

    pub fn stamp(&self, block: &mut [u8], write: &Write) {
        self.stamp_from(block, write, None);
    }

    /// The same with data and checksums that are `known` for the seed and length of the write.
    pub fn stamp_from(&self, block: &mut [u8], write: &Write, known: Option<KnownBlock<'_>>) {
        match known {
            Some(known) => block.copy_from_slice(known.data),
            None => self.fill(block, write.offset_bytes, write.seed),
        }
        let start = ((write.start_ns / 1_000_000_000) as u32, (write.start_ns % 1_000_000_000) as u32);
        self.put_headers(block, write, start, known);
    }

    /// Fills a block with data that depend only on the seed, as for [`BlockRules::groups_that_gain`].
    pub(super) fn fill_seeded(&self, block: &mut [u8], seed: u64) {
        self.fill(block, 0, seed);
    }

    /// Numbers of blocks of this length whose checksums are faster computed together, largest first. Empty if the data
    /// depend on more than the seeds.
    pub(super) fn groups_that_gain(&self, block_bytes: usize) -> &'static [usize] {
        match self.checksum {
            Some(checksum) if self.spec.pattern.is_none() && self.interval_bytes(block_bytes) > self.area_bytes() => {
                digest::lanes_of(checksum)
            }
            _ => &[],
        }
    }

    /// True if comparing a block of this length with its data takes less time than computing its checksums, and the
    /// data depend only on the seed.
    pub(super) fn comparing_gains(&self, block_bytes: usize) -> bool {
        self.checksum.is_some_and(Checksum::outweighs_contents)
            && self.spec.pattern.is_none()
            && self.interval_bytes(block_bytes) > self.area_bytes()
    }

    pub(super) fn copy_checksums(&self, block: &[u8], out: &mut [u8]) {
        let (area_bytes, interval_bytes) = (self.area_bytes(), self.interval_bytes(block.len()));
        let n_bytes = self.checksum.map_or(0, Checksum::n_bytes);
        if interval_bytes < area_bytes || n_bytes == 0 {
            return;
        }
        let at = self.header_place(interval_bytes).unwrap_or(0) + area_bytes - n_bytes;
        for (interval, out) in block.chunks_exact(interval_bytes).zip(out.chunks_exact_mut(n_bytes)) {
            out.copy_from_slice(&interval[at..at + n_bytes]);
        }
    }

    /// Length of the checksums of all intervals of a block.
    pub(super) fn checksums_bytes(&self, block_bytes: usize) -> usize {
        block_bytes / self.interval_bytes(block_bytes) * self.checksum.map_or(0, Checksum::n_bytes)
    }

    /// Computes the checksums of the intervals of blocks of one length, all of the first block before those of the
    /// second. There are at most [`digest::MAX_LANES`] blocks.
    pub(super) fn store_checksums(&self, blocks: &[&[u8]], out: &mut [u8]) {
        let (Some(checksum), Some(first)) = (self.checksum, blocks.first()) else { return };
        let (area_bytes, interval_bytes) = (self.area_bytes(), self.interval_bytes(first.len()));
        let block_bytes = self.checksums_bytes(first.len());
        for index in 0..first.len() / interval_bytes {
            let mut data = [&[][..]; digest::MAX_LANES];
            for (data, block) in data.iter_mut().zip(blocks) {
                *data = &block[index * interval_bytes..][area_bytes..interval_bytes];
            }
            digest::store_each(checksum, &data[..blocks.len()], |lane, form| {
                out[lane * block_bytes + index * form.len()..][..form.len()].copy_from_slice(form);
            });
        }
    }

    fn fill(&self, block: &mut [u8], offset_bytes: u64, seed: u64) {
        data::fill(block, &self.spec, offset_bytes, seed);
    }

    fn put_headers(&self, block: &mut [u8], write: &Write, start: (u32, u32), known: Option<KnownBlock<'_>>) {
        let (area_bytes, interval_bytes) = (self.area_bytes(), self.interval_bytes(block.len()));
        if area_bytes == 0 || interval_bytes < area_bytes {
            return;
        }
        for (index, interval) in block.chunks_exact_mut(interval_bytes).enumerate() {
            let header = Header {
                method_number: self.spec.method.def().number,
                interval_bytes: interval_bytes as u32,
                seed: write.seed,
                offset_bytes: write.offset_bytes + (index * interval_bytes) as u64,
                start,
                sequence: write.sequence,
                job_number: self.job_number,
            };
            header.write(self.spec.layout, interval);
            if let Some(checksum) = self.checksum {
                let (area, data) = interval.split_at_mut(area_bytes);
                let stored = &mut area[header_bytes(self.spec.layout)..];
                match known {
                    Some(known) => stored.copy_from_slice(known.checksum(index, stored.len())),
                    None => digest::store(checksum, data, stored),
                }
            }
            self.swap(interval);
        }
    }

    fn interval_bytes(&self, block_bytes: usize) -> usize {
        match self.spec.interval_bytes as usize {
            0 => block_bytes,
            interval_bytes => interval_bytes.min(block_bytes),
        }
        .max(1)
    }

    /// Swaps header and checksum with the bytes at `verify_offset`.
    fn swap(&self, interval: &mut [u8]) {
        let area_bytes = self.area_bytes();
        if let Some(at) = self.header_place(interval.len()) {
            let (front, back) = interval.split_at_mut(at);
            front[..area_bytes].swap_with_slice(&mut back[..area_bytes]);
        }
    }

    /// Offset of the header in an interval, if it is not at the start.
    fn header_place(&self, interval_bytes: usize) -> Option<usize> {
        let (at, area_bytes) = (self.spec.header_at as usize, self.area_bytes());
        (at >= area_bytes && interval_bytes >= at + area_bytes).then_some(at)
    }

    /// Checks a block that was read. The check changes the block, but restores it before it returns.
    pub fn check(&self, block: &mut [u8], expected: &Expected) -> Result<(), Fault> {
        self.check_from(block, expected, None)
    }

    /// The same with the `known` contents that were probably written: where the data are equal, their checksum need not
    /// be computed again.
    pub fn check_from(
        &self,
        block: &mut [u8],
        expected: &Expected,
        known: Option<KnownBlock<'_>>,
    ) -> Result<(), Fault> {
        match self.spec.method.def().form {
            VerifyForm::Nothing => Ok(()),
            _ if expected.is_trimmed => check_zeroes(block, expected.offset_bytes),
            VerifyForm::Bare => {
                let bare = Interval { at: 0, length_bytes: block.len(), area_bytes: 0 };
                self.wanted(block, expected)
                    .map_or(Ok(()), |wanted| wanted.compare(block, expected.offset_bytes, &bare))
            }
            VerifyForm::Header(_) => {
                let rules = self.of_block(block, expected.offset_bytes);
                // Known contents have the layout of these rules.
                let known = known.filter(|_| rules.spec.layout == self.spec.layout);
                rules.check_intervals(block, expected, known)
            }
        }
    }

    fn check_intervals(
        &self,
        block: &mut [u8],
        expected: &Expected,
        known: Option<KnownBlock<'_>>,
    ) -> Result<(), Fault> {
        let interval_bytes = self.interval_bytes(block.len());
        let n_intervals = block.len() / interval_bytes;
        let wanted = self.wanted(block, expected);
        for index in 0..n_intervals {
            let at = index * interval_bytes;
            self.swap(&mut block[at..at + interval_bytes]);
            let checked = self.check_interval(block, index, interval_bytes, expected, known).and_then(|()| {
                let interval = Interval { at, length_bytes: interval_bytes, area_bytes: self.area_bytes() };
                wanted.as_ref().map_or(Ok(()), |wanted| wanted.compare(block, expected.offset_bytes, &interval))
            });
            // The report of a fault compares the block with what was written, so the header goes back to its place.
            self.swap(&mut block[at..at + interval_bytes]);
            checked?;
        }
        Ok(())
    }

    /// Checks an interval whose header is at its start.
    fn check_interval(
        &self,
        block: &[u8],
        index: usize,
        interval_bytes: usize,
        expected: &Expected,
        known: Option<KnownBlock<'_>>,
    ) -> Result<(), Fault> {
        let at = index * interval_bytes;
        let interval = &block[at..at + interval_bytes];
        let offset_bytes = expected.offset_bytes + at as u64;
        let fault = |kind| Fault { offset_bytes, length_bytes: interval_bytes as u64, kind };
        if interval.len() < self.area_bytes() {
            return Err(fault(FaultKind::Cut));
        }
        self.check_header(interval, offset_bytes, expected).map_err(fault)?;
        self.check_data(block, index, interval_bytes, expected.offset_bytes, known)
    }

    fn check_header(&self, interval: &[u8], offset_bytes: u64, expected: &Expected) -> Result<(), FaultKind> {
        let ReadHeader { header, stored_crc, computed_crc } =
            Header::read(self.spec.layout, interval).map_err(|error| match error {
                HeaderError::Magic(found) => FaultKind::Magic { found, wanted: MAGIC },
                HeaderError::Version(found) => FaultKind::Version { found, wanted: VERSION },
            })?;
        if header.interval_bytes as usize != interval.len() {
            return Err(FaultKind::Length { found: header.interval_bytes, wanted: interval.len() as u32 });
        }
        if let Some(wanted) = expected.seed.filter(|wanted| *wanted != header.seed) {
            return Err(FaultKind::Seed { found: header.seed, wanted });
        }
        if header.offset_bytes != offset_bytes {
            return Err(FaultKind::Offset { found: header.offset_bytes, wanted: offset_bytes });
        }
        if let Some(wanted) = expected.sequence.map(|wanted| self.as_stored(wanted))
            && wanted != header.sequence
        {
            return Err(FaultKind::Sequence { found: header.sequence, wanted });
        }
        if stored_crc != computed_crc {
            return Err(FaultKind::HeaderCrc { stored: stored_crc, computed: computed_crc });
        }
        let wanted = self.spec.method.def().number;
        if header.method_number != wanted {
            return Err(FaultKind::Method { found: header.method_number, wanted });
        }
        Ok(())
    }

    /// Number of a write as the layout stores it.
    fn as_stored(&self, sequence: u64) -> u64 {
        match self.spec.layout {
            HeaderLayout::V3 => sequence,
            HeaderLayout::V2 => sequence & 0xffff,
        }
    }

    fn check_data(
        &self,
        block: &[u8],
        index: usize,
        interval_bytes: usize,
        block_offset: u64,
        known: Option<KnownBlock<'_>>,
    ) -> Result<(), Fault> {
        let at = index * interval_bytes;
        let (interval, area_bytes) = (&block[at..at + interval_bytes], self.area_bytes());
        let Some(checksum) = self.checksum else { return Ok(()) };
        let mut computed = [0; MAX_CHECKSUM_BYTES];
        let computed = &mut computed[..checksum.n_bytes()];
        let data = &interval[area_bytes..];
        match known.filter(|known| known.data[at + area_bytes..at + interval_bytes] == *data) {
            Some(known) => computed.copy_from_slice(known.checksum(index, computed.len())),
            None => digest::store(checksum, data, computed),
        }
        let stored = &interval[header_bytes(self.spec.layout)..area_bytes];
        if stored == computed {
            return Ok(());
        }
        let kind =
            FaultKind::Checksum { method: self.spec.method, stored: stored.to_vec(), computed: computed.to_vec() };
        Err(Fault { offset_bytes: block_offset + at as u64, length_bytes: interval_bytes as u64, kind })
    }

    /// The write that produced the whole block; `None`: the block does not come from a single write.
    pub fn whole_write(&self, received: &[u8], offset_bytes: u64) -> Option<Write> {
        let interval_bytes = self.interval_bytes(received.len());
        let mut first = received.get(..interval_bytes)?.to_vec();
        self.swap(&mut first);
        if first.len() < self.area_bytes().max(1) || self.area_bytes() == 0 {
            return None;
        }
        let ReadHeader { header, stored_crc, computed_crc } = Header::read(self.spec.layout, &first).ok()?;
        let start_ns = u64::from(header.start.0) * 1_000_000_000 + u64::from(header.start.1);
        let write = Write { offset_bytes, seed: header.seed, sequence: header.sequence, start_ns };
        let mut block = vec![0; received.len()];
        self.stamp(&mut block, &write);
        (stored_crc == computed_crc && block == received).then_some(write)
    }

    /// True if each interval of a block begins with a header for its own offset, whatever the data are.
    pub fn has_headers(&self, received: &[u8], offset_bytes: u64) -> bool {
        let interval_bytes = self.interval_bytes(received.len());
        let area_bytes = self.area_bytes();
        let has_header = |(index, interval): (usize, &[u8])| {
            let mut interval = interval.to_vec();
            self.swap(&mut interval);
            let read = Header::read(self.spec.layout, &interval);
            read.is_ok_and(|read| read.header.offset_bytes == offset_bytes + (index * interval_bytes) as u64)
        };
        area_bytes > 0
            && interval_bytes >= area_bytes
            && received.chunks_exact(interval_bytes).enumerate().all(has_header)
    }

    /// The block as it was written according to its own header; `None`: it has no whole header.
    pub fn regenerate_own(&self, received: &[u8], offset_bytes: u64) -> Option<Vec<u8>> {
        self.regenerate(received, &Expected { offset_bytes, seed: None, sequence: None, is_trimmed: false })
    }

    /// The block as it should be: by the seed of its write, or, if that is unknown, by its own header. `None`: it has
    /// no whole header either.
    pub fn regenerate(&self, received: &[u8], expected: &Expected) -> Option<Vec<u8>> {
        self.of_block(received, expected.offset_bytes).regenerate_by(received, expected)
    }

    fn regenerate_by(&self, received: &[u8], expected: &Expected) -> Option<Vec<u8>> {
        let header = self.first_header(received);
        let seed = expected.seed.or(header.map(|header| header.seed)).or(self.spec.pattern.as_ref().map(|_| 0))?;
        let sequence = expected.sequence.or(header.map(|header| header.sequence)).unwrap_or(0);
        let mut block = vec![0; received.len()];
        self.fill(&mut block, expected.offset_bytes, seed);
        let start = header.map_or((0, 0), |header| header.start);
        let write = Write { offset_bytes: expected.offset_bytes, seed, sequence, start_ns: 0 };
        self.put_headers(&mut block, &write, start, None);
        Some(block)
    }

    /// The header of the first interval of a block; `None`: it is damaged or missing.
    fn first_header(&self, block: &[u8]) -> Option<Header> {
        let mut interval = block[..self.interval_bytes(block.len()).min(block.len())].to_vec();
        if self.area_bytes() == 0 || interval.len() < self.area_bytes() {
            return None;
        }
        self.swap(&mut interval);
        let read = Header::read(self.spec.layout, &interval).ok()?;
        (read.stored_crc == read.computed_crc).then_some(read.header)
    }
}

fn check_zeroes(block: &[u8], offset_bytes: u64) -> Result<(), Fault> {
    // Compares the block with itself, shifted by a byte. This is much faster than searching for the first byte that is
    // not zero.
    if block.first().is_none_or(|byte| *byte == 0 && block[1..] == block[..block.len() - 1]) {
        return Ok(());
    }
    let Some(at) = block.iter().position(|byte| *byte != 0) else { return Ok(()) };
    Err(Fault { offset_bytes, length_bytes: block.len() as u64, kind: FaultKind::NotZero { at } })
}

mod wanted;

#[cfg(test)]
mod tests;

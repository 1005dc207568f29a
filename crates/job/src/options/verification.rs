//! The options of verification: what they do to a draft, and what they must be together.
//!
//! Must not know: blocks. Start reading at [`lower`].
//! Facts: reference "Verify"; texts as observed on fio 3.33.

use crate::draft::{ApplyContext, Draft, Open};
use crate::error::JobError;
use crate::spec::{
    DirectionMix, HeaderLayout, JobSpec, VERIFY_METHODS, VerifyContentSpec, VerifyForm, VerifyMethod, VerifyPattern,
    VerifySpec,
};
use crate::value::{Value, pattern};
use ferrio_units::DataDirection;

type Applied = Result<(), JobError>;

/// What the options say before they are seen together.
#[derive(Debug, Clone)]
pub struct VerifyDraft {
    /// `verify`.
    pub method: Option<VerifyMethod>,
    /// `do_verify`.
    pub reads_back: bool,
    /// `verify_interval`, bytes; 0: that of the block.
    pub interval_bytes: u32,
    /// `verify_offset`, bytes.
    pub header_at: u32,
    /// `verify_pattern`.
    pub pattern: Option<VerifyPattern>,
    /// `verify_pattern_interval`, bytes.
    pub pattern_interval_bytes: u32,
    /// `verify_header_layout`.
    pub layout: HeaderLayout,
    /// `verify_header_seed`.
    pub header_seed: bool,
    /// `verify_write_sequence`.
    pub write_sequence: bool,
    /// `verify_fatal`.
    pub is_fatal: bool,
    /// `verify_dump`.
    pub dumps: bool,
}

impl Default for VerifyDraft {
    fn default() -> Self {
        Self {
            method: None,
            reads_back: true,
            interval_bytes: 0,
            header_at: 0,
            pattern: None,
            pattern_interval_bytes: 0,
            layout: HeaderLayout::default(),
            header_seed: true,
            write_sequence: true,
            is_fatal: false,
            dumps: false,
        }
    }
}

pub(super) fn method(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Applied {
    let word = value.word()?;
    draft.open.verify.method = VERIFY_METHODS.iter().find(|def| def.name == word).map(|def| def.method);
    Ok(())
}

pub(super) fn verify_pattern(draft: &mut Draft, value: &Value, context: &mut ApplyContext<'_>) -> Applied {
    draft.open.verify.pattern = Some(pattern::parse_with_offsets(value.text()?, context.environment)?);
    Ok(())
}

pub(super) fn layout(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Applied {
    draft.open.verify.layout = if value.word()? == "3.33" { HeaderLayout::V2 } else { HeaderLayout::V3 };
    Ok(())
}

/// What a job verifies; `None`: nothing.
///
/// # Errors
/// A line that says why it cannot be.
pub(crate) fn lower(job: &JobSpec, open: &Open) -> Result<Option<VerifySpec>, String> {
    let draft = &open.verify;
    // A pattern alone is a wish to see it checked.
    let method = draft.method.or(draft.pattern.is_some().then_some(VerifyMethod::PatternHeader));
    let Some(method) = method else { return Ok(None) };
    if let Some(line) = contradiction(job, open, method) {
        return Err(line);
    }
    let content = VerifyContentSpec {
        method,
        layout: draft.layout,
        interval_bytes: interval_bytes(job, draft.interval_bytes),
        header_at: draft.header_at,
        pattern: draft.pattern.clone(),
        pattern_interval_bytes: draft.pattern_interval_bytes,
    };
    let writes = !matches!(job.pattern.mix, DirectionMix::Read);
    Ok(Some(VerifySpec {
        content,
        reads_back: draft.reads_back && writes,
        // Headers on media that another run wrote have seeds and numbers of their own.
        checks_seed: draft.header_seed && writes,
        checks_sequence: draft.write_sequence && writes && has_one_size(job),
        is_fatal: draft.is_fatal,
        dumps: draft.dumps,
    }))
}

fn contradiction(job: &JobSpec, open: &Open, method: VerifyMethod) -> Option<String> {
    let draft = &open.verify;
    let needs_pattern = matches!(method, VerifyMethod::Pattern | VerifyMethod::PatternHeader);
    if needs_pattern && draft.pattern.is_none() {
        return Some(format!("fio: verify={} needs verify_pattern", method.def().name));
    }
    if !matches!(job.pattern.mix, DirectionMix::Read | DirectionMix::Write | DirectionMix::ReadWrite) {
        return Some("fio: verify with trims is not yet supported by ferrio".to_owned());
    }
    if !job.replay.traces.is_empty() {
        return Some("fio: verify of a replayed trace is not yet supported by ferrio".to_owned());
    }
    let buffers = &job.buffers;
    if open.dedupe_percent > 0 || buffers.compress_percent > 0 || buffers.pattern.is_some() || buffers.zero {
        return Some(
            "fio: verify makes the contents of blocks: buffer_pattern, zero_buffers, buffer_compress_percentage and \
             dedupe_percentage cannot be combined with it; verify_pattern can"
                .to_owned(),
        );
    }
    if job.pattern.bs_unaligned && !has_one_size(job) {
        return Some("fio: verify cannot divide blocks of any length (bs_unaligned) into intervals".to_owned());
    }
    too_short(job, draft, method)
}

/// Header and checksum have to fit into an interval, behind its data too if they stand there.
fn too_short(job: &JobSpec, draft: &VerifyDraft, method: VerifyMethod) -> Option<String> {
    let VerifyForm::Header(checksum) = method.def().form else { return None };
    let header_bytes = match draft.layout {
        HeaderLayout::V3 => 48,
        HeaderLayout::V2 => 40,
    };
    let area_bytes = header_bytes + checksum.map_or(0, |checksum| checksum.n_bytes() as u64);
    let smallest = smallest_block(job);
    let interval_bytes = match interval_bytes(job, draft.interval_bytes) {
        0 => smallest,
        interval_bytes => u64::from(interval_bytes),
    };
    if interval_bytes <= area_bytes {
        return Some(format!("fio: Blocksize too small to hold a header and checksum of {area_bytes} bytes"));
    }
    let at = u64::from(draft.header_at);
    if at > 0 && at + area_bytes > interval_bytes {
        return Some("fio: cannot offset verify header beyond the verify interval.".to_owned());
    }
    (at > 0 && at < area_bytes).then(|| {
        format!("fio: verify_offset must be at least {area_bytes}: header and checksum would overlap themselves")
    })
}

fn smallest_block(job: &JobSpec) -> u64 {
    let sizes = &job.pattern.block_size;
    sizes[DataDirection::Write].min_bytes.min(sizes[DataDirection::Read].min_bytes)
}

fn has_one_size(job: &JobSpec) -> bool {
    let size = job.pattern.block_size[DataDirection::Write];
    size.min_bytes == size.max_bytes && job.pattern.block_split[DataDirection::Write].is_empty()
}

/// Intervals are no longer than the smallest block, and divide every block.
fn interval_bytes(job: &JobSpec, given: u32) -> u32 {
    if given == 0 && has_one_size(job) {
        return 0;
    }
    let largest = job.pattern.block_size[DataDirection::Write].max_bytes;
    let smallest = smallest_block(job);
    let wanted = if given == 0 { smallest } else { u64::from(given).min(smallest) };
    let shares = job.pattern.block_split[DataDirection::Write].iter().map(|share| share.block_bytes);
    let divisor = shares.fold(gcd(gcd(wanted, smallest), largest), gcd);
    u32::try_from(divisor).unwrap_or(0)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::BlockShare;

    #[test]
    fn intervals_divide_every_block() {
        let interval = |min_bytes, max_bytes, shares: &[u64], given| {
            let mut job = Draft::new().job;
            job.pattern.block_size = ferrio_units::PerDirection::all(crate::spec::BlockRange { min_bytes, max_bytes });
            let share = |block_bytes: &u64| BlockShare { block_bytes: *block_bytes, percent: 10 };
            job.pattern.block_split[DataDirection::Write] = shares.iter().map(share).collect();
            interval_bytes(&job, given)
        };
        assert_eq!(interval(4096, 4096, &[], 0), 0, "a header a block");
        assert_eq!(interval(4096, 4096, &[], 1000), 8, "the largest divisor that both have");
        assert_eq!(interval(4096, 8192, &[], 0), 4096);
        assert_eq!(interval(4096, 8192, &[4096, 6144, 8192], 0), 2048, "of sizes between them too");
        assert_eq!(interval(4096, 65_536, &[], 512), 512);
    }
}

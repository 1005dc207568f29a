//! Several patterns in one job (`patterns`): their list, and what such a job cannot have.
//!
//! Must not know: how patterns are drawn. Start reading at [`set`], then [`lower`].

use crate::contradiction::Contradiction;
use crate::error::JobError;
use crate::options::draft::{ApplyContext, Draft, Open};
use crate::refused_value::RefusedValue;
use crate::value::Value;
use ferrio_spec::{BlockRange, DirectionMix, JobSpec, PatternPart, ZoneSpec};
use ferrio_units::value::parse_integer;
use ferrio_units::{DataDirection, KbBase, PerDirection};

/// Most patterns of a job.
const MOST: usize = 64;

/// Why a text is no list of patterns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// More patterns than a job may have.
    #[error("at most {MOST} patterns")]
    TooMany,
    /// Shares that are more or less than everything.
    #[error("the shares are {sum} % together, not 100")]
    Not100 {
        /// Their sum.
        sum: u32,
    },
    /// Too little is left for patterns without a share.
    #[error("{n_blank} patterns without a share have {rest} % left")]
    NothingLeft {
        /// Number of these patterns.
        n_blank: u32,
        /// What the others leave.
        rest: u32,
    },
    /// An entry that does not have the parts of a pattern.
    #[error("'{0}' is no pattern; give RW/BS/PERCENT, such as randread/4k/70:write/64k/30")]
    Form(String),
    /// A word that is no order.
    #[error("'{0}' is no order of a pattern; allowed: read, write, randread, randwrite")]
    Order(String),
    /// A share out of its bounds.
    #[error("'{share}' is no share of '{entry}'; allowed: 1 to 100")]
    Share { share: String, entry: String },
}

/// Sets `patterns`.
pub(crate) fn set(draft: &mut Draft, value: &Value, context: &mut ApplyContext<'_>) -> Result<(), JobError> {
    let text = value.text()?;
    let parts = list(text, draft.kb_base()).map_err(|why| RefusedValue::Patterns { given: text.to_owned(), why })?;
    if context.readonly && parts.iter().any(|part| part.writes) {
        return Err(JobError::ReadOnly { job: draft.job.name.clone() });
    }
    draft.job.extent.patterns = parts;
    Ok(())
}

/// `RW/BS[/PERCENT]:...`. Patterns without a share divide the rest equally.
fn list(text: &str, kb_base: KbBase) -> Result<Vec<PatternPart>, PatternError> {
    let entries: Vec<(PatternPart, bool)> =
        text.split(':').map(|entry| self::entry(entry, kb_base)).collect::<Result<_, _>>()?;
    if entries.len() > MOST {
        return Err(PatternError::TooMany);
    }
    let sum: u32 = entries.iter().map(|(part, _)| part.percent).sum();
    let n_blank = entries.iter().filter(|(_, has_share)| !has_share).count() as u32;
    let rest = 100_u32.checked_sub(sum).ok_or(PatternError::Not100 { sum })?;
    if n_blank == 0 && rest > 0 {
        return Err(PatternError::Not100 { sum });
    }
    if n_blank > rest {
        return Err(PatternError::NothingLeft { n_blank, rest });
    }
    let mut n_before = 0;
    let with_share = |(part, has_share): (PatternPart, bool)| {
        if has_share {
            return part;
        }
        n_before += 1;
        // The first ones get the remainder.
        let percent = rest / n_blank + u32::from(n_before <= rest % n_blank);
        PatternPart { percent, ..part }
    };
    Ok(entries.into_iter().map(with_share).collect())
}

fn entry(text: &str, kb_base: KbBase) -> Result<(PatternPart, bool), PatternError> {
    let form = || PatternError::Form(text.to_owned());
    let mut words = text.split('/').map(str::trim);
    let (Some(rw), Some(size), share, None) = (words.next(), words.next(), words.next(), words.next()) else {
        return Err(form());
    };
    let (random, writes) = match rw {
        "read" => (false, false),
        "write" => (false, true),
        "randread" => (true, false),
        "randwrite" => (true, true),
        _ => return Err(PatternError::Order(rw.to_owned())),
    };
    let bytes = parse_integer(size, kb_base).ok().and_then(|bytes| u64::try_from(bytes).ok());
    let block_bytes = bytes.filter(|bytes| (1..=u64::from(u32::MAX)).contains(bytes)).ok_or_else(form)?;
    let percent = match share {
        None => 0,
        Some(share) => {
            let number = share.trim_end_matches('%').parse::<u32>().ok().filter(|percent| (1..=100).contains(percent));
            number.ok_or_else(|| PatternError::Share { share: share.to_owned(), entry: text.to_owned() })?
        }
    };
    Ok((PatternPart { random, writes, block_bytes, percent }, share.is_some()))
}

/// Gives a job with several patterns the directions and the block sizes of all of them.
///
/// # Errors
/// It has an option that says the same of the whole job.
pub(crate) fn lower(job: &mut JobSpec, open: &Open) -> Result<(), Contradiction> {
    let parts = &job.extent.patterns;
    if parts.is_empty() {
        return Ok(());
    }
    let pattern = &mut job.pattern;
    // The default, given or not, says nothing.
    let has_block_size = pattern.block_size != JobSpec::default().pattern.block_size;
    let twice = [
        ("rw", pattern.mix != DirectionMix::Read || pattern.random || open.rw_postfix.is_some()),
        ("bssplit", pattern.block_split.iter().any(|(_, shares)| !shares.is_empty())),
        ("bs", open.block_range.iter().any(|(_, range)| range.is_some()) || has_block_size),
        ("bs_unaligned", pattern.bs_unaligned),
        ("bs_is_seq_rand", pattern.bs_is_seq_rand),
    ];
    refuse(&twice)?;
    let [reads, writes] = [false, true].map(|writes| {
        let sizes = || parts.iter().filter(|part| part.writes == writes).map(|part| part.block_bytes);
        sizes().min().zip(sizes().max()).map(|(min_bytes, max_bytes)| BlockRange { min_bytes, max_bytes })
    });
    pattern.mix = match (reads, writes) {
        (Some(_), Some(_)) => DirectionMix::ReadWrite,
        (None, _) => DirectionMix::Write,
        (_, None) => DirectionMix::Read,
    };
    pattern.random = parts.iter().any(|part| part.random);
    pattern.rw_postfix = i64::from(pattern.random);
    if let Some(all) = reads.or(writes) {
        pattern.block_size = PerDirection::all(all);
    }
    for (direction, range) in [(DataDirection::Read, reads), (DataDirection::Write, writes)] {
        if let Some(range) = range {
            pattern.block_size[direction] = range;
        }
    }
    Ok(())
}

/// Refuses what a job with several patterns cannot have.
pub(crate) fn check(job: &JobSpec) -> Result<(), Contradiction> {
    if job.extent.patterns.is_empty() {
        return Ok(());
    }
    let is_set = |rates: &PerDirection<u64>| rates.iter().any(|(_, rate)| *rate > 0);
    let is_counted = |rates: &PerDirection<u32>| rates.iter().any(|(_, rate)| *rate > 0);
    let pace = &job.pace;
    refuse(&[
        ("verify", job.verify.is_some()),
        ("zonemode", job.zones != ZoneSpec::None),
        ("read_iolog", job.replay.is_set()),
        ("sprandom", job.pattern.sprandom.is_some()),
        ("whole_files", job.extent.whole_files),
        ("several files", job.target.nrfiles > 1 || job.target.filenames.len() > 1),
        ("opendir", !job.target.opendirs.is_empty()),
        ("fill_device", job.extent.fill_device),
        ("rate", is_set(&pace.bytes_per_sec) || is_set(&pace.min_bytes_per_sec)),
        ("rate_iops", is_counted(&pace.ios_per_sec) || is_counted(&pace.min_ios_per_sec)),
        ("flow", pace.flow.weight > 0),
    ])
}

fn refuse(options: &[(&'static str, bool)]) -> Result<(), Contradiction> {
    match options.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Contradiction::Patterns { option }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(text: &str) -> Result<Vec<u32>, PatternError> {
        list(text, KbBase::Binary).map(|parts| parts.iter().map(|part| part.percent).collect())
    }

    #[test]
    fn patterns_have_their_shares_or_divide_the_rest() {
        let parts = list("randread/4k/70:write/64k/30", KbBase::Binary).unwrap();
        let of = |random, writes, block_bytes, percent| PatternPart { random, writes, block_bytes, percent };
        assert_eq!(parts, [of(true, false, 4096, 70), of(false, true, 65_536, 30)]);
        assert_eq!(shares("read/4k"), Ok(vec![100]));
        assert_eq!(shares("read/4k:write/4k:randread/8k"), Ok(vec![34, 33, 33]));
        assert_eq!(shares("read/4k/50%:write/4k:randread/8k"), Ok(vec![50, 25, 25]));
    }

    #[test]
    fn other_lists_are_refused_with_the_reason() {
        for (text, why) in [
            ("", "'' is no pattern"),
            ("read", "'read' is no pattern"),
            ("read/4k/50:write/4k/40", "90 % together"),
            ("read/4k/60:write/4k/60", "120 % together"),
            ("read/4k/100:write/4k", "1 patterns without a share have 0 % left"),
            ("rw/4k/100", "'rw' is no order"),
            ("randtrim/4k/100", "'randtrim' is no order"),
            ("read/x/100", "is no pattern"),
            ("read/0/100", "is no pattern"),
            ("read/4k/0", "'0' is no share"),
            ("read/4k/x", "'x' is no share"),
            ("read/4k/50/1:write/4k/50", "is no pattern"),
            ("read:4k/100", "'read' is no pattern"),
        ] {
            let said = list(text, KbBase::Binary).unwrap_err();
            assert!(said.to_string().contains(why), "{text}: {said}");
        }
    }
}

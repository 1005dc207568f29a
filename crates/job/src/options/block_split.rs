//! The value of `bssplit`.
//!
//! Must not know: how sizes are drawn. Start reading at [`set`].
//! Syntax and shares as seen on fio 3.41, which makes something up where this refuses.

use crate::error::JobError;
use crate::message::UserLine;
use crate::options::draft::{ApplyContext, Draft};
use crate::value::Value;
use ferrio_spec::{BlockRange, BlockShare};
use ferrio_units::value::parse_integer;
use ferrio_units::{KbBase, PerDirection};

const MAX_ENTRIES: usize = 64;

/// Sets the given lists; an empty one keeps the previous setting.
pub(crate) fn set(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    let kb_base = draft.kb_base();
    for (direction, text) in lists(value.text()?)?.iter() {
        if text.is_empty() {
            continue;
        }
        let list = list(text, kb_base)?;
        let sizes = || list.iter().map(|share| share.block_bytes);
        if let (Some(min_bytes), Some(max_bytes)) = (sizes().min(), sizes().max()) {
            draft.open.block_range[direction] = Some(BlockRange { min_bytes, max_bytes });
            draft.job.pattern.block_split[direction] = list;
        }
    }
    Ok(())
}

fn failed(what: &str) -> JobError {
    JobError::Said(UserLine::named(what))
}

/// A single list is for all directions; of two lists the second is for writes and trims.
fn lists(text: &str) -> Result<PerDirection<&str>, JobError> {
    let parts: Vec<&str> = text.split(',').collect();
    match parts[..] {
        [all] => Ok(PerDirection([all; 3])),
        [read, write] => Ok(PerDirection([read, write, write])),
        [read, write, trim] => Ok(PerDirection([read, write, trim])),
        _ => Err(failed("split conversion failed")),
    }
}

/// `SIZE[/[PERCENT]]:...`, sorted by share. Entries without a share, or with 0, divide the rest equally.
pub(crate) fn list(text: &str, kb_base: KbBase) -> Result<Vec<BlockShare>, JobError> {
    list_from(1, text, kb_base)
}

/// The same, with sizes of at least `least_bytes`.
pub(crate) fn list_from(least_bytes: u64, text: &str, kb_base: KbBase) -> Result<Vec<BlockShare>, JobError> {
    let parts: Vec<&str> = text.split(':').filter(|part| !part.is_empty()).collect();
    if parts.len() > MAX_ENTRIES {
        return Err(failed("hit max of 64 split entries"));
    }
    let entries: Result<Vec<_>, _> = parts.into_iter().map(|part| entry(part, kb_base, least_bytes)).collect();
    let entries = entries?;
    let sum: u32 = entries.iter().filter_map(|(_, percent)| *percent).sum();
    let n_blank = entries.iter().filter(|(_, percent)| percent.is_none()).count() as u32;
    let blank_percent = match n_blank {
        0 => 0,
        _ => 100_u32.checked_sub(sum).ok_or_else(|| failed("bssplit percentages add to more than 100%"))? / n_blank,
    };
    let share = |(block_bytes, percent): (u64, Option<u32>)| BlockShare {
        block_bytes,
        percent: percent.unwrap_or(blank_percent),
    };
    let mut shares: Vec<BlockShare> = entries.into_iter().map(share).collect();
    shares.sort_by_key(|share| share.percent);
    Ok(shares)
}

fn entry(text: &str, kb_base: KbBase, least_bytes: u64) -> Result<(u64, Option<u32>), JobError> {
    let conversion = || failed("split conversion failed");
    let (size, percent) = text.split_once('/').unwrap_or((text, ""));
    let bytes = parse_integer(size.trim(), kb_base).ok().and_then(|bytes| u64::try_from(bytes).ok());
    let bytes = bytes.filter(|bytes| (least_bytes..=i64::MAX as u64).contains(bytes)).ok_or_else(conversion)?;
    let percent = match percent.trim().trim_end_matches('%') {
        "" => 0,
        number => number.parse::<u32>().map_err(|_| conversion())?.min(100),
    };
    Ok((bytes, (percent > 0).then_some(percent)))
}

#[cfg(test)]
mod tests {
    use crate::lower::{Strictness, lower};
    use crate::testing::draft_of;

    type Slot = (u64, u64, Vec<(u64, u32)>);

    /// Smallest, largest, and shares of each direction.
    fn lowered(options: &[(&str, &str)]) -> Result<[Slot; 3], String> {
        let draft = draft_of(options).map_err(|error| (*error.line()).to_owned())?;
        let pattern = lower(draft, Strictness::default()).expect("nothing contradicts").job.pattern;
        let slot = |index: usize| {
            let (range, shares) = (pattern.block_size.0[index], &pattern.block_split.0[index]);
            (range.min_bytes, range.max_bytes, shares.iter().map(|share| (share.block_bytes, share.percent)).collect())
        };
        Ok([slot(0), slot(1), slot(2)])
    }

    // Expected values: as the sizes in traces of fio 3.41 imply.
    #[test]
    fn shares_are_sorted_and_completed() {
        for (text, expected) in [
            ("4096", vec![(4096, 100)]),
            ("4k/", vec![(4096, 100)]),
            ("4k/50", vec![(4096, 50)]),
            ("4k/50:8k/50:", vec![(4096, 50), (8192, 50)]),
            ("8k/50:4k/50", vec![(8192, 50), (4096, 50)]),
            ("4k/10:64k/50:32k/40", vec![(4096, 10), (32768, 40), (65536, 50)]),
            ("4k/50:1k/:32k/", vec![(1024, 25), (32768, 25), (4096, 50)]),
            ("4k:8k:16k", vec![(4096, 33), (8192, 33), (16384, 33)]),
            ("4k/0:8k/100", vec![(4096, 0), (8192, 100)]),
            ("4k/60:8k/60", vec![(4096, 60), (8192, 60)]),
            ("4k/101", vec![(4096, 100)]),
            ("4k/30%:8k/70%", vec![(4096, 30), (8192, 70)]),
        ] {
            let (min, max) = (expected.iter().map(|e| e.0).min().unwrap(), expected.iter().map(|e| e.0).max().unwrap());
            let slot = (min, max, expected);
            assert_eq!(lowered(&[("bssplit", text)]).unwrap(), [slot.clone(), slot.clone(), slot], "{text}");
        }
    }

    #[test]
    fn directions_have_lists_of_their_own() {
        let one = |bytes| (bytes, bytes, vec![(bytes, 100)]);
        let default = || (4096, 4096, vec![]);
        for (text, expected) in [
            ("16k,8k", [one(16384), one(8192), one(8192)]),
            ("16k,8k,32k", [one(16384), one(8192), one(32768)]),
            ("16k,", [one(16384), default(), default()]),
            (",16k", [default(), one(16384), one(16384)]),
            (",,16k", [default(), default(), one(16384)]),
        ] {
            assert_eq!(lowered(&[("bssplit", text)]).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn it_counts_before_bs_and_the_later_of_it_and_bsrange_does() {
        let split = (4096, 8192, vec![(4096, 50), (8192, 50)]);
        for options in [
            [("bssplit", "4k/50:8k/50"), ("bs", "16k")],
            [("bs", "16k"), ("bssplit", "4k/50:8k/50")],
            [("bsrange", "1k-2k"), ("bssplit", "4k/50:8k/50")],
        ] {
            assert_eq!(lowered(&options).unwrap()[0], split, "{options:?}");
        }
        assert_eq!(lowered(&[("bssplit", "4k:8k"), ("bsrange", "1k-2k")]).unwrap()[0], (1024, 2048, vec![]));
    }

    // The lines are those of fio 3.41, which prints them for the first and the last.
    #[test]
    fn bad_lists_are_refused() {
        let conversion = "fio: split conversion failed";
        let full = "1k/1:".repeat(65);
        for (text, line) in [
            ("abc", conversion),
            ("4k/abc", conversion),
            ("4k/1.5:8k", conversion),
            ("4k/-1:8k", conversion),
            ("0/50:4k", conversion),
            ("-4k", conversion),
            ("4k,8k,16k,32k", conversion),
            (&full, "fio: hit max of 64 split entries"),
            ("4k/60:8k/60:16k", "fio: bssplit percentages add to more than 100%"),
            ("4k/60:8k/60:16k:32k", "fio: bssplit percentages add to more than 100%"),
        ] {
            assert_eq!(lowered(&[("bssplit", text)]).unwrap_err(), line, "{text}");
        }
    }
}

//! Priorities of single I/Os: functions that apply the options, and the checks of their combination.
//!
//! Must not know: how priorities are drawn. Start reading at [`lower`].
//! Syntax and bounds as seen on fio 3.41; hints are newer.

use crate::contradiction::Contradiction;
use crate::error::JobError;
use crate::options::draft::{ApplyContext, Draft};
use crate::options::drafts::{CommandPriorityDraft, Split};
use crate::refused_value::PrioritySplitError;
use crate::value::Value;
use ferrio_spec::{CommandPrioritySpec, PriorityShare};
use ferrio_units::value::parse_integer;
use ferrio_units::{DataDirection, IoPriority, KbBase, PerDirection};

type Context<'a, 'b> = &'a mut ApplyContext<'b>;
type Applied = Result<(), JobError>;

const MAX_CLASS: u16 = 3;
const MAX_LEVEL: u16 = 7;
const MAX_HINT: u16 = 1023;

/// Puts the numbers that were given into their places. The bounds of the rows hold for them.
fn place<T>(value: &Value, places: &mut PerDirection<T>, set: impl Fn(&mut T, i64)) -> Applied {
    for (direction, number) in value.numbers()?.iter() {
        if let Some(number) = number {
            set(&mut places[direction], (*number).max(0));
        }
    }
    Ok(())
}

pub(crate) fn percentage(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    place(value, &mut draft.open.command_priority.percentage, |percent, number| *percent = number as u32)
}

pub(crate) fn class(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    place(value, &mut draft.open.command_priority.priority, |priority, number| priority.class = number as u8)
}

pub(crate) fn level(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    place(value, &mut draft.open.command_priority.priority, |priority, number| priority.level = number as u8)
}

pub(crate) fn hint(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    place(value, &mut draft.open.command_priority.priority, |priority, number| priority.hint = number as u16)
}

/// A single list is for reads and writes; of several the first is for reads, the second for writes.
pub(crate) fn splits(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let text = value.text()?;
    let lists: Vec<&str> = text.split(',').collect();
    if lists.len() > 3 {
        return Err(PrioritySplitError::Number.into());
    }
    let list = |index: usize| split_list(if lists.len() == 1 { text } else { lists[index] });
    draft.open.command_priority.splits = PerDirection([list(0)?, list(1)?, Vec::new()]);
    Ok(())
}

fn split_list(list: &str) -> Result<Vec<Split>, JobError> {
    list.split(':').filter(|entry| !entry.is_empty()).map(split).collect()
}

/// `SIZE[/PERCENT[/CLASS/LEVEL[/HINT]]]`; the default percentage is 0. Numbers above the maximum become the maximum.
fn split(entry: &str) -> Result<Split, JobError> {
    let parts: Vec<&str> = entry.split('/').collect();
    let bytes = parse_integer(parts[0], KbBase::Binary).ok().and_then(|bytes| u64::try_from(bytes).ok());
    let number = |index: usize, max: u16| match parts.get(index).copied().unwrap_or_default().trim_end_matches('%') {
        "" => Ok(0),
        text => text.parse::<u64>().map_or(Err(PrioritySplitError::Number), |n| Ok(n.min(max.into()) as u16)),
    };
    let priority = match parts.len() {
        1 | 2 => None,
        4 | 5 => Some(IoPriority {
            class: number(2, MAX_CLASS)?.max(1) as u8,
            level: number(3, MAX_LEVEL)? as u8,
            hint: number(4, MAX_HINT)?,
        }),
        _ => return Err(PrioritySplitError::Form.into()),
    };
    let block_bytes = bytes.ok_or(PrioritySplitError::Number)?;
    Ok(Split { block_bytes, percent: u32::from(number(1, 100)?), priority })
}

/// The shares of the two kinds of lists, of which a job may have one.
///
/// # Errors
/// It has both, or shares of more than all I/Os.
pub(crate) fn lower(draft: &CommandPriorityDraft, job_name: &str) -> Result<CommandPrioritySpec, Contradiction> {
    let has_splits = draft.splits.iter().any(|(_, splits)| !splits.is_empty());
    if has_splits && draft.percentage.iter().any(|(_, percent)| *percent > 0) {
        return Err(Contradiction::PriorityLists(job_name.to_owned()));
    }
    let mut spec = CommandPrioritySpec::default();
    for direction in [DataDirection::Read, DataDirection::Write] {
        let all = Split { block_bytes: 0, percent: draft.percentage[direction], priority: None };
        let splits = if has_splits { draft.splits[direction].as_slice() } else { std::slice::from_ref(&all) };
        for split in splits.iter().filter(|split| split.percent > 0) {
            let IoPriority { class, level, hint } = split.priority.unwrap_or(draft.priority[direction]);
            let block_bytes = has_splits.then_some(split.block_bytes);
            spec.shares[direction].push(PriorityShare { block_bytes, percent: split.percent, class, level, hint });
        }
        if let Some(bytes) = overfull(&spec.shares[direction]) {
            return Err(Contradiction::PriorityShares(bytes));
        }
    }
    Ok(spec)
}

/// A block size of which the shares are more than 100 percent together.
fn overfull(shares: &[PriorityShare]) -> Option<u64> {
    let mut sums = std::collections::BTreeMap::<u64, u64>::new();
    shares.iter().find_map(|share| {
        let sum = sums.entry(share.block_bytes.unwrap_or(0)).or_default();
        *sum += u64::from(share.percent);
        (*sum > 100).then_some(share.block_bytes.unwrap_or(0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{find_private, set};
    use crate::testing::World;

    type Shares = Vec<(Option<u64>, u32, u8, u8, u16)>;
    type Given<'a> = &'a [(&'a str, &'a str)];

    fn lowered(options: Given<'_>) -> Result<[Shares; 3], String> {
        let mut draft = Draft::new();
        "a".clone_into(&mut draft.job.name);
        for (name, text) in options {
            let mut messages = crate::message::UserMessages::new();
            let mut context = ApplyContext { environment: &World::default(), readonly: false, messages: &mut messages };
            let def = find_private("libaio", name).expect("an option of the engine");
            set::set(&mut draft, def, Some(text), &mut context).map_err(|error| (*error.line()).to_owned())?;
        }
        let tuple = |share: &PriorityShare| (share.block_bytes, share.percent, share.class, share.level, share.hint);
        let spec = lower(&draft.open.command_priority, &draft.job.name).map_err(|error| (*error.line()).to_owned())?;
        Ok(spec.shares.0.map(|shares| shares.iter().map(tuple).collect()))
    }

    #[test]
    fn shares_of_all_sizes() {
        let all = |percent, class, level, hint| vec![(None, percent, class, level, hint)];
        let table: &[(Given<'_>, [Shares; 2])] = &[
            (&[], [vec![], vec![]]),
            (&[("cmdprio", "3")], [vec![], vec![]]),
            (&[("cmdprio_percentage", "30")], [all(30, 1, 0, 0), all(30, 1, 0, 0)]),
            (&[("cmdprio_percentage", "0,50")], [vec![], all(50, 1, 0, 0)]),
            (
                &[("cmdprio_percentage", "20,50"), ("cmdprio", "4,5"), ("cmdprio_class", "2,3"), ("cmdprio_hint", "9")],
                [all(20, 2, 4, 9), all(50, 3, 5, 9)],
            ),
        ];
        for (options, expected) in table {
            let [reads, writes, trims] = lowered(options).unwrap();
            assert_eq!(([reads, writes], trims), (expected.clone(), vec![]), "{options:?}");
        }
    }

    // Expected values: the priorities in fio 3.41's reports on such lists.
    #[test]
    fn shares_by_size() {
        let own = |percent| (Some(4096), percent, 2, 6, 0);
        for (text, expected) in [
            ("4k/50", [vec![own(50)], vec![own(50)]]),
            ("4k/50,", [vec![own(50)], vec![]]),
            (",4k/10", [vec![], vec![own(10)]]),
            ("4k/50,4k/10,4k/1", [vec![own(50)], vec![own(10)]]),
            ("4k", [vec![], vec![]]),
            ("4k/:8k/0", [vec![], vec![]]),
            ("4k/101,", [vec![own(100)], vec![]]),
            ("4k/50%,", [vec![own(50)], vec![]]),
            ("4k/60/9/9,", [vec![(Some(4096), 60, 3, 7, 0)], vec![]]),
            ("4k/10/1/3:8k/99/1/2/2000,", [vec![(Some(4096), 10, 1, 3, 0), (Some(8192), 99, 1, 2, 1023)], vec![]]),
            ("4k/50/2/1:4k/10,", [vec![(Some(4096), 50, 2, 1, 0), own(10)], vec![]]),
        ] {
            let options = [("cmdprio_bssplit", text), ("cmdprio", "6"), ("cmdprio_class", "2")];
            let [reads, writes, _] = lowered(&options).unwrap();
            assert_eq!([reads, writes], expected, "{text}");
        }
    }

    // Expected values: texts as fio 3.41 prints them.
    #[test]
    fn contradictions_are_explained() {
        let both = [("cmdprio_percentage", "20"), ("cmdprio_bssplit", "4k/50")];
        let refused = lowered(&both).unwrap_err();
        assert_eq!(refused, "a: cmdprio_percentage and cmdprio_bssplit options are mutually exclusive");
        for (text, line) in [
            ("4k/60/1/3:4k/60/2/5", "fio: cmdprio_bssplit total percentage for bs: 4096 exceeds 100"),
            ("abc", "fio: split conversion failed\nfio: failed to parse cmdprio_bssplit entry"),
            ("4k/50/2", "fio: invalid cmdprio_bssplit format\nfio: failed to parse cmdprio_bssplit entry"),
            ("4k/x", "fio: split conversion failed\nfio: failed to parse cmdprio_bssplit entry"),
            ("4k/1,,,4k/1", "fio: split conversion failed\nfio: failed to parse cmdprio_bssplit entry"),
        ] {
            assert_eq!(lowered(&[("cmdprio_bssplit", text)]).unwrap_err(), line, "{text}");
        }
        assert!(lowered(&[("cmdprio_class", "0")]).is_err() && lowered(&[("cmdprio_percentage", "101")]).is_err());
    }
}

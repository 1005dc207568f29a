//! Options about depth and submission.
//!
//! Start reading at [`EFFECTS`].

use super::OptionEffect;
use crate::accounts::asked::{Asked, as_asked_if, not, unseen};
use crate::measures::asked::{is_depth_in_vain, mean_depth};
use crate::text;
use ferrio_stats::{BatchCounts, OptionOutcome};
use ferrio_units::humanize::counted;

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::measured(&["iodepth"], |asked| {
        if asked.spec().queue.iodepth == 1 {
            return OptionOutcome::AsAsked;
        }
        beside_pauses(asked).unwrap_or_else(|| asked.unless_found())
    })
    .in_vain_if(depth_in_vain),
    OptionEffect::measured(&["iodepth_batch", "iodepth_batch_complete_min", "iodepth_batch_complete_max"], batches)
        .in_vain_if(batch_in_vain),
    OptionEffect::nowhere(&["iodepth_low"], "the depths at which the job begins to submit again are not recorded")
        .in_vain_if(batch_in_vain),
    OptionEffect::nowhere(&["io_submit_mode"], "the order of single I/Os is not recorded"),
    OptionEffect::nowhere(&["serialize_overlap"], "the order of single I/Os is not recorded").in_vain_if(|asked| {
        let is_one = asked.spec().queue.iodepth == 1 && !asked.spec().submission.offload;
        (asked.is_on() && is_one).then(|| "one I/O is in flight at a time".to_owned())
    }),
    OptionEffect::nowhere(&["cmdprio_percentage", "cmdprio_bssplit"], PRIORITIES),
    OptionEffect::nowhere(&["cmdprio_class", "cmdprio", "cmdprio_hint"], PRIORITIES).in_vain_if(|asked| {
        let has_share = asked.is_given("cmdprio_percentage") || asked.is_given("cmdprio_bssplit");
        (!has_share).then(|| "there is neither cmdprio_percentage nor cmdprio_bssplit".to_owned())
    }),
];

fn batch_in_vain(asked: &Asked<'_, '_>) -> Option<String> {
    let is_inline = asked.job.engine.is_inline() && !asked.spec().submission.offload;
    let depth = asked.spec().queue.iodepth;
    if depth == 1 || is_inline {
        return (!matches!(asked.value, "0" | "1")).then(|| "one I/O is in flight at a time".to_owned());
    }
    // The largest number of I/Os to reap may well be more than there can be.
    let is_beyond =
        asked.name != "iodepth_batch_complete_max" && asked.value.parse::<u32>().is_ok_and(|number| number > depth);
    is_beyond.then(|| format!("no more than iodepth={depth} are in flight"))
}

/// Sizes of batches are counted in ranges (see [`BatchCounts`]): those above the range of a limit exceed it.
fn batches(asked: &Asked<'_, '_>) -> OptionOutcome {
    let (Some(figures), Ok(value)) = (asked.figures(), asked.value.parse::<u32>()) else {
        return unseen("the number of I/Os in a batch depends on other options");
    };
    let counts = if asked.name == "iodepth_batch" { &figures.submit } else { &figures.complete };
    let range_of = |n_ios: u32| {
        let mut one = BatchCounts::default();
        one.record(n_ios);
        one.0.iter().position(|count| *count > 0).unwrap_or(0)
    };
    if counts.n_calls() == 0 {
        return unseen("calls were not counted");
    }
    match asked.name {
        // A job asks without waiting, too, and takes less when it ends.
        "iodepth_batch_complete_min" if value <= 1 => OptionOutcome::AsAsked,
        "iodepth_batch_complete_min" => unseen("calls that wait are counted together with those that do not"),
        _ if value == 0 => OptionOutcome::AsAsked,
        _ => {
            let n_above: u64 = counts.0[range_of(value) + 1..].iter().sum();
            as_asked_if(n_above == 0, || format!("{} larger", counted(n_above, "batch was", "batches were")))
        }
    }
}

/// A depth that is not reached, because the job pauses between its I/Os.
fn beside_pauses(asked: &Asked<'_, '_>) -> Option<OptionOutcome> {
    let pace = &asked.spec().pace;
    asked.figures().filter(|_| pace.pauses.is_set() && !pace.limits_rates())?;
    let (mean, wanted) = (mean_depth(asked.job)?, f64::from(asked.spec().queue.iodepth));
    // A burst of I/Os between two pauses fills the queue, however long the pauses are.
    let pauses = &pace.pauses;
    if pauses.io_time_us == 0 && pauses.n_ios.is_some_and(|n_ios| f64::from(n_ios) >= wanted) {
        return None;
    }
    (mean < wanted / 2.0).then(|| not(format!("{} in flight on average, beside thinktime", text::short(mean))))
}

const PRIORITIES: &str = "the device does not tell which priorities it has minded";

fn depth_in_vain(asked: &Asked<'_, '_>) -> Option<String> {
    let (depth, engine) = (asked.spec().queue.iodepth, asked.job.engine);
    if depth <= 1 || engine.moves_nothing() {
        return None;
    }
    let offloads = asked.spec().submission.offload;
    if engine.is_inline() && !offloads {
        return Some(format!("the engine {} has one I/O in flight", engine.name));
    }
    is_depth_in_vain(asked.job).then(|| format!("without direct=1 the engine {} has one I/O in flight", engine.name))
}

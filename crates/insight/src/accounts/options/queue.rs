//! Options about depth and submission.
//!
//! Start reading at [`EFFECTS`].

use super::OptionEffect;
use crate::accounts::asked::{Asked, not};
use crate::measures::asked::{is_depth_in_vain, mean_depth};
use crate::text;
use ferrio_stats::OptionOutcome;

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::measured(&["iodepth"], |asked| {
        if asked.spec().queue.iodepth == 1 {
            return OptionOutcome::AsAsked;
        }
        beside_pauses(asked).unwrap_or_else(|| asked.unless_found())
    })
    .in_vain_if(depth_in_vain),
    OptionEffect::nowhere(
        &["iodepth_batch", "iodepth_batch_complete_min", "iodepth_batch_complete_max", "iodepth_low"],
        "the report of fio has the sizes of batches; they are not compared with the options",
    )
    .in_vain_if(|asked| {
        let is_inline = asked.job.engine.is_inline() && !asked.spec().submission.offload;
        let depth = asked.spec().queue.iodepth;
        if depth == 1 || is_inline {
            return (!matches!(asked.value, "0" | "1")).then(|| "one I/O is in flight at a time".to_owned());
        }
        // The largest number of I/Os to reap may well be more than there can be.
        let is_beyond =
            asked.name != "iodepth_batch_complete_max" && asked.value.parse::<u32>().is_ok_and(|number| number > depth);
        is_beyond.then(|| format!("no more than iodepth={depth} are in flight"))
    }),
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

/// A depth that is not reached, because the job pauses between its I/Os.
fn beside_pauses(asked: &Asked<'_, '_>) -> Option<OptionOutcome> {
    let pace = &asked.spec().pace;
    asked.figures().filter(|_| pace.pauses.is_set() && !pace.limits_rates())?;
    let (mean, wanted) = (mean_depth(asked.job)?, f64::from(asked.spec().queue.iodepth));
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

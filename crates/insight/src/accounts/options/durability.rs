//! Options about direct I/O, syncs and durability.
//!
//! Start reading at [`EFFECTS`].

use super::OptionEffect;
use crate::accounts::asked::{Asked, as_asked_if, of_asked, unseen};
use crate::audit_input::is_in_memory;
use ferrio_spec::SyncMode;
use ferrio_stats::OptionOutcome;
use ferrio_units::DataDirection;

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::measured(&["direct", "buffered"], direct).in_vain_if(direct_in_vain),
    OptionEffect::measured(&["fsync", "fdatasync"], syncs)
        .in_vain_if(|asked| without_writes(asked).or_else(|| sync_of_no_use(asked))),
    OptionEffect::measured(&["expect"], unless_contradicted),
    OptionEffect::measured(&["end_fsync", "fsync_on_close", "end_syncfs"], unless_contradicted)
        .in_vain_if(without_writes),
    OptionEffect::measured(&["sync"], |asked| {
        if asked.spec().durability.sync == SyncMode::None {
            return OptionOutcome::AsAsked;
        }
        asked.unless_found()
    })
    .in_vain_if(without_writes),
    OptionEffect::nowhere(
        &["sync_file_range", "write_barrier", "create_fsync", "atomic", "write_hint"],
        "the kernel does not tell whether it has minded it",
    )
    .in_vain_if(|asked| {
        let is_barrier = asked.name == "write_barrier" && asked.value != "0";
        without_writes(asked).or_else(|| is_barrier.then(|| "no engine here has barriers".to_owned()))
    }),
    OptionEffect::measured(&["overwrite"], unless_contradicted).in_vain_if(without_writes),
];

fn unless_contradicted(asked: &Asked<'_, '_>) -> OptionOutcome {
    asked.unless_found()
}

/// The job neither writes nor trims.
pub(super) fn without_writes(asked: &Asked<'_, '_>) -> Option<String> {
    let writes = asked.job.does(DataDirection::Write) || asked.job.does(DataDirection::Trim);
    let is_other =
        asked.spec().replay.is_set() || asked.job.engine.moves_nothing() || !asked.spec().extent.patterns.is_empty();
    (asked.is_on() && asked.value != "none" && !writes && !is_other).then(|| "the job only reads".to_owned())
}

/// What the sync waits for has been waited for.
fn sync_of_no_use(asked: &Asked<'_, '_>) -> Option<String> {
    let durability = &asked.spec().durability;
    let (fsync, fdatasync) = (durability.fsync_blocks, durability.fdatasync_blocks);
    if asked.name != "fdatasync" || fdatasync == 0 {
        return None;
    }
    match durability.sync {
        SyncMode::None if fsync > 0 && fdatasync % fsync == 0 => {
            Some(format!("fsync={fsync} syncs at the same writes, in its place"))
        }
        SyncMode::None => None,
        _ => Some("sync makes each write wait until it is durable".to_owned()),
    }
}

fn is_direct(asked: &Asked<'_, '_>) -> bool {
    asked.spec().durability.direct
}

fn direct_in_vain(asked: &Asked<'_, '_>) -> Option<String> {
    // `buffered` is the opposite of `direct`: the later one counts.
    if let Some((other, value)) = asked.overruled_by(&["direct", "buffered"])
        && asked.is_on() == !matches!(value, "0" | "false")
    {
        return Some(format!("{other}={value} behind it counts"));
    }
    if !is_direct(asked) {
        return None;
    }
    let targets = asked.job.engine.targets;
    if asked.job.engine.forms.is_always_buffered {
        return Some(format!("the engine {} moves data through the page cache", asked.job.engine.name));
    }
    (!targets.are_opened_by_run() && !targets.are_passthrough())
        .then(|| format!("the engine {} opens no files", asked.job.engine.name))
}

fn direct(asked: &Asked<'_, '_>) -> OptionOutcome {
    if !is_direct(asked) {
        return OptionOutcome::AsAsked;
    }
    if !asked.job.places.is_empty() && asked.job.places.iter().all(is_in_memory) {
        return OptionOutcome::NotAsAsked("the files are in memory".to_owned());
    }
    if asked.job.places.is_empty() {
        return match asked.found() {
            Some(found) => crate::accounts::asked::by_finding(found),
            None => unseen("nothing is known of the files"),
        };
    }
    asked.unless_found()
}

fn syncs(asked: &Asked<'_, '_>) -> OptionOutcome {
    let durability = &asked.spec().durability;
    let every = if asked.name == "fsync" { durability.fsync_blocks } else { durability.fdatasync_blocks };
    if every == 0 {
        return OptionOutcome::AsAsked;
    }
    if let Some(found) = asked.found() {
        return crate::accounts::asked::by_finding(found);
    }
    let is_alone = durability.fsync_blocks == 0 || durability.fdatasync_blocks == 0;
    if !is_alone
        || durability.sync_file_range.is_some()
        || asked.spec().verify.is_some()
        || asked.spec().replay.is_set()
    {
        return unseen("syncs of several kinds are counted together");
    }
    // Every sync stands for so many writes of a clone; the last ones may have none.
    let n_writes = asked.n_writes();
    let done = asked.figures().map_or(0, |figures| figures.n_syncs_issued.max(figures.sync.n_samples));
    let least = (n_writes / u64::from(every))
        .saturating_sub(asked.n_clones().saturating_mul(u64::from(asked.spec().queue.iodepth) + 1));
    as_asked_if(done >= least, || format!("{} syncs", of_asked(done as f64, n_writes as f64 / f64::from(every), "")))
}

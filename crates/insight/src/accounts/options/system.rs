//! Options that ask the kernel for something. A job that it refuses does not begin.
//!
//! Start reading at [`EFFECTS`].

use super::OptionEffect;
use super::structure::without_group;
use crate::accounts::asked::{Asked, not, unseen};
use ferrio_stats::OptionOutcome;
use ferrio_units::DataDirection;

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::measured(
        &["cpus_allowed", "cpumask", "numa_cpu_nodes", "numa_mem_policy", "nice", "uid", "gid", "cgroup"],
        |_| OptionOutcome::AsAsked,
    ),
    OptionEffect::measured(&["cgroup_weight"], |_| OptionOutcome::AsAsked).in_vain_if(without_group),
    OptionEffect::measured(&["cpus_allowed_policy"], |_| OptionOutcome::AsAsked)
        .in_vain_if(|asked| asked.spec().worker.cpus_allowed.is_none().then(|| "there is no cpus_allowed".to_owned())),
    OptionEffect::measured(&["prio", "prioclass"], priority),
    OptionEffect::nowhere(&["priohint"], "the device does not tell whether it has minded it"),
    OptionEffect::measured(&["ioscheduler"], scheduler),
    OptionEffect::nowhere(&["fadvise_hint"], UNTOLD).in_vain_if(|asked| {
        // The hint 1 is the default.
        let is_chosen = !matches!(asked.value, "0" | "1");
        (asked.spec().durability.direct && is_chosen).then(|| "direct=1 passes by the page cache".to_owned())
    }),
    OptionEffect::measured(&["invalidate"], invalidation),
    OptionEffect::nowhere(&["fallocate", "lockfile"], UNTOLD),
    OptionEffect::measured(&["allow_mounted_write"], |_| OptionOutcome::AsAsked),
    OptionEffect::measured(&["exec_prerun", "exec_postrun"], |_| OptionOutcome::AsAsked),
    OptionEffect::nowhere(&["gpu_dev_id"], "memory of GPUs is not looked at"),
];

const UNTOLD: &str = "the kernel does not tell whether it has minded it";

/// A job alone whose reads all came from storage has read from no cache.
fn invalidation(asked: &Asked<'_, '_>) -> OptionOutcome {
    const MOST_CACHED: f64 = 0.02;
    let read = asked.of(DataDirection::Read).map_or(0, |figures| figures.bytes);
    let is_alone = asked.case.jobs.len() == 1 && read > 0 && asked.job.is_buffered() && asked.is_on();
    let charged = asked.case.charged().map_or(0, |charged| charged.read_bytes);
    let came_from_storage = charged as f64 >= read as f64 * (1.0 - MOST_CACHED);
    if is_alone && came_from_storage { OptionOutcome::AsAsked } else { unseen(UNTOLD) }
}

/// Schedulers that know priorities.
const WITH_PRIORITIES: [&str; 2] = ["mq-deadline", "bfq"];

/// The schedulers of the devices below the job's files.
fn schedulers<'c>(asked: &'c Asked<'_, '_>) -> Vec<&'c str> {
    let devices = asked.job.places.iter().filter_map(|place| asked.case.device(place.device.as_deref()?));
    devices.filter_map(|device| device.scheduler.as_deref()).collect()
}

fn priority(asked: &Asked<'_, '_>) -> OptionOutcome {
    let schedulers = schedulers(asked);
    match schedulers.iter().find(|name| !WITH_PRIORITIES.contains(name)) {
        _ if schedulers.is_empty() => unseen("the scheduler of the device is not known"),
        Some(name) => not(format!("the scheduler {name} knows no priorities")),
        None => OptionOutcome::AsAsked,
    }
}

fn scheduler(asked: &Asked<'_, '_>) -> OptionOutcome {
    let schedulers = schedulers(asked);
    match schedulers.iter().find(|name| **name != asked.value) {
        _ if schedulers.is_empty() => unseen("the scheduler of the device is not known"),
        // The facts are those before the job, which sets it.
        Some(_) => unseen("the scheduler is known from before the job"),
        None => OptionOutcome::AsAsked,
    }
}

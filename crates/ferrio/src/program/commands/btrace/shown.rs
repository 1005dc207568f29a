//! What a trace shows, as JSON.
//!
//! Must not know: job files. Start reading at [`document`].

use ferrio_units::DataDirection;
use ferrio_workload::replay::{DirectionProfile, ProfiledTask, TraceProfile};
use serde_json::{Map, Value, json};

pub(super) fn document(profile: &TraceProfile) -> Value {
    let device = |(major, minor): &(u32, u32)| format!("{major}:{minor}");
    json!({
        "devices": profile.devices.iter().map(device).collect::<Vec<_>>(),
        "n_events": profile.n_events,
        "n_completed": profile.n_completed,
        "n_impossible": profile.n_impossible,
        "n_not_followed": profile.n_not_followed,
        "n_cut_traces": profile.n_cut,
        "processes": profile.tasks.iter().map(process).collect::<Vec<_>>(),
    })
}

fn process(task: &ProfiledTask) -> Value {
    let names = [("read", DataDirection::Read), ("write", DataDirection::Write), ("trim", DataDirection::Trim)];
    let mut object = json!({
        "process_id": task.process_id,
        "name": task.name,
        "n_flushes": task.n_flushes,
        "max_depth": task.max_depth,
        "start_bytes": task.start_bytes,
        "end_bytes": task.end_bytes,
        "first_ns": task.first_ns,
        "last_ns": task.last_ns,
        "idle_ns": task.idle_ns,
        "n_idle": task.n_idle,
    });
    for (name, which) in names {
        object[name] = direction(&task.directions[which]);
    }
    object
}

fn direction(of: &DirectionProfile) -> Value {
    let lengths: Map<String, Value> = of.lengths.iter().map(|(bytes, n)| (bytes.to_string(), (*n).into())).collect();
    json!({
        "n_ios": of.n_ios,
        "bytes": of.bytes,
        "n_sequential": of.n_sequential,
        "n_merged": of.n_merged,
        "n_by_length": lengths,
    })
}

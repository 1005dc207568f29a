//! Lines of a worker about itself (`--debug`): its memory, its files.
//!
//! Must not know: where lines go; lines about single I/Os (see [`crate::worker::hooks::debug_trace`]). Start reading at
//! [`tell_memory`].

use super::WorkerCore;
use crate::link::trace::TraceGroup;
use crate::plan::WorkerPlan;
use ferrio_workload::sprandom::{PassOutline, RegionOutline};

/// Sends lines about the plan of `sprandom`'s first pass.
pub(crate) fn trace_sprandom(plan: &WorkerPlan, core: &WorkerCore<'_>) {
    let Some(spec) = plan.spec.pattern.sprandom else { return };
    if !core.context.tracer.has(TraceGroup::SpRandom) {
        return;
    }
    let block_bytes = plan.write_block_bytes();
    let tell = |text: String| core.context.tracer.line(TraceGroup::SpRandom, || text);
    for index in 0..core.files.n_files() {
        let file = core.files.plan(index);
        let outline = PassOutline::new(&spec, file.length_bytes / block_bytes.max(1), block_bytes);
        let PassOutline { n_blocks, n_overwrites, n_cached, oldest_valid, n_regions, .. } = outline;
        let pass_bytes = spec.pass_bytes(file.length_bytes, block_bytes);
        tell("Summary:".to_owned());
        tell(format!("logical_size: {}", file.length_bytes));
        tell(format!("physical_size: {pass_bytes}"));
        tell(format!("op: {}", spec.over_provisioning));
        tell(format!("region_size: {}", pass_bytes / n_regions.max(1)));
        tell(format!("num_regions: {n_regions}"));
        tell(format!("cache_size: {}", spec.cache_bytes));
        let model = format!("over-provisioning={}, oldest valid={oldest_valid:.4}", spec.over_provisioning);
        let counts = format!("blocks={n_blocks}, overwrites={n_overwrites}, cached={n_cached}, regions={n_regions}");
        tell(format!("{}: {counts}, {model}", file.name));
        for (region, RegionOutline { n_writes, n_overwrites }) in outline.regions().enumerate() {
            let counts = format!("writes={n_writes}, overwrites={n_overwrites}");
            tell(format!("{}: region {region}: {counts}", file.name));
        }
    }
}

/// Sends lines about the buffers, and the part of each unit.
pub(crate) fn tell_memory(plan: &WorkerPlan, core: &WorkerCore<'_>) {
    if !core.context.tracer.has(TraceGroup::Mem) {
        return;
    }
    let iodepth = core.queue.iodepth;
    let unit = |index: u32| std::ptr::from_ref(&core.slots.get(index).unit);
    let buffer = |index: u32| {
        let mut arena = core.buffers.arena.borrow_mut();
        arena.slice_mut(index as usize * core.buffers.block_bytes, core.buffers.block_bytes).as_ptr()
    };
    let all_bytes = core.buffers.block_bytes.saturating_mul(iodepth as usize);
    core.context.tracer.line(TraceGroup::Mem, || format!("Alloc {all_bytes} for buffers"));
    core.context.tracer.line(TraceGroup::Mem, || format!("{} {all_bytes} {:p}", memory_name(plan), buffer(0)));
    for index in 0..iodepth {
        core.context.tracer.line(TraceGroup::Mem, || format!("io_u alloc {:p}, index {index}", unit(index)));
        core.context.tracer.line(TraceGroup::Mem, || format!("io_u {:p}, mem {:p}", unit(index), buffer(index)));
    }
}

/// Sends lines before the buffers are freed.
pub(crate) fn tell_memory_end(plan: &WorkerPlan, core: &WorkerCore<'_>) {
    core.context.tracer.line(TraceGroup::Mem, || {
        let mut arena = core.buffers.arena.borrow_mut();
        format!("free {} mem {:p}", memory_name(plan), arena.slice_mut(0, core.buffers.block_bytes).as_ptr())
    });
}

fn memory_name(plan: &WorkerPlan) -> &'static str {
    plan.spec.buffers.memory.name()
}

/// Sends the line for a file whose cache is dropped when it is opened.
pub(crate) fn tell_opened(core: &WorkerCore<'_>, file_index: u32) {
    let file = core.files.plan(file_index);
    core.context.tracer.line(TraceGroup::File, || format!("fd open {}", file.name));
    if core.rules.files.drops_cache {
        core.context.tracer.line(TraceGroup::Io, || {
            format!("declare unneeded cache {}: {}/{}", file.name, file.start_bytes, file.length_bytes)
        });
    }
}

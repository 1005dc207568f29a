//! Jobs as fio's lines before a run show them.

use ferrio_formats::start::StartJob;
use ferrio_run::JobSummary;
use ferrio_spec::{DirectionMix, JobSpec, engines};

/// The jobs of a run as their start-up lines show them.
pub fn start_jobs(jobs: &[JobSummary]) -> Vec<StartJob> {
    jobs.iter().map(start_job).collect()
}

fn start_job(job: &JobSummary) -> StartJob {
    let spec = &job.spec;
    StartJob {
        name: spec.name.clone(),
        group_index: job.group_index,
        rw: rw_name(spec).to_owned(),
        block_size: ferrio_units::PerDirection(
            spec.pattern.block_size.0.map(|range| (range.min_bytes, range.max_bytes)),
        ),
        bs_is_seq_rand: spec.pattern.bs_is_seq_rand,
        engine: spec.engine.name.clone(),
        iodepth: spec.queue.iodepth,
        does_io: !engines::by_name(&spec.engine.name).is_some_and(engines::EngineDef::moves_nothing),
        has_clones: spec.numjobs > 1,
        kb_base: spec.reporting.kb_base,
        significant_figures: spec.reporting.significant_figures,
    }
}

fn rw_name(spec: &JobSpec) -> &'static str {
    match (spec.pattern.mix, spec.pattern.random) {
        (DirectionMix::Read, false) => "read",
        (DirectionMix::Read, true) => "randread",
        (DirectionMix::Write, false) => "write",
        (DirectionMix::Write, true) => "randwrite",
        (DirectionMix::Trim, false) => "trim",
        (DirectionMix::Trim, true) => "randtrim",
        (DirectionMix::ReadWrite, false) => "rw",
        (DirectionMix::ReadWrite, true) => "randrw",
        (DirectionMix::TrimWrite, false) => "trimwrite",
        (DirectionMix::TrimWrite, true) => "randtrimwrite",
    }
}

//! Jobs whose I/Os are turns of work that move no data.
//!
//! Must not know: the work of a turn. Start reading at [`of_job`].

use ferrio_engine::{EngineKind, EngineOptions, EngineWork, Rhythm};
use ferrio_spec::{Compatibility, ExtentSpec, JobSpec, PaceSpec, PauseSpec};

/// The rhythm of a job's turns; `None`: the job does I/O. Options about data are reset: as in fio, they mean nothing to
/// a job without I/O, and checks and loops need not know about it. Options that the engine refuses are reported when it
/// is made; until then such a job counts as one with I/O.
pub(super) fn of_job(engine: &EngineKind, job: &mut JobSpec, compatibility: Compatibility) -> Option<Rhythm> {
    let EngineWork::Turns(prepare) = engine.work else { return None };
    let options = EngineOptions::new(job.engine.options.clone()).of_run(compatibility);
    let rhythm = prepare(&options).map(|prepared| prepared.rhythm()).ok();
    let plain = JobSpec::default();
    job.layout = plain.layout;
    job.pattern = plain.pattern;
    job.zones = plain.zones;
    job.submission = plain.submission;
    job.durability = plain.durability;
    job.verify = plain.verify;
    job.write_iolog = plain.write_iolog;
    job.replay = plain.replay;
    job.extent = ExtentSpec { number_ios: job.extent.number_ios, ..plain.extent };
    let pauses = PauseSpec { pause_us: rhythm.map_or(0, |rhythm| rhythm.pause_us), ..PauseSpec::default() };
    job.pace = PaceSpec { flow: job.pace.flow, pauses, ..plain.pace };
    rhythm
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::engines::options::cpuio::CPULOAD;
    use ferrio_spec::{DirectionMix, EngineSpec};

    fn job(engine: &str) -> JobSpec {
        let mut job =
            JobSpec { engine: EngineSpec { name: engine.to_owned(), ..EngineSpec::default() }, ..JobSpec::default() };
        job.engine.options.set(&CPULOAD, 25);
        (job.pattern.mix, job.pattern.random) = (DirectionMix::Write, true);
        (job.pace.pauses.pause_us, job.extent.number_ios) = (7, 3);
        job
    }

    #[test]
    fn what_moves_no_data_has_the_pauses_of_its_engine_and_no_order() {
        let mut job = job("cpuio");
        let rhythm = of_job(&ferrio_engine::find("cpuio").unwrap(), &mut job, Compatibility::Fio).unwrap();
        assert_eq!((rhythm.pause_us, job.pace.pauses.pause_us), (150_000, 150_000));
        assert_eq!((job.pattern.mix, job.pattern.random), (DirectionMix::Read, false));
        assert_eq!(job.extent.number_ios, 3);
    }

    #[test]
    fn other_jobs_are_as_they_were() {
        let (mut changed, engine) = (job("null"), ferrio_engine::find("null").unwrap());
        assert_eq!(of_job(&engine, &mut changed, Compatibility::Fio), None);
        assert_eq!(changed, job("null"));
    }
}

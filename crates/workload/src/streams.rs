//! The stream for a plan: which kind of zones it has, and whether it has a pace.
//!
//! Must not know: how the streams work. Start reading at [`zoned`] and [`paced`].

use crate::io_stream::IoStream;
use crate::pace::Arrivals;
use crate::paced::PacedStream;
use crate::plain::PlainStream;
use crate::plan::{WorkloadError, WorkloadPlan};
use crate::stream::Stream;
use crate::strided::Strided;
use crate::whole_files::WholeFiles;
use crate::zoning::sequential::SequentialZones;
use crate::zoning::{Unzoned, Zoning};
use ferrio_spec::PaceSpec;

/// The stream of a plan with zones.
pub(crate) fn zoned(plan: WorkloadPlan) -> Result<Box<dyn IoStream>, WorkloadError> {
    of_zones(plan, None)
}

/// The stream of a plan with rates or pauses.
pub(crate) fn paced(plan: WorkloadPlan, pace: &PaceSpec) -> Result<Box<dyn IoStream>, WorkloadError> {
    if plan.whole_files {
        let arrivals = Arrivals::of_job(pace, &plan);
        return Ok(Box::new(PacedStream::new(WholeFiles::steered(plan)?, arrivals)));
    }
    match PlainStream::new(&plan)? {
        Some(stream) => Ok(Box::new(PacedStream::new(stream, Arrivals::of_job(pace, &plan)))),
        None => of_zones(plan, Some(pace)),
    }
}

fn of_zones(mut plan: WorkloadPlan, pace: Option<&PaceSpec>) -> Result<Box<dyn IoStream>, WorkloadError> {
    if let Some(spec) = plan.strided {
        let zones = Strided::new(spec, plan.time_based, plan.compatibility);
        return of_pace(plan, pace, zones);
    }
    match plan.sequential.take() {
        Some(sequential) => {
            let zones = SequentialZones::new(&sequential, &plan);
            of_pace(plan, pace, zones)
        }
        None => of_pace(plan, pace, Unzoned),
    }
}

fn of_pace<Z: Zoning + Clone + 'static>(
    plan: WorkloadPlan,
    pace: Option<&PaceSpec>,
    zones: Z,
) -> Result<Box<dyn IoStream>, WorkloadError> {
    Ok(match pace {
        Some(pace) => {
            let arrivals = Arrivals::of_job(pace, &plan);
            Box::new(PacedStream::new(Stream::steered(plan, zones)?, arrivals))
        }
        None => Box::new(Stream::new(plan, zones)?),
    })
}

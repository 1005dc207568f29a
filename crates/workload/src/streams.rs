//! The stream for a plan: which kind of zones it has, and whether it has a pace.
//!
//! Must not know: how the streams work. Start reading at [`zoned`] and [`paced`].

use crate::common::CommonStream;
use crate::gathered::MultiRangeTrims;
use crate::io_stream::IoStream;
use crate::pace::Arrivals;
use crate::paced::PacedStream;
use crate::parted::Parted;
use crate::plain::PlainStream;
use crate::plan::{WorkForm, WorkLimits, WorkloadError, WorkloadPlan};
use crate::stream::Stream;
use crate::strided::Strided;
use crate::whole_files::WholeFiles;
use crate::zoning::sequential::SequentialZones;
use crate::zoning::{Unzoned, Zoning};
use ferrio_spec::PaceSpec;

pub(crate) fn zoned(plan: WorkloadPlan) -> Result<Box<dyn IoStream>, WorkloadError> {
    of_zones(plan, None)
}

/// The stream of a plan with rates or pauses.
pub(crate) fn paced(plan: WorkloadPlan, pace: &PaceSpec) -> Result<Box<dyn IoStream>, WorkloadError> {
    match &plan.form {
        WorkForm::Blocks => {}
        WorkForm::WholeFiles => {
            let arrivals = Arrivals::of_job(pace, &plan);
            return Ok(Box::new(PacedStream::new(WholeFiles::steered(plan)?, arrivals)));
        }
        WorkForm::Common(position) => {
            let arrivals = Arrivals::of_job(pace, &plan);
            return Ok(Box::new(PacedStream::new(CommonStream::new(&plan, position.clone()), arrivals)));
        }
        WorkForm::Patterns(parts) => {
            return Ok(Box::new(PacedStream::new(Parted::new(&plan, parts)?, Arrivals::of_job(pace, &plan))));
        }
    }
    if plan.limits.ranges_per_trim > 1 {
        let (n_most, limit_ios, arrivals) =
            (plan.limits.ranges_per_trim, plan.limits.ios, Arrivals::of_job(pace, &plan));
        let stream = Stream::steered(without_limit(plan), Unzoned)?;
        return Ok(Box::new(PacedStream::new(MultiRangeTrims::new(stream, n_most, limit_ios), arrivals)));
    }
    match PlainStream::new(&plan)? {
        Some(stream) => Ok(Box::new(PacedStream::new(stream, Arrivals::of_job(pace, &plan)))),
        None => of_zones(plan, Some(pace)),
    }
}

/// The stream of a plan whose trims have several ranges; it has no zones.
pub(crate) fn gathered(plan: WorkloadPlan) -> Result<Box<dyn IoStream>, WorkloadError> {
    let (n_most, limit_ios) = (plan.limits.ranges_per_trim, plan.limits.ios);
    Ok(Box::new(MultiRangeTrims::new(Stream::new(without_limit(plan), Unzoned)?, n_most, limit_ios)))
}

/// The limit of I/Os counts trims, not their ranges.
fn without_limit(plan: WorkloadPlan) -> WorkloadPlan {
    WorkloadPlan { limits: WorkLimits { ios: u64::MAX, ..plan.limits }, ..plan }
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

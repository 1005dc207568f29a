//! The common interface of all streams that are not plain or common enough to have a variant of their own: with zones
//! or a pace.
//!
//! Must not know: what the streams do. Start reading at [`IoSource`].

use crate::pace::Arrivals;
use crate::paced::{Pace, PacedStream, Unpaced};
use crate::plain::PlainStream;
use crate::plan::{WorkloadError, WorkloadPlan};
use crate::stream::{IssuedTotals, Next, Stream};
use crate::strided::Strided;
use crate::workload::OffsetState;
use crate::zoning::sequential::SequentialZones;
use crate::zoning::{CompletedIo, Unzoned, ZoneRepair, Zoning, ZoningFailure};
use ferrio_spec::PaceSpec;
use std::time::Duration;

/// The operations of a stream, whatever its zones and its pace.
pub(crate) trait IoSource: std::fmt::Debug {
    /// The next I/O, or what has to happen before it.
    fn next(&mut self) -> Next;

    /// Starts the next pass over all files.
    fn start_pass(&mut self);

    /// Amounts issued in all passes.
    fn progress(&self) -> IssuedTotals;

    /// State of the generator of the offsets.
    fn offset_state(&self) -> OffsetState;

    /// A stream of the same I/Os from here on, without the pace.
    fn unpaced(&self) -> Box<dyn IoSource>;

    /// The part that keeps the pace, if there is one.
    fn pace(&mut self) -> Option<&mut dyn Pace>;

    /// The time at which the rate wanted the last I/O to start, if its direction has a rate.
    fn intended_ns(&self) -> Option<u64>;

    /// A file was closed: none of its I/Os is in flight.
    fn closed(&mut self, file_index: u32);

    /// Start of the block that did not fit when a file ended.
    fn missed_bytes(&self) -> Option<u64>;

    /// An I/O is done.
    fn completed(&mut self, io: &CompletedIo<'_>) -> Option<ZoneRepair>;

    /// No I/O is in flight.
    fn drained(&mut self);

    /// Sleeps until another job may have released a zone, or for `limit`.
    fn wait_for_zone(&mut self, limit: Duration);

    /// Number of zones that were reset to be written again.
    fn n_zone_resets(&self) -> u64;

    /// Why the zones do not let the stream continue.
    fn zoning_failure(&self) -> Option<ZoningFailure>;
}

/// Methods that a stream around another one passes on to it.
macro_rules! forward_to {
    ($stream:ident) => {
        fn start_pass(&mut self) {
            self.$stream.start_pass();
        }

        fn progress(&self) -> $crate::stream::IssuedTotals {
            self.$stream.progress()
        }

        fn offset_state(&self) -> $crate::workload::OffsetState {
            self.$stream.offset_state()
        }

        fn unpaced(&self) -> Box<dyn $crate::source::IoSource> {
            self.$stream.unpaced()
        }

        fn closed(&mut self, file_index: u32) {
            self.$stream.closed(file_index);
        }

        fn missed_bytes(&self) -> Option<u64> {
            self.$stream.missed_bytes()
        }

        fn completed(&mut self, io: &$crate::zoning::CompletedIo<'_>) -> Option<$crate::zoning::ZoneRepair> {
            self.$stream.completed(io)
        }

        fn drained(&mut self) {
            self.$stream.drained();
        }

        fn wait_for_zone(&mut self, limit: std::time::Duration) {
            self.$stream.wait_for_zone(limit);
        }

        fn n_zone_resets(&self) -> u64 {
            self.$stream.n_zone_resets()
        }

        fn zoning_failure(&self) -> Option<$crate::zoning::ZoningFailure> {
            self.$stream.zoning_failure()
        }
    };
}

pub(crate) use forward_to;

impl<Z: Zoning + Clone + 'static> IoSource for Stream<Z> {
    fn next(&mut self) -> Next {
        Self::next(self)
    }

    fn start_pass(&mut self) {
        Self::start_pass(self);
    }

    fn progress(&self) -> IssuedTotals {
        Self::progress(self)
    }

    fn offset_state(&self) -> OffsetState {
        Self::offset_state(self)
    }

    fn unpaced(&self) -> Box<dyn IoSource> {
        Box::new(self.clone())
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        None
    }

    fn intended_ns(&self) -> Option<u64> {
        None
    }

    fn closed(&mut self, file_index: u32) {
        Self::closed(self, file_index);
    }

    fn missed_bytes(&self) -> Option<u64> {
        Self::missed_bytes(self)
    }

    fn completed(&mut self, io: &CompletedIo<'_>) -> Option<ZoneRepair> {
        Self::completed(self, io)
    }

    fn drained(&mut self) {
        Self::drained(self);
    }

    fn wait_for_zone(&mut self, limit: Duration) {
        Self::wait_for_zone(self, limit);
    }

    fn n_zone_resets(&self) -> u64 {
        self.zones().n_resets()
    }

    fn zoning_failure(&self) -> Option<ZoningFailure> {
        self.zones().failure()
    }
}

impl IoSource for PlainStream {
    fn next(&mut self) -> Next {
        Self::next(self)
    }

    fn missed_bytes(&self) -> Option<u64> {
        Self::missed_bytes(self)
    }

    fn start_pass(&mut self) {
        Self::start_pass(self);
    }

    fn progress(&self) -> IssuedTotals {
        IssuedTotals {
            last_was_sync: false,
            issued_bytes: self.issued_bytes(),
            n_issued: self.n_issued(),
            n_writes_issued: self.n_writes_issued(),
            is_spent: self.is_spent(),
        }
    }

    fn offset_state(&self) -> OffsetState {
        Self::offset_state(self)
    }

    fn unpaced(&self) -> Box<dyn IoSource> {
        Box::new(self.clone())
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        None
    }

    fn intended_ns(&self) -> Option<u64> {
        None
    }

    /// A plain stream has one file and no zones, so these events change nothing.
    fn closed(&mut self, _: u32) {}

    fn completed(&mut self, _: &CompletedIo<'_>) -> Option<ZoneRepair> {
        None
    }

    fn drained(&mut self) {}

    fn wait_for_zone(&mut self, _: Duration) {}

    fn n_zone_resets(&self) -> u64 {
        0
    }

    fn zoning_failure(&self) -> Option<ZoningFailure> {
        None
    }
}

impl<S: IoSource + Unpaced> IoSource for PacedStream<S> {
    forward_to!(stream);

    fn next(&mut self) -> Next {
        Self::next(self)
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        Some(self)
    }

    fn intended_ns(&self) -> Option<u64> {
        Self::intended_ns(self)
    }
}

/// The stream of a plan with zones.
pub(crate) fn zoned(plan: WorkloadPlan) -> Result<Box<dyn IoSource>, WorkloadError> {
    of_zones(plan, None)
}

/// The stream of a plan with rates or pauses.
pub(crate) fn paced(plan: WorkloadPlan, pace: &PaceSpec) -> Result<Box<dyn IoSource>, WorkloadError> {
    match PlainStream::new(&plan)? {
        Some(stream) => Ok(Box::new(PacedStream::new(stream, Arrivals::of_job(pace, &plan)))),
        None => of_zones(plan, Some(pace)),
    }
}

fn of_zones(mut plan: WorkloadPlan, pace: Option<&PaceSpec>) -> Result<Box<dyn IoSource>, WorkloadError> {
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
) -> Result<Box<dyn IoSource>, WorkloadError> {
    Ok(match pace {
        Some(pace) => {
            let arrivals = Arrivals::of_job(pace, &plan);
            Box::new(PacedStream::new(Stream::steered(plan, zones)?, arrivals))
        }
        None => Box::new(Stream::new(plan, zones)?),
    })
}

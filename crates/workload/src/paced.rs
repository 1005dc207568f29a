//! The stream of a job with rates or pauses. The loop must tell it the time before each I/O.
//!
//! It is a separate type, so that other streams need no time. Must not know: how time passes.
//! Start reading at [`PacedStream::next`], then [`PacedStream::turn`].

use crate::io_stream::{IoStream, JobStream};
use crate::next::{Next, NextIo};
use crate::pace::{Arrivals, Pace};
use crate::plain::PlainStream;
use crate::stream::Stream;
use crate::zoning::Zoning;
use ferrio_units::{DataDirection, PerDirection};

/// A stream of I/Os that does not know when they are due.
pub(crate) trait Unpaced: JobStream {
    /// Sets the time and the due times of the directions; a mix uses them to prefer a direction that is behind.
    fn steer(&mut self, now_ns: u64, dues_ns: impl FnOnce() -> PerDirection<u64>);

    /// The next I/O, or what has to happen before it.
    fn draw(&mut self) -> Next;
}

/// Such a stream is that of a job, without a pace.
impl<S: Unpaced> IoStream for S {
    fn next(&mut self) -> Next {
        self.draw()
    }

    fn job(&self) -> Option<&dyn JobStream> {
        Some(self)
    }

    fn job_mut(&mut self) -> Option<&mut dyn JobStream> {
        Some(self)
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        None
    }
}

impl Unpaced for PlainStream {
    fn steer(&mut self, _now_ns: u64, _dues_ns: impl FnOnce() -> PerDirection<u64>) {
        // A plain stream has only one direction.
    }

    #[inline]
    fn draw(&mut self) -> Next {
        Self::draw(self)
    }
}

impl<Z: Zoning + Clone + 'static> Unpaced for Stream<Z> {
    fn steer(&mut self, now_ns: u64, dues_ns: impl FnOnce() -> PerDirection<u64>) {
        Self::steer(self, now_ns, dues_ns());
    }

    fn draw(&mut self) -> Next {
        Self::draw(self)
    }
}

/// The stream of a job with rates or pauses.
#[derive(Debug)]
pub(crate) struct PacedStream<S> {
    stream: S,
    arrivals: PerDirection<Option<Arrivals>>,
    now_ns: u64,
    /// The time was told since the last I/O.
    is_told: bool,
    /// The drawn I/O, which is not due yet.
    held: Option<NextIo>,
    /// The time at which the rate wanted the last I/O to start; `None`: its direction has no rate.
    intended_ns: Option<u64>,
}

impl<S: Unpaced> PacedStream<S> {
    pub(crate) fn new(stream: S, arrivals: PerDirection<Option<Arrivals>>) -> Self {
        Self { stream, arrivals, now_ns: 0, is_told: false, held: None, intended_ns: None }
    }

    fn draw(&mut self) -> Next {
        let arrivals = &self.arrivals;
        self.stream
            .steer(self.now_ns, || PerDirection(DataDirection::ALL.map(|direction| due_ns(arrivals, direction))));
        self.stream.draw()
    }

    fn each(&mut self, change: impl FnMut(&mut Arrivals)) {
        self.arrivals.0.iter_mut().flatten().for_each(change);
    }
}

impl<S: Unpaced> IoStream for PacedStream<S> {
    fn next(&mut self) -> Next {
        if !self.is_told {
            return Next::Wait;
        }
        let io = match self.held.take() {
            Some(io) => io,
            None => match self.draw() {
                Next::Io(io) => io,
                other => return other,
            },
        };
        let Some(direction) = io.direction.data() else { return Next::Io(io) };
        self.is_told = false;
        if due_ns(&self.arrivals, direction) > self.now_ns {
            self.held = Some(io);
            return Next::Wait;
        }
        self.intended_ns = self.arrivals[direction].as_ref().map(Arrivals::intended_ns);
        if let Some(arrivals) = &mut self.arrivals[direction] {
            arrivals.issued(io.length_bytes, self.now_ns);
        }
        Next::Io(io)
    }

    fn job(&self) -> Option<&dyn JobStream> {
        Some(&self.stream)
    }

    fn job_mut(&mut self) -> Option<&mut dyn JobStream> {
        Some(&mut self.stream)
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        Some(self)
    }
}

/// Due time of the next I/O of a direction; 0: at once.
#[inline]
fn due_ns(arrivals: &PerDirection<Option<Arrivals>>, direction: DataDirection) -> u64 {
    arrivals[direction].as_ref().map_or(0, Arrivals::due_ns)
}

impl<S: Unpaced> Pace for PacedStream<S> {
    fn turn(&mut self, now_ns: u64) -> Option<u64> {
        let due_ns = self.held.and_then(|io| io.direction.data()).map(|direction| due_ns(&self.arrivals, direction));
        let ahead_ns = due_ns.filter(|due_ns| *due_ns > now_ns);
        (self.now_ns, self.is_told) = (now_ns, ahead_ns.is_none());
        ahead_ns
    }

    fn start(&mut self, now_ns: u64) {
        self.each(|arrivals| arrivals.start(now_ns));
    }

    fn forgive(&mut self, now_ns: u64) {
        self.each(|arrivals| arrivals.forgive(now_ns));
    }

    fn postpone(&mut self, pause_ns: u64, now_ns: u64) {
        self.each(|arrivals| arrivals.postpone(pause_ns, now_ns));
    }

    fn intended_ns(&self) -> Option<u64> {
        self.intended_ns
    }

    fn n_waiting(&self) -> u64 {
        u64::from(self.held.is_some())
    }
}

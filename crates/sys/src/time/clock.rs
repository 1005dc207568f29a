//! Time stamps for the hot path and the time line of a run.
//!
//! A stamp is a raw counter value (ticks of the CPU's counter, or nanoseconds of the other kinds); only differences of stamps of one
//! clock mean something. The CPU's counter is calibrated against `CLOCK_MONOTONIC` from the moment the clock was made, and refined by
//! [`Clock::recalibrate`] over the whole span since then. Measured on a KVM guest with a 2.6 GHz TSC: the first
//! calibration (1 ms) is within 1 ppm, a recalibration after 100 ms within 0.01 ppm.
//!
//! Must not know: jobs, the measured events. Start reading at [`Clock`], then `scale` for the arithmetic.

mod cpu_counter;
mod scale;
mod shared;

use rustix::time::{ClockId, Timespec, clock_gettime};
use scale::{Scale, StampLine};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use cpu_counter::{CPU_COUNTER, cpu_counter_in_order};
pub use shared::Seat;

/// How long the first calibration of a counter waits, ns. At start-up only.
const FIRST_CALIBRATION_NS: u64 = 1_000_000;

/// Readings of all clocks, of which the tightest counts.
const N_OFFSET_READINGS: u32 = 5;
/// Pairs of readings tried for one sample of counter against `CLOCK_MONOTONIC`; the tightest is taken, so that an
/// interrupt or a host that takes the CPU away does not spoil it.
const SAMPLE_TRIES: u32 = 16;

/// Kind of counter that a clock reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockKind {
    /// The counter of the CPU ([`CPU_COUNTER`]): the TSC on x86-64, about 10 ns a stamp or less.
    CpuCounter,
    /// `clock_gettime(CLOCK_MONOTONIC)`.
    Monotonic,
    /// A counter in memory that advances only by calls: for tests and simulated devices.
    Virtual,
}

#[derive(Debug, Clone)]
enum TimeSource {
    CpuCounter,
    Monotonic,
    Virtual(Arc<AtomicU64>),
    Shared(Arc<Seat>),
}

/// One reading of counter and kernel clock at (nearly) the same time.
#[derive(Debug, Clone, Copy)]
struct Sample {
    stamp: u64,
    monotonic_ns: u64,
}

/// A clock. Clones of a real clock agree with each other to within the error of their calibrations, across threads and
/// across `fork`; clones of a virtual clock share one counter within a process.
#[derive(Debug, Clone)]
pub struct Clock {
    source: TimeSource,
    scale: Scale,
    anchor: Sample,
    timeline: StampLine,
}

impl Clock {
    /// The cheapest clock that can be trusted here: the CPU's counter where CPU and kernel call it reliable, else
    /// `CLOCK_MONOTONIC`. Takes about 1 ms for a counter.
    pub fn new() -> Self {
        Self::new_cpu_counter().unwrap_or_else(Self::new_monotonic)
    }

    /// A clock on the counter of the CPU, or `None` where there is none or it is not reliable: the CPU must call it invariant, the
    /// kernel must not have struck it from its clock sources, and it must run as fast as the CPU states, if it states that.
    pub fn new_cpu_counter() -> Option<Self> {
        if cpu_counter::is_reliable() { Self::on_cpu_counter() } else { None }
    }

    /// A clock on the counter of the CPU, whatever the kernel thinks of it.
    fn on_cpu_counter() -> Option<Self> {
        let anchor = Sample::take(&TimeSource::CpuCounter);
        let wait = Duration::from_nanos(FIRST_CALIBRATION_NS);
        std::thread::sleep(wait);
        let scale = Sample::take(&TimeSource::CpuCounter).scale_since(anchor)?;
        if cpu_counter::stated_hz().is_some_and(|hz| !scale.is_near(hz)) {
            return None;
        }
        Some(Self { source: TimeSource::CpuCounter, scale, anchor, timeline: StampLine::new(anchor.stamp, scale) })
    }

    pub fn new_monotonic() -> Self {
        Self::in_ns(TimeSource::Monotonic)
    }

    /// A clock that stands still until [`Clock::advance`] or [`Clock::sleep_until_ns`] moves it. It starts at 0.
    pub fn new_virtual() -> Self {
        Self::on_counter(Arc::default())
    }

    /// A virtual clock on a counter of nanoseconds that others may move too.
    pub fn on_counter(counter: Arc<AtomicU64>) -> Self {
        Self::in_ns(TimeSource::Virtual(counter))
    }

    /// A virtual clock that others share: it moves when its turn comes.
    pub fn seated(seat: Arc<Seat>) -> Self {
        // It counts from the beginning of that time, not from the moment at which it was made.
        let (anchor, timeline) = (Sample { stamp: 0, monotonic_ns: 0 }, StampLine::new(0, Scale::IDENTITY));
        Self { anchor, timeline, ..Self::in_ns(TimeSource::Shared(seat)) }
    }

    /// Waits, as the owner of a seat in a virtual time, until all that wait here are let go. False: this clock has no
    /// seat, and there was no wait.
    pub fn park(&self) -> bool {
        let TimeSource::Shared(seat) = &self.source else { return false };
        seat.park();
        true
    }

    fn in_ns(source: TimeSource) -> Self {
        let stamp = source.read();
        let anchor = Sample { stamp, monotonic_ns: stamp };
        Self { source, scale: Scale::IDENTITY, anchor, timeline: StampLine::new(stamp, Scale::IDENTITY) }
    }

    /// Which counter this clock reads.
    pub fn kind(&self) -> ClockKind {
        match self.source {
            TimeSource::CpuCounter => ClockKind::CpuCounter,
            TimeSource::Monotonic => ClockKind::Monotonic,
            TimeSource::Virtual(_) | TimeSource::Shared(_) => ClockKind::Virtual,
        }
    }

    /// Which clock this is and how it was calibrated, a line each: ticks in a millisecond, the factor from ticks to nanoseconds and
    /// its binary digits after the point, where it began, and its number in `clocksource` (2: of the kernel, 3: of the CPU).
    pub fn describe(&self) -> Vec<String> {
        let number = if self.kind() == ClockKind::CpuCounter { 3 } else { 2 };
        let mut lines = Vec::new();
        if self.kind() == ClockKind::CpuCounter {
            let (shift, factor) = self.scale.factor();
            lines.push(format!("cycles[0]={}", self.scale.to_stamps(FIRST_CALIBRATION_NS)));
            lines.push(format!("clock_shift={shift}, clock_mult={factor}"));
            lines.push(format!("cycles_start={}", self.anchor.stamp));
        }
        lines.push(format!("gettime: clocksource={number}"));
        lines
    }

    /// The raw counter. Not serialising: the CPU may read it some instructions early or late (a few ns).
    /// Cost on the 2.6 GHz test machine: TSC 9 ns, monotonic 21 ns, virtual below 1 ns.
    #[inline]
    pub fn stamp(&self) -> u64 {
        self.source.read()
    }

    /// Nanoseconds in a difference of two stamps. One multiplication and a shift; exact to 1 ns plus the error of the
    /// calibration, for every difference shorter than 2^64 ns (584 years).
    #[inline]
    pub fn to_ns(&self, stamp_delta: u64) -> u64 {
        self.scale.to_ns(stamp_delta)
    }

    /// Nanoseconds from one stamp to a later one; 0 if they are the other way round (counters of two CPUs may differ by
    /// some ticks).
    #[inline]
    pub fn between_ns(&self, earlier_stamp: u64, later_stamp: u64) -> u64 {
        self.scale.to_ns(later_stamp.saturating_sub(earlier_stamp))
    }

    /// Nanoseconds since the clock was made. Never goes backwards on one clock: a recalibration corrects it gradually.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.at_ns(self.stamp())
    }

    /// The result of [`Clock::now_ns`] at a stamp; 0 before the clock was made.
    #[inline]
    pub fn at_ns(&self, stamp: u64) -> u64 {
        self.timeline.at_ns(stamp)
    }

    /// The stamp at which [`Clock::now_ns`] reaches `ns` by the present calibration. Saturates.
    pub fn stamp_at_ns(&self, ns: u64) -> u64 {
        self.timeline.stamp_at_ns(ns)
    }

    /// Waits until [`Clock::now_ns`] is at least `ns`. A virtual clock jumps there. A real wait ends early if a signal
    /// handler ran, and returns false, so that the caller can check for the signal.
    pub fn sleep_until_ns(&self, ns: u64) -> bool {
        if let TimeSource::Virtual(counter) = &self.source {
            counter.fetch_max(self.anchor.stamp.saturating_add(ns), Ordering::Relaxed);
            return true;
        }
        if let TimeSource::Shared(seat) = &self.source {
            seat.sleep_until(ns);
            return true;
        }
        let remaining_ns = ns.saturating_sub(self.now_ns());
        if remaining_ns == 0 {
            return true;
        }
        let request =
            Timespec { tv_sec: (remaining_ns / 1_000_000_000) as i64, tv_nsec: (remaining_ns % 1_000_000_000) as i64 };
        let result = rustix::thread::clock_nanosleep_relative(rustix::thread::ClockId::Monotonic, &request);
        matches!(result, rustix::thread::NanosleepRelativeResult::Ok)
    }

    /// Moves a virtual clock forward; does nothing to a real one.
    pub fn advance(&self, ns: u64) {
        if let TimeSource::Virtual(counter) = &self.source {
            counter.fetch_add(ns, Ordering::Relaxed);
        }
        if let TimeSource::Shared(seat) = &self.source {
            seat.sleep_until(seat.now_ns().saturating_add(ns));
        }
    }

    /// Measures the counter against `CLOCK_MONOTONIC` again, over the whole span since the clock was made, and returns
    /// by how many parts per billion the length of a tick changed. Costs about 3 microseconds: call it every second or so,
    /// not per I/O. Only the counter of a CPU needs it; the other kinds return 0.
    pub fn recalibrate(&mut self) -> i64 {
        if !matches!(self.source, TimeSource::CpuCounter) {
            return 0;
        }
        let sample = Sample::take(&self.source);
        let elapsed_ns = sample.monotonic_ns.saturating_sub(self.anchor.monotonic_ns);
        if elapsed_ns < FIRST_CALIBRATION_NS {
            return 0;
        }
        let Some(scale) = sample.scale_since(self.anchor) else { return 0 };
        let change_ppb = scale.ppb_against(self.scale);
        self.scale = scale;
        self.timeline.steer(sample.stamp, elapsed_ns, scale);
        change_ppb
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

impl TimeSource {
    #[inline]
    fn read(&self) -> u64 {
        match self {
            Self::CpuCounter => cpu_counter::read(),
            _ => self.read_other(),
        }
    }

    /// Not inlined: so that reading the counter of the CPU is, everywhere.
    #[inline(never)]
    fn read_other(&self) -> u64 {
        match self {
            Self::CpuCounter => cpu_counter::read(),
            Self::Monotonic => monotonic_ns(),
            Self::Virtual(counter) => counter.load(Ordering::Relaxed),
            Self::Shared(seat) => seat.now_ns(),
        }
    }
}

impl Sample {
    fn take(source: &TimeSource) -> Self {
        let mut best = Self { stamp: 0, monotonic_ns: 0 };
        let mut best_width = u64::MAX;
        for _ in 0..SAMPLE_TRIES {
            let before = source.read();
            let monotonic_ns = monotonic_ns();
            let width = source.read().wrapping_sub(before);
            if width < best_width {
                best_width = width;
                best = Self { stamp: before.wrapping_add(width / 2), monotonic_ns };
            }
        }
        best
    }

    fn scale_since(self, anchor: Self) -> Option<Scale> {
        let ticks = self.stamp.checked_sub(anchor.stamp)?;
        Scale::measured(ticks, self.monotonic_ns.checked_sub(anchor.monotonic_ns)?)
    }
}

/// Distances of other clocks from `CLOCK_MONOTONIC`, nanoseconds. All of them go at the same speed, also while the kernel corrects it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffsets {
    /// Time of day (`CLOCK_REALTIME`): changes when it is set.
    pub day_ns: i64,
    /// Time since the machine was started (`CLOCK_BOOTTIME`): grows while the machine is suspended.
    pub boot_ns: i64,
}

impl ClockOffsets {
    /// Reads the clocks one after another, and takes the distances of the reading that was interrupted least.
    pub fn read() -> Self {
        let read = |_| {
            let before_ns = signed_ns(ClockId::Monotonic);
            let (day_ns, boot_ns) = (signed_ns(ClockId::Realtime), signed_ns(ClockId::Boottime));
            let took_ns = signed_ns(ClockId::Monotonic).saturating_sub(before_ns);
            (took_ns, Self { day_ns: day_ns.saturating_sub(before_ns), boot_ns: boot_ns.saturating_sub(before_ns) })
        };
        let (first, others) = (read(0), (1..N_OFFSET_READINGS).map(read));
        others.fold(first, |best, other| if other.0 < best.0 { other } else { best }).1
    }
}

fn signed_ns(clock: ClockId) -> i64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    tv_sec.saturating_mul(1_000_000_000).saturating_add(tv_nsec)
}

/// `CLOCK_MONOTONIC` in nanoseconds.
#[inline]
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Cannot be negative or overflow: the kernel starts this clock at 0 when it boots.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The time of day: time since 1970-01-01 UTC. Zero if the machine's clock is before that.
pub fn wall_clock() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO)
}

/// A clock of the system by its number (`clock_gettime`), in milliseconds. `None`: there is no such clock.
pub fn clock_ms(clock_id: u32) -> Option<u64> {
    let id = ClockId::try_from(i32::try_from(clock_id).ok()?).ok()?;
    let now = clock_gettime(id);
    // Cannot be negative on a machine whose clock is after 1970; u64 milliseconds last 584 million years.
    Some(u64::try_from(now.tv_sec).ok()? * 1_000 + now.tv_nsec as u64 / 1_000_000)
}

/// The time of day in milliseconds since 1970-01-01 UTC.
pub fn wall_clock_ms() -> u64 {
    // Cannot overflow: u64 milliseconds last 584 million years.
    wall_clock().as_millis() as u64
}

/// The clock source that the kernel uses now, such as `tsc` or `kvm-clock`. `None` without sysfs.
pub fn kernel_clock_source() -> Option<String> {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests;

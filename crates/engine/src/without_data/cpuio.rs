//! `ioengine=cpuio`: burns CPU time in slices, between which the job rests.
//!
//! Its options; defaults are in their declarations (`ferrio_spec::engines::options::cpuio`):
//!
//! | option | meaning |
//! |---|---|
//! | `cpuload` | percent of one CPU to burn, 1 to 100; it has to be given |
//! | `cpuchunks` | length of a slice, microseconds |
//! | `cpumode` | `noop`: an empty loop; `qsort`: sorting of numbers |
//! | `exit_on_io_done` | the job ends as soon as no job that does I/O runs or waits |
//!
//! A slice is an I/O of no bytes, whose latency is the time that it took. Start reading at [`CpuLoad`], then `Running`.

use crate::compat;
use crate::contract::options::EngineOptions;
use crate::contract::turns::{EndsWith, EngineRemark, NoIoEngine, PrepareTurns, PreparedTurns, Rhythm, TurnsSetup};
use crate::contract::{EngineError, JobFacts};
use ferrio_spec::engines::options::cpuio::{CPUCHUNKS, CPULOAD, CPUMODE, CpuMode, EXIT_ON_IO_DONE};
use ferrio_sys::clock::{Clock, ClockKind};
use std::hint::black_box;
use std::task::Poll;

const NAME: &str = "cpuio";

/// Longest time of work between two looks of the loop at what else there is to do (its runtime, a signal), ns.
const STRETCH_NS: u64 = 20_000_000;

/// Turns of the empty loop between two looks at the clock: about a microsecond.
const N_SPINS: u32 = 1_000;

/// Numbers that are sorted between two looks at the clock: about a millisecond.
const N_NUMBERS: usize = 16 << 10;

pub(crate) const PREPARE: PrepareTurns = |options| Ok(Box::new(CpuLoad::parse(options)?));

/// The engine in its first state: how much CPU time to burn, and how.
#[derive(Debug, PartialEq, Eq)]
struct CpuLoad {
    /// Share of the time that is burnt, 1 to 100.
    percent: u32,
    chunk_us: u64,
    mode: CpuMode,
    ends_with: EndsWith,
}

impl CpuLoad {
    fn parse(options: &EngineOptions) -> Result<Self, EngineError> {
        let percent = options.get(&CPULOAD).unwrap_or(0);
        let burnt_percent = compat::burnt_percent(options.compatibility(), percent).ok_or_else(|| {
            EngineError::bad_option(NAME, CPULOAD.name(), &percent, "1 to 100 percent of a CPU have to be given")
        })?;
        let chunk = options.get(&CPUCHUNKS);
        let chunk_us = u64::try_from(chunk).map_err(|_| {
            EngineError::bad_option(NAME, CPUCHUNKS.name(), &chunk, "the length of a slice is not negative")
        })?;
        Ok(Self {
            percent: burnt_percent,
            chunk_us,
            mode: options.get(&CPUMODE),
            ends_with: if options.get(&EXIT_ON_IO_DONE) { EndsWith::NoIo } else { EndsWith::LastIo },
        })
    }

    /// Rest after each slice, so that the slices take `percent` of the total time.
    fn pause_us(&self) -> u64 {
        self.chunk_us.saturating_mul(u64::from(100 - self.percent)) / u64::from(self.percent)
    }
}

impl PreparedTurns for CpuLoad {
    fn rhythm(&self) -> Rhythm {
        Rhythm { pause_us: self.pause_us(), ends_with: self.ends_with }
    }

    fn introduction(&self, _: &JobFacts) -> Vec<EngineRemark> {
        let mode = if self.mode == CpuMode::Qsort { "qsort" } else { "noop" };
        let settings = vec![(CPULOAD.name(), self.percent.into()), ("cpucycle", self.chunk_us)];
        vec![EngineRemark::Mode { mode, settings }]
    }

    fn start(self: Box<Self>, setup: TurnsSetup) -> Result<Box<dyn NoIoEngine>, EngineError> {
        let numbers = match self.mode {
            CpuMode::Noop => Vec::new(),
            CpuMode::Qsort => vec![0; N_NUMBERS],
        };
        let work = Work { numbers, seed: setup.seed | 1 };
        Ok(Box::new(Running {
            work,
            clock: setup.clock,
            chunk_ns: self.chunk_us.saturating_mul(1_000),
            slice_end_ns: None,
        }))
    }
}

/// The engine at work.
struct Running {
    work: Work,
    clock: Clock,
    chunk_ns: u64,
    /// The end of the slice that is being burnt.
    slice_end_ns: Option<u64>,
}

impl NoIoEngine for Running {
    /// Burns a part of a slice.
    fn turn(&mut self) -> Poll<()> {
        let now_ns = self.clock.now_ns();
        let end_ns = *self.slice_end_ns.get_or_insert(now_ns.saturating_add(self.chunk_ns));
        let until_ns = end_ns.min(now_ns.saturating_add(STRETCH_NS));
        self.work.burn(&self.clock, until_ns);
        if until_ns < end_ns {
            return Poll::Pending;
        }
        self.slice_end_ns = None;
        Poll::Ready(())
    }
}

/// The work that burns time.
struct Work {
    /// Numbers to sort; empty: the work is an empty loop.
    numbers: Vec<u64>,
    /// Never 0.
    seed: u64,
}

impl Work {
    fn burn(&mut self, clock: &Clock, until_ns: u64) {
        if clock.kind() == ClockKind::Virtual {
            clock.sleep_until_ns(until_ns);
        }
        while clock.now_ns() < until_ns {
            if self.numbers.is_empty() {
                (0..N_SPINS).for_each(|turn| _ = black_box(turn));
            } else {
                self.sort();
            }
        }
    }

    /// Fills the list with random numbers and sorts them.
    fn sort(&mut self) {
        let seed = &mut self.seed;
        self.numbers.fill_with(|| {
            // xorshift64.
            *seed ^= *seed << 13;
            *seed ^= *seed >> 7;
            *seed ^= *seed << 17;
            *seed
        });
        self.numbers.sort_unstable();
        black_box(&self.numbers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::turns_setup;
    use ferrio_spec::GivenOptions;

    fn loaded(percent: i64) -> GivenOptions {
        GivenOptions::default().with(&CPULOAD, percent)
    }

    fn parse(options: GivenOptions) -> Result<CpuLoad, EngineError> {
        CpuLoad::parse(&EngineOptions::new(options))
    }

    #[test]
    fn work_and_rest_have_their_shares() {
        for (percent, chunk_us, pause_us) in [
            (50, 50_000, 50_000),
            (100, 50_000, 0),
            (1, 1_000, 99_000),
            (33, 50_000, 101_515),
            (90, 100, 11),
            (50, 0, 0),
        ] {
            let load = parse(loaded(percent).with(&CPUCHUNKS, chunk_us)).unwrap();
            assert_eq!(load.rhythm().pause_us, pause_us, "{percent} % of slices of {chunk_us} us");
        }
        assert_eq!(parse(loaded(50)).unwrap().chunk_us, 50_000);
    }

    #[test]
    fn what_is_no_percentage_is_refused_or_all_of_a_cpu() {
        for percent in [101, 150, -5] {
            assert_eq!(parse(loaded(percent)).unwrap().percent, 100, "{percent}");
        }
        for (options, name) in [
            (GivenOptions::default(), "cpuload"),
            (loaded(0), "cpuload"),
            (loaded(50).with(&CPUCHUNKS, -1), "cpuchunks"),
        ] {
            let error = parse(options).unwrap_err();
            assert!(matches!(&error, EngineError::BadOption { option, .. } if *option == name), "{error}");
        }
    }

    fn started(options: GivenOptions, clock: &Clock) -> Box<dyn NoIoEngine> {
        PREPARE(&EngineOptions::new(options)).unwrap().start(turns_setup(clock)).unwrap()
    }

    #[test]
    fn a_slice_takes_its_time() {
        let clock = Clock::new_virtual();
        let mut engine = started(loaded(50).with(&CPUCHUNKS, 25_000), &clock);
        for n_slices in 1..=3 {
            while engine.turn().is_pending() {}
            assert_eq!(clock.now_ns(), n_slices * 25_000_000);
        }
        assert!(!engine.is_over() && engine.end() == Poll::Ready(None));
    }

    #[test]
    fn the_loop_can_look_up_during_a_long_slice() {
        let clock = Clock::new_virtual();
        let mut engine = started(loaded(100).with(&CPUCHUNKS, 1 << 31), &clock);
        assert_eq!((engine.turn(), clock.now_ns()), (Poll::Pending, STRETCH_NS));
    }

    #[test]
    fn numbers_are_in_no_order_before_they_are_sorted() {
        let mut work = Work { numbers: vec![0; 1000], seed: 1 };
        work.sort();
        let first = work.numbers.clone();
        assert!(first.is_sorted() && first[0] != first[999]);
        work.sort();
        assert!(work.numbers.is_sorted() && work.numbers != first);
    }
}

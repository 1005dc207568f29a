//! `verify_async`: threads that check blocks while the job continues to read.
//!
//! Blocks go round a ring of places, each of which belongs to a thread. Before the job puts a block into a place, it
//! takes the result of the previous block there. So memory is bounded, no block is lost, and faults are reported in the
//! order of the reads and at the same read in every run, however fast the threads are.
//!
//! Must not know: contents of blocks. Start reading at [`Checkers`].

use crate::error::{Failure, errno_of, failure};
use ferrio_spec::VerifySpec;
use ferrio_stats::Note;
use ferrio_stats::note::{During, VerifyNote};
use ferrio_sys::errno::{EIO, ENOMEM};
use ferrio_sys::scheduling;
use ferrio_workload::verify::block::Expected;
use ferrio_workload::verify::fault::Fault;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Places for each thread: one that it checks, one that waits for it, and some for times in which the thread does not
/// run.
const PLACES_EACH: usize = 4;

/// A block that differs from what was written.
#[derive(Debug)]
pub(crate) struct Faulty {
    pub(crate) file_index: u32,
    pub(crate) expected: Expected,
    pub(crate) fault: Fault,
    pub(crate) received: Vec<u8>,
}

enum Content {
    Nothing,
    Unchecked(u32, Expected),
    Faulty(u32, Expected, Fault),
    /// The thread panicked while it checked the block.
    Lost,
    /// The job is over.
    End,
}

struct CheckedBlock {
    /// The block, at its own length, and what it should be.
    state: Mutex<(Vec<u8>, Content)>,
    changed: Condvar,
}

impl CheckedBlock {
    fn lock(&self) -> MutexGuard<'_, (Vec<u8>, Content)> {
        // A check leaves no state that is half changed after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `is_wanted` is true.
    fn wait(&self, is_wanted: impl Fn(&Content) -> bool) -> MutexGuard<'_, (Vec<u8>, Content)> {
        let mut state = self.lock();
        while !is_wanted(&state.1) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    fn take_outcome(&self) -> Result<Option<Faulty>, Failure> {
        let mut state = self.wait(|content| !matches!(content, Content::Unchecked(..)));
        match std::mem::replace(&mut state.1, Content::Nothing) {
            Content::Faulty(file_index, expected, fault) => {
                Ok(Some(Faulty { file_index, expected, fault, received: state.0.clone() }))
            }
            Content::Lost => Err(failure!(EIO, "verify_async").explained(VerifyNote::CheckerPanicked)),
            _ => Ok(None),
        }
    }
}

/// The threads of a job, and their places.
pub(crate) struct Checkers {
    places: Arc<[CheckedBlock]>,
    /// Index of the place for the next block.
    next: usize,
    threads: Vec<JoinHandle<()>>,
}

impl Checkers {
    /// `check` returns the fault of a block. `None`: the job checks blocks itself.
    ///
    /// # Errors
    /// A thread cannot be started, or may not run on the CPUs that it should use.
    pub(crate) fn start(
        spec: &VerifySpec,
        block_bytes: usize,
        check: impl Fn(&mut [u8], &Expected) -> Result<(), Fault> + Clone + Send + 'static,
    ) -> Result<Option<Self>, Failure> {
        let n_threads = spec.n_threads as usize;
        if n_threads == 0 {
            return Ok(None);
        }
        let place = |_| {
            let mut block = Vec::new();
            block.try_reserve_exact(block_bytes).map_err(|_| {
                let n_blocks = (n_threads * PLACES_EACH) as u64;
                failure!(ENOMEM, "verify_async").explained(VerifyNote::NoMemoryToCheck { n_blocks })
            })?;
            Ok(CheckedBlock { state: Mutex::new((block, Content::Nothing)), changed: Condvar::new() })
        };
        let places: Arc<[CheckedBlock]> = (0..n_threads * PLACES_EACH).map(place).collect::<Result<_, Failure>>()?;
        let mut checkers = Self { places, next: 0, threads: Vec::with_capacity(n_threads) };
        let (tell, told) = channel();
        for index in 0..n_threads {
            let (places, check, cpus, tell) =
                (Arc::clone(&checkers.places), check.clone(), spec.thread_cpus.clone(), tell.clone());
            let body = move || on_deadline(&places, index, n_threads, &check, cpus.as_deref(), &tell);
            let thread = std::thread::Builder::new().name(format!("ferrio-check-{index}")).spawn(body);
            checkers.threads.push(thread.map_err(|error| {
                let note = Note::system(During::CheckingThread { number: index + 1, n_threads }, &error);
                failure!(error.raw_os_error().unwrap_or(11), "verify_async").explained(note)
            })?);
        }
        drop(tell);
        match told.iter().take(n_threads).find_map(Result::err) {
            Some(error) => {
                Err(failure!(errno_of(&error), "verify_async_cpus").explained(Note::system(During::Nothing, &error)))
            }
            None => Ok(Some(checkers)),
        }
    }

    /// Gives a block to a thread; returns the result of an earlier block if that is faulty.
    pub(crate) fn check(
        &mut self,
        block: &[u8],
        file_index: u32,
        expected: Expected,
    ) -> Result<Option<Faulty>, Failure> {
        let place = &self.places[self.next];
        self.next = (self.next + 1) % self.places.len();
        let faulty = place.take_outcome();
        let mut state = place.lock();
        state.0.clear();
        state.0.extend_from_slice(block);
        state.1 = Content::Unchecked(file_index, expected);
        drop(state);
        place.changed.notify_all();
        faulty
    }

    /// Waits for all unchecked blocks, oldest first, until one is faulty; to be called until it returns `None`.
    pub(crate) fn finish(&mut self) -> Result<Option<Faulty>, Failure> {
        let n_places = self.places.len();
        let mut outcomes = (0..n_places).map(|step| self.places[(self.next + step) % n_places].take_outcome());
        outcomes.find_map(Result::transpose).transpose()
    }
}

impl Drop for Checkers {
    fn drop(&mut self) {
        for place in self.places.iter() {
            let mut state = place.wait(|content| !matches!(content, Content::Unchecked(..)));
            state.1 = Content::End;
            drop(state);
            place.changed.notify_all();
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The main function of a thread: its places are every `n_threads`-th, in the order in which the job fills them.
fn on_deadline(
    places: &[CheckedBlock],
    index: usize,
    n_threads: usize,
    check: &impl Fn(&mut [u8], &Expected) -> Result<(), Fault>,
    cpus: Option<&[u32]>,
    tell: &Sender<ferrio_sys::Result<()>>,
) {
    let _ = tell.send(cpus.map_or(Ok(()), scheduling::set_cpu_affinity));
    for place in places.iter().skip(index).step_by(n_threads).cycle() {
        let mut state = place.wait(|content| matches!(content, Content::Unchecked(..) | Content::End));
        let (block, content) = &mut *state;
        let Content::Unchecked(file_index, expected) = content else { return };
        // A panic ends this check but not the thread, as otherwise the job would wait for ever.
        *content = match catch_unwind(AssertUnwindSafe(|| check(block, expected))) {
            Ok(Ok(())) => Content::Nothing,
            Ok(Err(fault)) => Content::Faulty(*file_index, *expected, fault),
            Err(_) => Content::Lost,
        };
        drop(state);
        place.changed.notify_all();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use ferrio_spec::VerifyMethod;
    use ferrio_workload::verify::block::{BlockRules, Write};

    pub(crate) fn spec(n_threads: u32, thread_cpus: Option<Vec<u32>>) -> VerifySpec {
        VerifySpec { n_threads, thread_cpus, ..VerifySpec::of(VerifyMethod::Crc32c) }
    }

    fn with(rules: &BlockRules) -> impl Fn(&mut [u8], &Expected) -> Result<(), Fault> + Clone + Send + 'static {
        let rules = rules.clone();
        move |block: &mut [u8], expected: &Expected| rules.check(block, expected)
    }

    /// Without an error the job would wait for ever. Each lost block is reported, and the thread continues.
    #[test]
    fn a_thread_that_panics_is_an_error() {
        let spec = spec(2, None);
        let check = |block: &mut [u8], _: &Expected| {
            if block[0] == 1 { std::panic::resume_unwind(Box::new(())) } else { Ok(()) }
        };
        let mut checkers = Checkers::start(&spec, 512, check).unwrap().unwrap();
        let expected = Expected { offset_bytes: 0, seed: None, sequence: None, is_trimmed: false };
        let n_places = 2 * PLACES_EACH;
        let mut outcomes: Vec<_> = Vec::new();
        for index in 0..2 * n_places {
            outcomes.push(checkers.check(&[u8::from(index == 3); 512], 0, expected));
        }
        outcomes.push(checkers.check(&[1; 512], 0, expected));
        outcomes.push(checkers.finish());
        outcomes.push(checkers.finish());
        let failed = outcomes.iter().enumerate().filter_map(|(index, outcome)| Some((index, outcome.as_ref().err()?)));
        let failed: Vec<_> = failed.map(|(index, error)| (index, error.errno, error.step.name().to_owned())).collect();
        let lost = |index| (index, EIO, "verify_async".to_owned());
        assert_eq!(failed, [lost(n_places + 3), lost(2 * n_places + 1)]);
    }

    #[test]
    fn every_fault_is_told_once_and_in_order() {
        for n_threads in [1, 3] {
            let spec = spec(n_threads, None);
            let rules = BlockRules::new(spec.content.clone(), 1);
            let check = with(&rules);
            let mut checkers = Checkers::start(&spec, 4096, check).unwrap().unwrap();
            let mut told = Vec::new();
            for sequence in 0..200 {
                let offset_bytes = sequence * 4096;
                let mut block = vec![0; 4096];
                rules.stamp(&mut block, &Write { offset_bytes, seed: 7, sequence, start_ns: 0 });
                block[1000] ^= u8::from(sequence % 5 == 0);
                let expected = Expected { offset_bytes, seed: Some(7), sequence: Some(sequence), is_trimmed: false };
                told.extend(checkers.check(&block, 0, expected).unwrap());
                // There are no more unchecked blocks than places.
                let n_told = told.len() as u64;
                assert!(
                    n_told * 5 + 5 + u64::from(n_threads) * PLACES_EACH as u64 > sequence,
                    "{n_told} at {sequence}"
                );
            }
            told.extend(std::iter::from_fn(|| checkers.finish().unwrap()));
            let offsets: Vec<_> = told.iter().map(|faulty| faulty.expected.offset_bytes).collect();
            assert_eq!(offsets, (0..40).map(|fault| fault * 5 * 4096).collect::<Vec<_>>());
        }
    }

    #[test]
    fn cpus_that_do_not_exist_are_an_error() {
        let spec = spec(2, Some(vec![100_000]));
        let rules = BlockRules::new(spec.content.clone(), 1);
        assert_eq!(Checkers::start(&spec, 4096, with(&rules)).err().unwrap().step.name(), "verify_async_cpus");
    }
}

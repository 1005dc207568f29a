//! Priorities of single I/Os (`cmdprio_percentage` and its family).
//!
//! Must not know: engines. Start reading at [`CommandPriorities::next`]. Facts, by the counts in reports of fio 3.41:
//! each read or write whose direction may have a priority of its own takes one draw of 0 to 99 from a separate stream,
//! even if the shares are 100 percent; other I/Os take none.

use ferrio_spec::{CommandPrioritySpec, PriorityShare};
use ferrio_units::random::{SeedIndex, SeedTable, Taus88};
use ferrio_units::{DataDirection, PerDirection};

/// Draws priorities.
#[derive(Debug, Clone)]
pub struct CommandPriorities {
    shares: PerDirection<Vec<Share>>,
    stream: Taus88,
    /// The stream in its initial state, if each pass starts it anew.
    first: Option<Taus88>,
}

#[derive(Debug, Clone, Copy)]
struct Share {
    block_bytes: Option<u64>,
    percent: u64,
    ioprio: u16,
}

impl CommandPriorities {
    /// `None` if no I/O has a priority of its own.
    pub fn new(spec: &CommandPrioritySpec, seeds: &SeedTable, reseeds_each_pass: bool) -> Option<Self> {
        if spec.is_empty() {
            return None;
        }
        let share = |share: &PriorityShare| Share {
            block_bytes: share.block_bytes,
            percent: share.percent.into(),
            ioprio: share.priority().encode(),
        };
        let stream = Taus88::from_table(seeds, SeedIndex::CommandPriority);
        Some(Self {
            shares: PerDirection(spec.shares.0.each_ref().map(|shares| shares.iter().map(share).collect())),
            first: reseeds_each_pass.then(|| stream.clone()),
            stream,
        })
    }

    /// Priority of the next I/O in the form of `ioprio_set(2)`; 0: the priority of the job.
    pub fn next(&mut self, direction: DataDirection, length_bytes: u64) -> u16 {
        let holds = |share: &&Share| share.block_bytes.is_none_or(|bytes| bytes == length_bytes);
        let mut shares = self.shares[direction].iter().filter(holds).peekable();
        if shares.peek().is_none() {
            return 0;
        }
        let drawn = self.stream.between(0, 99);
        let mut end = 0;
        let chosen = shares.find(|share| {
            end += share.percent;
            drawn < end
        });
        chosen.map_or(0, |share| share.ioprio)
    }

    /// The priorities that a direction may have, except for that of the job.
    pub fn of_direction(&self, direction: DataDirection) -> impl Iterator<Item = u16> {
        self.shares[direction].iter().map(|share| share.ioprio)
    }

    /// Starts the next pass.
    pub fn start_pass(&mut self) {
        if let Some(first) = &self.first {
            self.stream.clone_from(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_units::random::DEFAULT_RAND_SEED;

    fn share(block_bytes: Option<u64>, percent: u32, class: u8, level: u8) -> PriorityShare {
        PriorityShare { block_bytes, percent, class, level, hint: 0 }
    }

    fn priorities(reads: &[PriorityShare], seed: u64, thread_number: u64) -> CommandPriorities {
        let shares = PerDirection([reads.to_vec(), Vec::new(), Vec::new()]);
        let seeds = SeedTable::new(seed, thread_number);
        CommandPriorities::new(&CommandPrioritySpec { shares }, &seeds, true).expect("there are shares")
    }

    fn counts(priorities: &mut CommandPriorities, n_ios: u32, ioprios: &[u16]) -> Vec<usize> {
        let drawn: Vec<u16> = (0..n_ios).map(|_| priorities.next(DataDirection::Read, 4096)).collect();
        ioprios.iter().map(|ioprio| drawn.iter().filter(|drawn| *drawn == ioprio).count()).collect()
    }

    /// Expected values: counts in reports of fio 3.41, and for 30 percent also of a development version.
    #[test]
    fn counts_are_those_of_the_reference() {
        for (percent, n_with) in [(1, 29), (20, 417), (30, 609), (50, 1_031), (60, 1_237), (99, 2_027), (100, 2_048)] {
            let mut priorities = priorities(&[share(None, percent, 1, 0)], DEFAULT_RAND_SEED, 1);
            assert_eq!(counts(&mut priorities, 2_048, &[0, 0x2000]), [2_048 - n_with, n_with], "{percent}");
        }
        let mut second = priorities(&[share(None, 30, 1, 0)], DEFAULT_RAND_SEED, 2);
        assert_eq!(counts(&mut second, 2_048, &[0x2000]), [601]);
        let mut seeded = priorities(&[share(None, 20, 1, 0)], 77, 1);
        assert_eq!(counts(&mut seeded, 2_048, &[0x2000]), [409]);
        let split = [share(Some(4096), 10, 1, 3), share(Some(8192), 50, 1, 0), share(Some(4096), 20, 2, 5)];
        let mut split = priorities(&split, DEFAULT_RAND_SEED, 1);
        assert_eq!(counts(&mut split, 2_048, &[0, 0x2003, 0x2000, 0x4005]), [1_439, 211, 0, 398]);
    }

    #[test]
    fn what_can_have_none_draws_none() {
        let mut one = priorities(&[share(Some(4096), 50, 1, 0)], DEFAULT_RAND_SEED, 1);
        let mut other = one.clone();
        for _ in 0..100 {
            assert_eq!(other.next(DataDirection::Read, 8192), 0);
            assert_eq!(other.next(DataDirection::Write, 4096), 0);
            assert_eq!(one.next(DataDirection::Read, 4096), other.next(DataDirection::Read, 4096));
        }
    }

    #[test]
    fn passes_repeat() {
        let mut priorities = priorities(&[share(None, 40, 3, 7)], DEFAULT_RAND_SEED, 1);
        let mut pass = || {
            let pass: Vec<u16> = (0..50).map(|_| priorities.next(DataDirection::Read, 512)).collect();
            priorities.start_pass();
            pass
        };
        assert_eq!(pass(), pass());
    }

    #[test]
    fn nothing_asked_for_is_nothing() {
        let seeds = SeedTable::new(DEFAULT_RAND_SEED, 1);
        assert!(CommandPriorities::new(&CommandPrioritySpec::default(), &seeds, true).is_none());
    }
}

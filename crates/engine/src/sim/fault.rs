//! Faults: `sim_fault`, a list of `[DIRECTION=]KIND[:DURATION]@WHEN`, separated by commas.
//!
//! | kind | what happens | by default on |
//! |---|---|---|
//! | `eio` | fails with EIO, nothing is moved | reads, writes |
//! | `short` | moves half of it (whole sectors where possible) and says so | reads, writes |
//! | `torn` | a write that says it is complete, but only its first sectors are stored; `trim=torn`: cleared | writes |
//! | `lost` | a write that says it is complete, but nothing is stored; `trim=lost`: cleared | writes |
//! | `misdirected` | a write that is stored somewhere else | writes |
//! | `flip` | one bit is wrong: in what is stored (writes) or in what is returned (reads) | writes |
//! | `stall` | takes `DURATION` longer (100 ms if not given) | reads, writes, trims, syncs |
//!
//! `WHEN` is a probability (`0.01` or `1%`), a whole number n (only the n-th I/O of these directions), or `/n` (every
//! n-th). If several rules apply to one I/O the first wins; a stall is added to it. Must not know: how the fault is
//! carried out. Start reading at [`Faults`].

use super::error::SimTextError;
use super::parse;
use super::rng::SimRandom;
use super::service::{direction_index, split_direction};
use ferrio_units::Direction;

/// Smallest piece of a torn write or a short transfer, bytes.
const SECTOR_BYTES: u64 = 512;

/// Delay of a stall without duration, ns.
const DEFAULT_STALL_NS: u64 = 100_000_000;

/// Purpose number of the first rule's random stream; each rule has the next number.
const FIRST_PURPOSE: u64 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SimFault {
    /// Nothing.
    None,
    Eio,
    /// Only this many bytes are moved and reported.
    Short(u64),
    /// Only this many bytes are stored or cleared, but all are reported.
    Torn(u64),
    /// Nothing is stored or cleared, but all bytes are reported.
    Lost,
    /// The data is stored at another address, which this number determines.
    Misdirected(u64),
    /// This bit of the data is wrong.
    Flip(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FaultRuleKind {
    Eio,
    Short,
    Torn,
    Lost,
    Misdirected,
    Flip,
    StallModel { ns: u64 },
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum When {
    Probability(f64),
    Nth(u64),
    Every(u64),
}

#[derive(Debug, Clone)]
struct Rule {
    kind: FaultRuleKind,
    directions: [bool; 4],
    when: When,
    n_seen: u64,
    stream: SimRandom,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    rules: Vec<Rule>,
}

impl Faults {
    pub(crate) fn parse(text: &str, seed: u64) -> Result<Self, SimTextError> {
        let purposes = FIRST_PURPOSE..;
        let rule = |(entry, purpose): (&str, u64)| Rule::parse(entry, SimRandom::new(seed, purpose));
        Ok(Self { rules: text.split(',').zip(purposes).map(rule).collect::<Result<_, _>>()? })
    }

    /// The first kind of fault that shows only in the contents of the device, if there is one.
    pub(crate) fn needs_data(&self) -> Option<&'static str> {
        self.rules.iter().find_map(|rule| match rule.kind {
            FaultRuleKind::Torn => Some("torn"),
            FaultRuleKind::Lost => Some("lost"),
            FaultRuleKind::Misdirected => Some("misdirected"),
            FaultRuleKind::Flip => Some("flip"),
            FaultRuleKind::Eio | FaultRuleKind::Short | FaultRuleKind::StallModel { .. } => None,
        })
    }

    /// The fault of the next I/O, and the delay that it adds, ns.
    pub(crate) fn next(&mut self, direction: Direction, length_bytes: u64) -> (SimFault, u64) {
        let mut fault = SimFault::None;
        let mut delay_ns = 0_u64;
        for rule in &mut self.rules {
            if !rule.fires(direction) {
                continue;
            }
            if let FaultRuleKind::StallModel { ns } = rule.kind {
                delay_ns = delay_ns.saturating_add(ns);
                continue;
            }
            // Drawn even if the fault does not apply, so that the rules stay independent of each other.
            let drawn = rule.fault(length_bytes);
            if fault == SimFault::None {
                fault = drawn;
            }
        }
        (fault, delay_ns)
    }
}

impl Rule {
    fn parse(entry: &str, stream: SimRandom) -> Result<Self, SimTextError> {
        let form = "[DIRECTION=]KIND[:DURATION]@WHEN, such as eio@0.01 or write=stall:20ms@/100";
        let (direction, rest) = split_direction(entry)?;
        let (kind, when) = rest.split_once('@').ok_or_else(|| SimTextError::Form { text: entry.to_owned(), form })?;
        let kind = FaultRuleKind::parse(kind)?;
        let directions = match direction {
            None => kind.default_directions(),
            Some(index) if kind.allowed_directions()[index] => [0, 1, 2, 3].map(|other| other == index),
            Some(_) => return Err(SimTextError::FaultDirection(entry.to_owned())),
        };
        Ok(Self { kind, directions, when: When::parse(when)?, n_seen: 0, stream })
    }

    fn fires(&mut self, direction: Direction) -> bool {
        if !self.directions[direction_index(direction)] {
            return false;
        }
        self.n_seen += 1;
        match self.when {
            When::Probability(probability) => self.stream.fraction() < probability,
            When::Nth(n) => self.n_seen == n,
            When::Every(n) => self.n_seen.is_multiple_of(n),
        }
    }

    fn fault(&mut self, length_bytes: u64) -> SimFault {
        match self.kind {
            FaultRuleKind::Eio => SimFault::Eio,
            FaultRuleKind::Short => match half(length_bytes) {
                0 => SimFault::None,
                half => SimFault::Short(half),
            },
            FaultRuleKind::Torn => {
                let n_sectors = length_bytes / SECTOR_BYTES;
                let kept = if n_sectors > 1 {
                    (1 + self.stream.below(n_sectors - 1)) * SECTOR_BYTES
                } else {
                    length_bytes / 2
                };
                SimFault::Torn(kept)
            }
            FaultRuleKind::Lost => SimFault::Lost,
            FaultRuleKind::Misdirected => SimFault::Misdirected(self.stream.below(u64::MAX)),
            FaultRuleKind::Flip => SimFault::Flip(self.stream.below(length_bytes.saturating_mul(8))),
            FaultRuleKind::StallModel { .. } => SimFault::None,
        }
    }
}

impl FaultRuleKind {
    fn parse(text: &str) -> Result<Self, SimTextError> {
        let (name, duration) = match text.split_once(':') {
            Some((name, duration)) => (name, Some(duration)),
            None => (text, None),
        };
        if duration.is_some() && name != "stall" {
            return Err(SimTextError::FaultDuration(text.to_owned()));
        }
        match name {
            "eio" => Ok(Self::Eio),
            "short" => Ok(Self::Short),
            "torn" => Ok(Self::Torn),
            "lost" => Ok(Self::Lost),
            "misdirected" => Ok(Self::Misdirected),
            "flip" => Ok(Self::Flip),
            "stall" => Ok(Self::StallModel { ns: duration.map_or(Ok(DEFAULT_STALL_NS), parse::time_ns)? }),
            _ => Err(SimTextError::Fault(name.to_owned())),
        }
    }

    /// For read, write, trim, sync.
    const fn allowed_directions(self) -> [bool; 4] {
        match self {
            Self::Eio | Self::StallModel { .. } => [true; 4],
            Self::Short | Self::Flip => [true, true, false, false],
            Self::Torn | Self::Lost => [false, true, true, false],
            Self::Misdirected => [false, true, false, false],
        }
    }

    const fn default_directions(self) -> [bool; 4] {
        match self {
            Self::Eio | Self::Short => [true, true, false, false],
            Self::StallModel { .. } => [true; 4],
            Self::Torn | Self::Lost | Self::Misdirected | Self::Flip => [false, true, false, false],
        }
    }
}

impl When {
    fn parse(text: &str) -> Result<Self, SimTextError> {
        let wrong = || SimTextError::When(text.to_owned());
        if let Some(number) = text.strip_prefix('/') {
            return number.parse().ok().filter(|n| *n > 0).map(Self::Every).ok_or_else(wrong);
        }
        if let Ok(n) = text.parse::<u64>() {
            return Some(n).filter(|n| *n > 0).map(Self::Nth).ok_or_else(wrong);
        }
        let probability = parse::fraction(text).map_err(|_| wrong())?;
        if probability > 1.0 {
            return Err(SimTextError::Probability(text.to_owned()));
        }
        Ok(Self::Probability(probability))
    }
}

/// Half of a length; whole sectors if there are at least two.
const fn half(length_bytes: u64) -> u64 {
    let half = length_bytes / 2;
    if half >= SECTOR_BYTES { half / SECTOR_BYTES * SECTOR_BYTES } else { half }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fired(text: &str, direction: Direction, n: usize) -> Vec<usize> {
        let mut faults = Faults::parse(text, 5).unwrap();
        (1..=n).filter(|_| faults.next(direction, 4096).0 != SimFault::None).collect()
    }

    #[test]
    fn counts_and_probabilities() {
        assert_eq!(fired("eio@3", Direction::Read, 10), [3]);
        assert_eq!(fired("eio@/4", Direction::Write, 10), [4, 8]);
        assert_eq!(fired("eio@1.0", Direction::Read, 3), [1, 2, 3]);
        assert_eq!(fired("eio@0.0", Direction::Read, 1000), Vec::<usize>::new());
        assert_eq!(fired("read=eio@1", Direction::Write, 3), Vec::<usize>::new());
        // Binomial: 1000 expected, deviation 30; the seed is fixed.
        let n = fired("eio@10%", Direction::Read, 10_000).len();
        assert!((880..1120).contains(&n), "{n}");
    }

    #[test]
    fn each_kind_says_what_happens() {
        let first = |text: &str, direction, length| Faults::parse(text, 5).unwrap().next(direction, length);
        assert_eq!(first("short@1", Direction::Read, 4096), (SimFault::Short(2048), 0));
        assert_eq!(first("short@1", Direction::Read, 1536), (SimFault::Short(512), 0));
        assert_eq!(first("short@1", Direction::Read, 1), (SimFault::None, 0));
        assert_eq!(first("lost@1", Direction::Write, 4096), (SimFault::Lost, 0));
        assert_eq!(first("stall:5ms@1,eio@1", Direction::Read, 4096), (SimFault::Eio, 5_000_000));
        assert_eq!(first("stall@1", Direction::Sync, 0), (SimFault::None, 100_000_000));
        for seed in 0..100 {
            let mut faults = Faults::parse("torn@1,flip@2", seed).unwrap();
            let (SimFault::Torn(kept), 0) = faults.next(Direction::Write, 4096) else { panic!("not torn") };
            assert!(kept.is_multiple_of(512) && (512..4096).contains(&kept));
            let (SimFault::Flip(bit), 0) = faults.next(Direction::Write, 4096) else { panic!("not flipped") };
            assert!(bit < 4096 * 8);
        }
    }

    #[test]
    fn a_rule_does_not_change_what_another_draws() {
        let alone = fired("eio@10%", Direction::Write, 1000);
        let mut both = Faults::parse("eio@10%,torn@50%", 5).unwrap();
        let eio: Vec<_> = (1..=1000).filter(|_| both.next(Direction::Write, 4096).0 == SimFault::Eio).collect();
        assert_eq!(alone, eio);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("eio", "KIND"),
            ("boom@1", "'boom' is not a fault"),
            ("eio:5ms@1", "only a stall"),
            ("eio@0", "neither a probability"),
            ("eio@/0", "neither a probability"),
            ("eio@150%", "above 1"),
            ("read=torn@1", "does not happen"),
            ("disk=eio@1", "'disk' is not a direction"),
        ] {
            let error = Faults::parse(text, 1).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert_eq!(Faults::parse("eio@1,torn@1", 1).unwrap().needs_data(), Some("torn"));
    }
}

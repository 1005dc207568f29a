//! Direction of the next I/O.
//!
//! Must not know: offsets. Start reading at [`DirectionPicker`].
//! Facts of the mix: reference "Mixed choice" (a draw of 1..100 from the mix stream; shares are recomputed on a switch).

use crate::cursor::FileCursor;
use ferrio_spec::{DirectionMix, PatternSpec};
use ferrio_units::random::{SeedIndex, SeedTable, Taus88};
use ferrio_units::{DataDirection, PerDirection};

/// Chooses the direction of the next data I/O.
#[derive(Debug, Clone)]
pub(crate) enum DirectionPicker {
    /// Always the same direction.
    Single(DataDirection),
    /// Sequential trims and writes: writes follow a trim until they have reached its block.
    SequentialTrimWrite,
    /// Random trims: each is followed by a write of the same range.
    RandomTrimWrite,
    Mix(ReadWriteMix),
    /// The same, if each direction has its own rate.
    Steered(Box<SteeredMix>),
}

/// A mix of directions that are due at different times.
#[derive(Debug, Clone)]
pub(crate) struct SteeredMix {
    mix: ReadWriteMix,
    now_ns: u64,
    dues_ns: PerDirection<u64>,
}

/// State of a mixed job.
#[derive(Debug, Clone)]
pub(crate) struct ReadWriteMix {
    percent_read: u32,
    current: DataDirection,
    /// Number of `current`'s I/Os after which a direction is drawn again.
    share: u64,
    stream: Taus88,
}

impl DirectionPicker {
    pub(crate) fn new(pattern: &PatternSpec, seeds: &SeedTable) -> Self {
        match pattern.mix {
            DirectionMix::Read => Self::Single(DataDirection::Read),
            DirectionMix::Write => Self::Single(DataDirection::Write),
            DirectionMix::Trim => Self::Single(DataDirection::Trim),
            DirectionMix::TrimWrite if pattern.random => Self::RandomTrimWrite,
            DirectionMix::TrimWrite => Self::SequentialTrimWrite,
            DirectionMix::ReadWrite => Self::Mix(ReadWriteMix {
                percent_read: pattern.rwmix_read,
                current: DataDirection::Read,
                share: 0,
                stream: Taus88::from_table(seeds, SeedIndex::ReadWriteMix),
            }),
        }
    }

    /// The same picker for a job with rates.
    pub(crate) fn steered(self) -> Self {
        match self {
            Self::Mix(mix) => Self::Steered(Box::new(SteeredMix { mix, now_ns: 0, dues_ns: PerDirection::all(0) })),
            other => other,
        }
    }

    /// Starts the random stream anew.
    pub(crate) fn reseed(&mut self, pattern: &PatternSpec, seeds: &SeedTable) {
        let fresh = Self::new(pattern, seeds);
        *self = if matches!(self, Self::Steered(_)) { fresh.steered() } else { fresh };
    }

    /// Sets the time and the times at which the directions are due.
    pub(crate) fn steer(&mut self, now_ns: u64, dues_ns: PerDirection<u64>) {
        if let Self::Steered(steered) = self {
            (steered.now_ns, steered.dues_ns) = (now_ns, dues_ns);
        }
    }

    /// The direction drawn last had no I/O to do; it comes again next, without another draw.
    pub(crate) fn hold(&mut self, n_issued: &PerDirection<u64>) {
        if let Some(mix) = self.mix() {
            mix.share = mix.share.max(n_issued[mix.current].saturating_add(1));
        }
    }

    /// The next direction is drawn, even if the present one has not used up its share.
    pub(crate) fn lose_share(&mut self) {
        if let Some(mix) = self.mix() {
            mix.share = 0;
        }
    }

    fn mix(&mut self) -> Option<&mut ReadWriteMix> {
        match self {
            Self::Mix(mix) => Some(mix),
            Self::Steered(steered) => Some(&mut steered.mix),
            Self::Single(_) | Self::RandomTrimWrite | Self::SequentialTrimWrite => None,
        }
    }

    /// The next direction of a job that has no pairs of trims and writes.
    pub(crate) fn next_alone(&mut self, n_issued: &PerDirection<u64>) -> DataDirection {
        match self {
            Self::Single(direction) => *direction,
            Self::RandomTrimWrite | Self::SequentialTrimWrite => DataDirection::Trim,
            Self::Mix(mix) => mix.next(n_issued),
            Self::Steered(steered) => steered.next(n_issued),
        }
    }

    /// The next direction in a file. `n_issued`: I/Os issued so far.
    #[inline]
    pub(crate) fn next(&mut self, n_issued: &PerDirection<u64>, file: &FileCursor) -> DataDirection {
        match self {
            Self::Single(direction) => *direction,
            Self::RandomTrimWrite if file.has_unwritten_trim => DataDirection::Write,
            Self::RandomTrimWrite => DataDirection::Trim,
            Self::SequentialTrimWrite => {
                let caught_up = file.last_bytes[DataDirection::Write] == file.last_bytes[DataDirection::Trim];
                if caught_up { DataDirection::Trim } else { DataDirection::Write }
            }
            Self::Mix(mix) => mix.next(n_issued),
            Self::Steered(steered) => steered.next(n_issued),
        }
    }
}

impl SteeredMix {
    /// The drawn direction, or the other one if the drawn one would have to wait and the other is due sooner.
    fn next(&mut self, n_issued: &PerDirection<u64>) -> DataDirection {
        let drawn = self.mix.next(n_issued);
        let other = if drawn == DataDirection::Read { DataDirection::Write } else { DataDirection::Read };
        let waits = self.dues_ns[drawn] > self.now_ns && self.dues_ns[drawn] > self.dues_ns[other];
        if waits { other } else { drawn }
    }
}

impl ReadWriteMix {
    #[inline]
    fn next(&mut self, n_issued: &PerDirection<u64>) -> DataDirection {
        if n_issued[self.current] >= self.share {
            let read = self.stream.percent() <= self.percent_read;
            let drawn = if read { DataDirection::Read } else { DataDirection::Write };
            if drawn != self.current {
                let percent = if read { self.percent_read } else { 100 - self.percent_read };
                self.share = n_issued[self.current].saturating_mul(u64::from(percent)) / 100;
                self.current = drawn;
            }
        }
        self.current
    }
}

//! Facts about a job's stream that follow from its description: which blocks it visits again, and in which way.
//!
//! They are decided here and nowhere else, once, before the first I/O. Code that plans a pass or verifies its writes
//! uses them.
//! Must not know: files, engines. Start reading at [`Shape`].

use crate::compat;
use crate::plan::Rounds;
use ferrio_spec::{
    BlockRange, Compatibility, DirectionMix, FileService, JobSpec, PatternSpec, RandomDistribution, RandomGenerator,
    ZoneSpec,
};
use ferrio_units::DataDirection;

/// The amount of work of a job, beside its description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Bytes of one pass over its files.
    pub pass_bytes: u64,
    /// Bytes of the whole job.
    pub io_bytes: u64,
    pub queues: bool,
    /// Whether the job has fio's oddities.
    pub compatibility: Compatibility,
}

/// Facts about a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// A pass visits no block twice, as far as its order decides that.
    pub visits_once: bool,
    /// A random job does several blocks in sequence (`rw=randwrite:8`), or a sequential job leaves gaps.
    pub jumps: bool,
    /// Something other than the order of blocks leads back to a block: a trace, a file that starts over, trims of other
    /// sizes than the writes.
    pub returns: bool,
    /// A write may overlap only a part of another: writes differ in size, or start within others.
    pub in_parts: bool,
    /// Files have zones.
    pub is_zoned: bool,
    /// A verified job fills each zone that is written in sequence once in a pass: it has a random map, or needs none.
    pub fills_zones_once: bool,
    /// How a sequential direction continues if the job has more bytes to do than one pass has.
    pub rounds: Rounds,
    /// Files start over within the pass until the time of the job is over.
    pub goes_on_with_time: bool,
}

impl Shape {
    pub fn new(spec: &JobSpec, extent: Extent) -> Self {
        let pattern = &spec.pattern;
        let has_map = !pattern.norandommap && pattern.distribution == RandomDistribution::Uniform;
        let is_sequential = matches!(spec.zones, ZoneSpec::Sequential(_));
        let shape = Self {
            visits_once: visits_once(pattern),
            jumps: pattern.rw_postfix != i64::from(pattern.random),
            returns: returns(spec),
            in_parts: in_parts(pattern),
            is_zoned: spec.zones != ZoneSpec::None,
            fills_zones_once: false,
            rounds: rounds(spec, extent),
            goes_on_with_time: goes_on_with_time(spec, extent),
        };
        let is_once = !shape.returns && !shape.jumps && !shape.goes_round() && !shape.goes_on_with_time;
        Self { fills_zones_once: is_sequential && is_once && (has_map || !pattern.random), ..shape }
    }

    /// A sequential pass goes through its files several times: the writes of a round cover those of the round before.
    pub fn goes_round(self) -> bool {
        self.rounds == Rounds::OfBlocks
    }

    /// In a pass that ends with its files, a write may overlap another one.
    pub fn overlaps_in_pass(self) -> bool {
        !self.visits_once || self.jumps || self.is_zoned || self.returns
    }

    /// A write of a pass may overlap another one, apart from the rounds of [`Self::goes_round`].
    pub fn overlaps_unwaited(self) -> bool {
        self.overlaps_in_pass() || self.goes_on_with_time
    }

    /// A write of a pass may overlap another one.
    pub fn overlaps(self) -> bool {
        self.overlaps_unwaited() || self.goes_round()
    }
}

fn visits_once(pattern: &PatternSpec) -> bool {
    let size = pattern.block_size[DataDirection::Write];
    // The LFSR gives each number once, even if a larger block has covered that number since.
    let draws_under_others = pattern.random_generator == Some(RandomGenerator::Lfsr) && !is_one_size(size);
    !pattern.random
        || (!pattern.norandommap
            && !pattern.softrandommap
            && !draws_under_others
            // Skewed draws repeat blocks. Sequential blocks of a random job (`percentage_random`) are not marked in the
            // map.
            && pattern.distribution == RandomDistribution::Uniform
            && pattern.percentage_random[DataDirection::Write] == 100)
}

fn is_one_size(size: BlockRange) -> bool {
    size.min_bytes == size.max_bytes
}

fn returns(spec: &JobSpec) -> bool {
    let starts_over = matches!(spec.target.file_service, FileService::Skewed(_));
    starts_over || spec.replay.is_set() || trims_differ(&spec.pattern) || spec.pattern.sprandom.is_some()
}

/// In a sequential `trimwrite`, a trim may be longer or shorter than the write that follows it.
fn trims_differ(pattern: &PatternSpec) -> bool {
    let (write, trim) = (pattern.block_size[DataDirection::Write], pattern.block_size[DataDirection::Trim]);
    // A random write repeats the range of the trim before it, whatever its own sizes are.
    pattern.mix == DirectionMix::TrimWrite && !pattern.random && !(write == trim && is_one_size(write))
}

fn in_parts(pattern: &PatternSpec) -> bool {
    let size = pattern.block_size[DataDirection::Write];
    let align = pattern.block_align[DataDirection::Write];
    !is_one_size(size) || align.is_some_and(|align| align != size.min_bytes)
}

/// If `io_size` is larger than the size, a sequential direction may continue at the start of its file until `io_size` is
/// done. That holds for a mix of reads and writes in fio, and for a sequential job whose writes are
/// verified (fio 3.42, by the reference); these are then read back once.
fn rounds(spec: &JobSpec, extent: Extent) -> Rounds {
    let is_mixed = spec.pattern.mix == DirectionMix::ReadWrite;
    let is_verified =
        spec.verify.is_some() && !spec.pattern.random && (is_mixed || spec.pattern.mix == DirectionMix::Write);
    if extent.io_bytes <= extent.pass_bytes
        || spec.extent.whole_files
        || !spec.extent.patterns.is_empty()
        || spec.replay.is_set()
        || spec.zones != ZoneSpec::None
    {
        return Rounds::None;
    }
    match (is_verified, is_mixed) {
        // A pass that only time ends is not read back.
        (true, _) if spec.limits.time_based => Rounds::None,
        (true, _) => Rounds::OfBlocks,
        (false, true) => compat::rounds_of_mix(extent.compatibility),
        (false, false) => Rounds::None,
    }
}

/// A time-based job has several passes if each is read back, at least with an engine that has a queue of its own.
fn goes_on_with_time(spec: &JobSpec, extent: Extent) -> bool {
    let ends = compat::passes_end_with_time(extent.compatibility, extent.queues);
    let is_read_back = spec.verify.as_ref().is_some_and(|verify| verify.reads_back && verify.backlog.is_none());
    let has_passes = is_read_back && ends && spec.zones == ZoneSpec::None && !spec.replay.is_set();
    spec.limits.time_based && !has_passes
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::{VerifyMethod, VerifySpec};

    type Change = fn(&mut JobSpec);

    const ONE_PASS: Extent =
        Extent { pass_bytes: 1 << 20, io_bytes: 1 << 20, queues: false, compatibility: Compatibility::Fio };

    fn shape(change: impl FnOnce(&mut JobSpec)) -> Shape {
        let mut spec = JobSpec::default();
        spec.pattern.mix = DirectionMix::Write;
        change(&mut spec);
        spec.pattern.rw_postfix = spec.pattern.rw_postfix.max(i64::from(spec.pattern.random));
        Shape::new(&spec, ONE_PASS)
    }

    /// A sequential job, or a random one with a map, visits each block once; each of these options alone leads back to
    /// a block.
    #[test]
    fn who_visits_a_block_twice_is_told() {
        assert!(!shape(|_| ()).overlaps());
        assert!(!shape(|spec| spec.pattern.random = true).overlaps());
        let back: [(&str, Change); 8] = [
            ("norandommap", |spec| spec.pattern.norandommap = true),
            ("softrandommap", |spec| spec.pattern.softrandommap = true),
            ("lfsr of several sizes", |spec| {
                spec.pattern.random_generator = Some(RandomGenerator::Lfsr);
                spec.pattern.block_size[DataDirection::Write].max_bytes *= 2;
            }),
            ("zipf", |spec| spec.pattern.distribution = RandomDistribution::Zipf { theta: 1.2, center: None }),
            ("percentage_random", |spec| spec.pattern.percentage_random[DataDirection::Write] = 50),
            ("randwrite:8", |spec| spec.pattern.rw_postfix = 8),
            ("time_based", |spec| spec.limits.time_based = true),
            ("sizes of trims", |spec| {
                (spec.pattern.mix, spec.pattern.random) = (DirectionMix::TrimWrite, false);
                spec.pattern.block_size[DataDirection::Trim].max_bytes *= 2;
            }),
        ];
        for (name, change) in back {
            let shape = shape(|spec| {
                spec.pattern.random = true;
                change(spec);
            });
            assert!(shape.overlaps(), "{name}");
        }
    }

    /// With `io_size` larger than the size, a sequential verified job goes through its files several times; one with
    /// zones does not.
    #[test]
    fn rounds_lie_over_each_other() {
        let mut spec = JobSpec { verify: Some(VerifySpec::of(VerifyMethod::Crc32c)), ..JobSpec::default() };
        spec.pattern.mix = DirectionMix::Write;
        let twice = Extent { io_bytes: 2 << 20, ..ONE_PASS };
        assert_eq!(Shape::new(&spec, ONE_PASS).rounds, Rounds::None);
        let shape = Shape::new(&spec, twice);
        assert!(shape.goes_round() && shape.overlaps() && !shape.overlaps_in_pass() && !shape.overlaps_unwaited());
        spec.limits.time_based = true;
        assert_eq!(Shape::new(&spec, twice).rounds, Rounds::None);
    }
}

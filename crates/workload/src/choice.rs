//! The rule by which random blocks of a file are chosen, decided once from `random_distribution`, `random_generator`,
//! `norandommap`, `sprandom`.
//!
//! Must not know: offsets, block sizes of I/Os. Start reading at [`BlockChoice`].

use crate::compat;
use crate::cursor::FileCursor;
use crate::permuted::PermutedBlocks;
use crate::plan::{WorkloadError, WorkloadPlan};
use crate::sequence::Sequence;
use crate::sprandom::SpRandomBlocks;
use crate::zones::ZonedDistribution;
use ferrio_spec::{DistributionZone, PatternSpec, RandomDistribution, RandomGenerator, RankLaw, SpRandomSpec};
use ferrio_stats::HotDraws;
use ferrio_stats::note::StreamFault;
use ferrio_sys::huge_pages;
use ferrio_units::random::{DistributionShape, Lfsr, SeedIndex, SkewedBlocks};
use ferrio_units::{BuildError, DataDirection, PerDirection, RandomMap};

/// The source of a file's random blocks.
#[derive(Debug, Clone)]
pub(crate) enum BlockChoice {
    /// Uniform draws.
    Free,
    /// Uniform draws without repetition, by a map with a bit for each block.
    Map(RandomMap),
    /// A generator that visits each block once.
    Lfsr(Lfsr),
    /// Skewed draws from a random stream that belongs to the file.
    Skewed(SkewedBlocks),
    /// Skewed draws in which each block has a rank of its own.
    Permuted(Box<PermutedBlocks>),
    /// A zone is drawn first, then a block within it, uniformly.
    Zoned(ZonedDistribution),
    /// The blocks of a list, in order.
    Sequence(Sequence),
    /// Each block once, and overwrites in between.
    SpRandom(Box<SpRandomBlocks>),
}

/// The shape made last: files of the same size share one, because it may take a third of a second to make.
#[derive(Debug, Default)]
pub(crate) struct Shapes(Option<(DistributionShape, Option<f64>)>);

impl BlockChoice {
    pub(crate) fn new(plan: &WorkloadPlan, file_index: usize, shapes: &mut Shapes) -> Result<Self, WorkloadError> {
        if !plan.pattern.random {
            return Ok(Self::Free);
        }
        if let Some(spec) = plan.pattern.sprandom {
            return sprandom(plan, file_index, spec);
        }
        match &plan.pattern.distribution {
            RandomDistribution::Uniform => Self::uniform(plan, file_index),
            RandomDistribution::Zoned(list) => zoned(plan, file_index, list),
            RandomDistribution::Permuted { law, center } => permuted(plan, file_index, *law, *center),
            RandomDistribution::Sequence { blocks, stride } => sequence(plan, file_index, blocks, *stride),
            RandomDistribution::Zipf { .. } | RandomDistribution::Pareto { .. } | RandomDistribution::Normal { .. } => {
                let seed = plan.files[file_index].distribution_seed;
                let shape = shapes.get(plan, file_index)?;
                Ok(shape.map_or(Self::Free, |(shape, center)| Self::Skewed(SkewedBlocks::new(shape, seed, center))))
            }
        }
    }

    /// The rule if all blocks are equally likely.
    pub(crate) fn uniform(plan: &WorkloadPlan, file_index: usize) -> Result<Self, WorkloadError> {
        let pattern = &plan.pattern;
        if !pattern.random {
            return Ok(Self::Free);
        }
        let min_bytes = smallest_block_bytes(plan).max(1);
        let n_blocks = drawn_bytes(plan, file_index) / min_bytes;
        if pattern.random_generator == Some(RandomGenerator::Lfsr) {
            let lfsr = Lfsr::new(n_blocks, plan.seeds.get(SeedIndex::Offset));
            return lfsr.map(Self::Lfsr).map_err(|why| WorkloadError(StreamFault::Lfsr { file_index, why }));
        }
        if pattern.norandommap || n_blocks == 0 {
            return Ok(Self::Free);
        }
        match RandomMap::with_memory(n_blocks, huge_pages::prefer) {
            Ok(map) => Ok(Self::Map(map)),
            Err(_) if pattern.softrandommap => Ok(Self::Free),
            Err(_) => Err(WorkloadError(StreamFault::RandomMap { file_index, n_blocks })),
        }
    }

    /// The file starts over. Skewed streams continue.
    pub(crate) fn rewind(&mut self) {
        match self {
            Self::Free | Self::Skewed(_) | Self::Permuted(_) | Self::Zoned(_) => {}
            Self::Map(map) => map.reset(),
            Self::Lfsr(lfsr) => lfsr.rewind(),
            Self::Sequence(sequence) => sequence.rewind(),
            Self::SpRandom(blocks) => blocks.rewind(),
        }
    }

    /// Adds the draws of each zone.
    pub(crate) fn add_zones(&self, direction: DataDirection, counts: &mut Vec<u64>) {
        let Self::Zoned(zones) = self else { return };
        for (index, n_drawn) in zones.drawn(direction).enumerate() {
            match counts.get_mut(index) {
                Some(count) => *count += n_drawn,
                None => counts.push(n_drawn),
            }
        }
    }

    /// The random streams start anew with a pass.
    pub(crate) fn reseed(&mut self) {
        if let Self::SpRandom(blocks) = self {
            blocks.reseed();
        }
    }
}

/// The hot draws of skewed distributions over files of the same shape, of so many draws in all; `None`: there are none, or the
/// files have different shapes.
pub(crate) fn hot_draws(files: &[FileCursor], n_drawn: u64) -> Option<HotDraws> {
    let of_file = |file: &FileCursor| match &file.choice {
        BlockChoice::Skewed(blocks) => blocks.hot_draws(),
        _ => None,
    };
    let all: Vec<(u64, f64)> = files.iter().map(of_file).collect::<Option<_>>()?;
    let share = all.first()?.1;
    let is_same = all.iter().all(|(_, other)| (other / share - 1.0).abs() < 1e-3);
    let n_hot = all.iter().map(|(n_hot, _)| n_hot).sum();
    is_same.then_some(HotDraws { n_drawn, n_hot, n_wanted: n_drawn as f64 * share })
}

fn zoned(
    plan: &WorkloadPlan,
    file_index: usize,
    list: &PerDirection<Vec<DistributionZone>>,
) -> Result<BlockChoice, WorkloadError> {
    let n_places = n_drawn(plan, file_index);
    let zones = ZonedDistribution::new(
        list,
        &n_places,
        &PerDirection(DataDirection::ALL.map(|d| align_bytes(&plan.pattern, d))),
    );
    match used_directions(&plan.pattern).find(|direction| zones.end(*direction) > n_places[*direction]) {
        Some(direction) => Err(WorkloadError(StreamFault::Zones { file_index, n_blocks: n_places[direction] })),
        None => Ok(BlockChoice::Zoned(zones)),
    }
}

fn permuted(
    plan: &WorkloadPlan,
    file_index: usize,
    law: RankLaw,
    center: Option<f64>,
) -> Result<BlockChoice, WorkloadError> {
    let seed = plan.files[file_index].distribution_seed;
    let blocks = PermutedBlocks::new(law, center, &n_drawn(plan, file_index), seed);
    let failed = |why| WorkloadError(StreamFault::Distribution { file_index, why });
    blocks.map(|blocks| BlockChoice::Permuted(Box::new(blocks))).map_err(failed)
}

fn sequence(
    plan: &WorkloadPlan,
    file_index: usize,
    blocks: &[u64],
    stride: bool,
) -> Result<BlockChoice, WorkloadError> {
    let n_places = n_places(plan, file_index);
    let n_blocks = used_directions(&plan.pattern).map(|direction| n_places[direction]).min().unwrap_or(0);
    match blocks.iter().find(|block| **block >= n_blocks) {
        // With a stride a block past the end of the file is no error: the pass ends there.
        Some(block) if !stride => Err(WorkloadError(StreamFault::Sequence { file_index, block: *block, n_blocks })),
        _ => Ok(BlockChoice::Sequence(Sequence::new(blocks, stride))),
    }
}

/// The spec of `sprandom` holds only for jobs that write, with a single block size.
fn sprandom(plan: &WorkloadPlan, file_index: usize, spec: SpRandomSpec) -> Result<BlockChoice, WorkloadError> {
    let n_blocks = n_places(plan, file_index)[DataDirection::Write];
    let block_bytes = plan.pattern.block_size[DataDirection::Write].min_bytes;
    let blocks = SpRandomBlocks::new(spec, n_blocks, block_bytes, &plan.seeds, file_index);
    let error = WorkloadError(StreamFault::SpRandom { file_index, cache_bytes: spec.cache_bytes, n_blocks });
    blocks.map(|blocks| BlockChoice::SpRandom(Box::new(blocks))).ok_or(error)
}

fn used_directions(pattern: &PatternSpec) -> impl Iterator<Item = DataDirection> + use<> {
    let used = pattern.mix.directions();
    DataDirection::ALL.into_iter().filter(move |direction| used[*direction])
}

/// Random offsets of a direction are multiples of this many bytes, counted from the start of the range.
pub(crate) fn align_bytes(pattern: &PatternSpec, direction: DataDirection) -> u64 {
    pattern.block_align[direction].unwrap_or(pattern.block_size[direction].min_bytes).max(1)
}

/// Number of aligned offsets in a file at which the smallest block of a direction fits.
pub(crate) fn n_places(plan: &WorkloadPlan, file_index: usize) -> PerDirection<u64> {
    places_in(plan, plan.files[file_index].length_bytes)
}

/// Number of aligned offsets in a file that lie within its range; 0 if nothing can be drawn.
pub(crate) fn n_starts(plan: &WorkloadPlan, file_index: usize) -> PerDirection<u64> {
    let n_places = n_places(plan, file_index);
    let length_bytes = plan.files[file_index].length_bytes;
    let n_starts = |direction: DataDirection| {
        let align_bytes = align_bytes(&plan.pattern, direction);
        compat::n_starts(plan.compatibility, n_places[direction], length_bytes, align_bytes)
    };
    PerDirection(DataDirection::ALL.map(n_starts))
}

fn places_in(plan: &WorkloadPlan, length_bytes: u64) -> PerDirection<u64> {
    let places = |direction: DataDirection| {
        let min_bytes = plan.pattern.block_size[direction].min_bytes.max(1);
        compat::n_places(plan.compatibility, length_bytes, align_bytes(&plan.pattern, direction), min_bytes)
    };
    PerDirection(DataDirection::ALL.map(places))
}

impl Shapes {
    /// The shape of the distribution over a file, and its centre; `None` for a file without blocks.
    fn get(
        &mut self,
        plan: &WorkloadPlan,
        file_index: usize,
    ) -> Result<Option<(DistributionShape, Option<f64>)>, WorkloadError> {
        let unit_bytes = compat::skew_unit_bytes(plan.compatibility, &plan.pattern);
        let length_bytes = plan.files[file_index].length_bytes;
        let n_blocks = compat::n_skewed_blocks(plan.compatibility, length_bytes, unit_bytes);
        if n_blocks == 0 {
            return Ok(None);
        }
        let failed = |why| WorkloadError(StreamFault::Distribution { file_index, why });
        if self.0.is_none_or(|(shape, _)| shape.n_blocks() != n_blocks) {
            self.0 = skew(&plan.pattern.distribution, n_blocks).map_err(failed)?;
        }
        Ok(self.0)
    }
}

/// The shape of a skewed distribution of fio over a number of blocks, and its centre; `None` for any other.
pub(crate) fn skew(
    distribution: &RandomDistribution,
    n: u64,
) -> Result<Option<(DistributionShape, Option<f64>)>, BuildError> {
    let (shape, center) = match *distribution {
        RandomDistribution::Uniform
        | RandomDistribution::Permuted { .. }
        | RandomDistribution::Zoned(_)
        | RandomDistribution::Sequence { .. } => {
            return Ok(None);
        }
        RandomDistribution::Zipf { theta, center } => (DistributionShape::zipf(n, theta), center),
        RandomDistribution::Pareto { h, center } => (DistributionShape::pareto(n, h), center),
        RandomDistribution::Normal { deviation_percent, center } => {
            (DistributionShape::normal(n, deviation_percent), center)
        }
    };
    Ok(Some((shape?, center)))
}

/// Length of the part of a file from which random offsets are drawn: its range, or the window. Skewed draws always use
/// the range.
pub(crate) fn drawn_bytes(plan: &WorkloadPlan, file_index: usize) -> u64 {
    plan.strided.map_or(plan.files[file_index].length_bytes, |strided| strided.range_bytes)
}

/// Number of offsets among which uniform draws of a direction choose.
pub(crate) fn n_drawn(plan: &WorkloadPlan, file_index: usize) -> PerDirection<u64> {
    places_in(plan, drawn_bytes(plan, file_index))
}

/// The unit of the map.
pub(crate) fn smallest_block_bytes(plan: &WorkloadPlan) -> u64 {
    compat::map_unit_bytes(plan.compatibility, &plan.pattern)
}

#[cfg(test)]
mod tests;

//! Skewed distributions that send most I/Os to a few blocks.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::measures::asked::most_ios;
use crate::measures::ranges::range_bytes;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_spec::{DistributionZone, RandomDistribution, RankLaw, ZoneLength};
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "few-hot-blocks",
    title: "Most I/Os went to a few blocks",
    severity: Severity::Note,
    what: "The random_distribution of a job, the size of its range and its block size: the least part of the range that gets nine tenths of \
           the I/Os. It is reported where that part has at most 32 MiB and less than half of the range, and each of its blocks has ten I/Os and more.",
    why: "Drives, controllers and the hosts of virtual machines have caches of this size and more, which answer from memory after the first \
          time. The figures are those of the hot blocks, whatever the size of the range.",
    example: "--name=a --filename=/dev/sdx --rw=randread --random_distribution=zipf:1.6 --direct=1 --size=100g",
    cure: "Use a flatter distribution (zipf with a smaller theta, pareto with a larger h) or a much larger range; `ferrio genzipf` shows how \
           many blocks a distribution hits.",
    needs: &[EvidenceKind::Ranges],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

const LARGEST_BYTES: f64 = (32_u64 << 20) as f64;
const SHARE: f64 = 0.9;
const IOS_A_BLOCK: f64 = 10.0;
/// Zipf's weights that are added one by one; the rest is an integral.
const N_EXACT: u64 = 1_000;

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let (pattern, replay) = (&job.spec.pattern, &job.spec.replay);
    if !pattern.random
        || !job.has_files()
        || replay.is_set()
        || job.has_more_files
        || job.places.iter().any(is_in_memory)
    {
        return None;
    }
    let direction = DataDirection::ALL.into_iter().find(|direction| job.does(*direction))?;
    let range_bytes = range_bytes(case, job)?;
    let block_bytes = pattern.block_size[direction].min_bytes.max(1);
    let n_blocks = range_bytes / block_bytes;
    if n_blocks == 0 {
        return None;
    }
    let n_hot = hot_blocks(&pattern.distribution, direction, n_blocks, block_bytes)?;
    let hot_bytes = n_hot * block_bytes as f64;
    let n_ios = match &job.total {
        Some(total) => total.directions.0.iter().map(|figures| figures.n_completed as f64).sum(),
        // A job without a bound may do any number.
        None => most_ios(job).map_or(f64::INFINITY, |n_ios| n_ios as f64),
    };
    if hot_bytes > LARGEST_BYTES || hot_bytes > range_bytes as f64 / 2.0 || n_ios * SHARE < n_hot * IOS_A_BLOCK {
        return None;
    }
    let (goes, hot) = (if case.is_before() { "go" } else { "went" }, text::bytes(hot_bytes as u64));
    let explanation = format!(
        "By the random_distribution nine tenths of the I/Os {goes} to at most {hot} of the {}: a cache of that size in or below the device can \
         answer them.",
        text::bytes(range_bytes)
    );
    let evidence =
        vec![Measured::bytes("part with 90 % of the I/Os", hot_bytes as u64), Measured::bytes("range", range_bytes)];
    Some(Observation::of(job, evidence, explanation))
}

/// The least number of blocks, at least 1, that get nine tenths of the draws; `None`: all are as likely.
fn hot_blocks(
    distribution: &RandomDistribution,
    direction: DataDirection,
    n_blocks: u64,
    block_bytes: u64,
) -> Option<f64> {
    let n = n_blocks as f64;
    let found = match distribution {
        RandomDistribution::Uniform | RandomDistribution::Sequence { stride: true, .. } => return None,
        RandomDistribution::Zipf { theta, .. } | RandomDistribution::Permuted { law: RankLaw::Zipf { theta }, .. } => {
            zipf(*theta, n_blocks)
        }
        // A share p of the draws is on this share of the blocks: with p = 1 - h, that is h.
        RandomDistribution::Pareto { h, .. } | RandomDistribution::Permuted { law: RankLaw::Pareto { h }, .. } => {
            n * SHARE.powf(h.ln() / (1.0 - h).ln())
        }
        // Nine tenths are within 1.645 deviations of the middle.
        RandomDistribution::Normal { deviation_percent, .. } => n * 2.0 * 1.645 * deviation_percent / 100.0,
        RandomDistribution::Zoned(zones) => zoned(&zones[direction], n, block_bytes as f64),
        RandomDistribution::Sequence { blocks, .. } => blocks.len() as f64,
    };
    Some(found.clamp(1.0, n))
}

/// Rank k has the weight 1 / k^theta.
fn zipf(theta: f64, n_blocks: u64) -> f64 {
    let wanted = SHARE * zipf_sum(theta, n_blocks);
    let (mut low, mut high) = (1, n_blocks);
    while low < high {
        let middle = low + (high - low) / 2;
        if zipf_sum(theta, middle) >= wanted {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low as f64
}

/// The sum of the weights of so many ranks.
fn zipf_sum(theta: f64, n_ranks: u64) -> f64 {
    let exact: f64 = (1..=n_ranks.min(N_EXACT)).map(|rank| (rank as f64).powf(-theta)).sum();
    if n_ranks <= N_EXACT {
        return exact;
    }
    let (from, to) = (N_EXACT as f64 + 0.5, n_ranks as f64 + 0.5);
    let rest = if (theta - 1.0).abs() < 1e-9 {
        (to / from).ln()
    } else {
        (to.powf(1.0 - theta) - from.powf(1.0 - theta)) / (1.0 - theta)
    };
    exact + rest
}

/// The zones with the most I/Os a block first.
fn zoned(zones: &[DistributionZone], n_blocks: f64, block_bytes: f64) -> f64 {
    let blocks = |zone: &DistributionZone| match zone.length {
        ZoneLength::Percent(percent) => n_blocks * percent.fraction(),
        ZoneLength::Bytes(bytes) => bytes as f64 / block_bytes,
    };
    let mut parts: Vec<(f64, f64)> =
        zones.iter().map(|zone| (zone.access_percent.fraction(), blocks(zone).max(1.0))).collect();
    parts.sort_by(|(share, blocks), (other_share, other_blocks)| {
        (other_share / other_blocks).total_cmp(&(share / blocks))
    });
    let (mut left, mut n_hot) = (SHARE, 0.0);
    for (share, blocks) in parts {
        let taken = if share > 0.0 { (left / share).min(1.0) } else { 0.0 };
        n_hot += blocks * taken;
        left -= share * taken;
    }
    if zones.is_empty() { n_blocks } else { n_hot }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::DecimalPercent;
    use ferrio_spec::{DirectionMix, SizeSpec};
    use ferrio_units::random::{DistributionShape, SkewedBlocks};
    use std::collections::HashMap;

    /// The least number of blocks with nine tenths of many draws.
    fn drawn(shape: DistributionShape) -> f64 {
        let (mut blocks, mut hits) = (SkewedBlocks::new(shape, 7, None), HashMap::new());
        (0..400_000).for_each(|_| *hits.entry(blocks.next_block()).or_insert(0_u64) += 1);
        let mut counts: Vec<u64> = hits.into_values().collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        let mut sum = 0;
        counts
            .iter()
            .take_while(|count| {
                sum += **count;
                sum < 360_000
            })
            .count() as f64
    }

    /// Several ranks may fall on one block, so the hot part can be smaller than computed, and is never larger.
    #[test]
    fn the_hot_part_is_that_of_the_draws() {
        let n = 2_000;
        let hot = |distribution: &RandomDistribution| {
            hot_blocks(distribution, DataDirection::Read, n, 4096).expect("it is skewed")
        };
        for theta in [0.8, 1.2, 1.6] {
            let (made, computed) = (
                drawn(DistributionShape::zipf(n, theta).expect("it is allowed")),
                hot(&RandomDistribution::Zipf { theta, center: None }),
            );
            assert!((0.5..1.1).contains(&(made / computed)), "zipf {theta}: {made}, {computed}");
        }
        for h in [0.1, 0.3] {
            let (made, computed) = (
                drawn(DistributionShape::pareto(n, h).expect("it is allowed")),
                hot(&RandomDistribution::Pareto { h, center: None }),
            );
            assert!((0.5..1.1).contains(&(made / computed)), "pareto {h}: {made}, {computed}");
        }
        let exact: f64 = (1..=50_000_u64).map(|rank| (rank as f64).powf(-1.1)).sum();
        assert!((zipf_sum(1.1, 50_000) / exact - 1.0).abs() < 1e-6);
    }

    #[test]
    fn zones_with_the_most_ios_come_first() {
        let zone = |access_percent, percent| DistributionZone {
            access_percent: DecimalPercent::whole(access_percent),
            length: ZoneLength::Percent(DecimalPercent::whole(percent)),
        };
        assert!((zoned(&[zone(10, 90), zone(90, 10)], 1_000.0, 4096.0) - 100.0).abs() < 1e-6);
        assert!((zoned(&[zone(50, 50), zone(50, 50)], 1_000.0, 4096.0) - 900.0).abs() < 1e-6);
    }

    /// 256,000 reads of 4 KiB from a range of so many MiB.
    fn is_told(distribution: RandomDistribution, size_mib: u64, n_ios: u64) -> bool {
        let mut job = job("a", DirectionMix::Read);
        (job.pattern.random, job.pattern.distribution) = (true, distribution);
        job.extent.size = Some(SizeSpec::Bytes(size_mib * MIB));
        let mut scene = TestRun::new(job);
        scene.places[0].now.size_bytes = size_mib * MIB;
        scene.stats().directions.0[0].n_completed = n_ios;
        scene.found().contains(&"few-hot-blocks".to_owned())
    }

    #[test]
    fn a_hot_part_of_a_cache_is_told() {
        let zipf = |theta| RandomDistribution::Zipf { theta, center: None };
        // 4,490 blocks of 4 KiB have nine tenths.
        assert!(is_told(zipf(1.2), 1024, 256_000) && is_told(zipf(1.6), 100_000, 256_000));
        assert!(!is_told(zipf(1.2), 1024, 40_000), "fewer than ten I/Os for each hot block");
        assert!(!is_told(zipf(0.8), 1024, 256_000) && !is_told(RandomDistribution::Uniform, 1024, 10_000_000));
    }
}

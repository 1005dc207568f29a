//! `random_distribution=zoned` and `zoned_abs`: shares of the I/Os, uniform inside of each zone.

use super::chi_square::{assert_fits, counts};
use super::jobs::{BLOCK_BYTES, blocks, random_reads};
use ferrio_spec::{DistributionZone, RandomDistribution, ZoneLength};
use ferrio_units::PerDirection;

/// Zones in blocks of a file, with their shares in percent.
fn assert_zones(zones: &[(u32, ZoneLength)], n_blocks: &[u64], file_blocks: u64) {
    let list = zones.iter().map(|&(access_percent, length)| DistributionZone { access_percent, length }).collect();
    let mut plan = random_reads(file_blocks);
    plan.pattern.distribution = RandomDistribution::Zoned(PerDirection::all(list));
    let counts = counts(file_blocks as usize, blocks(plan, 200_000));
    let inside = zones
        .iter()
        .zip(n_blocks)
        .flat_map(|((percent, _), n)| std::iter::repeat_n(f64::from(*percent) / 100.0 / *n as f64, *n as usize));
    let shares = inside.chain(std::iter::repeat(0.0));
    assert_fits(&format!("{zones:?}"), counts.into_iter().zip(shares));
}

#[test]
fn zones_in_percent() {
    use ZoneLength::Percent;
    let four = [(60, Percent(10)), (30, Percent(20)), (8, Percent(30)), (2, Percent(40))];
    assert_zones(&four, &[100, 200, 300, 400], 1_000);
    assert_zones(&[(1, Percent(50)), (99, Percent(50))], &[128, 128], 256);
    // Blocks behind the zones are never touched.
    assert_zones(&[(50, Percent(10)), (50, Percent(40))], &[100, 400], 1_000);
}

#[test]
fn zones_in_bytes() {
    let zone = |percent, n_blocks| (percent, ZoneLength::Bytes(n_blocks * BLOCK_BYTES));
    assert_zones(&[zone(70, 16), zone(20, 100), zone(10, 800)], &[16, 100, 800], 1_000);
    assert_zones(&[zone(100, 33)], &[33], 64);
}

//! `random_distribution=zoned` and `zoned_abs`: shares of the I/Os, uniform inside of each zone.

use super::chi_square::{assert_fits, counts};
use super::jobs::{BLOCK_BYTES, blocks, random_reads};
use ferrio_spec::{DecimalPercent, DistributionZone, RandomDistribution, ZoneLength};
use ferrio_units::PerDirection;

/// Zones in blocks of a file, with their shares in percent.
fn assert_zones(zones: &[(u32, ZoneLength)], n_blocks: &[u64], file_blocks: u64) {
    let zone = |&(percent, length)| DistributionZone { access_percent: DecimalPercent::whole(percent), length };
    let list = zones.iter().map(zone).collect();
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
    let part = |access, length| (access, ZoneLength::Percent(DecimalPercent::whole(length)));
    let four = [part(60, 10), part(30, 20), part(8, 30), part(2, 40)];
    assert_zones(&four, &[100, 200, 300, 400], 1_000);
    assert_zones(&[part(1, 50), part(99, 50)], &[128, 128], 256);
    // Blocks behind the zones are never touched.
    assert_zones(&[part(50, 10), part(50, 40)], &[100, 400], 1_000);
}

#[test]
fn zones_in_bytes() {
    let zone = |percent, n_blocks| (percent, ZoneLength::Bytes(n_blocks * BLOCK_BYTES));
    assert_zones(&[zone(70, 16), zone(20, 100), zone(10, 800)], &[16, 100, 800], 1_000);
    assert_zones(&[zone(100, 33)], &[33], 64);
}

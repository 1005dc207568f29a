//! Blocks of a file in zones, each with its share of the I/Os (`random_distribution=zoned`, `zoned_abs`).
//!
//! Must not know: the syntax of a list of zones. Start reading at [`ZonedDistribution::next_block`].
//! Arithmetic: reference "Zoned"; lengths in bytes as seen on fio 3.41.

use ferrio_spec::{DecimalPercent, DistributionZone, ZoneLength};
use ferrio_units::random::{Generator, Taus88};
use ferrio_units::{DataDirection, PerDirection};

#[derive(Debug, Clone)]
pub(crate) struct ZonedDistribution(PerDirection<ZonesOfDirection>);

#[derive(Debug, Clone)]
struct ZonesOfDirection {
    /// The shares are whole percents, as fio's are, and drawn as such; otherwise finer parts are drawn.
    are_percents: bool,
    zones: Box<[BlockZone]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BlockZone {
    /// Sum of the shares up to this zone, in what is drawn: percents, or parts.
    last: u64,
    start: u64,
    n_blocks: u64,
    n_drawn: u64,
}

impl ZonedDistribution {
    /// The zones of a file of `n_blocks` blocks, which begin at multiples of `align_bytes`.
    pub(crate) fn new(
        zones: &PerDirection<Vec<DistributionZone>>,
        n_blocks: &PerDirection<u64>,
        align_bytes: &PerDirection<u64>,
    ) -> Self {
        let of = |direction| {
            let zones = &zones[direction];
            let are_percents = zones.iter().all(|zone| zone.access_percent.as_whole().is_some());
            let zones = block_zones(zones, are_percents, n_blocks[direction], align_bytes[direction]);
            ZonesOfDirection { are_percents, zones }
        };
        Self(PerDirection(DataDirection::ALL.map(of)))
    }

    /// First block after the zones of a direction.
    pub(crate) fn end(&self, direction: DataDirection) -> u64 {
        self.0[direction].zones.last().map_or(0, |zone| zone.start.saturating_add(zone.n_blocks))
    }

    /// Draws of each zone of a direction so far.
    pub(crate) fn drawn(&self, direction: DataDirection) -> impl Iterator<Item = u64> + '_ {
        self.0[direction].zones.iter().map(|zone| zone.n_drawn)
    }

    /// Draws a zone, then a block in it; `None` without zones.
    #[inline]
    pub(crate) fn next_block(
        &mut self,
        direction: DataDirection,
        zone_stream: &mut Taus88,
        block_stream: &mut Generator,
    ) -> Option<u64> {
        let ZonesOfDirection { are_percents, zones } = &mut self.0[direction];
        let drawn = if *are_percents {
            zone_stream.percent().into()
        } else {
            zone_stream.between(1, DecimalPercent::PARTS_OF_ALL)
        };
        let zone = zones.iter_mut().find(|zone| drawn <= zone.last)?;
        zone.n_drawn += 1;
        Some(zone.start + block_stream.below(zone.n_blocks))
    }
}

fn block_zones(zones: &[DistributionZone], are_percents: bool, n_blocks: u64, align_bytes: u64) -> Box<[BlockZone]> {
    let all_parts = DecimalPercent::PARTS_OF_ALL;
    // Cannot overflow: a share is at most all.
    let share = |parts: u64| (u128::from(n_blocks) * u128::from(parts) / u128::from(all_parts)) as u64;
    let (mut access, mut end_parts, mut end_bytes) = (0_u64, 0_u64, 0_u64);
    let zone = |zone: &DistributionZone| {
        access = access.saturating_add(zone.access_percent.parts());
        let (start, n_blocks) = match zone.length {
            ZoneLength::Percent(percent) => {
                let (start, parts) = (share(end_parts), percent.parts().min(all_parts));
                end_parts += parts;
                (start, share(parts))
            }
            ZoneLength::Bytes(bytes) => {
                let start = end_bytes / align_bytes;
                end_bytes = end_bytes.saturating_add(bytes);
                (start, end_bytes / align_bytes - start)
            }
        };
        BlockZone { last: if are_percents { access * 100 / all_parts } else { access }, start, n_blocks, n_drawn: 0 }
    };
    zones.iter().map(zone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_units::random::{DEFAULT_RAND_SEED, GeneratorKind, SeedIndex, SeedTable};

    fn percent(text: &str) -> DecimalPercent {
        DecimalPercent::parse(text).expect("a percentage")
    }

    fn zones(list: &[(&str, ZoneLength)], n_blocks: u64) -> ZonedDistribution {
        let zone = |&(access, length)| DistributionZone { access_percent: percent(access), length };
        let zones = PerDirection(std::array::from_fn(|_| list.iter().map(zone).collect()));
        ZonedDistribution::new(&zones, &PerDirection::all(n_blocks), &PerDirection::all(4096))
    }

    fn drawn(zones: &mut ZonedDistribution, n: usize) -> Vec<u64> {
        let seeds = SeedTable::new(DEFAULT_RAND_SEED, 1);
        let mut zone_stream = Taus88::from_table(&seeds, SeedIndex::Zone);
        let mut blocks = Generator::from_table(GeneratorKind::Taus88, &seeds, SeedIndex::Offset);
        let mut next =
            || zones.next_block(DataDirection::Read, &mut zone_stream, &mut blocks).expect("there are zones");
        (0..n).map(|_| next()).collect()
    }

    /// Expected values: a trace of fio 3.41 with `randrepeat=0 randseed=137`.
    #[test]
    fn blocks_are_those_of_the_peer() {
        use ZoneLength::Bytes;
        let part = |access, length| (access, ZoneLength::Percent(percent(length)));
        let four = [part("60", "10"), part("30", "20"), part("8", "30"), part("2.0", "40")];
        assert_eq!(drawn(&mut zones(&four, 256), 12), [24, 21, 16, 205, 55, 24, 25, 5, 41, 139, 221, 14]);
        let narrow = [part("50", "33"), part("50", "67")];
        assert_eq!(drawn(&mut zones(&narrow, 10), 12), [2, 2, 1, 6, 6, 2, 3, 0, 4, 8, 7, 1]);
        let bytes = [("50", Bytes(6 << 10)), ("50", Bytes(10 << 10))];
        assert_eq!(drawn(&mut zones(&bytes, 256), 12), [0, 0, 0, 2, 2, 0, 1, 0, 1, 3, 3, 0]);
    }

    /// Pearson's test: with three degrees of freedom one seed in a thousand gives a sum above 16.3; this seed is fixed.
    #[test]
    fn zones_have_their_shares() {
        // Shares of I/Os and of 1,000 blocks, and the first block after each zone.
        let whole = [("60", "10", 100), ("30", "20", 300), ("8", "30", 600), ("2", "40", 1_000)];
        let decimal = [("0.5", "0.1", 1), ("0.25", "0.2", 3), ("9.25", "9.7", 100), ("90", "90", 1_000)];
        for shares in [whole, decimal] {
            let mut zones = zones(&shares.map(|(access, size, _)| (access, ZoneLength::Percent(percent(size)))), 1_000);
            let mut counts = [0_u32; 4];
            for block in drawn(&mut zones, 100_000) {
                counts[shares.iter().position(|(_, _, end)| block < *end).expect("a block of the file")] += 1;
            }
            let terms = counts.iter().zip(shares).map(|(count, (access, ..))| {
                let expected = percent(access).fraction() * 100_000.0;
                (f64::from(*count) - expected).powi(2) / expected
            });
            let chi_square: f64 = terms.sum();
            assert!(chi_square < 16.3, "{chi_square} {counts:?}");
            let drawn: Vec<u64> = zones.drawn(DataDirection::Read).collect();
            assert_eq!(drawn, counts.map(u64::from));
        }
    }

    #[test]
    fn zones_that_are_too_long_end_behind_the_file() {
        let zones = zones(&[("50", ZoneLength::Bytes(u64::MAX)), ("50", ZoneLength::Bytes(u64::MAX))], 16);
        assert!(zones.end(DataDirection::Read) > 16);
    }
}

//! Medians, spreads and ratios.
//!
//! Must not know: how figures are printed. Start reading at [`Pair`].

use super::measure::Sample;

/// The two programs, one after the other.
pub(super) struct Pair {
    pub(super) peer: Sample,
    pub(super) own: Sample,
    /// fio and ferrio without the extra options, where there are any.
    pub(super) plain: Option<[Sample; 2]>,
    /// Mean completion latency that fio, ferrio and the bare loop report, where it is a goal.
    pub(super) mean_clat_ns: Option<MeanClats>,
    pub(super) beside: Option<Sample>,
    /// fio and ferrio with a quarter of the I/Os, where that is measured.
    pub(super) quarter: Option<[Sample; 2]>,
}

impl Pair {
    /// Two samples, and nothing else.
    pub(super) fn of(peer: Sample, own: Sample) -> Self {
        Self { peer, own, plain: None, mean_clat_ns: None, beside: None, quarter: None }
    }

    /// Speed relative to the third program.
    pub(super) fn beside_speed(&self) -> Option<f64> {
        Some(self.beside?.wall_ns / self.own.wall_ns)
    }

    /// Peak memory of fio and ferrio with a quarter of the I/Os and with all.
    pub(super) fn growth_bytes(&self) -> Option<[[f64; 2]; 2]> {
        let [peer, own] = self.quarter?;
        let bytes = |few: Sample, all: Sample| Some([few.peak_bytes? as f64, all.peak_bytes? as f64]);
        Some([bytes(peer, self.peer)?, bytes(own, self.own)?])
    }

    /// Speed relative to fio.
    pub(super) fn speed(&self) -> f64 {
        self.peer.wall_ns / self.own.wall_ns
    }

    /// CPU time, as a part of fio's.
    pub(super) fn cpu(&self) -> f64 {
        self.own.cpu_ns() / self.peer.cpu_ns()
    }

    /// Share of its I/Os per second that ferrio loses by the extra options.
    pub(super) fn loss(&self) -> Option<f64> {
        let [_, own] = self.plain?;
        Some(1.0 - own.wall_ns / self.own.wall_ns)
    }

    /// Time per I/O that the extra options cost ferrio, relative to their cost for fio; `None` if noise made fio's cost
    /// zero or negative.
    pub(super) fn extra_time(&self) -> Option<f64> {
        let [peer, own] = self.plain?;
        let peer_ns = self.peer.wall_ns - peer.wall_ns;
        (peer_ns > 0.0).then(|| (self.own.wall_ns - own.wall_ns) / peer_ns)
    }

    /// Peak memory, as a part of fio's, where it could be measured.
    pub(super) fn memory(&self) -> Option<f64> {
        Some(self.own.peak_bytes? as f64 / self.peer.peak_bytes? as f64)
    }
}

pub(super) struct Figures {
    pub(super) pairs: Vec<Pair>,
    pub(super) bare: Option<Sample>,
    /// Instructions per I/O of fio and ferrio.
    pub(super) instructions: Option<[u64; 2]>,
}

/// Mean completion latencies, nanoseconds.
pub(super) struct MeanClats {
    /// As fio reports it.
    pub(super) peer: f64,
    /// As ferrio reports it.
    pub(super) own: f64,
    pub(super) bare: f64,
}

impl Figures {
    /// A figure of each pair.
    pub(super) fn all(&self, figure: impl Fn(&Pair) -> f64) -> Vec<f64> {
        self.pairs.iter().map(figure).collect()
    }

    pub(super) fn median(&self, figure: impl Fn(&Pair) -> f64) -> f64 {
        median(self.all(figure))
    }

    /// User CPU time of all runs of ferrio, as a part of that of all runs of fio.
    pub(super) fn user_cpu(&self) -> f64 {
        let sum = |figure: fn(&Pair) -> f64| self.pairs.iter().map(figure).sum::<f64>();
        sum(|pair| pair.own.user_ns) / sum(|pair| pair.peer.user_ns)
    }

    /// Nanoseconds by which the chosen mean completion latency is below fio's, for each pair that has it.
    pub(super) fn clat_lower(&self, whose: fn(&MeanClats) -> f64) -> Vec<f64> {
        self.pairs.iter().filter_map(|pair| pair.mean_clat_ns.as_ref()).map(|clats| clats.peer - whose(clats)).collect()
    }

    /// Instructions relative to fio's.
    pub(super) fn instructions(&self) -> Option<f64> {
        self.instructions.map(|[peer, own]| own as f64 / peer.max(1) as f64)
    }
}

/// The middle of figures, or the mean of the two in the middle; 0 without any.
pub(super) fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let sorted = sorted(figures);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Difference of largest and smallest, relative to the median; 0 for no figures.
pub(super) fn spread(figures: impl IntoIterator<Item = f64>) -> f64 {
    let sorted = sorted(figures);
    match (sorted.first(), sorted.last()) {
        (Some(first), Some(last)) => (last - first) / median(sorted.iter().copied()),
        _ => 0.0,
    }
}

fn sorted(figures: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = figures.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn middle_and_spread() {
        assert!(same(median([3.0, 1.0, 2.0]), 2.0) && same(median([4.0, 1.0, 2.0, 3.0]), 2.5) && same(median([]), 0.0));
        assert!(same(spread([2.0, 3.0, 1.0]), 1.0) && same(spread([5.0]), 0.0) && same(spread([]), 0.0));
    }

    #[test]
    fn ratios_of_a_pair() {
        let sample = |wall_ns, user_ns, system_ns, peak| Sample { wall_ns, user_ns, system_ns, peak_bytes: Some(peak) };
        let pair = Pair::of(sample(200.0, 100.0, 50.0, 400), sample(100.0, 40.0, 35.0, 100));
        assert!(same(pair.speed(), 2.0) && same(pair.cpu(), 0.5));
        assert_eq!(pair.memory(), Some(0.25));
        let other = Pair::of(sample(1.0, 300.0, 0.0, 1), sample(1.0, 60.0, 0.0, 1));
        assert!(pair.loss().is_none() && pair.extra_time().is_none());
        let plain = Some([sample(160.0, 1.0, 0.0, 1), sample(90.0, 1.0, 0.0, 1)]);
        let extra = Pair { plain, ..Pair::of(pair.peer, pair.own) };
        assert!(extra.loss().is_some_and(|loss| same(loss, 0.1)));
        assert!(extra.extra_time().is_some_and(|part| same(part, 0.25)));
        let quarter = Some([sample(1.0, 1.0, 0.0, 100), sample(1.0, 1.0, 0.0, 80)]);
        let grown = Pair { quarter, beside: Some(sample(90.0, 1.0, 0.0, 1)), ..Pair::of(pair.peer, pair.own) };
        assert_eq!(grown.growth_bytes(), Some([[100.0, 400.0], [80.0, 100.0]]));
        assert!(grown.beside_speed().is_some_and(|part| same(part, 0.9)) && pair.beside_speed().is_none());
        let figures = Figures { pairs: vec![pair, other], bare: None, instructions: Some([400, 100]) };
        assert!(same(figures.user_cpu(), 0.25) && figures.instructions().is_some_and(|ratio| same(ratio, 0.25)));
        assert!(same(figures.median(|pair| pair.own.user_ns), 50.0));
    }
}

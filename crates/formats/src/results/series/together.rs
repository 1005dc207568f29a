//! Several series as one: the only place where series are put together.
//!
//! Rates are added by moment, latencies are pooled. Intervals of different series need not begin together: each is divided by its
//! overlap with the intervals of the sum. Must not know: jobs, charts. Start reading at [`together`].

use super::{JoinFigures, TimeBin, TimeInterval, TimeIntervals, TimeSeries};
use crate::results::heat::{LatencyCounts, LatencyHeat};

/// Most intervals of several series as one, before they are made fewer.
const MOST_MERGED: u64 = 16_384;
const NS_PER_SEC: f64 = 1e9;
/// Longest time between the starts of clones that were started together.
const LONGEST_START_NS: u64 = 10_000_000;
/// A cell that was measured for a smaller part of its length than one in so many is no interval of its own.
const SLIVERS_IN_CELL: u64 = 10;

/// Why some series cannot be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotTogether {
    #[error("there are no figures over time")]
    Nothing,
    /// They are of several runs.
    #[error("they are of different runs")]
    OtherRuns,
    /// Nobody knows which of their moments were the same.
    #[error("it is unknown when each of them began")]
    UnknownStart,
    #[error("they measure different things")]
    OtherQuantity,
    /// Maxima of rates do not add up.
    #[error("they have only the maximum of each interval")]
    MaximaOnly,
}

/// One series of several of the same quantity and direction, with at most `most` intervals (at least 2). At each moment it has the sum of
/// the rates that were measured then, or all latencies.
///
/// # Errors
/// They are of several runs, the base of one is unknown, or they measure different things.
pub fn together(all: &[&TimeSeries], most: usize) -> Result<TimeSeries, NotTogether> {
    let (first, others) = all.split_first().ok_or(NotTogether::Nothing)?;
    if others.is_empty() {
        return Ok(first.shortened(most));
    }
    for other in others {
        check(first, other)?;
    }
    let has_means = all.iter().all(|series| series.has_means);
    if first.quantity.is_rate() && !has_means {
        return Err(NotTogether::MaximaOnly);
    }
    let parts: Vec<&TimeIntervals<TimeBin>> = all.iter().map(|series| &series.intervals).collect();
    let grid = Grid::of(&parts);
    let unlogged: Vec<(u64, u64)> = all.iter().filter_map(|series| series.unlogged_ns).collect();
    let mut intervals = if first.quantity.is_rate() { sums(&parts, &unlogged, grid) } else { pooled(&parts, grid) };
    intervals.shorten(most);
    let mut one = TimeSeries::new(first.quantity, first.direction, grid.cell_ns);
    (one.base, one.has_means, one.intervals) = (first.base, has_means, intervals);
    one.has_maxima = all.iter().all(|series| series.has_maxima);
    one.heat = heats(all);
    Ok(one)
}

/// The average of several series of the same quantity and direction, with the lowest and the highest value of any, in at most `most`
/// intervals (at least 2).
pub fn average(all: &[&TimeSeries], most: usize) -> Result<TimeSeries, NotTogether> {
    let (first, others) = all.split_first().ok_or(NotTogether::Nothing)?;
    for other in others {
        check(first, other)?;
    }
    let parts: Vec<&TimeIntervals<TimeBin>> = all.iter().map(|series| &series.intervals).collect();
    let grid = Grid::of(&parts);
    let mut one = TimeSeries::new(first.quantity, first.direction, grid.cell_ns);
    (one.base, one.intervals) = (first.base, pooled(&parts, grid));
    one.has_means = all.iter().all(|series| series.has_means);
    one.intervals.shorten(most);
    Ok(one)
}

fn check(one: &TimeSeries, other: &TimeSeries) -> Result<(), NotTogether> {
    if (one.quantity, one.direction) != (other.quantity, other.direction) {
        return Err(NotTogether::OtherQuantity);
    }
    match (one.base.run(), other.base.run()) {
        (Some(one), Some(other)) if one != other => Err(NotTogether::OtherRuns),
        _ if !one.base.is_one_with(other.base) => Err(NotTogether::UnknownStart),
        _ => Ok(()),
    }
}

/// Intervals of equal length, as long as the usual ones of the series that has the longest.
#[derive(Debug, Clone, Copy)]
struct Grid {
    /// A start, below a length.
    origin_ns: u64,
    cell_ns: u64,
}

impl Grid {
    fn of<T: JoinFigures>(parts: &[&TimeIntervals<T>]) -> Self {
        // Of series with the same intervals, the first begins the cells.
        let longest = parts.iter().copied().rev().max_by_key(|intervals| intervals.usual_length_ns());
        let mut cell_ns = longest.map_or(1, TimeIntervals::usual_length_ns);
        let reaches = || parts.iter().filter_map(|intervals| intervals.reach_ns());
        let first_ns = reaches().map(|(start_ns, _)| start_ns).min().unwrap_or_default();
        let last_ns = reaches().map(|(_, end_ns)| end_ns).max().unwrap_or_default();
        // Short series may lie far apart in time.
        while (last_ns - first_ns) / cell_ns > MOST_MERGED {
            cell_ns = cell_ns.saturating_mul(2);
        }
        // The first interval may be a part of one: its end is that of a whole one.
        let end_ns = longest.and_then(|intervals| intervals.all().first()).map_or(0, |first| first.end_ns);
        Self { origin_ns: end_ns % cell_ns, cell_ns }
    }

    fn number(self, time_ns: u64) -> u64 {
        (time_ns + self.cell_ns - self.origin_ns) / self.cell_ns
    }

    /// Start and end of a cell.
    fn bounds(self, number: u64) -> (u64, u64) {
        let start_ns = (number * self.cell_ns + self.origin_ns).saturating_sub(self.cell_ns);
        (start_ns, number * self.cell_ns + self.origin_ns)
    }

    /// The cells that an interval overlaps: number, start and end of each.
    fn cells<T>(self, interval: &TimeInterval<T>) -> impl Iterator<Item = (u64, u64, u64)> {
        let last = self.number(interval.end_ns.saturating_sub(1).max(interval.start_ns));
        (self.number(interval.start_ns)..=last).map(move |number| {
            let (start_ns, end_ns) = self.bounds(number);
            (number, start_ns, end_ns)
        })
    }
}

/// A moment at which an interval of a series begins or ends.
#[derive(Clone, Copy)]
struct RateChange {
    at_ns: u64,
    /// The rate that begins, or less than 0: the one that ends.
    rate: f64,
    begins: bool,
    /// How far values within the interval were below and above its mean.
    below: f64,
    above: f64,
}

/// Moments of all series in their order; ends come before starts.
fn changes(parts: &[&TimeIntervals<TimeBin>]) -> Vec<RateChange> {
    let mut all = Vec::new();
    for interval in parts.iter().flat_map(|part| part.all()) {
        let Some(rate) = interval.figures.mean() else { continue };
        let (below, above) = ((rate - interval.figures.min).max(0.0), (interval.figures.max - rate).max(0.0));
        all.push(RateChange { at_ns: interval.start_ns, rate, begins: true, below, above });
        all.push(RateChange { at_ns: interval.end_ns, rate: -rate, begins: false, below: 0.0, above: 0.0 });
    }
    all.sort_by_key(|change| (change.at_ns, change.begins));
    all
}

/// What the series add up to in a cell, of which `measured_ns` were measured.
#[derive(Clone, Copy)]
struct CellSum {
    number: u64,
    start_ns: u64,
    end_ns: u64,
    measured_ns: u64,
    amount: f64,
    /// The extremes; `None`: no sum held long enough.
    extremes: Option<(f64, f64)>,
}

/// The sum of rates at each moment, by cell: all that was counted, by the time in which any series was measured. There is no sum at a time
/// in which a job ran whose rate was not logged: it would be a dip that no job had.
fn sums(parts: &[&TimeIntervals<TimeBin>], unlogged: &[(u64, u64)], grid: Grid) -> TimeIntervals<TimeBin> {
    // Clones start and end some milliseconds apart: a sum that held no longer is no extreme.
    let least_ns = (grid.cell_ns / 20).min(LONGEST_START_NS);
    let changes = changes(parts);
    let mut cells: Vec<CellSum> = Vec::new();
    let (mut rate, mut n_active, mut below, mut above) = (0.0, 0_u64, 0.0_f64, 0.0_f64);
    for (index, change) in changes.iter().enumerate() {
        rate += change.rate;
        n_active = if change.begins { n_active + 1 } else { n_active.saturating_sub(1) };
        (below, above) = (below.max(change.below), above.max(change.above));
        let until_ns = changes.get(index + 1).map_or(change.at_ns, |next| next.at_ns);
        if until_ns == change.at_ns {
            continue;
        }
        if n_active == 0 {
            rate = 0.0;
        } else {
            let holds = until_ns - change.at_ns >= least_ns;
            let extremes = holds.then_some(((rate - below).max(0.0), rate + above));
            for (start_ns, end_ns) in without(change.at_ns, until_ns, unlogged) {
                add_sum(&mut cells, grid, TimeInterval { start_ns, end_ns, figures: (rate, extremes) });
            }
        }
        (below, above) = (0.0, 0.0);
    }
    let mut intervals = TimeIntervals::new(grid.cell_ns);
    for cell in without_slivers(cells, grid) {
        let bin = TimeBin::of_rate(cell.amount / (cell.measured_ns.max(1) as f64 / NS_PER_SEC), cell.measured_ns);
        let (low, high) = cell.extremes.unwrap_or((bin.min, bin.max));
        let bin = TimeBin { min: low.min(bin.min), max: high.max(bin.max), ..bin };
        intervals.add(cell.start_ns, cell.end_ns, &bin, usize::MAX);
    }
    intervals
}

/// The parts of a time outside of some others.
fn without(start_ns: u64, end_ns: u64, others: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut parts = vec![(start_ns, end_ns)];
    for (from_ns, to_ns) in others {
        let cut = |(start_ns, end_ns): (u64, u64)| {
            [(start_ns, end_ns.min(*from_ns)), (start_ns.max(*to_ns), end_ns)]
                .into_iter()
                .filter(|(start, end)| start < end)
        };
        parts = parts.into_iter().flat_map(cut).collect();
    }
    parts
}

/// Joins cells that were hardly measured to those beside them. Clones that start and end some milliseconds apart leave such cells, in
/// which only some of them ran: as an interval each would be a dip that no job had.
fn without_slivers(cells: Vec<CellSum>, grid: Grid) -> Vec<CellSum> {
    let is_sliver = |cell: &CellSum| cell.measured_ns < grid.cell_ns / SLIVERS_IN_CELL;
    let mut whole: Vec<CellSum> = Vec::with_capacity(cells.len());
    for cell in cells {
        match whole.last_mut() {
            Some(last) if last.end_ns == cell.start_ns && (is_sliver(&cell) || is_sliver(last)) => {
                let extremes = if is_sliver(&cell) { last.extremes } else { cell.extremes };
                last.extremes = extremes;
                last.end_ns = cell.end_ns;
                last.measured_ns += cell.measured_ns;
                last.amount += cell.amount;
            }
            _ => whole.push(cell),
        }
    }
    whole
}

/// A sum that held for a time, with its extremes.
type HeldSum = TimeInterval<(f64, Option<(f64, f64)>)>;

/// Adds a sum to the cells that it overlaps. Cells come in order.
fn add_sum(cells: &mut Vec<CellSum>, grid: Grid, held: HeldSum) {
    let (rate, extremes) = held.figures;
    for (number, cell_start_ns, cell_end_ns) in grid.cells(&held) {
        let (start_ns, end_ns) = (cell_start_ns.max(held.start_ns), cell_end_ns.min(held.end_ns));
        if cells.last().is_none_or(|last| last.number != number) {
            cells.push(CellSum { number, start_ns, end_ns, measured_ns: 0, amount: 0.0, extremes: None });
        }
        let Some(cell) = cells.last_mut() else { continue };
        cell.end_ns = end_ns;
        cell.measured_ns += end_ns - start_ns;
        cell.amount += rate * ((end_ns - start_ns) as f64 / NS_PER_SEC);
        if let Some((low, high)) = extremes {
            let known = cell.extremes.get_or_insert((low, high));
            *known = (known.0.min(low), known.1.max(high));
        }
    }
}

/// All values: an interval counts in the cell of its middle.
fn pooled<T: JoinFigures>(parts: &[&TimeIntervals<T>], grid: Grid) -> TimeIntervals<T> {
    let mut all: Vec<(u64, &TimeInterval<T>)> = parts
        .iter()
        .flat_map(|part| part.all())
        .map(|interval| (grid.number(interval.middle_ns()), interval))
        .collect();
    all.sort_by_key(|(number, interval)| (*number, interval.start_ns));
    let mut intervals = TimeIntervals::new(grid.cell_ns);
    for cell in all.chunk_by(|one, other| one.0 == other.0) {
        let (cell_start_ns, cell_end_ns) = grid.bounds(cell[0].0);
        let start_ns = cell.iter().map(|(_, interval)| interval.start_ns).min().unwrap_or_default();
        let end_ns = cell.iter().map(|(_, interval)| interval.end_ns).max().unwrap_or_default();
        let mut figures = cell[0].1.figures.clone();
        cell[1..].iter().for_each(|(_, interval)| figures.join(&interval.figures));
        intervals.add(start_ns.max(cell_start_ns), end_ns.min(cell_end_ns), &figures, usize::MAX);
    }
    intervals
}

/// The distributions of several series as one; `None`: one of them has none.
fn heats(all: &[&TimeSeries]) -> Option<LatencyHeat> {
    let heats: Vec<&TimeIntervals<LatencyCounts>> =
        all.iter().map(|series| series.heat.as_ref().map(|heat| &heat.columns)).collect::<Option<_>>()?;
    let most = heats.iter().map(|heat| heat.len()).max()?.max(64) * 2;
    let mut columns = pooled(&heats, Grid::of(&heats));
    columns.shorten(most);
    Some(LatencyHeat { columns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{LatencyKind, Quantity, TimeBase};
    use ferrio_units::DataDirection;

    const MS: u64 = 1_000_000;

    /// Windows of 500 ms with this rate each, from a start on the clock of a run.
    fn rates(start_ms: u64, values: &[f64]) -> TimeSeries {
        let mut series = TimeSeries::new(Quantity::Iops, DataDirection::Read, MS);
        series.base = TimeBase::Run(0);
        for (index, value) in (0..).zip(values) {
            series.add_rate((start_ms + 500 * index) * MS, (start_ms + 500 * (index + 1)) * MS, *value, 4096);
        }
        series
    }

    /// Start and end of each interval, milliseconds, and its mean.
    fn shown(series: &TimeSeries) -> Vec<(u64, u64, u64)> {
        let mean = |interval: &TimeInterval<TimeBin>| interval.figures.mean().unwrap_or_default().round() as u64;
        let all = series.intervals.all().iter();
        all.map(|one| (one.start_ns / MS, one.end_ns / MS, mean(one))).collect()
    }

    #[test]
    fn windows_that_lie_apart_are_added_by_their_overlap() {
        let (one, other) = (rates(0, &[1000.0; 4]), rates(400, &[1000.0; 4]));
        let sum = together(&[&one, &other], 100).expect("one run");
        let expected = [(0, 500, 1200), (500, 1000, 2000), (1000, 1500, 2000), (1500, 2000, 2000), (2000, 2400, 1000)];
        assert_eq!(shown(&sum), expected);
        // Eight of 500, each a little later than the one before.
        let eight: Vec<TimeSeries> = (0..8).map(|index| rates(index * 60, &[500.0; 10])).collect();
        let sum = together(&eight.iter().collect::<Vec<_>>(), 100).expect("one run");
        let whole = shown(&sum).into_iter().filter(|(start, end, _)| *start >= 500 && *end <= 5000);
        assert!(whole.clone().count() == 9 && whole.clone().all(|(_, _, rate)| rate == 4000), "{:?}", shown(&sum));
    }

    /// A job of 1,000 with windows of 500 ms, and one of 500 that ended at 2.3 s and logged nothing after 2 s.
    #[test]
    fn a_window_that_was_not_logged_is_no_dip_of_the_sum() {
        let (one, mut other) = (rates(0, &[1000.0; 6]), rates(0, &[500.0; 4]));
        other.goes_on_until(2300 * MS);
        let sum = together(&[&one, &other], 100).expect("one run");
        let expected = [
            (0, 500, 1500),
            (500, 1000, 1500),
            (1000, 1500, 1500),
            (1500, 2000, 1500),
            (2300, 2500, 1000),
            (2500, 3000, 1000),
        ];
        assert_eq!(shown(&sum), expected);
        // Less than a tenth of a window is the inexactness of clocks.
        other.goes_on_until(2040 * MS);
        assert_eq!(other.unlogged_ns, None);
        // A longer time without rows was one without I/O, as a pause.
        other.goes_on_until(2600 * MS);
        assert_eq!(shown(&together(&[&one, &other], 100).expect("one run"))[4], (2000, 2500, 1000));
    }

    #[test]
    fn jobs_one_after_another_are_never_summed() {
        let all = [rates(0, &[1000.0; 4]), rates(2013, &[1000.0; 4]), rates(4020, &[3000.0; 4])];
        let sum = together(&all.iter().collect::<Vec<_>>(), 100).expect("one run");
        assert!(shown(&sum).iter().all(|(_, _, rate)| *rate <= 3000), "{:?}", shown(&sum));
        assert!(shown(&sum).iter().filter(|(_, end, _)| *end <= 4000).all(|(_, _, rate)| *rate == 1000));
        assert!(sum.intervals.all().iter().all(|one| one.figures.max <= 3000.0), "{sum:?}");
    }

    #[test]
    fn clones_that_start_some_milliseconds_apart_have_no_dip_at_their_ends() {
        let clones: Vec<TimeSeries> = (0..4).map(|index| rates(2 * index, &[500.0; 4])).collect();
        let sum = together(&clones.iter().collect::<Vec<_>>(), 100).expect("one run");
        let shown = shown(&sum);
        assert_eq!((shown.len(), shown[3].1), (4, 2006), "{shown:?}");
        assert!(shown.iter().all(|(_, _, rate)| (1_960..=2_000).contains(rate)), "{shown:?}");
        assert!(sum.intervals.all().iter().all(|one| one.figures.min >= 1_960.0), "{sum:?}");
        // All that was counted is there: 4 x 4 windows of half a second.
        let counted = |one: &TimeInterval<TimeBin>| {
            one.figures.mean().unwrap_or_default() * (one.end_ns - one.start_ns) as f64 / NS_PER_SEC
        };
        assert!((sum.intervals.all().iter().map(counted).sum::<f64>() - 4_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_pause_of_all_is_a_gap_and_a_peak_survives() {
        let mut one = rates(0, &[1000.0; 4]);
        one.add_rate(5000 * MS, 5500 * MS, 90_000.0, 100);
        let mut other = rates(100, &[1000.0; 4]);
        other.add_rate(5100 * MS, 5600 * MS, 1000.0, 100);
        let sum = together(&[&one, &other], 100).expect("one run");
        assert_eq!(sum.intervals.gaps().len(), 1);
        let highest = sum.intervals.all().iter().map(|one| one.figures.max).fold(0.0, f64::max);
        assert!((90_000.0..91_001.0).contains(&highest), "{highest}");
        let few = together(&[&one, &other], 3).expect("one run");
        assert!(few.intervals.len() <= 3);
        assert!((few.intervals.all().iter().map(|one| one.figures.max).fold(0.0, f64::max) - highest).abs() < 1e-9);
    }

    #[test]
    fn what_cannot_be_added_is_an_error() {
        let with = |base| TimeSeries { base, ..rates(0, &[1.0; 2]) };
        let known = with(TimeBase::Run(0));
        for (other, reason) in [
            (with(TimeBase::Run(1)), NotTogether::OtherRuns),
            (with(TimeBase::Unknown), NotTogether::UnknownStart),
            (with(TimeBase::Start { run: 0, together: 1 }), NotTogether::UnknownStart),
            (TimeSeries { has_means: false, ..known.clone() }, NotTogether::MaximaOnly),
            (TimeSeries { direction: DataDirection::Write, ..known.clone() }, NotTogether::OtherQuantity),
        ] {
            assert_eq!(together(&[&known, &other], 100).err(), Some(reason));
        }
        let unknown = with(TimeBase::Unknown);
        assert_eq!(together(&[&unknown, &unknown], 100).err(), Some(NotTogether::UnknownStart));
        assert!(together(&[&unknown], 100).is_ok());
        assert_eq!(together(&[], 100).err(), Some(NotTogether::Nothing));
        let start = with(TimeBase::Start { run: 0, together: 1 });
        assert!(together(&[&start, &start], 100).is_ok());
    }

    #[test]
    fn latencies_are_pooled_with_their_distributions() {
        let of_latency = |start_ms: u64, latency_ns: u64| {
            let mut series = TimeSeries::new(Quantity::Latency(LatencyKind::Completion), DataDirection::Read, MS);
            let mut heat = LatencyHeat::new(MS);
            for index in 0..100 {
                series.add((start_ms + index) * MS, latency_ns as f64, 4096);
                heat.add((start_ms + index) * MS, latency_ns, 1, 512);
            }
            (series.base, series.heat) = (TimeBase::Run(0), Some(heat));
            series
        };
        let both = together(&[&of_latency(0, 100), &of_latency(50, 120)], 4096).expect("one run");
        let whole = both.intervals.whole().expect("latencies");
        assert_eq!((whole.n, whole.mean(), whole.min, whole.max), (200, Some(110.0), 100.0, 120.0));
        assert_eq!(both.heat.expect("a distribution").total(), [(100, 100), (120, 100)]);
    }
}

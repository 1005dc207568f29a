//! Where a figure that grows with a parameter passes zero, from noisy figures at several values of the parameter.
//!
//! All figures are used together, and two things are assumed: the figure never falls where the parameter grows, and noise is as large at one value as at another. Near
//! the threshold a line through the figures tells more, where their slope is certain. Must not know: what the figure is. Start reading at [`threshold`].

use crate::quantile_95;

/// Standard deviation of figures before any were seen, as far as it counts: [`KNOWN_DEGREES`] degrees of freedom.
const KNOWN_DEVIATION: f64 = 0.05;
/// Degrees of freedom that the deviation from before has.
const KNOWN_DEGREES: f64 = 3.0;
/// Factor of the squared quantile of Student's distribution for thresholds by order alone. The values are looked at after each run, and later values are chosen by
/// earlier figures: simulated searches have the truth in 95 of 100 with it.
const LOOKS: f64 = 1.5;
/// The same for the line, which is drawn through figures that are chosen by their values.
const LOOKS_OF_LINE: f64 = 1.6;
/// A line is drawn through the figures between the ends, and through an end whose mean is at most this far from zero: far away the curve may bend.
const STRAIGHT: f64 = 1.0;
/// Fewest figures that a line is drawn through.
const FEWEST_FOR_LINE: usize = 4;
/// Figures that are farther from zero count as if they were so far away: one of them does not outweigh others.
const FARTHEST: f64 = 1.5;
/// A figure that is farther from the median of its level counts as if it were so far away: one that was slow for a moment does not outweigh its neighbours.
const FARTHEST_OF_LEVEL: f64 = 0.7;

/// A value of the parameter, with the figures that were measured there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Level {
    /// The value, on the scale on which the figure may be a line: a logarithm, mostly.
    pub position: f64,
    /// At least one.
    pub figures: Vec<f64>,
}

impl Level {
    fn mean(&self) -> f64 {
        crate::mean(&self.figures)
    }

    fn limited(&self) -> Self {
        let mut figures: Vec<f64> = self.figures.iter().map(|figure| figure.clamp(-FARTHEST, FARTHEST)).collect();
        figures.sort_by(f64::total_cmp);
        let median = f64::midpoint(figures[(figures.len() - 1) / 2], figures[figures.len() / 2]);
        // Of two figures none is the one that is far.
        if figures.len() > 2 {
            for figure in &mut figures {
                *figure = figure.clamp(median - FARTHEST_OF_LEVEL, median + FARTHEST_OF_LEVEL);
            }
        }
        Self { position: self.position, figures }
    }
}

/// What is known of a threshold, by the indices of levels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Threshold {
    /// The highest level that is below the threshold; `None`: not even the first one certainly is.
    pub below: Option<usize>,
    /// The lowest level that is above it; `None`: not even the last one certainly is.
    pub above: Option<usize>,
    /// The most probable number of levels below it.
    pub n_below: usize,
    /// Where the line through the figures near it passes zero, between two positions; `None`: the slope is not certain.
    pub line: Option<LineZero>,
}

/// Where a line passes zero: positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineZero {
    /// Lower end of the interval.
    pub low: f64,
    /// The most probable position.
    pub best: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Finds the threshold. `levels` ascend. The truth is between the ends in about 95 of 100 cases, also where levels were chosen by what others showed.
pub fn threshold(levels: &[Level]) -> Threshold {
    let levels: Vec<Level> = levels.iter().map(Level::limited).collect();
    let levels = &levels[..];
    let means: Vec<Mean> = levels.iter().map(Mean::of).collect();
    let fitted = ascending(&means);
    let misfit = squares(&means, &fitted);
    let (variance, degrees) = noise(levels, &fitted);
    // By how much worse the figures fit where so many levels are below the threshold, in units of the variance.
    let deviance = |n_below: usize| {
        let (low, high) = means.split_at(n_below);
        let low = ascending(low).into_iter().map(|value| value.min(0.0));
        let high = ascending(high).into_iter().map(|value| value.max(0.0));
        (squares(&means, &low.chain(high).collect::<Vec<_>>()) - misfit) / variance
    };
    let deviances: Vec<f64> = (0..=levels.len()).map(deviance).collect();
    let largest = LOOKS * quantile_95(degrees).powi(2);
    let n_below = (0..deviances.len()).min_by(|one, other| deviances[*one].total_cmp(&deviances[*other])).unwrap_or(0);
    let possible = |n_below: &usize| deviances[*n_below] <= largest;
    let fewest = (0..deviances.len()).find(possible).unwrap_or(n_below);
    let most = (0..deviances.len()).rev().find(possible).unwrap_or(n_below);
    let (mut below, mut above) = (fewest.checked_sub(1), (most < levels.len()).then_some(most));
    let ends = (below.unwrap_or(0), above.unwrap_or(levels.len().saturating_sub(1)));
    let line = line_zero(levels, ends, (below.is_some(), above.is_some()), variance, degrees);
    if let Some(line) = line {
        // Of ends that are known, those that are nearer.
        below = below.map(|end| (end..levels.len()).rev().find(|at| levels[*at].position <= line.low).unwrap_or(end));
        above = above.map(|end| (0..=end).find(|at| levels[*at].position >= line.high).unwrap_or(end));
    }
    Threshold { below, above, n_below, line }
}

/// The variance of figures, and its degrees of freedom. Figures far from zero differ as they like: a queue that grows without end is longer in one run than in another.
fn noise(levels: &[Level], fitted: &[f64]) -> (f64, f64) {
    let near = levels.iter().zip(fitted).filter(|(level, _)| level.mean().abs() <= STRAIGHT);
    let (mut squares, mut degrees) = (KNOWN_DEGREES * KNOWN_DEVIATION.powi(2), KNOWN_DEGREES);
    let mut step = None;
    for (level, value) in near {
        squares += level.figures.iter().map(|figure| (figure - value).powi(2)).sum::<f64>();
        degrees += level.figures.len() as f64 - if step == Some(value) { 0.0 } else { 1.0 };
        step = Some(value);
    }
    (squares / degrees, degrees)
}

/// The mean of a level and the number of its figures.
#[derive(Debug, Clone, Copy)]
struct Mean {
    value: f64,
    n: f64,
}

impl Mean {
    fn of(level: &Level) -> Self {
        Self { value: level.mean(), n: level.figures.len() as f64 }
    }
}

/// The values that never fall and are nearest to the means: neighbours that are out of order are pooled.
fn ascending(means: &[Mean]) -> Vec<f64> {
    let mut pools: Vec<(Mean, usize)> = Vec::with_capacity(means.len());
    for mean in means {
        let mut pool = (*mean, 1);
        while let Some((last, n_levels)) = pools.last().copied().filter(|(last, _)| last.value > pool.0.value) {
            let n = last.n + pool.0.n;
            let value = (last.value * last.n + pool.0.value * pool.0.n) / n;
            pool = (Mean { value, n }, pool.1 + n_levels);
            pools.pop();
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(mean, n_levels)| std::iter::repeat_n(mean.value, n_levels)).collect()
}

/// The squares of the differences of means from values, each as often as it has figures.
fn squares(means: &[Mean], values: &[f64]) -> f64 {
    means.iter().zip(values).map(|(mean, value)| mean.n * (mean.value - value).powi(2)).sum()
}

/// The interval of the position at which a line through the figures between two levels passes zero, by Fieller's theorem. An end that is not known to be beside the
/// threshold (`is_known`) is on the line as well.
fn line_zero(
    levels: &[Level],
    (low, high): (usize, usize),
    is_known: (bool, bool),
    variance: f64,
    degrees: f64,
) -> Option<LineZero> {
    let is_near = |at: usize| match at {
        at if at == low && is_known.0 || at == high && is_known.1 => levels[at].mean().abs() <= STRAIGHT,
        _ => true,
    };
    let used = (low..=high.min(levels.len().checked_sub(1)?)).filter(|at| is_near(*at)).map(|at| &levels[at]);
    let points: Vec<(f64, f64)> =
        used.flat_map(|level| level.figures.iter().map(|figure| (level.position, *figure))).collect();
    let n = points.len() as f64;
    if points.len() < FEWEST_FOR_LINE {
        return None;
    }
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / n;
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|(x, y)| of(x - mean_x, y - mean_y)).sum::<f64>();
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    let slope = xy / xx;
    if !slope.is_finite() || slope <= 0.0 {
        return None;
    }
    let variance = variance.max((yy - slope * xy) / (n - 2.0));
    let allowed = LOOKS_OF_LINE * quantile_95(degrees).powi(2) * variance;
    // The positions x at which (mean_y + slope * x)^2 <= allowed * (1 / n + x^2 / xx), relative to the mean position.
    let (a, b, c) = (slope * slope - allowed / xx, mean_y * slope, mean_y * mean_y - allowed / n);
    if a <= 0.0 {
        return None;
    }
    let root = (b * b - a * c).max(0.0).sqrt();
    let [low, best, high] = [(-b - root) / a, -mean_y / slope, (-b + root) / a].map(|x| mean_x + x);
    Some(LineZero { low, best, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(figures: &[(f64, &[f64])]) -> Vec<Level> {
        figures.iter().map(|(position, figures)| Level { position: *position, figures: figures.to_vec() }).collect()
    }

    #[test]
    fn neighbours_out_of_order_are_pooled() {
        let means = |values: &[(f64, f64)]| -> Vec<Mean> {
            values.iter().map(|(value, n)| Mean { value: *value, n: *n }).collect()
        };
        let of = |values: &[(f64, f64)]| -> Vec<f64> { ascending(&means(values)) };
        assert_eq!(of(&[(1.0, 1.0), (2.0, 1.0)]), [1.0, 2.0]);
        // (3 * 1 + 1 * 3) / 4 = 1.5.
        assert_eq!(of(&[(0.0, 1.0), (3.0, 1.0), (1.0, 3.0), (2.0, 1.0)]), [0.0, 1.5, 1.5, 2.0]);
        assert_eq!(of(&[(3.0, 1.0), (2.0, 1.0), (1.0, 1.0)]), [2.0, 2.0, 2.0]);
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn far_figures_decide_at_once_and_near_ones_do_not() {
        let of = |figures: &[(f64, &[f64])]| {
            let found = threshold(&levels(figures));
            (found.below, found.above)
        };
        assert_eq!(of(&[(0.0, &[-1.0]), (1.0, &[2.0])]), (Some(0), Some(1)));
        assert_eq!(of(&[(0.0, &[-1.0]), (1.0, &[0.1]), (2.0, &[3.0])]), (Some(0), Some(2)));
        // A figure that says little, and one that is far on the other side.
        assert_eq!(of(&[(0.0, &[-0.1])]), (None, None));
        assert_eq!(of(&[(0.0, &[1.0])]), (None, Some(0)));
        assert_eq!(of(&[]), (None, None));
        // Figures that repeat themselves exactly are known better than one.
        assert_eq!(of(&[(0.0, &[-0.1; 6])]), (Some(0), None));
    }

    /// Of four runs at a level, one was slow for a moment.
    #[test]
    fn a_figure_that_is_far_from_its_neighbours_decides_nothing() {
        let found = threshold(&levels(&[(0.0, &[-1.5]), (1.0, &[9.0, -1.5, -1.5, -1.5]), (2.0, &[1.5])]));
        assert_ne!(found.above, Some(1), "{found:?}");
    }

    /// What is below at a higher level is below at a lower one, whatever was measured there.
    #[test]
    fn a_level_knows_what_higher_ones_know() {
        let found = threshold(&levels(&[(0.0, &[-1.0]), (1.0, &[-2.0, -2.0]), (2.0, &[2.0, 2.0])]));
        assert_eq!((found.below, found.above), (Some(1), Some(2)));
    }

    /// Figures on the line y = 2 (x - 3), each 0.1 above or below it.
    #[test]
    fn a_line_finds_its_zero() {
        let at = |x: f64| [2.0 * (x - 3.0) - 0.1, 2.0 * (x - 3.0) + 0.1];
        let all: Vec<Level> = (0..7)
            .map(|index| 2.7 + 0.1 * f64::from(index))
            .map(|position| Level { position, figures: at(position).to_vec() })
            .collect();
        let line = threshold(&all).line.expect("a line");
        assert!((line.best - 3.0).abs() < 1e-9 && line.low < 3.0 && line.high > 3.0, "{line:?}");
        assert!(line.high - line.low < 0.15, "{line:?}");
        // No slope, no line.
        assert_eq!(threshold(&levels(&[(0.0, &[0.1, -0.1]), (1.0, &[0.1, -0.1])])).line, None);
    }
}

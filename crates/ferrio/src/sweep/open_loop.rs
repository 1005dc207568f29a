//! The open loop that belongs to a closed one: users come at random times, at shares of the rate that the closed loop has reached.
//!
//! In a closed loop an I/O begins when another is done, so that slow storage slows the load down as well. Users do not wait for each other. Must not
//! know: how runs are made, where results are. Start reading at [`OpenLoop::beside`].

use crate::sweep::SweepError;
use crate::sweep::outcome::{PointOutcome, SweepOutcome};
use crate::sweep::space::{Space, SweepAxis, SweepPoint, SweptOption};
use ferrio_formats::IoKind;
use ferrio_insight::repeats::RepeatedFigure;
use ferrio_stats::Metric;

/// Rates of the open loop, percent of the rate of the closed one.
pub const OPEN_LOOP_SHARES: [u32; 10] = [10, 20, 30, 40, 50, 60, 70, 80, 90, 95];

/// Kinds of I/O that have a rate, in the order of the values of `rate_iops`.
const KINDS: [IoKind; 3] = [IoKind::Read, IoKind::Write, IoKind::Trim];
/// What makes the loop an open one, beside a rate: random arrivals, and latencies that begin with them.
const ARRIVALS: [(&str, &str); 2] = [("rate_process", "poisson"), ("rate_latency", "response")];
/// Options with which a loop is no closed one.
const RATES: [&str; 2] = ["rate", "rate_iops"];
/// Options along which a loop stays a closed one.
const CLOSED_LOADS: [&str; 2] = ["iodepth", "numjobs"];
/// The option by which all clones of a job have one report.
const GROUPED: &str = "group_reporting";
/// Lowest rate of a closed loop whose shares differ, I/Os a second.
const LEAST_IOPS: f64 = 20.0;

/// The open loop of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenLoop {
    /// The closed point with the most I/Os a second, whose options the open loop has: its index among the points.
    pub at: usize,
    /// The closed points that differ from it in the load alone, in the order of the load: their indexes.
    pub closed: Vec<usize>,
}

impl OpenLoop {
    /// The open loop beside the points of a sweep; `None`: they are not along a load, or none of them is fast enough.
    pub fn beside(closed: &SweepOutcome) -> Option<Self> {
        let believable = closed.points.iter().any(PointOutcome::is_believable);
        let candidates = closed.points.iter().enumerate().filter(|(_, point)| point.is_believable() || !believable);
        let (at, best) = candidates.max_by(|(_, one), (_, other)| Self::iops(one).total_cmp(&Self::iops(other)))?;
        if Self::iops(best) < LEAST_IOPS {
            return None;
        }
        Self::at(closed, at)
    }

    /// The open loop whose points were made beside those of a sweep, by the options that its first point has; `None`: it stands beside none of them.
    pub(crate) fn of_points(closed: &SweepOutcome, open: &[SweepPoint]) -> Option<Self> {
        let first = open.first()?;
        let is_it = |point: &PointOutcome| point.point.settings.iter().all(|setting| first.settings.contains(setting));
        Self::at(closed, closed.points.iter().position(is_it)?)
    }

    /// The open loop beside the closed point of this index.
    fn at(closed: &SweepOutcome, at: usize) -> Option<Self> {
        let along = closed_load(&closed.axes)?;
        let best = &closed.points[at];
        let is_beside = |point: &PointOutcome| {
            let places = point.point.places.iter().zip(&best.point.places).enumerate();
            places.into_iter().all(|(axis, (one, other))| axis == along || one == other)
        };
        let mut line: Vec<usize> = (0..closed.points.len()).filter(|index| is_beside(&closed.points[*index])).collect();
        line.sort_by_key(|index| closed.points[*index].point.places[along]);
        Some(Self { at, closed: line })
    }

    /// The share of the rate of the closed loop at which a point of the open one is: `95 %`. The number of the point is that of the share.
    pub fn share_of(point: &PointOutcome) -> String {
        OPEN_LOOP_SHARES.get(point.number - 1).map_or_else(String::new, |percent| format!("{percent} %"))
    }

    /// The points of the open loop beside a closed one: the options of the fastest closed point with one value each, the rates, the arrivals. `n_clones`: the
    /// number of jobs of a name, whose rates are for one of them.
    ///
    /// # Errors
    /// The jobs set an option twice.
    pub fn space(&self, closed: &SweepOutcome, n_clones: &dyn Fn(&str) -> usize) -> Result<Space, SweepError> {
        let best = &closed.points[self.at];
        let mut axes: Vec<SweepAxis> =
            best.point.settings.iter().map(|(option, value)| one_value(option.clone(), value)).collect();
        axes.push(rates(best, n_clones));
        axes.extend(ARRIVALS.map(|(name, value)| one_value(SweptOption { job: None, name: name.to_owned() }, value)));
        Ok(Space::new(axes, &[])?)
    }

    /// I/Os a second of all jobs at a point.
    pub fn iops(point: &PointOutcome) -> f64 {
        let is_rate = |one: &&RepeatedFigure| one.metric == Metric::Iops && KINDS.contains(&one.kind);
        point.figures.iter().filter(is_rate).map(|one| one.mean).sum()
    }

    /// A point such as the open loop will have, by which it is known before all runs whether the jobs take it.
    pub fn example(point: &SweepPoint) -> SweepPoint {
        let mut settings = point.settings.clone();
        let added = std::iter::once((RATES[1], "1000")).chain(ARRIVALS);
        settings
            .extend(added.map(|(name, value)| (SweptOption { job: None, name: name.to_owned() }, value.to_owned())));
        SweepPoint { settings, places: Vec::new() }
    }

    /// What keeps a sweep from having an open loop beside it, in words: `options` are those of its jobs.
    pub fn refusal(axes: &[SweepAxis], options: &[Vec<(String, String)>]) -> Option<String> {
        let swept = axes.iter().flat_map(|axis| &axis.options).map(|option| option.name.as_str());
        let mut names = options.iter().flatten().map(|(name, _)| name.as_str()).chain(swept);
        if let Some(rate) = names.find(|name| RATES.contains(name)) {
            return Some(format!("the jobs have a rate ({rate}), so that their loop is an open one already"));
        }
        let Some(along) = closed_load(axes) else {
            let needs =
                "an open loop stands beside a closed one along iodepth or numjobs, with at least four ascending values";
            return Some(needs.to_owned());
        };
        let is_of_clones = axes[along].options.iter().any(|option| option.name == CLOSED_LOADS[1]);
        let is_grouped = options.iter().flatten().any(|(name, value)| name == GROUPED && value != "0");
        (is_of_clones && !is_grouped).then(|| {
            format!("along {}, give the jobs {GROUPED}, so that the figures are those of all clones", CLOSED_LOADS[1])
        })
    }
}

fn closed_load(axes: &[SweepAxis]) -> Option<usize> {
    let along = SweepOutcome::empty(axes.to_vec(), 1).load_axis()?;
    axes[along].options.iter().any(|option| CLOSED_LOADS.contains(&option.name.as_str())).then_some(along)
}

fn one_value(option: SweptOption, value: &str) -> SweepAxis {
    SweepAxis { options: vec![option], values: vec![vec![value.to_owned()]] }
}

/// The rates: for each name of a job its shares of what one clone of it has reached.
fn rates(best: &PointOutcome, n_clones: &dyn Fn(&str) -> usize) -> SweepAxis {
    let mut names: Vec<&str> = Vec::new();
    for figure in &best.figures {
        if !names.contains(&figure.job.as_str()) {
            names.push(&figure.job);
        }
    }
    let reached = |name: &str, kind: IoKind| {
        let of_kind = |one: &&RepeatedFigure| one.job == name && one.kind == kind && one.metric == Metric::Iops;
        let found: Vec<f64> = best.figures.iter().filter(of_kind).map(|one| one.mean).collect();
        (!found.is_empty()).then(|| found.iter().sum::<f64>() / n_clones(name).max(1) as f64)
    };
    let value = |name: &str, share: u32| {
        let rate = |iops: f64| ((iops * f64::from(share) / 100.0).round() as u64).max(1).to_string();
        let of_kinds = KINDS.map(|kind| reached(name, kind).map(rate));
        let active: Vec<&String> = of_kinds.iter().flatten().collect();
        match active[..] {
            // One rate is that of all kinds.
            [] => "1".to_owned(),
            [rate] => rate.clone(),
            _ => of_kinds.map(|rate| rate.unwrap_or_else(|| "0".to_owned())).join(","),
        }
    };
    let option =
        |name: &&str| SweptOption { job: (names.len() > 1).then(|| (*name).to_owned()), name: RATES[1].to_owned() };
    SweepAxis {
        options: names.iter().map(option).collect(),
        values: OPEN_LOOP_SHARES.map(|share| names.iter().map(|name| value(name, share)).collect()).to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(job: &str, kind: IoKind, iops: f64) -> RepeatedFigure {
        RepeatedFigure {
            job_index: 0,
            job: job.to_owned(),
            kind,
            metric: Metric::Iops,
            values: vec![iops],
            mean: iops,
            interval: None,
            unknown: None,
            between_percent: None,
            within_percent: None,
            is_doubtful: false,
            kinds: None,
        }
    }

    /// A sweep of two sizes and four depths, whose IOPS are those of the depth, larger for the first size.
    fn closed(figures: impl Fn(f64) -> Vec<RepeatedFigure>) -> SweepOutcome {
        let axes = ["bs=4k,64k", "iodepth=1..8"].map(|text| SweepAxis::parse(text).expect("an axis"));
        let space = Space::new(axes.to_vec(), &[]).expect("a space");
        let mut outcome = SweepOutcome::empty(space.axes().to_vec(), 1);
        for (index, point) in space.points().expect("points").iter().enumerate() {
            outcome.add(index, point, &[]);
            let iops = if point.places[0] == 0 { 1_000.0 } else { 100.0 } * (point.places[1] + 1) as f64;
            outcome.points[index].figures = figures(iops);
        }
        outcome
    }

    #[test]
    fn rates_are_shares_of_the_fastest_point_that_can_be_believed() {
        let mut closed = closed(|iops| vec![figure("a", IoKind::Read, iops)]);
        closed.points[3].n_failed = 1;
        let beside = OpenLoop::beside(&closed).expect("an open loop");
        assert_eq!((beside.at, beside.closed.as_slice()), (2, &[0, 1, 2, 3][..]));
        // Two clones share 3,000 I/Os a second.
        let points = beside.space(&closed, &|_| 2).and_then(|space| Ok(space.points()?)).expect("points");
        // The points stay beside theirs, whichever is the fastest later.
        closed.points[3].n_failed = 0;
        assert_eq!(OpenLoop::beside(&closed).map(|beside| beside.at), Some(3));
        assert_eq!(OpenLoop::of_points(&closed, &points), Some(beside));
        assert_eq!(points.len(), OPEN_LOOP_SHARES.len());
        assert_eq!(points[9].to_string(), "bs=4k iodepth=4 rate_iops=1425 rate_process=poisson rate_latency=response");
    }

    #[test]
    fn each_job_and_each_kind_has_its_own_rate() {
        let of_jobs = |iops: f64| {
            let kinds = [IoKind::Read, IoKind::Write].map(|kind| figure("mixed", kind, iops));
            let others = [figure("log", IoKind::Write, iops / 1_000.0), figure("log", IoKind::Sync, iops)];
            kinds.into_iter().chain(others).collect()
        };
        let closed = closed(of_jobs);
        let beside = OpenLoop::beside(&closed).expect("an open loop");
        let points = beside.space(&closed, &|_| 1).and_then(|space| Ok(space.points()?)).expect("points");
        assert_eq!(
            points[0].to_string(),
            "bs=4k iodepth=8 mixed.rate_iops=400,400,0 log.rate_iops=1 rate_process=poisson rate_latency=response"
        );
    }

    #[test]
    fn what_has_no_open_loop_is_refused() {
        let of = |axes: &[&str], options: &[(&str, &str)]| {
            let axes: Vec<SweepAxis> = axes.iter().map(|text| SweepAxis::parse(text).expect("an axis")).collect();
            let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            OpenLoop::refusal(&axes, &[options]).unwrap_or_default()
        };
        assert_eq!(of(&["iodepth=1..8", "bs=4k,8k"], &[]), "");
        assert_eq!(of(&["numjobs=1..8"], &[("group_reporting", "1")]), "");
        for (text, reason) in [
            (of(&["iodepth=1..8"], &[("rate_iops", "100")]), "have a rate (rate_iops)"),
            (of(&["iodepth=1..8", "rate=1m,2m"], &[]), "have a rate (rate)"),
            (of(&["iodepth=1..4"], &[]), "at least four"),
            (of(&["bs=4k..64k"], &[]), "along iodepth or numjobs"),
            (of(&["numjobs=1..8"], &[]), "group_reporting"),
        ] {
            assert!(text.contains(reason), "{text}");
        }
        let slow = closed(|iops| vec![figure("a", IoKind::Read, iops / 1_000.0)]);
        assert_eq!(OpenLoop::beside(&slow), None);
    }
}

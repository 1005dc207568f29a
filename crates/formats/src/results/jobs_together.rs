//! Which jobs of a run ran at the same time, and the figures of such jobs as one.
//!
//! Rates are put together by [`together()`] alone. Must not know: tables, pictures. Start reading at [`RunResult::ran_together`].

use crate::results::{JobResult, NotTogether, Quantity, RunResult, TimeBase, TimeInterval, TimeSeries, together};
use ferrio_stats::{Figures, IoKind, LatencyFigures};
use ferrio_units::DataDirection;
use std::collections::BTreeMap;

/// Jobs whose times meet for no longer than this, nanoseconds, ran one after the other: reports have their times in whole milliseconds.
const CLOCK_NS: u64 = 2_000_000;

/// When a job ran.
type JobTime = (TimeBase, TimeInterval<()>);

impl RunResult {
    /// What the times of a job of this run count from, and the time of its start, nanoseconds.
    pub fn start_of(&self, job: &JobResult) -> (TimeBase, u64) {
        if let Some((start_ns, _)) = job.reach_ns {
            return (TimeBase::Run(self.number), start_ns);
        }
        // The jobs of a group begin together, unless one of them waits.
        let waits = job.option(&self.global_options, "startdelay").is_some();
        let index = self.jobs.iter().position(|one| std::ptr::eq(one, job)).unwrap_or_default();
        let alone = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1 << 31);
        (TimeBase::Start { run: self.number, together: if waits { alone } else { job.group_index } }, 0)
    }

    /// The jobs in sets, in the order of their first jobs. The jobs of a set ran at the same time, each with another one of it; jobs of
    /// different sets ran one after the other, or it is unknown when they ran.
    pub fn ran_together<'a>(&self, jobs: &[&'a JobResult]) -> Vec<Vec<&'a JobResult>> {
        let mut times: Vec<(usize, JobTime)> = jobs.iter().map(|job| self.time_of(job)).enumerate().collect();
        let order = |(base, time): &JobTime| (base_rank(*base), time.start_ns);
        times.sort_by_key(|(index, time)| (order(time), *index));
        let mut sets: Vec<(JobTime, Vec<usize>)> = Vec::new();
        for (index, (base, time)) in times {
            match sets.last_mut().filter(|((known, whole), _)| known.is_one_with(base) && meet(whole, &time)) {
                Some(((_, whole), set)) => {
                    whole.end_ns = whole.end_ns.max(time.end_ns);
                    set.push(index);
                }
                None => sets.push(((base, time), vec![index])),
            }
        }
        let mut sets: Vec<Vec<usize>> = sets.into_iter().map(|(_, set)| set).collect();
        for set in &mut sets {
            set.sort_unstable();
        }
        sets.sort();
        sets.into_iter().map(|set| set.into_iter().map(|index| jobs[index]).collect()).collect()
    }

    /// The figures of one kind of I/O of several jobs as one: counts and latencies of all of them, and rates over the time in which any of
    /// them ran. `None`: none of them did such I/O.
    ///
    /// # Errors
    /// It is unknown which of them ran at the same time.
    pub fn figures_together(&self, jobs: &[&JobResult], kind: IoKind) -> Result<Option<Figures>, NotTogether> {
        let known: Vec<(&JobResult, &Figures)> = jobs.iter().filter_map(|job| Some((*job, job.get(kind)?))).collect();
        let all = || known.iter().map(|(_, figures)| *figures);
        if known.len() < 2 {
            return Ok(all().next().cloned());
        }
        let rate = |value: fn(&Figures) -> f64| {
            let series: Vec<TimeSeries> =
                known.iter().map(|(job, figures)| self.whole_rate(job, figures, value(figures))).collect();
            let one = together(&series.iter().collect::<Vec<_>>(), usize::MAX)?;
            Ok(one.intervals.whole().unwrap_or_default())
        };
        let (ios, bytes) = (rate(|figures| figures.ios_per_sec)?, rate(|figures| figures.bytes_per_sec)?);
        Ok(Some(Figures {
            n_ios: all().fold(0, |sum, figures| sum.saturating_add(figures.n_ios)),
            bytes: all().fold(0, |sum, figures| sum.saturating_add(figures.bytes)),
            runtime_ns: (ios.weight * 1e9) as u64,
            ios_per_sec: ios.mean().unwrap_or_default(),
            bytes_per_sec: bytes.mean().unwrap_or_default(),
            slat: latencies_together(all().map(|figures| figures.slat.as_ref())),
            clat: latencies_together(all().map(|figures| figures.clat.as_ref())),
            lat: latencies_together(all().map(|figures| figures.lat.as_ref())),
            response: latencies_together(all().map(|figures| figures.response.as_ref())),
            ..Figures::default()
        }))
    }

    /// When a job ran, at least for a nanosecond.
    fn time_of(&self, job: &JobResult) -> JobTime {
        let (base, start_ns) = self.start_of(job);
        let told_ns = job.reach_ns.map_or(0, |(_, end_ns)| end_ns);
        let end_ns = told_ns.max(start_ns.saturating_add(job.runtime_ns().max(1)));
        (base, TimeInterval { start_ns, end_ns, figures: () })
    }

    /// A rate of a job over its whole time.
    fn whole_rate(&self, job: &JobResult, figures: &Figures, per_second: f64) -> TimeSeries {
        let (base, start_ns) = self.start_of(job);
        // All rates that are put together here are of one kind of I/O, so that any direction does.
        let mut series = TimeSeries::new(Quantity::Iops, DataDirection::Read, 1);
        series.add_rate(start_ns, start_ns.saturating_add(figures.runtime_ns), per_second, usize::MAX);
        series.base = base;
        series
    }
}

/// An order of bases, so that jobs with one base follow each other.
fn base_rank(base: TimeBase) -> (u8, u32) {
    match base {
        TimeBase::Run(run) => (0, run),
        TimeBase::Start { together, .. } => (1, together),
        TimeBase::Wall => (2, 0),
        TimeBase::Unknown => (3, 0),
    }
}

/// True if two times have more in common than the inexactness of clocks; of short ones, half of the shorter one.
fn meet(one: &TimeInterval<()>, other: &TimeInterval<()>) -> bool {
    let least_ns = CLOCK_NS.min(one.length_ns().min(other.length_ns()) / 2);
    one.overlap_ns(other.start_ns, other.end_ns) > least_ns
}

/// The latency of all I/Os of several jobs; `None`: it is unknown of one of them. Percentiles are known where all have a distribution.
fn latencies_together<'a>(all: impl Iterator<Item = Option<&'a LatencyFigures>>) -> Option<LatencyFigures> {
    let all: Vec<&LatencyFigures> = all.collect::<Option<_>>()?;
    let weight = |figures: &LatencyFigures| figures.n_samples.max(1) as f64;
    let n: f64 = all.iter().map(|figures| weight(figures)).sum();
    let mean_ns = all.iter().map(|figures| weight(figures) * figures.mean_ns).sum::<f64>() / n;
    let square = |figures: &LatencyFigures| figures.stddev_ns.powi(2) + figures.mean_ns.powi(2);
    let squares = all.iter().map(|figures| weight(figures) * square(figures)).sum::<f64>() / n;
    let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
    let has_bins = all.iter().all(|figures| !figures.bins.is_empty());
    for (latency_ns, count) in all.iter().flat_map(|figures| &figures.bins).filter(|_| has_bins) {
        let sum = bins.entry(*latency_ns).or_default();
        *sum = sum.saturating_add(*count);
    }
    Some(LatencyFigures {
        n_samples: all.iter().fold(0, |sum, figures| sum.saturating_add(figures.n_samples)),
        min_ns: all.iter().map(|figures| figures.min_ns).min()?,
        max_ns: all.iter().map(|figures| figures.max_ns).max()?,
        mean_ns,
        stddev_ns: (squares - mean_ns * mean_ns).max(0.0).sqrt(),
        percentiles: Vec::new(),
        bins: bins.into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// A job of a second with this rate of reads, each of 10 ns; `start_ns`: when it began, if that is known.
    fn job(name: &str, start_ns: Option<u64>, ios_per_sec: f64) -> JobResult {
        let n_samples = ios_per_sec as u64;
        let clat =
            LatencyFigures { n_samples, max_ns: 10, mean_ns: 10.0, bins: vec![(10, n_samples)], ..Default::default() };
        let figures =
            Figures { n_ios: n_samples, runtime_ns: SECOND_NS, ios_per_sec, clat: Some(clat), ..Figures::default() };
        let mut job = JobResult { name: name.to_owned(), ..JobResult::default() };
        job.directions[DataDirection::Read] = Some(figures);
        job.reach_ns = start_ns.map(|start_ns| (start_ns, start_ns + SECOND_NS));
        job
    }

    fn run(jobs: Vec<JobResult>) -> RunResult {
        RunResult { jobs, ..RunResult::default() }
    }

    /// The names of the jobs of each set.
    fn sets(run: &RunResult) -> Vec<String> {
        let sets = run.ran_together(&run.jobs.iter().collect::<Vec<_>>());
        sets.iter().map(|set| set.iter().map(|job| job.name.as_str()).collect::<Vec<_>>().join(" ")).collect()
    }

    /// Rate of the jobs together, and their I/Os.
    fn rate(run: &RunResult) -> Result<(u64, u64), NotTogether> {
        let jobs: Vec<&JobResult> = run.jobs.iter().collect();
        let figures = run.figures_together(&jobs, IoKind::Read)?.expect("reads");
        Ok((figures.ios_per_sec.round() as u64, figures.n_ios))
    }

    #[test]
    fn rates_are_added_only_where_jobs_ran_at_the_same_time() {
        let at =
            |starts: &[u64]| run(starts.iter().map(|ms| job(&ms.to_string(), Some(ms * 1_000_000), 1000.0)).collect());
        let side_by_side = at(&[0, 3]);
        assert_eq!(
            (sets(&side_by_side), rate(&side_by_side).map(|(rate, _)| rate / 100)),
            (vec!["0 3".to_owned()], Ok(19))
        );
        // The clocks of a report are exact to a millisecond.
        let apart = at(&[0, 999, 5000]);
        assert_eq!(
            (sets(&apart), rate(&apart)),
            (vec!["0".to_owned(), "999".to_owned(), "5000".to_owned()], Ok((1000, 3000)))
        );
        let half = at(&[0, 500]);
        assert_eq!((sets(&half), rate(&half)), (vec!["0 500".to_owned()], Ok((1333, 2000))));
    }

    #[test]
    fn without_times_the_jobs_of_a_group_ran_together() {
        let mut both = run(vec![job("a", None, 1000.0), job("b", None, 500.0)]);
        assert_eq!((sets(&both), rate(&both)), (vec!["a b".to_owned()], Ok((1500, 1500))));
        both.jobs[1].options.push(("startdelay".to_owned(), "1".to_owned()));
        assert_eq!((sets(&both), rate(&both)), (vec!["a".to_owned(), "b".to_owned()], Err(NotTogether::UnknownStart)));
        both.jobs[1].options.clear();
        both.jobs[1].group_index = 1;
        assert_eq!(sets(&both), ["a", "b"]);
    }

    #[test]
    fn latencies_are_those_of_all_ios() {
        let mut both = run(vec![job("a", Some(0), 30.0), job("b", Some(0), 10.0)]);
        if let Some(Figures { clat: Some(clat), .. }) = &mut both.jobs[1].directions[DataDirection::Read] {
            (clat.mean_ns, clat.max_ns, clat.bins) = (50.0, 50, vec![(50, 10)]);
        }
        let jobs: Vec<&JobResult> = both.jobs.iter().collect();
        let figures = both.figures_together(&jobs, IoKind::Read).expect("one clock").expect("reads");
        let clat = figures.clat.expect("a latency");
        assert_eq!((clat.n_samples, clat.mean_ns, clat.max_ns, clat.bins.len()), (40, 20.0, 50, 2));
        assert_eq!(clat.percentile(99.0).map(|found| found.latency_ns), Some(50));
        // Percentiles of reports without distributions cannot be joined.
        if let Some(Figures { clat: Some(clat), .. }) = &mut both.jobs[1].directions[DataDirection::Read] {
            clat.bins.clear();
        }
        let jobs: Vec<&JobResult> = both.jobs.iter().collect();
        let figures = both.figures_together(&jobs, IoKind::Read).expect("one clock").expect("reads");
        assert_eq!(figures.clat.and_then(|clat| clat.percentile(99.0)), None);
        assert_eq!(both.figures_together(&jobs, IoKind::Sync), Ok(None));
    }
}

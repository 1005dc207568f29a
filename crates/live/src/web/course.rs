//! The course of each job and of all together, as points at equal distances.
//!
//! Must not know: pages. Start reading at [`Courses::advance`].

use crate::board::{LiveBoard, Now};
use serde::{Serialize, Serializer};

/// Points of a course at most. When there are more, pairs of them become one.
const MOST_POINTS: usize = 600;
/// Points of all courses together: with many jobs each has fewer.
const MOST_POINTS_OF_ALL: usize = 60_000;
/// Points of a course at least, however many jobs there are.
const FEWEST_POINTS: usize = 60;

/// Figures of a moment. In JSON a list of: I/Os a second, bytes a second, p50, p99, p99.9 and the slowest I/O in nanoseconds (each `null`
/// where nothing was measured), I/Os in flight.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct PagePoint(pub(super) Now);

impl Serialize for PagePoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let now = &self.0;
        let rounded = |value: f64| (value * 1e6).round() / 1e6;
        let latency = |index: usize| now.percentiles_ns.map(|values| values[index]);
        let latencies = (latency(0), latency(1), latency(2), now.max_ns);
        let (median, tail, far_tail, max_ns) = latencies;
        (rounded(now.iops), now.bw_bytes.round(), median, tail, far_tail, max_ns, rounded(now.depth))
            .serialize(serializer)
    }
}

impl PagePoint {
    /// Two moments as one: mean rates, and the worse latencies.
    fn with(self, next: Self) -> Self {
        let (one, other) = (self.0, next.0);
        let mean = |one: f64, other: f64| f64::midpoint(one, other);
        let percentiles_ns = match (one.percentiles_ns, other.percentiles_ns) {
            (Some(one), Some(other)) => Some([0, 1, 2].map(|index| one[index].max(other[index]))),
            (one, other) => one.or(other),
        };
        Self(Now {
            iops: mean(one.iops, other.iops),
            bw_bytes: mean(one.bw_bytes, other.bw_bytes),
            percentiles_ns,
            max_ns: one.max_ns.max(other.max_ns),
            depth: mean(one.depth, other.depth),
        })
    }
}

/// The courses so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Courses {
    /// All jobs together.
    pub(super) all: Vec<PagePoint>,
    /// Each job.
    pub(super) jobs: Vec<Vec<PagePoint>>,
    /// The distance of the points, seconds.
    pub(super) point_secs: u64,
    /// A point was due at the last call.
    was_due: bool,
}

impl Courses {
    /// Called a few times a second: adds the points that are due, a call later than they become due, so that the intervals of all jobs
    /// have come.
    pub(super) fn advance(&mut self, board: &LiveBoard) {
        if self.point_secs == 0 || self.jobs.len() != board.jobs.len() {
            *self = Self { jobs: vec![Vec::new(); board.jobs.len()], point_secs: 1, ..Self::default() };
        }
        let n_wanted = board.elapsed_ns / 1_000_000_000 / self.point_secs;
        let is_due = (self.all.len() as u64) < n_wanted;
        if !(std::mem::replace(&mut self.was_due, is_due) && is_due) {
            return;
        }
        self.was_due = false;
        // A run whose jobs were silent for a long time has points of equal figures.
        let n_new = (n_wanted as usize - self.all.len()).min(MOST_POINTS);
        let all = PagePoint(board.now());
        self.all.resize(self.all.len() + n_new, all);
        for (course, job) in self.jobs.iter_mut().zip(&board.jobs) {
            course.resize(course.len() + n_new, PagePoint(board.now_of(job)));
        }
        let most = (MOST_POINTS_OF_ALL / (self.jobs.len() + 1)).clamp(FEWEST_POINTS, MOST_POINTS);
        while self.all.len() > most {
            self.halve();
        }
    }

    fn halve(&mut self) {
        for course in self.jobs.iter_mut().chain([&mut self.all]) {
            let pairs = course.chunks(2).map(|pair| pair[1..].iter().fold(pair[0], |one, other| one.with(*other)));
            *course = pairs.collect();
        }
        self.point_secs = self.point_secs.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{DirectionInterval, JobInterval, JobName, LiveFrame};
    use ferrio_units::PerDirection;

    const SECOND: u64 = 1_000_000_000;

    fn board(n_jobs: usize) -> LiveBoard {
        let job = |index| JobName { name: format!("j{index}"), n_clones: 1, directions: PerDirection::all(false) };
        let mut board = LiveBoard::default();
        let jobs = (0..n_jobs).map(job).collect();
        board.apply(LiveFrame::Begin { title: String::new(), jobs, devices: Vec::new() });
        board
    }

    fn reads(board: &mut LiveBoard, second: u64, iops: u32) {
        let read = DirectionInterval { n_ios: iops.into(), iops: iops.into(), ..DirectionInterval::default() };
        let directions = PerDirection([read, DirectionInterval::default(), DirectionInterval::default()]);
        let (start_ns, end_ns) = (second * SECOND, (second + 1) * SECOND);
        board.apply(LiveFrame::Interval(JobInterval { job: 0, start_ns, end_ns, directions, n_errors: 0 }));
    }

    fn iops(course: &[PagePoint]) -> Vec<u64> {
        course.iter().map(|moment| moment.0.iops.round() as u64).collect()
    }

    #[test]
    fn a_point_is_added_a_call_after_its_second() {
        let (mut board, mut courses) = (board(2), Courses::default());
        courses.advance(&board);
        for second in 0..3 {
            reads(&mut board, second, 100 * (second as u32 + 1));
            courses.advance(&board);
            assert_eq!(courses.all.len() as u64, second);
            courses.advance(&board);
        }
        assert_eq!((iops(&courses.all), iops(&courses.jobs[0])), (vec![100, 200, 300], vec![100, 200, 300]));
        assert_eq!(iops(&courses.jobs[1]), [0, 0, 0]);
    }

    #[test]
    fn courses_are_bounded() {
        for (n_jobs, most, n_seconds) in [(1, MOST_POINTS, 2_000), (1000, FEWEST_POINTS, 200)] {
            let (mut board, mut courses) = (board(n_jobs), Courses::default());
            for second in 0..n_seconds {
                reads(&mut board, second, if second % 2 == 0 { 100 } else { 300 });
                courses.advance(&board);
                courses.advance(&board);
            }
            assert!(courses.all.len() <= most && courses.all.len() > most / 4, "{}", courses.all.len());
            assert!(courses.jobs.iter().all(|course| course.len() == courses.all.len()));
            assert_eq!(iops(&courses.all)[0], 200);
        }
    }

    #[test]
    fn two_moments_as_one_have_the_worse_latency() {
        let one = PagePoint(Now { iops: 10.0, percentiles_ns: Some([1, 5, 6]), max_ns: Some(7), ..Now::default() });
        let other = PagePoint(Now { iops: 20.0, percentiles_ns: Some([2, 3, 9]), max_ns: None, ..Now::default() });
        let both = serde_json::to_value(one.with(other)).unwrap();
        assert_eq!(both, serde_json::json!([15.0, 0.0, 2, 5, 9, 7, 0.0]));
        assert_eq!(
            serde_json::to_value(PagePoint::default()).unwrap(),
            serde_json::json!([0.0, 0.0, null, null, null, null, 0.0])
        );
    }
}

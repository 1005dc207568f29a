//! The course of each job and of all together, as points at equal distances.
//!
//! Must not know: screens, pages. Start reading at [`Courses::advance`].

use crate::live::board::{LiveBoard, Now};
use ferrio_stats::halved;

const NS_PER_SEC: u64 = 1_000_000_000;
/// Points of a course at most. When there are more, pairs of them become one.
const MOST_POINTS: usize = 600;
/// Points of all courses together: with many jobs each has fewer.
const MOST_POINTS_OF_ALL: usize = 60_000;
/// Points of a course at least, however many jobs there are.
const FEWEST_POINTS: usize = 60;

/// Two moments as one: mean rates, and the worse latencies. A moment without figures adds nothing.
fn joined(one: Option<Now>, other: Option<Now>) -> Option<Now> {
    let (Some(one), Some(other)) = (one, other) else { return one.or(other) };
    let mean = |one: f64, other: f64| f64::midpoint(one, other);
    let percentiles_ns = match (one.percentiles_ns, other.percentiles_ns) {
        (Some(one), Some(other)) => Some([0, 1, 2].map(|index| one[index].max(other[index]))),
        (one, other) => one.or(other),
    };
    Some(Now {
        iops: mean(one.iops, other.iops),
        bw_bytes: mean(one.bw_bytes, other.bw_bytes),
        percentiles_ns,
        max_ns: one.max_ns.max(other.max_ns),
        depth: mean(one.depth, other.depth),
        sync_p99_ns: one.sync_p99_ns.max(other.sync_p99_ns),
    })
}

/// The courses so far. A point is `None` where nothing ran, or nothing is known: a pause, a job that waits, intervals that were left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Courses {
    /// All jobs together.
    pub(crate) all: Vec<Option<Now>>,
    /// Each job; empty unless they are wanted.
    pub(crate) jobs: Vec<Vec<Option<Now>>>,
    pub(crate) point_secs: u64,
    wants_jobs: bool,
    /// A point was due at the last call.
    was_due: bool,
}

impl Courses {
    /// Courses of all jobs together, and of each job.
    pub(crate) fn with_jobs() -> Self {
        Self { wants_jobs: true, ..Self::default() }
    }

    /// Called a few times a second: adds the points that are due, a call later than they become due, so that the intervals of all jobs
    /// have come.
    pub(crate) fn advance(&mut self, board: &LiveBoard) {
        let n_jobs = if self.wants_jobs { board.jobs.len() } else { 0 };
        if self.point_secs == 0 || self.jobs.len() != n_jobs {
            let jobs = vec![Vec::new(); n_jobs];
            *self = Self { jobs, point_secs: 1, wants_jobs: self.wants_jobs, ..Self::default() };
        }
        let n_wanted = board.elapsed_ns / NS_PER_SEC / self.point_secs;
        let is_due = (self.all.len() as u64) < n_wanted;
        if !(std::mem::replace(&mut self.was_due, is_due) && is_due) {
            return;
        }
        self.was_due = false;
        let n_new = (n_wanted as usize - self.all.len()).min(MOST_POINTS);
        for _ in 0..n_new {
            let start_ns = (self.all.len() as u64).saturating_mul(self.point_secs).saturating_mul(NS_PER_SEC);
            let time_ns = start_ns..start_ns.saturating_add(self.point_secs.saturating_mul(NS_PER_SEC));
            self.all.push(board.over(&time_ns));
            for (course, job) in self.jobs.iter_mut().zip(&board.jobs) {
                course.push(job.figures_over(&time_ns));
            }
        }
        let most = (MOST_POINTS_OF_ALL / (self.jobs.len() + 1)).clamp(FEWEST_POINTS, MOST_POINTS);
        while self.all.len() > most {
            self.halve();
        }
    }

    fn halve(&mut self) {
        for course in self.jobs.iter_mut().chain([&mut self.all]) {
            *course = halved(course, false, |one, other| *one = joined(*one, *other));
        }
        self.point_secs = self.point_secs.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::frame::{DirectionInterval, JobInterval, JobName, LiveFrame};
    use ferrio_units::PerDirection;

    fn board(n_jobs: usize) -> LiveBoard {
        let job = |index| JobName { name: format!("j{index}"), n_clones: 1, directions: PerDirection::all(false) };
        let mut board = LiveBoard::default();
        let jobs = (0..n_jobs).map(job).collect();
        board.apply(LiveFrame::Begin { title: String::new(), jobs, devices: Vec::new() });
        board
    }

    fn reads(board: &mut LiveBoard, (job, second): (u32, u64), iops: u32) {
        interval(board, job, (second, second + 1), iops);
    }

    /// Reads of a job from one second to another.
    fn interval(board: &mut LiveBoard, job: u32, (start, end): (u64, u64), iops: u32) {
        let read = DirectionInterval { iops: iops.into(), ..DirectionInterval::default() };
        let directions = PerDirection([read, DirectionInterval::default(), DirectionInterval::default()]);
        let (start_ns, end_ns) = (start * NS_PER_SEC, end * NS_PER_SEC);
        board.apply(LiveFrame::Interval(JobInterval { job, start_ns, end_ns, directions, sync_latency: Vec::new() }));
    }

    /// Rates of the points; `None`: a gap.
    fn iops(course: &[Option<Now>]) -> Vec<Option<u64>> {
        course.iter().map(|point| point.map(|now| now.iops.round() as u64)).collect()
    }

    #[test]
    fn a_point_is_added_a_call_after_its_second() {
        let (mut board, mut courses) = (board(2), Courses::with_jobs());
        courses.advance(&board);
        for second in 0..3 {
            reads(&mut board, (0, second), 100 * (second as u32 + 1));
            courses.advance(&board);
            assert_eq!(courses.all.len() as u64, second);
            courses.advance(&board);
        }
        let rates = [100, 200, 300].map(Some);
        assert_eq!((iops(&courses.all), iops(&courses.jobs[0])), (rates.to_vec(), rates.to_vec()));
        // The other job has not begun.
        assert_eq!(iops(&courses.jobs[1]), [None; 3]);
    }

    #[test]
    fn a_pause_between_two_jobs_is_a_gap() {
        let (mut board, mut courses) = (board(2), Courses::with_jobs());
        let mut look = |board: &LiveBoard| {
            courses.advance(board);
            courses.advance(board);
        };
        reads(&mut board, (0, 0), 100);
        look(&board);
        reads(&mut board, (0, 1), 100);
        // The last second of a job counts, although the job has ended when it is looked at.
        board.apply(LiveFrame::JobEnded { job: 0, n_failed: 0 });
        look(&board);
        for second in 6..8 {
            reads(&mut board, (1, second), 700);
            look(&board);
        }
        let (first, gap, second) = (vec![Some(100); 2], vec![None; 4], vec![Some(700); 2]);
        assert_eq!(iops(&courses.all), [first.clone(), gap.clone(), second.clone()].concat());
        assert_eq!(iops(&courses.jobs[0]), [first, vec![None; 6]].concat());
        assert_eq!(iops(&courses.jobs[1]), [vec![None; 2], gap, second].concat());
    }

    /// A viewer that was stopped for a while knows nothing of that time.
    #[test]
    fn intervals_that_were_left_out_are_a_gap_and_a_long_one_is_none() {
        let (mut board, mut courses) = (board(1), Courses::default());
        reads(&mut board, (0, 0), 100);
        reads(&mut board, (0, 4), 100);
        courses.advance(&board);
        courses.advance(&board);
        assert_eq!(iops(&courses.all), [None, None, None, None, Some(100)]);
        // An I/O that took three seconds.
        interval(&mut board, 0, (5, 8), 7);
        courses.advance(&board);
        courses.advance(&board);
        assert_eq!(iops(&courses.all)[5..], [Some(7); 3]);
    }

    #[test]
    fn courses_are_bounded() {
        for (n_jobs, most, n_seconds) in [(1, MOST_POINTS, 2_000), (1000, FEWEST_POINTS, 200)] {
            let (mut board, mut courses) = (board(n_jobs), Courses::with_jobs());
            for second in 0..n_seconds {
                reads(&mut board, (0, second), if second % 2 == 0 { 100 } else { 300 });
                courses.advance(&board);
                courses.advance(&board);
            }
            assert!(courses.all.len() <= most && courses.all.len() > most / 4, "{}", courses.all.len());
            assert!(courses.jobs.iter().all(|course| course.len() == courses.all.len()));
            assert_eq!(iops(&courses.all)[0], Some(200));
        }
    }

    #[test]
    fn two_moments_as_one_have_the_worse_latency() {
        let one = Now { iops: 10.0, percentiles_ns: Some([1, 5, 6]), max_ns: Some(7), ..Now::default() };
        let other = Now { iops: 20.0, percentiles_ns: Some([2, 3, 9]), max_ns: None, ..Now::default() };
        let both = Now { iops: 15.0, percentiles_ns: Some([2, 5, 9]), max_ns: Some(7), ..Now::default() };
        assert_eq!(joined(Some(one), Some(other)), Some(both));
        assert_eq!([joined(Some(one), None), joined(None, Some(one))], [Some(one); 2]);
    }
}

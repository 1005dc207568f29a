//! Jobs that share I/Os by weight. The unit tests of the counters check the shares; here jobs of all kinds reach their
//! ends.
//!
//! Start reading at [`jobs_that_share_get_to_their_end`].

use crate::builder::{MS, reader, reads, run, set_depth, sim_reader, simulate_one};
use ferrio_spec::{FlowSpec, JobSpec};

fn sharing(name: &str, weight: u32, n_ios: u64) -> JobSpec {
    let mut job = reader(name, "null", n_ios);
    job.pace.flow = FlowSpec { id: 7, weight, sleep_us: 0 };
    job
}

#[test]
fn jobs_that_share_get_to_their_end() {
    let mut jobs = vec![sharing("a", 3, 3_000), sharing("b", 1, 1_000), sharing("c", 1, 500), sharing("d", 1_000, 100)];
    jobs[1].worker.thread = true;
    jobs[2].pace.flow.sleep_us = 50;
    jobs[3].pace.flow.id = 8;
    set_depth(&mut jobs[0], 8);
    let (outcome, _) = run(jobs);
    let counts: Vec<_> = outcome.record.workers.iter().map(|job| reads(&job.stats).n_completed).collect();
    assert_eq!((outcome.n_failed, counts), (0, vec![3_000, 1_000, 500, 100]));
}

#[test]
fn a_job_alone_in_its_flow_is_not_held_back() {
    let mut job = sim_reader("j", "fixed:100us", 1_000);
    job.pace.flow = FlowSpec { id: 0, weight: 1, sleep_us: 1_000 };
    let stats = simulate_one(job);
    assert_eq!((reads(&stats).n_completed, reads(&stats).runtime_ns), (1_000, 100 * MS));
}

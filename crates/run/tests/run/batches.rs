//! Submission and completion of I/Os: batches, marks, stamps.
//!
//! Start reading at [`batches_and_marks`]; its sequence of calls is that of fio 3.41 with libaio under strace:
//! `io_submit` 4, 4, `io_pgetevents` (2, 8), repeated while more than `iodepth_low` are in flight.

use crate::builder::{US, reads, set_depth, sim_reader, writes};
use crate::probe::{COMMIT_NS, Call, QUEUE_NS, drive};
use ferrio_spec::engines::options::sim;
use ferrio_spec::{DirectionMix, JobSpec, QueueSpec, SizeSpec};

/// A short form of calls: a queue call is `Q`, a commit its number, a reap `R` with bounds and number.
fn shorten(calls: &[Call]) -> String {
    let word = |call: &Call| match call {
        Call::Queue(_) => "Q".to_owned(),
        Call::Commit(n) => n.to_string(),
        Call::Reap { min, max, n } => format!("R({min},{max})={n}"),
        Call::Open(_) | Call::Close(_) => String::new(),
    };
    calls.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn deep(n_blocks: u64, n_channels: u32, queue: QueueSpec) -> JobSpec {
    let mut job = sim_reader("j", "fixed:100us", n_blocks);
    job.engine.options.set(&sim::CHANNELS, n_channels.into());
    job.queue = queue;
    job
}

const BATCHES: QueueSpec =
    QueueSpec { iodepth: 8, batch_submit: 4, batch_complete_min: 2, batch_complete_max: 8, low: 2 };

#[test]
fn batches_and_marks() {
    // Four channels: 4 complete at a time.
    let driven = drive(deep(16, 4, BATCHES));
    let round = "Q Q Q Q 4 Q Q Q Q 4 R(2,8)=4 R(2,8)=4";
    assert_eq!(shorten(&driven.io_calls()), format!("{round} {round}"));
    let stats = driven.outcome.stats;
    // 4 were submitted at depth 4, 4 at depth 8, and so on.
    assert_eq!(stats.depth.0, [0, 0, 8, 8, 0, 0, 0]);
    assert_eq!((stats.submit.0[1], stats.complete.0[1]), (4, 4));
}

#[test]
fn no_more_than_the_low_mark_stay_out() {
    // One channel: completions come one by one; two are waited for at a time until two are in flight.
    let driven = drive(deep(14, 1, BATCHES));
    let first = "Q Q Q Q 4 Q Q Q Q 4 R(2,8)=2 R(2,8)=2 R(2,8)=2";
    let second = "Q Q Q Q 4 Q Q 2 R(2,8)=2 R(2,8)=2 R(2,8)=2";
    assert_eq!(shorten(&driven.io_calls()), format!("{first} {second} R(1,8)=1 R(1,8)=1"));
}

#[test]
fn defaults_hand_over_one_by_one() {
    let mut job = deep(4, 1, BATCHES);
    set_depth(&mut job, 2);
    let driven = drive(job);
    assert_eq!(shorten(&driven.io_calls()), "Q 1 Q 1 R(1,1)=1 Q 1 R(1,1)=1 Q 1 R(1,1)=1 R(1,2)=1");
}

#[test]
fn an_incomplete_batch_is_handed_over_before_waiting() {
    let queue = QueueSpec { iodepth: 4, batch_submit: 3, batch_complete_min: 1, batch_complete_max: 4, low: 4 };
    let driven = drive(deep(6, 4, queue));
    assert_eq!(shorten(&driven.io_calls()), "Q Q Q 3 Q 1 R(1,4)=4 Q Q 2 R(1,4)=2");
}

#[test]
fn polling_looks_after_every_io() {
    let queue = QueueSpec { iodepth: 4, batch_submit: 1, batch_complete_min: 0, batch_complete_max: 0, low: 4 };
    let driven = drive(deep(3, 4, queue));
    let calls = shorten(&driven.io_calls());
    assert!(calls.starts_with("Q 1 R(0,4)=0 Q 1 R(0,4)=0 Q 1 R(0,4)=0"), "{calls}");
    assert_eq!(reads(&driven.outcome.stats).n_completed, 3);
}

#[test]
fn a_unit_never_goes_to_a_slot_in_use() {
    let driven = drive(deep(200, 3, BATCHES));
    let mut used = [false; 8];
    let mut n_used = 0;
    // The list does not tell which slots come back, but there are never more in use than the depth.
    for call in driven.io_calls() {
        match call {
            Call::Queue(slot) => {
                n_used += 1;
                used[slot as usize] = true;
            }
            Call::Reap { n, .. } => n_used -= n,
            _ => {}
        }
        assert!(n_used <= 8);
    }
    assert_eq!((n_used, used), (0, [true; 8]));
}

fn costly(mut job: JobSpec) -> JobSpec {
    job.engine.options.set(&QUEUE_NS, 200);
    job.engine.options.set(&COMMIT_NS, 3_000);
    job
}

#[test]
fn submission_and_completion_latency_make_up_the_total() {
    let driven = drive(costly(sim_reader("j", "fixed:100us", 50)));
    let read = reads(&driven.outcome.stats);
    for (stat, ns) in [(&read.slat, 3_200), (&read.clat, 100 * US), (&read.lat, 100 * US + 3_200)] {
        assert_eq!((stat.n_samples, stat.min_ns, stat.max_ns), (50, ns, ns));
    }
    assert_eq!(read.runtime_ns, 50 * (100 * US + 3_200));
}

#[test]
fn units_of_one_call_share_its_stamp() {
    let queue = QueueSpec { iodepth: 4, batch_submit: 4, batch_complete_min: 4, batch_complete_max: 4, low: 1 };
    let driven = drive(costly(deep(40, 4, queue)));
    let read = reads(&driven.outcome.stats);
    // All four start with the stamp before the first, and are submitted after four queue calls and a commit.
    let slat_ns = 4 * 200 + 3_000;
    for (stat, ns) in [(&read.slat, slat_ns), (&read.clat, 100 * US), (&read.lat, 100 * US + slat_ns)] {
        assert_eq!((stat.n_samples, stat.min_ns, stat.max_ns), (40, ns, ns));
    }
}

#[test]
fn totals_are_sums_whatever_the_batches() {
    let driven = drive(costly(deep(100, 2, BATCHES)));
    let read = reads(&driven.outcome.stats);
    assert_eq!([read.slat.n_samples, read.clat.n_samples, read.lat.n_samples], [100; 3]);
    assert_eq!(read.lat.sum_ns, read.slat.sum_ns + read.clat.sum_ns);
}

#[test]
fn files_are_opened_at_their_first_io_and_closed_once_idle() {
    let mut job = deep(8, 1, BATCHES);
    job.pattern.mix = DirectionMix::Write;
    job.target.nrfiles = 2;
    job.target.openfiles = 1;
    job.extent.size = Some(SizeSpec::Bytes(8 * 4096));
    let driven = drive(job);
    assert_eq!(writes(&driven.outcome.stats).n_completed, 8);
    let files: Vec<Call> =
        driven.calls.iter().filter(|call| matches!(call, Call::Open(_) | Call::Close(_))).copied().collect();
    assert_eq!(files.len(), 4);
    assert_eq!(files[0], Call::Open(0));
    assert!(driven.messages.is_empty());
}

//! `verify_backlog`: reads between writes. The expected orders are those of fio 3.41, traced with `write_iolog`.
//!
//! Start reading at [`orders_are_those_of_the_peer`].

use crate::builder::{set_depth, simulate};
use crate::scratch::Scratch;
use crate::verify::{figures, verified};
use ferrio_run::MessageStream;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{JobSpec, SizeSpec, VerifyBacklogSpec, VerifyMethod};

fn with_backlog(n_blocks: u64, blocks: u64, batch: u64) -> JobSpec {
    let mut job = verified(VerifyMethod::Crc32c);
    job.extent.size = Some(SizeSpec::Bytes(n_blocks * 4096));
    job.verify.as_mut().unwrap().backlog = Some(VerifyBacklogSpec { blocks, batch });
    job
}

/// The I/Os of a job, by direction and block.
fn order(mut job: JobSpec, scratch: &Scratch) -> String {
    let path = scratch.path().join("log");
    let _ = std::fs::remove_file(&path);
    job.write_iolog = Some(path.clone());
    let (outcome, events) = simulate(vec![job]);
    assert_eq!((outcome.n_failed, events.text(MessageStream::Error)), (0, String::new()));
    let text = std::fs::read_to_string(path).unwrap();
    let word = |line: &str| {
        let fields: Vec<_> = line.split(' ').collect();
        let [_, _, action @ ("read" | "write"), offset, _] = fields[..] else { return None };
        Some(format!("{}{}", &action[..1], offset.parse::<u64>().unwrap() / 4096))
    };
    text.lines().filter_map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn orders_are_those_of_the_peer() {
    let scratch = Scratch::new("backlog");
    for (n_blocks, blocks, batch, expected) in [
        (8, 4, 4, "w0 w1 w2 w3 r0 r1 r2 r3 w4 w5 w6 w7 r4 r5 r6 r7"),
        (8, 4, 2, "w0 w1 w2 w3 r0 r1 w4 w5 r2 r3 w6 w7 r4 r5 r6 r7"),
        (8, 2, 4, "w0 w1 r0 r1 w2 r2 w3 r3 w4 w5 r4 r5 w6 r6 w7 r7"),
        (8, 3, 3, "w0 w1 w2 r0 r1 r2 w3 w4 w5 r3 r4 r5 w6 w7 r6 r7"),
        (4, 100, 100, "w0 w1 w2 w3 r0 r1 r2 r3"),
    ] {
        assert_eq!(order(with_backlog(n_blocks, blocks, batch), &scratch), expected);
        // I/Os in flight are waited for, so the order is the same with several.
        let mut deep = with_backlog(n_blocks, blocks, batch);
        set_depth(&mut deep, 8);
        deep.engine.options.set(&sim::CHANNELS, 8);
        assert_eq!(order(deep, &scratch), expected);
    }
}

/// A job that ends by time has checked all writes except for those in the backlog.
#[test]
fn a_job_that_writes_for_a_time_checks_as_it_goes() {
    let mut job = with_backlog(64, 4, 4);
    (job.limits.time_based, job.limits.runtime_us) = (true, 10_000);
    let (outcome, events) = simulate(vec![job]);
    assert_eq!(events.text(MessageStream::Error), "");
    let (n_writes, n_reads, errno) = figures(&outcome);
    // 10 us each for 10 ms.
    assert_eq!((n_writes + n_reads, errno), (1000, 0));
    assert!(n_writes - n_reads <= 4, "{n_writes} {n_reads}");
}

/// A fault ends the job when it is read, long before the last write; each direction has its own time.
#[test]
fn a_fault_ends_the_job_early() {
    let mut job = with_backlog(64, 8, 8);
    job.engine.options.set(&sim::FAULT, "write=flip@20");
    let (outcome, _) = simulate(vec![job]);
    // Writes 16 to 23, then the fourth of their reads.
    assert_eq!((outcome.n_failed, figures(&outcome)), (1, (24, 20, 84)));
    let directions = &outcome.record.workers[0].stats.directions.0;
    // 24 writes and 20 reads of 10 us; the last four reads follow the last write.
    assert_eq!([directions[0].runtime_ns, directions[1].runtime_ns], [440_000, 400_000]);
}

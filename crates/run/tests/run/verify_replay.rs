//! Verification of replayed traces on the simulated device: the newest writes are read back, and nothing else is
//! reported.
//!
//! Start reading at [`damage_is_found_where_it_is_the_newest`].

use crate::builder::{set_depth, simulate};
use crate::scratch::Scratch;
use crate::verify::{EILSEQ, figures, verified};
use ferrio_run::MessageStream;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{DirectionMix, JobSpec, VERIFY_METHODS, VerifiedWrites, VerifyBacklogSpec, VerifyMethod};
use ferrio_units::DataDirection;
use proptest::prelude::*;

/// A line of a trace: action, offset and length in sectors.
type Step = (&'static str, u64, u64);

/// A job that replays a trace on a device that stores data, and verifies it.
fn replayed(scratch: &Scratch, steps: &[Step], method: VerifyMethod) -> JobSpec {
    let line = |(action, at, length): &Step| match *action {
        "sync" => "f sync 0 0\n".to_owned(),
        action => format!("f {action} {} {}\n", at * 512, length * 512),
    };
    let text = format!("fio version 2 iolog\nf add\nf open\n{}f close\n", steps.iter().map(line).collect::<String>());
    let path = scratch.path().join("trace");
    std::fs::write(&path, text).unwrap();
    let mut job = verified(method);
    job.extent.size = None;
    job.pattern.mix = DirectionMix::Read;
    job.replay.traces = vec![path.to_string_lossy().into_owned()];
    job.engine.options.set(&sim::CAPACITY, 1 << 20);
    job
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let action = prop::sample::select(vec!["write", "write", "write", "write", "read", "trim", "sync"]);
    prop::collection::vec((action, 0u64..40, 1u64..17), 1..60)
}

/// Indexes of the writes that are not overwritten.
fn newest(steps: &[Step]) -> Vec<usize> {
    let covers = |(action, at, length): &Step, other: &Step| {
        ["write", "trim"].contains(action) && *at < other.1 + other.2 && other.1 < at + length
    };
    let is_newest = |index: &usize| !steps[index + 1..].iter().any(|later| covers(later, &steps[*index]));
    (0..steps.len()).filter(|index| steps[*index].0 == "write").filter(is_newest).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// One I/O at a time: if the device loses the n-th write, that is found exactly if no later write or trim covers
    /// it.
    #[test]
    fn damage_is_found_where_it_is_the_newest(steps in steps(), lost in 0usize..60) {
        // If the trace only reads, the blocks have no headers.
        prop_assume!(steps.iter().any(|step| step.0 == "write"));
        let scratch = Scratch::new("replay-damage");
        let mut job = replayed(&scratch, &steps, VerifyMethod::Crc32c);
        let newest = newest(&steps);
        let clean = simulate(vec![job.clone()]);
        prop_assert_eq!(clean.1.text(MessageStream::Error), "");
        let (n_writes, n_reads, errno) = figures(&clean.0);
        let count = |wanted| steps.iter().filter(|step| step.0 == wanted).count() as u64;
        prop_assert_eq!((n_writes, n_reads, errno), (count("write"), count("read") + newest.len() as u64, 0));
        let writes: Vec<usize> = (0..steps.len()).filter(|index| steps[*index].0 == "write").collect();
        let nth = lost % writes.len();
        job.engine.options.set(&sim::FAULT, &format!("write=lost@{}", nth + 1));
        let (outcome, events) = simulate(vec![job]);
        let is_found = newest.contains(&writes[nth]);
        prop_assert_eq!(figures(&outcome).2, if is_found { EILSEQ } else { 0 }, "{}", events.text(MessageStream::Error));
    }

    /// A device that stores data correctly gives no fault, whatever is in flight together.
    #[test]
    fn no_false_alarm(
        steps in steps(),
        method in 0..VERIFY_METHODS.len(),
        (iodepth, channels, loops) in (1u32..20, 1u32..8, 1u32..3),
        (serialized, n_threads, is_fsynced) in (any::<bool>(), 0u32..3, any::<bool>()),
        backlog in prop::option::of((1u64..9, 1u64..9)),
    ) {
        prop_assume!(steps.iter().any(|step| step.0 == "write"));
        let scratch = Scratch::new("replay-clean");
        let mut job = replayed(&scratch, &steps, VERIFY_METHODS[method].method);
        job.limits.loops = loops;
        job.submission.serialize_overlap = serialized;
        set_depth(&mut job, iodepth);
        job.engine.options.set(&sim::CHANNELS, channels.into());
        let verify = job.verify.as_mut().unwrap();
        verify.n_threads = n_threads;
        verify.backlog = backlog.map(|(blocks, batch)| VerifyBacklogSpec { blocks, batch });
        verify.reads = if is_fsynced { VerifiedWrites::Fsynced } else { VerifiedWrites::Done };
        let (outcome, events) = simulate(vec![job]);
        prop_assert_eq!(events.text(MessageStream::Error), "");
        prop_assert_eq!(outcome.n_failed, 0);
    }
}

/// Blocks of other lengths than `bs`: as in fio 3.41, there is a header each `bs`, and one in each shorter block. If
/// that does not divide all blocks, the common divisor is used (fio's last header would cover bytes past the end of a
/// block).
#[test]
fn blocks_of_any_length_are_checked_to_their_end() {
    let scratch = Scratch::new("replay-lengths");
    for steps in [
        &[("write", 0, 8), ("write", 8, 32)][..],
        &[("write", 0, 1), ("write", 8, 8)],
        &[("write", 0, 9), ("write", 16, 8)],
        &[("write", 0, 3), ("write", 16, 5)],
    ] {
        for fault in ["", "write=flip@1", "write=flip@2"] {
            let mut job = replayed(&scratch, steps, VerifyMethod::Crc32c);
            job.engine.options.set(&sim::FAULT, if fault.is_empty() { "write=flip@99" } else { fault });
            let (outcome, events) = simulate(vec![job]);
            let expected = if fault.is_empty() { 0 } else { EILSEQ };
            assert_eq!(figures(&outcome).2, expected, "{steps:?} {fault}: {}", events.text(MessageStream::Error));
        }
    }
    let job = replayed(&scratch, &[("write", 0, 1), ("write", 8, 8)], VerifyMethod::Sha512);
    assert_eq!(figures(&simulate(vec![job]).0).2, 0);
}

/// Reads of a trace are checked if it writes nothing: here no block has a header.
#[test]
fn reads_of_a_trace_without_writes_are_checked() {
    let scratch = Scratch::new("replay-reads");
    let (outcome, events) = simulate(vec![replayed(&scratch, &[("read", 0, 8), ("read", 8, 8)], VerifyMethod::Md5)]);
    assert_eq!(figures(&outcome), (0, 1, EILSEQ));
    assert!(events.text(MessageStream::Error).contains("bad magic header 0"), "{events:?}");
    let trims = simulate(vec![replayed(&scratch, &[("trim", 0, 8)], VerifyMethod::Md5)]).0;
    assert_eq!(trims.record.workers[0].stats.directions[DataDirection::Trim].n_completed, 1);
    assert_eq!(trims.n_failed, 0);
}

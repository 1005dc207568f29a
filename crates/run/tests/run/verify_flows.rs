//! Faults of the simulated device in every kind of verification: each method that can find a fault does, and `null`
//! finds none.
//!
//! Start reading at [`every_flow_finds_what_its_method_can`].

use crate::builder::{set_depth, simulate};
use crate::verify::{EILSEQ, N_BLOCKS, figures, verified};
use ferrio_run::MessageStream;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{
    DirectionMix, ErrorClasses, JobSpec, SizeSpec, VERIFY_METHODS, VerifiedWrites, VerifyBacklogSpec, VerifyMethod,
    VerifySpec,
};

/// A kind of verification: its name, and its changes to a job that writes 64 blocks.
type Flow = (&'static str, fn(&mut JobSpec));

const FLOWS: &[Flow] = &[
    ("write, then read", |_| ()),
    ("random, 16 in flight", |job| {
        shuffle(job);
        set_depth(job, 16);
    }),
    ("mixed", |job| job.pattern.mix = DirectionMix::ReadWrite),
    ("mixed, random, 16 in flight", |job| {
        job.pattern.mix = DirectionMix::ReadWrite;
        shuffle(job);
        set_depth(job, 16);
    }),
    ("backlog", |job| verify(job).backlog = Some(VerifyBacklogSpec { blocks: 5, batch: 3 })),
    ("backlog, 16 in flight", |job| {
        verify(job).backlog = Some(VerifyBacklogSpec { blocks: 4, batch: 4 });
        set_depth(job, 16);
    }),
    ("threads", |job| verify(job).n_threads = 2),
    ("threads and backlog", |job| {
        let verify = verify(job);
        (verify.n_threads, verify.backlog) = (2, Some(VerifyBacklogSpec { blocks: 3, batch: 3 }));
    }),
    ("made once more", |job| verify(job).reads = VerifiedWrites::Regenerated),
    ("made once more, between writes", |job| {
        let verify = verify(job);
        (verify.reads, verify.backlog) = (VerifiedWrites::Regenerated, Some(VerifyBacklogSpec { blocks: 4, batch: 3 }));
    }),
    ("fsynced", |job| {
        verify(job).reads = VerifiedWrites::Fsynced;
        job.durability.fsync_blocks = 8;
    }),
    ("fsynced, between writes", |job| {
        let verify = verify(job);
        (verify.reads, verify.backlog) = (VerifiedWrites::Fsynced, Some(VerifyBacklogSpec { blocks: 4, batch: 4 }));
        job.durability.fsync_blocks = 8;
    }),
    ("newest of each place", |job| {
        shuffle(job);
        job.pattern.norandommap = true;
        // Each place is written many times: the fault below is in a write of its own loop that is not overwritten.
        job.extent.size = Some(SizeSpec::Bytes(N_BLOCKS * 1024 * 4096));
        job.extent.io_size = Some(SizeSpec::Bytes(N_BLOCKS * 4096));
    }),
    ("several files", |job| (job.target.nrfiles, job.target.openfiles) = (4, 2)),
    ("loops", |job| job.limits.loops = 2),
    // Four rounds, of which the last is read back.
    ("rounds", |job| job.extent.io_size = Some(SizeSpec::Bytes(4 * N_BLOCKS * 4096))),
    // Bytes read back count too (as in fio 3.41), so this is two passes.
    ("more than the size", |job| {
        shuffle(job);
        job.extent.io_size = Some(SizeSpec::Bytes(4 * N_BLOCKS * 4096));
    }),
    ("until its time is over", |job| {
        (job.limits.time_based, job.limits.runtime_us) = (true, 20_000);
        verify(job).backlog = Some(VerifyBacklogSpec { blocks: 4, batch: 4 });
    }),
    ("serialised", |job| {
        shuffle(job);
        set_depth(job, 16);
        job.submission.serialize_overlap = true;
    }),
];

fn verify(job: &mut JobSpec) -> &mut VerifySpec {
    job.verify.as_mut().unwrap()
}

fn shuffle(job: &mut JobSpec) {
    (job.pattern.random, job.pattern.rw_postfix) = (true, 1);
}

/// A write that each kind reads back before it is overwritten.
fn faulty_write(flow: &str) -> u64 {
    match flow {
        // A write of the second pass: blocks of the first are overwritten and not read back, or were read before.
        "loops" | "more than the size" => N_BLOCKS + 20,
        "rounds" => 3 * N_BLOCKS + 20,
        _ => 20,
    }
}

#[test]
fn every_flow_finds_what_its_method_can() {
    for def in VERIFY_METHODS {
        for (flow, change) in FLOWS {
            for fault in ["none", "flip", "torn", "lost", "misdirected"] {
                let mut job = verified(def.method);
                change(&mut job);
                job.engine.options.set(&sim::CHANNELS, 4);
                if fault != "none" {
                    job.engine.options.set(&sim::FAULT, &format!("write={fault}@{}", faulty_write(flow)));
                }
                let (outcome, events) = simulate(vec![job]);
                let blind = match def.method {
                    _ if fault == "none" => true,
                    VerifyMethod::Null => true,
                    // `meta` checks only the header, which a torn block has; it does not see a bit elsewhere.
                    VerifyMethod::Meta => ["flip", "torn"].contains(&fault),
                    // The previous pass left the same pattern.
                    VerifyMethod::Pattern => {
                        faulty_write(flow) > N_BLOCKS && ["torn", "lost", "misdirected"].contains(&fault)
                    }
                    VerifyMethod::PatternHeader => faulty_write(flow) > N_BLOCKS && fault == "torn",
                    _ => false,
                };
                let text = events.text(MessageStream::Error);
                assert_eq!(figures(&outcome).2, if blind { 0 } else { EILSEQ }, "{} {flow} {fault}: {text}", def.name);
                assert_eq!(text.is_empty(), blind, "{} {flow} {fault}: {text}", def.name);
            }
        }
    }
}

/// If a read returns a wrong bit, it is found where the read is checked.
#[test]
fn a_bit_that_a_read_flips_is_found() {
    for (flow, change) in FLOWS.iter().filter(|(flow, _)| !flow.starts_with("mixed")) {
        let mut job = verified(VerifyMethod::Crc32c);
        change(&mut job);
        job.engine.options.set(&sim::FAULT, "read=flip@7");
        assert_eq!(figures(&simulate(vec![job]).0).2, EILSEQ, "{flow}");
    }
}

/// Where faults are tolerated, every damaged write is reported once.
#[test]
fn every_damaged_block_is_told_in_every_flow() {
    for (flow, change) in FLOWS.iter().filter(|(flow, _)| !["until its time is over"].contains(flow)) {
        let mut job = verified(VerifyMethod::Xxhash);
        change(&mut job);
        job.engine.options.set(&sim::FAULT, "write=flip@/8");
        job.errors.continue_on = ErrorClasses { verify: true, ..ErrorClasses::default() };
        let n_written = figures(&simulate(vec![job.clone()]).0).0;
        let n_writes = if *flow == "rounds" { N_BLOCKS } else { n_written };
        let (outcome, events) = simulate(vec![job]);
        let n_told = events.text(MessageStream::Error).matches("requested block").count() as u64;
        assert_eq!(outcome.record.workers[0].stats.tolerated.n_total, n_told, "{flow}");
        // No fsync follows the last eight writes, because it would come before the next write.
        let n_not_durable = u64::from(flow.starts_with("fsynced"));
        assert_eq!((outcome.n_failed, n_told), (0, n_writes / 8 - n_not_durable), "{flow}");
    }
}

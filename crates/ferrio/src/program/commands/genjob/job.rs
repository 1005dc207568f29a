//! The job file of a request, with a comment on each option.
//!
//! Must not know: how a request is asked for. Start reading at [`text`].

use super::request::{JobGoal, JobRequest};
use super::target::{JobTarget, JobTargetKind};
use crate::ui::job_text::JobText;

/// Size of a write to the log of a database.
const LOG_BYTES: u64 = 8192;

/// The part of the data's size that the log of a database has.
const LOG_PART: u64 = 8;

pub(super) fn text(wanted: &JobRequest, target: &JobTarget) -> JobText {
    let mut job = JobText::default();
    job.comment(&format!("Made by ferrio genjob: {}.", wanted.measure.name()));
    if !wanted.writes() && target.kind != JobTargetKind::Device {
        job.comment("The job only reads. Where its file is not there yet, it is made and filled first.");
    } else if !wanted.writes() {
        job.comment("The job only reads: what is on the device stays.");
    } else if matches!(target.kind, JobTargetKind::File | JobTargetKind::Device) {
        job.comment(&format!("CAUTION: the job overwrites what is on {}.", wanted.target));
    }
    globals(&mut job, wanted, target);
    match wanted.measure {
        JobGoal::LogWriter => log(&mut job, "log-writer", wanted.block_bytes),
        JobGoal::Database => {
            data(&mut job, "data", wanted);
            log(&mut job, "log", LOG_BYTES);
            job.comment("The log has a file of its own.");
            if target.kind == JobTargetKind::NewFile {
                job.option("filename", format!("{}.log", wanted.target));
            }
            job.option("size", (target.size_bytes / LOG_PART).max(LOG_BYTES));
        }
        JobGoal::Latency | JobGoal::Iops | JobGoal::Bandwidth | JobGoal::Mixed => {
            data(&mut job, wanted.measure.name(), wanted);
        }
    }
    job
}

fn globals(job: &mut JobText, wanted: &JobRequest, target: &JobTarget) {
    job.section("global");
    if target.kind == JobTargetKind::Directory {
        job.comment("The files of the jobs are made here, and stay.");
        job.option("directory", &wanted.target);
    } else {
        job.comment("The file or device.");
        job.option("filename", &wanted.target);
    }
    job.comment("How much of it is used, in bytes. A file should be larger than caches.");
    job.option("size", target.size_bytes);
    if wanted.is_direct {
        job.comment("Past the page cache: the storage is measured, not the memory.");
    } else {
        job.comment("Through the page cache: reads of data in memory never reach the storage.");
    }
    job.option("direct", u8::from(wanted.is_direct));
    job.comment("The jobs end after so many seconds, and begin again where they are done before.");
    job.option("runtime", wanted.runtime_sec);
    job.flag("time_based");
    job.comment("Other blocks in each run, so that no cache knows them from the last one.");
    job.option("randrepeat", 0);
    job.flag("group_reporting");
}

/// Reads, or reads and writes.
fn data(job: &mut JobText, name: &str, wanted: &JobRequest) {
    job.section(name);
    let order = if wanted.measure.usual().is_random { "rand" } else { "" };
    let place = if order.is_empty() { "one block behind the other" } else { "anywhere" };
    match wanted.read_share {
        100 => {
            job.comment(&format!("Reads, {place}."));
            job.option("rw", format!("{order}read"));
        }
        0 => {
            job.comment(&format!("Writes, {place}."));
            job.option("rw", format!("{order}write"));
        }
        share => {
            job.comment(&format!("Reads and writes, {place}, and the share of reads in percent."));
            job.option("rw", format!("{order}rw"));
            job.option("rwmixread", share);
        }
    }
    job.comment("Bytes of each I/O.");
    job.option("bs", wanted.block_bytes);
    if wanted.depth > 1 && !wanted.is_direct {
        // As seen on Linux, libaio without direct I/O waits for each I/O when it is submitted.
        job.comment(
            "How I/Os are issued, and how many are in flight together. libaio would not keep them in flight here.",
        );
        job.option("ioengine", "io_uring");
    } else if wanted.depth > 1 {
        job.comment("How I/Os are issued, and how many are in flight together.");
        job.option("ioengine", "libaio");
    } else {
        job.comment("How I/Os are issued: one after another.");
        job.option("ioengine", "psync");
    }
    job.option("iodepth", wanted.depth);
}

fn log(job: &mut JobText, name: &str, block_bytes: u64) {
    job.section(name);
    job.comment("Writes, one block behind the other.");
    job.option("rw", "write");
    job.comment("Bytes of each I/O.");
    job.option("bs", block_bytes);
    job.comment("How I/Os are issued: one after another.");
    job.option("ioengine", "psync");
    job.comment(
        "Each write is made durable before the next one, as a commit is. Times of the syncs are reported apart.",
    );
    job.option("fdatasync", 1);
}

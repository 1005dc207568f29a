//! Features of `io_uring` that engines with one call per I/O do not have: trims in flight, a kernel thread that submits
//! I/Os.
//!
//! Start reading at [`both`].

use crate::support::{LoopDevice, Program, Run, Scratch, peer_too, skip};
use serde_json::Value;

fn programs(test: &str) -> &'static [Program] {
    if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] }
}

/// The job of the document of a run that must succeed.
fn job(program: Program, scratch: &Scratch, arguments: &str) -> Value {
    let arguments = format!("--name=a --ioengine=io_uring {arguments} --output-format=json");
    let finished = Run::new(program, scratch.path(), &arguments).finish().succeeded();
    let text = &finished.stdout[finished.stdout.find('{').expect("a document")..];
    serde_json::from_str::<Value>(text).expect("JSON")["jobs"][0].clone()
}

#[test]
fn trims_of_a_device_are_in_flight_together() {
    let test = "trims_of_a_device_are_in_flight_together";
    let scratch = Scratch::new("trims-in-flight");
    let Some(device) = LoopDevice::new(&scratch, 16 << 20) else {
        return skip(test, "no loop device can be set up");
    };
    for program in programs(test) {
        for (depth, level) in [(1, "1"), (8, "8")] {
            let arguments =
                format!("--filename={} --bs=4k --rw=randtrim --number_ios=1000 --iodepth={depth}", device.path());
            let job = job(*program, &scratch, &arguments);
            let trim = &job["trim"];
            let what = format!("{program:?} {arguments}: {trim:#}");
            assert_eq!(trim["total_ios"], 1000, "{what}");
            assert_eq!((&trim["slat_ns"]["N"], &trim["clat_ns"]["N"]), (&1000.into(), &1000.into()), "{what}");
            let share = job["iodepth_level"][level].as_f64().expect("a share");
            assert!(share > 99.0, "{what}: {share} % at depth {level}");
        }
    }
}

#[test]
fn what_a_ring_takes_by_itself_has_no_submission_latency() {
    let test = "what_a_ring_takes_by_itself_has_no_submission_latency";
    for program in programs(test) {
        for depth in [1, 4] {
            let scratch = Scratch::new("unseen-submission");
            let arguments = format!(
                "--size=1m --bs=4k --rw=randread --sqthread_poll=1 --iodepth={depth} --slat_percentiles=1 --write_lat_log=log"
            );
            let read = job(*program, &scratch, &arguments)["read"].clone();
            assert_eq!(
                (&read["slat_ns"]["N"], &read["clat_ns"]["N"]),
                (&0.into(), &256.into()),
                "{program:?} {read:#}"
            );
            let n_rows = |name: &str| scratch.read(name).lines().count();
            assert_eq!((n_rows("log_slat.1.log"), n_rows("log_clat.1.log")), (0, 256), "{program:?}");
        }
    }
}

#[test]
fn a_kernel_thread_that_lags_is_waited_for_at_every_depth() {
    let scratch = Scratch::new("lagging-thread");
    for depth in [1, 2, 8] {
        for registered in ["", "--fixedbufs=1", "--registerfiles=1"] {
            let arguments = format!(
                "--size=1m --io_size=40m --norandommap --bs=4k --rw=randrw --sqthread_poll=1 --iodepth={depth} {registered}"
            );
            let job = job(Program::Ferrio, &scratch, &arguments);
            let n_ios = |direction: &str| job[direction]["total_ios"].as_u64().expect("a count");
            assert_eq!((n_ios("read") + n_ios("write"), &job["error"]), (10_240, &0.into()), "{arguments}");
        }
    }
}

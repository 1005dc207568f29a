//! `ioengine=rdma` between two runs of one machine, over an RDMA device that the kernel makes of a network device (`rdma_rxe`).
//!
//! A test cannot see whether a server listens already, so a client that failed is started again.

use super::{Guest, enter, has_peer};
use crate::support::{Finished, Program, Run, Running, has_programs, send, skip, tool};
use rustix::process::Signal;
use std::time::Duration;

/// The address of the device.
const ADDRESS: &str = "10.9.9.1";

/// An address of its network that nobody has.
const ABSENT: &str = "10.9.9.77";

/// Libraries of the host, whose drivers are there too. Those of the peer have none.
const LIBRARIES: &str = "/usr/lib/x86_64-linux-gnu/libibverbs.so.1:/usr/lib/x86_64-linux-gnu/librdmacm.so.1";

/// The driver that libibverbs loads for the device.
const DRIVERS: &str = "/usr/lib/x86_64-linux-gnu/libibverbs";

/// The guest with the device; else the test is reported as skipped.
fn enter_with_device(test: &str) -> Option<Guest> {
    let guest = enter(test)?;
    let has_driver = std::fs::read_dir(DRIVERS).is_ok_and(|mut files| {
        files.any(|file| file.is_ok_and(|file| file.file_name().to_string_lossy().starts_with("librxe-")))
    });
    if !has_driver || !LIBRARIES.split(':').all(|path| std::path::Path::new(path).exists()) {
        skip(test, "needs librdmacm1 and ibverbs-providers");
        return None;
    }
    if !["dummy", "rdma_rxe", "rdma_ucm", "ib_uverbs"].iter().all(|name| tool(&format!("modprobe {name}")).is_some()) {
        skip(test, "the guest has no module rdma_rxe: remove its cache (see tools/README.md)");
        return None;
    }
    if tool("ip link show d0").is_none() {
        for command in ["ip link add d0 type dummy", "ip link set d0 up", "ip addr add 10.9.9.1/24 dev d0"] {
            assert!(tool(command).is_some(), "{command}");
        }
    }
    if tool("rdma link show rxe0/1").is_none() {
        assert!(tool("rdma link add rxe0 type rxe netdev d0").is_some(), "an RDMA device");
    }
    Some(guest)
}

fn run(guest: &Guest, program: Program, arguments: &str) -> Run {
    let run = Run::new(program, guest.scratch.path(), arguments);
    if program == Program::Ferrio { run } else { run.env("LD_PRELOAD", LIBRARIES) }
}

fn server(guest: &Guest, program: Program, options: &str) -> Running {
    run(guest, program, &format!("--name=server --ioengine=rdma --rw=read {options}")).start()
}

fn client(guest: &Guest, program: Program, options: &str) -> Finished {
    run(guest, program, &format!("--name=client --ioengine=rdma --rw=write --hostname={ADDRESS} {options}")).finish()
}

/// The first result of a client that has met a server. The programs say in the same words that nobody listens.
fn met(guest: &Guest, program: Program, options: &str) -> Finished {
    let attempts = (0..100).map(|_| client(guest, program, options));
    let found = attempts.into_iter().find(|finished| {
        std::thread::sleep(Duration::from_millis(100));
        !finished.all().contains("RDMA_CM_EVENT_REJECTED")
    });
    found.expect("somebody listens")
}

/// Runs both ends.
fn pair(guest: &Guest, ends: [(Program, &str); 2]) -> [Finished; 2] {
    let [of_server, of_client] = ends;
    let serving = server(guest, of_server.0, of_server.1);
    let written = met(guest, of_client.0, of_client.1);
    [serving.finish(), written]
}

/// Each end has ended well and has counted so many I/Os of its own; servers count those of a client that sends.
fn assert_counts(ends: &[Finished; 2], n_ios: u32, is_sent: bool) {
    let [read, written] = ends;
    assert_eq!([read.code, written.code], [Some(0), Some(0)], "{}\n{}", read.all(), written.all());
    let all = format!("total=0,{n_ios},0,0 short=0,0,0,0");
    assert!(written.stdout.contains(&all), "{}", written.all());
    let all = format!("total={n_ios},0,0,0 short=0,0,0,0");
    assert_eq!(read.stdout.contains(&all), is_sent, "{}", read.all());
}

#[test]
fn blocks_go_over_rdma_by_each_verb() {
    let Some(guest) = enter_with_device("blocks_go_over_rdma_by_each_verb") else { return };
    let shapes = [("write", "--bs=4k --iodepth=1"), ("read", "--bs=4k --iodepth=8"), ("send", "--bs=64k --iodepth=4")];
    for (index, (verb, shape)) in shapes.into_iter().enumerate() {
        let job = format!("--port={} --size=256k {shape}", 7000 + index);
        let with_verb = format!("{job} --verb={verb}");
        let ends = pair(&guest, [(Program::Ferrio, &job), (Program::Ferrio, &with_verb)]);
        let n_ios = if verb == "send" { 4 } else { 64 };
        assert_counts(&ends, n_ios, verb == "send");
        assert!(ends[0].stdout.contains("fio: waiting for connection"), "{}", ends[0].all());
        assert!(ends[1].stdout.contains("clat ("), "{}", ends[1].all());
    }
}

#[test]
fn the_server_is_named_by_a_filename_and_its_buffers_may_be_larger() {
    let Some(guest) = enter_with_device("the_server_is_named_by_a_filename_and_its_buffers_may_be_larger") else {
        return;
    };
    let serving = server(&guest, Program::Ferrio, "--port=7010 --size=64k --bs=8k --bindname=10.9.9.1");
    let named = "--name=c --ioengine=rdma --rw=write --filename=10.9.9.1/7010/rdma_read --size=64k --bs=4k --fsync=4";
    let written =
        (0..100).map(|_| run(&guest, Program::Ferrio, named).finish()).find(|finished| finished.code == Some(0));
    let (read, written) = (serving.finish().succeeded(), written.expect("somebody listens"));
    // With three syncs, which have nothing to do.
    assert!(written.stdout.contains("issued rwts: total=0,16,0,3"), "{}", written.all());
    assert!(!read.stdout.contains("READ: "), "{}", read.all());
}

/// Runs both ends with several jobs each, of which all have to listen before the first client comes: later with each attempt.
fn clones(guest: &Guest, job: &str) -> [Finished; 2] {
    let attempt = |pause: u32| {
        let serving = server(guest, Program::Ferrio, job);
        std::thread::sleep(Duration::from_millis(300) * pause);
        let written = client(guest, Program::Ferrio, &format!("{job} --verb=send"));
        if written.code != Some(0) {
            send(serving.pid(), Signal::INT);
        }
        let read = serving.finish();
        (written.code == Some(0)).then_some([read, written])
    };
    (1..20).find_map(attempt).expect("both listen in the end")
}

#[test]
fn clones_have_ports_in_a_row() {
    let Some(guest) = enter_with_device("clones_have_ports_in_a_row") else { return };
    for (port, kind) in [(7020, "--numjobs=2"), (7030, "--numjobs=2 --thread")] {
        let job = format!("--port={port} --size=64k --bs=4k --iodepth=2 --group_reporting {kind}");
        assert_counts(&clones(&guest, &job), 32, true);
    }
}

#[test]
fn blocks_that_do_not_fit_the_server_are_an_error_of_both_ends() {
    let Some(guest) = enter_with_device("blocks_that_do_not_fit_the_server_are_an_error_of_both_ends") else { return };
    let jobs = ["--port=7040 --size=64k --bs=4k", "--port=7040 --size=64k --bs=8k"];
    for end in pair(&guest, jobs.map(|job| (Program::Ferrio, job))) {
        let words = "Server's block size (4096) must be greater than or equal to the client's block size (8192)!";
        assert!(end.code == Some(1) && end.all().contains(words), "{}", end.all());
    }
}

#[test]
fn waits_end_with_the_runtime_by_a_signal_and_after_half_a_minute() {
    let Some(guest) = enter_with_device("waits_end_with_the_runtime_by_a_signal_and_after_half_a_minute") else {
        return;
    };
    // Without a runtime, beside the others.
    let patient = format!("--name=c --ioengine=rdma --rw=write --hostname={ABSENT} --port=7053 --size=64k");
    let patient = run(&guest, Program::Ferrio, &patient).start();
    let alone = server(&guest, Program::Ferrio, "--port=7050 --size=64k --runtime=1").finish();
    let absent = format!("--name=c --ioengine=rdma --rw=write --hostname={ABSENT} --port=7050 --size=64k --runtime=1");
    let absent = run(&guest, Program::Ferrio, &absent).finish();
    for end in [alone, absent] {
        let words = "no connection was made within runtime";
        assert!(end.code == Some(1) && end.all().contains(words), "{}", end.all());
    }
    let mut stopped = server(&guest, Program::Ferrio, "--port=7051 --size=64k");
    stopped.wait_until("has a job", |running| !running.jobs().is_empty());
    std::thread::sleep(Duration::from_millis(500));
    send(stopped.pid(), Signal::INT);
    let stopped = stopped.finish();
    assert!(stopped.all().contains("terminating on signal 2"), "{}", stopped.all());
    let refused = client(&guest, Program::Ferrio, "--port=7052 --size=64k");
    assert!(refused.code == Some(1) && refused.all().contains("nobody listens there"), "{}", refused.all());
    let patient = patient.finish();
    let words = "the server 10.9.9.77 port 7053 does not answer while the connection is made";
    assert!(patient.code == Some(1) && patient.all().contains(words), "{}", patient.all());
}

/// The buffers of a job are locked memory, of which a process without privileges has little.
#[test]
fn buffers_beyond_the_limit_of_locked_memory_are_an_error_with_its_cause() {
    let name = "buffers_beyond_the_limit_of_locked_memory_are_an_error_with_its_cause";
    let Some(guest) = enter_with_device(name) else { return };
    if !has_programs(name, &["setpriv"]) {
        return;
    }
    let script = "ulimit -l 64 && exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock \"$0\" \"$@\"";
    let job = format!("--name=c --ioengine=rdma --rw=write --hostname={ADDRESS} --port=7095 --size=4m --bs=1m");
    let limited = run(&guest, Program::Ferrio, &job).in_shell(script).finish();
    let words = "the limit of locked memory (ulimit -l) may be too low";
    assert!(limited.code == Some(1) && limited.all().contains(words), "{}", limited.all());
}

/// Waits until the kernel has a connection in this state whose own address, or that of its other end, has the port.
fn wait_for_state(running: &mut Running, state: &str, port: u16) {
    let (state, address) = (format!("state {state} "), format!("-addr {ADDRESS}:{port}"));
    running.wait_until(&state, |_| {
        let connections = tool("rdma resource show cm_id").unwrap_or_default();
        connections.lines().any(|line| line.contains(&state) && line.contains(&address))
    });
}

/// Kills a run with its jobs.
fn kill(running: Running) {
    for pid in running.jobs().into_iter().chain([running.pid()]) {
        send(pid, Signal::KILL);
    }
    assert_eq!(running.finish().signal, Some(9));
}

/// Killed ends of the emulated device have crashed the guest's test program in three of nine boots of a busy machine.
#[test]
#[ignore = "run by hand: the guest may not survive it"]
fn the_other_end_hears_of_a_death() {
    let Some(guest) = enter_with_device("the_other_end_hears_of_a_death") else { return };
    // Jobs that do not end by themselves soon.
    let endless = "--size=1g --bs=4k --thinktime=10ms";
    for (port, dies) in [(7060, "client"), (7061, "server")] {
        let mut serving = server(&guest, Program::Ferrio, &format!("--port={port} --bindname={ADDRESS} {endless}"));
        wait_for_state(&mut serving, "LISTEN", port);
        let first = format!("--name=client --ioengine=rdma --rw=write --hostname={ADDRESS} --port={port} {endless}");
        let mut writing = run(&guest, Program::Ferrio, &first).start();
        wait_for_state(&mut writing, "CONNECT", port);
        // Time for the first I/Os: the kernel has this state from the request on.
        std::thread::sleep(Duration::from_secs(2));
        let (dead, left) = if dies == "client" { (writing, serving) } else { (serving, writing) };
        kill(dead);
        let left = left.finish();
        let words = "the other end of the connection is gone";
        assert!(left.code == Some(1) && left.all().contains(words), "{dies}: {}", left.all());
    }
}

#[test]
#[cfg_attr(not(peer), ignore = "needs the peer, FERRIO_PEER=1")]
fn fio_is_understood_at_the_other_end() {
    let name = "fio_is_understood_at_the_other_end";
    let Some(guest) = enter_with_device(name) else { return };
    if !has_peer(name) {
        return;
    }
    for (index, verb) in ["write", "read", "send"].into_iter().enumerate() {
        for (turn, ends) in [[Program::Ferrio, Program::Peer], [Program::Peer, Program::Ferrio]].into_iter().enumerate()
        {
            let job = format!("--port={} --size=64k --bs=4k --iodepth=4", 7070 + 2 * index + turn);
            let with_verb = format!("{job} --verb={verb}");
            let ends = pair(&guest, [(ends[0], &job), (ends[1], &with_verb)]);
            assert_counts(&ends, 16, verb == "send");
        }
    }
}

#[test]
fn a_stranger_is_an_error() {
    let name = "a_stranger_is_an_error";
    let Some(guest) = enter_with_device(name) else { return };
    if !has_programs(name, &["rping"]) {
        return;
    }
    let serving = server(&guest, Program::Ferrio, "--port=7090 --size=64k --bs=4k --runtime=20");
    // When the server has ended, the others meet nobody.
    for _ in 0..10 {
        std::thread::sleep(Duration::from_millis(500));
        tool(&format!("timeout 5 rping -c -a {ADDRESS} -p 7090 -C 1"));
    }
    let read = serving.finish();
    let words = "it has 16 bytes instead of 8208";
    assert!(read.code == Some(1) && read.all().contains(words), "{}", read.all());
}

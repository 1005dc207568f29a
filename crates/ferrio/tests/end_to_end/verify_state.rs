//! The state file of a verified job beside the peer's: its bytes, when it is written, and where it ends a later job.
//!
//! Start reading at [`states_are_those_of_the_peer`]. The version in the first word is 7 in fio 3.42, 5 in 3.41, whose form is the
//! same, and 3 in 3.33.

use crate::support::{Finished, Program, Run, Scratch, peer_too, peers_of_both_layouts, send};

/// The program, and the peer where there is one.
fn programs(test: &str) -> &'static [Program] {
    if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] }
}

/// The version of the states that a program writes.
fn version(program: Program) -> u8 {
    match program {
        Program::Ferrio => 7,
        Program::Peer => 5,
        Program::OldPeer => 3,
    }
}

const FIXED: &str = "--name=a/b --filename=f --size=64k --bs=4k --verify=md5 --randrepeat=0 --randseed=137";
const STATE: &str = "local-a.b-0-verify.state";

fn run(program: Program, scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(program, scratch.path(), &format!("{FIXED} {arguments}")).finish()
}

/// As [`run`], with the layout of the given peer.
fn run_beside(peer: Program, program: Program, scratch: &Scratch, arguments: &str) -> Finished {
    let own = if program == Program::Ferrio { peer.layout_option() } else { "" };
    run(program, scratch, &format!("{own} {arguments}"))
}

fn state(scratch: &Scratch) -> Vec<u8> {
    std::fs::read(scratch.join(STATE)).expect("a state file")
}

/// The job has written a block.
fn has_header(scratch: &Scratch) -> bool {
    std::fs::read(scratch.join("f")).is_ok_and(|data| data.starts_with(&[0xca, 0xac]))
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn states_are_those_of_the_peer() {
    let test = "states_are_those_of_the_peer";
    for peer in peers_of_both_layouts(test) {
        states_are_those_of(test, peer);
    }
}

fn states_are_those_of(test: &str, peer: Program) {
    for job in [
        "--rw=write",
        "--rw=write --iodepth=8 --loops=3",
        "--rw=randwrite --do_verify=0",
        "--rw=randwrite --random_generator=tausworthe64",
        "--rw=randwrite --random_generator=lfsr",
        "--rw=randwrite --number_ios=5",
        "--rw=randwrite --norandommap --io_size=128k",
        "--rw=randrw --ioengine=null",
        "--rw=write --filename=g:h --ioengine=libaio --iodepth=4",
        "--rw=write --random_generator=tausworthe64",
        "--rw=rw:8k --bsrange=4k-8k",
    ] {
        let of = |program| {
            let scratch = Scratch::new(test);
            let finished = run_beside(peer, program, &scratch, job);
            assert_eq!(finished.code, Some(0), "{job}: {}", finished.all());
            state(&scratch)
        };
        let (mut ours, theirs) = (of(Program::Ferrio), of(peer));
        if peer == Program::Peer {
            assert_eq!((ours[0], theirs[0]), (version(Program::Ferrio), version(peer)), "{job}");
            ours[0] = version(peer);
        }
        assert_eq!(ours, theirs, "{job}");
    }
}

#[test]
fn only_jobs_that_write_and_verify_have_one() {
    for program in programs("only_jobs_that_write_and_verify_have_one") {
        for (job, has_one) in [
            ("--rw=write --do_verify=0", true),
            ("--rw=read", false),
            ("--rw=write --verify=0", false),
            ("--rw=write --verify_state_save=0", false),
            ("--rw=randrw", true),
        ] {
            let scratch = Scratch::new("which-states");
            assert_eq!(run(*program, &scratch, "--rw=write --verify_state_save=0").code, Some(0));
            assert_eq!(run(*program, &scratch, job).code, Some(0), "{job}");
            assert_eq!(scratch.join(STATE).exists(), has_one, "{program:?} {job}");
        }
        let scratch = Scratch::new("aux-states");
        std::fs::create_dir(scratch.join("aux")).expect("a directory");
        assert_eq!(run(*program, &scratch, "--rw=write --aux-path=aux").code, Some(0));
        assert!(scratch.join("aux").join(STATE).exists() && !scratch.join(STATE).exists());
    }
}

/// Blocks that are read, in their order.
fn reads(peer: Program, program: Program, scratch: &Scratch, job: &str) -> Vec<String> {
    let _ = std::fs::remove_file(scratch.join("log"));
    let state = "--verify_state_load=1 --verify_state_save=0 --write_iolog=log";
    let finished = run_beside(peer, program, scratch, &format!("{job} {state}"));
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{job}");
    let log = scratch.read("log");
    log.lines().filter_map(|line| line.split_once(" read ").map(|(_, place)| place.to_owned())).collect()
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn each_stops_where_the_others_state_ends() {
    let test = "each_stops_where_the_others_state_ends";
    for peer in peers_of_both_layouts(test) {
        stops_with(test, peer);
    }
}

fn stops_with(test: &str, peer: Program) {
    for (write, read) in [("write", "read"), ("randwrite", "randread")] {
        for (writer, reader) in [(peer, Program::Ferrio), (Program::Ferrio, peer)] {
            for depth in ["", "--ioengine=libaio --iodepth=4"] {
                let scratch = Scratch::new(test);
                let write_more = format!("--rw={write} --verify_state_save=0");
                for job in [format!("--rw={write} {depth} --number_ios=7"), write_more] {
                    assert_eq!(run_beside(peer, writer, &scratch, &job).code, Some(0), "{job}");
                }
                let mut bytes = state(&scratch);
                if (writer, reader) == (Program::Ferrio, Program::Peer) {
                    // That version takes no other than its own.
                    bytes[0] = version(Program::Peer);
                    scratch.write(STATE, bytes);
                }
                let only = format!("--rw={write} {depth} --verify_only");
                // With this option fio 3.41 ignores the state.
                let only = (peer == Program::OldPeer).then_some(only);
                for job in
                    [format!("--rw={read} {depth}"), format!("--rw={read} {depth} --loops=2")].into_iter().chain(only)
                {
                    let by_reader = reads(peer, reader, &scratch, &job);
                    assert_eq!(by_reader, reads(peer, writer, &scratch, &job), "{job}");
                    assert!(by_reader.len() == 7 || job.contains("loops"), "{job}: {by_reader:?}");
                }
            }
        }
    }
}

/// Blocks that were never written are not checked; with fio 3.42's state.
#[test]
fn a_job_stops_where_its_state_ends() {
    let scratch = Scratch::new("own-state");
    let job = |more: &str| Run::new(Program::Ferrio, scratch.path(), &format!("{FIXED} {more}")).finish();
    scratch.write("f", vec![0; 64 << 10]);
    assert_eq!(job("--rw=write --number_ios=9").code, Some(0));
    assert_eq!(job("--rw=read --verify_state_save=0").code, Some(1), "the rest holds no headers");
    for depth in ["", "--ioengine=io_uring --iodepth=8"] {
        let read = job(&format!("--rw=read --verify_state_load=1 {depth}"));
        assert_eq!((read.code, read.stderr.as_str()), (Some(0), ""));
        assert!(read.stdout.contains("Stop verify because seq 9 >= 9\n"), "{}", read.stdout);
        assert!(read.stdout.contains("issued rwts: total=9,0,0,0"), "{}", read.stdout);
    }
}

#[test]
fn what_is_no_state_ends_the_job() {
    let scratch = Scratch::new("bad-states");
    assert_eq!(run(Program::Ferrio, &scratch, "--rw=write").code, Some(0));
    let whole = state(&scratch);
    let mut other = whole.clone();
    other[60] ^= 1;
    let mut later = whole.clone();
    later[0] = 9;
    for (bytes, message) in [
        (Some(other), "fio: verify state is corrupt\nfio: state file: local-a.b-0-verify.state (for_write=0)\n"),
        (Some(later), "fio: unsupported (9) version in verify state header\n"),
        (Some(whole[..9].to_vec()), "fio: failed reading verify state header\n"),
        (Some(whole[..99].to_vec()), "fio: failed reading verify state: it has 75 bytes, and is to have 152\n"),
        (Some(vec![255; 20 << 20]), "fio: unsupported (18446744073709551615) version in verify state header\n"),
        (
            None,
            "fio: open state file: No such file or directory\nfio: state file: local-a.b-0-verify.state (for_write=0)\n",
        ),
    ] {
        let _ = std::fs::remove_file(scratch.join(STATE));
        if let Some(bytes) = bytes {
            scratch.write(STATE, bytes);
        }
        let finished = run(Program::Ferrio, &scratch, "--rw=read --verify_state_load=1");
        assert_eq!(finished.code, Some(1), "{message}");
        assert!(finished.stderr.contains(message), "{}", finished.stderr);
    }
}

/// The command of a trigger may be the end of the machine.
#[test]
fn a_trigger_saves_states_before_its_command() {
    // On a trigger without a state to save, fio 3.41 dies of a signal.
    for (program, save) in programs("a_trigger_saves_states_before_its_command").iter().zip([0, 1]) {
        let scratch = Scratch::new("trigger-states");
        // Arguments are separated by blanks, and a file with the commands needs none.
        scratch.write("command", "cp *.state kept\n");
        let jobs = "--rw=write --time_based --runtime=100000 --rate_iops=20 --trigger-file=now";
        let jobs = format!("{jobs} --verify_state_save={save}");
        let arguments = format!("{FIXED} {jobs} --trigger=./command");
        let run = Run::new(*program, scratch.path(), &arguments);
        let mut running = run.in_shell(r#"chmod +x command; exec "$0" "$@""#).start();
        running.wait_until("a header", |_| has_header(&scratch));
        scratch.write("now", "");
        assert_eq!(running.finish().code, Some(0));
        let kept = std::fs::read(scratch.join("kept")).expect("the command saw a state");
        assert_eq!(kept, state(&scratch));
        assert_eq!(kept[0], version(*program));
    }
}

/// The state of an interrupted job contains how far it came.
#[test]
fn an_interrupted_job_has_a_state() {
    for program in programs("an_interrupted_job_has_a_state") {
        let scratch = Scratch::new("interrupted-states");
        let arguments = format!("{FIXED} --rw=write --time_based --runtime=100000 --rate_iops=20");
        let mut running = Run::new(*program, scratch.path(), &arguments).start();
        running.wait_until("a header", |_| has_header(&scratch));
        send(running.pid(), rustix::process::Signal::INT);
        running.finish();
        let state = state(&scratch);
        assert_eq!((state[0], state.len()), (version(*program), 176));
    }
}

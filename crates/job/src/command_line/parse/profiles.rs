//! Profiles on the command line: their jobs, as fio 3.41 shows them with `--debug=parse`, and refusals.

use super::tests::{complaint, good, names, run};
use crate::Invocation;
use crate::testing::World;

/// In a world with a directory to work in.
fn good_here(line: &str) -> Invocation {
    let world = World { directories: vec!["./".into(), ".".into()], ..World::default() };
    run(&world, line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// The options of each job, as `name=value`.
fn given(invocation: &Invocation) -> Vec<String> {
    let text =
        |(name, value): &(String, String)| if value.is_empty() { name.clone() } else { format!("{name}={value}") };
    let of_jobs = invocation.run.jobs.iter().map(|job| &job.given_options);
    std::iter::once(&invocation.run.global_options)
        .chain(of_jobs)
        .map(|options| options.iter().map(text).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn tiobench_is_that_of_the_peer() {
    let invocation = good_here("--profile=tiobench --iodepth=3");
    // 4096 bytes for each of the 1000 MiB of this world.
    let expected = [
        "buffered=0 size=4096000 bs=4096 loops=1 directory=./ numjobs=1 runtime=600 group_reporting thread overwrite=1 \
         filename=.fio.tio.1:.fio.tio.2:.fio.tio.3:.fio.tio.4 ioengine=sync iodepth=3",
        "name=seqwrite rw=write end_fsync=1",
        "name=randwrite stonewall rw=randwrite end_fsync=1",
        "name=seqread stonewall rw=read",
        "name=randread stonewall rw=randread",
    ];
    assert_eq!(given(&invocation), expected);
    assert_eq!(invocation.n_latency_slices, None);
}

#[test]
fn options_of_tiobench_count() {
    let invocation = good_here("--profile=tiobench --size=8 --block=8k --numruns=2 --dir=. --threads=3 --runtime=5");
    let globals = &given(&invocation)[0];
    for expected in
        ["size=8 block=8k", " size=8388608 bs=8192 loops=2 directory=. numjobs=3 ", " runtime=600 ", "runtime=5"]
    {
        assert!(globals.contains(expected), "{expected}: {globals}");
    }
    let job = &invocation.run.jobs[3];
    assert_eq!((job.numjobs, job.limits.loops, job.limits.runtime_us), (3, 2, 5_000_000));
}

#[test]
fn act_is_that_of_the_peer() {
    let invocation = good(
        "--profile=act --device-names=d0,d1 --test-duration=1 --load=4 --large-block-op-kbytes=262144 \
                    --threads-per-queue=3 --read-req-num-512-blocks=8",
    );
    let expected = |device| {
        [
            format!("name=act-read-{device} filename={device} rw=randread numjobs=3 rate_iops=2666 bs=4096"),
            format!("name=act-write-{device} filename={device} rw=randwrite rate_iops=63 bs=262144"),
        ]
    };
    let lines = given(&invocation);
    assert!(
        lines[0]
            .ends_with("direct=1 ioengine=sync random_generator=lfsr group_reporting=1 thread runtime=1s time_based=1")
    );
    assert_eq!(lines[1..], [expected("d0"), expected("d1")].concat());
    assert_eq!(invocation.n_latency_slices, Some(1));
}

/// Expected values: rates as fio sets them. A row: load, blocks per read, bytes per write, threads; then reads and
/// writes per second.
#[test]
fn rates_of_act_are_those_of_the_peer() {
    for (load, blocks, bytes, threads, reads, writes) in [
        (1, 3, 131_072, 8, 250, 12),
        (2, 3, 65_536, 8, 500, 48),
        (3, 3, 131_072, 1000, 6, 36),
        (5, 1, 131_072, 7, 1428, 20),
        (32, 1, 131_072, 400, 160, 125),
    ] {
        let invocation = good(&format!(
            "--profile=act --device-names=d --load={load} --read-req-num-512-blocks={blocks} \
             --large-block-op-kbytes={bytes} --threads-per-queue={threads}"
        ));
        let rates: Vec<_> = invocation.run.jobs.iter().map(|job| job.pace.ios_per_sec.0[0]).collect();
        assert_eq!(
            (rates[0], rates[1], invocation.n_latency_slices),
            (reads, writes, Some(24)),
            "{load} {blocks} {bytes}"
        );
    }
}

#[test]
fn preparation_of_act_is_that_of_the_peer() {
    let invocation = good("--profile=act --device-names=d0 --prep");
    let expected = [
        "name=act-prep-zeroes-d0 filename=d0 bs=1048576 zero_buffers rw=write",
        "name=act-prep-salt-d0 stonewall filename=d0 bs=4096 ioengine=libaio iodepth=64 rw=randwrite",
    ];
    assert_eq!(given(&invocation)[1..], expected);
    assert_eq!((names(&invocation).len(), invocation.n_latency_slices), (2, None));
}

#[test]
fn options_of_a_profile_may_come_before_it() {
    let before = good("--device-names=d0 --load=2 --profile=act");
    assert_eq!(given(&before), given(&good("--profile=act --device-names=d0 --load=2")));
}

// fio 3.41 takes them in silence, from a file and on the command line.
#[test]
fn a_job_knows_options_of_profiles_which_do_nothing() {
    for line in ["--threads=1 --name=x --size=1m", "--name=x --size=1m --threads=1"] {
        let invocation = good(line);
        let said: String = invocation.messages.iter().map(|(_, text)| &**text).collect();
        let expected = "command line: threads is an option of the profile tiobench: it has no effect on a job\n";
        assert_eq!(said, expected, "{line}");
        assert_eq!((names(&invocation), invocation.run.jobs[0].numjobs), (vec!["x"], 1));
    }
    assert!(complaint("--name=x --size=1m --threads=many").contains("failed parsing threads=many"));
}

#[test]
fn hours_are_rounded_up() {
    for (duration, n_slices) in [("3600", 1), ("3601", 2), ("1h", 1), ("2500ms", 1)] {
        let invocation = good(&format!("--profile=act --device-names=d0 --test-duration={duration}"));
        assert_eq!(invocation.n_latency_slices, Some(n_slices), "{duration}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let act = "--profile=act --device-names=d";
    for (line, expected) in [
        ("--profile=nope", "fio: profile 'nope' not found"),
        (
            "--profile=act",
            "act: you need to set IO target(s) with the device-names option.\nfio: profile act prep failed\n",
        ),
        ("--profile=act --device-names=,", "act: you need to set IO target(s)"),
        (&format!("{act} --load=0"), "at least one read a second"),
        (&format!("{act} --threads-per-queue=0"), "at least one read a second"),
        (&format!("{act} --read-req-num-512-blocks=0"), "read-req-num-512-blocks"),
        (&format!("{act} --large-block-op-kbytes=64"), "large-block-op-kbytes"),
        (&format!("{act} --test-duration=0"), "test-duration must be more than 0"),
        (&format!("{act} --runtime=5"), "fio: runtime: the profile act sets it itself"),
        (&format!("{act} --bs=4k"), "fio: bs: the profile act sets it itself"),
        (&format!("{act} --gtod_reduce=1"), "fio: gtod_reduce: the profile act sets it itself"),
        (&format!("{act} --name=x"), "a profile has jobs of its own"),
        (&format!("{act} --readonly"), "read-only mode"),
        ("--profile=tiobench x.fio", "a profile has jobs of its own"),
        ("--profile=tiobench --threads=0", "threads must be at least 1"),
        ("--profile=tiobench --size=8m", "size"),
        ("--profile=tiobench --load=2", "unrecognized option '--load=2'"),
    ] {
        let said = complaint(line);
        assert!(said.contains(expected), "{line}: {said}");
    }
}

#[test]
fn help_is_on_the_options_of_the_profile() {
    let stdout = |line: &str| good(line).messages.iter().map(|(_, text)| &**text).collect::<String>();
    let list = stdout("--profile=tiobench --cmdhelp");
    assert_eq!((list.lines().count(), list.lines().nth(1)), (5, Some("block                   : Block size")));
    assert!(stdout("--profile=act --cmdhelp=load").contains("Load multiple"));
}

//! Lines of `--debug`: their text, their stream, and the parts of them that programs rely on.
//!
//! Must not know: how lines travel. Start reading at [`lines_of`].

use crate::support::{Finished, Program, Run, Scratch, has_peer};

fn run(program: Program, scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(program, scratch.path(), arguments).recorded("debug", &[]).finish()
}

/// The texts of a group's lines, without the threads that they are from.
fn lines_of<'a>(output: &'a str, group: &'a str) -> impl Iterator<Item = &'a str> {
    output.lines().filter_map(move |line| {
        let (name, rest) = (line.get(..9)?, line.get(9..)?);
        let (thread, text) = rest.trim_start().split_once(' ')?;
        let is_line = name == format!("{group:<8} ") && thread.bytes().all(|byte| byte.is_ascii_digit());
        is_line.then(|| text.trim_start_matches(' '))
    })
}

fn lines(output: &str, group: &str) -> Vec<String> {
    lines_of(output, group).map(str::to_owned).collect()
}

/// Values of `steadystate`, and the lines on them. Source: the reference, thresholds of steadystate.
const THRESHOLDS: &[(&str, &str)] = &[
    ("iops:10%", "set steady state threshold to 10.000000%"),
    ("iops:.1%", "set steady state threshold to 0.100000%"),
    ("bw:10%", "set steady state threshold to 10.000000%"),
    ("bw:.1%", "set steady state threshold to 0.100000%"),
    ("bw_slope:0.3%", "set steady state threshold to 0.300000%"),
    ("iops:10", "set steady state IOPS threshold to 10.000000"),
    ("iops_slope:0.3", "set steady state IOPS threshold to 0.300000"),
    ("bw:12", "set steady state BW threshold to 12"),
    ("bw:12k", "set steady state BW threshold to 12288"),
    ("bw_slope:1k", "set steady state BW threshold to 1024"),
];

#[test]
fn thresholds_are_told_without_a_job() {
    let scratch = Scratch::new("debug-thresholds");
    for (value, said) in THRESHOLDS {
        let arguments = format!("--parse-only --debug=parse --ss_dur=10s --ss={value} --ss_ramp=5");
        let finished = run(Program::Ferrio, &scratch, &arguments).succeeded().quiet();
        assert!(lines_of(&finished.stdout, "parse").any(|line| line == *said), "{value}: {}", finished.all());
    }
    // fio's line has no unit; ferrio adds the limit that it uses.
    for (value, number, taken) in [
        ("lat:10us", "10", Some("10000")),
        ("lat_slope:5us", "5", Some("5000")),
        ("lat:1ms", "1", Some("1000000")),
        ("lat:12", "12", None),
    ] {
        let finished = run(Program::Ferrio, &scratch, &format!("--parse-only --debug=parse --ss={value}")).succeeded();
        let said = lines(&finished.stdout, "parse");
        let at = said.iter().position(|line| *line == format!("set steady state latency threshold to {number} nsec"));
        let at = at.unwrap_or_else(|| panic!("{value}: {said:?}"));
        let behind =
            taken.map(|taken| format!("{value} is taken as {taken} nsec").split_once(':').unwrap().1.to_owned());
        assert_eq!(said.get(at + 1).filter(|line| line.contains("taken")).cloned(), behind, "{value}");
    }
    for value in ["lat:10%", "lat_slope:3%"] {
        let finished = run(Program::Ferrio, &scratch, &format!("--parse-only --debug=parse --ss={value}")).succeeded();
        assert!(finished.stdout.contains("set steady state threshold to "), "{}", finished.all());
    }
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn thresholds_and_options_are_told_as_by_the_peer() {
    if !has_peer("thresholds_and_options_are_told_as_by_the_peer") {
        return;
    }
    let scratch = Scratch::new("debug-parse");
    // How often options are freed is an implementation detail of each program.
    let told = |program, arguments: &str| {
        let finished = run(program, &scratch, &format!("--parse-only --debug=parse {arguments}")).succeeded();
        let mut told = lines(&finished.stdout, "parse");
        told.retain(|line| !line.ends_with(" options"));
        told
    };
    for (value, _) in THRESHOLDS {
        let arguments = format!("--ss_dur=10s --ss={value} --ss_ramp=5");
        assert_eq!(told(Program::Ferrio, &arguments), told(Program::Peer, &arguments), "{value}");
    }
    let job = "--name=x --verify=md5 --iodepth=3 --rate=1m --size=16k --filename=/tmp/foo --runtime=1m --thinktime=5ms \
               --lat_percentiles=1 --group_reporting --fsync=3 --rwmixread=30 --cpus_allowed=0 --numjobs=2 --end_fsync=1";
    let ours = told(Program::Ferrio, job);
    assert!(ours.len() > 35 && ours.contains(&"handle_option=runtime, ptr=1m".to_owned()), "{ours:?}");
    assert_eq!(ours, told(Program::Peer, job));
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn jobs_of_profiles_are_told_as_by_the_peer() {
    if !has_peer("jobs_of_profiles_are_told_as_by_the_peer") {
        return;
    }
    let scratch = Scratch::new("debug-profiles");
    let told = |program, arguments: &str| {
        let finished = run(program, &scratch, &format!("--parse-only --debug=parse {arguments}"));
        let mut told = lines(&finished.stdout, "parse");
        // The peer writes microseconds of the profile's own as seconds.
        told.retain(|line| line.starts_with("handle_option=") && !line.starts_with("handle_option=runtime"));
        told
    };
    // The peer passes over the options of this profile.
    let tiobench = "--profile=tiobench";
    assert_eq!(told(Program::Ferrio, tiobench), told(Program::Peer, tiobench));
    // With `--parse-only` fio crashes after the first job.
    let act = "--profile=act --device-names=/dev/null --load=2";
    let (ours, theirs) = (told(Program::Ferrio, act), told(Program::Peer, act));
    assert!(theirs.len() > 10 && ours.len() > theirs.len(), "{ours:?} {theirs:?}");
    assert_eq!(ours[..theirs.len()], theirs[..]);
}

#[test]
fn job_files_are_told_section_by_section() {
    let scratch = Scratch::new("debug-sections");
    scratch.write("jobs.fio", "[global]\nsize=16k\nioengine=null\n\n[a]\nrw=randread\n[b]\nstonewall\n");
    let finished = run(Program::Ferrio, &scratch, "--parse-only --debug=parse jobs.fio").succeeded().quiet();
    let told = lines(&finished.stdout, "parse");
    for line in [
        "Parsing ini file jobs.fio",
        "Parsing section [global]",
        "Parsing section [a]",
        "Parsing section [b]",
        "rw=randread",
        "handle_option=size, ptr=16k",
        "handle_option=stonewall, ptr=(null)",
        "ret=0, out=16384",
    ] {
        assert!(told.iter().any(|told| told == line), "{line}: {}", finished.all());
    }
}

#[test]
fn groups_are_confirmed_where_the_report_does_not_go_yet() {
    let scratch = Scratch::new("debug-confirmed");
    let job = "--name=a --ioengine=null --size=4k";
    let finished =
        run(Program::Ferrio, &scratch, &format!("--debug=process,job:3 --output=file {job}")).succeeded().quiet();
    assert_eq!(finished.stdout, "fio: set debug option process\nfio: set debug jobno 3\n");
    let finished = run(Program::Ferrio, &scratch, &format!("--output=file --debug=process {job}")).succeeded().quiet();
    assert_eq!(finished.stdout, "");
    assert!(scratch.read("file").starts_with("fio: set debug option process\n"), "{}", scratch.read("file"));
    let finished = run(Program::Ferrio, &scratch, &format!("--debug=job,nonsense {job}")).succeeded();
    assert_eq!(finished.stderr, "fio: missing job number\nfio: debug mask nonsense not found\n");
}

/// Seeds of the first two jobs by default. Source: the reference, `--debug=random`.
#[test]
fn seeds_are_told_of_each_job() {
    let scratch = Scratch::new("debug-seeds");
    let job =
        "--debug=random --name=random_seed --ioengine=null --filesize=32k --rw=randread --numjobs=2 --output=FILE";
    run(Program::Ferrio, &scratch, job).succeeded();
    let told = lines(&scratch.read("FILE"), "random");
    let setup: Vec<&String> = told.iter().filter(|line| !line.starts_with("off rand")).collect();
    let seed = |job: usize, index: usize| setup[job * 25 + 1 + index].as_str();
    assert_eq!((setup[0].as_str(), setup[25].as_str()), ("FIO_RAND_NR_OFFS=24", "FIO_RAND_NR_OFFS=24"));
    assert_eq!(seed(0, 0), "rand_seeds[0]=5942511153023025289");
    assert_eq!(seed(0, 6), "rand_seeds[6]=6803328749335347343");
    assert_eq!(seed(0, 23), "rand_seeds[23]=2435071312708042912");
    assert_eq!(seed(1, 0), "rand_seeds[0]=11885022306046050578");
    assert_eq!(seed(1, 6), "rand_seeds[6]=13606657498670694680");
}

fn seeds_of(options: &str) -> Vec<String> {
    let scratch = Scratch::new("debug-seeds-of");
    let job = "--debug=random --name=random_seed --ioengine=null --filesize=32k --rw=randread --output=FILE";
    run(Program::Ferrio, &scratch, &format!("{job} {options}")).succeeded();
    let mut told = lines(&scratch.read("FILE"), "random");
    let is_drawn = told.first().is_some_and(|line| line == "using system RNG for random seeds");
    assert_eq!(is_drawn, options.contains("repeat=0") && !options.contains("randseed"), "{options}: {told:?}");
    told.retain(|line| line.starts_with("rand_seeds["));
    assert_eq!(told.len(), 24, "{options}: {told:?}");
    told
}

#[test]
fn seeds_repeat_where_they_should() {
    let repeated = seeds_of("--randrepeat=1");
    for option in ["--randrepeat=0", "--allrandrepeat=0"] {
        let (one, other) = (seeds_of(option), seeds_of(option));
        assert!(one != other && one != repeated && other != repeated, "{option}");
    }
    for option in ["--randrepeat=1", "--allrandrepeat=1"] {
        assert_eq!(seeds_of(option), repeated, "{option}");
    }
    let seeded = |seed: u32, option: &str| seeds_of(&format!("--randseed={seed} {option}"));
    let first = seeded(12_345, "");
    for option in ["--randrepeat=0", "--randrepeat=1", "--allrandrepeat=0", "--allrandrepeat=1"] {
        assert_eq!(seeded(12_345, option), first, "{option}");
    }
    assert_ne!(seeded(67_890, ""), first);
}

/// Each I/O has its four lines, and the offset follows the first `=`.
#[test]
fn every_io_is_told() {
    let scratch = Scratch::new("debug-io");
    let offsets = |options: &str| {
        let job = "--name=test --ioengine=null --filesize=1T --bs=1 --rw=randread --debug=io --number_ios=120000";
        let finished =
            run(Program::Ferrio, &scratch, &format!("{job} --norandommap --randseed=4711 {options}")).succeeded();
        let of_step = |step: &str| lines_of(&finished.stdout, "io").filter(|line| line.starts_with(step)).count();
        let counts = ["fill: ", "prep: ", "queue: ", "complete: "].map(of_step);
        assert_eq!(counts, [120_000; 4], "{options}");
        let complete = finished.stdout.lines().filter(|line| line.contains("complete:"));
        let mut offsets: Vec<String> = complete
            .map(|line| {
                let (before, rest) = line.split_once('=').expect("off=");
                assert!(before.ends_with("off"), "{line}");
                rest.split_once(',').expect("a comma behind the offset").0.to_owned()
            })
            .collect();
        offsets.sort_unstable();
        offsets
    };
    let repeated = |offsets: &[String]| {
        let chunks = offsets.chunk_by(|one, other| one == other);
        chunks.filter(|chunk| chunk.len() > 1).map(<[String]>::len).sum::<usize>()
    };
    // 120,000 draws out of 2^32 repeat about 1.7 values; out of 2^40, none.
    let (wide, narrow) = (repeated(&offsets("")), repeated(&offsets("--random_generator=tausworthe")));
    assert!(wide == 0 && narrow >= 2, "{wide} {narrow}");
}

/// Removes the parts that differ from run to run.
fn without_addresses(line: &str) -> String {
    let words = line.split(' ').map(|word| match word.trim_end_matches([':', ',']) {
        bare if bare.starts_with("0x") && bare.len() > 8 => "ADDRESS".to_owned(),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The lines of a group without those that only one of the programs prints.
fn common(program: Program, group: &str, job: &str) -> Vec<String> {
    let scratch = Scratch::new("debug-common");
    let finished = run(program, &scratch, &format!("--debug={group} --name=t {job}")).succeeded();
    let lines = lines_of(&finished.stdout, group).map(without_addresses);
    let own = [
        // Lines on loading engines, and on looking up a file again after its layout.
        "ioengine",
        "declare unneeded cache",
        // Seeds; fio 3.42 has one more of them.
        "FIO_RAND_NR_OFFS",
        "rand_seeds",
        // Lines on how fio notices the end of a pass.
        "rand offset failed",
        "failed getting offset",
        "setting file failed",
        "get_io_u failed",
        // A state that is not loaded says nothing.
        "verify_state_should_stop",
    ];
    lines.filter(|line| !own.iter().any(|own| line.contains(own))).collect()
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn ios_and_draws_are_told_as_by_the_peer() {
    if !has_peer("ios_and_draws_are_told_as_by_the_peer") {
        return;
    }
    for (groups, job) in [
        ("io random", "--ioengine=null --size=64k --rw=randrw"),
        ("io random", "--size=64k --rw=randread --ioengine=psync"),
        ("io random", "--size=64k --rw=randwrite --ioengine=libaio --iodepth=1"),
        ("io random", "--size=64k --rw=randwrite --norandommap --filename=a:b"),
        ("io random", "--ioengine=null --size=64k --rw=randread --random_generator=tausworthe64 --offset=64k"),
        ("io random", "--ioengine=null --size=64k --rw=randread --bsrange=4k-8k --loops=2"),
        ("io", "--ioengine=null --size=256k --rw=randread --random_distribution=zipf:1.1"),
        ("io", "--ioengine=null --size=256k --rw=randread --random_distribution=normal:20"),
        ("io", "--size=16k --rw=write --fsync=2"),
        ("io", "--size=16k --rw=write --fdatasync=1"),
        ("io verify", "--size=16k --rw=write --verify=md5"),
        ("io verify", "--size=16k --rw=randwrite --verify=md5 --verify_state_save=0"),
        ("verify", "--size=16k --bs=8k --rw=write --verify=crc32c --verify_interval=4k"),
        ("verify", "--size=16k --rw=write --verify=meta"),
        ("verify", "--size=16k --rw=write --verify=sha1 --do_verify=0"),
    ] {
        for group in groups.split(' ') {
            let (ours, theirs) = (common(Program::Ferrio, group, job), common(Program::Peer, group, job));
            assert!(!ours.is_empty(), "{group}: {job}");
            assert_eq!(ours, theirs, "{group}: {job}");
        }
    }
}

/// The peer rounds the distance between two I/Os to microseconds.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn random_rates_are_told_as_by_the_peer() {
    if !has_peer("random_rates_are_told_as_by_the_peer") {
        return;
    }
    let rates = |program| {
        let told = common(program, "rate", "--ioengine=null --size=64k --rate_iops=1000 --rate_process=poisson");
        let rate = |line: &String| {
            let rate = line.strip_prefix("poisson rate iops=").and_then(|line| line.strip_suffix(", ddir=0"));
            rate.and_then(|rate| rate.parse::<u64>().ok()).expect("a rate")
        };
        told.iter().map(rate).collect::<Vec<_>>()
    };
    let (ours, theirs) = (rates(Program::Ferrio), rates(Program::Peer));
    // The last is of an I/O that never comes.
    assert_eq!((ours.len(), theirs.len()), (15, 16));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert!(ours.abs_diff(*theirs) <= 1 + theirs / 100, "{ours} {theirs}");
    }
}

fn states(program: Program, job: &str) -> Vec<String> {
    let scratch = Scratch::new("debug-process");
    let finished = run(program, &scratch, &format!("--debug=process --name=t {job}")).succeeded();
    let mut states = Vec::new();
    for line in lines_of(&finished.stdout, "process") {
        states.push(line.trim_start_matches(|c: char| c != ':').to_owned());
        if line.ends_with("-> REAPED") {
            break;
        }
    }
    states.retain(|line| !line.is_empty());
    states
}

#[test]
fn states_of_jobs_are_told_as_by_the_peer() {
    let expected = [
        "NOT_CREATED -> SETTING_UP",
        "SETTING_UP -> NOT_CREATED",
        "NOT_CREATED -> CREATED",
        "CREATED -> INITIALIZED",
        "INITIALIZED -> RUNNING",
        "RUNNING -> FINISHING",
        "FINISHING -> EXITED",
        "EXITED -> REAPED",
    ];
    let expected = expected.map(|change| format!(": runstate {change}"));
    let job = "--ioengine=null --size=64k";
    assert_eq!(states(Program::Ferrio, job), expected);
    assert_eq!(states(Program::Ferrio, &format!("{job} --thread")), expected);
    if !has_peer("states_of_jobs_are_told_as_by_the_peer") {
        return;
    }
    for job in
        [job, "--ioengine=null --size=1g --rate=100m --bs=1m --time_based --runtime=1 --ramp_time=1", "--size=4k"]
    {
        assert_eq!(states(Program::Ferrio, job), states(Program::Peer, job), "{job}");
    }
}

/// Once the job has started only its lines come; N counts from 0.
#[test]
fn lines_of_one_job_are_picked() {
    let scratch = Scratch::new("debug-job");
    let jobs = "--name=a --ioengine=null --size=16k --name=b --ioengine=null --size=20k --stonewall";
    let n_done = |options: &str| {
        let finished = run(Program::Ferrio, &scratch, &format!("--debug=io,{options} {jobs}")).succeeded();
        let of_file = |file: &str| {
            let is_of_file = |line: &&str| line.starts_with("complete: ") && line.ends_with(&format!("file={file}"));
            lines_of(&finished.stdout, "io").filter(is_of_file).count()
        };
        (of_file("a.0.0"), of_file("b.0.0"))
    };
    assert_eq!(n_done("process"), (4, 5));
    assert_eq!(n_done("job:0"), (4, 0), "the second starts after the first");
    assert_eq!(n_done("job:1"), (4, 5), "the first ends before the second starts");
    assert_eq!(n_done("job:7"), (4, 5), "there is no such job");
}

#[test]
fn jobs_of_all_kinds_tell_whole_lines() {
    let scratch = Scratch::new("debug-whole");
    for more in ["", "--thread"] {
        let job =
            format!("--debug=all --name=t --ioengine=null --size=400k --numjobs=4 --rw=randrw --output=lines {more}");
        run(Program::Ferrio, &scratch, &job).succeeded();
        let text = scratch.read("lines");
        let n_done = lines_of(&text, "io").filter(|line| line.starts_with("complete: ")).count();
        assert_eq!(n_done, 4 * 100, "{more}");
        for line in text.lines().take_while(|line| !line.is_empty()).filter(|line| line.contains("io_u 0x")) {
            assert_eq!(line.matches("io_u 0x").count(), 1, "{line}");
        }
    }
}

/// Lines of the other groups, compared with the reference where numbers are known.
#[test]
fn other_groups_tell_what_is_done() {
    let scratch = Scratch::new("debug-others");
    let told = |group: &str, job: &str| {
        let finished = run(Program::Ferrio, &scratch, &format!("--debug={group} --name=t {job}")).succeeded();
        lines(&finished.stdout, group).iter().map(|line| without_addresses(line)).collect::<Vec<_>>()
    };
    let files = told("file", "--filename=dfile --size=16k --rw=write");
    for line in [
        "add file dfile",
        "file ADDRESS \"dfile\" added at 0",
        "setup files",
        "layout unlink dfile",
        "open file dfile, flags 41",
        "fd open dfile",
        "get_next_file: ADDRESS [dfile]",
        "fd close dfile",
    ] {
        assert!(files.iter().any(|told| told == line), "{line}: {files:?}");
    }
    let memory = told("mem", "--ioengine=null --size=16k --iodepth=2 --iomem=mmap");
    assert_eq!(
        memory[..3],
        ["Alloc 8192 for buffers", "mmap 8192 ADDRESS", "io_u alloc ADDRESS index 0"],
        "{memory:?}"
    );
    assert_eq!(memory.last().map(String::as_str), Some("free mmap mem ADDRESS"));
    assert!(
        told("time", "--ioengine=null --size=4k").last().is_some_and(|line| line.starts_with("gettime: clocksource="))
    );
    scratch.write("z", vec![0; 1 << 20]);
    let job = "--filename=z --size=1m --zonesize=64k --zonemode=zbd --rw=randwrite --bs=16k --max_open_zones=2";
    let zones = told("zbd", job);
    let n = |text: &str| zones.iter().filter(|line| line.contains(text)).count();
    assert_eq!(zones[..2], ["z: using max write zones limit: 2", "zbd_setup_files(z): valid data bytes = 0"]);
    assert_eq!(n("z: queued I/O ("), 64, "{zones:?}");
    assert!(n("adding zone") >= n("removing zone") && n("adding zone") <= n("removing zone") + 2, "{zones:?}");
    let depths = told(
        "rate",
        "--ioengine=null --size=1g --time_based --runtime=5 --iodepth=4 --latency_target=1s --latency_window=20ms",
    );
    let expected = [
        "Latency target=1000000000",
        "Success rate: 100.00% (target 100.00%)",
        "Ramped up: 1 2 4",
        "Success rate: 100.00% (target 100.00%)",
        "Ramped up: 2 4 4",
        "Success rate: 100.00% (target 100.00%)",
        "Quiesce and final run",
        "Success rate: 100.00% (target 100.00%)",
        "We are done",
    ];
    assert_eq!(depths, expected);
}

//! Command lines and job files that people copy from each other; on each of them, ferrio once differed from fio.
//!
//! Start reading at [`programs`], then at any test.

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, has_programs, is_root, peer_too, skip};

/// Ferrio, and the peer if it is to be run.
fn programs(test: &str) -> &'static [Program] {
    if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] }
}

fn run(program: Program, scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(program, scratch.path(), arguments).finish()
}

/// Names of the jobs in a report for people.
fn job_names(report: &str) -> Vec<&str> {
    report.lines().filter_map(|line| line.split_once(": (groupid=")).map(|(name, _)| name).collect()
}

/// `name=` in a section, as kubestr has it in its default jobs: the report has that name, data files that of the section,
/// and clones know the section only.
#[test]
fn a_name_in_a_section_is_that_of_its_report() {
    let test = "a_name_in_a_section_is_that_of_its_report";
    let file = "[global]\nname=g\nioengine=psync\nsize=16k\nrw=write\nverify=crc32c\nwrite_lat_log\n\
                [job1]\nname=read_iops\n[job2]\nname=x\nname=write_iops\nnumjobs=3\n[job3]\n\
                [job4]\nname=formatted\nfilename_format=$jobname-$jobnum\nwrite_lat_log=kept\n";
    for program in programs(test) {
        let scratch = Scratch::new(test);
        scratch.write("jobs.fio", file);
        let report = run(*program, &scratch, "jobs.fio").succeeded().quiet().stdout;
        assert_eq!(job_names(&report), ["read_iops", "write_iops", "job2", "job2", "job3", "formatted"], "{program:?}");
        let names = scratch.names();
        let data: Vec<&String> =
            names.iter().filter(|name| !name.contains("lat.") && !name.starts_with("local-")).collect();
        assert_eq!(
            data,
            ["job1.0.0", "job2.0.0", "job2.1.0", "job2.2.0", "job3.0.0", "job4-0", "jobs.fio"],
            "{program:?}"
        );
        let logs: Vec<&String> = names.iter().filter(|name| name.contains("_lat.")).collect();
        let expected = [
            "job2_lat.3.log",
            "job2_lat.4.log",
            "job3_lat.5.log",
            "kept_lat.6.log",
            "read_iops_lat.1.log",
            "write_iops_lat.2.log",
        ];
        assert_eq!(logs, expected, "{program:?}");
        let states: Vec<&String> = names.iter().filter(|name| name.starts_with("local-")).collect();
        let expected = ["formatted-5", "job2-2", "job2-3", "job3-4", "read_iops-0", "write_iops-1"];
        assert_eq!(states, expected.map(|name| format!("local-{name}-verify.state")).iter().collect::<Vec<_>>());
        let again = run(*program, &scratch, "jobs.fio --section=job2").succeeded().stdout;
        assert_eq!(job_names(&again), ["write_iops", "job2", "job2"], "{program:?}");
    }
}

/// The depth of a report: that which was asked for, whatever the engine does of it.
fn depths(report: &str) -> Vec<&str> {
    report
        .lines()
        .filter_map(|line| line.split_once("percentile=").and_then(|(_, rest)| rest.split_once("depth=")))
        .map(|(_, depth)| depth)
        .collect()
}

#[test]
fn depth_is_that_which_was_asked_for() {
    let test = "depth_is_that_which_was_asked_for";
    let search = "--latency_target=10s --latency_window=20ms --latency_percentile=90 --time_based --runtime=1";
    for program in programs(test) {
        for (arguments, expected) in [
            ("--ioengine=psync --iodepth=16", "16"),
            ("--ioengine=mmap --iodepth=3 --thread", "3"),
            ("--ioengine=null --iodepth=5", "5"),
            // A search tries all depths, one after another, also where they make no difference.
            (&format!("--ioengine=sync --iodepth=16 --time_based {search}"), "16"),
        ] {
            let scratch = Scratch::new(test);
            let command = format!("--name=a --size=64k --filename=f {arguments}");
            let report = run(*program, &scratch, &command).succeeded().quiet().stdout;
            assert_eq!(depths(&report), [expected], "{program:?} {arguments}");
            let document = run(*program, &scratch, &format!("{command} --output-format=json")).succeeded().stdout;
            assert!(document.contains(&format!("\"latency_depth\" : {expected},")), "{program:?} {arguments}");
        }
    }
}

/// A note for each clone. Fio 3.41 has them after the lines of the layout, 3.42 before them; where JSON alone is wanted, they
/// are in ferrio's document.
#[test]
fn notes_come_once_for_each_clone() {
    let test = "notes_come_once_for_each_clone";
    let note = "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1";
    for program in programs(test) {
        for format in ["normal", "json"] {
            let scratch = Scratch::new(test);
            let command =
                format!("--name=a --size=64k --ioengine=psync --iodepth=16 --numjobs=3 --output-format={format}");
            let told = run(*program, &scratch, &command).succeeded().quiet().stdout;
            assert_eq!(told.matches(note).count(), 3, "{program:?} {told}");
            let (first_note, layout) = (told.find(note), told.find("a: Laying out"));
            if *program == Program::Ferrio && format == "normal" {
                assert!(first_note < layout, "{told}");
            }
        }
    }
}

/// An error that ends a job in its own process is printed where the report goes, with the process id; an earlier one is
/// printed to the standard error. In both cases there is no report of the job.
#[test]
fn errors_of_the_set_up_are_told_where_fio_tells_them() {
    let test = "errors_of_the_set_up_are_told_where_fio_tells_them";
    // A user without rights cannot open the setting; the kernel never sees the name.
    let scheduler = if rustix::process::geteuid().is_root() {
        "func=iosched_switch, error=Invalid argument"
    } else {
        "func=fopen iosched, error=Permission denied"
    };
    for program in programs(test) {
        for thread in ["0", "1"] {
            for (arguments, is_of_job, end) in [
                ("--ioscheduler=noop --filename=f", true, scheduler),
                ("--mem=mmaphuge --hugepage-size=1g", true, "func=mmap, error=Cannot allocate memory"),
                ("--ioengine=null --size=0", false, "func=total_file_size, error=Invalid argument"),
            ] {
                let scratch = Scratch::new(test);
                let command = format!("--name=a --size=64k --thread={thread} {arguments}");
                let finished = run(*program, &scratch, &command);
                assert_eq!(finished.code, Some(1), "{program:?} {}", finished.all());
                let is_error = |line: &&str| line.starts_with("fio: pid=") && line.ends_with(end);
                let lines = |text: &str| text.lines().filter(is_error).map(str::to_owned).collect::<Vec<_>>();
                let (told, other) = (lines(&finished.stdout), lines(&finished.stderr));
                let (told, other) = if is_of_job { (told, other) } else { (other, told) };
                assert_eq!((told.len(), other.len()), (1, 0), "{program:?} {}", finished.all());
                assert_eq!(told[0].starts_with("fio: pid=0,"), !is_of_job, "{program:?} {told:?}");
                assert!(job_names(&finished.stdout).is_empty(), "{program:?} {}", finished.all());
            }
        }
    }
}

/// A state that is not there is told on standard error alone, and before any file is made.
#[test]
fn a_missing_state_is_told_once() {
    let test = "a_missing_state_is_told_once";
    for program in programs(test) {
        for rw in ["read", "randread", "write"] {
            let scratch = Scratch::new(test);
            let arguments = format!("--name=a --filename=f --size=64k --rw={rw} --verify=crc32c --verify_state_load=1");
            let finished = run(*program, &scratch, &arguments);
            assert_eq!(finished.code, Some(1), "{program:?} {}", finished.all());
            assert!(!finished.stdout.contains("state"), "{program:?} {}", finished.all());
            assert!(!finished.stdout.contains("Laying out"), "{program:?} {}", finished.all());
            let expected = "fio: open state file: No such file or directory\nfio: state file: local-a-0-verify.state (for_write=0)\n";
            assert_eq!(finished.stderr, expected, "{program:?}");
            assert!(!scratch.join("f").exists(), "{program:?}");
        }
    }
}

/// A job that repeats the writes of an earlier run without doing them has no line of its depth; others have.
#[test]
fn writes_that_are_only_repeated_have_no_depth() {
    let test = "writes_that_are_only_repeated_have_no_depth";
    for program in programs(test) {
        let scratch = Scratch::new(test);
        let job = "--name=a --filename=f --size=64k --verify=crc32c --ioengine=libaio --iodepth=4";
        let line_of = |more: &str| {
            let finished = run(*program, &scratch, &format!("{job} {more}")).succeeded();
            finished.stdout.contains("     latency   : target=")
        };
        assert!(line_of("--rw=randwrite --verify_state_save=1"), "{program:?}");
        assert!(!line_of("--rw=randwrite --verify_state_load=1 --verify_state_save=0 --verify_only=1"), "{program:?}");
        assert!(line_of("--rw=randread --verify_only=1"), "{program:?}");
    }
}

/// A scheduler that the kernel does not know is named for each job, in one line.
#[test]
fn an_unknown_scheduler_is_told_for_each_job() {
    let test = "an_unknown_scheduler_is_told_for_each_job";
    if !is_root(test) {
        return;
    }
    for program in programs(test) {
        let scratch = Scratch::new(test);
        let finished = run(*program, &scratch, "--name=a --filename=f --size=64k --ioscheduler=noop --numjobs=2");
        if finished.code == Some(0) {
            return skip(test, "the file system is on no disk");
        }
        let expected = "fio: unable to set io scheduler to noop\n".repeat(2);
        assert_eq!((finished.code, finished.stderr), (Some(2), expected), "{program:?}");
    }
}

#[test]
fn the_hint_of_a_first_direct_io_stands_with_its_error() {
    let test = "the_hint_of_a_first_direct_io_stands_with_its_error";
    for program in programs(test) {
        let scratch = Scratch::new(test);
        let finished =
            run(*program, &scratch, "--name=a --size=64k --direct=1 --bs=1000 --filename=f --ioengine=psync");
        if finished.code == Some(0) {
            return skip(test, "the file system takes any block past its cache");
        }
        assert!(finished.stdout.contains("fio: first direct IO errored."), "{program:?} {}", finished.all());
        assert!(!finished.stderr.contains("first direct"), "{program:?} {}", finished.all());
    }
}

/// Directions of a report, and of its group.
fn directions(report: &str) -> Vec<&str> {
    let heads = report.lines().filter_map(|line| line.split_once(": IOPS=").or_else(|| line.split_once(": bw=")));
    heads.map(|(head, _)| head.trim()).collect()
}

#[test]
fn trims_of_a_trace_are_reported() {
    let test = "trims_of_a_trace_are_reported";
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    // For a trace without writes fio opens the device read-only, and its trims fail.
    for (lines, expected, is_taken) in [
        ("read 0 4096,write 4096 4096,trim 8192 4096", "read write trim READ WRITE TRIM", true),
        ("write 0 4096,trim 8192 4096,trim 16384 8192", "write trim WRITE TRIM", true),
        ("read 0 4096,trim 8192 4096", "read trim READ TRIM", false),
        ("trim 0 4096", "trim TRIM", false),
    ] {
        for program in programs(test).iter().filter(|program| is_taken || **program == Program::Ferrio) {
            let scratch = Scratch::new(test);
            let Some(device) = LoopDevice::new(&scratch, 1 << 20) else { return skip(test, "no loop device") };
            let path = device.path();
            let ios = lines.split(',').fold(String::new(), |ios, line| ios + path + " " + line + "\n");
            scratch.write("trace", format!("fio version 2 iolog\n{path} add\n{path} open\n{ios}{path} close\n"));
            let report = run(*program, &scratch, "--name=a --ioengine=psync --read_iolog=trace").succeeded().stdout;
            assert_eq!(directions(&report).join(" "), expected, "{program:?} {report}");
        }
    }
}

/// Which reports have a part about disks.
#[test]
fn disks_are_shown_where_fio_shows_them() {
    let test = "disks_are_shown_where_fio_shows_them";
    let has_disks = |finished: &Finished| finished.stdout.contains("\nDisk stats (read/write):\n");
    let plain = Scratch::new(test);
    let job = "--name=a --size=64k --ioengine=psync";
    if !has_disks(&run(Program::Ferrio, &plain, job)) {
        return skip(test, "the directory of the build is on no block device");
    }
    for (arguments, expected) in [
        ("--rw=write --create_on_open=1", true),
        ("--rw=write --create_on_open=1 --filename=sub/f", true),
        ("--ioscheduler=noop", true),
        ("--read_iolog=trace --replay_redirect=f", false),
        ("--read_iolog=trace", false),
        ("--read_iolog=trace --filename=f", true),
        ("--verify=crc32c --verify_state_load=1", false),
        ("--filename=/dev/full --rw=write", false),
    ] {
        for program in programs(test) {
            let scratch = Scratch::new(test);
            scratch.write("f", vec![0; 65536]);
            std::fs::create_dir(scratch.join("sub")).expect("a directory");
            scratch.write("trace", "fio version 2 iolog\nf add\nf open\nf read 0 4096\nf close\n");
            let finished = run(*program, &scratch, &format!("{job} {arguments}"));
            assert_eq!(has_disks(&finished), expected, "{program:?} {}", finished.all());
        }
    }
}

#[test]
fn trees_are_told_before_the_version() {
    let test = "trees_are_told_before_the_version";
    for program in programs(test) {
        let scratch = Scratch::new(test);
        std::fs::create_dir_all(scratch.join("tree/sub")).expect("a directory");
        for name in ["tree/a", "tree/b", "tree/sub/c"] {
            scratch.write(name, [0; 8192]);
        }
        let report = run(*program, &scratch, "--name=a --ioengine=psync --opendir=tree --numjobs=2").succeeded().stdout;
        assert!(report.starts_with("fio: opendir added 3 files\na: (g=0): "), "{program:?} {report}");
        assert_eq!(report.matches("opendir added").count(), 1, "{program:?} {report}");
    }
}

/// An I/O that the kernel refuses on submission is reported as such: `/dev/full` does not support asynchronous I/O.
#[test]
fn what_the_kernel_does_not_take_fails_when_it_is_handed_over() {
    let test = "what_the_kernel_does_not_take_fails_when_it_is_handed_over";
    for program in programs(test) {
        for (engine, depth, step) in
            [("libaio", 1, "io commit"), ("libaio", 8, "io commit"), ("psync", 1, "io_u error")]
        {
            let scratch = Scratch::new(test);
            let arguments =
                format!("--name=a --size=64k --rw=write --filename=/dev/full --ioengine={engine} --iodepth={depth}");
            let finished = run(*program, &scratch, &arguments);
            assert_eq!(finished.code, Some(1), "{program:?} {}", finished.all());
            let expected = format!(", func={step}, error=");
            assert_eq!(finished.stdout.matches(&expected).count(), 2, "{program:?} {}", finished.all());
        }
    }
}

//! Command lines compared with fio: streams, texts, exit codes.

use super::*;
use crate::command_line::switches::{Argument, SWITCHES};
use crate::invocation::EtaWhen;
use crate::testing::World;
use ferrio_spec::OutputFormat::{self, Json, JsonPlus, Jsonl, Normal, Terse};
use ferrio_spec::OutputFormats;
use ferrio_spec::{DirectionMix, SizeSpec};

const TWO: &str =
    "[global]\nioengine=psync\nsize=1m\nbs=64k\n[writer]\nrw=write\n[reader]\nstonewall\nrw=read\nnumjobs=2\n";

pub(super) fn run(world: &World, line: &str) -> Result<Invocation, UsageError> {
    let words: Vec<OsString> = std::iter::once("fio").chain(line.split_whitespace()).map(OsString::from).collect();
    parse(&words, world)
}

pub(super) fn good(line: &str) -> Invocation {
    run(&World::default(), line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// Texts of standard output and of standard error.
fn split(messages: &[crate::Message]) -> (String, String) {
    let of = |wanted| messages.iter().filter(|(stream, _)| *stream == wanted).map(|(_, text)| &**text).collect();
    (of(OutputStream::Stdout), of(OutputStream::Stderr))
}

/// The two streams of a refused command line.
fn refused(world: &World, line: &str) -> (String, String) {
    let error = run(world, line).unwrap_err();
    assert_eq!(error.exit_code, 1, "{line}");
    split(&error.messages)
}

pub(super) fn complaint(line: &str) -> String {
    refused(&World::default(), line).1
}

pub(super) fn names(invocation: &Invocation) -> Vec<&str> {
    invocation.run.jobs.iter().map(|job| job.name.as_str()).collect()
}

/// Removes the line with the reason, which only ferrio prints.
fn without_reason(complaint: &str) -> String {
    complaint.split_inclusive('\n').filter(|line| !line.starts_with("command line: ")).collect()
}

#[test]
fn what_is_wrong_is_said_behind_the_lines_of_the_reference() {
    for (line, expected) in [
        ("--name=x --iodpeth=4", "unknown option iodpeth; the nearest known name is iodepth"),
        (
            "--name=x -sqthread_poll-cpu=1",
            "unknown option sqthread_poll-cpu; the nearest known name is sqthread_poll_cpu, an option of io_uring, io_uring_cmd",
        ),
        (
            "--name=x --ioengine=io_uring -sqthread_poll-cpu=1",
            "unknown option sqthread_poll-cpu; the nearest known name is sqthread_poll_cpu",
        ),
        ("--name=x --hipri", "unknown option hipri (the engine psync has none; io_uring, io_uring_cmd have)"),
        ("--name=x --bs=4k,4k,4k,4k", "bs takes at most three values: read,write,trim"),
        ("--name=x --filesize=1-2-3", "filesize takes at most 2 values"),
        ("--name=x --bs=", "bs takes: integer value (opt=100)"),
        ("--name=x --bs=x", "bs takes: integer value (opt=100); `x` is not a number"),
        ("--name=x --loops=1,2", "loops takes one value, not a list: integer value (opt=100)"),
        ("--name=x --rw=raed", "rw takes one of the valid values; did you mean read?"),
        ("--name=x --ioengine=nul", "no such engine; the nearest known name is null"),
    ] {
        let complaint = complaint(line);
        assert_eq!(complaint.lines().last(), Some(&*format!("command line: {expected}")), "{line}: {complaint}");
    }
}

// Expected values: texts of fio 3.41.
#[test]
fn refusals_are_those_of_the_reference() {
    for (line, expected) in [
        (
            "--name=x --iodpeth=4",
            "fio: unrecognized option '--iodpeth=4'\nfio: unrecognized option '--iodpeth=4'\nDid you mean iodepth?\n",
        ),
        (
            "--name=x --verbo",
            "fio: unrecognized option '--verbo'\nfio: unrecognized option '--verbo'\nDid you mean version?\n",
        ),
        (
            "--name=x --hipri",
            "fio: unrecognized option '--hipri'\nfio: unrecognized option '--hipri'\nDid you mean prio?\n",
        ),
        ("-Z", "fio: unrecognized option '-Z'\nfio: unrecognized option '-Z'\n"),
        (
            "--name=x --bs",
            "fio: option '--bs' requires an argument\nfio: unrecognized option '--bs'\nDid you mean bs?\n",
        ),
        (
            "--minimal=1",
            "fio: option '--minimal' doesn't allow an argument\nfio: unrecognized option '--minimal=1'\nDid you mean minimal?\n",
        ),
        ("--name=x --bs=", "fio: option bs requires an argument\n"),
        ("--name=x --bs=0", "bs: min value out of range: 0 (1 min)\nfio: failed parsing bs=0\n"),
        ("--name=x --blocksize=0", "bs: min value out of range: 0 (1 min)\nfio: failed parsing blocksize=0\n"),
        ("--name=x --iomem_ali=x", "fio: failed parsing iomem_align=x\n"),
        ("--name=x --direct=yes", "fio: failed parsing direct=yes\n"),
        ("--name=x --direct=2", "max value out of range: 2 (1 max)\nfio: failed parsing direct=2\n"),
        ("--name=x --ioengine=foo", "fio: engine foo not loadable\nfio: failed to load engine\n"),
        ("--name=x --directory=nodir", "fio: nodir is not a directory\nfio: failed parsing directory=nodir\n"),
        ("--name=x --cpumask=0x80000000", "fio: CPU 31 too large (max=1)\nfio: failed parsing cpumask=0x80000000\n"),
        (
            "--name=x --ignore_error=FOO",
            "Unknown error FOO, please use number value\nfio: failed parsing ignore_error=FOO\n",
        ),
        ("--name=x --rw=read:foo", "fio: rw postfix parsing failed\nfio: failed parsing rw=read:foo\n"),
        ("--name=x --rw=randread:0", "fio: randrw postfix parsing out of range\nfio: failed parsing rw=randread:0\n"),
        (
            "--name=x --size=101%",
            "fio: size values greater than 100% aren't supported\nfio: failed parsing size=101%\n",
        ),
        ("--name=x --iodepth=1z", "iodepth: 'z' suffix isn't applicable\nfio: failed parsing iodepth=1z\n"),
        ("--name=x --wait_for=x", "x: a job cannot wait for itself (wait_for=x).\n"),
        ("--name=x --size=4k --bs=8k", "fio: size too small, must not be less than minimum block size: 4096 < 8192\n"),
        (
            "--name=x --rw=write --readonly",
            "fio: trim and write operations are not allowed with the --readonly parameter.\n",
        ),
        ("--name=x --time_based --warnings-fatal", "fio: time_based requires a runtime/timeout setting\n"),
        ("--output-format=foo", "fio: invalid output format foo\nfio: failed parsing output-format\n"),
        ("--terse-version=9", "fio: bad terse version format\n"),
        ("--eta-newline=0", "fio: eta new line time too short\n"),
        ("--latency-log=x", "fio: --latency-log is deprecated. Use per-job latency log options.\n"),
        ("--section=global", "fio: can't use global as only section\n"),
        ("nofile.fio", "fio: unable to open 'nofile.fio' job file\nnofile.fio: No such file or directory\n"),
    ] {
        assert_eq!(without_reason(&complaint(line)), expected, "{line}");
    }
}

#[test]
fn refusals_of_job_files_tell_the_reason() {
    let world = World::default().with_file("d/job.fio", "[a]\ninclude nofile\n");
    for (line, expected) in [
        ("nofile.fio", "unable to open 'nofile.fio' job file: No such file or directory"),
        ("d/job.fio", "unable to open 'nofile' job file: d/job.fio:2:1: No such file or directory"),
    ] {
        let error = run(&world, line).expect_err(line);
        assert_eq!(error.refusals().as_deref(), Some(expected), "{line}");
    }
}

#[test]
fn what_is_not_built_is_named() {
    for (line, expected) in [
        ("--name=x --num_range=2 --rw=trim", "fio: can't use multiple ranges with IO engine psync\n"),
        (
            "--name=x --ioengine=xnvme",
            "fio: option ioengine (command line): known, but not yet supported by ferrio: engine xnvme: the library is not in Debian \
             13; ioengine=io_uring_cmd sends the same commands\n",
        ),
        (
            "--name=x --mem=cudamalloc",
            "fio: option mem (command line): known, but not applicable to ferrio: value cudamalloc needs the CUDA library\n",
        ),
    ] {
        assert_eq!(complaint(line), expected, "{line}");
    }
    for switch in SWITCHES.iter().filter(|switch| !switch.is_built()) {
        let line = match switch.argument {
            Argument::Required => format!("--{}=1", switch.name),
            _ => format!("--{}", switch.name),
        };
        assert!(complaint(&line).contains(&format!("--{}", switch.name)), "{line}");
    }
}

// The list of names is that of fio; the words of help are ferrio's.
#[test]
fn a_wrong_word_lists_the_right_ones() {
    let (listed, complaint) = refused(&World::default(), "--name=x --rw=sideways");
    assert_eq!(without_reason(&complaint), "fio: failed parsing rw=sideways\n");
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines[0], "        valid values: read       Sequential read");
    assert_eq!(lines[10], "                    : randtrimwrite Randomly trim and write mix, trims preceding writes");
    assert_eq!((lines[11], lines.len()), ("", 12));
}

#[test]
fn readonly_before_rw_explains_the_option() {
    let complaint = without_reason(&complaint("--readonly --name=x --rw=write"));
    let expected = "fio: job <x> has write or trim bit set, but fio is in read-only mode\n\
                    Correct format for offending option\n                  rw: ";
    assert!(complaint.starts_with(expected), "{complaint}");
    assert!(complaint.ends_with("             default: read\nfio: failed parsing rw=write\n"), "{complaint}");
}

#[test]
fn nothing_to_do_prints_the_usage() {
    for line in ["", "--bs=4k", "--name=global --bs=4k", "--section=nope two.fio"] {
        let (usage, complaint) = refused(&World::default().with_file("two.fio", TWO), line);
        assert_eq!(complaint, "No job(s) defined\n\n", "{line}");
        assert!(usage.starts_with("fio-3.42\nfio [options] [job options] <job file(s)>\n"), "{line}");
    }
    assert_eq!(good("--parse-only").mode, Mode::ParseOnly);
}

#[test]
fn jobs_begin_at_names() {
    let run = good("--rw=randread --bs=8k --name=a --rw=write --name=global --bs=1k --name=b").run;
    let shape: Vec<_> = run
        .jobs
        .iter()
        .map(|job| (job.name.as_str(), job.pattern.mix, job.pattern.random, job.pattern.block_size.0[0].min_bytes))
        .collect();
    assert_eq!(shape, [("a", DirectionMix::Write, false, 8192), ("b", DirectionMix::Read, true, 1024)]);
    let given = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    assert_eq!(run.global_options, [given("rw", "randread"), given("bs", "8k"), given("bs", "1k")]);
    assert_eq!(run.jobs[0].given_options, [given("name", "a"), given("rw", "write")]);
}

#[test]
fn options_have_their_canonical_name_in_reports() {
    let run = good("--name=x --blocksize=4k --thread --timeout=10").run;
    let names: Vec<&str> = run.jobs[0].given_options.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["name", "bs", "thread", "runtime"]);
    assert_eq!(run.jobs[0].given_options[2].1, "");
    assert_eq!(run.jobs[0].limits.runtime_us, 10_000_000);
}

#[test]
fn files_follow_the_jobs_of_the_command_line() {
    let world = World::default().with_file("two.fio", TWO).with_file("b.fio", "[b]\nbs=4k\n[c]\n");
    let invocation = run(&world, "--iodepth=4 --name=x two.fio b.fio").unwrap();
    assert_eq!(names(&invocation), ["x", "writer", "reader", "b", "c"]);
    let depth: Vec<u32> = invocation.run.jobs.iter().map(|job| job.queue.iodepth).collect();
    assert_eq!(depth, [4, 4, 4, 1, 1], "defaults are forgotten before the second file");
    let waits: Vec<bool> = invocation.run.jobs.iter().map(|job| job.grouping.stonewall).collect();
    assert_eq!(waits, [false, false, true, true, false], "the first job of the second file waits");
    assert_eq!(invocation.run.jobs[1].extent.size, Some(SizeSpec::Bytes(1 << 20)));
}

#[test]
fn sections_may_be_picked() {
    let world = World::default().with_file("two.fio", TWO).with_file("b.fio", "[b]\n[c]\n");
    assert_eq!(names(&run(&world, "--section=reader two.fio b.fio").unwrap()), ["reader", "b", "c"]);
    assert_eq!(names(&run(&world, "-x writer -x reader two.fio").unwrap()), ["writer", "reader"]);
    assert_eq!(names(&run(&world, "--section=a --name=a --name=b --bs=8k").unwrap()), ["a"]);
}

#[test]
fn private_options_follow_the_engine() {
    assert!(complaint("--name=x --userspace_reap").starts_with("fio: unrecognized option"));
    let run =
        good("--name=x --ioengine=libaio --userspace_reap --nowait=1 --name=y --ioengine=io_uring --fixedbufs").run;
    let options: Vec<Vec<&str>> = run.jobs.iter().map(|job| job.engine.options.names().collect()).collect();
    assert_eq!(options, [vec!["userspace_reap", "nowait"], vec!["fixedbufs"]]);
    let changed = good("--ioengine=libaio --userspace_reap --name=x --ioengine=psync").run;
    assert_eq!(changed.jobs[0].engine.options.names().count(), 0);
    let kept = good("--ioengine=libaio --userspace_reap --name=x --ioengine=aio").run;
    assert_eq!(kept.jobs[0].engine.options.names().count(), 1);
}

#[test]
fn output_is_set_by_switches() {
    let formats = |line: &str| good(&format!("{line} --name=x")).output.formats;
    let only = |formats: &[OutputFormat]| formats.iter().copied().collect::<OutputFormats>();
    assert_eq!(formats(""), only(&[Normal]));
    assert_eq!(formats("--minimal"), only(&[Terse]));
    assert_eq!(formats("-m --output-format=json"), only(&[Json]));
    assert_eq!(formats("--output-format=normal,json+"), only(&[Normal, JsonPlus]));
    assert_eq!(formats("--output-format=jsonl,json"), only(&[Json, Jsonl]));
    assert_eq!(formats("--append-terse"), only(&[Normal, Terse]));
    let invocation = good("--output out --terse-version=5 --eta=always --eta-interval=250ms --eta-newline=1 --name=x");
    assert_eq!(invocation.output.file, Some(PathBuf::from("out")));
    assert_eq!(invocation.output.terse_version, 5);
    let eta = invocation.eta;
    assert_eq!((eta.when, eta.interval_ms, eta.newline_ms), (EtaWhen::Always, 250, Some(1000)));
    let error = run(&World::default(), "--output=out --name=x --bs=0").unwrap_err();
    assert_eq!(error.output_file, Some(PathBuf::from("out")));
}

#[test]
fn answers_leave_at_once() {
    for (line, mode) in [
        ("--version --bs=0", Mode::Version),
        ("-v", Mode::Version),
        ("-h --bs=0", Mode::Help),
        ("--cmdhelp", Mode::CmdHelp),
        ("--cmdhelp=all", Mode::CmdHelp),
        ("--cmdhelp=bss --bs=0", Mode::CmdHelp),
        ("--enghelp=libaio", Mode::EngHelp),
        ("--debug=help", Mode::DebugHelp),
    ] {
        assert_eq!(good(line).mode, mode, "{line}");
    }
    assert_eq!(split(&good("-v").messages).0, "fio-3.42\n");
    let unknown = split(&good("--cmdhelp=xyzzy").messages);
    assert!(unknown.0 == "\n" && unknown.1.starts_with("No such command: xyzzy ("), "{unknown:?}");
    assert_eq!(refused(&World::default(), "--enghelp=foo").0, "IO engine foo not found\n");
    assert!(complaint("--bs=0 --version").starts_with("bs: min value"));
}

// Expected value: the line of fio for the same file.
#[test]
fn showcmd_prints_the_command_line() {
    let world = World::default().with_file("two.fio", TWO);
    let invocation = run(&world, "--showcmd two.fio").unwrap();
    let expected = "fio --ioengine=psync --size=1m --bs=64k --name=writer --rw=write --name=reader --stonewall \
                    --rw=read --numjobs=2 \n";
    assert_eq!(split(&invocation.messages).0, expected);
    assert_eq!((invocation.mode, invocation.run.jobs.len()), (Mode::ShowCmd, 0));
}

#[cfg(unix)]
#[test]
fn words_that_are_no_text_are_refused() {
    use std::os::unix::ffi::OsStringExt;
    let words = [OsString::from("fio"), OsString::from_vec(b"--name=\xff".to_vec())];
    let error = parse(&words, &World::default()).unwrap_err();
    assert!(error.to_string().starts_with("argument 1 is not UTF-8"), "{error}");
    // An argument that is not UTF-8 is refused as the value of another switch, too.
    let words = ["fio", "--output"].map(OsString::from).into_iter().chain([OsString::from_vec(b"\xff".to_vec())]);
    let error = parse(&words.collect::<Vec<_>>(), &World::default()).unwrap_err();
    assert!(error.to_string().starts_with("argument 2 is not UTF-8"), "{error}");
    // A job file may have any name.
    let words = [OsString::from("fio"), OsString::from_vec(b"no\xffsuch".to_vec())];
    let error = parse(&words, &World::default()).unwrap_err();
    assert!(error.to_string().contains("no\u{fffd}such"), "{error}");
    assert_eq!(parse(&[], &World::default()).unwrap_err().exit_code, 1);
}

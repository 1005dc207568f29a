//! The system calls that a run does to a file, as strace shows them, in a form in which two programs can be compared.
//!
//! Start reading at [`calls_to`].

use crate::support::{Program, Run, Scratch, has_programs, succeeds_once};

/// System calls of a start as fio: one job of the null engine, a report for people. Fio 3.41 makes 866.
const MAX_CALLS_OF_A_START: usize = 220;

/// A report for people shows no facts about machine and storage and none of ferrio's evidence, so a run does not gather them; the
/// time zone of its date is one file.
#[test]
fn a_start_gathers_what_its_report_shows() {
    let test = "a_start_gathers_what_its_report_shows";
    if !has_programs(test, &["strace"]) {
        return;
    }
    // The waits of the supervisor depend on the machine's load, and are not counted. Cargo's LD_LIBRARY_PATH has the loader look for
    // libraries in many places.
    assert!(succeeds_once(|| {
        let scratch = Scratch::new(test);
        let strace = format!("strace -f -E LD_LIBRARY_PATH -o {}", scratch.join("trace").display());
        let job = "--name=a --ioengine=null --size=1m --output=report";
        Run::new(Program::Ferrio, scratch.path(), job).under(&strace).finish().succeeded();
        let trace = scratch.read("trace");
        for unseen in ["zoneinfo\"", "cgroup", "cpuinfo", "mountinfo", "schedstat", "clocksource0/current"] {
            assert!(!trace.contains(unseen), "{unseen}: {trace}");
        }
        let waits = ["futex(", "nanosleep(", "poll(", "wait4(", "waitid("];
        let is_call = |line: &&str| line.contains('(') && !line.contains(" resumed>");
        let n_calls =
            trace.lines().filter(is_call).filter(|line| !waits.iter().any(|wait| line.contains(wait))).count();
        eprintln!("{n_calls} system calls");
        assert!(scratch.read("report").contains("READ: bw="));
        n_calls <= MAX_CALLS_OF_A_START
    }));
}

/// Runs with arguments in the `data` directory of the scratch directory, and returns the calls to files whose path
/// contains `file`, in order of processes. Descriptors, buffers, addresses, `O_CLOEXEC` and the queries of files are
/// left out: `open O_RDWR|O_CREAT, 0600`, `pwrite64 4096, 8192`, `io_submit PWRITE 4096, 8192`, `unlink ENOENT`.
pub(crate) fn calls_to(file: &str, program: Program, scratch: &Scratch, arguments: &str) -> Vec<String> {
    let prefix = format!("trace-{program:?}");
    for name in scratch.names().iter().filter(|name| name.starts_with(&prefix)) {
        std::fs::remove_file(scratch.join(name)).expect("a trace of an earlier run");
    }
    let data = scratch.join("data");
    std::fs::create_dir_all(&data).expect("a directory for data");
    // One trace for each process, so that calls of different processes are not interleaved.
    let strace = format!("strace -ff -y -s 1 -o {}", scratch.join(&prefix).display());
    let running = Run::new(program, &data, arguments).under(&strace).start();
    let first_pid = running.pid();
    running.finish().succeeded().quiet();
    let mut traces: Vec<String> = scratch.names().into_iter().filter(|name| name.starts_with(&prefix)).collect();
    traces.sort_by_key(|name| age_order(name, first_pid));
    traces.iter().flat_map(|name| calls(&scratch.read(name), file)).collect()
}

/// Orders traces, which end with the number of their process, by when the processes began: numbers are given in turn, from
/// that of strace on, and start over when there are no more.
fn age_order(name: &str, first_pid: u32) -> u32 {
    let pid: u32 = name.rsplit('.').next().and_then(|pid| pid.parse().ok()).expect("a trace of a process");
    pid.wrapping_sub(first_pid)
}

/// The calls with runs of equal ones (but for their numbers) cut to two.
pub(crate) fn without_repeats(calls: &[String]) -> Vec<String> {
    let kind = |call: &String| call.split_once(' ').map_or(call.clone(), |(name, _)| name.to_owned());
    let is_third = |index: usize| index >= 2 && (1..=2).all(|back| kind(&calls[index - back]) == kind(&calls[index]));
    (0..calls.len()).filter(|index| !is_third(*index)).map(|index| calls[index].clone()).collect()
}

fn calls(trace: &str, file: &str) -> Vec<String> {
    // Calls of libaio show descriptors without their paths.
    let is_aio = |line: &str| ["io_submit", "io_getevents", "io_pgetevents"].iter().any(|name| line.starts_with(name));
    let concerns = |line: &&str| is_aio(line) || (line.contains(file) && !line.starts_with("exec"));
    trace.lines().filter(concerns).filter_map(call).collect()
}

/// One line of strace: `name(arguments) = result`.
fn call(line: &str) -> Option<String> {
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(") ")?;
    let error = result.split_whitespace().find(|word| word.starts_with('E'));
    let shown = match name {
        // Builds for debugging ask whether a descriptor is open before they close it.
        "fcntl" if arguments.ends_with("F_GETFD") => return None,
        "stat" | "lstat" | "newfstatat" | "fstat" | "statx" | "access" | "faccessat" | "faccessat2" => return None,
        "io_submit" => field(arguments, "aio_lio_opcode=IOCB_CMD_")?.to_owned() + &io_of(arguments),
        "io_getevents" | "io_pgetevents" => arguments.split(", ").skip(1).take(2).collect::<Vec<_>>().join(", "),
        // The descriptor or directory goes; names and buffers go.
        _ => {
            let words = arguments.split(", ").filter(|word| !word.starts_with('"') && !word.starts_with("AT_FDCWD"));
            let words = words.filter(|word| !word.contains('<')).map(|word| word.replace("|O_CLOEXEC", ""));
            words.collect::<Vec<_>>().join(", ")
        }
    };
    // Newer versions of libaio wait with a mask of signals, which is none.
    let name = if name == "io_pgetevents" { "io_getevents" } else { name };
    let name = name.strip_suffix("at").filter(|short| matches!(*short, "open" | "unlink")).unwrap_or(name);
    let words = [name, &shown, error.unwrap_or_default()];
    Some(words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
}

/// Length and offset, which a sync has not.
fn io_of(arguments: &str) -> String {
    let both = (field(arguments, "aio_nbytes="), field(arguments, "aio_offset="));
    if let (Some(length), Some(offset)) = both { format!(" {length}, {offset}") } else { String::new() }
}

/// The value behind a name.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let value = text.split_once(name)?.1;
    value.split([',', '}']).next()
}

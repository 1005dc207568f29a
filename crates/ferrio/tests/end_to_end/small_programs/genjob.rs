//! `ferrio genjob`: job files that both programs understand, that run, and that destroy nothing unasked.
//!
//! Start reading at [`jobs_are_understood_and_run`].

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, has_programs, is_root, peer_too, skip};
use serde_json::Value;

const MEASURES: [&str; 6] = ["latency", "iops", "bandwidth", "mixed", "database", "log-writer"];

fn genjob(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), &format!("genjob {arguments}")).finish()
}

/// The value of an option in the first section that has it.
fn value<'a>(job: &'a str, option: &str) -> Option<&'a str> {
    job.lines().find_map(|line| line.strip_prefix(&format!("{option}=")))
}

#[test]
fn jobs_are_understood_and_run() {
    let test = "jobs_are_understood_and_run";
    let programs: &[Program] = if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] };
    for measure in MEASURES {
        for more in ["", "--target=file", "--buffered --depth=4", "--block-size=16k --read-share=100"] {
            if measure == "log-writer" && more.contains("read-share") {
                continue;
            }
            let scratch = Scratch::new(test);
            let arguments = format!("-m {measure} --write --size=1m --runtime=1 {more} -o job.fio");
            genjob(&scratch, &arguments).succeeded().quiet();
            let job = scratch.read("job.fio");
            assert!(job.lines().all(|line| line.len() <= 80), "{job}");
            for program in programs {
                let finished = Run::new(*program, scratch.path(), "--parse-only job.fio").finish();
                assert!(finished.code == Some(0), "{}\n{job}", finished.all());
            }
            // Without the engines of the job, which not every machine has, and without its time.
            let is_own =
                |line: &&str| !line.starts_with("ioengine=") && !line.starts_with("runtime=") && *line != "time_based";
            let quick: Vec<&str> = job.lines().filter(is_own).collect();
            scratch.write("quick.fio", quick.join("\n").replace("direct=1", "direct=0"));
            let finished =
                Run::new(Program::Ferrio, scratch.path(), "quick.fio --output-format=json").finish().succeeded();
            let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
            let n = |direction: &str| -> u64 {
                let jobs = document["jobs"].as_array().expect("jobs");
                jobs.iter().map(|job| job[direction]["total_ios"].as_u64().expect("a number")).sum()
            };
            let (reads, writes) = (n("read") > 0, n("write") > 0);
            let expected = match measure {
                "latency" | "iops" | "bandwidth" => (true, false),
                "log-writer" => (false, true),
                "mixed" => (true, !more.contains("read-share")),
                _ => (true, true),
            };
            assert_eq!((reads, writes), expected, "{measure} {more}\n{job}");
        }
    }
}

#[test]
fn wishes_are_options() {
    let scratch = Scratch::new("genjob-wishes");
    let job = genjob(&scratch, "").succeeded().quiet().stdout;
    for (option, expected) in [
        ("rw", "randread"),
        ("bs", "4096"),
        ("iodepth", "1"),
        ("direct", "1"),
        ("directory", "."),
        ("size", "1073741824"),
        ("runtime", "30"),
    ] {
        assert_eq!(value(&job, option), Some(expected), "{job}");
    }
    let wishes = "-m mixed -w -r 80 -b 16k -q 7 -s 10g --runtime=99 --buffered -t new";
    let job = genjob(&scratch, wishes).succeeded().quiet().stdout;
    for (option, expected) in [
        ("rw", "randrw"),
        ("rwmixread", "80"),
        ("bs", "16384"),
        ("iodepth", "7"),
        ("direct", "0"),
        ("filename", "new"),
        ("size", "10737418240"),
        ("runtime", "99"),
    ] {
        assert_eq!(value(&job, option), Some(expected), "{job}");
    }
    let options = job.lines().filter(|line| line.contains('=') && !line.starts_with('#')).count();
    let comments = job.lines().filter(|line| line.starts_with('#')).count();
    assert!(comments + 3 >= options, "options are explained: {job}");
}

#[test]
fn nothing_is_written_over_unasked() {
    let scratch = Scratch::new("genjob-safety");
    scratch.write("data", vec![7; 1 << 20]);
    scratch.write("there", "mine\n");
    for (arguments, expected) in [
        ("-m mixed", "measuring mixed with 70 % reads writes: allow that with --write, or take --read-share=100"),
        ("-m log-writer", "measuring log-writer with 0 % reads writes: allow that with --write"),
        ("-m database", "allow that with --write"),
        ("-r 99", "measuring latency with 99 % reads writes"),
        (
            "-m mixed -w -t data",
            "data is a file with data, and the job would destroy what is on it: allow that with --overwrite",
        ),
        ("-m database -w --overwrite -t data", "data: a database has several files"),
        ("--overwrite", "--write"),
        ("-o there", "there: it is there already; --force replaces it"),
    ] {
        let finished = genjob(&scratch, arguments);
        assert!(finished.code == Some(2) && finished.stderr.contains(expected), "{}", finished.all());
        assert!(finished.stdout.is_empty(), "{}", finished.all());
    }
    assert_eq!(scratch.read("there"), "mine\n");
    genjob(&scratch, "-o there --force").succeeded().quiet();
    assert!(scratch.read("there").contains("rw=randread"));
    let job = genjob(&scratch, "-t data").succeeded().quiet().stdout;
    assert!(job.contains("The job only reads.") && value(&job, "size") == Some("1048576"), "{job}");
    let job = genjob(&scratch, "-m mixed -w --overwrite -t data").succeeded().quiet().stdout;
    assert!(job.contains("# CAUTION: the job overwrites what is on data."), "{job}");
    assert!(scratch.names() == ["data", "there"] && scratch.read("data").len() == 1 << 20);
}

#[test]
fn devices_in_use_are_never_written_to() {
    let test = "devices_in_use_are_never_written_to";
    if !is_root(test) || !has_programs(test, &["mkfs.ext4", "losetup"]) {
        return;
    }
    let scratch = Scratch::new(test);
    let Some(mut device) = LoopDevice::new(&scratch, 16 << 20) else {
        skip(test, "no loop device");
        return;
    };
    let path = device.path().to_owned();
    let refused = genjob(&scratch, &format!("-m mixed -w -t {path}"));
    assert!(
        refused.code == Some(2) && refused.stderr.contains("is a device, and the job would destroy"),
        "{}",
        refused.all()
    );
    let job = genjob(&scratch, &format!("-m mixed -w --overwrite -t {path}")).succeeded().quiet().stdout;
    assert!(job.contains("CAUTION") && value(&job, "size") == Some("16777216"), "{job}");
    if device.mount(&scratch, "mkfs.ext4 -q").is_none() {
        skip(test, "the device cannot be mounted");
        return;
    }
    let refused = genjob(&scratch, &format!("-m mixed -w --overwrite -t {path}"));
    let expected = format!("ferrio genjob: {path} is mounted on ");
    assert!(refused.code == Some(2) && refused.stderr.starts_with(&expected), "{}", refused.all());
    let job = genjob(&scratch, &format!("-t {path}")).succeeded().quiet().stdout;
    assert!(job.contains("what is on the device stays") && value(&job, "rw") == Some("randread"), "{job}");
}

#[test]
fn questions_lead_to_the_same_job() {
    let scratch = Scratch::new("genjob-questions");
    let ask = |arguments: &str, answers: &str| {
        let run = Run::new(Program::Ferrio, scratch.path(), &format!("genjob --ask {arguments}"));
        run.stdin(answers.as_bytes()).finish()
    };
    let asked = ask("", "mixed\nnew\nyes\nno\n80\n16k\n7\n10g\n99\nno\n").succeeded();
    let given = genjob(&scratch, "-m mixed -w -r 80 -b 16k -q 7 -s 10g --runtime=99 --buffered -t new").succeeded();
    assert_eq!(asked.stdout, given.stdout);
    // Nothing but defaults: the same as without options.
    let asked = ask("", &"\n".repeat(8)).succeeded();
    assert_eq!(asked.stdout, genjob(&scratch, "").succeeded().stdout);
    assert!(asked.stderr.starts_with("What to measure: "), "{}", asked.all());
    // What is given is not asked for; a wrong answer is asked for again.
    let asked = ask("-m iops -t new -b 8k -q 3", "perhaps\nno\n-\n5\ny\n").succeeded();
    assert_eq!((value(&asked.stdout, "runtime"), value(&asked.stdout, "bs")), (Some("5"), Some("8192")));
    assert!(asked.stderr.contains("perhaps: yes or no is wanted\n"), "{}", asked.all());
    for (answers, expected) in [
        ("", "the answers have ended before the questions"),
        ("iops\n", "the answers have ended before the questions"),
        (&"x\n".repeat(9), "5 answers were not understood: given up"),
        ("database\n.\nno\n\n\n\n\n\n", "allow that with --write"),
        (&"y".repeat(100_000), "5 answers were not understood"),
    ] {
        let finished = ask("", answers);
        assert!(finished.code == Some(2) && finished.stderr.contains(expected), "{}", finished.all());
        assert!(finished.stdout.is_empty(), "{}", finished.all());
    }
}

#[test]
fn what_suits_no_job_is_an_error() {
    let scratch = Scratch::new("genjob-errors");
    scratch.write("small", [1; 100]);
    scratch.write("data", [1; 8192]);
    for (arguments, expected) in [
        ("-m speed", "invalid value 'speed'"),
        ("-t /dev/null", "/dev/null is neither a directory nor a file nor a block device"),
        ("-t no/such", "there is no no/such, and no directory in which it could be made"),
        ("-t new/", "there is no new/"),
        ("-t a:b", "a colon separates several files"),
        ("-t a;b", "; cannot stand in a job file"),
        ("-t small", "small has 100 bytes, less than a block"),
        ("-t data -s 1m", "data has 8192 bytes, and the size is 1048576"),
        ("-s 1k", "the size is less than a block"),
        ("-b 1000", "a multiple of 512 bytes is wanted, at most 1g"),
        ("-b 0", "a multiple of 512 bytes is wanted"),
        ("-b 2g", "a multiple of 512 bytes is wanted"),
        ("-r 101", "invalid value '101'"),
        ("-q 0", "invalid value '0'"),
        ("--runtime=0", "invalid value '0'"),
        ("-s 99999999999999999999t", "invalid value"),
        ("-m log-writer -w -r 50", "a log-writer only writes"),
        ("extra", "unexpected argument"),
    ] {
        let finished = genjob(&scratch, arguments);
        assert!(finished.code == Some(2) && finished.stderr.contains(expected), "{}", finished.all());
        assert!(finished.stdout.is_empty(), "{}", finished.all());
    }
}

#[test]
fn the_help_fits_a_terminal() {
    let scratch = Scratch::new("genjob-help");
    let help = genjob(&scratch, "--help").succeeded().quiet().stdout;
    assert!(help.contains("Exit code") && help.lines().all(|line| line.chars().count() <= 80), "{help}");
}

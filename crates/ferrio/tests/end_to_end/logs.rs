//! Performance logs as files: beside the peer, beside the report, and after whatever ends a run.
//!
//! Start reading at [`files_and_columns_are_those_of_the_peer`].

use crate::support::{Finished, Program, Run, Scratch, has_peer, is_root, peer_too, send, skip, tool, unmount};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;

const ALL_LOGS: &str = "--write_lat_log=p --write_bw_log=p --write_iops_log=p";

/// The logs in a directory: rows by file name.
fn logs(scratch: &Scratch) -> BTreeMap<String, Vec<Vec<String>>> {
    let names = scratch
        .names()
        .into_iter()
        .filter(|name| std::path::Path::new(name).extension().is_some_and(|end| end == "log"));
    names.map(|name| (name.clone(), rows(&scratch.read(&name)))).collect()
}

/// Fields of each line; fails on an incomplete line.
fn rows(text: &str) -> Vec<Vec<String>> {
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is cut: {:?}", text.lines().last());
    text.lines().map(|line| line.split(", ").map(str::to_owned).collect()).collect()
}

/// Runs and gives the logs.
fn logs_of(program: Program, test: &str, arguments: &str) -> BTreeMap<String, Vec<Vec<String>>> {
    let scratch = Scratch::new(test);
    let arguments = format!("{arguments} --output-format=json --output=out");
    Run::new(program, scratch.path(), &arguments).recorded("logs", &["*"]).finish().succeeded().quiet();
    logs(&scratch)
}

/// The part of a log that does not depend on time: the columns after the value, and the number of rows with each
/// combination of them.
fn shape(rows: &[Vec<String>], first: usize) -> BTreeMap<Vec<String>, usize> {
    let mut shape = BTreeMap::new();
    for row in rows {
        *shape.entry(row[first..].to_vec()).or_default() += 1;
    }
    shape
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn files_and_columns_are_those_of_the_peer() {
    if !has_peer("files_and_columns_are_those_of_the_peer") {
        return;
    }
    // fio 3.41 has another default seed, so the seed is given.
    let seed = "--randrepeat=0 --randseed=137";
    for options in [
        "--ioengine=psync --rw=write --size=64k",
        "--ioengine=psync --rw=randrw --size=256k --log_offset=1 --log_prio=1 --prioclass=2 --prio=3",
        "--ioengine=libaio --iodepth=4 --rw=randwrite --size=128k --log_offset=1",
        "--ioengine=null --iodepth=4 --rw=randrw --size=128k --bs=4k,8k",
        "--ioengine=psync --rw=write --size=64k --fsync=4 --log_max_value=1",
        "--ioengine=psync --rw=read --size=64k --disable_clat=1 --numjobs=2",
        "--ioengine=psync --rw=read --size=64k --disable_bw_measurement=1 --disable_lat=1",
        "--ioengine=psync --rw=read --size=64k --gtod_reduce=1",
        "--ioengine=psync --rw=read --size=64k --stats=0",
        "--ioengine=psync --rw=randrw --size=64k --unified_rw_reporting=1",
        "--ioengine=psync --rw=write --size=64k --per_job_logs=0 --numjobs=3",
        "--ioengine=psync --rw=write --size=64k --loops=3",
    ] {
        let arguments = format!("--name=j {options} {seed} {ALL_LOGS}");
        let ours = logs_of(Program::Ferrio, "logs-ferrio", &arguments);
        let theirs = logs_of(Program::Peer, "logs-peer", &arguments);
        assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>(), "{options}");
        for (name, rows) in &ours {
            assert_eq!(shape(rows, 2), shape(&theirs[name], 2), "{options} {name}");
        }
        // Each row counts one I/O.
        if let Some(iops) = ours.get("p_iops.1.log") {
            assert!(iops.iter().all(|row| row[1] == "1"), "{options}");
        }
    }
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn windows_are_those_of_the_peer() {
    if !has_peer("windows_are_those_of_the_peer") {
        return;
    }
    let arguments = format!(
        "--name=j --ioengine=null --size=1t --rw=randrw --norandommap --runtime=1 --time_based {ALL_LOGS} \
         --log_avg_msec=300 --write_hist_log=p --log_hist_msec=400 --log_hist_coarseness=4"
    );
    let ours = logs_of(Program::Ferrio, "windows-ferrio", &arguments);
    let theirs = logs_of(Program::Peer, "windows-peer", &arguments);
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for (name, rows) in &ours {
        // On a busy machine windows may be late or missing, so only the columns are compared, not the number of rows.
        let first = if name.contains("hist") { 1 } else { 2 };
        let columns = |rows: &[Vec<String>]| rows.iter().map(Vec::len).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(columns(rows), columns(&theirs[name]), "{name}");
        let until = if name.contains("hist") { 3 } else { rows.first().map_or(0, Vec::len) };
        let same = |rows: &[Vec<String>]| {
            let cut: Vec<Vec<String>> = rows.iter().map(|row| row[..until].to_vec()).collect();
            shape(&cut, first).into_keys().collect::<Vec<_>>()
        };
        assert_eq!(same(rows), same(&theirs[name]), "{name}");
    }
}

/// Bucket of a value (reference, "Histogram").
fn bucket(value_ns: u64) -> u64 {
    if value_ns < 128 {
        return value_ns;
    }
    let shift = value_ns.ilog2() - 6;
    (u64::from(shift + 1) * 64 + ((value_ns >> shift) & 63)).min(1855)
}

/// The document and the logs of a run on a file.
fn report_and_logs(options: &str) -> (Value, Scratch) {
    let scratch = Scratch::new("agree");
    let arguments = format!("--name=j {options} {ALL_LOGS} --output-format=json+ --output=out");
    Run::new(Program::Ferrio, scratch.path(), &arguments).finish().succeeded().quiet();
    (serde_json::from_str(&scratch.read("out")).expect("a document"), scratch)
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}

#[test]
fn logs_agree_with_the_report_to_the_bucket() {
    for options in [
        "--ioengine=psync --rw=randrw --size=2m --lat_percentiles=1",
        "--ioengine=libaio --iodepth=8 --rw=randrw --size=2m --lat_percentiles=1 --slat_percentiles=1",
        "--ioengine=null --iodepth=16 --rw=randrw --size=40m --lat_percentiles=1 --slat_percentiles=1",
    ] {
        let (document, scratch) = report_and_logs(options);
        for (kind, key) in [("slat", "slat_ns"), ("clat", "clat_ns"), ("lat", "lat_ns")] {
            let rows = rows(&scratch.read(&format!("p_{kind}.1.log")));
            for (direction, name) in ["read", "write"].into_iter().enumerate() {
                let stat = &document["jobs"][0][name][key];
                let mut buckets = BTreeMap::<u64, u64>::new();
                let values: Vec<u64> =
                    rows.iter().filter(|row| row[2] == direction.to_string()).map(|row| number(&row[1])).collect();
                for value in &values {
                    *buckets.entry(bucket(*value)).or_default() += 1;
                }
                let what = format!("{options} {kind} {name}");
                assert_eq!(stat["N"], values.len(), "{what}");
                if values.is_empty() {
                    continue;
                }
                assert_eq!(stat["min"].as_u64(), values.iter().min().copied(), "{what}");
                assert_eq!(stat["max"].as_u64(), values.iter().max().copied(), "{what}");
                let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
                assert!((stat["mean"].as_f64().expect("a float") - mean).abs() < 1e-5, "{what}");
                let bins = stat["bins"].as_object().expect("bins");
                let bins: BTreeMap<u64, u64> =
                    bins.iter().map(|(value, n)| (bucket(number(value)), n.as_u64().expect("a count"))).collect();
                assert_eq!(bins, buckets, "{what}");
            }
        }
    }
}

#[test]
fn compressed_logs_inflate_to_the_same_rows() {
    let scratch = Scratch::new("inflate");
    let arguments = "--name=j --ioengine=null --rw=randrw --size=8m --write_lat_log=p --log_offset=1 --log_issue_time=1 \
                     --log_store_compressed=1 --log_compression=64k --output=/dev/null";
    Run::new(Program::Ferrio, scratch.path(), arguments).finish().succeeded().quiet();
    assert!(scratch.names().iter().all(|name| name.ends_with(".log.fz")), "{:?}", scratch.names());
    let inflated =
        Run::new(Program::Ferrio, scratch.path(), "--inflate-log=p_clat.1.log.fz").finish().succeeded().quiet();
    let rows = rows(&inflated.stdout);
    assert_eq!(rows.len(), 2048);
    let offsets: std::collections::BTreeSet<u64> = rows.iter().map(|row| number(&row[4])).collect();
    assert!(offsets.into_iter().eq((0..2048).map(|block| block * 4096)), "each block once");
    assert!(rows.iter().all(|row| row.len() == 7));
    for (argument, message) in
        [("--inflate-log=missing", "No such file"), ("--inflate-log=/etc/passwd", "failed inflating")]
    {
        let refused = Run::new(Program::Ferrio, scratch.path(), argument).finish();
        assert!(refused.code == Some(1) && refused.stderr.contains(message), "{}", refused.all());
    }
}

/// Fails unless all logs end with whole lines; returns the rows of the longest.
fn n_rows(scratch: &Scratch, finished: &Finished) -> usize {
    let logs = logs(scratch);
    assert!(!logs.is_empty(), "{}", finished.all());
    logs.values().map(Vec::len).max().unwrap_or(0)
}

/// Whatever ends a job: its logs are there up to that moment. 10,000 I/Os of at least 1 ms would take 10 s.
#[test]
fn logs_are_complete_when_a_run_is_cut_short() {
    let arguments =
        format!("--name=j --ioengine=sim --sim_service=fixed:1ms --rw=read --size=1t {ALL_LOGS} --output=out");
    for (signal, to_job) in [(Signal::INT, false), (Signal::TERM, false), (Signal::KILL, true), (Signal::SEGV, true)] {
        let scratch = Scratch::new("cut");
        let mut running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
        running.wait_until("rows", |_| scratch.read("p_lat.1.log").lines().count() >= 20);
        let target = if to_job { running.jobs()[0] } else { running.pid() };
        send(target, signal);
        let finished = running.finish();
        assert!(n_rows(&scratch, &finished) >= 20);
        let logs = logs(&scratch);
        assert_eq!(logs["p_lat.1.log"].len(), logs["p_clat.1.log"].len());
        if !to_job {
            let issued = format!("issued rwts: total={},", logs["p_lat.1.log"].len());
            assert!(scratch.read("out").contains(&issued), "{issued}\n{}", scratch.read("out"));
        }
    }
}

#[test]
fn a_full_disk_leaves_whole_lines_and_says_so() {
    let test = "a_full_disk_leaves_whole_lines_and_says_so";
    if !is_root(test) {
        return;
    }
    let scratch = Scratch::new("full");
    let at = scratch.join("small");
    std::fs::create_dir_all(&at).expect("a directory");
    if tool(&format!("mount -t tmpfs -o size=64k tmpfs {}", at.display())).is_none() {
        return skip(test, "tmpfs cannot be mounted");
    }
    let arguments = "--name=j --ioengine=null --rw=read --size=40m --write_lat_log=small/p --output=out";
    let finished = Run::new(Program::Ferrio, scratch.path(), arguments).finish();
    let log = std::fs::read_to_string(at.join("p_clat.1.log")).unwrap_or_default();
    unmount(&at);
    assert!(finished.code == Some(1), "{}", finished.all());
    assert!(finished.stderr.contains("cannot write log small/p_clat.1.log: No space left"), "{}", finished.all());
    let rows = rows(&log);
    assert!(!rows.is_empty() && rows.iter().all(|row| row.len() == 5), "{}", finished.all());
}

/// Memory of the supervisor does not grow with the rows: 2 million I/Os are 6 million rows.
#[test]
fn memory_is_flat() {
    let peak_kib = |size: &str| {
        let scratch = Scratch::new("memory");
        // The command comes after the last I/O: its parent is the job, and the parent of that the supervisor.
        let job = format!(
            "[j]\nioengine=null\nrw=read\nsize={size}\nbs=512\nwrite_lat_log=p\nlog_offset=1\n\
             exec_postrun=read -r _ _ _ pid _ < /proc/$PPID/stat && exec sed -n 's/^VmHWM:[^0-9]*//p' /proc/$pid/status\n"
        );
        scratch.write("job.fio", job);
        Run::new(Program::Ferrio, scratch.path(), "job.fio --output=/dev/null").finish().succeeded().quiet();
        assert_eq!(rows(&scratch.read("p_lat.1.log")).len() as u64 * 512, number_of_bytes(size));
        number(scratch.read("j.postrun.txt").trim_end_matches(" kB\n"))
    };
    // The ring itself is 2 MiB: a short run touches a part of it.
    let (short, long) = (peak_kib("64m"), peak_kib("1g"));
    assert!(short > 0 && long < short + 6 * 1024, "{short} KiB for 131,072 I/Os, {long} KiB for 2,097,152");
}

fn number_of_bytes(size: &str) -> u64 {
    let (digits, unit) = size.split_at(size.len() - 1);
    number(digits) << if unit == "g" { 30 } else { 20 }
}

/// A log that was asked for and cannot be had is named and no success; the peer names none and exits with 0.
#[test]
fn logs_that_cannot_be_opened() {
    let peer = peer_too("logs_that_cannot_be_opened").then_some(Program::Peer);
    for program in std::iter::once(Program::Ferrio).chain(peer) {
        for (kind, log) in [("bw", "bw"), ("lat", "clat"), ("iops", "iops"), ("hist", "clat_hist")] {
            let scratch = Scratch::new("unopened");
            std::fs::create_dir(scratch.join(&format!("p_{log}.1.log"))).expect("a directory");
            let arguments = format!("--name=a --ioengine=null --size=4m --log_hist_msec=100 --write_{kind}_log=p");
            let finished = Run::new(program, scratch.path(), &arguments).finish();
            let (code, line) = match program {
                Program::Ferrio => (1, format!("fopen log: p_{log}.1.log: Is a directory\n")),
                Program::Peer | Program::OldPeer => (0, "fopen log: Is a directory\n".to_owned()),
            };
            assert_eq!((finished.code, &finished.stderr), (Some(code), &line), "{}", finished.all());
            assert!(finished.stdout.contains("err= 0: pid="), "{}", finished.all());
        }
    }
}

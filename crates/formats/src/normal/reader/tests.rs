//! The text as it is read: what belongs to it, what is missing, what is damaged.

use super::*;
use proptest::prelude::*;

/// The first sample of the reference, with one table of percentiles.
const REPORT: &str =
    "mix: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
fio-3.42-135-gf5344
Starting 1 process

mix: (groupid=0, jobs=1): err= 0: pid=27681: Fri Nov 20 13:43:37 2026
  read: IOPS=11.7k, BW=45.6MiB/s (47.8MB/s)(22.2MiB/487msec)
    clat (usec): min=43, max=1066, avg=74.71, stdev=36.67
     lat (usec): min=43, max=1066, avg=74.80, stdev=36.68
    clat percentiles (usec):
     |  1.00th=[   50],  5.00th=[   55],
     | 99.99th=[ 1074]
  write: IOPS=5139, BW=20.1MiB/s (21.1MB/s)(9.78MiB/487msec)
    clat (nsec): min=2684, max=67520, avg=6183.39, stdev=3108.00
  lat (usec)   : 4=4.68%, 10=24.73%
  lat (msec)   : 2=0.01%, >=2000=0.02%
  fsync/fdatasync/sync_file_range/syncfs:
    sync (usec): min=777, max=1263, avg=940.25, stdev=115.64
    sync percentiles (usec):
     | 99.99th=[ 1270]
  cpu          : usr=1.85%, sys=50.62%, ctx=5763, majf=0, minf=10
  IO depths    : 1=100.5%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued rwts: total=5689,2503,0,39 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
   READ: bw=45.6MiB/s (47.8MB/s), 45.6MiB/s-45.6MiB/s (47.8MB/s-47.8MB/s), io=22.2MiB (23.3MB), run=487-487msec

Disk stats (read/write):
  vda: ios=3964/1757, sectors=31712/14040, merge=0/1, ticks=232/1037, in_queue=1270, util=53.33%
";

fn read_text(text: &str) -> Result<RunResult, ReadError> {
    read(&ResultFile::in_memory("r.txt", text.as_bytes()), text.as_bytes())
}

#[test]
fn a_report_is_read_as_it_says() {
    let result = read_text(REPORT).expect("a report");
    let job = &result.jobs[0];
    let read = job.directions.0[0].as_ref().expect("reads");
    assert_eq!((result.program.as_str(), job.name.as_str(), job.n_members), ("fio-3.42-135-gf5344", "mix", Some(1)));
    assert_eq!((read.n_ios, read.runtime_ns, read.ios_per_sec), (5689, 487_000_000, 11_700.0));
    assert_eq!((read.bytes, read.bytes_per_sec as u64), (23_278_387, 47_815_065));
    let clat = read.clat.as_ref().expect("latencies");
    assert_eq!((clat.min_ns, clat.max_ns, clat.mean_ns as u64, clat.n_samples), (43_000, 1_066_000, 74_710, 0));
    assert_eq!(clat.percentiles, [(1.0, 50_000), (5.0, 55_000), (99.99, 1_074_000)]);
    assert!(clat.bins.is_empty() && read.slat.is_none());
    let syncs = job.syncs.as_ref().expect("syncs");
    assert_eq!(
        (syncs.n_ios, syncs.lat.as_ref().map(|lat| (lat.max_ns, lat.percentiles.len()))),
        (39, Some((1_263_000, 1)))
    );
    let options: Vec<String> = job.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(options, ["rw=randrw", "bs=4096", "ioengine=psync", "iodepth=1"]);
    assert_eq!(job.latency_classes.last(), Some(&crate::results::LatencyClass { up_to_ns: None, percent: 0.02 }));
    let disk = &result.disks[0];
    assert_eq!((disk.n_reads, disk.merged_writes, disk.read_bytes), (3964, 1, Some(31_712 * 512)));
    assert!(result.gaps.lacks_options);
}

#[test]
fn the_last_of_several_reports_counts() {
    let again = REPORT.replace("total=5689", "total=9000");
    let result = read_text(&format!("{REPORT}{again}")).expect("a report");
    assert_eq!((result.jobs.len(), result.jobs[0].directions.0[0].as_ref().map(|read| read.n_ios)), (1, Some(9000)));
    assert_eq!(result.remarks, ["The file has 2 reports; the figures are those of the last one."]);
}

#[test]
fn a_group_has_the_number_of_its_jobs() {
    let result = read_text(&REPORT.replace("jobs=1)", "jobs=4)")).expect("a report");
    let options: Vec<String> = result.jobs[0].options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(options[3..], ["iodepth=1", "numjobs=4", "group_reporting=1"]);
    assert_eq!(result.jobs[0].n_members, Some(4));
}

#[test]
fn damage_is_an_error_with_its_line() {
    for (from, to, expected) in [
        (
            "IOPS=11.7k",
            "IOPS=11.7q",
            "r.txt:6: the line is \"read: IOPS=11.7q, BW=45.6MiB/s (47.8MB/s)(22.2MiB/487msec)\", and the rates of a direction are expected as fio prints them",
        ),
        (
            "read: IOPS=11.7k, BW=45.6MiB/s (47.8MB/s)(22.2MiB/487msec)",
            "read : io=22.2MB, bw=46694KB/s, iops=11673, runt=   487msec",
            "r.txt:6: it is the text of fio before 3.0, which is not read; its JSON (--output-format=json) is",
        ),
        ("total=5689,", "total=many,", "r.txt:23: "),
        ("avg=74.71", "avg=many", "r.txt:7: "),
    ] {
        let error = read_text(&REPORT.replace(from, to)).expect_err("damage").to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn figures_that_are_no_numbers_count_as_0_and_are_told() {
    let result =
        read_text(&REPORT.replace("usr=1.85%", "usr=-nan%").replace("stdev=36.67", "stdev=  nan")).expect("a report");
    assert_eq!((result.gaps.n_no_numbers, result.jobs[0].cpu.map(|cpu| cpu.user_percent)), (2, Some(0.0)));
}

proptest! {
    /// Pieces of a report in any order, with damage.
    #[test]
    fn any_lines_give_a_result_or_an_error(lines in prop::collection::vec((0..28_usize, 0..120_usize, any::<char>()), 0..60)) {
        let all: Vec<&str> = REPORT.lines().collect();
        let mut text = String::new();
        for (line, place, letter) in lines {
            let line = all[line % all.len()];
            let at = line.char_indices().map(|(at, _)| at).nth(place).unwrap_or(line.len());
            text.push_str(&line[..at]);
            if place % 3 != 0 {
                text.push(letter);
            }
            text.push_str(&line[at..]);
            text.push('\n');
        }
        let _ = read_text(&text);
    }

    #[test]
    fn any_bytes_give_a_result_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&ResultFile::in_memory("r.txt", bytes.clone()), &bytes);
    }
}

//! `ferrio report FILE` and `ferrio check --result=FILE`: results of fio are examined as far as their evidence goes.
//!
//! Start reading at [`a_report_of_fio_is_shown_with_what_speaks_against_it`].

use crate::support::{Finished, Program, Run, Scratch};
use serde_json::Value;

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

/// A report as fio 3.41 writes it, with the keys that are read: cached reads at a depth that buffered I/O does not have.
const REPORT: &str = r#"fio: a message above
{
  "fio version" : "fio-3.41",
  "global options" : { "ioengine" : "libaio", "size" : "64m", "time_based" : "", "runtime" : "10" },
  "jobs" : [ {
    "jobname" : "cached", "groupid" : 0, "error" : 0, "job options" : { "name" : "cached", "rw" : "randread", "iodepth" : "32" },
    "read" : { "io_bytes" : 4096000000, "bw_bytes" : 409600000, "iops" : 100000.0, "runtime" : 10000, "total_ios" : 1000000,
      "clat_ns" : { "min" : 900, "max" : 400000, "mean" : 2000.0, "stddev" : 100.0, "N" : 1000000,
        "percentile" : { "50.000000" : 1976, "99.000000" : 3024, "99.900000" : 10048 } } },
    "usr_cpu" : 20.0, "sys_cpu" : 80.0
  } ],
  "disk_util" : [ { "name" : "vda", "read_ios" : 900, "read_sectors" : 131072, "write_sectors" : 8, "util" : 12.5 } ]
}
"#;

#[test]
fn a_report_of_fio_is_shown_with_what_speaks_against_it() {
    let scratch = Scratch::new("examined");
    scratch.write("fio.json", REPORT);
    let shown = run(&scratch, "report fio.json").succeeded().stdout;
    for text in [
        "100,000",
        "1.98 us",
        "3.02 us",
        "[device-did-less]",
        "[asynchronous-without-direct]",
        "Not examined: the machine",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    // 1,000,000 reads of 4 KiB against 64 MiB, as the disk has counted them.
    assert!(shown.contains("98 % of the bytes read never reached vda"), "{shown}");
    assert!(shown.contains("read by vda 64 MiB."), "{shown}");
    let checked = run(&scratch, "check --json --result=fio.json");
    assert_eq!(checked.code, Some(1), "a figure is wrong: {}", checked.stderr);
    let document: Value = serde_json::from_str(&checked.stdout).expect("JSON");
    let ids: Vec<&str> =
        document["findings"].as_array().expect("findings").iter().filter_map(|of| of["id"].as_str()).collect();
    assert_eq!(ids, ["device-did-less", "asynchronous-without-direct"]);
    run(&scratch, "report fio.json -o page.html").succeeded();
    let page = std::fs::read_to_string(scratch.join("page.html")).expect("a page");
    assert!(page.contains("device-did-less") && page.contains("the machine, its devices and the course of the run"));
}

#[test]
fn what_cannot_be_examined_is_said() {
    let scratch = Scratch::new("examined");
    scratch.write("odd.json", REPORT.replace("\"randread\"", "\"sideways\""));
    let shown = run(&scratch, "report odd.json").succeeded().stdout;
    assert!(shown.contains("the options of job cached cannot be read"), "{shown}");
    for (arguments, words) in [
        ("check --result=", "--result needs a value: --result FILE"),
        ("check --result=a b", "--result takes one file, and no jobs beside it"),
        ("check --result=absent", "absent: it cannot be read: No such file or directory"),
    ] {
        let refused = run(&scratch, arguments);
        assert!(refused.code == Some(2) && refused.stderr.contains(words), "{arguments}: {}", refused.stderr);
    }
}

/// The text of fio 3.33 as somebody has posted it: 133,598 reads of 4 KiB in 3 s, of which the disk did 41.
const POST: &str = r"Is this disk fast?

> $ fio --name=a --rw=randread --bs=4k
> a: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
> fio-3.33
> Starting 1 process
>
> a: (groupid=0, jobs=1): err= 0: pid=32217: Sun Nov 29 19:24:42 2026
>   read: IOPS=44.5k, BW=174MiB/s (182MB/s)(522MiB/3001msec)
>     clat (nsec): min=390, max=72482, avg=1945.97, stdev=577.43
>      lat (nsec): min=420, max=72483, avg=1988.21, stdev=577.45
>     clat percentiles (nsec):
>      |  1.00th=[  450],  5.00th=[  470], 50.00th=[  500],
>      | 99.00th=[ 1880], 99.99th=[16711]
>   cpu          : usr=5.80%, sys=23.30%, ctx=320, majf=0, minf=14
>   IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
>      issued rwts: total=133598,0,0,0 short=0,0,0,0 dropped=0,0,0,0
>
> Run status group 0 (all jobs):
>    READ: bw=174MiB/s (182MB/s), 174MiB/s-174MiB/s (182MB/s-182MB/s), io=522MiB (547MB), run=3001-3001msec
>
> Disk stats (read/write):
>   vda: ios=41/7, merge=0/2, ticks=3/1, in_queue=4, util=0.88%
";

#[test]
fn a_post_is_shown_examined_compared_and_drawn() {
    let scratch = Scratch::new("post");
    scratch.write("post.txt", POST);
    let shown = run(&scratch, "report post.txt").succeeded().stdout;
    for text in [
        // 133,598 in 3.001 s.
        "44,518",
        "[disk-did-fewer-requests]",
        "The jobs have done 133,598 reads (522 MiB), and vda has done 41.",
        "Not examined: the options of the jobs",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let checked = run(&scratch, "check --json --result=post.txt");
    assert_eq!(checked.code, Some(1), "a figure is wrong: {}", checked.stderr);
    // A claim that does not fit its own latency: 2 us each leave no time for 445,000 a second.
    scratch.write("faster.txt", POST.replace("IOPS=44.5k", "IOPS=445k").replace("avg=1988.21", "avg=29882.1"));
    let document: Value =
        serde_json::from_str(&run(&scratch, "check --json --result=faster.txt").stdout).expect("JSON");
    let ids: Vec<&str> =
        document["findings"].as_array().expect("findings").iter().filter_map(|of| of["id"].as_str()).collect();
    assert_eq!(ids, ["disk-did-fewer-requests", "latency-times-rate", "rate-times-time"]);
    run(&scratch, "compare post.txt faster.txt").succeeded();
    run(&scratch, "plot post.txt faster.txt -o compare.svg").succeeded();
    run(&scratch, "report post.txt -o page.html").succeeded();
    let refused = run(&scratch, "report absent.txt");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    scratch.write(
        "old.txt",
        POST.replace(
            "read: IOPS=44.5k, BW=174MiB/s (182MB/s)(522MiB/3001msec)",
            "read : io=522MB, bw=174MB/s, iops=44518, runt=  3001msec",
        ),
    );
    let refused = run(&scratch, "report old.txt");
    assert!(refused.stderr.contains("old.txt:9: it is the text of fio before 3.0"), "{}", refused.stderr);
}

/// 53,896 direct reads of 604 ns, of which the disk has seen none; it has written.
#[test]
fn direct_reads_that_no_disk_has_done_are_found() {
    let scratch = Scratch::new("direct");
    let report = |disk: &str| {
        format!(
            r#"{{ "fio version" : "fio-3.33", "jobs" : [ {{ "jobname" : "j", "groupid" : 0, "error" : 0,
            "job options" : {{ "name" : "j", "rw" : "randread", "direct" : "1", "ioengine" : "psync", "filename" : "/dev/shm/f", "size" : "64m" }},
            "read" : {{ "io_bytes" : 220758016, "bw_bytes" : 73585872, "iops" : 17965.333, "runtime" : 3000, "total_ios" : 53896,
              "lat_ns" : {{ "min" : 310, "max" : 90000, "mean" : 604.0, "stddev" : 10.0, "N" : 53896 }} }},
            "usr_cpu" : 1.0, "sys_cpu" : 2.0 }} ],
            "disk_util" : [ {{ "name" : "vda", "read_ios" : 0, "write_ios" : {disk}, "util" : 0.1 }} ] }}"#
        )
    };
    let found = |text: String| -> (Vec<String>, String) {
        scratch.write("r.json", text);
        let document: Value =
            serde_json::from_str(&run(&scratch, "check --json --result=r.json").stdout).expect("JSON");
        let ids = document["findings"].as_array().expect("findings").iter();
        (ids.filter_map(|of| of["id"].as_str().map(str::to_owned)).collect(), document.to_string())
    };
    let (ids, _) = found(report("3"));
    assert_eq!(ids, ["disk-did-fewer-requests", "below-any-device", "path-in-memory"]);
    // Counters that are all 0 say nothing, and no figure is made of them.
    let (ids, document) = found(report("0"));
    assert_eq!(ids, ["below-any-device", "path-in-memory"]);
    assert!(document.contains("all counters of its disks are 0"), "{document}");
}

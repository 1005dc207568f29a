//! Files and devices that several hosts share: writes to one place are refused, or divided among the hosts, or allowed and remarked on.
//!
//! All hosts are this machine. Start reading at [`hosts_that_would_write_one_file_are_refused`].

use crate::fleets::{document, fleet, scratch};
use crate::support::{Finished, Program, Run, Scratch, has_programs, is_root};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

const WRITES: &str = "--name=w --filename=data --rw=write --bs=4k --size=96k --ioengine=psync";

/// Findings about sharing, as severity and hosts.
fn sharing(document: &Value) -> Vec<(String, usize)> {
    let findings = document["findings"].as_array().expect("findings").iter();
    let of_rule = findings.filter(|finding| finding["id"] == "hosts-share-files");
    let told = |finding: &Value| {
        let hosts = finding["hosts"].as_array().map_or(0, Vec::len);
        (finding["severity"].as_str().unwrap_or_default().to_lowercase(), hosts)
    };
    of_rule.map(told).collect()
}

/// The offsets of the I/Os in a trace that a host has written.
fn offsets(scratch: &Scratch, name: &str) -> BTreeSet<u64> {
    let text = fs::read_to_string(scratch.join(name)).expect("a trace");
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let place = words.iter().position(|word| ["read", "write"].contains(word))?;
        words.get(place + 1)?.parse().ok()
    };
    text.lines().filter_map(of_line).collect()
}

fn refused(run: Run) -> Finished {
    let run = run.finish();
    assert_eq!(run.code, Some(2), "{}", run.all());
    run
}

#[test]
fn hosts_that_would_write_one_file_are_refused() {
    let scratch = scratch("fleet-one-file");
    for job in
        [WRITES, &WRITES.replace("write", "randtrim"), &WRITES.replace("--filename=data", "--filename_format=data")]
    {
        let run = refused(fleet(&scratch, "a,b,c", job));
        for word in ["hosts a, b, c would all write to", "data", "$rank", "--partition", "--shared-writes"] {
            assert!(run.stderr.contains(word), "{word}: {}", run.all());
        }
        assert!(!scratch.join("data").exists(), "nothing was made");
    }
    // Another name of one file, and data that is there.
    scratch.write("data", "kept");
    fs::hard_link(scratch.join("data"), scratch.join("data.0")).expect("a link");
    fs::hard_link(scratch.join("data"), scratch.join("data.1")).expect("a link");
    refused(fleet(&scratch, "a,b", &WRITES.replace("=data", "=data.$rank")));
    assert_eq!(fs::read_to_string(scratch.join("data")).expect("the file"), "kept");
    // Two clones on one host are as they are without a fleet.
    fleet(&scratch, "a,b", &format!("{} --numjobs=2", WRITES.replace("=data", "=own.$rank"))).finish().succeeded();
    let both = refused(fleet(&scratch, "a,b", &format!("--partition --shared-writes {WRITES}")));
    assert!(both.stderr.contains("cannot be used with"), "{}", both.all());
}

#[test]
fn writes_to_one_file_can_be_allowed() {
    let scratch = scratch("fleet-allowed");
    let run = fleet(&scratch, "a,b", &format!("--json --shared-writes {WRITES}")).finish().succeeded();
    let document = document(&run);
    assert_eq!(sharing(&document), [("misleading".to_owned(), 2)], "{document}");
    assert_eq!(document["jobs"][0]["n_ios"].as_u64(), Some(48), "{document}");
}

#[test]
fn each_host_writes_a_part_of_its_own() {
    let scratch = scratch("fleet-parts");
    let job = format!("--json --partition {WRITES} --write_iolog=trace.$rank");
    let run = fleet(&scratch, "a,b,c", &job).finish().succeeded();
    let document = document(&run);
    assert_eq!(sharing(&document), [], "{document}");
    assert_eq!(document["jobs"][0]["n_ios"].as_u64(), Some(24), "{document}");
    for rank in 0..3_u64 {
        let expected: BTreeSet<u64> = (8 * rank..8 * (rank + 1)).map(|block| block * 4096).collect();
        assert_eq!(offsets(&scratch, &format!("trace.{rank}")), expected, "rank {rank}");
    }
    assert_eq!(fs::metadata(scratch.join("data")).expect("a file").len(), 96 << 10);
    // Reads at random, of the size that the file has, verify what the hosts have written.
    let verified = "--name=v --filename=data --rw=randwrite --bs=4k --ioengine=psync --verify=crc32c --do_verify=1";
    fleet(&scratch, "a,b,c", &format!("--partition {verified}")).finish().succeeded();
}

/// Emulated zones of 16 KiB: two of six for each host, whose writes begin with a zone and end with one.
#[test]
fn no_zone_is_cut() {
    let scratch = scratch("fleet-zones");
    let zones = "--partition --name=w --filename=data --zonemode=zbd --zonesize=16k --bs=4k --ioengine=psync";
    for (name, rw, offset, first) in [("a", "write", "0", 0), ("b", "randwrite", "0", 0), ("c", "write", "48k", 12)] {
        scratch.write("data", vec![0; 96 << 10]);
        let job = format!("{zones} --rw={rw} --offset={offset} --write_iolog={name}.$rank");
        fleet(&scratch, "a,b,c", &job).finish().succeeded();
        let n_blocks = (24 - first) / 3;
        for rank in 0..3_u64 {
            let blocks = first + n_blocks * rank..first + n_blocks * (rank + 1);
            let expected: BTreeSet<u64> = blocks.map(|block| block * 4096).collect();
            assert_eq!(offsets(&scratch, &format!("{name}.{rank}")), expected, "{rw} from {offset}: rank {rank}");
        }
    }
    let within = refused(fleet(&scratch, "a,b,c", &format!("{zones} --rw=write --offset=4k")));
    assert!(within.stderr.contains("offset=4096 lies within a zone of 16384 bytes"), "{}", within.all());
}

/// A file that is missing is made once, part behind part or by the first host; no host finds a hole.
#[test]
fn a_file_of_all_hosts_is_laid_out_once() {
    for (option, n_ios) in [("--partition", 64), ("", 192)] {
        let scratch = scratch("fleet-layout");
        let job = "--name=r --filename=data --rw=randread --bs=4k --size=256k --ioengine=psync --refill_buffers";
        let run = fleet(&scratch, "a,b,c", &format!("--json {option} {job}")).finish().succeeded();
        let document = document(&run);
        assert!(!run.stderr.contains("held"), "the parts of others are no news: {}", run.stderr);
        assert!(!document["findings"].to_string().contains("laid"), "{document}");
        let n_read = document["jobs"][0]["n_ios"].as_u64().expect("I/Os");
        // A third of 64 blocks are 21.
        assert_eq!(n_read, n_ios - n_ios % 3, "{option}: {document}");
        let about = fs::metadata(scratch.join("data")).expect("a file");
        let expected = if option.is_empty() { (256 << 10, vec![("note".to_owned(), 3)]) } else { (63 * 4096, vec![]) };
        assert_eq!((about.len(), sharing(&document)), expected, "{option}: {document}");
        assert!(about.blocks() * 512 >= about.len(), "{option}: {about:?}");
        let data = fs::read(scratch.join("data")).expect("the file");
        assert!(
            data.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)),
            "{option}: a block was not written"
        );
    }
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let scratch = scratch("fleet-undivided");
    for (options, reason) in [
        ("--filename=a:b", "2 files"),
        ("--filename=a --unlink=1", "unlink"),
        ("--filename=a --size=4k", "has not a block"),
        ("--filename=a --ioengine=null", "ioengine=null"),
    ] {
        let run =
            refused(fleet(&scratch, "a,b", &format!("--partition --name=w --rw=write --bs=4k --size=1m {options}")));
        assert!(run.stderr.contains("--partition") && run.stderr.contains(reason), "{reason}: {}", run.all());
    }
    let unsized_ = refused(fleet(&scratch, "a,b", "--partition --name=w --rw=write --filename=a"));
    assert!(unsized_.stderr.contains("the size of its file is not known"), "{}", unsized_.all());
    assert!(!scratch.join("a").exists());
    // A directory of its own for each host, so that the sizes differ.
    for (rank, bytes) in [(0, 8 << 10), (1, 16 << 10)] {
        fs::create_dir(scratch.join(&format!("d{rank}"))).expect("a directory");
        scratch.write(&format!("d{rank}/data"), vec![1; bytes]);
    }
    let absent = refused(fleet(&scratch, "a,b,c", "--name=r --rw=read --directory=d$rank --filename=data --bs=4k"));
    assert!(absent.stderr.contains("c: directory=d2: there is no such directory"), "{}", absent.all());
    assert!(!scratch.join("d2").exists());
    let unlike =
        refused(fleet(&scratch, "a,b", "--partition --name=r --rw=read --directory=d$rank --filename=data --bs=4k"));
    assert!(unlike.stderr.contains("is not the same on all hosts"), "{}", unlike.all());
}

#[test]
fn a_device_is_divided_among_hosts() {
    let test = "a_device_is_divided_among_hosts";
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    let scratch = scratch("fleet-device");
    scratch.write("disk", vec![0; 64 << 10]);
    let made = Command::new("losetup").args(["--find", "--show"]).arg(scratch.join("disk")).output().expect("losetup");
    let device = String::from_utf8(made.stdout).expect("a name").trim().to_owned();
    if device.is_empty() {
        crate::support::skip(test, "no loop device can be set up");
        return;
    }
    let job = format!("--name=w --filename={device} --rw=write --bs=4k --ioengine=psync --buffer_pattern=0x55");
    let plain = fleet(&scratch, "a,b", &format!("{job} --allow=outside")).finish();
    // The file behind it is the same place.
    let behind = format!("{job} --offset=0 --size=64k --name=x --filename=disk --rw=write --size=64k --bs=4k");
    let behind = fleet(&scratch, "a,b", &behind).finish();
    let untouched = fs::read(scratch.join("disk")).expect("the disk");
    let parts = fleet(&scratch, "a,b", &format!("--json --partition {job}")).finish();
    let _ = Command::new("losetup").arg("--detach").arg(&device).status();
    assert!(plain.code == Some(2) && plain.stderr.contains(&device), "{}", plain.all());
    assert!(behind.code == Some(2) && behind.stderr.contains("would all write to"), "{}", behind.all());
    assert!(untouched.iter().all(|byte| *byte == 0), "nothing was written");
    let parts = parts.succeeded();
    assert_eq!(document(&parts)["jobs"][0]["n_ios"].as_u64(), Some(16), "{}", parts.stdout);
    assert!(fs::read(scratch.join("disk")).expect("the disk").iter().all(|byte| *byte == 0x55));
}

/// In a job file and among options, the variables have the values of each host, whatever the environment of the coordinator says.
#[test]
fn variables_of_hosts_are_those_of_each_host() {
    let scratch = scratch("fleet-variables");
    let options = "rw=write\nbs=4k\nsize=8k\nioengine=psync\n";
    scratch.write(
        "job.fio",
        format!("[w]\nfilename=f.${{FERRIO_RANK}}.of.${{FERRIO_HOSTS}}.${{FERRIO_HOST}}.${{OTHER}}\n{options}"),
    );
    let run = fleet(&scratch, "a,b", "job.fio").env("FERRIO_RANK", "7").env("OTHER", "x").finish().succeeded();
    for name in ["f.0.of.2.a.x", "f.1.of.2.b.x"] {
        assert!(scratch.join(name).exists(), "{name}: {}", run.all());
    }
    let words = ["--name=w", "--filename=g.${FERRIO_RANK}", "--rw=write", "--bs=4k", "--size=8k"].map(str::to_owned);
    fleet(&scratch, "a,b", "").words(&words).finish().succeeded();
    assert!(scratch.join("g.0").exists() && scratch.join("g.1").exists());
    // One host alone has the variables of its environment, as fio has.
    Run::new(Program::Ferrio, scratch.path(), "run job.fio").env("FERRIO_RANK", "7").finish().succeeded();
    assert!(scratch.join("f.7.of...").exists());
}

/// Runs of a sweep and repeats are compared too.
#[test]
fn runs_of_a_sweep_share_as_a_fleet_does() {
    let scratch = scratch("fleet-sweep-shared");
    let hosts = format!("--hosts=a,b --rsh=./shell --remote-program={}", Program::Ferrio.path());
    let run = |arguments: &str| Run::new(Program::Ferrio, scratch.path(), arguments).finish();
    let refused = run(&format!("sweep {hosts} --folder=one --over bs=4k,8k {}", WRITES.replace("--bs=4k ", "")));
    assert!(refused.code != Some(0) && refused.all().contains("would all write to"), "{}", refused.all());
    assert!(!scratch.join("data").exists());
    let parts = run(&format!("run {hosts} --partition --json --repeat=2 {WRITES}")).succeeded();
    assert_eq!(document(&parts)["points"][0]["n_runs"].as_u64(), Some(2), "{}", parts.stdout);
    let unused = run(&format!("sweep --partition --over iodepth=1,2 {WRITES}"));
    assert!(unused.stderr.contains("--partition has no effect without hosts"), "{}", unused.all());
}

//! `--client` and `--server`: the cases of fio's users, beside the peer. What strangers get is in `server_strangers`.
//!
//! Start reading at [`Server::start`].

use crate::engines_net::free_port;
use crate::support::{Finished, Program, Run, Running, Scratch, has_peer, send};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::Duration;

const GLOBAL: &str = "[global]\nioengine=null\nfilesize=1T\ntime_based\nruntime=1\n";

/// A run with settings of its own test.
pub(crate) fn run_of(scratch: &Scratch, program: Program, arguments: &str) -> Run {
    Run::new(program, scratch.path(), arguments).env("XDG_CONFIG_HOME", &scratch.join("config").display().to_string())
}

pub(crate) fn run(scratch: &Scratch, arguments: &str) -> Run {
    run_of(scratch, Program::Ferrio, arguments)
}

/// A server that ends with the test.
pub(crate) struct Server(Option<Running>);

impl Server {
    /// A server at a local socket of this name, or at a port.
    pub(crate) fn start(scratch: &Scratch, place: &str, options: &str) -> Self {
        let address = if place.starts_with(',') { place.to_owned() } else { format!("sock:{place}") };
        let mut running = run(scratch, &format!("--server={address} {options}")).start();
        let path = scratch.join(place);
        running.wait_until("a server", |_| match place.strip_prefix(',') {
            Some(port) => is_listened_to(port.parse().expect("a port")),
            None => path.exists(),
        });
        Self(Some(running))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.as_ref().expect("a server").pid()
    }

    /// Ends it; returns what it has said.
    pub(crate) fn end(mut self) -> Finished {
        let running = self.0.take().expect("a server");
        send(running.pid(), Signal::TERM);
        running.finish()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(running) = self.0.take() {
            send(running.pid(), Signal::TERM);
            running.finish();
        }
    }
}

/// Waits for up to 20 seconds.
pub(crate) fn comes_true(is_so: impl Fn() -> bool) -> bool {
    (0..400).any(|_| {
        let is_true = is_so();
        if !is_true {
            std::thread::sleep(Duration::from_millis(50));
        }
        is_true
    })
}

/// True if a process listens on a port of IPv4.
fn is_listened_to(port: u16) -> bool {
    let table = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    table.lines().any(|line| line.contains(&format!(":{port:04X} ")) && line.contains(" 0A "))
}

fn silent(finished: &Finished) {
    assert!(finished.stdout.is_empty() && finished.stderr.is_empty(), "{}", finished.all());
}

fn document(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {}", finished.all()))
}

fn names(document: &Value) -> Vec<&str> {
    document["client_stats"].as_array().expect("jobs").iter().filter_map(|job| job["jobname"].as_str()).collect()
}

fn without(mut options: Value, keys: &[&str]) -> Value {
    let members = options.as_object_mut().expect("options");
    for key in keys {
        members.remove(*key);
    }
    options
}

/// Servers in the background answer at once, and remove their files when they end. Global options are an object of one client, a list of several.
#[test]
fn servers_in_the_background_serve_one_client_and_several() {
    let scratch = Scratch::new("client-background");
    let ports = [free_port(), free_port()];
    for port in ports {
        let arguments = format!("--server=,{port} --daemonize=pid.{port}");
        silent(&run(&scratch, &arguments).finish().succeeded());
    }
    scratch.write("global.fio", format!("{GLOBAL}[test1]\nrw=read\n[test2]\nrw=read\niodepth=4\n"));
    scratch.write("plain.fio", "[test]\nioengine=null\nsize=1M\niodepth=2\n");
    let options = serde_json::json!({ "ioengine": "null", "filesize": "1T", "time_based": "", "runtime": "1" });
    let one = |port: u16, job: &str| {
        let arguments = format!("--output=out --output-format=json --client=,{port} {job}");
        silent(&run(&scratch, &arguments).finish().succeeded());
        serde_json::from_str::<Value>(&scratch.read("out")).expect("JSON")
    };
    let with = one(ports[0], "global.fio");
    assert_eq!(with["global options"], options);
    assert_eq!(names(&with), ["test1", "test2", "All clients"]);
    assert!(with.get("jobs").is_none() && with.get("timestamp_ms").is_none(), "{with}");
    let job = &with["client_stats"][0];
    assert_eq!((job["hostname"].as_str(), job["port"].as_u64()), (Some(""), Some(u64::from(ports[0]))));
    assert!(job.get("eta").is_none() && job.get("elapsed").is_none(), "{job}");
    assert_eq!(one(ports[1], "plain.fio")["global options"], serde_json::json!({}));
    let both = run(
        &scratch,
        &format!(
            "--output-format=json --client=,{} global.fio --client=127.0.0.1,{} plain.fio --client=,{} global.fio",
            ports[0], ports[1], ports[1]
        ),
    );
    let both = document(&both.finish().succeeded());
    let lists: Vec<Value> = both["global options"].as_array().expect("a list").clone();
    assert_eq!(lists.len(), 2, "{both}");
    for (list, port) in lists.into_iter().zip(ports) {
        assert_eq!((list["hostname"].as_str(), list["port"].as_u64()), (Some(""), Some(u64::from(port))));
        assert_eq!(without(list, &["hostname", "port"]), options);
    }
    for port in ports {
        let name = format!("pid.{port}");
        let pid: u32 = scratch.read(&name).trim().parse().expect("a process");
        send(pid, Signal::TERM);
        assert!(comes_true(|| !scratch.join(&name).exists()), "{name} stays");
    }
}

/// Percentiles of the sum are where the jobs have them.
#[test]
fn the_sum_of_clients_has_the_figures_of_its_jobs() {
    let scratch = Scratch::new("client-sum");
    let server = Server::start(&scratch, "s", "");
    for (options, expected) in [
        ("", [false, true, false]),
        ("slat_percentiles=1\n", [true, true, false]),
        ("lat_percentiles=1\n", [false, true, true]),
        ("clat_percentiles=0\n", [false, false, false]),
    ] {
        scratch.write("job.fio", format!("[test]\nioengine=sim\nsim_time=virtual\nsize=1M\niodepth=2\n{options}"));
        let arguments = "--output-format=json --client=sock:s job.fio --client=sock:s job.fio";
        let all = document(&run(&scratch, arguments).finish().succeeded());
        assert_eq!(names(&all), ["test", "test", "All clients"]);
        let [one, other, sum] = [0, 1, 2].map(|index| &all["client_stats"][index]["read"]);
        let has = ["slat_ns", "clat_ns", "lat_ns"].map(|kind| sum[kind].get("percentile").is_some());
        assert_eq!(has, expected, "{options}");
        for key in ["io_bytes", "total_ios"] {
            let [one, other, sum] = [one, other, sum].map(|figures| figures[key].as_u64().expect("a figure"));
            assert_eq!(sum, one + other, "{key}: {all}");
        }
        assert_eq!(sum["clat_ns"]["N"].as_u64(), Some(512));
        assert_eq!(sum["clat_ns"].get("percentile"), one["clat_ns"].get("percentile"), "each draws the same I/Os");
    }
    drop(server);
}

/// A text with its numbers and dates as `#`, and without the lines that differ from run to run.
fn shape(text: &str, version: &str) -> Vec<String> {
    let skipped = ["lat (", "cpu ", "latency   :", "     |", "pid="];
    let lines = text.lines().filter(|line| !skipped.iter().any(|part| line.contains(part) && *part != "pid="));
    let mut shapes: Vec<String> = lines
        .map(|line| {
            let line = line.replace(version, "V").replace(", flags=1", "");
            // fio adds this to writes of clients that are on no zones.
            let line = line.replace("; 0 zone resets", "");
            let line = line.split(": pid=").next().unwrap_or_default();
            let digits = line.chars().map(|letter| if letter.is_ascii_digit() { '#' } else { letter });
            let mut shape: String = digits.collect();
            while shape.contains("##") {
                shape = shape.replace("##", "#");
            }
            // Units depend on the speed of the machine.
            for unit in ["k", "M", "G"] {
                shape = shape.replace(&format!("#{unit}"), "#");
            }
            // High rates have no room for the end of their unit.
            let shape = shape.replace("#iB/s (#B/s)", "#i (#)");
            shape.replace("#.#", "#").split_whitespace().collect::<Vec<_>>().join(" ")
        })
        .collect();
    // Lines before the reports come in any order, and so do the reports of several servers.
    let n_first = shapes.iter().position(|line| line.contains("groupid")).unwrap_or(shapes.len());
    let has_several = text.matches("hostname=").count() > 1;
    let n_sorted = if has_several { shapes.len() } else { n_first };
    shapes[..n_sorted].sort();
    if has_several {
        // fio shows the sum of all clients once or more, by the order in which their reports come.
        shapes.dedup();
    }
    shapes
}

/// The text of a client is that of the peer's.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn texts_of_clients_are_those_of_the_peer() {
    if !has_peer("texts_of_clients_are_those_of_the_peer") {
        return;
    }
    let scratch = Scratch::new("client-texts");
    scratch.write("a.fio", "[global]\nioengine=null\nsize=1M\n[one]\nrw=read\n[two]\nrw=write\nstonewall\n");
    scratch.write("b.fio", "[b]\nioengine=null\nsize=1M\nrw=randread\nnumjobs=2\ngroup_reporting\n");
    let port = free_port();
    let texts = [Program::Peer, Program::Ferrio].map(|program| {
        let pid_file = format!("pid.{}", program.path().replace('/', "."));
        run_of(&scratch, program, &format!("--server=,{port} --daemonize={pid_file}")).finish().succeeded();
        let path = scratch.join(&pid_file);
        let pid = || fs::read_to_string(&path).ok().and_then(|text| text.trim().parse::<u32>().ok());
        assert!(comes_true(|| pid().is_some() && is_listened_to(port)), "{program:?} does not serve");
        let version = run_of(&scratch, program, "--version").finish().succeeded().stdout.trim().to_owned();
        let texts = ["a.fio", "b.fio", "a.fio --client=127.0.0.1,PORT b.fio", "nosuch.fio", ""].map(|jobs| {
            let jobs = jobs.replace("PORT", &port.to_string());
            let finished = run_of(&scratch, program, &format!("--eta=never --client=127.0.0.1,{port} {jobs}")).finish();
            (finished.code, shape(&finished.stdout, &version))
        });
        send(pid().expect("a process"), Signal::TERM);
        assert!(comes_true(|| !is_listened_to(port)), "{program:?} goes on");
        texts
    });
    let [peer, own] = texts;
    for (peer, own) in peer.into_iter().zip(own) {
        assert_eq!(peer, own);
    }
}

/// A client that cannot reach a server says so, and goes on with the others.
#[test]
fn servers_that_are_not_there_are_named() {
    let scratch = Scratch::new("client-absent");
    let _server = Server::start(&scratch, "s", "");
    scratch.write("job.fio", "[x]\nioengine=null\nsize=64k\n");
    let port = free_port();
    let alone = run(&scratch, &format!("--client=127.0.0.1,{port} job.fio")).finish();
    let lines = format!("fio: connect: Connection refused\nfio: failed to connect to 127.0.0.1:{port}\n");
    assert_eq!((alone.code, alone.stderr.as_str()), (Some(1), lines.as_str()), "{}", alone.all());
    let both = run(&scratch, &format!("--client=,{port} job.fio --client=sock:s job.fio")).finish();
    assert_eq!(both.code, Some(0), "{}", both.all());
    assert!(both.stderr.contains(&format!("failed to connect to (null):{port}")), "{}", both.all());
    assert!(both.stdout.contains("x: (groupid=0, jobs=1)") && !both.stdout.contains("All clients"), "{}", both.all());
    scratch.write("hosts", "sock:s\nsock:s\n");
    let list = run(&scratch, "--client=hosts job.fio").finish().succeeded();
    assert!(list.stdout.contains("All clients: (groupid=0, jobs=2)"), "{}", list.all());
}

/// A server with this policy, below whose directory `home` its clients may read and write.
fn start_with_policy(scratch: &Scratch, name: &str, policy: &str) -> Server {
    scratch.write(&format!("{name}.toml"), policy);
    let path = scratch.join(name).display().to_string();
    let options = format!("--server=sock:{path} --server-policy=../{name}.toml");
    let server = Run::new(Program::Ferrio, &scratch.join("home"), &options);
    let server = server.env("XDG_CONFIG_HOME", &scratch.join("config").display().to_string());
    let mut running = server.start();
    running.wait_until("a server", |_| scratch.join(name).exists());
    Server(Some(running))
}

/// What the policy of a server does not allow is named, and nothing of it happens.
#[test]
fn the_policy_of_a_server_holds() {
    let scratch = Scratch::new("client-policy");
    let outside = Scratch::new("client-policy-outside");
    fs::create_dir(scratch.join("home")).expect("a directory");
    let elsewhere = outside.path().display().to_string();
    std::os::unix::fs::symlink(outside.path(), scratch.join("home/link")).expect("a link");
    let start = |name: &str, policy: &str| start_with_policy(&scratch, name, policy);
    let _servers = [
        start("strict", ""),
        start("open", &format!("programs = true\nlibraries = true\nsettings = true\ndirectories = ['{elsewhere}']\n")),
    ];
    let made = |name: &str| outside.join(name).exists();
    let cases = [
        ("exec_prerun=touch ELSEWHERE/ran", "programs = true"),
        ("exec_postrun=touch ELSEWHERE/ran", "programs = true"),
        ("ioengine=exec\nprogram=/bin/touch\narguments=ELSEWHERE/ran", "programs = true"),
        ("ioengine=./evil.so", "libraries = true"),
        ("ioengine=external:/tmp/evil.so", "libraries = true"),
        ("filename=ELSEWHERE/ran\nrw=write", "directories, devices"),
        ("filename=../ran\nrw=write", "directories, devices"),
        ("filename=../strict.toml\nrw=read", "directories, devices"),
        ("directory=ELSEWHERE\nrw=write", "permission denied"),
        ("filename=link/ran\nrw=write", "directories, devices"),
        ("filename=/dev/vda\nrw=read", "directories, devices"),
        ("opendir=/etc\nrw=read", "permission denied"),
        ("read_iolog=/etc/passwd", "directories, devices"),
        ("write_iolog=ELSEWHERE/ran\nioengine=null", "directories, devices"),
        ("ioscheduler=none\nrw=write", "settings = true"),
        ("write_iolog=link/ran\nioengine=null", "directories, devices"),
        ("cgroup=ran\nrw=write", "settings = true"),
        ("ioengine=null\nnumjobs=2000", "most_jobs"),
    ];
    for (options, expected) in cases {
        let options = options.replace("ELSEWHERE", &elsewhere);
        scratch.write("job.fio", format!("[x]\nsize=64k\n{options}\n"));
        let refused = run(&scratch, "--client=sock:strict job.fio").finish();
        assert_eq!(refused.code, Some(1), "{options}: {}", refused.all());
        assert!(refused.stdout.contains(expected), "{options}: {}", refused.all());
        assert!(!made("ran") && !scratch.join("ran").exists(), "{options}");
    }
    scratch.write("job.fio", "[x]\nioengine=null\nsize=64k\n");
    let trigger = format!("--trigger-timeout=1 --trigger-remote='touch {elsewhere}/ran'");
    let refused = run(&scratch, "--client=sock:strict job.fio").words(&words(&trigger)).finish();
    assert!(refused.code == Some(1) && refused.stdout.contains("programs = true"), "{}", refused.all());
    scratch.write(
        "job.fio",
        format!("[x]\nsize=64k\nrw=write\nfilename={elsewhere}/file\nexec_prerun=touch {elsewhere}/ran\n"),
    );
    run(&scratch, "--client=sock:open job.fio").finish().succeeded();
    assert!(made("ran") && made("file"));
    scratch.write("bad.toml", "program = true\n");
    let bad = run(&scratch, "--server=sock:bad --server-policy=bad.toml").finish();
    assert!(bad.code == Some(1) && bad.stderr.contains("bad.toml: unknown field `program`"), "{}", bad.all());
}

/// Nothing is written where the server or its client wants that, and buffers are in no file behind a link.
#[test]
fn servers_that_only_read_write_nothing() {
    let scratch = Scratch::new("client-reading");
    let outside = Scratch::new("client-reading-outside");
    fs::create_dir(scratch.join("home")).expect("a directory");
    std::os::unix::fs::symlink(outside.path(), scratch.join("home/link")).expect("a link");
    let start = |name: &str, policy: &str| start_with_policy(&scratch, name, policy);
    let _servers = [start("reading", "readonly = true\n"), start("open", "")];
    let read = "filename=there\nrw=read";
    scratch.write("home/there", vec![0; 65_536]);
    for (client, options, is_allowed) in [
        ("--client=sock:reading", read, true),
        ("--client=sock:reading", "filename=there\nrw=write", false),
        // Logs are written by the client.
        ("--client=sock:reading", "filename=there\nrw=read\nwrite_bw_log=log", true),
        ("--client=sock:reading", "filename=there\nrw=read\nwrite_iolog=log", false),
        ("--client=sock:reading", "filename=there\nioengine=filedelete", false),
        ("--readonly --client=sock:open", read, true),
        ("--readonly --client=sock:open", "filename=there\nrw=write", false),
        ("--client=sock:open --readonly", "filename=there\nrw=write", false),
        ("--client=sock:open", "filename=there\nrw=read\nmem=mmap:own", true),
        ("--client=sock:open", "filename=there\nrw=read\nmem=mmap:link/ran3", false),
    ] {
        scratch.write("job.fio", format!("[x]\nsize=64k\n{options}\n"));
        let finished = run(&scratch, &format!("{client} job.fio")).finish();
        assert_eq!(finished.code == Some(0), is_allowed, "{client} {options}: {}", finished.all());
        assert!(fs::read(scratch.join("home/there")).is_ok_and(|bytes| bytes == vec![0; 65_536]), "{client} {options}");
    }
    assert!(!outside.join("ran3").exists() && scratch.join("log_bw.1.log.reading").exists());
    let home: Vec<_> = fs::read_dir(scratch.join("home")).expect("the directory").flatten().collect();
    assert!(
        home.iter().all(|entry| ["there", "link", "own"].iter().any(|name| entry.file_name() == *name)),
        "{home:?}"
    );
}

fn words(text: &str) -> Vec<String> {
    text.split(" --").map(|word| format!("--{}", word.trim_start_matches("--").replace('\'', ""))).collect()
}

/// The command of `--trigger-remote` is run by a server that allows programs, and the jobs end.
#[test]
fn a_trigger_ends_the_jobs_of_all_servers() {
    let scratch = Scratch::new("client-trigger");
    scratch.write("policy.toml", "programs = true\n");
    let _servers = ["a", "b"].map(|name| Server::start(&scratch, name, "--server-policy=policy.toml"));
    scratch.write("job.fio", "[x]\nioengine=null\nsize=1g\ntime_based\nruntime=100\nrate_iops=100\n");
    let arguments = "--output-format=json --client=sock:a job.fio --client=sock:b job.fio --trigger-file=now";
    let remote = ["--trigger-remote=echo >> fired".to_owned(), "--trigger=echo here > fired-here".to_owned()];
    let mut running = run(&scratch, arguments).words(&remote).start();
    std::thread::sleep(Duration::from_secs(1));
    scratch.write("now", "");
    running.wait_until("the trigger", |_| !scratch.join("now").exists());
    let all = document(&running.finish().succeeded());
    assert_eq!(names(&all), ["x", "x", "All clients"]);
    assert_eq!((scratch.read("fired").as_str(), scratch.read("fired-here").as_str()), ("\n\n", "here\n"));
}

/// The process that serves a client.
fn served_processes(server: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").expect("processes").flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1).map(str::to_owned))
            == Some(server.to_string())
    };
    pids.filter(is_child).collect()
}

/// A server whose process for a client dies is named; the figures of the others are whole. When a server ends, its jobs do.
#[test]
fn a_server_that_dies_is_named() {
    let scratch = Scratch::new("client-dies");
    let servers = ["a", "b"].map(|name| Server::start(&scratch, name, ""));
    scratch.write("job.fio", "[x]\nioengine=null\nsize=1g\ntime_based\nruntime=3\nrate_iops=100\n");
    let job = "--output-format=json --client=sock:a job.fio --client=sock:b job.fio";
    let mut running = run(&scratch, job).start();
    let first = servers[0].pid();
    running.wait_until("a process for the client", |_| served_processes(first).len() == 1);
    std::thread::sleep(Duration::from_millis(500));
    send(served_processes(first)[0], Signal::KILL);
    let finished = running.finish();
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(finished.stderr.contains("disconnected"), "{}", finished.all());
    let all = document(&finished);
    let whole = all["client_stats"].as_array().expect("jobs").iter().find(|job| job["hostname"] == "b");
    assert!(whole.and_then(|job| job["read"]["total_ios"].as_u64()) >= Some(290), "{all}");

    let mut running = run(&scratch, "--client=sock:a job.fio").start();
    running.wait_until("a process for the client", |_| served_processes(first).len() == 1);
    let [server, _other] = servers;
    let log = server.end();
    assert_eq!(running.finish().code, Some(1));
    assert!(log.stdout.contains("fio: server listening on ") && !scratch.join("a").exists(), "{}", log.all());
}

/// fio's own clients and servers get a clear line.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn the_protocol_of_the_peer_is_not_spoken() {
    if !has_peer("the_protocol_of_the_peer_is_not_spoken") {
        return;
    }
    let scratch = Scratch::new("client-peer");
    scratch.write("job.fio", "[x]\nioengine=null\nsize=64k\n");
    let port = free_port();
    let server = Server::start(&scratch, &format!(",{port}"), "");
    let peer = run_of(&scratch, Program::Peer, &format!("--client=127.0.0.1,{port} job.fio")).finish();
    assert_eq!(peer.code, Some(1), "{}", peer.all());
    let log = server.end();
    assert!(log.stderr.contains("fio's own protocol is not spoken"), "{}", log.all());
    let mut running = run_of(&scratch, Program::Peer, &format!("--server=127.0.0.1,{port}")).start();
    running.wait_until("a server", |_| is_listened_to(port));
    let own = run(&scratch, &format!("--client=127.0.0.1,{port} job.fio")).finish();
    assert!(own.code == Some(1) && own.stderr.contains("no ferrio server answers there"), "{}", own.all());
    send(running.pid(), Signal::TERM);
    running.finish();
}

/// Contradictions on the command line are refused before anything is done.
#[test]
fn options_that_do_not_go_together_are_refused() {
    let scratch = Scratch::new("client-bad");
    scratch.write("job.fio", "[x]\nioengine=null\nsize=64k\n");
    for (arguments, expected) in [
        ("--server --client=x", "can't be both client and server"),
        ("--server job.fio", "a server has no jobs of its own"),
        ("--server=,99999", "bad server port 99999"),
        ("--server=sock:", "a local socket has a path"),
        ("--client=x", "needs a job file"),
        ("--client=x --name=j --ioengine=null --size=4k", "jobs are those of the job files behind each client"),
        ("job.fio --client=x job.fio", "jobs are those of the job files behind each client"),
        ("--client=x nosuch.fio", "job file <nosuch.fio> open: No such file or directory"),
        ("--client=,0 job.fio", "bad server port 0"),
        ("--daemonize=p --name=j --ioengine=null --size=4k", "--daemonize needs --server"),
        ("--trigger-remote=x --name=j --ioengine=null --size=4k", "--trigger-remote needs --client"),
        ("--client=x job.fio --bandwidth-log", "--bandwidth-log is not built with --client"),
        ("--client=x job.fio --status-interval=1 --output-format=json", "--status-interval with --client writes text"),
        ("--parse-only --client=x job.fio", "--parse-only in front of --client"),
        ("--section=x --client=x job.fio", "--section in front of --client"),
        ("--server --server-policy=nosuch.toml", "nosuch.toml: No such file or directory"),
    ] {
        let refused = run(&scratch, arguments).finish();
        assert_eq!(refused.code, Some(1), "{arguments}: {}", refused.all());
        assert!(refused.stderr.contains(expected), "{arguments}: {}", refused.all());
    }
    let key = scratch.join("config/ferrio/server.key");
    assert!(!Path::new(&key).exists() || fs::metadata(&key).is_ok_and(|about| about.len() == 65));
}

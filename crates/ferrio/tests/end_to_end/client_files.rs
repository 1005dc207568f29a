//! What `--client` writes beside its reports: logs of servers, reports during the run, records; and names of files on servers.
//!
//! Start reading at [`logs_of_servers_come_to_the_client`].

use crate::client_server::{Server, run, run_of};
use crate::engines_net::free_port;
use crate::support::{Finished, Program, Run, Scratch, has_peer, send};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A server in a directory of its own, so that what it writes is told from what its client writes.
fn server_in(scratch: &Scratch, directory: &str, port: u16, program: Program) -> u32 {
    let place = scratch.join(directory);
    fs::create_dir_all(&place).expect("a directory");
    let arguments = format!("--server=127.0.0.1,{port} --daemonize={}", scratch.join("pid").display());
    let server = Run::new(program, &place, &arguments).env("XDG_CONFIG_HOME", &config(scratch));
    server.finish().succeeded();
    // fio returns before the file is written and before it listens.
    let pid = || fs::read_to_string(scratch.join("pid")).ok().and_then(|text| text.trim().parse().ok());
    for _ in 0..400 {
        if let Some(pid) = pid().filter(|_| std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()) {
            fs::remove_file(scratch.join("pid")).expect("the file");
            return pid;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("no server")
}

fn config(scratch: &Scratch) -> String {
    scratch.join("config").display().to_string()
}

/// The files below a directory by their paths in it.
fn files_below(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).expect("a directory").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).expect("a file below it").display().to_string();
                files.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    files
}

const LOGGING: &str = "[global]\nioengine=psync\nsize=64k\n\
    [one]\nwrite_bw_log=aa\nwrite_lat_log=aa\nwrite_iops_log=aa\nnumjobs=2\nioengine=null\n\
    [two]\nrw=write\ndirectory=d\nnrfiles=2\nwrite_hist_log=hh\nlog_hist_msec=100000\n\
    [three]\nrw=write\nwrite_lat_log\n\
    [four]\nrw=write\ndirectory=d\nunique_filename=0\nwrite_bw_log=logs/deep\n\
    [five]\nrw=write\nfilename_format=x.$clientuid.$jobname\nwrite_bw_log=packed\nlog_compression=4k\nlog_store_compressed=1\n\
    [six]\nrw=write\ndirectory=d\nfilename=sub/given\nwrite_iops_log=shared\nper_job_logs=0\n";

/// The form of a log's rows: each with as many columns, and how many there are.
fn form(text: &str) -> (usize, Vec<usize>) {
    let mut columns: Vec<usize> = text.lines().map(|line| line.split(", ").count()).collect();
    let n_rows = columns.len();
    columns.dedup();
    (n_rows, columns)
}

/// Names of logs at the client and of files on the server are those of the peer, and so is the form of the logs.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn files_of_clients_and_servers_are_those_of_the_peer() {
    if !has_peer("files_of_clients_and_servers_are_those_of_the_peer") {
        return;
    }
    let written = [Program::Peer, Program::Ferrio].map(|program| {
        let scratch = Scratch::new("client-files");
        let port = free_port();
        fs::create_dir_all(scratch.join("server/d")).expect("a directory");
        fs::create_dir_all(scratch.join("client/logs")).expect("a directory");
        let pid = server_in(&scratch, "server", port, program);
        scratch.write("client/job.fio", LOGGING);
        let client = Run::new(program, &scratch.join("client"), &format!("--client=127.0.0.1,{port} job.fio"));
        client.env("XDG_CONFIG_HOME", &config(&scratch)).finish().succeeded();
        send(pid, Signal::TERM);
        let lengths = files_below(&scratch.join("server")).into_iter().map(|(name, bytes)| (name, bytes.len()));
        let logs = files_below(&scratch.join("client"));
        let packed = Run::new(program, &scratch.join("client"), "--inflate-log=packed_bw.6.log.fz.127.0.0.1");
        let packed = form(&packed.finish().succeeded().stdout);
        let logs: BTreeMap<String, _> = logs
            .into_iter()
            .map(|(name, text)| {
                if name.contains(".fz.") {
                    (name, packed.clone())
                } else {
                    (name, form(&String::from_utf8_lossy(&text)))
                }
            })
            .collect();
        // ferrio has a row for the I/Os after the last whole interval.
        let logs = logs
            .into_iter()
            .map(|(name, form)| if name.starts_with("hh_") { (name, (0, vec![])) } else { (name, form) });
        (lengths.collect::<BTreeMap<_, _>>(), logs.collect::<BTreeMap<_, _>>())
    });
    let [peer, own] = written;
    assert_eq!(peer.0, own.0, "files of the servers");
    assert_eq!(peer.1, own.1, "logs of the clients");
    assert!(own.1.contains_key("logs/deep_bw.5.log.127.0.0.1"), "{:?}", own.1.keys());
}

fn n_lines(scratch: &Scratch, name: &str) -> usize {
    scratch.read(name).lines().count()
}

/// Logs of several servers stand beside each other, a row for each I/O; the servers write nothing.
#[test]
fn logs_of_servers_come_to_the_client() {
    let scratch = Scratch::new("client-logs");
    for directory in ["home", "there"] {
        fs::create_dir(scratch.join(directory)).expect("a directory");
    }
    let path = scratch.join("s").display().to_string();
    let settings = Run::new(Program::Ferrio, &scratch.join("home"), &format!("--server=sock:{path}"));
    let mut server = settings.env("XDG_CONFIG_HOME", &config(&scratch)).start();
    server.wait_until("a server", |_| scratch.join("s").exists());
    scratch.write(
        "job.fio",
        "[j]\nioengine=null\nsize=40m\nbs=4k\nwrite_lat_log=there/l\nwrite_bw_log\n\
         [climbing]\nwrite_iops_log=../home/c\nioengine=null\nsize=64k\n",
    );
    let client = run(&scratch, "--client=sock:s job.fio --client=sock:s job.fio").words(&["--output=out".to_owned()]);
    let finished = client.finish();
    assert_eq!(finished.code, Some(1), "the directory is not there: {}", finished.all());
    // Each client has its own logs, of 10,240 I/Os.
    for suffix in ["s", "s.2"] {
        for log in ["there/l_clat.1.log", "there/l_lat.1.log", "j_bw.1.log"] {
            assert_eq!(n_lines(&scratch, &format!("{log}.{suffix}")), 10_240, "{log}.{suffix}");
        }
        let line = format!("cannot open log ../home/c_iops.2.log.{suffix}");
        assert!(finished.stderr.contains(&line), "{}", finished.all());
    }
    assert!(files_below(&scratch.join("home")).is_empty());
    send(server.pid(), Signal::TERM);
    server.finish();
}

/// A log of a server on the network has the host's name, with the port where a host has several servers; the job file is never a log.
#[test]
fn logs_of_servers_of_one_host_have_their_ports() {
    let scratch = Scratch::new("client-log-ports");
    let ports = [free_port(), free_port()];
    let _servers = ports.map(|port| Server::start(&scratch, &format!(",{port}"), ""));
    scratch.write("job.fio", "[j]\nioengine=null\nsize=64k\nwrite_bw_log=b\n");
    let [one, other] = ports;
    run(&scratch, &format!("--client=,{one} job.fio --client=127.0.0.1,{other} job.fio")).finish().succeeded();
    run(&scratch, &format!("--client=,{one} job.fio --client=,{other} job.fio")).finish().succeeded();
    for suffix in ["localhost".to_owned(), "127.0.0.1".to_owned()]
        .into_iter()
        .chain(ports.map(|port| format!("localhost,{port}")))
    {
        assert_eq!(n_lines(&scratch, &format!("b_bw.1.log.{suffix}")), 16, "{suffix}");
    }
    scratch.write("b_bw.1.log.localhost", "[j]\nioengine=null\nsize=64k\nwrite_bw_log=b\n");
    let kept = run(&scratch, &format!("--client=,{one} b_bw.1.log.localhost")).finish();
    assert!(kept.code == Some(1) && kept.stderr.contains("cannot open log b_bw.1.log.localhost"), "{}", kept.all());
    assert!(scratch.read("b_bw.1.log.localhost").starts_with("[j]"), "{}", kept.all());
}

fn reports(finished: &Finished, job: &str) -> usize {
    finished.stdout.lines().filter(|line| line.starts_with(&format!("{job}: (groupid=0"))).count()
}

/// `--status-interval` behind a client is its server's, as in fio; in front of all clients it is that of all servers. The line of progress has
/// the jobs of all servers.
#[test]
fn servers_report_while_they_run() {
    let scratch = Scratch::new("client-status");
    let _server = Server::start(&scratch, "s", "");
    scratch.write("slow.fio", "[x]\nioengine=null\nsize=1g\ntime_based\nruntime=2\nrate_iops=1000\n");
    scratch.write("other.fio", "[y]\nioengine=null\nsize=1g\ntime_based\nruntime=2\nrate_iops=1000\n");
    let behind = run(&scratch, "--client=sock:s --status-interval=500ms slow.fio --client=sock:s other.fio").finish();
    let behind = behind.succeeded();
    assert!(reports(&behind, "x") >= 3 && reports(&behind, "y") == 1, "{}", behind.all());
    assert_eq!(behind.stdout.matches("All clients").count(), 1, "{}", behind.all());
    assert!(!behind.stdout.contains("Jobs: "), "no line without a terminal: {}", behind.all());
    let all =
        "--status-interval=500ms --eta=always --eta-interval=250ms --client=sock:s slow.fio --client=sock:s other.fio";
    let all = run(&scratch, all).finish().succeeded();
    assert!(reports(&all, "x") >= 3 && reports(&all, "y") >= 3, "{}", all.all());
    assert!(all.stdout.contains("Jobs: 2 (f=2), 0-2000 IOPS"), "{}", all.all());
}

/// The record of all servers is that of a run on many hosts.
#[test]
fn records_have_all_servers() {
    let scratch = Scratch::new("client-record");
    let _server = Server::start(&scratch, "s", "");
    scratch.write("job.fio", "[x]\nioengine=sim\nsim_time=virtual\nsize=4m\n");
    let both = "--record=r --output=out --client=sock:s job.fio --client=sock:s job.fio";
    run(&scratch, both).finish().succeeded();
    let report = run_of(&scratch, Program::Ferrio, "report --output-format=json r").finish().succeeded();
    let report: serde_json::Value = serde_json::from_str(&report.stdout).expect("JSON");
    assert_eq!(
        report["jobs"]
            .as_array()
            .expect("jobs")
            .iter()
            .filter_map(|job| job["read"]["total_ios"].as_u64())
            .sum::<u64>(),
        2 * 1_024,
        "{report}"
    );
    scratch.write("bad.fio", "[x]\nioengine=null\nsize=64k\nexec_prerun=true\n");
    let refused = run(&scratch, "--record=none --client=sock:s bad.fio").finish();
    assert!(refused.code == Some(1) && !scratch.join("none").exists(), "{}", refused.all());
}

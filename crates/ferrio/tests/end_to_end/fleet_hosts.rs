//! Fleets on hosts of their own: network namespaces with ssh, Slurm and MPI between them.
//!
//! Start reading at [`hosts_are_reached_by_ssh`].

use crate::counterparts::Counterpart;
use crate::support::{Finished, Program, Run, Scratch, has_programs};
use serde_json::Value;
use std::fs;
use std::process::Command;

const JOB: &str = "--name=r --ioengine=null --size=1g --rw=randread --rate_iops=1000 --time_based";

/// A run from the first host on all three.
fn by_ssh(hosts: &Counterpart, scratch: &Scratch, arguments: &str) -> Run {
    let program = Program::Ferrio.path();
    let options = format!("fleet --hosts=h1,h2,h3 --remote-program={program} {arguments}");
    let run = Run::new(Program::Ferrio, scratch.path(), &options).under(&format!("{} h1", hosts.setting("ON")));
    run.words(&[format!("--rsh={}", hosts.setting("SSH"))])
}

fn document(run: &Finished) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.all()))
}

fn names(document: &Value) -> Vec<&str> {
    let hosts = document["hosts"].as_array().expect("hosts");
    hosts.iter().filter_map(|host| host["provenance"]["host_name"].as_str()).collect()
}

#[test]
fn hosts_are_reached_by_ssh() {
    let Some(hosts) = Counterpart::start_with("hosts_are_reached_by_ssh", "hosts", &["3", "ssh"]) else { return };
    let scratch = Scratch::new("fleet-ssh");
    let run = by_ssh(&hosts, &scratch, &format!("--json --runtime=1 {JOB}")).finish().succeeded();
    assert_eq!(names(&document(&run)), ["h1", "h2", "h3"]);
}

/// Through a real sshd, hosts without ferrio get this one, into a cache that all of them share.
#[test]
fn hosts_get_ferrio_by_ssh() {
    let Some(hosts) = Counterpart::start_with("hosts_get_ferrio_by_ssh", "hosts", &["3", "ssh"]) else { return };
    let scratch = Scratch::new("fleet-ssh-push");
    let cache = scratch.join("cache");
    let rsh = format!("--rsh={} -o SetEnv=XDG_CACHE_HOME={}", hosts.setting("SSH"), cache.display());
    let options = format!("fleet --hosts=h1,h2,h3 --remote-program=no-ferrio --push --json --runtime=1 {JOB}");
    let run = Run::new(Program::Ferrio, scratch.path(), &options).under(&format!("{} h1", hosts.setting("ON")));
    let run = run.words(&[rsh]).finish().succeeded();
    assert_eq!(names(&document(&run)), ["h1", "h2", "h3"]);
    let copies = fs::read_dir(cache.join("ferrio")).expect("a cache").flatten();
    let files: Vec<usize> = copies.map(|copy| fs::read_dir(copy.path()).expect("a directory").count()).collect();
    assert_eq!(files, [1], "three hosts have copied it side by side");
}

/// Two machines, by what their kernels say, have mounted a directory of a third one: they know that it is one, and make a file in it part
/// behind part, although each has a cache of its own.
#[test]
fn hosts_share_a_file_system_of_a_server() {
    let test = "hosts_share_a_file_system_of_a_server";
    let sftp = "/usr/lib/openssh/sftp-server";
    if !has_programs(test, &["sshfs", sftp]) {
        return;
    }
    let Some(hosts) = Counterpart::start_with(test, "hosts", &["3", "ssh"]) else { return };
    let scratch = Scratch::in_temporary_directory("sh");
    fs::create_dir(scratch.join("export")).expect("a directory");
    let export = scratch.join("export").display().to_string();
    for host in ["h2", "h3"] {
        let boot = scratch.join(host).display().to_string();
        scratch.write(host, format!("{host}-a-b-c\n"));
        let config = hosts.directory.join("ssh_config").display().to_string();
        let mount = format!(
            "mount --bind {boot} /proc/sys/kernel/random/boot_id && mkdir -p /run/m && \
             sshfs -F {config} -o sftp_server={sftp} h1:{export} /run/m"
        );
        let done = Command::new(hosts.setting("ON")).args([host, "sh", "-c", &mount]).status().expect("a script");
        assert!(done.success(), "{mount}");
    }
    let run = |options: &str| {
        let program = Program::Ferrio.path();
        let job = "--name=j --directory=/run/m --bs=4k --size=256k --ioengine=psync";
        let options = format!("fleet --hosts=h2,h3 --remote-program={program} --json {job} {options}");
        let run = Run::new(Program::Ferrio, scratch.path(), &options).under(&format!("{} h1", hosts.setting("ON")));
        run.words(&[format!("--rsh={}", hosts.setting("SSH"))]).finish()
    };
    let refused = run("--filename=data --rw=write");
    assert!(refused.code == Some(2) && refused.stderr.contains("hosts h2, h3 would all write to"), "{}", refused.all());
    assert!(!scratch.join("export/data").exists());
    for (name, option) in [("parts", "--partition"), ("one", "")] {
        let done = run(&format!("{option} --filename={name} --rw=randread")).succeeded();
        let data = fs::read(scratch.join(&format!("export/{name}"))).expect("a file");
        assert_eq!(data.len(), 256 << 10, "{}", done.all());
        assert!(data.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)), "a block was not written");
    }
    run("--partition --filename=written --rw=write --buffer_pattern=0x55").succeeded();
    let data = fs::read(scratch.join("export/written")).expect("a file");
    assert!(data.len() == 256 << 10 && data.iter().all(|byte| *byte == 0x55));
}

/// The cable of a host is taken out: it is noticed on both sides.
#[test]
fn a_host_without_its_cable_is_lost() {
    let test = "a_host_without_its_cable_is_lost";
    let Some(hosts) = Counterpart::start_with(test, "hosts", &["3", "ssh"]) else { return };
    let scratch = Scratch::new("fleet-cable");
    let mut run = by_ssh(&hosts, &scratch, &format!("--json --on-lost-host=continue --runtime=9 {JOB}")).start();
    run.wait_until("a worker on the last host", |_| worker("--attend=2/3").is_some());
    std::thread::sleep(std::time::Duration::from_secs(3));
    let second = worker("--attend=1/3").expect("a worker");
    let cut = Command::new(hosts.directory.join("cut")).arg("h2").status().expect("a script");
    assert!(cut.success());
    run.wait_until("the end of the worker", |_| !fs::exists(format!("/proc/{second}")).unwrap_or(true));
    let run = run.finish();
    assert!(run.code == Some(1) && run.stderr.contains("host h2 is lost"), "{}", run.all());
    let document = document(&run);
    let partial: Vec<bool> =
        document["hosts"].as_array().expect("hosts").iter().map(|host| host["is_partial"] == true).collect();
    assert_eq!(partial, [false, true, false]);
    assert!(document["hosts"][2]["jobs"][0]["n_ios"].as_u64() >= Some(8_000), "{document}");
}

/// The process of a worker with this word.
fn worker(word: &str) -> Option<u32> {
    let of = |pid: u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        let is_it = words.first() == Some(&Program::Ferrio.path().as_bytes()) && words.contains(&word.as_bytes());
        is_it.then_some(pid)
    };
    let entries = fs::read_dir("/proc").ok()?.flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find_map(of)
}

#[test]
fn a_step_of_slurm_is_a_fleet() {
    let test = "a_step_of_slurm_is_a_fleet";
    let Some(hosts) = Counterpart::start_with(test, "hosts", &["3", "slurm"]) else { return };
    let scratch = Scratch::new("fleet-slurm");
    let on = format!("{} h1 srun -N3 -n3", hosts.setting("ON"));
    let run = Run::new(Program::Ferrio, scratch.path(), &format!("fleet --json --runtime=1 {JOB}")).under(&on);
    let run = run.env("SLURM_CONF", hosts.setting("SLURM_CONF")).finish().succeeded();
    assert_eq!(names(&document(&run)), ["h1", "h2", "h3"]);
}

#[test]
fn ranks_of_mpi_are_a_fleet() {
    let test = "ranks_of_mpi_are_a_fleet";
    if !has_programs(test, &["mpirun"]) {
        return;
    }
    let Some(hosts) = Counterpart::start_with(test, "hosts", &["3", "ssh"]) else { return };
    let scratch = Scratch::new("fleet-mpi");
    let run = Run::new(Program::Ferrio, scratch.path(), &format!("fleet --json --runtime=1 {JOB}"));
    let of_mpi = "--allow-run-as-root --mca plm_rsh_agent";
    let rest = "--mca oob_tcp_if_include eth0 --host h1,h2,h3 -n 3";
    let run = run.under(&format!("{} h1 mpirun {of_mpi}", hosts.setting("ON")));
    let run = run
        .under_words(&[hosts.setting("SSH").to_owned()])
        .under_words(&rest.split(' ').map(str::to_owned).collect::<Vec<_>>());
    let run = run.finish().succeeded();
    assert_eq!(names(&document(&run)), ["h1", "h2", "h3"]);
}

//! Every JSON document contains the provenance of its figures, and it agrees with the machine.

use crate::json_stream::documents;
use crate::support::{LoopDevice, Program, Run, Scratch, skip};
use serde_json::Value;
use std::fs::read_to_string;

/// The provenance of every document of a run.
fn provenance(scratch: &Scratch, arguments: &str) -> Vec<Value> {
    let finished = Run::new(Program::Ferrio, scratch.path(), arguments).finish().succeeded();
    let what = finished.all();
    let all = documents(&finished.stdout, &what);
    all.into_iter()
        .map(|document| {
            let last = document.as_object().and_then(|keys| keys.keys().next_back().cloned());
            assert_eq!(last.as_deref(), Some("ferrio"), "{what}");
            assert!(document["ferrio"]["version"].is_string());
            document["ferrio"]["provenance"].clone()
        })
        .collect()
}

#[test]
fn machine_and_command_line() {
    let scratch = Scratch::new("provenance-machine");
    let arguments = "--name=a --ioengine=null --size=64k --output-format=json+";
    let [found] = &provenance(&scratch, arguments)[..] else { panic!("one document") };
    let file = |path: &str| read_to_string(path).unwrap_or_default().trim().to_owned();
    assert_eq!(found["kernel_release"], file("/proc/sys/kernel/osrelease"));
    assert_eq!(found["architecture"], std::env::consts::ARCH);
    let clock = file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    assert_eq!(found["clock"]["kernel_source"].as_str().unwrap_or_default(), clock);
    let status = file("/proc/self/status");
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a line of status");
    assert_eq!(found["cpu"]["allowed"], allowed.trim());
    let words: Vec<&str> = found["command_line"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(words[1..].join(" "), arguments);
    // The null engine has no files.
    assert_eq!((&found["devices"], &found["file_systems"]), (&Value::from(vec![0; 0]), &Value::from(vec![0; 0])));
}

#[test]
fn options_in_force_of_every_job_clones_once() {
    let scratch = Scratch::new("provenance-jobs");
    let arguments = "--output-format=json --ioengine=null --size=64k --group_reporting \
                     --name=a --numjobs=3 --bs=8k --name=b --stonewall --iodepth=4";
    let [found] = &provenance(&scratch, arguments)[..] else { panic!("one document") };
    let figure = |job: &Value, key: &str| job[key].as_u64().expect("a number");
    let jobs = found["jobs"].as_array().expect("a list");
    let outline: Vec<_> =
        jobs.iter().map(|job| ["group", "first_number", "n_clones"].map(|key| figure(job, key))).collect();
    assert_eq!(outline, [[0, 1, 3], [1, 4, 1]]);
    let options = |index: usize| &jobs[index]["options"];
    // Given and by default.
    assert_eq!(options(0)["pattern"]["block_size"][0]["max_bytes"], 8192);
    assert_eq!(options(1)["pattern"]["block_size"][0]["max_bytes"], 4096);
    assert_eq!((&options(0)["queue"]["iodepth"], &options(1)["queue"]["iodepth"]), (&Value::from(1), &Value::from(4)));
}

/// Job file of groups that differ in name and direction.
fn many_groups(n_groups: usize) -> String {
    let rw = ["read", "write", "randread", "randrw"];
    let group = |index: usize| format!("[j{index}]\nrw={}\nstonewall\n", rw[index % rw.len()]);
    "[global]\nioengine=null\nsize=64k\n".to_owned() + &(0..n_groups).map(group).collect::<String>()
}

#[test]
fn what_many_groups_have_in_common_is_said_once() {
    let scratch = Scratch::new("provenance-groups");
    scratch.write("jobs", many_groups(50));
    let document =
        |program: Program| Run::new(program, scratch.path(), "--output-format=json jobs").finish().succeeded().stdout;
    let text = document(Program::Ferrio);
    let read = crate::json_stream::documents(&text, "the document").remove(0);
    let (jobs, own) = (read["jobs"].to_string().len(), read["ferrio"].to_string().len());
    assert!(own < jobs, "{own} bytes beside {jobs} of the jobs");
    let found = &read["ferrio"]["provenance"];
    assert_eq!(found["common_options"]["extent"]["size"]["Bytes"], 65_536);
    let own = &found["jobs"][3]["options"];
    assert_eq!((&own["name"], &own["pattern"]["mix"]), (&Value::from("j3"), &Value::from("ReadWrite")));
    assert!(own.get("limits").is_none(), "they are common: {own}");
    if crate::support::peer_too("what_many_groups_have_in_common_is_said_once") {
        let of_peer = document(Program::Peer);
        assert!(text.len() < 2 * of_peer.len(), "{} bytes, and of the peer {}", text.len(), of_peer.len());
    }
}

#[test]
fn options_are_put_together_again_by_jq() {
    if !crate::support::has_programs("options_are_put_together_again_by_jq", &["jq"]) {
        return;
    }
    let rule = ".ferrio.provenance | (.common_options // {}) as $common | .jobs[] | .options = $common * .options";
    let page = include_str!("../../../../docs/readers.md");
    assert!(page.contains(rule), "the page has another rule");
    let options = |n_groups: usize| {
        let scratch = Scratch::new("provenance-jq");
        scratch.write("jobs", many_groups(n_groups));
        let script = format!("\"$0\" \"$@\" | jq -c '{rule} | .options'");
        let run = Run::new(Program::Ferrio, scratch.path(), "--output-format=json jobs").in_shell(&script);
        run.finish()
            .succeeded()
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect::<Vec<Value>>()
    };
    let several = options(5);
    // With a single job, no option is left out.
    assert_eq!(several[0], options(1)[0]);
    assert_eq!((several.len(), &several[4]["name"]), (5, &Value::from("j4")));
}

#[test]
fn file_system_and_device_of_the_files() {
    let scratch = Scratch::new("provenance-storage");
    let Some(mut device) = LoopDevice::new(&scratch, 64 << 20) else {
        skip("file_system_and_device_of_the_files", "no loop device can be set up");
        return;
    };
    let Some(place) = device.mount(&scratch, "mkfs.ext4 -q") else {
        skip("file_system_and_device_of_the_files", "no file system can be made and mounted");
        return;
    };
    let arguments = format!(
        "--output-format=json --rw=write --size=64k --directory={0} --name=a --nrfiles=3 --name=b --filename={0}/x/y",
        place.display()
    );
    let [found] = &provenance(&scratch, &arguments)[..] else { panic!("one document") };
    let [file_system] = &found["file_systems"].as_array().expect("a list")[..] else { panic!("one: {found}") };
    let name = device.path().trim_start_matches("/dev/").to_owned();
    assert_eq!((&file_system["kind"], &file_system["device"]), (&Value::from("ext4"), &Value::from(name.as_str())));
    assert_eq!(file_system["mounted_on"], place.to_str().expect("UTF-8"));
    assert!(file_system["options"].as_str().is_some_and(|options| options.starts_with("rw")), "{file_system}");
    // The disk on which the file of the loop device lies follows.
    let devices = found["devices"].as_array().expect("a list");
    let disk = devices.iter().find(|device| device["name"] == name.as_str()).unwrap_or_else(|| panic!("{found}"));
    assert_eq!(disk["size_bytes"], 64 << 20);
    let queue = |key: &str| read_to_string(format!("/sys/block/{name}/queue/{key}")).unwrap_or_default();
    for key in ["nr_requests", "max_sectors_kb", "logical_block_size", "physical_block_size"] {
        assert_eq!(disk[key].as_u64(), queue(key).trim().parse().ok(), "{key}");
    }
    assert!(queue("scheduler").contains(disk["scheduler"].as_str().expect("a text")), "{disk}");
    assert!(disk["backing_file"].is_string(), "{disk}");
}

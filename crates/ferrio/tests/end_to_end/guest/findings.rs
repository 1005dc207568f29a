//! Findings about settings of devices that loop devices cannot have: physical blocks of several logical ones, schedulers before several
//! hardware queues, the queue depth of a SCSI device.
//!
//! Start reading at [`found`].

use super::{Guest, Made, enter};
use crate::findings::ids;
use crate::support::{skip, tool};
use serde_json::Value;

/// Names of the rules with findings before a run.
fn found(guest: &Guest, arguments: &str) -> Vec<String> {
    let finished = guest.ferrio(&format!("check --json {arguments}"));
    let document: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{}", finished.all()));
    ids(&document["findings"])
}

fn has(found: &[String], id: &str) -> bool {
    found.iter().any(|name| name == id)
}

#[test]
fn physical_blocks_of_several_logical_ones() {
    let Some(guest) = enter("physical_blocks_of_several_logical_ones") else { return };
    // Logical blocks of 512 bytes, eight to a physical one.
    let device = Made::new("scsi-debug", "physblk_exp=3 dev_size_mb=16");
    let job =
        |path: &str, bs: &str| format!("--name=a --filename={path} --rw=randwrite --direct=1 --size=1m --bs={bs}");
    let (small, whole) = (found(&guest, &job(device.path(), "512")), found(&guest, &job(device.path(), "4k")));
    assert!(has(&small, "partial-physical-blocks") && !has(&small, "direct-below-logical-block"), "{small:?}");
    assert!(!has(&whole, "partial-physical-blocks"), "{whole:?}");
    let partition = format!("{}1", device.path());
    let of_start = |start_sector: u32| {
        tool(&format!("addpart {} 1 {start_sector} 8192", device.path())).expect("a partition");
        let found = found(&guest, &job(&partition, "4k"));
        tool(&format!("delpart {} 1", device.path())).expect("removed");
        found
    };
    let (old, new) = (of_start(63), of_start(64));
    assert!(has(&old, "misaligned-partition"), "{old:?}");
    assert!(!has(&new, "misaligned-partition") && has(&new, "device-is-overwritten"), "{new:?}");
}

#[test]
fn a_scsi_device_takes_as_many_commands_as_it_says() {
    let Some(guest) = enter("a_scsi_device_takes_as_many_commands_as_it_says") else { return };
    let device = Made::new("scsi-debug", "dev_size_mb=16");
    let name = device.path().trim_start_matches("/dev/");
    let path = format!("/sys/block/{name}/device/queue_depth");
    std::fs::write(&path, "8").expect("a depth can be set");
    let deep = |depth: u32| {
        let job = "--rw=randread --direct=1 --size=12m --ioengine=libaio";
        found(&guest, &format!("--name=a --filename={} {job} --iodepth={depth}", device.path()))
    };
    assert_eq!((deep(10), deep(9)), (vec!["depth-beyond-queue".to_owned()], vec![]));
}

#[test]
fn a_scheduler_before_several_queues() {
    let test = "a_scheduler_before_several_queues";
    let Some(guest) = enter(test) else { return };
    let device = Made::new("null", "submit_queues=2 hw_queue_depth=64");
    let scheduler = format!("/sys/block/{}/queue/scheduler", device.path().trim_start_matches("/dev/"));
    let job = format!(
        "--name=a --filename={} --rw=randread --direct=1 --size=12m --ioengine=libaio --iodepth=32",
        device.path()
    );
    let other = ["mq-deadline", "kyber", "bfq"].into_iter().find(|name| std::fs::write(&scheduler, name).is_ok());
    let Some(other) = other else { return skip(test, "the kernel has no scheduler") };
    assert_eq!(found(&guest, &job), ["scheduler-of-fast-device"], "{other}");
    std::fs::write(&scheduler, "none").expect("always there");
    assert_eq!(found(&guest, &job), Vec::<String>::new());
}

//! `protocol=vsock` between two runs of one machine (its number is 1), which a host without the module `vsock_loopback` cannot do.
//! Of ferrio alone: fio 3.41 moves the same data in both directions, but now and then frees something twice and dies of that.

use super::enter;
use crate::support::{Program, Run, tool};
use std::time::Duration;

#[test]
fn machines_send_and_receive() {
    let Some(guest) = enter("machines_send_and_receive") else { return };
    assert!(tool("modprobe vsock_loopback").is_some(), "the module of the guest");
    let job = "--ioengine=net --protocol=vsock --port=5000 --size=64k --bs=4k --verify=crc32c";
    let reading = format!("--name=r {job} --listen --rw=read");
    let reading = Run::new(Program::Ferrio, guest.scratch.path(), &reading).start();
    // The test cannot see whether the reader listens already (the kernel has no table for that), so a writer that
    // failed is started again.
    let writing = format!("--name=w {job} --hostname=1 --rw=write");
    let written = (0..50).map(|_| guest.ferrio(&writing)).find(|finished| {
        std::thread::sleep(Duration::from_millis(100));
        finished.code == Some(0)
    });
    let written = written.expect("somebody listens");
    let read = reading.finish().succeeded();
    assert!(read.stdout.contains("issued rwts: total=16,0,0,0"), "{}", read.all());
    assert!(written.stdout.contains("issued rwts: total=0,16,0,0"), "{}", written.all());
}

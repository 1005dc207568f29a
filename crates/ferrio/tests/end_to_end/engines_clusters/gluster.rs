//! A `GlusterFS` volume of one brick. What is written is in the directory of the brick.
//!
//! Start reading at any test.

use super::{Cluster, figure, offsets};
use std::fs;

fn volume(cluster: &Cluster, engine: &str) -> String {
    format!(
        "--ioengine={engine} --volume={} --brick={}",
        cluster.setting("GLUSTER_VOLUME"),
        cluster.setting("GLUSTER_HOST")
    )
}

#[test]
fn a_volume_holds_what_is_written() {
    let test = "a_volume_holds_what_is_written";
    let Some(cluster) = Cluster::start(test, "gluster-volume", &[]) else { return };
    let brick = cluster.counterpart.directory.join("brick");
    for (engine, more) in
        [("gfapi", ""), ("gfapi_async", "--iodepth=8"), ("gfapi", "--thread --single-instance=1 --direct=1")]
    {
        let job = volume(&cluster, engine);
        let written = cluster.run(&format!(
            "{job} --verify=pattern --verify_pattern=%o --rw=write --bs=64k --size=1m --filename=f --fsync=4 --end_fsync=1 {more}"
        ));
        assert_eq!(written.code, Some(0), "{}", written.all());
        assert_eq!((figure(&written, "/write/total_ios"), figure(&written, "/read/total_ios")), (16, 16));
        assert!(fs::read(brick.join("f")).expect("a file") == offsets(16, 64 << 10), "{engine} {more}");
        fs::remove_file(brick.join("f")).expect("a file");
    }
    let job = volume(&cluster, "gfapi");
    // Each file has a handle of its own.
    let two = cluster.run(&format!("{job} --rw=write --bs=64k --size=512k --nrfiles=2"));
    assert_eq!(two.code, Some(0), "{}", two.all());
    for name in ["t.0.0", "t.0.1"] {
        assert_eq!(fs::metadata(brick.join(name)).expect("a file").len(), 256 << 10);
    }
    // A file that is read is filled first.
    let read = cluster.run(&format!("{job} --rw=read --bs=64k --size=1m --filename=filled"));
    assert_eq!((read.code, figure(&read, "/read/total_ios")), (Some(0), 16), "{}", read.all());
    assert_eq!(fs::metadata(brick.join("filled")).expect("a file").len(), 1 << 20);
    let cut = cluster.run(&format!("{job} --rw=write --bs=4k --size=10000 --filename=cut"));
    assert_eq!((cut.code, figure(&cut, "/write/total_ios")), (Some(0), 2), "{}", cut.all());
    cluster.is_refused(
        &format!("{job} --volume=none --rw=write --bs=4k --size=4k"),
        "glfs_init failed. Is glusterd running on brick?",
    );
    cluster.is_refused(&format!("{job} --filename=none/file --rw=write --bs=4k --size=4k"), "glfs_creat failed.");
}

//! The engine without a device: refusals.

use super::{NAME, PREPARE};
use crate::contract::Cancellation;
use crate::contract::options::EngineOptions;
use crate::testing::{Rig, RigOptions, TestFile, given};
use std::path::Path;

fn refusal(path: &Path) -> String {
    let prepared = PREPARE(&EngineOptions::default()).unwrap();
    prepared.target_bytes(path, Cancellation::new(&|| false)).unwrap_err().to_string()
}

#[test]
fn what_is_no_namespace_is_refused() {
    let file = TestFile::new(NAME);
    let wrong_kind = "ioengine io_uring_cmd only works with nvme ns generic char devices (/dev/ngXnY)";
    assert_eq!(refusal(file.path()), wrong_kind);
    assert_eq!(refusal(Path::new("/dev/null")), "failed to fetch namespace-id");
    let options = RigOptions { options: given(NAME, &[]), ..RigOptions::default() };
    if let Err(error) = Rig::new(NAME, Some(&file), options) {
        // Where there is no ring at all, that is the error.
        assert!(error.to_string() == wrong_kind || error.to_string().contains("io_uring_setup"), "{error}");
    }
}

#[test]
fn what_is_no_disk_of_scsi_is_refused() {
    let prepared = PREPARE(&EngineOptions::new(given(NAME, &[("cmd_type", "bsg")]))).unwrap();
    let refusal = |path: &Path| prepared.target_bytes(path, Cancellation::ENDLESS).unwrap_err().to_string();
    assert_eq!(refusal(Path::new("/dev/null")), "the device does not tell its size (READ CAPACITY)");
    assert!(refusal(TestFile::new(NAME).path()).starts_with("ioengine io_uring_cmd only works with "));
}

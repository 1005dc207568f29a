//! Provenance of a run's figures: machine, devices, file systems, clock, program, command line, options in force.
//!
//! Must not know: how facts are collected, formats. Start reading at [`Provenance`]; [`common`] finds options that all
//! jobs share. The names of the fields are the keys in JSON. Facts that a machine does not provide are `None` or an
//! empty text.

mod common;
mod limits;

use crate::StartObstacle;
use crate::wire::{self, WireError};
use ferrio_spec::{JobSpec, LateGlobal};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub use limits::{IoLimit, IoWeight, LimitFacts};

/// Provenance of a run's figures.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Provenance {
    pub ferrio_version: String,
    /// The words of the command line, beginning with the program's name; bytes that are no text are replaced.
    pub command_line: Vec<String>,
    /// Texts that variables of the environment put into values of the jobs.
    #[serde(default)]
    pub from_environment: Vec<String>,
    /// Sections `[global]` behind jobs of their file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late_globals: Vec<LateGlobal>,
    /// Reasons for which jobs cannot start, as far as these show before the run; empty: nothing is in their way, or it was not looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<StartObstacle>,
    pub host_name: String,
    /// Release of the kernel, such as `6.1.0-13-amd64`.
    pub kernel_release: String,
    /// Architecture as the kernel names it, such as `x86_64`.
    pub architecture: String,
    pub cpu: CpuFacts,
    pub memory_bytes: u64,
    /// The source of times.
    pub clock: ClockFacts,
    /// File systems of the jobs' files, each once.
    pub file_systems: Vec<FileSystemFacts>,
    /// Block devices behind the jobs' files, each once, and the devices that they consist of.
    pub devices: Vec<DeviceFacts>,
    /// Limits that the kernel sets for ferrio.
    pub limits: LimitFacts,
    /// The jobs, each with all its clones.
    pub jobs: Vec<JobOptions>,
}

/// Key of the options that all jobs share.
const COMMON_OPTIONS: &str = "common_options";

impl Provenance {
    /// The form in documents: options that several jobs share are only under `common_options`, and each job has only
    /// its differences.
    pub fn to_document(&self) -> Value {
        let mut document = wire::to_value(self);
        let jobs = document["jobs"].as_array_mut().map(Vec::as_mut_slice).unwrap_or_default();
        let all: Vec<&Value> = jobs.iter().map(|job| &job["options"]).collect();
        let (Some(shared), [_, _, ..]) = (common::of(&all), &all[..]) else { return document };
        for job in jobs {
            job["options"] = common::without(&job["options"], &shared).unwrap_or_else(|| Value::Object(Map::new()));
        }
        document[COMMON_OPTIONS] = shared;
        document
    }

    /// Reads a value made by [`Provenance::to_document`].
    pub fn from_document(mut document: Value) -> Result<Self, WireError> {
        let shared = document.as_object_mut().and_then(|document| document.remove(COMMON_OPTIONS));
        let jobs = document.get_mut("jobs").and_then(Value::as_array_mut).into_iter().flatten();
        if let Some(shared) = shared {
            for job in jobs.filter_map(Value::as_object_mut) {
                let options = job.get("options").map(|own| common::with(own, &shared));
                job.insert("options".to_owned(), options.unwrap_or_default());
            }
        }
        wire::from_value(&document)
    }
}

/// The CPUs of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuFacts {
    /// Model name of the first CPU.
    pub model: Option<String>,
    /// Number of CPUs that are online.
    pub n_online: u32,
    /// CPUs on which ferrio may run, as a list such as `0-3,8`; a job's own `cpus_allowed` is among its options.
    pub allowed: String,
    /// Number of these CPUs.
    pub n_allowed: u32,
}

/// The source of times.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClockFacts {
    /// The clock of the loops: `tsc` or `cntvct` (counters of the CPU), `monotonic` (`CLOCK_MONOTONIC`), or `virtual`.
    pub source: String,
    /// The clock source of the kernel, such as `tsc` or `kvm-clock`.
    pub kernel_source: Option<String>,
    /// Time that a look at the clock of the loops takes, nanoseconds.
    #[serde(default)]
    pub look_ns: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileSystemFacts {
    pub mounted_on: String,
    /// Its kind, such as `ext4`.
    pub kind: String,
    /// Mount options, separated by commas.
    pub options: String,
    /// Mounted device, such as `/dev/sda1`.
    pub source: String,
    /// The disk that holds it, as in [`DeviceFacts::name`].
    pub device: Option<String>,
}

/// A block device (a whole disk) and the settings of its queue, with the names of sysfs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceFacts {
    pub name: String,
    pub model: Option<String>,
    pub size_bytes: Option<u64>,
    /// The device has rotating disks, or the kernel assumes so.
    pub rotational: Option<bool>,
    pub scheduler: Option<String>,
    /// Requests that may be queued.
    pub nr_requests: Option<u64>,
    /// Largest request that the kernel sends, KiB.
    pub max_sectors_kb: Option<u64>,
    /// Pieces of memory of which a request may consist.
    #[serde(default)]
    pub max_segments: Option<u64>,
    /// Largest trim that the kernel sends, bytes; 0: the device takes none.
    #[serde(default)]
    pub discard_max_bytes: Option<u64>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Target latency of the kernel's writeback throttling, microseconds; 0: off.
    pub wbt_lat_usec: Option<u64>,
    /// Logical block size, bytes.
    pub logical_block_size: Option<u64>,
    /// Physical block size, bytes.
    pub physical_block_size: Option<u64>,
    /// Least size for random I/O that the device asks for, bytes.
    pub minimum_io_size: Option<u64>,
    /// Size that the device prefers, bytes: of an array a whole stripe; 0: none.
    pub optimal_io_size: Option<u64>,
    /// Offset of the first logical block that begins a physical block, bytes; -1: none does.
    pub alignment_offset: Option<i64>,
    /// I/Os that the driver may hand to the device, all queues together; `None`: the device has no queues of a driver.
    pub n_tags: Option<u64>,
    pub n_hardware_queues: Option<u64>,
    /// Commands that a SCSI device takes at a time.
    pub queue_depth: Option<u64>,
    /// Level of an md array, such as `raid5`.
    pub md_level: Option<String>,
    /// NUMA node that the device is attached to, where the machine has several.
    pub numa_node: Option<u32>,
    /// CPUs of this node, as a list such as `0-3,8`.
    pub numa_cpus: Option<String>,
    /// Names of the devices that it consists of (dm, md).
    pub made_of: Vec<String>,
    /// The file behind a loop device.
    pub backing_file: Option<String>,
}

/// A job with all its options as they are in force.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct JobOptions {
    pub name: String,
    /// Group of its first clone.
    pub group: u32,
    /// Number of its first clone in the run, from 1; its clones follow.
    pub first_number: u32,
    /// Number of its clones, including itself.
    pub n_clones: u32,
    /// The options after parsing, including defaults, with ferrio's own names. `None`: a document of another program, or of another
    /// version, has them in a form that this version cannot read.
    #[serde(default, deserialize_with = "read_options")]
    pub options: Option<Box<JobSpec>>,
}

impl JobOptions {
    /// The options as they were given: canonical name and text.
    pub fn given(&self) -> &[(String, String)] {
        self.options.as_ref().map_or(&[], |spec| &spec.given_options)
    }
}

/// Options that another version wrote, and that this one cannot read, are left out.
fn read_options<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<JobSpec>>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(if value.is_object() { wire::from_value(&value).ok() } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::SizeSpec;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    /// A job of a size, with a directory that is no text.
    fn job(name: &str, size: SizeSpec) -> JobOptions {
        let mut spec = JobSpec { name: name.to_owned(), ..JobSpec::default() };
        spec.extent.size = Some(size);
        spec.target.directories = vec![OsString::from_vec(b"/tmp/\xff".to_vec()).into()];
        JobOptions { name: name.to_owned(), options: Some(Box::new(spec)), ..JobOptions::default() }
    }

    #[test]
    fn options_cross_every_wire() {
        let provenance =
            Provenance { jobs: vec![job("j", SizeSpec::Percent(7))], memory_bytes: 5, ..Provenance::default() };
        let text = serde_json::to_string(&provenance).expect("serialises");
        assert_eq!(serde_json::from_str::<Provenance>(&text).expect("reads back"), provenance);
        let value = serde_json::to_value(&provenance).expect("serialises");
        assert_eq!(value["jobs"][0]["options"]["extent"]["size"]["Percent"], 7);
        assert_eq!(wire::from_bytes::<Provenance>(&wire::to_bytes(&provenance)).expect("reads back"), provenance);
    }

    #[test]
    fn what_jobs_have_in_common_is_said_once_and_nothing_is_lost() {
        let jobs =
            vec![job("a", SizeSpec::Bytes(4096)), job("b", SizeSpec::Bytes(8192)), job("c", SizeSpec::Percent(50))];
        let provenance = Provenance { jobs, memory_bytes: 5, ..Provenance::default() };
        let document = provenance.to_document();
        assert_eq!(document["common_options"]["engine"]["name"], JobSpec::default().engine.name);
        let own = serde_json::json!({"name": "b", "extent": {"size": {"Bytes": 8192}}});
        assert_eq!(document["jobs"][1]["options"], own);
        assert_eq!(Provenance::from_document(document).expect("reads back"), provenance);
        for n_jobs in [0, 1] {
            let few = Provenance { jobs: provenance.jobs[..n_jobs].to_vec(), ..provenance.clone() };
            assert_eq!(few.to_document(), serde_json::to_value(&few).expect("serialises"));
            assert_eq!(Provenance::from_document(few.to_document()).expect("reads back"), few);
        }
    }

    #[test]
    fn options_of_another_form_are_not_known_and_the_rest_is() {
        for other in [serde_json::json!(null), serde_json::json!(["bs=4k"]), serde_json::json!({"pattern": "random"})] {
            let mut document =
                Provenance { jobs: vec![job("a", SizeSpec::Bytes(1))], ..Provenance::default() }.to_document();
            document["jobs"][0]["options"] = other;
            let read = Provenance::from_document(document).expect("reads back");
            assert_eq!((read.jobs[0].name.as_str(), &read.jobs[0].options), ("a", &None));
        }
    }
}

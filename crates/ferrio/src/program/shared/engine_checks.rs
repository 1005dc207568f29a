//! Whether each engine works on this machine: by asking the kernel for what the engine needs.
//!
//! Must not know: files of jobs. Start reading at [`answers`].

use ferrio_engine::open_library_of;
use ferrio_spec::Status;
use ferrio_spec::engines::{ENGINES, EngineDef};
use ferrio_sys::aio::AioContext;
use ferrio_sys::persistent_memory::WriteBack;
use ferrio_sys::uring::{IoRing, RingRequest, SqPoll};
use ferrio_sys::{Errno, Error};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ability {
    Works,
    /// It does not work here.
    Fails,
    NotBuilt,
    /// It cannot be found out.
    Unknown,
}

impl Ability {
    /// The word in both outputs.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Fails => "does not work here",
            Self::NotBuilt => "not built",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) name: String,
    pub(crate) state: Ability,
    pub(crate) why: String,
    /// What can be done about it; empty: nothing.
    pub(crate) cure: String,
}

impl Answer {
    pub(crate) fn new(name: impl Into<String>, state: Ability, why: impl Into<String>) -> Self {
        Self { name: name.into(), state, why: why.into(), cure: String::new() }
    }

    pub(crate) fn works(name: impl Into<String>, details: impl Into<String>) -> Self {
        Self::new(name, Ability::Works, details)
    }

    pub(crate) fn fails(name: impl Into<String>, why: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { cure: cure.into(), ..Self::new(name, Ability::Fails, why) }
    }

    /// Ability, reason and cure on one line.
    pub(crate) fn value(&self) -> String {
        let mut value = self.state.word().to_owned();
        if !self.why.is_empty() {
            value = format!("{value}: {}", self.why);
        }
        if !self.cure.is_empty() {
            value = format!("{value}; {}", self.cure);
        }
        value
    }
}

/// Looks for what an engine needs; gets the name for its answer.
type Check = fn(&str) -> Answer;

/// What an engine needs beyond a kernel: the name of the engine, and the check.
const CHECKS: &[(&str, Check)] = &[
    ("io_uring", io_uring),
    ("io_uring_cmd", passthrough),
    ("libaio", libaio),
    ("libpmem", libpmem),
    ("dev-dax", |name| {
        devices(name, "/sys/bus/dax/devices", "dax", "ndctl create-namespace -m devdax makes one of an NVDIMM")
    }),
    ("sg", |name| devices(name, "/sys/class/scsi_generic", "sg", "load the module sg (modprobe sg)")),
    ("mtd", |name| devices(name, "/sys/class/mtd", "mtd", "mtdram (modprobe mtdram) makes one of memory")),
    ("libzbc", zoned),
    ("external", external),
];

/// An answer for each engine, and then for the abilities of rings.
pub(crate) fn answers() -> Vec<Answer> {
    let mut answers: Vec<Answer> = ENGINES.iter().map(of_engine).collect();
    answers.extend(ring_abilities());
    answers
}

fn of_engine(engine: &EngineDef) -> Answer {
    match engine.status {
        Status::Planned(why) => {
            Answer::new(engine.name, Ability::NotBuilt, why.unwrap_or("ferrio does not have it yet"))
        }
        Status::NotApplicable(why) => Answer::new(engine.name, Ability::NotBuilt, why),
        Status::Supported | Status::Deviates(_) => {
            let check = CHECKS.iter().find(|(name, _)| *name == engine.name);
            check.map_or_else(|| by_library(engine.name), |(name, check)| check(name))
        }
    }
}

/// An engine that needs at most a library of others.
fn by_library(name: &str) -> Answer {
    match open_library_of(name) {
        Some(Err(error)) => Answer::fails(name, error.to_string(), "install that package"),
        Some(Ok(())) | None => Answer::works(name, ""),
    }
}

/// Rings of the kernel: what `io_uring` needs.
pub(crate) fn io_uring(name: &str) -> Answer {
    of_ring(name, &RingRequest::new(1))
}

fn of_ring(name: &str, request: &RingRequest) -> Answer {
    match IoRing::new(request) {
        Ok(_) => Answer::works(name, ""),
        Err(error) => Answer::fails(name, error.to_string(), ring_cure(&error)),
    }
}

fn ring_cure(error: &Error) -> &'static str {
    match error.errno().map(Errno::from_raw_os_error) {
        Some(Errno::PERM | Errno::ACCESS) => {
            "allow it: sysctl kernel.io_uring_disabled=0, or a container whose seccomp profile has the io_uring calls"
        }
        Some(Errno::NOSYS) => "a kernel of 5.1 or newer that is built with io_uring has it",
        Some(Errno::NOMEM) => "raise the limit of locked memory (ulimit -l)",
        _ => "",
    }
}

/// Rings, and a device that takes commands by them.
fn passthrough(name: &str) -> Answer {
    let ring = io_uring(name);
    if ring.state != Ability::Works {
        return ring;
    }
    let is_there = |path: &str| Path::new(path).exists();
    let mut here = names_in("/sys/class/nvme-generic", |name| name.starts_with("ng").then(|| format!("/dev/{name}")));
    here.extend(names_in("/sys/class/bsg", |name| Some(format!("/dev/bsg/{name}"))));
    let shown: Vec<String> = here.iter().filter(|path| is_there(path)).cloned().collect();
    match (shown.is_empty(), here.first()) {
        (false, _) => Answer::works(name, format!("with {}", shown.join(", "))),
        (true, Some(first)) => Answer::fails(
            name,
            format!("the kernel has the device of {first}, but /dev does not"),
            "give the container the device",
        ),
        (true, None) => Answer::fails(
            name,
            "there is no device that takes commands (/dev/ng0n1 of NVMe, /dev/bsg/0:0:0:0 of SCSI)",
            "take io_uring for files and block devices",
        ),
    }
}

/// Paths of devices that a directory of sysfs lists, in order.
fn names_in(directory: &str, path_of: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<String> = entries.filter_map(|entry| path_of(&entry.file_name().to_string_lossy())).collect();
    paths.sort();
    paths
}

/// Contexts of the kernel: what `libaio` needs.
pub(crate) fn libaio(name: &str) -> Answer {
    match AioContext::new(1, false) {
        Ok(_) => Answer::works(name, ""),
        Err(error) if error.errno().map(Errno::from_raw_os_error) == Some(Errno::AGAIN) => {
            Answer::fails(name, error.to_string(), "raise the number of requests: sysctl fs.aio-max-nr=1048576")
        }
        Err(error) => Answer::fails(name, error.to_string(), "a kernel that is built with CONFIG_AIO has it"),
    }
}

fn libpmem(name: &str) -> Answer {
    match WriteBack::of_cpu() {
        Some(way) => Answer::works(name, format!("by {}, on file systems that map files directly (dax)", way.name())),
        None => Answer::fails(name, "ferrio knows no instruction of this CPU for it", ""),
    }
}

/// An engine for devices of a kind, which sysfs lists.
fn devices(name: &str, directory: &str, prefix: &str, cure: &str) -> Answer {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|found| found.starts_with(prefix))
        .collect();
    names.sort();
    let here: Vec<String> =
        names.iter().map(|name| format!("/dev/{name}")).filter(|path| Path::new(path).exists()).collect();
    match (here.first(), names.first()) {
        (Some(_), _) => Answer::works(name, format!("with {}", here.join(", "))),
        (None, Some(first)) => {
            Answer::fails(name, format!("the kernel has {first}, but /dev does not"), "give the container the device")
        }
        (None, None) => Answer::fails(name, "there is no device of this kind", cure),
    }
}

fn zoned(name: &str) -> Answer {
    let all = ferrio_sys::block_device::BlockDevice::all().unwrap_or_default();
    if all.iter().any(|disk| ferrio_sys::block_device::zones::ZoneModel::of(disk).is_some()) {
        return Answer::works(name, "");
    }
    Answer::fails(name, "there is no zoned block device", "null_blk or scsi_debug make one of memory")
}

fn external(name: &str) -> Answer {
    if cfg!(target_feature = "crt-static") {
        return Answer::fails(
            name,
            "this program is linked statically",
            "take a ferrio that is linked with the C library",
        );
    }
    Answer::works(name, "with libraries that are built with ferrio_engine.h")
}

/// What rings can do here beyond plain I/O.
fn ring_abilities() -> Vec<Answer> {
    let sqpoll = RingRequest { sqpoll: Some(SqPoll { idle_ms: 1, cpu: None }), ..RingRequest::new(1) };
    let iopoll = RingRequest { is_iopoll: true, ..RingRequest::new(1) };
    vec![
        of_ring("io_uring: sqthread_poll", &sqpoll),
        of_ring("io_uring: hipri", &iopoll),
        registered_files(),
        registered_buffers(),
    ]
}

/// Memory that a ring is tried with: buffers of 256 I/Os of 4 KiB.
const TRIED_BYTES: usize = 1 << 20;

/// `fixedbufs`.
pub(crate) fn registered_buffers() -> Answer {
    let name = "io_uring: fixedbufs";
    match IoRing::try_registered_buffer(TRIED_BYTES) {
        Ok(()) => Answer::works(name, "buffers of 1 MiB were registered and given back"),
        Err(error) => Answer::fails(name, error.to_string(), ring_cure(&error)),
    }
}

fn registered_files() -> Answer {
    let name = "io_uring: registerfiles";
    match IoRing::new(&RingRequest::new(1)).and_then(|ring| ring.register_file_table(1)) {
        Ok(()) => Answer::works(name, ""),
        Err(error) => Answer::fails(name, error.to_string(), ring_cure(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_an_answer_and_every_check_an_engine() {
        let answers = answers();
        for engine in ENGINES {
            let answer = answers.iter().find(|answer| answer.name == engine.name).expect("an answer");
            assert_eq!(answer.state == Ability::NotBuilt, !engine.status.is_built(), "{}", engine.name);
            assert!(answer.state == Ability::Works || !answer.why.is_empty(), "{}", engine.name);
        }
        for (name, _) in CHECKS {
            assert!(ENGINES.iter().any(|engine| engine.name == *name && engine.status.is_built()), "{name}");
        }
    }
}

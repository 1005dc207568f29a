//! Evidence in records of the forms 4 and 5: a list, in which each probe has an entry.
//!
//! Must not know: files. Start reading at [`of_any_form`].

use super::{
    EarlierRun, Evidence, Heat, HostClock, HostCpu, JobTargets, MemoryCopy, PageCache, Pressure, ProcessIo, ReadSample,
    StorageLayer,
};
use crate::{CpuIdleness, DiskRecord, form};
use serde::{Deserialize, Deserializer};

/// The first form in which evidence is a struct.
const FIRST_STRUCT: u32 = 6;

/// The figures of one probe.
#[derive(Deserialize)]
enum Listed {
    Disks(Vec<DiskRecord>),
    CpuIdleness(CpuIdleness),
    ProcessIo(ProcessIo),
    PageCache(PageCache),
    Pressure(Pressure),
    Targets(Vec<JobTargets>),
    HostCpu(HostCpu),
    HostClock(HostClock),
    Stacks(Vec<StorageLayer>),
    Heat(Heat),
    MemoryCopy(MemoryCopy),
    EarlierRuns(Vec<EarlierRun>),
    ReadSamples(Vec<ReadSample>),
}

impl Listed {
    fn enter(self, evidence: &mut Evidence) {
        match self {
            Self::Disks(disks) => evidence.disks = Some(disks),
            Self::CpuIdleness(idleness) => evidence.cpu_idleness = Some(idleness),
            Self::ProcessIo(io) => evidence.process_io = Some(io),
            Self::PageCache(cache) => evidence.page_cache = Some(cache),
            Self::Pressure(pressure) => evidence.pressure = Some(pressure),
            Self::Targets(targets) => evidence.targets = Some(targets),
            Self::HostCpu(cpu) => evidence.host_cpu = Some(cpu),
            Self::HostClock(clock) => evidence.host_clock = Some(clock),
            Self::Stacks(layers) => evidence.stacks = Some(layers),
            Self::Heat(heat) => evidence.heat = Some(heat),
            Self::MemoryCopy(copy) => evidence.memory_copy = Some(copy),
            Self::EarlierRuns(runs) => evidence.earlier_runs = Some(runs),
            Self::ReadSamples(samples) => evidence.read_samples = Some(samples),
        }
    }
}

/// Reads evidence of the form that is read now.
///
/// # Errors
/// It is no evidence.
pub(crate) fn of_any_form<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Evidence, D::Error> {
    if form::is_at_least(&deserializer, FIRST_STRUCT) {
        return Evidence::deserialize(deserializer);
    }
    let mut evidence = Evidence::default();
    Vec::<Listed>::deserialize(deserializer)?.into_iter().for_each(|listed| listed.enter(&mut evidence));
    Ok(evidence)
}

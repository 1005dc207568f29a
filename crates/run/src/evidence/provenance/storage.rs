//! File systems and block devices behind the files of a run.
//!
//! Must not know: the use of the files. Start reading at [`StorageFacts::of_workers`].

use crate::evidence::ProbedWorker;
use ferrio_spec::{DirectoryPer, TargetSpec};
use ferrio_stats::provenance::{DeviceFacts, FileSystemFacts};
use ferrio_sys::block_device::{BlockDevice, DeviceNumber};
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_sys::mounts::{Mount, disk_of, mount_of, mounts};
use ferrio_sys::numa;
use ferrio_sys::scheduling::format_cpu_list;
use ferrio_units::byte_text;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// File systems and devices of the files, each once.
#[derive(Debug, Default)]
pub(super) struct StorageFacts {
    pub(super) file_systems: Vec<FileSystemFacts>,
    pub(super) devices: Vec<DeviceFacts>,
    /// Devices, and devices of file systems, that were looked at already.
    seen: HashSet<DeviceNumber>,
    /// Read when the first file system is looked at.
    mounts: Option<Vec<Mount>>,
}

impl StorageFacts {
    pub(super) fn of_workers(workers: &[ProbedWorker<'_>], look_at: &dyn Fn(usize)) -> Self {
        let mut storage = Self::default();
        let mut looked_at = HashSet::new();
        for worker in workers.iter().filter(|worker| worker.clone_index == 0 && worker.has_files()) {
            look_at(worker.index());
            for path in places(&worker.spec.target, &worker.spec.section) {
                if looked_at.insert(path.clone()) {
                    storage.add_path(&path);
                }
            }
        }
        storage
    }

    fn add_path(&mut self, path: &Path) {
        let Some((path, info)) = existing(path) else { return };
        match info.kind {
            FileKind::Block if self.seen.insert(info.is_device) => {
                if let Ok(Some(device)) = BlockDevice::by_number(info.is_device) {
                    self.add_device(&device);
                }
            }
            FileKind::Block | FileKind::Character => {}
            _ if self.seen.insert(info.on_device) => self.add_file_system(&path),
            _ => {}
        }
    }

    fn add_file_system(&mut self, path: &Path) {
        let Ok(path) = path.canonicalize() else { return };
        let mounts = self.mounts.get_or_insert_with(mounts);
        let mount = mount_of(mounts, &path).cloned();
        let disk = disk_of(&path, mount.as_ref());
        if let Some(mount) = mount {
            let facts = file_system_facts(&mount, disk.as_ref());
            // Subvolumes have device numbers of their own, though they share one mount.
            if !self.file_systems.contains(&facts) {
                self.file_systems.push(facts);
            }
        }
        if let Some(disk) = disk {
            self.add_device(&disk);
        }
    }

    /// Adds a device, and the devices that it consists of. A loop device consists of the disk that has its file.
    fn add_device(&mut self, device: &BlockDevice) {
        if self.devices.iter().any(|known| known.name == device.name) {
            return;
        }
        let slaves = device.slaves().unwrap_or_default();
        self.devices.push(device_facts(device, &slaves));
        for slave in &slaves {
            self.add_device(slave);
        }
        if let Some(path) = device.loop_backing_file().and_then(|path| path.canonicalize().ok()) {
            let mounts = self.mounts.get_or_insert_with(mounts);
            if let Some(disk) = disk_of(&path, mount_of(mounts, &path)) {
                self.add_device(&disk);
            }
        }
    }
}

/// The paths of a job's files: those that it names, the trees that it searches, or the directories of generated names,
/// which stand for any number of files.
fn places(target: &TargetSpec, section: &str) -> Vec<PathBuf> {
    let here = [PathBuf::new()];
    let directories = if target.directories.is_empty() { &here[..] } else { &target.directories };
    let is_spread = target.directory_per == DirectoryPer::File;
    let in_directories = |index: usize, name: &str| -> Vec<PathBuf> {
        let name = byte_text::to_os_string(name);
        if is_spread {
            return vec![directories[index % directories.len()].join(name)];
        }
        directories.iter().map(|directory| directory.join(&name)).collect()
    };
    if target.filenames.is_empty() && target.opendirs.is_empty() {
        // If a device has the name of the job, that is the job's target; otherwise the job's files will be in these
        // directories.
        let n_turns = if is_spread { directories.len().min(target.nrfiles as usize).max(1) } else { 1 };
        return (0..n_turns).flat_map(|index| in_directories(index, section)).collect();
    }
    let is_file = |(_, name): &(usize, &String)| *name != "-";
    let named = target.filenames.iter().enumerate().filter(is_file);
    let named = named.flat_map(|(index, name)| in_directories(index, name));
    named.chain(target.opendirs.iter().cloned()).collect()
}

/// The path, or the nearest directory above it that exists.
fn existing(path: &Path) -> Option<(PathBuf, FileInfo)> {
    path.ancestors().find_map(|path| {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        FileInfo::of_path(path).ok().map(|info| (path.to_owned(), info))
    })
}

fn file_system_facts(mount: &Mount, disk: Option<&BlockDevice>) -> FileSystemFacts {
    FileSystemFacts {
        mounted_on: mount.place.display().to_string(),
        kind: mount.file_system.clone(),
        options: mount.options.clone(),
        source: mount.source.clone(),
        device: disk.map(|disk| disk.name.clone()),
    }
}

fn device_facts(device: &BlockDevice, slaves: &[BlockDevice]) -> DeviceFacts {
    let number = |name: &str| device.queue_attribute(name).and_then(|text| text.parse::<u64>().ok());
    let tags = device.queue_tags();
    let is_queued = !tags.is_empty();
    let numa_node = device.numa_node().filter(|_| numa::online_nodes().len() > 1);
    let n_sectors = device.attribute("size").and_then(|text| text.parse::<u64>().ok());
    DeviceFacts {
        name: device.name.clone(),
        model: device.attribute("device/model").filter(|model| !model.is_empty()),
        size_bytes: n_sectors.map(|sectors| sectors.saturating_mul(512)),
        rotational: number("rotational").map(|flag| flag != 0),
        scheduler: device.scheduler(),
        nr_requests: number("nr_requests"),
        max_sectors_kb: number("max_sectors_kb"),
        max_segments: number("max_segments"),
        discard_max_bytes: number("discard_max_bytes"),
        write_cache: device.queue_attribute("write_cache"),
        wbt_lat_usec: number("wbt_lat_usec"),
        logical_block_size: number("logical_block_size"),
        physical_block_size: number("physical_block_size"),
        minimum_io_size: number("minimum_io_size"),
        optimal_io_size: number("optimal_io_size"),
        alignment_offset: device.attribute("alignment_offset").and_then(|text| text.parse().ok()),
        n_tags: is_queued.then(|| tags.iter().fold(0, |sum, tags| u64::saturating_add(sum, *tags))),
        n_hardware_queues: is_queued.then_some(tags.len() as u64),
        queue_depth: device.attribute("device/queue_depth").and_then(|text| text.parse().ok()),
        md_level: device.attribute("md/level").filter(|level| !level.is_empty()),
        numa_node,
        numa_cpus: numa_node.and_then(|node| numa::cpus_of(node).ok()).map(|cpus| format_cpu_list(&cpus)),
        made_of: slaves.iter().map(|slave| slave.name.clone()).collect(),
        backing_file: device.loop_backing_file().map(|path| path.display().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_testing::skip;

    #[test]
    fn a_file_that_is_not_there_is_on_the_file_system_of_its_directory() {
        let mut storage = StorageFacts::default();
        storage.add_path(Path::new("/proc/no/such/file"));
        storage.add_path(Path::new("/proc/version"));
        let kinds: Vec<&str> = storage.file_systems.iter().map(|facts| facts.kind.as_str()).collect();
        assert_eq!(kinds, ["proc"]);
        assert!(storage.devices.is_empty());
        let (path, _) = existing(Path::new("no/such/file")).expect("the working directory is there");
        assert_eq!(path, Path::new("."));
    }

    #[test]
    fn names_are_looked_for_where_a_job_has_them() {
        let of = |directory_per, filenames: &[&str], nrfiles| {
            let filenames = filenames.iter().map(|name| (*name).to_owned()).collect();
            let directories = ["x", "y", "z"].map(PathBuf::from).to_vec();
            let target = TargetSpec { filenames, directories, directory_per, nrfiles, ..TargetSpec::default() };
            places(&target, "j").iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of(DirectoryPer::Clone, &["a", "b"], 1), "x/a y/a z/a x/b y/b z/b");
        assert_eq!(of(DirectoryPer::File, &["a", "-", "b", "c"], 1), "x/a z/b x/c");
        assert_eq!(of(DirectoryPer::Clone, &[], 2), "x/j y/j z/j");
        assert_eq!(of(DirectoryPer::File, &[], 2), "x/j y/j");
        assert_eq!(of(DirectoryPer::File, &[], 9), "x/j y/j z/j");
    }

    #[test]
    fn facts_of_a_disk_are_those_of_sysfs() {
        let disks = BlockDevice::all().unwrap_or_default();
        let Some(disk) = disks.iter().find(|disk| disk.attribute("size").is_some_and(|size| size != "0")) else {
            skip!("facts_of_a_disk_are_those_of_sysfs", "no disk in /sys/block");
            return;
        };
        let facts = device_facts(disk, &[]);
        let sectors: u64 = disk.attribute("size").unwrap().parse().unwrap();
        assert_eq!(facts.size_bytes, Some(sectors * 512));
        assert!(facts.logical_block_size.is_some_and(|bytes| bytes >= 512), "{facts:?}");
        assert!(facts.physical_block_size >= facts.logical_block_size && facts.rotational.is_some(), "{facts:?}");
        assert!(facts.minimum_io_size >= facts.physical_block_size && facts.optimal_io_size.is_some(), "{facts:?}");
        assert_eq!(facts.n_tags.is_some(), facts.n_hardware_queues.is_some_and(|n_queues| n_queues > 0), "{facts:?}");
    }
}

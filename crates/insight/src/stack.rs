//! The layers of storage below a job, as rules ask about them: the devices whose work can be compared with that of the job.
//!
//! Must not know: rules. Start reading at [`AuditInput::levels`].

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory, sum};
use ferrio_stats::{LayerKind, StorageLayer, TargetPlace};
use ferrio_units::DataDirection;
use std::collections::BTreeSet;

/// File systems that may spread a file over several devices of their own.
const OVER_SEVERAL: [&str; 3] = ["btrfs", "bcachefs", "zfs"];
/// More levels than this are in no real stack; a record may hold anything.
const MAX_LEVELS: usize = 16;

/// Devices that together hold all data of a job.
pub(crate) type Level<'a> = BTreeSet<&'a str>;

impl<'a> AuditInput<'a> {
    pub(crate) fn layer(&self, name: &str) -> Option<&'a StorageLayer> {
        self.record.storage_layers().iter().find(|layer| layer.name == name)
    }

    /// The levels of devices below a job that have counters, from the top: first the devices that its file system or the job itself
    /// asks, then those that these are made of. It ends where a part of the data cannot be followed.
    pub(crate) fn levels(&self, job: &AuditedJob<'a>) -> Vec<Level<'a>> {
        if self.record.storage_layers().is_empty() {
            return only_device(job).map(|device| Level::from([device])).into_iter().collect();
        }
        let tops: Option<Level<'a>> = job.places.iter().map(|place| place.layer.as_deref()).collect();
        let mut levels: Vec<Level<'a>> = Vec::new();
        let mut next = tops.filter(|tops| !tops.is_empty()).and_then(|tops| self.counted_from(&tops));
        while let Some(level) = next.filter(|level| levels.last() != Some(level) && levels.len() < MAX_LEVELS) {
            next = self.level_below(&level);
            levels.push(level);
        }
        levels
    }

    /// The layers below a place, from the top, each once.
    pub(crate) fn layers_of(&self, place: &TargetPlace) -> Vec<&'a StorageLayer> {
        let mut found: Vec<&StorageLayer> =
            place.layer.as_deref().and_then(|name| self.layer(name)).into_iter().collect();
        let mut n_followed = 0;
        while let Some(layer) = found.get(n_followed).copied() {
            n_followed += 1;
            for below in layer.below.iter().filter_map(|name| self.layer(name)) {
                if found.iter().all(|known| known.name != below.name) {
                    found.push(below);
                }
            }
        }
        found
    }

    /// Bytes that the devices of a level have read (0) or written (1).
    pub(crate) fn level_bytes(&self, level: &Level<'_>, direction: DataDirection) -> Option<u64> {
        let index = usize::from(direction != DataDirection::Read);
        let of_device = |name: &&str| {
            if let Some(layer) = self.layer(name) {
                return layer.bytes.map(|bytes| bytes[index]);
            }
            let disk = self.record.disks()?.iter().find(|disk| disk.name == **name)?;
            Some(disk.counters.sectors[index].saturating_mul(512))
        };
        Some(sum(level.iter().map(of_device).collect::<Option<Vec<u64>>>()?))
    }

    /// The same for a level of which one device may be below another one, as a disk and a loop device on it: what passes both counts once.
    pub(crate) fn level_bytes_once(&self, level: &Level<'a>, direction: DataDirection) -> Option<u64> {
        let is_above = |name: &&&'a str| {
            let one = Level::from([**name]);
            self.level_below(&one)
                .is_some_and(|below| below.iter().any(|lower| *lower != **name && level.contains(lower)))
        };
        let lowest: Level<'a> = level.iter().filter(|name| !is_above(name)).copied().collect();
        self.level_bytes(&lowest, direction)
    }

    /// The layers with counters that are nearest to these or below them; `None`: a part cannot be followed.
    fn counted_from(&self, names: &Level<'a>) -> Option<Level<'a>> {
        let (mut counted, mut seen) = (Level::new(), Level::new());
        let mut open: Vec<&str> = names.iter().copied().collect();
        while let Some(name) = open.pop() {
            if !seen.insert(name) {
                continue;
            }
            let layer = self.layer(name)?;
            match layer.kind {
                _ if layer.bytes.is_some() => drop(counted.insert(name)),
                _ if layer.below.is_empty() || layer.is_cut => return None,
                _ => open.extend(layer.below.iter().map(String::as_str)),
            }
        }
        Some(counted)
    }

    fn level_below(&self, level: &Level<'a>) -> Option<Level<'a>> {
        let mut below = Level::new();
        for name in level {
            let layer = self.layer(name)?;
            match layer.kind {
                _ if layer.is_cut => return None,
                _ if layer.below.is_empty() => drop(below.insert(*name)),
                _ => below.extend(layer.below.iter().map(String::as_str)),
            }
        }
        self.counted_from(&below)
    }

    /// All data of a place is in memory, though the place is no file system in memory and no device that is known as one.
    pub(crate) fn is_in_memory_below(&self, place: &TargetPlace) -> bool {
        let layers = self.layers_of(place);
        let is_memory = |layer: &&&StorageLayer| matches!(layer.kind, LayerKind::Memory | LayerKind::Zram);
        let ends_in_memory = |layer: &&StorageLayer| !layer.is_cut && (!layer.below.is_empty() || is_memory(&layer));
        layers.len() > 1 && layers.iter().all(ends_in_memory)
    }
}

/// The device of a job's files, if all are on the same one. For records without layers.
fn only_device<'a>(job: &AuditedJob<'a>) -> Option<&'a str> {
    let mut names = job.places.iter().map(|place| {
        let is_spread = place.file_system.as_deref().is_some_and(|kind| OVER_SEVERAL.contains(&kind));
        place.device.as_deref().filter(|_| !is_spread && !is_in_memory(place))
    });
    let first = names.next()??;
    names.all(|name| name == Some(first)).then_some(first)
}

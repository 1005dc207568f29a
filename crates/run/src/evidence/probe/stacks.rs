//! The layers of storage below the targets, and what each device has read and written during the run.
//!
//! Must not know: the I/O of the jobs. Start reading at [`Stacks`], the layers themselves; [`StackProbe`] counts.

mod build;
mod cache;

pub(super) use build::Stacks;

use super::Probe;
use ferrio_stats::{BackingFile, Evidence, Reading, StorageLayer, StoredBytes};
use ferrio_sys::block_device::BlockDevice;
use ferrio_sys::disk_stats::DiskStats;
use ferrio_sys::extents::ExtentBytes;
use ferrio_sys::file::{FileInfo, OpenRequest};
use std::path::Path;

/// The layers, with their state before the run.
pub(super) struct StackProbe {
    layers: Vec<(StorageLayer, Option<Counted>)>,
}

/// A device, with its counters before the run.
struct Counted {
    device: BlockDevice,
    before: Option<DiskStats>,
}

impl StackProbe {
    /// Reads the counters. `looks`: files behind loop devices may be opened to see their extents.
    pub(super) fn new(stacks: Stacks, looks: bool) -> Self {
        let mut layers: Vec<_> = stacks.into_layers().collect();
        for layer in layers.iter_mut().filter_map(|(layer, _)| layer.backing.as_mut()) {
            look_behind(layer, looks);
        }
        // Counters come last: the look at files has read from the devices.
        let counted = layers.into_iter().map(|(mut layer, device)| {
            let counted = device.map(|device| Counted { before: stats_of(&device), device });
            if let Some(stored) = counted.as_ref().and_then(|counted| stored(&counted.device)) {
                layer.stored = Some(StoredBytes {
                    original_before_bytes: stored.original_bytes,
                    compressed_before_bytes: stored.compressed_bytes,
                    same_before_bytes: stored.same_bytes,
                    ..stored
                });
            }
            (layer, counted)
        });
        Self { layers: counted.collect() }
    }
}

impl Probe for StackProbe {
    fn look(&mut self) {
        for (layer, counted) in &mut self.layers {
            let now = counted.as_ref().and_then(|counted| stored(&counted.device));
            if let (Some(known), Some(now)) = (&mut layer.stored, now) {
                note_most(known, &now);
            }
        }
    }

    fn report(&self, evidence: &mut Evidence) {
        evidence.stacks = Some(self.layers.iter().map(|(layer, counted)| now(layer, counted.as_ref())).collect());
    }
}

/// A layer with its figures until now.
fn now(layer: &StorageLayer, counted: Option<&Counted>) -> StorageLayer {
    let mut layer = layer.clone();
    if let Some(Counted { device, before }) = counted {
        layer.bytes = before.as_ref().and_then(|before| {
            let since = stats_of(device)?.since(before);
            Some([since.read, since.write].map(|counters| counters.n_sectors.saturating_mul(512)))
        });
        if let Some(cache) = &mut layer.cache {
            let since = |now: [u64; 2], before: [u64; 2]| [0, 1].map(|index| now[index].saturating_sub(before[index]));
            cache.hits = cache.hits.zip(cache::hits(device)).map(|(before, now)| since(now, before));
        }
        if let (Some(then), Some(now)) = (&mut layer.stored, stored(device)) {
            (then.original_bytes, then.compressed_bytes) = (now.original_bytes, now.compressed_bytes);
            then.same_bytes = now.same_bytes;
            note_most(then, &now);
        }
    }
    if let Some(backing) = &mut layer.backing
        && let Ok(info) = FileInfo::of_path(Path::new(&backing.path))
    {
        backing.allocated_bytes = info.allocated_bytes;
    }
    layer
}

fn stats_of(device: &BlockDevice) -> Option<DiskStats> {
    DiskStats::parse(&device.stat_text().ok()?).ok()
}

/// The file behind a loop device before the run.
fn look_behind(backing: &mut BackingFile, looks: bool) {
    let path = Path::new(&backing.path);
    if let Ok(info) = FileInfo::of_path(path) {
        backing.size_bytes = info.size_bytes;
        (backing.allocated_before_bytes, backing.allocated_bytes) = (info.allocated_bytes, info.allocated_bytes);
    }
    if !looks {
        backing.extents = Reading::Missing("files are only opened for it by ferrio run, and with --record".to_owned());
        return;
    }
    let file = OpenRequest::default().open(path);
    backing.extents = match file.and_then(|file| ExtentBytes::of_file(file, backing.size_bytes)) {
        Ok(None) => Reading::Missing("the file has too many extents".to_owned()),
        Ok(Some(extents)) => Reading::Value(extents),
        Err(error) => Reading::Missing(error.to_string()),
    };
}

/// The contents of a zram device now.
fn stored(device: &BlockDevice) -> Option<StoredBytes> {
    parse_mm_stat(&device.attribute("mm_stat")?, ferrio_sys::system_info::page_bytes())
}

/// Keeps the largest contents: those at the end may be of a later job, or removed.
fn note_most(known: &mut StoredBytes, now: &StoredBytes) {
    if now.original_bytes > known.original_most_bytes {
        (known.original_most_bytes, known.compressed_at_most_bytes) = (now.original_bytes, now.compressed_bytes);
    }
}

/// The numbers of `mm_stat`: original bytes, compressed bytes, memory used, limit, most used, pages of one value. The original bytes
/// count pages of one value as well.
fn parse_mm_stat(text: &str, page_bytes: u64) -> Option<StoredBytes> {
    let mut numbers = text.split_ascii_whitespace().map(|number| number.parse::<u64>().ok());
    let (original_bytes, compressed_bytes) = (numbers.next()??, numbers.next()??);
    let same_bytes = numbers.nth(3)??.saturating_mul(page_bytes);
    Some(StoredBytes { original_bytes, compressed_bytes, same_bytes, ..StoredBytes::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_contents_are_kept() {
        let mut known = StoredBytes::default();
        for (original_bytes, compressed_bytes) in [(100, 10), (300, 20), (200, 200)] {
            note_most(&mut known, &StoredBytes { original_bytes, compressed_bytes, ..StoredBytes::default() });
        }
        assert_eq!((known.original_most_bytes, known.compressed_at_most_bytes), (300, 20));
    }

    #[test]
    fn the_contents_of_zram_are_read_by_their_places() {
        let stored = parse_mm_stat("  40960 8192 12288 0 12288 5 0 0 0\n", 4096);
        let expected = StoredBytes {
            original_bytes: 40_960,
            compressed_bytes: 8192,
            same_bytes: 20_480,
            ..StoredBytes::default()
        };
        assert_eq!(stored, Some(expected));
        for text in ["", "1 2 3", "1 2 3 4 5 x", "-1 2 3 4 5 6"] {
            assert_eq!(parse_mm_stat(text, 4096), None, "{text:?}");
        }
    }
}

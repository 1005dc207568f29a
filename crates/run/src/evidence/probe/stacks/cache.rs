//! Caches between a device and the slow one below it, and thin volumes, as sysfs shows them.
//!
//! Device mapper tells the parts of a device and not what it does with them, so the names that LVM gives to these parts decide.
//! Must not know: layers. Start reading at [`find`].

use ferrio_stats::DeviceCache;
use ferrio_sys::block_device::BlockDevice;

/// The cache of a device of several parts, with the counts of its hits and misses until now.
pub(super) fn find(device: &BlockDevice, parts: &[BlockDevice]) -> Option<DeviceCache> {
    let known = |kind: &str, mode: String| DeviceCache { kind: kind.to_owned(), mode, hits: None };
    bcache(device).or_else(|| {
        let part = |end: &str| parts.iter().any(|part| lvm_name(part).is_some_and(|name| name.ends_with(end)));
        match () {
            () if part("_corig") => Some(known("dm-cache", String::new())),
            () if part("_wcorig") => Some(known("dm-writecache", "writeback".to_owned())),
            () => md_journal(device).map(|mode| known("md journal", mode)),
        }
    })
}

/// The device is a volume of a thin pool of LVM.
pub(super) fn is_thin(device: &BlockDevice, parts: &[BlockDevice]) -> bool {
    let of_pool = |part: &BlockDevice| lvm_name(part).is_some_and(|name| name.ends_with("-tpool"));
    // The pool itself is on its data and on a table.
    parts.len() == 1 && parts.iter().all(of_pool) && lvm_name(device).is_some_and(|name| !name.ends_with("-tpool"))
}

/// Hits and misses of a cache since it was set up.
pub(super) fn hits(device: &BlockDevice) -> Option<[u64; 2]> {
    let count = |name: &str| device.attribute(&format!("bcache/stats_total/{name}"))?.parse().ok();
    Some([count("cache_hits")?, count("cache_misses")?])
}

fn bcache(device: &BlockDevice) -> Option<DeviceCache> {
    let state = device.attribute("bcache/state").filter(|state| state != "no cache")?;
    let mode = chosen(&device.attribute("bcache/cache_mode")?)?;
    let is_used = mode != "none" && !state.is_empty();
    is_used.then(|| DeviceCache { kind: "bcache".to_owned(), mode, hits: hits(device) })
}

/// The mode of the journal of a RAID with parity, if it holds data back.
fn md_journal(device: &BlockDevice) -> Option<String> {
    chosen(&device.attribute("md/journal_mode")?).filter(|mode| mode == "write-back")
}

/// The entry in brackets of a list such as `writethrough [writeback] none`.
fn chosen(list: &str) -> Option<String> {
    Some(list.split_once('[')?.1.split_once(']')?.0.to_owned())
}

fn lvm_name(device: &BlockDevice) -> Option<String> {
    device.attribute("dm/uuid").filter(|id| id.starts_with("LVM-"))?;
    device.attribute("dm/name")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("ferrio-sysfs-{name}-{}", std::process::id())))
        }

        fn path(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn device(root: &Path, name: &str, files: &[(&str, &str)]) -> BlockDevice {
        let directory: PathBuf = root.join(name);
        for (file, text) in [&[("dev", "252:0")], files].concat() {
            let path = directory.join(file);
            std::fs::create_dir_all(path.parent().expect("a file has one")).expect("made");
            std::fs::write(path, format!("{text}\n")).expect("written");
        }
        BlockDevice::in_directory(&directory).expect("it has a number")
    }

    /// The files as a machine with a bcache device has them.
    #[test]
    fn bcache_tells_its_mode_and_its_hits() {
        let root = Tree::new("bcache");
        let files = [
            ("bcache/state", "dirty"),
            ("bcache/cache_mode", "writethrough [writeback] writearound none"),
            ("bcache/stats_total/cache_hits", "301"),
            ("bcache/stats_total/cache_misses", "20"),
        ];
        let found = find(&device(root.path(), "bcache0", &files), &[]).expect("a cache");
        let expected = ("bcache".to_owned(), "writeback".to_owned(), Some([301, 20]));
        assert_eq!((found.kind, found.mode, found.hits), expected);
        for (index, change) in
            [("bcache/state", "no cache"), ("bcache/cache_mode", "writethrough writeback writearound [none]")]
                .into_iter()
                .enumerate()
        {
            let changed: Vec<_> = files.iter().map(|file| if file.0 == change.0 { change } else { *file }).collect();
            assert_eq!(find(&device(root.path(), &format!("bcache{}", index + 1), &changed), &[]), None, "{change:?}");
        }
    }

    /// The names of the parts as `lsblk` shows them below a cached volume, a volume with a write cache, and a thin volume.
    #[test]
    fn the_parts_of_a_volume_tell_what_it_is() {
        let root = Tree::new("parts");
        let part = |number: u32, name: &str| {
            device(root.path(), &format!("dm-{number}"), &[("dm/uuid", "LVM-x1y2-part"), ("dm/name", name)])
        };
        let volume = part(0, "vg-main");
        let kind = |parts: &[BlockDevice]| find(&volume, parts).map(|cache| cache.kind);
        let cached = [part(1, "vg-main_corig"), part(2, "vg-fast_cvol-cdata"), part(3, "vg-fast_cvol-cmeta")];
        assert_eq!(kind(&cached).as_deref(), Some("dm-cache"));
        assert_eq!(kind(&[part(4, "vg-main_wcorig"), part(5, "vg-fast_cvol")]).as_deref(), Some("dm-writecache"));
        let pool = part(6, "vg-pool0-tpool");
        assert!(is_thin(&volume, std::slice::from_ref(&pool)));
        let data = [part(7, "vg-pool0_tdata"), part(8, "vg-pool0_tmeta")];
        assert!(!is_thin(&pool, &data) && !is_thin(&volume, &cached) && !is_thin(&volume, &[part(9, "vg-linear")]));
        assert_eq!(kind(&[pool]), None);
        // A name alone is no evidence: others may give it to anything.
        let other = device(root.path(), "dm-10", &[("dm/uuid", "CRYPT-LUKS2-x"), ("dm/name", "my_corig")]);
        assert_eq!(kind(&[other]), None);
    }

    #[test]
    fn a_journal_that_holds_data_back_is_a_cache() {
        let root = Tree::new("journal");
        let mode = |name: &str, mode: &str| {
            find(&device(root.path(), name, &[("md/journal_mode", mode)]), &[]).map(|cache| cache.kind)
        };
        assert_eq!(mode("md0", "write-through [write-back]").as_deref(), Some("md journal"));
        assert_eq!(mode("md1", "[write-through] write-back"), None);
    }
}

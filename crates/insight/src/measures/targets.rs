//! What the targets of a job are.
//!
//! Must not know: figures. Start reading at [`used_place`].

use crate::audit_input::{AuditedJob, is_for_files};
use ferrio_stats::{TargetKind, TargetPlace};

/// The first device of a job that others use, and their use.
pub(crate) fn used_place<'a>(job: &AuditedJob<'a>) -> Option<(&'a str, &'a str)> {
    let mut places = job.places.iter().filter(|place| place.kind == TargetKind::Block && job.has_files());
    places.find_map(|place| Some((&place.path[..], place.used.as_deref()?)))
}

/// The place is a plain file where a device was meant.
pub(crate) fn is_file_under_dev(place: &TargetPlace) -> bool {
    let path = &place.path;
    is_for_files(place) && path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}

/// The file system of the place is mounted with this option.
pub(crate) fn has_mount_option(place: &TargetPlace, name: &str) -> bool {
    place.mount_options.as_deref().unwrap_or_default().split(',').any(|option| option == name)
}

/// The file system of the place is mounted with compression.
pub(crate) fn compresses(place: &TargetPlace) -> bool {
    let options = place.mount_options.as_deref().unwrap_or_default();
    let is_one = |option: &str| {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        ["compress", "compress-force", "compression", "compress_algorithm"].contains(&name)
            && !["no", "none", "off"].contains(&value)
    };
    options.split(',').any(is_one)
}

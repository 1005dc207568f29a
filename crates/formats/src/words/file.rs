//! Remarks and refusals about the files of a job, in words.
//!
//! Must not know: when they are shown. Start reading at [`text`].

use super::system;
use ferrio_stats::LaidOver;
use ferrio_stats::note::{DeviceUsage, FileNote};
use ferrio_units::humanize::{bytes_text, thousands};

// tidy: table
pub(super) fn text(note: &FileNote, mark: &str) -> String {
    match note {
        FileNote::TreeHas { n_files } => format!("{mark}opendir added {n_files} files"),
        FileNote::TooManyFiles { job, n_files, needed_bytes, limit_bytes } => format!(
            "{mark}{job}: {} files take {} of memory, and there are {}: set a lower nrfiles or numjobs",
            thousands(*n_files),
            bytes_text(*needed_bytes),
            bytes_text(*limit_bytes)
        ),
        FileNote::TreesAreEmpty { job } => format!("{mark}{job}: opendir: no regular file is there"),
        FileNote::StandardStream { job } => format!(
            "{job}: failed to get file size of -: standard input and output are no files of a job (./- is a file of that name)"
        ),
        FileNote::NoSize { job, file } => format!("{job}: failed to get file size of {file}"),
        FileNote::SizeIsMissing { job } => format!("{job}: you need to specify size="),
        FileNote::NoValidOffset { job } => format!("{job}: you need to specify valid offset="),
        FileNote::InUse { path, usage } => {
            format!("{mark}{path} {}, and 'allow_mounted_write' isn't set. Aborting.", used(usage))
        }
        FileNote::IsDirectory { path } => format!("{mark}{path} is a directory"),
        FileNote::CannotAppend { engine } => format!("{mark}can't append/extent with IO engine {engine}"),
        FileNote::SizeTooSmall { size_bytes, block_bytes } => {
            format!("{mark}size too small, must not be less than minimum block size: {size_bytes} < {block_bytes}")
        }
        FileNote::RangeTooSmall => format!("{mark}blocksize is larger than data set range"),
        FileNote::Readonly => format!("{mark}refusing extend of file due to read-only"),
        FileNote::NoEarlierRun { file, wanted_bytes } => {
            format!("{mark}verify_only: file {file} has 0 of {wanted_bytes} bytes: no earlier run wrote it")
        }
        FileNote::CreationDisallowed => format!("{mark}file creation disallowed by allow_file_create=0"),
        FileNote::NoSpace => format!("{mark}ENOSPC on laying out file, stopping"),
        FileNote::NoRoom { file, held_bytes, wanted_bytes, room_bytes } => format!(
            "{mark}{file} holds {held_bytes} bytes and the job needs {wanted_bytes}, but there is room for {room_bytes}: it stays as it is"
        ),
        FileNote::LaidOver { job, file } => laid_over(job, file, mark),
        FileNote::NoDirectIo => format!(
            "{mark}looks like your file system does not support direct=1/buffered=0\n\
                                 {mark}destination does not support O_DIRECT"
        ),
        FileNote::BeyondGenerator { file, takes_another } => {
            let advice = if *takes_another {
                "Switching to tausworthe64. Use the random_generator= option to get rid of this warning."
            } else {
                "Use the random_generator= option to switch to lfsr or tausworthe64."
            };
            format!("{mark}file {file} exceeds 32-bit tausworthe random generator.\n{mark}{advice}")
        }
        FileNote::SprandomFiles { job, n_files } => format!(
            "{mark}SPRandom supports only one file\n{mark}{job}: sprandom=1 beside {n_files} files (nrfiles, filename, opendir)"
        ),
        FileNote::SprandomCache { cache_bytes, region_bytes, n_allowed } => format!(
            "{mark}sprandom: spr_cs [{cache_bytes}] must be smaller than region_sz [{region_bytes}] which means [{n_allowed}] \
             regions allowed"
        ),
    }
}

/// What becomes of data that a file holds.
fn laid_over(job: &str, file: &LaidOver, mark: &str) -> String {
    let LaidOver { path, held_bytes, .. } = file;
    let wanted = file.wanted_bytes.map_or("until the device is full".to_owned(), |bytes| format!("{bytes} bytes"));
    if file.is_replaced {
        format!(
            "{mark}{job}: {path} held {held_bytes} bytes, and the job reads {wanted}: all of it is replaced by new data, as fio does it (ferrio run \
             keeps it)"
        )
    } else {
        format!(
            "{mark}{job}: {path} held {held_bytes} bytes, and the job reads {wanted}: what is missing is added at its end"
        )
    }
}

/// The present use of a device.
fn used(usage: &DeviceUsage) -> String {
    match usage {
        DeviceUsage::Mounted => "appears mounted".to_owned(),
        DeviceUsage::Swap { path } => format!("is in use as swap space ({path})"),
        DeviceUsage::HeldBy { name } => format!("is in use by {name}"),
        DeviceUsage::Claimed => "is claimed by another program, or mounted in another mount namespace".to_owned(),
        DeviceUsage::Unknown(error) => format!("cannot be checked for being in use ({})", system::said(error)),
    }
}

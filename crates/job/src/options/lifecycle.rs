//! Creation and removal of files, CPUs of the worker, and actions at the end of a job.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, choice};
use crate::options::{apply, apply_surroundings};
use ferrio_spec::DeviationKind::{Different, Mended, Stricter};

const SYNC: &[Choice] = &[
    choice("none", "Neither flag"),
    choice("0", "Same as 'none'"),
    choice("sync", "O_SYNC"),
    choice("1", "Same as 'sync'"),
    choice("dsync", "O_DSYNC"),
];

const WRITE_HINT: &[Choice] = &[
    choice("none", "No hint"),
    choice("short", "Short-lived data"),
    choice("medium", "Medium-lived data"),
    choice("long", "Long-lived data"),
    choice("extreme", "Very long-lived data"),
];

const CPUS_ALLOWED_POLICY: &[Choice] =
    &[choice("shared", "All clones share all CPUs"), choice("split", "One CPU a clone, in turn")];

pub(crate) const OPTIONS: &[OptionDef] = &[
    option("invalidate", Kind::Bool, "Drop page cache of the target range at open")
        .default("1")
        .place(Category::Io, "io-type")
        .applies(Apply::Bool(|draft| &mut draft.job.layout.invalidate)),
    option("sync", Kind::Choice(SYNC), "Open with O_SYNC / O_DSYNC")
        .default("none")
        .place(Category::Io, "io-type")
        .applies(Apply::With(apply::sync)),
    option("write_hint", Kind::Choice(WRITE_HINT), "Write lifetime hint via fcntl")
        .place(Category::Engine, "")
        .applies(Apply::With(apply::write_hint))
        .deviates(Mended, "A direct job sets the hint on its file like any other; fio uses a call that Linux 5.17 removed, and its job fails."),
    option("create_serialize", Kind::Bool, "Lay files out one job at a time before starting")
        .default("1")
        .place(Category::File, "")
        .applies(Apply::Bool(|draft| &mut draft.job.layout.create_serialize)),
    option("create_fsync", Kind::Bool, "fsync each file after laying it out")
        .default("1")
        .place(Category::File, "")
        .applies(Apply::Bool(|draft| &mut draft.job.layout.create_fsync)),
    option("create_on_open", Kind::Bool, "No layout; file appears when opened for I/O")
        .default("0")
        .place(Category::File, "")
        .applies(Apply::Bool(|draft| &mut draft.job.layout.create_on_open))
        .deviates(Stricter, "A missing file is an error (err=2) for a job that only reads; fio 3.41 makes an empty one."),
    option("create_only", Kind::Bool, "Stop after the layout phase")
        .default("0")
        .place(Category::File, "")
        .applies(Apply::Bool(|draft| &mut draft.job.layout.create_only)),
    option("allow_file_create", Kind::Bool, "0 = fail instead of creating missing files")
        .default("1")
        .place(Category::File, "filename")
        .applies(Apply::Bool(|draft| &mut draft.job.target.allow_file_create))
        .deviates(Mended, "A file that is too short for the job stays; fio deletes it before it finds that it may not make another."),
    option("allow_mounted_write", Kind::Bool, "Allow writes to a mounted block device")
        .default("0")
        .place(Category::File, "filename")
        .applies(Apply::Bool(|draft| &mut draft.job.target.allow_mounted_write))
        .deviates(Stricter, "Devices that are in use in other ways are refused too, and the refused run exits with 1; fio exits with 0. Such devices are swap, parts of dm, md and loop devices, devices mounted in other namespaces, and devices that are claimed or cannot be checked."),
    option("pre_read", Kind::Bool, "Read the file range once before timing starts; disables invalidate")
        .default("0")
        .place(Category::File, "")
        .applies(Apply::Bool(|draft| &mut draft.job.layout.pre_read))
        .deviates(Mended, "The option has no effect with engines without files (null, filecreate, dirstat); fio fails or crashes there."),
    option("cpumask", Kind::Int(ANY), "Affinity as bit mask (CPUs 0-31)")
        .place(Category::General, "cred")
        .applies(Apply::With(apply::cpumask)),
    option("cpus_allowed", Kind::CpuList, "Affinity as list a,b-c")
        .place(Category::General, "cred")
        .applies(Apply::With(apply::cpus_allowed))
        .deviates(Stricter, "A value that is no list of CPUs is refused; fio reads it as CPU 0."),
    option(
        "cpus_allowed_policy",
        Kind::Choice(CPUS_ALLOWED_POLICY),
        "Every clone gets all CPUs, or one CPU per clone round robin",
    )
    .under("cpus_allowed")
    .place(Category::General, "cred")
    .applies(Apply::With(apply::cpus_allowed_policy)),
    option("numa_cpu_nodes", Kind::Text, "Run on these NUMA nodes")
        .place(Category::General, "")
        .applies(Apply::With(apply_surroundings::numa_cpu_nodes))
        .deviates(Different, "Nodes counted from the first one allowed (+n) are refused.")
        .deviates(Stricter, "Lists that leave no node are refused."),
    option("numa_mem_policy", Kind::Text, "Memory policy mode[:nodes]")
        .place(Category::General, "")
        .applies(Apply::With(apply_surroundings::numa_mem_policy))
        .deviates(Different, "Nodes counted from the first one allowed (+n) are refused.")
        .deviates(Stricter, "Lists that leave no node are refused."),
    option("gpu_dev_id", Kind::Int(ANY), "CUDA device for mem=cudamalloc")
        .default("0")
        .place(Category::General, "")
        .not_applicable("needs the CUDA library"),
    option("end_fsync", Kind::Bool, "fsync every file when writing ends")
        .default("0")
        .place(Category::File, "")
        .applies(Apply::Bool(|draft| &mut draft.job.durability.end_fsync)),
    option("fsync_on_close", Kind::Bool, "fsync on each close of a written file")
        .default("0")
        .place(Category::File, "")
        .applies(Apply::Bool(|draft| &mut draft.job.durability.fsync_on_close)),
    option("end_syncfs", Kind::Bool, "syncfs each involved file system when writing ends")
        .default("0")
        .place(Category::File, "")
        .applies(Apply::Bool(|draft| &mut draft.job.durability.end_syncfs)),
    option("unlink", Kind::Bool, "Remove the job's files at the end")
        .default("0")
        .place(Category::File, "")
        .applies(Apply::Bool(|draft| &mut draft.job.layout.unlink))
        .deviates(Mended, "Engines without files (null) leave alone a file with the job's name; fio 3.41 removes it."),
    option("unlink_each_loop", Kind::Bool, "Remove files between passes")
        .default("0")
        .place(Category::File, "")
        .applies(Apply::Bool(|draft| &mut draft.job.layout.unlink_each_loop))
        .deviates(Mended, "Files that a job reads are made again for the next pass; fio 3.41 fails with err=2 or err=5. Engines without files (null) have nothing to remove, where fio 3.41 fails with err=2."),
];

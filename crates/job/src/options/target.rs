//! Name of the job, and the files that it uses.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{Choice, Kind, choice};
use crate::options::{apply, directories};
use ferrio_spec::DeviationKind::{Different, Mended, Stricter};

const FILETYPE: &[Choice] = &[
    choice("none", "Ask the file system"),
    choice("file", "Regular files"),
    choice("block", "Block devices"),
    choice("char", "Character devices"),
];

const LOCKFILE: &[Choice] = &[
    choice("none", "No locking"),
    choice("exclusive", "One I/O at a time"),
    choice("readwrite", "Many readers or one writer"),
];

pub(crate) const OPTIONS: &[OptionDef] = &[
option("description", Kind::Text, "Free text shown in reports for the job; no effect on I/O").place(Category::General, "desc").applies(Apply::With(apply::description)).takes_bytes(),
option("name", Kind::Text, "Job name; on the command line starts a new job (global* = defaults)").place(Category::General, "desc").applies(Apply::With(apply::name))
        .deviates(Mended, "The whole name is shown; fio cuts it off at 254 bytes, and in reports at 127.")
        .deviates(Stricter, "A section of a job file without a name is refused."),
option("wait_for", Kind::Text, "Hold this job back until every instance of the named, earlier-defined job has exited").place(Category::General, "desc").applies(Apply::Text(|draft| &mut draft.job.grouping.wait_for)),
option("filename", Kind::Text, "Target path(s), ':'-separated ('\\:' = literal colon); overrides generated names").place(Category::File, "filename").applies(Apply::With(apply::filename)).takes_bytes(),
option("filetype", Kind::Choice(FILETYPE), "Skip stat() and treat all targets as this kind").default("none").place(Category::File, "io-basic").applies(Apply::With(apply::filetype)),
option("directory", Kind::Text, "Prefix dir(s) for generated/relative names, ':'-separated, clone n takes entry n mod count; must exist at parse time").place(Category::File, "filename").applies(Apply::With(directories::directory)).takes_bytes()
        .deviates(Different, "On the command line the directory also applies to a filename that comes before it."),
option("filename_format", Kind::Text, "Template for generated file names: $jobname $jobnum $filenum $clientuid").default("$jobname.$jobnum.$filenum").place(Category::File, "filename").applies(Apply::Text(|draft| &mut draft.job.target.filename_format))
        .deviates(Mended, "Clones whose file names are the same share the file; in fio all but the first do nothing."),
option("unique_filename", Kind::Bool, "Client/server only: put client address between directory and file name").default("1").place(Category::File, "filename").applies(Apply::Bool(|draft| &mut draft.job.target.unique_filename))
        .deviates(Mended, "With the value 0, no warning about several writers appears if each job has files of its own; fio warns there too. A name from the root stays as it is; fio puts it below the directory. A client on a local socket has no address; fio takes a part of its path for one."),
option("lockfile", Kind::Choice(LOCKFILE), "Take an in-process lock around each I/O on the file").default("none").under("filename").place(Category::File, "filename").applies(Apply::With(apply::lockfile))
        .deviates(Different, "The wait for the lock is part of an I/O's latency; fio leaves it out.")
        .deviates(Mended, "Clones share the lock; in fio they do not exclude each other."),
option("opendir", Kind::Text, "Walk this directory tree and add every regular file").place(Category::File, "filename").applies(Apply::With(directories::opendir)).takes_bytes()
        .long("Several directories are joined by colons; `\\:` is a colon in a name. A name with colons that is a directory as it stands is one directory.")
        .deviates(Mended, "Several directories may be joined by colons; fio takes one.")
        .deviates(Different, "Files are searched when the job is set up, not when the option is read, and are sorted by name."),
];

//! What jobs do beyond I/O on files of the directory that they are started in: programs that they run, libraries that they load, files and
//! devices elsewhere that they write to.
//!
//! A job file of a stranger may do all of it with the rights of its user. Must not know: who permits it. Start reading at [`of_option`].

mod changes;
mod traces;

use crate::options::definition::OptionDef;
use crate::options::engines::library_path;
use crate::origin::Origin;
use crate::value::lists::colon_names;
use ferrio_spec::JobSpec;
use ferrio_units::byte_text;
use std::path::{Component, Path, PathBuf};

/// Options whose value is a command or a program.
const PROGRAMS: [&str; 3] = ["exec_prerun", "exec_postrun", "program"];

/// Options whose value is the name of a file that is written to, or how such names begin.
const WRITTEN: [&str; 8] = [
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "write_iolog",
    "merge_blktrace_file",
    "verify_crash_log",
    "donorname",
];

/// Those of them that are performance logs.
const LOGS: [&str; 4] = ["write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"];

/// Options whose value names targets, which are changed by jobs that write, make, lengthen or remove files.
const TARGETS: [&str; 5] = ["filename", "filename_format", "directory", "opendir", "replay_redirect"];

const KEEP_NOTHING: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// A kind of what jobs do beyond I/O on files of their directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BeyondKind {
    Programs,
    /// A shared library is loaded, whose code runs.
    Libraries,
    /// A file or a device elsewhere is written to.
    Outside,
}

impl BeyondKind {
    pub const ALL: [Self; 3] = [Self::Programs, Self::Libraries, Self::Outside];

    /// Its word on command lines.
    pub fn word(self) -> &'static str {
        match self {
            Self::Programs => "programs",
            Self::Libraries => "libraries",
            Self::Outside => "outside",
        }
    }

    pub fn deed(self) -> &'static str {
        match self {
            Self::Programs => "runs a program",
            Self::Libraries => "loads a library, whose code runs",
            Self::Outside => "writes outside of this directory",
        }
    }
}

/// An option by which a job may do more than I/O on files of its directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beyond {
    pub kind: BeyondKind,
    pub origin: Origin,
    /// The option as outputs show it, `NAME=VALUE`, or the section, `[NAME]`.
    pub option: String,
    paths: Vec<PathBuf>,
    doers: Doers,
}

/// The jobs that do more than I/O because of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Doers {
    /// Each job.
    All,
    /// Jobs that change their files.
    Changing,
    /// Jobs that replay these traces on the files that they name.
    Replaying(String),
    /// Jobs whose files or logs have this name.
    Named(String),
}

impl Beyond {
    /// True if it is a performance log, which a server sends to its client instead of writing it.
    pub fn is_log(&self) -> bool {
        is_log(&self.option)
    }

    /// True if nothing is written but below a directory, by its path. Programs and libraries are below none.
    pub fn is_within(&self, directory: &Path) -> bool {
        self.kind == BeyondKind::Outside && self.paths.iter().all(|path| path.starts_with(directory) && !climbs(path))
    }

    /// The same with all paths, if one of the jobs does it; `None`: none does. Files and traces of the jobs are looked at.
    pub(crate) fn done_by(&self, jobs: &[JobSpec]) -> Option<Self> {
        let is_done = match &self.doers {
            Doers::All => true,
            Doers::Changing => jobs.iter().any(changes::may_change),
            Doers::Replaying(_) => jobs.iter().any(|job| job.replay.is_set() && job.replay.redirect.is_none()),
            Doers::Named(name) => jobs.iter().any(|job| changes::writes_by_name(job, name)),
        };
        let mut done = self.clone();
        if let (true, Doers::Replaying(traces)) = (is_done, &self.doers) {
            done.paths =
                traces::changed_files(traces).into_iter().map(PathBuf::from).filter(|path| leaves(path)).collect();
            return (!done.paths.is_empty()).then_some(done);
        }
        is_done.then_some(done)
    }
}

/// What an option with this value does beyond I/O; `shown` is the value as outputs show it.
pub(crate) fn of_option(def: &OptionDef, text: &str, shown: &str, origin: &Origin) -> Option<Beyond> {
    let found = |kind, paths, doers| {
        let option = format!("{}={shown}", def.name);
        Some(Beyond { kind, origin: origin.clone(), option, paths, doers })
    };
    if let Some(kind) = kind_of(def, text) {
        return found(kind, Vec::new(), Doers::All);
    }
    let (names, doers) = match def.name {
        name if TARGETS.contains(&name) => (colon_names(text), Doers::Changing),
        name if WRITTEN.contains(&name) => (vec![text.to_owned()], Doers::All),
        "mem" => (mapped_file(text).into_iter().collect(), Doers::All),
        "name" => (vec![text.to_owned()], Doers::Named(text.to_owned())),
        // Which files its traces name is looked up when it is asked for: a trace may be on a server that is gone.
        "read_iolog" => return found(BeyondKind::Outside, Vec::new(), Doers::Replaying(text.to_owned())),
        _ => return None,
    };
    let paths: Vec<PathBuf> = names.into_iter().map(PathBuf::from).filter(|path| leaves(path)).collect();
    if paths.is_empty() { None } else { found(BeyondKind::Outside, paths, doers) }
}

/// What the name of a section does beyond I/O: files and logs of its jobs are named after it.
pub(crate) fn of_section(name: &str, origin: &Origin) -> Option<Beyond> {
    let path = PathBuf::from(name);
    leaves(&path).then(|| Beyond {
        kind: BeyondKind::Outside,
        origin: origin.clone(),
        option: byte_text::shown(&format!("[{name}]")).into_owned(),
        paths: vec![path],
        doers: Doers::Named(name.to_owned()),
    })
}

/// True if an option as outputs show it, `NAME` or `NAME=VALUE`, writes a performance log.
pub fn is_log(option: &str) -> bool {
    option.split('=').next().is_some_and(|name| LOGS.contains(&name))
}

/// The files beside their targets that jobs with these options write or replay onto, or how the names of such files begin; performance logs
/// are not among them.
pub fn files_beside_targets(options: &[(String, String)]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for (name, text) in options.iter().filter(|(_, text)| !text.is_empty()) {
        match name.as_str() {
            "mem" => paths.extend(mapped_file(text)),
            "replay_redirect" => paths.extend(colon_names(text)),
            name if WRITTEN.contains(&name) && !is_log(name) => paths.push(text.clone()),
            _ => {}
        }
    }
    paths.into_iter().map(PathBuf::from).collect()
}

/// The file of `mem=mmap:FILE`.
fn mapped_file(text: &str) -> Option<String> {
    text.split_once(':').map(|(_, file)| file.to_owned())
}

/// The kind of an option with this value, unless it depends on paths.
pub(crate) fn kind_of(def: &OptionDef, text: &str) -> Option<BeyondKind> {
    if PROGRAMS.contains(&def.name) && !text.is_empty() {
        return Some(BeyondKind::Programs);
    }
    (def.name == "ioengine" && library_path(text).is_some()).then_some(BeyondKind::Libraries)
}

/// True if a path may lead out of the directory from which it starts.
fn leaves(path: &Path) -> bool {
    climbs(path) || path.is_absolute() && !KEEP_NOTHING.iter().any(|nothing| path == Path::new(nothing))
}

fn climbs(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{find_general, find_private};

    fn kind(name: &str, text: &str) -> Option<BeyondKind> {
        let def = find_general(name).or_else(|| find_private("exec", name)).expect("an option");
        of_option(def, text, text, &Origin::CommandLine).map(|found| found.kind)
    }

    #[test]
    fn what_an_option_does_is_known() {
        use BeyondKind::{Libraries, Outside, Programs};
        for (name, text, expected) in [
            ("exec_prerun", "rm -rf x", Some(Programs)),
            ("exec_prerun", "", None),
            ("program", "/bin/true", Some(Programs)),
            ("ioengine", "external:./b.so", Some(Libraries)),
            ("ioengine", "/a/b.so", Some(Libraries)),
            ("ioengine", "libaio", None),
            ("filename", "a:b/c", None),
            ("filename", "a:/dev/sda", Some(Outside)),
            ("filename", "/dev/null:/dev/zero", None),
            ("directory", "../elsewhere", Some(Outside)),
            ("directory", "a/../../b", Some(Outside)),
            ("write_bw_log", "/etc/log", Some(Outside)),
            ("write_bw_log", "log", None),
            ("write_iolog", "../trace", Some(Outside)),
            ("read_iolog", "/a/trace", Some(Outside)),
            ("mem", "mmap:../elsewhere", Some(Outside)),
            ("mem", "mmap:here", None),
            ("verify_crash_log", "/etc/log", Some(Outside)),
            ("name", "../elsewhere/a", Some(Outside)),
        ] {
            assert_eq!(kind(name, text), expected, "{name}={text}");
        }
    }

    #[test]
    fn a_directory_holds_what_is_below_it() {
        let of = |text: &str| {
            of_option(find_general("filename").expect("an option"), text, text, &Origin::CommandLine)
                .expect("it leaves")
        };
        assert!(of("/data/u/a").is_within(Path::new("/data/u")));
        assert!(!of("/data/u/../../etc/a").is_within(Path::new("/data/u")));
        assert!(!of("/data/u/a:/etc/b").is_within(Path::new("/data/u")));
    }
}

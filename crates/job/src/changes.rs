//! Options by which a job changes something on the machine although it only reads: logs, traces, programs, settings of devices.
//!
//! `--readonly` refuses jobs that write or trim. What a job file does beside its I/O is known here. Must not know: who permits it. Start
//! reading at [`of_option`].

use crate::beyond::{self, BeyondKind};
use crate::options::definition::OptionDef;
use crate::origin::Origin;
use ferrio_spec::engines::{Data, Opening, by_name};

/// Options whose value is the name of a file that is written to, or how such names begin, and what is written.
const WRITTEN: [(&str, &str); 7] = [
    ("write_bw_log", "writes logs"),
    ("write_lat_log", "writes logs"),
    ("write_iops_log", "writes logs"),
    ("write_hist_log", "writes logs"),
    ("write_iolog", "writes a trace"),
    ("merge_blktrace_file", "writes a trace"),
    ("verify_crash_log", "writes a journal"),
];

/// Options whose value is a name that is set or made on the machine.
const SET: [(&str, &str); 3] = [
    ("ioscheduler", "sets the I/O scheduler of a device"),
    ("cgroup", "makes a control group"),
    ("donorname", "makes a file and moves extents"),
];

/// An option by which a job changes something beside its I/O.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadonlyChange {
    pub origin: Origin,
    /// The option as outputs show it, `NAME=VALUE`.
    pub option: String,
    pub deed: &'static str,
}

/// What an option with this value changes, whatever the job reads or writes; `shown` is the value as outputs show it.
pub(crate) fn of_option(def: &OptionDef, text: &str, shown: &str, origin: &Origin) -> Option<ReadonlyChange> {
    let deed = deed(def, text)?;
    let option = if text.is_empty() { def.name.to_owned() } else { format!("{}={shown}", def.name) };
    Some(ReadonlyChange { origin: origin.clone(), option, deed })
}

fn deed(def: &OptionDef, text: &str) -> Option<&'static str> {
    if let Some(kind @ (BeyondKind::Programs | BeyondKind::Libraries)) = beyond::kind_of(def, text) {
        return Some(kind.deed());
    }
    let of_table =
        |table: &[(&str, &'static str)]| table.iter().find(|(name, _)| *name == def.name).map(|found| found.1);
    match def.name {
        "ioengine" => {
            let engine = by_name(text)?;
            let changes = engine.data == Data::Names || engine.opening == Opening::ToChange;
            changes.then_some("makes, changes or removes files, with rw=read too")
        }
        "verify_dump" => (text != "0").then_some("writes blocks that do not verify to files"),
        "mem" => text.contains(':').then_some("writes to a file"),
        _ => of_table(&WRITTEN).or_else(|| of_table(&SET).filter(|_| !text.is_empty())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{find_general, find_private};

    #[test]
    fn what_an_option_changes_is_known() {
        for (engine, name, text, expected) in [
            ("psync", "write_bw_log", "", Some("write_bw_log")),
            ("psync", "write_iolog", "trace", Some("write_iolog=trace")),
            ("psync", "exec_prerun", "touch x", Some("exec_prerun=touch x")),
            ("psync", "exec_prerun", "", None),
            ("exec", "program", "/bin/true", Some("program=/bin/true")),
            ("psync", "ioengine", "./mark.so", Some("ioengine=./mark.so")),
            ("psync", "ioengine", "filedelete", Some("ioengine=filedelete")),
            ("psync", "ioengine", "filecreate", Some("ioengine=filecreate")),
            ("psync", "ioengine", "dirdelete", Some("ioengine=dirdelete")),
            ("psync", "ioengine", "falloc", Some("ioengine=falloc")),
            ("psync", "ioengine", "filestat", None),
            ("psync", "ioengine", "libaio", None),
            ("psync", "verify_dump", "1", Some("verify_dump=1")),
            ("psync", "verify_dump", "0", None),
            ("psync", "mem", "mmap:/tmp/x", Some("mem=mmap:/tmp/x")),
            ("psync", "mem", "mmap", None),
            ("psync", "ioscheduler", "none", Some("ioscheduler=none")),
            ("psync", "cgroup", "x", Some("cgroup=x")),
            ("e4defrag", "donorname", "x", Some("donorname=x")),
            ("psync", "read_iolog", "trace", None),
            ("psync", "filename", "/dev/sda", None),
        ] {
            let def = find_general(name).or_else(|| find_private(engine, name)).expect("an option");
            let found = of_option(def, text, text, &Origin::CommandLine);
            assert_eq!(found.map(|found| found.option).as_deref(), expected, "{name}={text}");
        }
    }
}

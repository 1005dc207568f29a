//! Private options of engines: each is declared once, with its type, in a file for its engine or family of engines.
//!
//! Parser, help and documents read the lists, by [`TABLES`]; engines and rules read the values by the constants, so that
//! a misspelt name does not compile. Must not know: engines' code, how values are parsed.
//! Start reading at [`declaration::EngineOption`], then any file of declarations.

#[macro_use]
pub mod declaration;
pub mod typed;

pub mod command_priority;
pub mod cpuio;
pub mod dfs;
pub mod e4defrag;
pub mod exec;
pub mod external;
pub mod filestat;
pub mod gfapi;
pub mod http;
pub mod io_uring;
pub mod io_uring_cmd;
pub mod libaio;
pub mod libblkio;
pub mod libcufile;
pub mod libhdfs;
pub mod libhipfile;
pub mod libiscsi;
pub mod mmap;
pub mod mtd;
pub mod nbd;
pub mod net;
pub mod nfs;
pub mod own;
pub mod pvsync2;
pub mod rados;
pub mod rbd;
pub mod rdma;
pub mod sg;
pub mod sim;
pub mod windowsaio;
pub mod xnvme;

use crate::{EngineValue, GivenOptions};
use declaration::{EngineOptionDef, OptionSyntax};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineTableDef {
    pub engines: &'static [&'static str],
    pub options: &'static [EngineOptionDef],
}

const fn of(engines: &'static [&'static str], options: &'static [EngineOptionDef]) -> EngineTableDef {
    EngineTableDef { engines, options }
}

const IO_URING: &[&str] = &["io_uring", "io_uring_cmd"];

/// All private options, in the order of fio's own list, on which the help and the suggestions depend.
pub const TABLES: &[EngineTableDef] = &[
    of(&["cpuio"], cpuio::OPTIONS),
    of(&["dfs"], dfs::OPTIONS),
    of(&["e4defrag"], e4defrag::OPTIONS),
    of(&["exec"], exec::OPTIONS),
    of(&["filestat", "dirstat"], filestat::OPTIONS),
    of(&["gfapi", "gfapi_async"], gfapi::OPTIONS),
    of(&["http"], http::OPTIONS),
    of(IO_URING, io_uring::OPTIONS),
    of(IO_URING, command_priority::OPTIONS),
    of(IO_URING, io_uring_cmd::OPTIONS),
    of(&["libaio"], libaio::OPTIONS),
    of(&["libaio"], command_priority::OPTIONS),
    of(&["libblkio"], libblkio::OPTIONS),
    of(&["libcufile"], libcufile::OPTIONS),
    of(&["libhdfs"], libhdfs::OPTIONS),
    of(&["libhipfile"], libhipfile::OPTIONS),
    of(&["libiscsi"], libiscsi::OPTIONS),
    of(&["mmap"], mmap::OPTIONS),
    of(&["mtd"], mtd::OPTIONS),
    of(&["nbd"], nbd::OPTIONS),
    of(&["own", "own_async"], own::OPTIONS),
    of(&["net", "netsplice"], net::OPTIONS),
    of(&["nfs"], nfs::OPTIONS),
    of(&["rados"], rados::OPTIONS),
    of(&["rbd"], rbd::OPTIONS),
    of(&["rdma"], rdma::OPTIONS),
    of(&["sg"], sg::OPTIONS),
    of(&["external"], external::OPTIONS),
    of(&["pvsync2"], pvsync2::OPTIONS),
    of(&["windowsaio"], windowsaio::OPTIONS),
    of(&["xnvme"], xnvme::OPTIONS),
    of(&["sim"], sim::OPTIONS),
];

/// Options of an engine from names and plain texts, in which numbers have no suffixes: for tests and tools that have no parser.
/// `None`: the engine has no such option, or its value is no such text.
pub fn from_texts<'a>(engine: &str, texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<GivenOptions> {
    let mut given = GivenOptions::default();
    for (name, text) in texts {
        let mut tables = TABLES.iter().filter(|table| table.engines.contains(&engine));
        let def = tables.find_map(|table| table.options.iter().find(|def| def.name == name))?;
        let value = match def.syntax {
            OptionSyntax::Bool | OptionSyntax::Flag => EngineValue::Bool(text != "0"),
            OptionSyntax::Int(_) | OptionSyntax::Size(_) => EngineValue::Int(text.parse().ok()?),
            OptionSyntax::Text | OptionSyntax::Word(_) => EngineValue::Text(text.to_owned()),
            OptionSyntax::IntPerDirection(_) => return None,
        };
        given.put(name, value);
    }
    Some(given)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::{ENGINES, by_name};

    #[test]
    fn a_table_belongs_to_a_whole_family_of_engines() {
        for table in TABLES {
            let family = by_name(table.engines[0]).map(|engine| engine.family);
            let of_family = ENGINES.iter().filter(|engine| Some(engine.family) == family).map(|engine| engine.name);
            let (mut all, mut named): (Vec<_>, Vec<_>) = (of_family.collect(), table.engines.to_vec());
            all.sort_unstable();
            named.sort_unstable();
            assert_eq!(named, all);
        }
    }

    #[test]
    fn an_engine_has_each_name_once() {
        for engine in ENGINES {
            let tables = TABLES.iter().filter(|table| table.engines.contains(&engine.name));
            let defs: Vec<&EngineOptionDef> = tables.flat_map(|table| table.options).collect();
            let mut names: Vec<&str> =
                defs.iter().flat_map(|def| def.aliases.iter().copied().chain([def.name])).collect();
            let n_names = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), n_names, "{}", engine.name);
        }
    }
    #[test]
    fn plain_texts_become_values_of_their_syntax() {
        let texts = [("cpuload", "50"), ("exit_on_io_done", "1"), ("cpumode", "qsort")];
        let given = from_texts("cpuio", texts).unwrap();
        assert_eq!((given.get(&cpuio::CPULOAD), given.get(&cpuio::EXIT_ON_IO_DONE)), (Some(50), true));
        assert_eq!(given.get(&cpuio::CPUMODE), cpuio::CpuMode::Qsort);
        assert!(from_texts("psync", texts).is_none());
        assert!(from_texts("cpuio", [("cpuload", "half")]).is_none());
    }
}

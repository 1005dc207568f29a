//! Which engines are built in. A new engine is one file and one line here, beside its row in `ferrio_spec::engines`.
//!
//! Start reading at `ENGINES`.

use crate::contract::{EngineKind, Prepare};
use crate::{
    cpuio, dircreate, dirdelete, dirstat, e4defrag, exec, falloc, filecreate, filedelete, filestat, ftruncate,
    io_uring, libaio, mmap, nbd, net, null, own, page_fault, posixaio, psync, pvsync, pvsync2, sim, splice, sync,
    vsync,
};
use ferrio_spec::engines::by_name;

/// All engines that are built in, by their names in the table of engines.
const ENGINES: &[(&str, Prepare)] = &[
    ("cpuio", cpuio::PREPARE),
    ("sync", sync::PREPARE),
    ("psync", psync::PREPARE),
    ("vsync", vsync::PREPARE),
    ("pvsync", pvsync::PREPARE),
    ("pvsync2", pvsync2::PREPARE),
    ("libaio", libaio::PREPARE),
    ("io_uring", io_uring::PREPARE),
    ("exec", exec::PREPARE),
    ("page_fault", page_fault::PREPARE),
    ("posixaio", posixaio::PREPARE),
    ("mmap", mmap::PREPARE),
    ("splice", splice::PREPARE),
    ("nbd", nbd::PREPARE),
    ("net", net::PREPARE),
    ("netsplice", net::PREPARE_SPLICE),
    ("null", null::PREPARE),
    ("sim", sim::PREPARE),
    ("own", own::PREPARE),
    ("falloc", falloc::PREPARE),
    ("e4defrag", e4defrag::PREPARE),
    ("ftruncate", ftruncate::PREPARE),
    ("filecreate", filecreate::PREPARE),
    ("filestat", filestat::PREPARE),
    ("filedelete", filedelete::PREPARE),
    ("dircreate", dircreate::PREPARE),
    ("dirstat", dirstat::PREPARE),
    ("dirdelete", dirdelete::PREPARE),
];

/// The engine of a canonical name.
pub fn find(name: &str) -> Option<EngineKind> {
    let (_, prepare) = ENGINES.iter().find(|(own, _)| *own == name)?;
    by_name(name).map(|def| EngineKind { def: *def, prepare: *prepare })
}

/// All engines that are built in.
pub fn all() -> impl Iterator<Item = EngineKind> {
    ENGINES.iter().filter_map(|(name, _)| find(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_table_of_engines_calls_built_is_here_once_and_nothing_else() {
        for def in ferrio_spec::engines::ENGINES {
            let n_found = ENGINES.iter().filter(|(name, _)| *name == def.name).count();
            assert_eq!(n_found, usize::from(def.status.is_built()), "{}", def.name);
        }
        assert_eq!(all().count(), ENGINES.len());
        assert!(find("no-such-engine").is_none());
    }
}

//! Which engines are built in. A new engine is one file and one line here, beside its row in `ferrio_spec::engines`.
//!
//! Start reading at `ENGINES`.

use crate::commands::{io_uring_cmd, sg};
use crate::contract::kind::EngineKind;
use crate::contract::kind::EngineWork::{self, Io, Turns};
use crate::file_system::{
    dircreate, dirdelete, dirstat, e4defrag, falloc, filecreate, filedelete, filestat, ftruncate,
};
use crate::files::{
    dev_dax, io_uring, libaio, libpmem, libzbc, mmap, mtd, posixaio, psync, pvsync, pvsync2, splice, sync, vsync,
};
use crate::program::{external, own};
use crate::servers::{clients, http, libblkio, libiscsi, nbd, net, nfs, rdma};
use crate::sim;
use crate::without_data::{cpuio, exec, null, page_fault};
use ferrio_spec::engines::by_name;

/// All engines that are built in, by their names in the table of engines.
const ENGINES: &[(&str, EngineWork)] = &[
    ("cpuio", Turns(cpuio::PREPARE)),
    ("sync", Io(sync::PREPARE)),
    ("psync", Io(psync::PREPARE)),
    ("vsync", Io(vsync::PREPARE)),
    ("pvsync", Io(pvsync::PREPARE)),
    ("pvsync2", Io(pvsync2::PREPARE)),
    ("libaio", Io(libaio::PREPARE)),
    ("io_uring", Io(io_uring::PREPARE)),
    ("io_uring_cmd", Io(io_uring_cmd::PREPARE)),
    ("exec", Turns(exec::PREPARE)),
    ("page_fault", Io(page_fault::PREPARE)),
    ("posixaio", Io(posixaio::PREPARE)),
    ("mmap", Io(mmap::PREPARE)),
    ("libblkio", Io(libblkio::PREPARE)),
    ("libiscsi", Io(libiscsi::PREPARE)),
    ("dev-dax", Io(dev_dax::PREPARE)),
    ("libpmem", Io(libpmem::PREPARE)),
    ("libzbc", Io(libzbc::PREPARE)),
    ("mtd", Io(mtd::PREPARE)),
    ("sg", Io(sg::PREPARE)),
    ("splice", Io(splice::PREPARE)),
    ("http", Io(http::PREPARE)),
    ("rados", Io(clients::RADOS)),
    ("rbd", Io(clients::RBD)),
    ("gfapi", Io(clients::GFAPI)),
    ("gfapi_async", Io(clients::GFAPI_ASYNC)),
    ("nbd", Io(nbd::PREPARE)),
    ("net", Io(net::PREPARE)),
    ("netsplice", Io(net::PREPARE_SPLICE)),
    ("nfs", Io(nfs::PREPARE)),
    ("null", Io(null::PREPARE)),
    ("rdma", Io(rdma::PREPARE)),
    ("sim", Io(sim::PREPARE)),
    ("own", Io(own::PREPARE)),
    ("own_async", Io(own::ASYNC)),
    ("external", Io(external::PREPARE)),
    ("falloc", Io(falloc::PREPARE)),
    ("e4defrag", Io(e4defrag::PREPARE)),
    ("ftruncate", Io(ftruncate::PREPARE)),
    ("filecreate", Io(filecreate::PREPARE)),
    ("filestat", Io(filestat::PREPARE)),
    ("filedelete", Io(filedelete::PREPARE)),
    ("dircreate", Io(dircreate::PREPARE)),
    ("dirstat", Io(dirstat::PREPARE)),
    ("dirdelete", Io(dirdelete::PREPARE)),
];

/// Opens a library of others.
type OpenLibrary = fn() -> ferrio_sys::Result<()>;

/// Engines that need a library of others, and what opens it.
const LIBRARIES: &[(&str, OpenLibrary)] = &[
    ("rados", clients::open_librados),
    ("rbd", clients::open_librbd),
    ("gfapi", clients::open_libgfapi),
    ("gfapi_async", clients::open_libgfapi),
    ("nfs", nfs::open_library),
    ("libiscsi", libiscsi::open_library),
    ("libblkio", libblkio::open_library),
    ("rdma", rdma::open_library),
];

/// Opens the library of others that an engine needs; `None`: it needs none. The error names the package that has the library.
pub fn open_library_of(name: &str) -> Option<ferrio_sys::Result<()>> {
    LIBRARIES.iter().find(|(own, _)| *own == name).map(|(_, open)| open())
}

pub fn find(name: &str) -> Option<EngineKind> {
    let (_, work) = ENGINES.iter().find(|(own, _)| *own == name)?;
    by_name(name).map(|def| EngineKind { def: *def, work: *work })
}

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

    #[test]
    fn engines_that_move_nothing_work_in_turns_and_no_others() {
        for kind in all() {
            assert_eq!(kind.io().is_none(), kind.def.moves_nothing(), "{}", kind.def.name);
        }
    }
}

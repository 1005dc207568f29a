//! Engines over client libraries of storage clusters, which are opened when a job asks for them: Ceph and `GlusterFS`.
//!
//! A library calls back on threads of its own when an I/O has ended. The result goes through a `ClientMail` to the loop of the
//! job. Calls that wait for a server are made in a thread that can be left behind, and questions before a job in a process
//! that can be ended. Storage of a program with many I/Os in flight (`own/queue.rs`) has the same driver. Must not know: loops. Start reading at `driver`, then `ceph`, `rados`, `rbd` and `gfapi`.

mod ceph;
pub(crate) mod driver;
mod gfapi;
mod inquiry;
pub(crate) mod mailbox;
mod rados;
mod rbd;
#[cfg(test)]
mod tests;

pub(crate) use gfapi::{PREPARE_ASYNC as GFAPI_ASYNC, PREPARE_SYNC as GFAPI};
pub(crate) use rados::PREPARE as RADOS;
pub(crate) use rbd::PREPARE as RBD;

/// Opens the library of `rados`.
pub(crate) fn open_librados() -> ferrio_sys::Result<()> {
    ceph::Librados::get().map(|_| ())
}

/// Opens the libraries of `rbd`.
pub(crate) fn open_librbd() -> ferrio_sys::Result<()> {
    open_librados()?;
    rbd::Librbd::get().map(|_| ())
}

/// Opens the library of `gfapi` and `gfapi_async`.
pub(crate) fn open_libgfapi() -> ferrio_sys::Result<()> {
    gfapi::Libgfapi::get().map(|_| ())
}

//! Private options, one file an engine (or a family that shares them).
//!
//! Must not know: engines' code.

pub(crate) mod cpuio;
pub(crate) mod dfs;
pub(crate) mod e4defrag;
pub(crate) mod exec;
pub(crate) mod external;
pub(crate) mod filestat;
pub(crate) mod gfapi;
pub(crate) mod http;
pub(crate) mod io_uring;
pub(crate) mod libaio;
pub(crate) mod libblkio;
pub(crate) mod libcufile;
pub(crate) mod libhdfs;
pub(crate) mod libhipfile;
pub(crate) mod libiscsi;
pub(crate) mod mmap;
pub(crate) mod mtd;
pub(crate) mod nbd;
pub(crate) mod net;
pub(crate) mod nfs;
pub(crate) mod own;
pub(crate) mod pvsync2;
pub(crate) mod rados;
pub(crate) mod rbd;
pub(crate) mod rdma;
pub(crate) mod sg;
pub(crate) mod sim;
pub(crate) mod windowsaio;
pub(crate) mod xnvme;

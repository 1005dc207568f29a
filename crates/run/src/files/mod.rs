//! The files of a job: names, sizes, guards, descriptors.
//!
//! Must not know: zones of devices, layout, loops, reports.
//! Start reading at [`FileSet`]; names in `naming`, sizes in `size`, descriptors in `table`.

pub mod guard;
pub(crate) mod naming;
pub(crate) mod protected;
mod set;
pub(crate) mod size;
pub(crate) mod table;

pub(crate) use naming::{is_target, named_paths, tell_trees};
pub use set::{FilePlan, FileSet, ZonedFiles};

//! The native commands that do what fio's small programs do, beside those of Debian's package.
//!
//! Start reading at the command that failed: one file each.

mod btrace;
mod dedupe;
mod genjob;
mod genzipf;
mod verify_state;

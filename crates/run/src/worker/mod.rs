//! One worker: the work of a job's process or thread, from its first step to its results.
//!
//! From the top: `main` and `passes`, with `deadlines` (deadlines and requests), `read_back` and `finish`; the
//! [`loops`], which move I/Os; the [`samplers`], which act at deadlines; the [`hooks`], which see single I/Os,
//! including [`verify`]; the [`core`], which every I/O uses. Each knows only those below it.
//!
//! Must not know: other workers, formats.
//! Start reading at [`run_worker`], which is in `main`.

mod commands;
pub(crate) mod core;
mod deadlines;
mod finish;
pub(crate) mod hooks;
pub(crate) mod loops;
mod main;
mod passes;
mod prepare;
mod read_back;
pub(crate) mod samplers;
mod stream_plan;
mod surroundings;
pub(crate) mod verify;
mod worker_figures;

pub(crate) use prepare::check_engine;
pub(crate) use surroundings::device_of;
pub(crate) use verify::check_state;

pub use main::run_worker;

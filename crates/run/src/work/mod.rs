//! One worker: the work of a job's process or thread, from its first step to its results.
//!
//! From the top: `whole` and `passes`, with `lookout` (deadlines and requests), `read_back` and `finish`; the
//! [`loops`], which move I/Os; the [`samplers`], which act at deadlines; the [`hooks`], which see single I/Os,
//! including [`verify`]; the [`lane`], which every I/O uses. Each knows only those below it.
//!
//! Must not know: other workers, formats.
//! Start reading at [`work`], which is in `whole`.

mod commands;
mod figures;
mod finish;
pub(crate) mod hooks;
pub(crate) mod lane;
mod lookout;
pub(crate) mod loops;
mod passes;
mod prepare;
mod read_back;
pub(crate) mod samplers;
mod stream_plan;
mod surroundings;
pub(crate) mod verify;
mod whole;

pub(crate) use surroundings::device_of;
pub(crate) use verify::check_state;

pub use whole::work;

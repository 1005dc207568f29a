//! Numbers and words that every other crate uses: sizes, times, scaled numbers, I/O directions, random generators,
//! skewed distributions, the random map.
//!
//! Must not know: anything above it (no operating system, no job, no format).
//! Start reading at [`direction`], then [`value`] (what users write), [`scale`] (what they read), [`random`].
#![forbid(unsafe_code)]

mod arena_kind;
mod base;
pub mod byte_text;
pub mod checksum;
mod csv_field;
pub mod direction;
mod error;
pub mod filled;
pub mod humanize;
mod jhash;
mod kernel_settings;
pub mod random;
mod random_map;
pub mod scale;
mod system_words;
pub mod terminal_text;
pub mod value;
mod wording;

pub use arena_kind::ArenaKind;
pub use base::{KbBase, UnitBase};
pub use csv_field::csv_field;
pub use direction::{DataDirection, Direction, PerDirection};
pub use error::{AllowedParameter, BuildError};
pub use jhash::jhash;
pub use kernel_settings::{IoPriority, NumaMemory, WriteHint};
pub use random_map::RandomMap;
pub use system_words::{errno_text, error_text};
pub use value::ParseError;
pub use wording::Wording;

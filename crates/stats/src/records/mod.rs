//! Records of finished runs, with the evidence, the origin and the settings in them.
//!
//! Must not know: formats. Start reading at [`record`], then [`evidence`] and [`provenance`].

pub mod anonymous;
pub mod clones;
pub mod evidence;
pub(crate) mod hosts;
pub(crate) mod places;
pub mod provenance;
pub mod record;
pub(crate) mod reported;
pub(crate) mod settings;

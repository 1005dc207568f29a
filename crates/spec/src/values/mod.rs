//! Kinds of values that several options have, and how options relate to fio.
//!
//! Must not know: single options. Start reading at [`syntax`].

pub(crate) mod decimal_percent;
pub(crate) mod option_row;
pub mod secret;
pub(crate) mod status;
pub mod syntax;

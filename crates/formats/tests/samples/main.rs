//! The formats compared with recorded outputs of a development version of fio, and with figures that no run would give.
//!
//! Each sample is read into results and written again; the text must be the same. Start reading at [`normal`].

mod all_formats;
mod common;
mod json;
mod normal;
mod normal_reader;
mod peer;
mod read_back;
mod terse;

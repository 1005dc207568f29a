//! The formats against recorded outputs of fio's development head, and against what no run would give.
//!
//! Each sample is read into results and written again; the text must be the same. Start reading at [`normal`].

mod all_formats;
mod common;
mod json;
mod normal;
mod normal_reader;
mod peer;
mod terse;

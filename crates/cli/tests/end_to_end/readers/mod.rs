//! Programs that read what fio writes, or that run `fio`, with ferrio in fio's place: each must find the figures that
//! ferrio's own document has. A reader that is not installed is skipped by name; docs/readers.md says how to get it.
//!
//! Start reading at `bench`, which puts ferrio on the path as `fio`, then at the test that failed.

mod bench;
mod documents;
mod histograms;
mod logs;
mod plots;
mod programs;

//! Programs that read fio's output, or that run `fio`, with ferrio in fio's place: each must find the figures of
//! ferrio's own document. A reader that is not installed is skipped by name; docs/readers.md explains how to install
//! it.
//!
//! Start reading at `bench`, which puts ferrio on the path as `fio`, then at the test that failed.

mod bench;
mod documents;
mod histograms;
mod logs;
mod plots;
mod programs;

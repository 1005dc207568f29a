//! Storage measured from a program of your own.
#![forbid(unsafe_code)]

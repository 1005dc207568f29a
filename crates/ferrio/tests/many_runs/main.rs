//! Many runs on simulated devices, on virtual time: sweeps, searches, repeats and fits, whose truth queueing theory knows.
//!
//! Start reading at [`sweep::simulated`].

mod fit;
mod repeats;
mod sweep;

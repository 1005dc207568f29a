//! What coordinator and workers say to each other: gRPC over TLS, one stream for each worker, with messages in the form of records (CBOR).
//!
//! Must not know: what they do. Start reading at [`FleetReport`] and [`FleetOrder`], then [`service`].

mod codec;
mod log;
mod message;
pub mod secrets;
pub mod service;
pub mod stream;

pub use log::{LogBytes, LogPart, SentLogName};
pub(crate) use message::SentReport;
pub use message::{
    ClientJobs, FleetOrder, FleetReport, Hello, HostJobs, HostName, HostWork, MeasuredHost, PROTOCOL, SentJobFile,
};

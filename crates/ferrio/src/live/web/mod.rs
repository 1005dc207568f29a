//! A run as a web page that follows it, as metrics for Prometheus, and as JSON at its end.
//!
//! The server is a process of its own, like every viewer. Must not know: where frames come from. Start reading at [`WebServer::bind`],
//! then [`WebServer::serve`].

mod guard;
mod metrics;
mod page;
mod places;
mod point;
mod routes;
mod server;
mod state;

pub use guard::WebError;
pub use server::{MOST_END_WAIT, WebServer};

//! The network to a server, and what a server does to requests: lost segments, full windows, replies that wait for an
//! acknowledgement, lost connections, requests that were sent again, writes that it may still have in memory.

pub(crate) mod absent_objects;
pub(crate) mod delayed_replies;
pub(crate) mod lost_connections;
pub(crate) mod lost_segments;
pub(crate) mod requests_sent_again;
pub(crate) mod requests_without_data;
pub(crate) mod short_objects;
pub(crate) mod small_window;
pub(crate) mod throttled;
pub(crate) mod uncommitted_writes;

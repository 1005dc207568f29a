//! Steps by which a worker reached its server and got replies, with their times.
//!
//! Must not know: protocols, engines. Start reading at [`ServerSteps`].

use crate::counters::counts::add_to;
use crate::counters::object_requests::ObjectRequests;
use crate::distribution::latency::LatencyStat;
use ferrio_sys::tcp_info::TcpCounts;
use serde::{Deserialize, Serialize};

/// Steps by which a worker reached its server and got replies, with their times. A step that an engine does not have, or
/// cannot tell apart, has no samples.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ServerSteps {
    /// Number of connections that were made for I/Os.
    pub n_connections: u64,
    /// Number of those that replaced a lost one.
    pub n_reconnects: u64,
    /// Number of requests that were sent again.
    pub n_retries: u64,
    /// Number of requests that were sent again because the server had closed the connection that was kept for them.
    #[serde(default)]
    pub n_resent: u64,
    /// Number of replies in which the server asked for fewer requests.
    pub n_throttled: u64,
    /// From the start of a connection until it exists: name, addresses, the kernel's connection.
    pub connect: LatencyStat,
    pub tls: LatencyStat,
    pub agree: LatencyStat,
    /// From the sending of a request until the first byte of its reply.
    pub first_byte: LatencyStat,
    /// From the first byte of a reply until its last.
    pub body: LatencyStat,
    /// The network between, as the kernel counts it for connections of TCP at the end of the job.
    pub network: NetworkFigures,
    #[serde(default)]
    pub requests: ObjectRequests,
}

/// What the kernel counts of the connections of TCP of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NetworkFigures {
    /// Shortest times for a round trip, one for each connection.
    pub round_trip: LatencyStat,
    pub n_sent: u64,
    pub n_sent_again: u64,
    /// Time in which data waited to be sent or to be acknowledged; of several connections the sum.
    pub busy_ns: u64,
    /// Part of it in which the window of the server had no room.
    pub window_limited_ns: u64,
    /// Part of it in which this end's send buffer had no room.
    pub buffer_limited_ns: u64,
    /// Connections whose other end is on the same machine.
    #[serde(default)]
    pub n_local: u64,
}

impl NetworkFigures {
    pub fn add(&mut self, counts: TcpCounts) {
        self.round_trip.record(counts.round_trip_ns);
        add_to(&mut self.n_sent, counts.n_sent);
        add_to(&mut self.n_sent_again, counts.n_sent_again);
        add_to(&mut self.busy_ns, counts.busy_ns);
        add_to(&mut self.window_limited_ns, counts.window_limited_ns);
        add_to(&mut self.buffer_limited_ns, counts.buffer_limited_ns);
        add_to(&mut self.n_local, u64::from(counts.is_local));
    }

    fn merge(&mut self, other: &Self) {
        self.round_trip.merge(&other.round_trip);
        add_to(&mut self.n_sent, other.n_sent);
        add_to(&mut self.n_sent_again, other.n_sent_again);
        add_to(&mut self.busy_ns, other.busy_ns);
        add_to(&mut self.window_limited_ns, other.window_limited_ns);
        add_to(&mut self.buffer_limited_ns, other.buffer_limited_ns);
        add_to(&mut self.n_local, other.n_local);
    }
}

impl ServerSteps {
    /// The steps, with their names in documents.
    pub fn named(&self) -> [(&'static str, &LatencyStat); 5] {
        [
            ("connect_ns", &self.connect),
            ("tls_ns", &self.tls),
            ("agree_ns", &self.agree),
            ("first_byte_ns", &self.first_byte),
            ("body_ns", &self.body),
        ]
    }

    /// Adds the steps of another member of the group.
    pub fn merge(&mut self, other: &Self) {
        add_to(&mut self.n_connections, other.n_connections);
        add_to(&mut self.n_reconnects, other.n_reconnects);
        add_to(&mut self.n_retries, other.n_retries);
        add_to(&mut self.n_resent, other.n_resent);
        add_to(&mut self.n_throttled, other.n_throttled);
        self.connect.merge(&other.connect);
        self.tls.merge(&other.tls);
        self.agree.merge(&other.agree);
        self.first_byte.merge(&other.first_byte);
        self.body.merge(&other.body);
        self.network.merge(&other.network);
        self.requests.merge(&other.requests);
    }

    /// Forgets the requests so far, because they belong to a ramp. Connections stay.
    pub fn forget_requests(&mut self) {
        (self.n_retries, self.n_resent, self.n_throttled) = (0, 0, 0);
        self.first_byte.clear();
        self.body.clear();
        self.requests.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(ns: u64) -> ServerSteps {
        let mut steps =
            ServerSteps { n_connections: 1, n_reconnects: 2, n_retries: 3, n_throttled: 4, ..Default::default() };
        for stat in [&mut steps.connect, &mut steps.tls, &mut steps.agree, &mut steps.first_byte, &mut steps.body] {
            stat.record(ns);
        }
        let counts = TcpCounts {
            n_sent: 5,
            n_sent_again: 1,
            busy_ns: 9,
            window_limited_ns: 4,
            is_local: true,
            ..TcpCounts::default()
        };
        steps.network.add(TcpCounts { round_trip_ns: ns, ..counts });
        steps
    }

    #[test]
    fn members_of_a_group_add_up() {
        let mut all = steps(10);
        all.merge(&steps(30));
        assert_eq!((all.n_connections, all.n_reconnects, all.n_retries, all.n_throttled), (2, 4, 6, 8));
        let NetworkFigures { n_sent, n_sent_again, busy_ns, window_limited_ns, buffer_limited_ns, round_trip, n_local } =
            all.network.clone();
        assert_eq!((n_sent, n_sent_again, busy_ns, window_limited_ns, buffer_limited_ns), (10, 2, 18, 8, 0));
        assert_eq!(n_local, 2);
        assert_eq!((round_trip.n_samples, round_trip.min_ns, round_trip.max_ns), (2, 10, 30));
        for (name, stat) in all.named() {
            assert_eq!((stat.n_samples, stat.min_ns, stat.max_ns, stat.sum_ns), (2, 10, 30, 40), "{name}");
        }
    }

    #[test]
    fn a_ramp_leaves_the_connections() {
        let mut all = steps(10);
        all.forget_requests();
        assert_eq!((all.n_connections, all.n_reconnects, all.n_retries, all.n_throttled), (1, 2, 0, 0));
        let samples = all.named().map(|(_, stat)| stat.n_samples);
        assert_eq!(samples, [1, 1, 1, 0, 0]);
    }
}

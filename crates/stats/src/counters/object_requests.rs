//! Requests to a server of objects, by kind: how many, what they found, and their times.
//!
//! Must not know: protocols, engines. Start reading at [`ObjectRequests`].

use crate::counters::counts::add_to;
use crate::distribution::latency::LatencyStat;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ObjectRequestKind {
    /// The data of an object, or of a part of it.
    Get,
    /// A new object, whether in one part or in several.
    Put,
    Delete,
    Head,
    /// A page of the names of objects.
    List,
}

impl ObjectRequestKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Put => "put",
            Self::Delete => "delete",
            Self::Head => "head",
            Self::List => "list",
        }
    }

    /// True if the request is a read that moves no data of an object, though its I/O counts with the size of its block.
    pub const fn is_read_without_data(self) -> bool {
        matches!(self, Self::Head | Self::List)
    }
}

/// The requests of a kind that have succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestFigures {
    pub kind: ObjectRequestKind,
    /// Bytes of objects that were sent or received.
    pub bytes: u64,
    /// Number of requests for an object that is not there.
    pub n_absent: u64,
    /// Number of requests whose answer had fewer bytes than were asked for.
    #[serde(default)]
    pub n_short: u64,
    pub n_names: u64,
    /// From the beginning of the request until its answer was there, with all tries; its number of samples is that of the requests.
    pub time: LatencyStat,
}

/// A request that has succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectRequest {
    pub kind: ObjectRequestKind,
    /// Bytes of the object that were sent or received.
    pub bytes: u64,
    /// The object is not there.
    pub is_absent: bool,
    /// Its answer had fewer bytes than were asked for.
    pub is_short: bool,
    pub n_names: u64,
    pub time_ns: u64,
}

/// The requests of a worker, by kind, in the order of their first ones.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ObjectRequests(pub Vec<RequestFigures>);

impl ObjectRequests {
    fn of(&mut self, kind: ObjectRequestKind) -> &mut RequestFigures {
        let index = self.0.iter().position(|figures| figures.kind == kind).unwrap_or_else(|| {
            let time = LatencyStat::new(true);
            self.0.push(RequestFigures { kind, bytes: 0, n_absent: 0, n_short: 0, n_names: 0, time });
            self.0.len() - 1
        });
        &mut self.0[index]
    }

    pub fn record(&mut self, request: &ObjectRequest) {
        let figures = self.of(request.kind);
        add_to(&mut figures.bytes, request.bytes);
        add_to(&mut figures.n_absent, u64::from(request.is_absent));
        add_to(&mut figures.n_short, u64::from(request.is_short));
        add_to(&mut figures.n_names, request.n_names);
        figures.time.record(request.time_ns);
    }

    /// Adds the requests of another worker.
    pub fn merge(&mut self, other: &Self) {
        for theirs in &other.0 {
            let mine = self.of(theirs.kind);
            add_to(&mut mine.bytes, theirs.bytes);
            add_to(&mut mine.n_absent, theirs.n_absent);
            add_to(&mut mine.n_short, theirs.n_short);
            add_to(&mut mine.n_names, theirs.n_names);
            mine.time.merge(&theirs.time);
        }
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(kind: ObjectRequestKind, time_ns: u64) -> ObjectRequest {
        ObjectRequest { kind, bytes: 10, is_absent: time_ns > 5, is_short: time_ns > 5, n_names: 3, time_ns }
    }

    #[test]
    fn requests_add_up_by_kind() {
        let (mut mine, mut theirs) = (ObjectRequests::default(), ObjectRequests::default());
        mine.record(&request(ObjectRequestKind::Get, 4));
        mine.record(&request(ObjectRequestKind::Get, 8));
        theirs.record(&request(ObjectRequestKind::List, 2));
        theirs.record(&request(ObjectRequestKind::Get, 6));
        mine.merge(&theirs);
        let shown = mine.0.iter().map(|all| {
            (all.kind.name(), all.bytes, all.n_absent + all.n_short, all.n_names, all.time.n_samples, all.time.sum_ns)
        });
        assert_eq!(shown.collect::<Vec<_>>(), [("get", 30, 4, 9, 3, 18), ("list", 10, 0, 3, 1, 2)]);
        mine.clear();
        assert_eq!(mine, ObjectRequests::default());
    }
}

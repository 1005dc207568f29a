//! The places that several hosts use: found by their names before anything is written.
//!
//! Must not know: how places are named, what hosts do there. Start reading at [`SharedPlaces::of`].

use super::FleetError;
use ferrio_stats::{HostPlaces, PartitionedRange, SharedPlace, UsedPlace};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What jobs of several hosts may do in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WriteSharing {
    /// Several hosts that change one place are refused.
    #[default]
    Refused,
    /// They are allowed: each uses all of it.
    Allowed,
    /// Each host uses a part of its own of each file or device.
    Partitioned,
}

/// The places that several hosts use.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SharedPlaces {
    /// The places, each once; those that are changed come first.
    pub(super) places: Vec<SharedPlace>,
    /// A file that several hosts have in common is missing or too short: they must not lay it out at the same time.
    pub(super) is_laid_out: bool,
}

/// A place of a host.
#[derive(Clone, Copy)]
struct HostPlace<'a> {
    host: usize,
    place: &'a UsedPlace,
}

impl SharedPlaces {
    /// Compares the places of hosts with these names before anything is written.
    ///
    /// # Errors
    /// Several hosts change one place, and that was not allowed; or what is divided differs from host to host.
    pub(super) fn checked(hosts: &[(&str, &HostPlaces)], sharing: WriteSharing) -> Result<Self, FleetError> {
        if let Some(error) = unlike_parts(hosts) {
            return Err(error);
        }
        let shared = Self::of(hosts);
        let refused = shared.written().next().filter(|_| sharing != WriteSharing::Allowed);
        if let Some(place) = refused {
            return Err(FleetError::SharedWrites { hosts: host_list(&place.hosts), path: place.path.clone() });
        }
        Ok(shared)
    }

    /// Compares the places of hosts with these names.
    pub(super) fn of(hosts: &[(&str, &HostPlaces)]) -> Self {
        let mut found = Self::default();
        // Hosts by what was found: the path on the first host, and what is done there.
        let mut certain: BTreeMap<(bool, &str), BTreeSet<usize>> = BTreeMap::new();
        for places in by_name(hosts, |place| &place.names) {
            found.is_laid_out |= is_of_several(&places) && places.iter().any(|one| one.place.needs_layout);
            for together in overlapping(places) {
                let changing: Vec<HostPlace<'_>> =
                    together.iter().copied().filter(|one| one.place.is_changed).collect();
                let written = overlapping(changing);
                let is_read = written.is_empty();
                for group in if is_read { vec![together] } else { written } {
                    let hosts = group.iter().map(|one| one.host);
                    certain.entry((is_read, &group[0].place.path)).or_default().extend(hosts);
                }
            }
        }
        let mut doubtful: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        let changed: Vec<Vec<HostPlace<'_>>> = by_name(hosts, |place| &place.hints);
        for places in changed {
            let changing: Vec<HostPlace<'_>> = places.into_iter().filter(|one| one.place.is_changed).collect();
            for together in overlapping(changing) {
                // Places of one machine have certain names, and are told apart by these.
                let machines: BTreeSet<&str> = together.iter().map(|one| hosts[one.host].1.machine.as_str()).collect();
                let path = together[0].place.path.as_str();
                if machines.len() > 1 && !certain.contains_key(&(false, path)) {
                    doubtful.entry(path).or_default().extend(together.iter().map(|one| one.host));
                }
            }
        }
        let named = |(is_certain, is_written, path, ranks): (bool, bool, &str, BTreeSet<usize>)| SharedPlace {
            path: path.to_owned(),
            hosts: ranks.into_iter().map(|host| hosts[host].0.to_owned()).collect(),
            is_written,
            is_certain,
        };
        let certain = certain.into_iter().map(|((is_read, path), ranks)| (true, !is_read, path, ranks));
        let doubtful = doubtful.into_iter().map(|(path, ranks)| (false, true, path, ranks));
        found.places = certain.chain(doubtful).map(named).collect();
        found
    }

    /// The places that several hosts change.
    pub(super) fn written(&self) -> impl Iterator<Item = &SharedPlace> {
        self.places.iter().filter(|place| place.is_written && place.is_certain)
    }

    /// The places that several hosts change, if they are one.
    pub(super) fn doubtful(&self) -> impl Iterator<Item = &SharedPlace> {
        self.places.iter().filter(|place| !place.is_certain)
    }
}

/// What is divided must have the same size on all hosts, so that its parts fit together.
fn unlike_parts(hosts: &[(&str, &HostPlaces)]) -> Option<FleetError> {
    let [(first, one), others @ ..] = hosts else { return None };
    let range = |part: &PartitionedRange| (part.start_bytes, part.length_bytes);
    others.iter().find_map(|(other, places)| {
        let pairs = one.partitioned.iter().zip(&places.partitioned);
        let (of_one, of_other) = pairs.into_iter().find(|(one, other)| range(one) != range(other))?;
        Some(FleetError::UnlikeParts {
            path: of_one.path.clone(),
            first: (*first).to_owned(),
            other: (*other).to_owned(),
            ranges: Box::new((range(of_one), range(of_other))),
        })
    })
}

/// The places of all hosts that have a name in common, for each name; places of one host alone are left out.
fn by_name<'a>(
    hosts: &[(&str, &'a HostPlaces)],
    names: impl Fn(&'a UsedPlace) -> &'a [String],
) -> Vec<Vec<HostPlace<'a>>> {
    let mut found: HashMap<&str, Vec<HostPlace<'a>>> = HashMap::new();
    for (host, (_, places)) in hosts.iter().enumerate() {
        for place in &places.places {
            for name in names(place) {
                found.entry(name).or_default().push(HostPlace { host, place });
            }
        }
    }
    found.into_values().filter(|places| is_of_several(places)).collect()
}

fn is_of_several(places: &[HostPlace<'_>]) -> bool {
    places.iter().any(|one| one.host != places[0].host)
}

/// The places whose ranges overlap, together; those of one host alone are left out.
fn overlapping(mut places: Vec<HostPlace<'_>>) -> Vec<Vec<HostPlace<'_>>> {
    places.sort_by_key(|one| (one.place.start_bytes, one.host));
    let mut groups: Vec<(u64, Vec<HostPlace<'_>>)> = Vec::new();
    for one in places {
        match groups.last_mut() {
            Some((end_bytes, group)) if one.place.start_bytes < *end_bytes => {
                *end_bytes = (*end_bytes).max(one.place.end_bytes);
                group.push(one);
            }
            _ => groups.push((one.place.end_bytes, vec![one])),
        }
    }
    let mut groups: Vec<Vec<HostPlace<'_>>> =
        groups.into_iter().map(|(_, group)| group).filter(|group| is_of_several(group)).collect();
    for group in &mut groups {
        group.sort_by_key(|one| one.host);
    }
    groups
}

/// Names of hosts for a sentence.
fn host_list(hosts: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = hosts.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if hosts.len() > SHOWN { format!("{shown} and {} more", hosts.len() - SHOWN) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str, range: (u64, u64), is_changed: bool) -> UsedPlace {
        UsedPlace {
            job: "j".to_owned(),
            path: format!("/mnt/{name}"),
            is_changed,
            needs_layout: false,
            start_bytes: range.0,
            end_bytes: range.1,
            names: vec![name.to_owned()],
            hints: Vec::new(),
        }
    }

    fn host(machine: &str, places: Vec<UsedPlace>) -> HostPlaces {
        HostPlaces { machine: machine.to_owned(), places, partitioned: Vec::new() }
    }

    /// Path, hosts, written, certain.
    fn shared(hosts: &[HostPlaces]) -> Vec<(String, String, bool, bool)> {
        let named: Vec<(&str, &HostPlaces)> = ["a", "b", "c"].into_iter().zip(hosts).collect();
        let of = |place: SharedPlace| (place.path, place.hosts.join(" "), place.is_written, place.is_certain);
        SharedPlaces::of(&named).places.into_iter().map(of).collect()
    }

    #[test]
    fn what_several_hosts_change_is_found_by_any_name() {
        let other = UsedPlace { names: vec!["z".to_owned(), "x".to_owned()], ..place("y", (0, 10), true) };
        let hosts = [
            host("1", vec![place("x", (0, 10), true)]),
            host("2", vec![place("own", (0, 10), true)]),
            host("3", vec![other]),
        ];
        assert_eq!(shared(&hosts), [("/mnt/x".to_owned(), "a c".to_owned(), true, true)]);
    }

    #[test]
    fn parts_that_do_not_overlap_are_not_shared() {
        let parts = |second| {
            shared(&[host("1", vec![place("x", (0, 10), true)]), host("2", vec![place("x", second, true)])]).len()
        };
        assert_eq!([parts((10, 20)), parts((9, 20)), parts((0, u64::MAX))], [0, 1, 1]);
    }

    #[test]
    fn a_place_that_one_changes_and_others_read_is_read_by_several() {
        let hosts = [
            host("1", vec![place("x", (0, 10), true)]),
            host("2", vec![place("x", (0, 10), false)]),
            host("3", vec![place("x", (0, 10), false)]),
        ];
        assert_eq!(shared(&hosts), [("/mnt/x".to_owned(), "a b c".to_owned(), false, true)]);
    }

    #[test]
    fn a_doubt_is_about_several_machines() {
        let doubtful = |machine: &str, name: &str| {
            let place = UsedPlace { hints: vec!["disk of 7".to_owned()], ..place(name, (0, 10), true) };
            host(machine, vec![place])
        };
        assert_eq!(shared(&[doubtful("1", "x"), doubtful("1", "y")]), []);
        let two = shared(&[doubtful("1", "x"), doubtful("2", "y")]);
        assert_eq!(two, [("/mnt/x".to_owned(), "a b".to_owned(), true, false)]);
        let certain = shared(&[doubtful("1", "x"), doubtful("2", "x")]);
        assert_eq!(certain, [("/mnt/x".to_owned(), "a b".to_owned(), true, true)]);
    }

    #[test]
    fn a_missing_file_of_several_hosts_is_laid_out_in_turns() {
        let missing = UsedPlace { needs_layout: true, ..place("x", (0, 10), false) };
        let there = place("x", (10, 20), false);
        let hosts = [host("1", vec![missing.clone()]), host("2", vec![there])];
        let of =
            |hosts: &[HostPlaces]| SharedPlaces::of(&["a", "b"].into_iter().zip(hosts).collect::<Vec<_>>()).is_laid_out;
        assert!(of(&hosts));
        assert!(!of(&[host("1", vec![missing]), host("2", vec![place("y", (0, 10), false)])]));
    }
}

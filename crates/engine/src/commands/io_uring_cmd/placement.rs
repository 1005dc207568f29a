//! Data placement: the directive of each write, which tells the device where to put the data.
//!
//! Facts: the NVM Express base specification, "Flexible data placement" and "Streams". Must not know: rings. Start reading at
//! [`Placements`].

use super::NAME;
use crate::contract::EngineError;
use ferrio_spec::{PlacementChoice, PlacementKind, PlacementSpec};
use ferrio_sys::file;
use ferrio_sys::nvme::placement_ids;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::os::fd::AsFd;
use std::path::Path;

/// Most identifiers of a device that are used where the job names none.
const MAX_IDS: usize = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Directive {
    /// Its type: 1 streams, 2 data placement.
    pub(super) kind: u8,
    pub(super) value: u16,
}

/// A line of a scheme: writes from `start` to before `end` have this identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SchemeRange {
    start: u64,
    end: u64,
    id: u16,
}

/// The identifiers of a file, and the next one.
#[derive(Debug, Clone, Default)]
struct FileIds {
    ids: Vec<u16>,
    next: usize,
}

/// The directives of a job's writes.
#[derive(Debug, Clone)]
pub(super) struct Placements {
    spec: PlacementSpec,
    scheme: Vec<SchemeRange>,
    files: Vec<FileIds>,
    stream: Xoshiro256PlusPlus,
}

impl Placements {
    /// `None`: the job wants none. `seed`: that of the worker; the stream is one of its own.
    pub(super) fn new(spec: &PlacementSpec, n_files: u32, seed: u64) -> Result<Option<Self>, EngineError> {
        if spec.kind == PlacementKind::None {
            return Ok(None);
        }
        let scheme = match (&spec.scheme_file, spec.choice) {
            (Some(path), PlacementChoice::Scheme) => read_scheme(path)?,
            _ => Vec::new(),
        };
        let stream = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x706C_6163_656D_656E);
        Ok(Some(Self { spec: spec.clone(), scheme, files: vec![FileIds::default(); n_files as usize], stream }))
    }

    /// Finds the identifiers of a device that is opened.
    pub(super) fn open(&mut self, file_index: u32, device: impl AsFd, namespace: u32) -> Result<(), EngineError> {
        let refused = |what: String, errno| EngineError::Unfit { step: "fdp_init", what, is_named: true, errno };
        if self.spec.choice == PlacementChoice::Scheme {
            return Ok(());
        }
        let ids = match self.spec.kind {
            PlacementKind::Fdp => {
                let found = placement_ids(device, namespace).map_err(|error| {
                    let errno = error.errno().unwrap_or(libc::EOPNOTSUPP);
                    refused(format!("fdp fetch ruhs failed ({errno}): {error}"), errno)
                })?;
                chosen(&self.spec.ids, &found).map_err(|why| refused(why.to_string(), libc::EINVAL))?
            }
            _ => self.spec.ids.clone(),
        };
        self.files[file_index as usize] = FileIds { ids, next: 0 };
        Ok(())
    }

    #[inline]
    pub(super) fn next(&mut self, file_index: u32, offset_bytes: u64) -> Directive {
        let kind = if self.spec.kind == PlacementKind::Fdp { 2 } else { 1 };
        let file = &mut self.files[file_index as usize];
        let value = match self.spec.choice {
            PlacementChoice::Scheme => id_of(&self.scheme, offset_bytes),
            PlacementChoice::RoundRobin => {
                let index = file.next;
                file.next = if index + 1 < file.ids.len() { index + 1 } else { 0 };
                file.ids.get(index).copied().unwrap_or(0)
            }
            PlacementChoice::Random => {
                // Fits: below the number of identifiers.
                let index = ((u128::from(self.stream.next_u64()) * file.ids.len() as u128) >> 64) as usize;
                file.ids.get(index).copied().unwrap_or(0)
            }
        };
        Directive { kind, value }
    }
}

/// An index that the device has no identifier for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("PID index {index} must be smaller than {n_found}")]
struct NoSuchIndex {
    index: u16,
    n_found: usize,
}

/// The identifiers at these indexes; all where there are none.
fn chosen(indexes: &[u16], found: &[u16]) -> Result<Vec<u16>, NoSuchIndex> {
    if indexes.is_empty() {
        return Ok(found.iter().take(MAX_IDS).copied().collect());
    }
    let id = |index: &u16| {
        let id = found.get(usize::from(*index)).copied();
        id.ok_or(NoSuchIndex { index: *index, n_found: found.len() })
    };
    indexes.iter().map(id).collect()
}

/// The identifier of the first range that holds an offset; 0 where none does.
fn id_of(scheme: &[SchemeRange], offset_bytes: u64) -> u16 {
    let range = scheme.iter().find(|range| (range.start..range.end).contains(&offset_bytes));
    range.map_or(0, |range| range.id)
}

const MAX_SCHEME_BYTES: u64 = 16 << 20;

fn read_scheme(path: &Path) -> Result<Vec<SchemeRange>, EngineError> {
    let bytes = file::read_input(path, MAX_SCHEME_BYTES).map_err(|source| EngineError::Failed {
        engine: NAME,
        step: "dp_init",
        what: format!("dp_scheme: lstat() error related to {}", path.display()),
        source,
    })?;
    Ok(parse_scheme(&String::from_utf8_lossy(&bytes)))
}

/// Reads up to the first line that is none of a scheme.
fn parse_scheme(text: &str) -> Vec<SchemeRange> {
    let range = |line: &str| {
        let mut parts = line.split(',').map(str::trim);
        let (start, end, id) = (parts.next()?, parts.next()?, parts.next()?);
        Some(SchemeRange { start: start.parse().ok()?, end: end.parse().ok()?, id: id.parse().ok()? })
    };
    text.lines().map_while(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placements(choice: PlacementChoice, ids: &[u16]) -> Placements {
        let spec = PlacementSpec { kind: PlacementKind::Streams, choice, ids: ids.to_vec(), scheme_file: None };
        let mut placements = Placements::new(&spec, 1, 7).unwrap().unwrap();
        placements.open(0, std::fs::File::open("/dev/null").unwrap(), 1).unwrap();
        placements
    }

    #[test]
    fn ids_come_in_turn_or_at_random() {
        let mut turns = placements(PlacementChoice::RoundRobin, &[3, 5, 9]);
        let found: Vec<u16> = (0..5).map(|_| turns.next(0, 0).value).collect();
        assert_eq!(found, [3, 5, 9, 3, 5]);
        assert_eq!(turns.next(0, 0).kind, 1);
        let mut random = placements(PlacementChoice::Random, &[3, 5]);
        let n_first = (0..10_000).filter(|_| random.next(0, 0).value == 3).count();
        // Five times the standard deviation of a binomial distribution, 50.
        assert!((4750..=5250).contains(&n_first), "{n_first}");
    }

    #[test]
    fn indexes_choose_among_the_ids_of_the_device() {
        let found = [10, 11, 12];
        assert_eq!(chosen(&[], &found).unwrap(), found);
        assert_eq!(chosen(&[2, 0], &found).unwrap(), [12, 10]);
        assert_eq!(chosen(&[9], &found).unwrap_err().to_string(), "PID index 9 must be smaller than 3");
        assert_eq!(chosen(&[], &[7; 200]).unwrap().len(), 128);
    }

    #[test]
    fn a_scheme_is_read_up_to_its_first_bad_line() {
        let scheme = parse_scheme("0, 4096, 1\n4096,8192, 2\nbad\n8192,9000,3\n");
        let ids: Vec<u16> = [0, 4095, 4096, 8191, 8192].iter().map(|offset| id_of(&scheme, *offset)).collect();
        assert_eq!(ids, [1, 1, 2, 2, 0]);
    }
}

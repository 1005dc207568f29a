//! The control message of both ends of a connection, in the form of fio 3.41.
//!
//! 8208 bytes, all numbers big-endian: the verb (4 bytes; 0 from the server), the number of regions (4), the largest block (4), 4 bytes
//! of zeroes, then 512 regions of 16 bytes: address (8), key (4), length (4). The client sends the message when the connection is made, and
//! the server answers; after RDMA writes or reads the client sends the message once more, which is the end. Must not know: the library.
//! Start reading at [`RdmaMessage::decode`].

pub(super) const MESSAGE_BYTES: usize = HEAD_BYTES + MOST_REGIONS * REGION_BYTES;

/// Regions that a message has room for, and so I/Os in flight.
pub(super) const MOST_REGIONS: usize = 512;

const HEAD_BYTES: usize = 16;
const REGION_BYTES: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RdmaVerb {
    /// RDMA writes into the memory of the server.
    Write,
    /// RDMA reads from the memory of the server.
    Read,
    /// Sends, which the server receives.
    Send,
}

impl RdmaVerb {
    fn number(self) -> u32 {
        match self {
            Self::Write => 1,
            Self::Read => 2,
            Self::Send => 3,
        }
    }

    /// True if the server takes no part in the transfer of data.
    pub(super) fn is_one_sided(self) -> bool {
        self != Self::Send
    }
}

/// Memory of the server that the client uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RemoteRegion {
    pub(super) address: u64,
    pub(super) key: u32,
    pub(super) n_bytes: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RdmaMessage {
    /// `None`: the message is that of a server.
    pub(super) verb: Option<RdmaVerb>,
    pub(super) max_block_bytes: u32,
    pub(super) regions: Vec<RemoteRegion>,
}

impl RdmaMessage {
    /// The bytes of a message; regions beyond 512 have no room.
    pub(super) fn encode(&self, bytes: &mut [u8; MESSAGE_BYTES]) {
        bytes.fill(0);
        let regions = &self.regions[..self.regions.len().min(MOST_REGIONS)];
        bytes[0..4].copy_from_slice(&self.verb.map_or(0, RdmaVerb::number).to_be_bytes());
        bytes[4..8].copy_from_slice(&(regions.len() as u32).to_be_bytes());
        bytes[8..12].copy_from_slice(&self.max_block_bytes.to_be_bytes());
        for (slot, region) in bytes[HEAD_BYTES..].chunks_exact_mut(REGION_BYTES).zip(regions) {
            slot[0..8].copy_from_slice(&region.address.to_be_bytes());
            slot[8..12].copy_from_slice(&region.key.to_be_bytes());
            slot[12..16].copy_from_slice(&region.n_bytes.to_be_bytes());
        }
    }

    /// The message in the bytes that have come, or the reason why they are none. Nothing is reserved for more regions than the bytes
    /// have room for.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, String> {
        let Some((head, rest)) = bytes.split_first_chunk::<HEAD_BYTES>() else {
            return Err(format!("it has {} bytes instead of {MESSAGE_BYTES}", bytes.len()));
        };
        if bytes.len() != MESSAGE_BYTES {
            return Err(format!("it has {} bytes instead of {MESSAGE_BYTES}", bytes.len()));
        }
        let verb = match number(&head[0..4]) {
            0 => None,
            1 => Some(RdmaVerb::Write),
            2 => Some(RdmaVerb::Read),
            3 => Some(RdmaVerb::Send),
            other => return Err(format!("it asks for the verb {other}, which does not exist")),
        };
        let n_regions = number(&head[4..8]) as usize;
        if n_regions == 0 || n_regions > MOST_REGIONS {
            return Err(format!("it has {n_regions} regions; allowed: 1 to {MOST_REGIONS}"));
        }
        let max_block_bytes = number(&head[8..12]);
        if max_block_bytes == 0 {
            return Err("its largest block has no byte".to_owned());
        }
        let regions = rest.chunks_exact(REGION_BYTES).take(n_regions).map(|slot| RemoteRegion {
            address: u64::from(number(&slot[0..4])) << 32 | u64::from(number(&slot[4..8])),
            key: number(&slot[8..12]),
            n_bytes: number(&slot[12..16]),
        });
        Ok(Self { verb, max_block_bytes, regions: regions.collect() })
    }

    /// Checks that each region of a server has room for blocks of this length.
    pub(super) fn check_room(&self, block_bytes: usize) -> Result<(), String> {
        for (index, region) in self.regions.iter().enumerate() {
            if (region.n_bytes as usize) < block_bytes {
                return Err(format!("its region {index} has {} bytes, less than a block", region.n_bytes));
            }
            if region.address.checked_add(u64::from(region.n_bytes)).is_none() {
                return Err(format!("its region {index} goes beyond the end of all addresses"));
            }
        }
        Ok(())
    }
}

/// A number of 4 bytes.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> RdmaMessage {
        let region = |index: u32| RemoteRegion {
            address: 0x5555_6fdb_04c0 + u64::from(index) * 4096,
            key: 0xa16 + index,
            n_bytes: 4096,
        };
        RdmaMessage { verb: Some(RdmaVerb::Write), max_block_bytes: 4096, regions: (0..4).map(region).collect() }
    }

    fn encoded(message: &RdmaMessage) -> Box<[u8; MESSAGE_BYTES]> {
        let mut bytes = Box::new([0xff; MESSAGE_BYTES]);
        message.encode(&mut bytes);
        bytes
    }

    #[test]
    fn the_form_is_that_of_fio() {
        let bytes = encoded(&message());
        // As fio 3.41 sends it with verb=write, iodepth=4 and bs=4k, up to addresses and keys.
        let seen = "00000001000000040000100000000000000055556fdb04c000000a160000100000005\
                    5556fdb14c000000a1700001000";
        let hex: String = bytes[..48].iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        assert_eq!(hex, seen);
        assert!(bytes[HEAD_BYTES + 4 * REGION_BYTES..].iter().all(|byte| *byte == 0));
        assert_eq!(bytes.len(), 8208);
    }

    #[test]
    fn a_message_comes_back() {
        for verb in [None, Some(RdmaVerb::Write), Some(RdmaVerb::Read), Some(RdmaVerb::Send)] {
            let message = RdmaMessage { verb, ..message() };
            assert_eq!(RdmaMessage::decode(&encoded(&message)[..]), Ok(message));
        }
    }

    #[test]
    fn regions_beyond_the_room_are_left_out() {
        let region = message().regions[0];
        let message = RdmaMessage { regions: vec![region; MOST_REGIONS + 1], ..message() };
        assert_eq!(RdmaMessage::decode(&encoded(&message)[..]).map(|found| found.regions.len()), Ok(MOST_REGIONS));
    }

    #[test]
    fn hostile_messages_are_refused() {
        let good = encoded(&message());
        let with = |at: usize, value: u32| {
            let mut bytes = good.to_vec();
            bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
            RdmaMessage::decode(&bytes).unwrap_err()
        };
        for (at, value, word) in [
            (0, 4, "verb 4"),
            (0, u32::MAX, "verb 4294967295"),
            (4, 0, "0 regions"),
            (4, 513, "513 regions"),
            (4, u32::MAX, "4294967295 regions"),
            (8, 0, "largest block"),
        ] {
            let why = with(at, value);
            assert!(why.contains(word), "{why}");
        }
        for n_bytes in [0, 1, 15, 16, 4096, MESSAGE_BYTES - 1] {
            let why = RdmaMessage::decode(&good[..n_bytes]).unwrap_err();
            assert!(why.contains(&format!("{n_bytes} bytes instead of 8208")), "{why}");
        }
        let long = [&good[..], &[0]].concat();
        assert!(RdmaMessage::decode(&long).is_err());
    }

    #[test]
    fn regions_without_room_for_a_block_are_refused() {
        let mut message = message();
        assert_eq!(message.check_room(4096), Ok(()));
        assert!(message.check_room(4097).unwrap_err().contains("region 0 has 4096 bytes"));
        message.regions[2].n_bytes = 0;
        assert!(message.check_room(4096).unwrap_err().contains("region 2 has 0 bytes"));
        message.regions[2] = RemoteRegion { address: u64::MAX - 10, key: 0, n_bytes: 4096 };
        assert!(message.check_room(4096).unwrap_err().contains("region 2 goes beyond"));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic() {
        let mut state = 7u64;
        for _ in 0..200 {
            let bytes: Vec<u8> = (0..MESSAGE_BYTES)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 61) as u8
                })
                .collect();
            if let Ok(message) = RdmaMessage::decode(&bytes) {
                assert!(message.regions.len() <= MOST_REGIONS);
                drop(message.check_room(1));
            }
        }
    }
}

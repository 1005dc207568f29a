//! `--crctest`, `--memcpytest` and `--cpuclock-test`: what is asked of the machine, and the names that the lists know.
//!
//! Facts: reference engines.md, section 12. Must not know: how anything is measured. Start reading at [`asked`].

use crate::command_line::switches::Switch;
use crate::message::UserLine;

/// A measurement or test of the machine, without a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineTest {
    Checksums(NameSet),
    Copies(NameSet),
    /// Do the counters of all CPUs show one time?
    Clocks,
}

/// Checksums and hashes, in the order of the output.
pub const CHECKSUMS: [&str; 17] = [
    "md5", "crc64", "crc32", "crc32c", "crc16", "crc7", "sha1", "sha256", "sha512", "xxhash", "murmur3", "jhash",
    "fnv", "sha3-224", "sha3-256", "sha3-384", "sha3-512",
];

/// Ways to copy memory, in the order of the output.
pub const COPIES: [&str; 4] = ["memcpy", "memmove", "simple", "hybrid"];

/// Some names of a list, by their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameSet(u32);

impl NameSet {
    /// True for a place of the list that was chosen.
    pub const fn has(self, place: usize) -> bool {
        place < 32 && self.0 & 1 << place != 0
    }
}

/// What one of the switches asks for.
pub(crate) struct MachineAnswer {
    /// The test; `None`: the program ends with an error.
    pub(crate) test: Option<MachineTest>,
    /// For the standard error.
    pub(crate) complaint: UserLine,
    /// For the standard output.
    pub(crate) text: String,
}

/// What one of the three switches asks for, with its value, if it has one.
pub(crate) fn asked(switch: Switch, value: Option<&str>) -> MachineAnswer {
    let (names, test): (&[&str], fn(NameSet) -> MachineTest) = match switch {
        Switch::Crctest => (&CHECKSUMS, MachineTest::Checksums),
        Switch::Memcpytest => (&COPIES, MachineTest::Copies),
        _ => return MachineAnswer::of(MachineTest::Clocks),
    };
    let list = || names.join("\n") + "\n";
    let Some(value) = value else { return MachineAnswer::of(test(NameSet((1 << names.len()) - 1))) };
    if value == "help" {
        return MachineAnswer { test: None, complaint: "".into(), text: list() };
    }
    let unknown = |name: &str| {
        let complaint = UserLine::named(format!("unknown hash `{name}`. Available:\n"));
        MachineAnswer { test: None, complaint, text: list() }
    };
    let mut chosen = 0;
    for name in value.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match names.iter().position(|known| *known == name) {
            Some(place) => chosen |= 1 << place,
            None => return unknown(name),
        }
    }
    if chosen == 0 { unknown("") } else { MachineAnswer::of(test(NameSet(chosen))) }
}

impl MachineAnswer {
    fn of(test: MachineTest) -> Self {
        Self { test: Some(test), complaint: "".into(), text: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(value: Option<&str>) -> Vec<usize> {
        match asked(Switch::Crctest, value).test {
            Some(MachineTest::Checksums(chosen)) => (0..40).filter(|place| chosen.has(*place)).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn names_are_chosen_in_the_order_of_the_list() {
        assert_eq!(places(None), (0..17).collect::<Vec<_>>());
        assert_eq!(places(Some("crc16,md5")), [0, 4]);
        assert_eq!(places(Some(" md5 ,,crc7,md5")), [0, 5]);
    }

    #[test]
    fn help_and_unknown_names_end_the_program() {
        let help = asked(Switch::Memcpytest, Some("help"));
        assert_eq!((help.test, help.text.as_str()), (None, "memcpy\nmemmove\nsimple\nhybrid\n"));
        for value in ["nosuch", "md5,nosuch", "MD5", "crc", "", ","] {
            let answer = asked(Switch::Crctest, Some(value));
            assert_eq!(answer.test, None, "{value}");
            assert!(answer.complaint.starts_with("fio: unknown hash `") && answer.text.starts_with("md5\n"), "{value}");
        }
        assert_eq!(asked(Switch::CpuclockTest, None).test, Some(MachineTest::Clocks));
    }
}

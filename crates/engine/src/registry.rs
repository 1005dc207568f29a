//! The table of engines. A new engine is one file and one line here.

use crate::contract::EngineInfo;
use crate::{io_uring, libaio, mmap, null, posixaio, psync, pvsync, pvsync2, sim, sync, vsync};

/// All engines that are built in.
pub const ENGINES: &[&EngineInfo] = &[
    &sync::INFO,
    &psync::INFO,
    &vsync::INFO,
    &pvsync::INFO,
    &pvsync2::INFO,
    &libaio::INFO,
    &io_uring::INFO,
    &posixaio::INFO,
    &mmap::INFO,
    &null::INFO,
    &sim::INFO,
];

/// The engine of a canonical name.
pub fn find(name: &str) -> Option<&'static EngineInfo> {
    ENGINES.iter().copied().find(|info| info.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for info in ENGINES {
            assert_eq!(ENGINES.iter().filter(|other| other.name == info.name).count(), 1, "{}", info.name);
            assert_eq!(find(info.name).map(|found| found.help), Some(info.help));
            assert!(!info.help.is_empty());
        }
        assert!(find("no-such-engine").is_none());
    }

    #[test]
    fn an_inline_engine_is_synchronous() {
        for info in ENGINES {
            assert!(!info.inline || info.synchronous, "{}", info.name);
        }
    }
}

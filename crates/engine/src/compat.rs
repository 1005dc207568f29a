//! Oddities of fio in the options of engines that a tool designed today would not have.
//!
//! Each is a function here, so that no engine has to mention one. Its comment describes fio's behaviour, that of a native
//! run ([`Compatibility`]), and where the difference shows. They are called when options are checked. All oddities were
//! seen on fio 3.41.
//! Must not know: engines. Start reading anywhere.

use ferrio_spec::Compatibility;

/// The share of a CPU that `cpuload` asks for, percent. A value outside of 1 to 100, even a negative one, is all of it.
/// Native: `None`, the value is refused. 0 is refused in both. Shows in the load, and in which jobs are refused.
pub(crate) fn burnt_percent(compatibility: Compatibility, percent: i64) -> Option<u32> {
    match (u32::try_from(percent), compatibility) {
        (Ok(0), _) => None,
        (Ok(percent @ 1..=100), _) => Some(percent),
        (_, Compatibility::Fio) => Some(100),
        (_, Compatibility::Native) => None,
    }
}

/// True if an end leaves out datagrams that come from others than the other end: a reader, and a writer that waits for replies
/// (`pingpong`). fio takes whatever comes. Native: it does. Shows in the data, the counts, and the end of a job to whose port others send.
pub(crate) fn hears_peer_only(compatibility: Compatibility) -> bool {
    compatibility == Compatibility::Native
}

/// True if a read of an object counts with the bytes that its answer had. fio counts the whole block, whatever came. Native: it
/// does. Shows in bytes, bandwidth and the number of short I/Os of reads whose objects are shorter than the block, or not there.
pub(crate) fn counts_data(compatibility: Compatibility) -> bool {
    compatibility == Compatibility::Native
}

#[cfg(test)]
mod tests {
    use super::Compatibility::{Fio, Native};
    use super::*;

    #[test]
    fn shares_beyond_a_cpu_are_all_of_it_or_refused() {
        for (percent, of_fio, native) in [
            (0, None, None),
            (1, Some(1), Some(1)),
            (100, Some(100), Some(100)),
            (101, Some(100), None),
            (-5, Some(100), None),
            (i64::MAX, Some(100), None),
        ] {
            let answers = [Fio, Native].map(|compatibility| burnt_percent(compatibility, percent));
            assert_eq!(answers, [of_fio, native], "{percent}");
        }
    }
}

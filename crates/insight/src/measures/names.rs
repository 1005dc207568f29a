//! What the name of a job says of its I/O.
//!
//! Must not know: rules. Start reading at [`NameClaims::of`].

/// What a name says, if it consists of words about I/O alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct NameClaims {
    /// It reads (`false`: it writes); `None`: both, or neither is said.
    pub(crate) reads: Option<bool>,
    /// It is random (`false`: sequential); `None`: it is not said.
    pub(crate) random: Option<bool>,
}

/// Words about direction and order.
const READS: [&str; 2] = ["read", "reads"];
const WRITES: [&str; 2] = ["write", "writes"];
const BOTH: [&str; 4] = ["rw", "mix", "mixed", "readwrite"];
const RANDOM: [&str; 4] = ["random", "rand", "rnd", "r"];
const SEQUENTIAL: [&str; 4] = ["sequential", "sequ", "seq", "s"];

/// Words that say nothing about these.
const OTHER: [&str; 14] =
    ["fio", "test", "job", "io", "iops", "bw", "lat", "latency", "direct", "libaio", "psync", "uring", "nvme", "disk"];

impl NameClaims {
    /// `None`: some word is none about I/O, so that the name may say anything.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let mut claims = Self::default();
        let (mut n_reads, mut n_writes, mut is_both) = (0, 0, false);
        let lower = name.to_lowercase();
        let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        for word in words {
            if is_number(word) || OTHER.contains(&word) {
                continue;
            }
            let (order, rest) = ordered(word);
            if order.is_some() && claims.random.is_some() && order != claims.random {
                return None;
            }
            claims.random = claims.random.or(order);
            match rest {
                "" => {}
                rest if READS.contains(&rest) => n_reads += 1,
                rest if WRITES.contains(&rest) => n_writes += 1,
                rest if BOTH.contains(&rest) => is_both = true,
                _ => return None,
            }
        }
        claims.reads = match (n_reads, n_writes) {
            (1, 0) if !is_both => Some(true),
            (0, 1) if !is_both => Some(false),
            _ => None,
        };
        Some(claims)
    }

    /// It says something.
    pub(crate) fn is_any(self) -> bool {
        self != Self::default()
    }
}

/// The order that a word begins with, and what is left of it: `randread`, `seq`.
fn ordered(word: &str) -> (Option<bool>, &str) {
    let is_whole =
        |rest: &str| rest.is_empty() || [&READS[..], &WRITES, &BOTH].iter().any(|words| words.contains(&rest));
    let of = |words: &[&str], is_random: bool| {
        let rest = words.iter().find_map(|start| word.strip_prefix(start).filter(|rest| is_whole(rest)))?;
        // A single letter is no order by itself.
        (word.len() > 1).then_some((Some(is_random), rest))
    };
    // `reads` and `rw` begin with the letter of an order, too.
    if is_whole(word) {
        return (None, word);
    }
    of(&RANDOM, true).or_else(|| of(&SEQUENTIAL, false)).unwrap_or((None, word))
}

/// Sizes, depths and numbers: `4k`, `qd32`, `128`, `j4`, `1`.
fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let start = &word[..word.len() - digits.len()];
    let end = digits.trim_start_matches(|letter: char| letter.is_ascii_digit());
    digits.len() > end.len()
        && matches!(start, "" | "qd" | "q" | "d" | "j" | "t" | "bs" | "depth" | "job" | "test")
        && matches!(end, "" | "k" | "m" | "b" | "kb" | "mb" | "kib" | "mib" | "g" | "s" | "q" | "j")
}

#[cfg(test)]
mod tests {
    use super::NameClaims;

    #[test]
    fn words_about_io_are_read() {
        let of = |name: &str| NameClaims::of(name).map(|claims| (claims.reads, claims.random));
        assert_eq!(of("randread"), Some((Some(true), Some(true))));
        assert_eq!(of("rand-write-4k-qd32"), Some((Some(false), Some(true))));
        assert_eq!(of("seq_read"), Some((Some(true), Some(false))));
        assert_eq!(of("Random-Read"), Some((Some(true), Some(true))));
        assert_eq!(of("write1"), None);
        assert_eq!(of("test-read"), Some((Some(true), None)));
        assert_eq!(of("randrw"), Some((None, Some(true))));
        assert_eq!(of("read-write"), Some((None, None)));
        assert_eq!(of("rread"), Some((Some(true), Some(true))));
        assert_eq!(of("rnd"), Some((None, Some(true))));
        assert_eq!(of("job1"), Some((None, None)));
        // Names that may mean anything.
        for name in ["prefill-for-randread", "read-after-write-check", "reader", "wal", "thread", "seq-then-rand", "r"]
        {
            assert_eq!(of(name), None, "{name}");
        }
    }
}

//! An option that names one word, or several with percentages (`get/70:head/30`), and the draws from it.
//!
//! Must not know: options, engines. Start reading at [`WordMix::parse`], then [`MixDraws`].

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const MAX_ENTRIES: usize = 5;

/// Why a text is no mix, in the words that fio has for `write_mode`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MixError {
    /// The engine does not know a word; the sentence is its own.
    #[error("{0}")]
    Word(String),
    #[error("{option}: too many entries (max {MAX_ENTRIES})")]
    TooManyEntries { option: &'static str },
    #[error("{option} needs at least 2 entries")]
    OneEntry { option: &'static str },
    #[error("{option}: missing '/' in entry: {entry}")]
    NoSlash { option: &'static str, entry: String },
    #[error("{option}: percentage must not be negative: {percent}")]
    Negative { option: &'static str, percent: i64 },
    #[error("{option}: {text} is no percentage")]
    NoPercentage { option: &'static str, text: String },
    #[error("{option} percentages exceed 100%")]
    Above100 { option: &'static str },
    #[error("{option} percentages should add up to 100%")]
    Not100 { option: &'static str },
}

/// Words with their shares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WordMix<T> {
    /// Each with the sum of its percentage and those before it; the last sum is 100.
    entries: Vec<(T, u32)>,
}

impl<T: Copy + PartialEq> WordMix<T> {
    /// Reads the option `name`; `word` knows its words. Empty percentages share what is left.
    pub(crate) fn parse(
        name: &'static str,
        text: &str,
        word: impl Fn(&str) -> Result<T, MixError>,
    ) -> Result<Self, MixError> {
        if !text.contains([':', '/']) {
            return Ok(Self { entries: vec![(word(text)?, 100)] });
        }
        let parts: Vec<&str> = text.split(':').collect();
        if parts.len() > MAX_ENTRIES {
            return Err(MixError::TooManyEntries { option: name });
        }
        let mut shares = Vec::with_capacity(parts.len());
        for part in &parts {
            let (value, percent) =
                part.split_once('/').ok_or_else(|| MixError::NoSlash { option: name, entry: (*part).to_owned() })?;
            shares.push((word(value)?, percentage(name, percent)?));
        }
        if shares.len() < 2 {
            return Err(MixError::OneEntry { option: name });
        }
        let given: u32 = shares.iter().filter_map(|(_, percent)| *percent).sum();
        let n_empty = shares.iter().filter(|(_, percent)| percent.is_none()).count() as u32;
        if given > 100 {
            return Err(MixError::Above100 { option: name });
        }
        if n_empty == 0 && given != 100 {
            return Err(MixError::Not100 { option: name });
        }
        let each = (100 - given).checked_div(n_empty).unwrap_or(0);
        let mut sum = 0;
        let mut entries: Vec<(T, u32)> = shares
            .into_iter()
            .map(|(value, percent)| {
                sum += percent.unwrap_or(each);
                (value, sum)
            })
            .collect();
        // What the rounding leaves over goes to the last entry.
        if let Some((_, last)) = entries.last_mut() {
            *last = 100;
        }
        Ok(Self { entries })
    }

    /// True if this word is among them.
    pub(crate) fn have(&self, wanted: T) -> bool {
        self.entries.iter().any(|(value, _)| *value == wanted)
    }

    /// The one word; `None`: there is a choice.
    pub(crate) fn only(&self) -> Option<T> {
        match self.entries[..] {
            [(value, _)] => Some(value),
            _ => None,
        }
    }
}

/// `None`: it shares what is left with the others that give none.
fn percentage(name: &'static str, text: &str) -> Result<Option<u32>, MixError> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<i64>() {
        Ok(percent @ ..0) => Err(MixError::Negative { option: name, percent }),
        Ok(percent @ 0..=100) => Ok(Some(percent as u32)),
        Ok(_) => Err(MixError::Above100 { option: name }),
        Err(_) => Err(MixError::NoPercentage { option: name, text: text.to_owned() }),
    }
}

/// Draws a word for each I/O.
#[derive(Debug, Clone)]
pub(crate) struct MixDraws<T> {
    mix: WordMix<T>,
    only: Option<T>,
    stream: Xoshiro256PlusPlus,
}

impl<T: Copy + PartialEq> MixDraws<T> {
    /// `seed`: that of the worker; the stream is one of its own.
    pub(crate) fn new(mix: WordMix<T>, seed: u64) -> Self {
        let only = mix.only();
        Self { mix, only, stream: Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x77_7269_7465_5F6D) }
    }

    /// The word of the next I/O.
    #[inline]
    pub(crate) fn next(&mut self) -> T {
        if let Some(value) = self.only {
            return value;
        }
        // Fits; the bias is below 100 / 2^64.
        let drawn = ((u128::from(self.stream.next_u64()) * 100) >> 64) as u32;
        let found = self.mix.entries.iter().find(|(_, sum)| *sum > drawn);
        // The last sum is above every draw.
        found.map_or(self.mix.entries[0].0, |(value, _)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<WordMix<u8>, MixError> {
        WordMix::parse("mode", text, |word| match word {
            "a" => Ok(0),
            "b" => Ok(1),
            "c" => Ok(2),
            _ => Err(MixError::Word(format!("invalid mode value: {word}"))),
        })
    }

    fn sums(text: &str) -> Vec<u32> {
        parse(text).unwrap().entries.iter().map(|(_, sum)| *sum).collect()
    }

    #[test]
    fn one_word_needs_no_draw() {
        let mix = parse("b").unwrap();
        assert!(mix.only() == Some(1) && mix.have(1) && !mix.have(0));
        assert_eq!(MixDraws::new(mix, 1).next(), 1);
    }

    #[test]
    fn empty_percentages_share_what_is_left() {
        assert_eq!(sums("a/50:b/50"), [50, 100]);
        assert_eq!(sums("a/40:b/:c/"), [40, 70, 100]);
        // Three times 33, and the rest to the last.
        assert_eq!(sums("a/:b/:c/"), [33, 66, 100]);
    }

    /// The texts are those of fio 3.42 about `write_mode`.
    #[test]
    fn what_is_no_mix_is_refused() {
        for (text, why) in [
            ("foo", "invalid mode value: foo"),
            ("a/50:b", "mode: missing '/' in entry: b"),
            ("a/50:b/40", "mode percentages should add up to 100%"),
            ("a/50:b/60", "mode percentages exceed 100%"),
            ("a/-1:b/", "mode: percentage must not be negative: -1"),
            ("a/:a/:a/:a/:a/:a/", "mode: too many entries (max 5)"),
            ("a/100", "mode needs at least 2 entries"),
            ("a/x:b/", "mode: x is no percentage"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), why, "{text}");
        }
    }

    #[test]
    fn draws_keep_the_percentages() {
        let mix = parse("a/70:b/30").unwrap();
        let count = |draws: &mut MixDraws<u8>| (0..10_000).filter(|_| draws.next() == 1).count();
        let n_second = count(&mut MixDraws::new(mix.clone(), 42));
        // Five times the standard deviation, 45.8, of a binomial distribution.
        assert!((2771..=3229).contains(&n_second), "{n_second}");
        assert_eq!(count(&mut MixDraws::new(mix, 42)), n_second);
    }
}

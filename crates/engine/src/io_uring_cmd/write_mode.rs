//! The commands that writes of a job become (`write_mode`): one, or a mix of several by percentages.
//!
//! Must not know: encodings. Start reading at [`WriteModes::parse`].

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A command of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteMode {
    /// Write.
    Write,
    /// Write zeroes: no data go to the device.
    Zeroes,
    /// Verify: the device reads the blocks and checks them, without data for the host.
    Verify,
    /// Zone append: the device chooses the place within the zone.
    ZoneAppend,
}

/// Most entries of a mix.
const MAX_ENTRIES: usize = 5;

/// The commands with their shares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WriteModes {
    /// Each with the sum of its percentage and those before it; the last sum is 100.
    entries: Vec<(WriteMode, u32)>,
}

impl WriteModes {
    /// Reads the option.
    ///
    /// # Errors
    /// What is wrong, in the words of fio where it has some.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if !text.contains([':', '/']) {
            return Ok(Self { entries: vec![(mode(text)?, 100)] });
        }
        let parts: Vec<&str> = text.split(':').collect();
        if parts.len() > MAX_ENTRIES {
            return Err(format!("write_mode: too many entries (max {MAX_ENTRIES})"));
        }
        let mut shares = Vec::with_capacity(parts.len());
        for part in &parts {
            let (name, percent) =
                part.split_once('/').ok_or_else(|| format!("write_mode: missing '/' in entry: {part}"))?;
            shares.push((mode(name)?, percentage(percent)?));
        }
        if shares.len() < 2 {
            return Err("write_mode needs at least 2 entries".to_owned());
        }
        let given: u32 = shares.iter().filter_map(|(_, percent)| *percent).sum();
        let n_empty = shares.iter().filter(|(_, percent)| percent.is_none()).count() as u32;
        if given > 100 {
            return Err("write_mode percentages exceed 100%".to_owned());
        }
        if n_empty == 0 && given != 100 {
            return Err("write_mode percentages should add up to 100%".to_owned());
        }
        let each = (100 - given).checked_div(n_empty).unwrap_or(0);
        let mut sum = 0;
        let mut entries: Vec<(WriteMode, u32)> = shares
            .into_iter()
            .map(|(mode, percent)| {
                sum += percent.unwrap_or(each);
                (mode, sum)
            })
            .collect();
        // What the rounding leaves over goes to the last entry.
        if let Some((_, last)) = entries.last_mut() {
            *last = 100;
        }
        Ok(Self { entries })
    }

    /// True if some write becomes this command.
    pub(super) fn have(&self, wanted: WriteMode) -> bool {
        self.entries.iter().any(|(mode, _)| *mode == wanted)
    }

    /// The one command of all writes; `None`: there is a choice.
    pub(super) fn only(&self) -> Option<WriteMode> {
        match self.entries[..] {
            [(mode, _)] => Some(mode),
            _ => None,
        }
    }
}

fn mode(name: &str) -> Result<WriteMode, String> {
    match name {
        "write" => Ok(WriteMode::Write),
        "zeroes" => Ok(WriteMode::Zeroes),
        "verify" => Ok(WriteMode::Verify),
        "zone_append" => Ok(WriteMode::ZoneAppend),
        "uncor" => Err("write_mode=uncor is not built yet".to_owned()),
        _ => Err(format!("invalid write_mode value: {name}")),
    }
}

/// `None`: it shares what is left with the others that give none.
fn percentage(text: &str) -> Result<Option<u32>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<i64>() {
        Ok(percent @ ..0) => Err(format!("write_mode: percentage must not be negative: {percent}")),
        Ok(percent @ 0..=100) => Ok(Some(percent as u32)),
        Ok(_) => Err("write_mode percentages exceed 100%".to_owned()),
        Err(_) => Err(format!("write_mode: {text} is no percentage")),
    }
}

/// Draws the command of each write.
#[derive(Debug, Clone)]
pub(super) struct WriteModeDraws {
    modes: WriteModes,
    only: Option<WriteMode>,
    stream: Xoshiro256PlusPlus,
}

impl WriteModeDraws {
    /// `seed`: that of the worker; the stream is one of its own.
    pub(super) fn new(modes: WriteModes, seed: u64) -> Self {
        let only = modes.only();
        Self { modes, only, stream: Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x77_7269_7465_5F6D) }
    }

    /// The command of the next write.
    #[inline]
    pub(super) fn next(&mut self) -> WriteMode {
        if let Some(mode) = self.only {
            return mode;
        }
        // Fits; the bias is below 100 / 2^64.
        let drawn = ((u128::from(self.stream.next_u64()) * 100) >> 64) as u32;
        let found = self.modes.entries.iter().find(|(_, sum)| *sum > drawn);
        found.map_or(WriteMode::Write, |(mode, _)| *mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(text: &str) -> Vec<u32> {
        WriteModes::parse(text).unwrap().entries.iter().map(|(_, sum)| *sum).collect()
    }

    #[test]
    fn one_command_needs_no_draw() {
        let modes = WriteModes::parse("zeroes").unwrap();
        assert!(modes.only() == Some(WriteMode::Zeroes) && modes.have(WriteMode::Zeroes));
        assert_eq!(WriteModeDraws::new(modes, 1).next(), WriteMode::Zeroes);
    }

    #[test]
    fn empty_percentages_share_what_is_left() {
        assert_eq!(sums("write/50:zeroes/50"), [50, 100]);
        assert_eq!(sums("write/40:zeroes/:verify/"), [40, 70, 100]);
        // Three times 33, and the rest to the last.
        assert_eq!(sums("write/:zeroes/:verify/"), [33, 66, 100]);
    }

    /// The texts are those of fio 3.42.
    #[test]
    fn what_is_no_mix_is_refused() {
        for (text, why) in [
            ("foo", "invalid write_mode value: foo"),
            ("write/50:zeroes", "write_mode: missing '/' in entry: zeroes"),
            ("write/50:zeroes/40", "write_mode percentages should add up to 100%"),
            ("write/50:zeroes/60", "write_mode percentages exceed 100%"),
            ("write/-1:zeroes/", "write_mode: percentage must not be negative: -1"),
            ("write/:write/:write/:write/:write/:write/", "write_mode: too many entries (max 5)"),
            ("write/100", "write_mode needs at least 2 entries"),
            ("uncor", "write_mode=uncor is not built yet"),
            ("write/x:zeroes/", "write_mode: x is no percentage"),
        ] {
            assert_eq!(WriteModes::parse(text).unwrap_err(), why, "{text}");
        }
    }

    #[test]
    fn draws_keep_the_percentages() {
        let modes = WriteModes::parse("write/70:zeroes/30").unwrap();
        let mut draws = WriteModeDraws::new(modes.clone(), 42);
        let n_zeroes = (0..10_000).filter(|_| draws.next() == WriteMode::Zeroes).count();
        // Five times the standard deviation, 45.8, of a binomial distribution.
        assert!((2771..=3229).contains(&n_zeroes), "{n_zeroes}");
        let mut again = WriteModeDraws::new(modes, 42);
        assert_eq!((0..10_000).filter(|_| again.next() == WriteMode::Zeroes).count(), n_zeroes);
    }
}

//! Turns the texts of the `sim_*` options into the models of a device; errors name the option.
//!
//! Must not know: how the models work. Start reading at [`SimOptions`].

use super::burst::Burst;
use super::device::{Channels, SimDevice, TimedReadCache, WriteCache};
use super::error::{MAX_CHANNELS, SimTextError};
use super::fault::Faults;
use super::service::ServiceModel;
use super::stall::StallModel;
use crate::contract::EngineError;
use crate::contract::options::EngineOptions;
use ferrio_spec::engines::options::declaration::EngineOption;
use ferrio_spec::engines::options::sim;

/// Capacity of a device with contents if the job gives none: 1 GiB.
const DEFAULT_DATA_BYTES: u64 = 1 << 30;

/// Options that were checked; [`SimOptions::device`] makes the device once the seed is known.
#[derive(Debug, Clone)]
pub(crate) struct SimOptions {
    texts: Texts,
    n_channels: usize,
    /// Seed of the device, if it differs from that of the worker.
    pub(crate) seed: Option<u64>,
    /// Bytes of the device; `u64::MAX` if there is no limit.
    pub(crate) capacity_bytes: u64,
    /// The device stores data.
    pub(crate) has_data: bool,
}

#[derive(Debug, Clone)]
struct Texts {
    service: String,
    read_cache: Option<String>,
    write_cache: Option<String>,
    stall: Option<String>,
    burst: Option<String>,
    fault: Option<String>,
}

impl SimOptions {
    pub(crate) fn parse(options: &EngineOptions) -> Result<Self, EngineError> {
        let text = |option: &EngineOption<Option<&'static str>>| options.get(option).map(str::trim).map(str::to_owned);
        let has_data = options.get(&sim::DATA);
        let capacity = options.get(&sim::CAPACITY).map(i64::cast_unsigned);
        let parsed = Self {
            texts: Texts {
                service: options.get(&sim::SERVICE).trim().to_owned(),
                read_cache: text(&sim::READ_CACHE),
                write_cache: text(&sim::WRITE_CACHE),
                stall: text(&sim::STALL),
                burst: text(&sim::BURST),
                fault: text(&sim::FAULT),
            },
            n_channels: n_channels(options.get(&sim::CHANNELS))?,
            seed: options.get(&sim::SEED).map(i64::cast_unsigned),
            capacity_bytes: capacity.unwrap_or(if has_data { DEFAULT_DATA_BYTES } else { u64::MAX }),
            has_data,
        };
        // Checks all texts now, so that an error does not wait for the worker.
        parsed.device(0)?;
        Ok(parsed)
    }

    /// The device in its first state.
    pub(crate) fn device(&self, seed: u64) -> Result<SimDevice, EngineError> {
        let texts = &self.texts;
        let service = ServiceModel::parse(&texts.service, seed);
        Ok(SimDevice {
            service: service.map_err(|why| bad(&sim::SERVICE, &texts.service, &why))?,
            channels: Channels::new(self.n_channels),
            read_cache: model(&sim::READ_CACHE, texts.read_cache.as_ref(), TimedReadCache::parse)?,
            write_cache: model(&sim::WRITE_CACHE, texts.write_cache.as_ref(), WriteCache::parse)?,
            stall: model(&sim::STALL, texts.stall.as_ref(), StallModel::parse)?,
            burst: model(&sim::BURST, texts.burst.as_ref(), Burst::parse)?.unwrap_or_default(),
            faults: self.faults(seed)?,
            all_done_ns: 0,
        })
    }

    fn faults(&self, seed: u64) -> Result<Faults, EngineError> {
        let text = self.texts.fault.as_ref();
        let faults = model(&sim::FAULT, text, |text| Faults::parse(text, seed))?.unwrap_or_default();
        match faults.needs_data().filter(|_| !self.has_data) {
            Some(kind) => Err(bad(&sim::FAULT, text.map_or("", String::as_str), &SimTextError::NeedsContents(kind))),
            None => Ok(faults),
        }
    }
}

fn model<T>(
    option: &EngineOption<Option<&'static str>>,
    text: Option<&String>,
    parse: impl Fn(&str) -> Result<T, SimTextError>,
) -> Result<Option<T>, EngineError> {
    text.map(|text| parse(text).map_err(|why| bad(option, text, &why))).transpose()
}

fn n_channels(given: i64) -> Result<usize, EngineError> {
    let n_channels = u64::try_from(given).ok().filter(|n| (1..=MAX_CHANNELS).contains(n));
    n_channels.map(|n| n as usize).ok_or_else(|| bad(&sim::CHANNELS, &given, &SimTextError::Channels))
}

fn bad<T>(option: &EngineOption<T>, value: &(impl ToString + ?Sized), why: &impl ToString) -> EngineError {
    EngineError::bad_option(super::NAME, option.name(), value, why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::given;

    fn parse(option: &str, text: &str) -> Result<SimOptions, EngineError> {
        SimOptions::parse(&EngineOptions::new(given("sim", &[(option, text)])))
    }

    #[test]
    fn numbers_and_flags_are_read() {
        assert_eq!(parse("sim_channels", "8").unwrap().n_channels, 8);
        assert_eq!(parse("sim_capacity", "4096").unwrap().capacity_bytes, 4096);
        assert_eq!(parse("sim_seed", "-1").unwrap().seed, Some(u64::MAX));
        let with_data = parse("sim_data", "1").unwrap();
        assert!(with_data.has_data && with_data.capacity_bytes == DEFAULT_DATA_BYTES);
        let without = parse("sim_data", "0").unwrap();
        assert!(!without.has_data && without.capacity_bytes == u64::MAX && without.n_channels == 1);
    }

    #[test]
    fn errors_name_the_option_and_what_is_allowed() {
        for (option, value, message) in [
            ("sim_channels", "0", "sim: option sim_channels=0: allowed: 1 to 65536"),
            ("sim_stall", "1ms/2ms", "sim: option sim_stall=1ms/2ms: a stall of 2ms every 1ms leaves no time to work"),
            (
                "sim_read_cache",
                "1k/5us",
                "sim: option sim_read_cache=1k/5us: a read cache of 1k is not within 4k to 16g",
            ),
            (
                "sim_fault",
                "lost@1",
                "sim: option sim_fault=lost@1: 'lost' shows only in the contents: it needs sim_data=1",
            ),
            (
                "sim_write_cache",
                "1m/5us",
                "sim: option sim_write_cache=1m/5us: '1m/5us' does not have the form SIZE/HIT_TIME/DRAIN_RATE, such as 16m/10us/200m/s",
            ),
        ] {
            let error = parse(option, value).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}

//! Turns the texts of the `sim_*` options into the models of a device; errors name the option.
//!
//! Must not know: how the models work. Start reading at [`SimOptions`].

use super::burst::Burst;
use super::device::{Channels, SimDevice, TimedReadCache, WriteCache};
use super::error::{MAX_CHANNELS, SimTextError};
use super::fault::Faults;
use super::parse;
use super::service::ServiceModel;
use super::stall::StallModel;
use crate::contract::EngineError;
use crate::options::{EngineOptions, EngineValue};

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
    service: Option<String>,
    read_cache: Option<String>,
    write_cache: Option<String>,
    stall: Option<String>,
    burst: Option<String>,
    fault: Option<String>,
}

impl SimOptions {
    /// Checks all options.
    pub(crate) fn parse(options: &EngineOptions) -> Result<Self, EngineError> {
        let text = |name: &str| options.text(name).map(str::trim).map(str::to_owned);
        let has_data = options.flag("sim_data") || options.text("sim_data").is_some_and(|value| value != "0");
        let capacity = number(options, "sim_capacity", parse::bytes)?;
        let parsed = Self {
            texts: Texts {
                service: text("sim_service"),
                read_cache: text("sim_read_cache"),
                write_cache: text("sim_write_cache"),
                stall: text("sim_stall"),
                burst: text("sim_burst"),
                fault: text("sim_fault"),
            },
            n_channels: number(options, "sim_channels", channels)?.unwrap_or(1) as usize,
            seed: number(options, "sim_seed", seed)?,
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
        let service = ServiceModel::parse(texts.service.as_deref(), seed);
        Ok(SimDevice {
            service: service.map_err(|why| bad("sim_service", texts.service.as_ref(), &why))?,
            channels: Channels::new(self.n_channels),
            read_cache: model("sim_read_cache", texts.read_cache.as_ref(), TimedReadCache::parse)?,
            write_cache: model("sim_write_cache", texts.write_cache.as_ref(), WriteCache::parse)?,
            stall: model("sim_stall", texts.stall.as_ref(), StallModel::parse)?,
            burst: model("sim_burst", texts.burst.as_ref(), Burst::parse)?.unwrap_or_default(),
            faults: self.faults(seed)?,
            all_done_ns: 0,
        })
    }

    fn faults(&self, seed: u64) -> Result<Faults, EngineError> {
        let text = self.texts.fault.as_ref();
        let faults = model("sim_fault", text, |text| Faults::parse(text, seed))?.unwrap_or_default();
        match faults.needs_data().filter(|_| !self.has_data) {
            Some(kind) => Err(bad("sim_fault", text, &SimTextError::NeedsContents(kind))),
            None => Ok(faults),
        }
    }
}

fn model<T>(
    option: &'static str,
    text: Option<&String>,
    parse: impl Fn(&str) -> Result<T, SimTextError>,
) -> Result<Option<T>, EngineError> {
    text.map(|text| parse(text).map_err(|why| bad(option, Some(text), &why))).transpose()
}

/// A number, given as such or as a text.
fn number(
    options: &EngineOptions,
    name: &'static str,
    parse: impl Fn(&str) -> Result<u64, SimTextError>,
) -> Result<Option<u64>, EngineError> {
    let text = match options.get(name) {
        None => return Ok(None),
        Some(EngineValue::Text(text)) => text.trim().to_owned(),
        Some(_) => options.int(name).map(|value| value.to_string()).unwrap_or_default(),
    };
    parse(&text).map(Some).map_err(|why| bad(name, Some(&text), &why))
}

fn channels(text: &str) -> Result<u64, SimTextError> {
    let n_channels = text.parse().ok().filter(|n| (1..=MAX_CHANNELS).contains(n));
    n_channels.ok_or(SimTextError::Channels)
}

fn seed(text: &str) -> Result<u64, SimTextError> {
    // A negative seed in a job file is valid.
    text.parse::<u64>().ok().or_else(|| text.parse::<i64>().ok().map(|seed| seed as u64)).ok_or(SimTextError::Seed)
}

fn bad(option: &'static str, value: Option<&String>, why: &impl ToString) -> EngineError {
    EngineError::bad_option(super::NAME, option, value.map_or("", String::as_str), why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(option: &str, value: EngineValue) -> Result<SimOptions, EngineError> {
        SimOptions::parse(&EngineOptions::new(vec![(option.to_owned(), value)]))
    }

    #[test]
    fn numbers_come_as_numbers_or_texts() {
        assert_eq!(parse("sim_channels", EngineValue::Int(8)).unwrap().n_channels, 8);
        assert_eq!(parse("sim_channels", EngineValue::Text("8".into())).unwrap().n_channels, 8);
        assert_eq!(parse("sim_capacity", EngineValue::Int(4096)).unwrap().capacity_bytes, 4096);
        assert_eq!(parse("sim_seed", EngineValue::Int(-1)).unwrap().seed, Some(u64::MAX));
        let with_data = parse("sim_data", EngineValue::Bool(true)).unwrap();
        assert!(with_data.has_data && with_data.capacity_bytes == DEFAULT_DATA_BYTES);
        assert!(!parse("sim_data", EngineValue::Text("0".into())).unwrap().has_data);
    }

    #[test]
    fn errors_name_the_option_and_what_is_allowed() {
        for (option, value, message) in [
            ("sim_channels", "0", "sim: option sim_channels=0: allowed: 1 to 65536"),
            ("sim_seed", "x", "sim: option sim_seed=x: allowed: a whole number"),
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
            let error = parse(option, EngineValue::Text(value.into())).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}

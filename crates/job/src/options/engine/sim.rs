//! Options of ferrio's own engine `sim`, the simulated device.
//!
//! Rows only. The texts are parsed by the engine; a job file knows only that they are texts.

use crate::options::definition::{Apply, OptionDef, option};
use crate::options::kind::{Kind, at_least, at_most};

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("sim_service", Kind::Text, "Service-time model of one channel: kind and parameters")
        .default("fixed:100us")
        .of_engines(&["sim"])
        .applies(Apply::Engine)
        .long("fixed:T, uniform:LOW-HIGH, exponential:MEAN, lognormal:MEDIAN/SIGMA; times with ns, us, ms or s"),
    option("sim_channels", Kind::Int(at_least(1)), "I/Os the device serves at the same time")
        .default("1")
        .of_engines(&["sim"])
        .applies(Apply::Engine),
    option("sim_seed", Kind::Int(at_most(u32::MAX as i64)), "Seed of the device's own random numbers")
        .of_engines(&["sim"])
        .applies(Apply::Engine),
    option("sim_read_cache", Kind::Text, "Read cache of the device").of_engines(&["sim"]).applies(Apply::Engine),
    option("sim_write_cache", Kind::Text, "Write cache of the device").of_engines(&["sim"]).applies(Apply::Engine),
    option("sim_stall", Kind::Text, "Pauses of the whole device, as garbage collection makes them")
        .of_engines(&["sim"])
        .applies(Apply::Engine),
    option("sim_burst", Kind::Text, "Burst credits: fast until they are used up")
        .of_engines(&["sim"])
        .applies(Apply::Engine),
    option("sim_fault", Kind::Text, "Errors that the device makes").of_engines(&["sim"]).applies(Apply::Engine),
    option("sim_capacity", Kind::Size(at_least(1)), "Bytes of the device").of_engines(&["sim"]).applies(Apply::Engine),
];

//! Options of ferrio's own engine `sim`, the simulated device.
//!
//! Rows only. The texts are parsed by the engine; a job file knows only that they are texts.

use crate::options::definition::{Apply, OptionDef, option};
use crate::options::kind::{ANY, Kind, at_least, between};

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("sim_service", Kind::Text, "How long one channel works on an I/O: a distribution and its parameters")
        .default("fixed:100us")
        .of_engines(&["sim"])
        .applies(Apply::Engine)
        .long(
            "A list, by commas, of [DIRECTION=]DISTRIBUTION[+RATE]. Distributions: fixed:T, uniform:T-T,\n\
             exponential:MEAN, lognormal:MEDIAN/SIGMA; times end in ns, us, ms or s. The rate (bytes a second) adds the\n\
             time of the transfer. Directions: read, write, trim, sync.\n\
             Example: exponential:80us,write=fixed:20us+1g/s,sync=fixed:1ms",
        ),
    option("sim_channels", Kind::Int(between(1, 65_536)), "I/Os the device serves at the same time")
        .default("1")
        .of_engines(&["sim"])
        .applies(Apply::Engine),
    option("sim_seed", Kind::Size(ANY), "Seed of the device's own random numbers (default: that of the job)")
        .of_engines(&["sim"])
        .applies(Apply::Engine),
    option("sim_data", Kind::Bool, "Keep the contents of the device, so that what was written can be read back")
        .default("0")
        .of_engines(&["sim"])
        .applies(Apply::Engine),
    option("sim_read_cache", Kind::Text, "Read cache of the device: SIZE/HIT_TIME")
        .of_engines(&["sim"])
        .applies(Apply::Engine)
        .long("Example: 64m/5us"),
    option("sim_write_cache", Kind::Text, "Write cache of the device: SIZE/HIT_TIME/DRAIN_RATE")
        .of_engines(&["sim"])
        .applies(Apply::Engine)
        .long("Example: 16m/10us/200m/s"),
    option("sim_stall", Kind::Text, "Pauses of the whole device, as garbage collection makes them: EVERY/DURATION")
        .of_engines(&["sim"])
        .applies(Apply::Engine)
        .long("EVERY is an amount written or a time. Examples: 1g/50ms, 2s/100ms"),
    option("sim_burst", Kind::Text, "Burst credits, as cloud volumes have them: iops:BASE/BURST/CREDITS, also bw")
        .of_engines(&["sim"])
        .applies(Apply::Engine)
        .long("Example: iops:3000/16000/1000000,bw:125m/1g/16g"),
    option("sim_fault", Kind::Text, "Errors that the device makes: list of [DIRECTION=]KIND[:DURATION]@WHEN")
        .of_engines(&["sim"])
        .applies(Apply::Engine)
        .long(
            "Kinds: eio, short, torn, lost, misdirected, flip, stall. WHEN: a probability (0.01 or 1%), n (only the\n\
             n-th I/O) or /n (every n-th). Example: eio@/1000,write=flip@0.01%",
        ),
    option("sim_capacity", Kind::Size(at_least(1)), "Bytes of the device (default: no limit; with sim_data 1g)")
        .of_engines(&["sim"])
        .applies(Apply::Engine),
];

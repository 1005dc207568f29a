//! Options of ferrio's own engine `sim`, the simulated device.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, number, size, text, word};
use crate::values::syntax::{ANY, at_least, between};

words! {
    /// The time on which a simulated device works.
    SimTime {
        Real: "real", "The job waits for the device";
        Virtual: "virtual", "Time jumps to the next event: figures are exact, and minutes take milliseconds";
    }
}

engine_options! {
    SERVICE: &'static str =
        text("sim_service", "How long one channel works on an I/O: a distribution and its parameters")
            .default("fixed:100us")
            .long("A list, by commas, of [DIRECTION=]DISTRIBUTION[+RATE]. Distributions: fixed:T, uniform:T-T,\n\
             exponential:MEAN, lognormal:MEDIAN/SIGMA; times end in ns, us, ms or s. The rate (bytes a second) adds the\n\
             time of the transfer. Directions: read, write, trim, sync.\n\
             Example: exponential:80us,write=fixed:20us+1g/s,sync=fixed:1ms");
    CHANNELS: i64 = number("sim_channels", "I/Os the device serves at the same time", between(1, 65_536)).default("1");
    SEED: Option<i64> = size("sim_seed", "Seed of the device's own random numbers (default: that of the job)", ANY);
    DATA: bool = boolean("sim_data", "Keep the contents of the device, so that what was written can be read back")
        .default("0");
    READ_CACHE: Option<&'static str> = text("sim_read_cache", "Read cache of the device: SIZE/HIT_TIME")
        .long("Example: 64m/5us");
    WRITE_CACHE: Option<&'static str> = text("sim_write_cache", "Write cache of the device: SIZE/HIT_TIME/DRAIN_RATE")
        .long("Example: 16m/10us/200m/s");
    STALL: Option<&'static str> =
        text("sim_stall", "Pauses of the whole device, as garbage collection makes them: EVERY/DURATION")
            .long("EVERY is an amount written or a time. Examples: 1g/50ms, 2s/100ms");
    BURST: Option<&'static str> =
        text("sim_burst", "Burst credits, as cloud volumes have them: iops:BASE/BURST/CREDITS, also bw")
            .long("Example: iops:3000/16000/1000000,bw:125m/1g/16g");
    FAULT: Option<&'static str> =
        text("sim_fault", "Errors that the device makes: list of [DIRECTION=]KIND[:DURATION]@WHEN")
            .long("Kinds: eio, short, torn, lost, misdirected, flip, stall. WHEN: a probability (0.01 or 1%), n (only the\n\
             n-th I/O) or /n (every n-th). Example: eio@/1000,write=flip@0.01%");
    TIME: SimTime = word("sim_time", "Time of the device: that of the machine, or virtual")
        .long("On virtual time nothing waits: the clock jumps to the next completion, pause or end. The same seeds give the same\n\
             figures on every machine. All jobs of the run need the value; they are threads, and nothing of the machine (CPU\n\
             time, disks) is measured.");
    CAPACITY: Option<i64> =
        size("sim_capacity", "Bytes of the device (default: no limit; with sim_data 1g)", at_least(1));
}

//! Cases of pace: think time, rates, ramps, loops, limits of time, delays of starts.
//!
//! Must not know: how a case is run. Start reading at [`CASES`].
// tidy: table

use super::{Case, same};

/// Jobs that wait.
pub(super) const CASES: &[Case] = &[
    same(
        "pwrite64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --loops=3",
        "job=600 write=600 write.n=12 write.lat.mean=50",
    ),
    same(
        "pread64=50",
        "--name=j --filename=f --size=32k --bs=8k --rw=read --ioengine=psync --time_based --runtime=500ms",
        "job=500 read=500 read.lat.mean=50",
    ),
    same(
        "pread64=300",
        "--name=j --filename=f --size=32k --bs=8k --rw=read --ioengine=psync --time_based --runtime=500ms",
        "job=600 read=600 read.n=2",
    ),
];

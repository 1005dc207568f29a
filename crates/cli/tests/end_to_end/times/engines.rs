//! Cases of engines: the calls that do their I/O.
//!
//! Must not know: how a case is run. Start reading at [`CASES`].
// tidy: table

use super::{Case, same};

/// Jobs of all engines.
pub(super) const CASES: &[Case] = &[same(
    "write=50",
    "--name=a --filename=f --size=32k --bs=8k --rw=write --ioengine=sync",
    "job=200 write=200 write.lat.mean=50",
)];

//! Cases of what surrounds I/O: layout, opening, closing, removal, commands, groups.
//!
//! Must not know: how a case is run. Start reading at [`CASES`].
// tidy: table

use super::{Case, same};

/// Jobs around whose I/O something takes time.
pub(super) const CASES: &[Case] = &[
    same(
        "fadvise64=100",
        "--name=j --filename=f --size=256k --bs=8k --rw=write --ioengine=psync",
        "job=200 write=200 write.lat.max=0",
    ),
    same(
        "openat=150@f",
        "--name=j --filename=f --size=256k --bs=8k --rw=write --ioengine=psync --create_on_open=1",
        "job=150 write=150 write.lat.max=0",
    ),
    same("close=100@f", "--name=j --filename=f --size=256k --bs=8k --rw=write --ioengine=psync", "job=0 write=0"),
    same("unlink,unlinkat=200", "--name=j --filename=f --size=256k --bs=8k --rw=write --unlink=1", "job=0 write=0"),
];

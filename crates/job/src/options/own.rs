//! Options of every job that fio does not have.
//!
//! Rows only. Must not know: how values are parsed; what a row does is in its `apply` part.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{Choice, Kind, choice};
use crate::options::{apply_pace, verification};

const RATE_LATENCY: &[Choice] = &[
    choice("issue", "When the job came to do the I/O"),
    choice("response", "Besides, when the rate wanted it to start"),
];

const RATE_CATCH_UP: &[Choice] =
    &[choice("burst", "As fast as it goes"), choice("paced", "At no more than twice the rate")];

const HEADER_LAYOUT: &[Choice] = &[choice("3.42", "48 bytes, as 3.41 has too"), choice("3.33", "40 bytes")];

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("rate_latency", Kind::Choice(RATE_LATENCY), "From when latencies of rate-limited I/O count")
        .default("issue")
        .under("rate")
        .place(Category::Io, "rate")
        .long(
            "An option of ferrio's own. A job that waits for a slow I/O starts those after it late, and what they \
             waited for does not show in their latencies. With `response` a further latency counts from the time at \
             which the rate wanted each I/O to start. It is shown beside the others in the normal report, and under \
             `ferrio.response` in JSON. Late I/Os are made up for as rate_catch_up says.",
        )
        .applies(Apply::With(apply_pace::rate_latency)),
    option("rate_catch_up", Kind::Choice(RATE_CATCH_UP), "How I/Os that a rate-limited job is behind are made up for")
        .under("rate")
        .place(Category::Io, "rate")
        .long(
            "An option of ferrio's own. `burst`, as in fio, is the default; with rate_latency=response `paced` is: two \
             I/Os are no closer than half the time that the rate has between them.",
        )
        .applies(Apply::With(apply_pace::rate_catch_up)),
    option("verify_header_layout", Kind::Choice(HEADER_LAYOUT), "Which fio's header stands in verified blocks")
        .default("3.42")
        .under("verify")
        .place(Category::Io, "verify")
        .long(
            "An option of ferrio's own. The header before the data of a verified block changed between fio 3.33 and \
             3.41, and neither reads the other's. What is written has that of 3.41 and 3.42; with `3.33` it has that of Debian's fio \
             3.33, and for sha512 what that version stores, in which only the last bytes of a block have a part (a job that \
             reads back its own writes compares all of their data): set it where fio 3.33 is to read the file. A job that only reads \
             (rw=read, verify_only) recognises either by itself, block by block, unless this option is set: then only the \
             layout that it names is right. A job that reads back its own writes takes no other layout than theirs.",
        )
        .applies(Apply::With(verification::layout)),
    option("verify_crash_log", Kind::Text, "Journal of what must be there after a crash")
        .under("verify")
        .place(Category::Io, "verify")
        .long(
            "An option of ferrio's own. The job keeps a journal of the writes that were acknowledged and of the syncs that \
             were completed in this file, which is best on another device. After a power cut, or a kill of the job, \
             `ferrio verify --after-crash` with the same job says whether all that was synced is there, and nothing is torn. \
             With numjobs the number of the clone is put behind the name.",
        )
        .applies(Apply::With(verification::crash_log)),
];

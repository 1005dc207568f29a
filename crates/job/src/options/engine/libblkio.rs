//! Options of the engine `libblkio`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::{Choice, Kind, at_least, choice};

const LIBBLKIO_WAIT_MODE: &[Choice] =
    &[choice("block", "In the library"), choice("eventfd", "On the event descriptor"), choice("loop", "Spin")];

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("libblkio_driver", Kind::Text, "Driver name").of_engines(&["libblkio"]),
    option("libblkio_path", Kind::Text, "Value of its path property").of_engines(&["libblkio"]),
    option("libblkio_pre_connect_props", Kind::Text, "Extra properties set before connect, k=v:k=v")
        .of_engines(&["libblkio"]),
    option("libblkio_num_entries", Kind::Int(at_least(1)), "num-entries property").of_engines(&["libblkio"]),
    option("libblkio_queue_size", Kind::Int(at_least(1)), "queue-size property").of_engines(&["libblkio"]),
    option("libblkio_pre_start_props", Kind::Text, "Extra properties set before start").of_engines(&["libblkio"]),
    option("hipri", Kind::Flag, "Use poll queues").of_engines(&["libblkio"]),
    option("libblkio_vectored", Kind::Flag, "Use vectored requests").of_engines(&["libblkio"]),
    option("libblkio_write_zeroes_on_trim", Kind::Flag, "Trim by writing zeroes").of_engines(&["libblkio"]),
    option("libblkio_wait_mode", Kind::Choice(LIBBLKIO_WAIT_MODE), "Completion wait method")
        .default("block")
        .of_engines(&["libblkio"]),
    option("libblkio_force_enable_completion_eventfd", Kind::Flag, "Always enable the completion eventfd")
        .of_engines(&["libblkio"]),
];

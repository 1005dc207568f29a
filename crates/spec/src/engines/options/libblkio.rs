//! Options of the engine `libblkio`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{flag, number, text, untyped_word};
use crate::syntax::{Choice, at_least, choice};

const LIBBLKIO_WAIT_MODE_WORDS: &[Choice] =
    &[choice("block", "In the library"), choice("eventfd", "On the event descriptor"), choice("loop", "Spin")];

engine_options! {
    LIBBLKIO_DRIVER: Option<&'static str> = text("libblkio_driver", "Driver name").planned();
    LIBBLKIO_PATH: Option<&'static str> = text("libblkio_path", "Value of its path property").planned();
    LIBBLKIO_PRE_CONNECT_PROPS: Option<&'static str> =
        text("libblkio_pre_connect_props", "Extra properties set before connect, k=v:k=v")
            .planned();
    LIBBLKIO_NUM_ENTRIES: Option<i64> = number("libblkio_num_entries", "num-entries property", at_least(1)).planned();
    LIBBLKIO_QUEUE_SIZE: Option<i64> = number("libblkio_queue_size", "queue-size property", at_least(1)).planned();
    LIBBLKIO_PRE_START_PROPS: Option<&'static str> =
        text("libblkio_pre_start_props", "Extra properties set before start")
            .planned();
    HIPRI: bool = flag("hipri", "Use poll queues").planned();
    LIBBLKIO_VECTORED: bool = flag("libblkio_vectored", "Use vectored requests").planned();
    LIBBLKIO_WRITE_ZEROES_ON_TRIM: bool = flag("libblkio_write_zeroes_on_trim", "Trim by writing zeroes").planned();
    LIBBLKIO_WAIT_MODE: () = untyped_word("libblkio_wait_mode", "Completion wait method", LIBBLKIO_WAIT_MODE_WORDS)
        .default("block");
    LIBBLKIO_FORCE_ENABLE_COMPLETION_EVENTFD: bool =
        flag("libblkio_force_enable_completion_eventfd", "Always enable the completion eventfd")
            .planned();
}

//! Options of the engine `libblkio`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{SERVER_TIMEOUT_HELP, flag, number, text, word};
use crate::values::syntax::{at_least, between};

words! {
    /// How a job waits for completions.
    BlkioWait {
        Block: "block", "In the library";
        EventDescriptor: "eventfd", "On the event descriptor";
        Spin: "loop", "Spin";
    }
}

const PROPERTIES: &str = "Names and values are those of the library (man 3 blkio). A colon or backslash of a value has a backslash before it.";

engine_options! {
    LIBBLKIO_DRIVER: Option<&'static str> = text("libblkio_driver", "Driver name")
        .long("Required: io_uring, nvme-io_uring, virtio-blk-vhost-user, virtio-blk-vhost-vdpa or virtio-blk-vfio-pci.");
    LIBBLKIO_PATH: Option<&'static str> = text("libblkio_path", "Value of its path property")
        .long("A file or device for io_uring, the socket of the server for virtio-blk-vhost-user. All files of the job are this one.");
    LIBBLKIO_PRE_CONNECT_PROPS: Option<&'static str> =
        text("libblkio_pre_connect_props", "Extra properties set before connect, k=v:k=v").long(PROPERTIES);
    LIBBLKIO_NUM_ENTRIES: Option<i64> = number("libblkio_num_entries", "num-entries property", at_least(1));
    LIBBLKIO_QUEUE_SIZE: Option<i64> = number("libblkio_queue_size", "queue-size property", at_least(1));
    LIBBLKIO_PRE_START_PROPS: Option<&'static str> =
        text("libblkio_pre_start_props", "Extra properties set before start").long(PROPERTIES);
    HIPRI: bool = flag("hipri", "Use poll queues");
    LIBBLKIO_VECTORED: bool = flag("libblkio_vectored", "Use vectored requests");
    LIBBLKIO_WRITE_ZEROES_ON_TRIM: bool = flag("libblkio_write_zeroes_on_trim", "Trim by writing zeroes");
    LIBBLKIO_WAIT_MODE: BlkioWait = word("libblkio_wait_mode", "Completion wait method");
    LIBBLKIO_FORCE_ENABLE_COMPLETION_EVENTFD: bool =
        flag("libblkio_force_enable_completion_eventfd", "Always enable the completion eventfd");
    SERVER_TIMEOUT: i64 = number("server_timeout", "Seconds in which a server has to answer something", between(1, 86_400))
        .default("120")
        .own()
        .long(SERVER_TIMEOUT_HELP);
}

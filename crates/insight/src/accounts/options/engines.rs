//! Options that are private to engines.
//!
//! Start reading at [`EFFECTS`].

use super::{OptionEffect, Seen};
use crate::accounts::asked::{Asked, as_asked_if, not, of_asked, unseen};
use ferrio_stats::{OptionOutcome, TargetPlace};

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::of(PLACES, Seen::Structure),
    OptionEffect::of(CREDENTIALS, Seen::Structure),
    OptionEffect::measured(&["hipri"], polling).in_vain_if(without_poll_queues),
    OptionEffect::measured(&["hipri_percentage"], polling).in_vain_if(|asked| {
        let has_none = !asked.is_given("hipri");
        has_none.then(|| "there is no hipri".to_owned()).or_else(|| without_poll_queues(asked))
    }),
    OptionEffect::nowhere(&["sqthread_poll_cpu"], "the kernel does not tell which CPU it has used")
        .in_vain_if(|asked| (!asked.is_given("sqthread_poll")).then(|| "there is no sqthread_poll".to_owned())),
    // A job whose buffers or files cannot be registered, or whose ring gets no thread, does not begin.
    OptionEffect::measured(&["fixedbufs", "registerfiles", "sqthread_poll", "nonvectored", "force_async"], |asked| {
        asked.unless_found()
    }),
    OptionEffect::nowhere(
        &[
            "libaio_vectored",
            "nowait",
            "uncached",
            "userspace_reap",
            "no_completion_thread",
            "busy_poll",
            "nodelay",
            "mss",
            "window_size",
            "writefua",
            "readfua",
            "libiscsi_fua",
            "thp",
            "libblkio_force_enable_completion_eventfd",
            "libblkio_num_entries",
            "libblkio_queue_size",
            "libblkio_vectored",
            "libblkio_wait_mode",
            "xnvme_async",
            "xnvme_sync",
            "xnvme_admin",
            "xnvme_mem",
            "xnvme_iovec",
            "cuda_io",
            "rocm_io",
            "http_s3_parallel",
            "http_s3_part_size",
        ],
        "the kernel or the library does not tell whether it has minded it",
    ),
    OptionEffect::nowhere(
        &[
            "write_mode",
            "verify_mode",
            "verify_bytchk",
            "sg_write_mode",
            "stream_id",
            "deac",
            "pi_act",
            "pi_chk",
            "apptag",
            "apptag_mask",
            "md_per_io_size",
            "cdb_len",
            "stat_type",
            "libiscsi_unmap",
            "libblkio_write_zeroes_on_trim",
            "skip_bad",
            "read_mode",
            "hdfs_use_direct",
            "single_instance",
            "inplace",
            "verb",
            "http_read_mode",
            "touch_objects",
            "connections",
        ],
        "the commands are counted, their forms are not",
    ),
    OptionEffect::measured(&["cpuload"], cpu_load),
    OptionEffect::nowhere(
        &[
            "cpuchunks",
            "cpumode",
            "exit_on_io_done",
            "pingpong",
            "std_redirect",
            "grace_time",
            "server_timeout",
            "http_retries",
            "http_verbose",
        ],
        "the turns of the engine are not recorded",
    ),
    OptionEffect::of(PROFILES, Seen::Structure),
    // What is simulated is what was asked for.
    OptionEffect::measured(
        &[
            "sim_burst",
            "sim_capacity",
            "sim_channels",
            "sim_data",
            "sim_fault",
            "sim_read_cache",
            "sim_seed",
            "sim_service",
            "sim_stall",
            "sim_time",
            "sim_write_cache",
        ],
        |_| OptionOutcome::AsAsked,
    ),
];

/// Where targets are, and by what they are reached.
const PLACES: &[&str] = &[
    "hostname",
    "port",
    "bindname",
    "listen",
    "protocol",
    "interface",
    "ttl",
    "uri",
    "nfs_url",
    "namenode",
    "hdfsdirectory",
    "chunk_size",
    "clustername",
    "clientname",
    "pool",
    "rbdname",
    "conf",
    "brick",
    "volume",
    "svcl",
    "object_class",
    "cont",
    "donorname",
    "program",
    "arguments",
    "library",
    "library_options",
    "initiator",
    "http_host",
    "http_bucket",
    "http_mode",
    "http_object_mode",
    "http_list_keys",
    "http_ca",
    "https",
    "http_s3_region",
    "http_s3_storage_class",
    "libblkio_driver",
    "libblkio_path",
    "libblkio_pre_connect_props",
    "libblkio_pre_start_props",
    "xnvme_be",
    "xnvme_dev_nsid",
    "xnvme_dev_subnqn",
    "cmd_type",
    "gpu_dev_ids",
    "rbd_encryption_format",
    "storage",
];

/// Options of profiles, which make the jobs.
const PROFILES: &[&str] = &[
    "block",
    "device-names",
    "dir",
    "dummy",
    "large-block-op-kbytes",
    "load",
    "numruns",
    "prep",
    "read-req-num-512-blocks",
    "single-instance",
    "test-duration",
    "threads",
    "threads-per-queue",
];

/// Names and keys of users.
const CREDENTIALS: &[&str] = &[
    "http_user",
    "http_pass",
    "http_s3_key",
    "http_s3_keyid",
    "http_s3_security_token",
    "http_s3_sse_customer_key",
    "http_s3_sse_customer_algorithm",
    "http_swift_auth_token",
    "rbd_encryption_passphrase",
];

/// Completions are polled for where the device has queues for that.
/// No device below the job's files polls. What is below them is known before the run.
fn without_poll_queues(asked: &Asked<'_, '_>) -> Option<String> {
    match polling(asked) {
        OptionOutcome::NotAsAsked(why) => Some(why),
        _ => None,
    }
}

fn polling(asked: &Asked<'_, '_>) -> OptionOutcome {
    if matches!(asked.value, "0") {
        return OptionOutcome::AsAsked;
    }
    // The first device below each place.
    let of_place = |place: &TargetPlace| asked.case.layers_of(place).iter().find(|layer| layer.bytes.is_some())?.polls;
    let polls: Vec<bool> = asked.job.places.iter().filter_map(of_place).collect();
    match () {
        () if polls.is_empty() || polls.len() < asked.job.places.len() => {
            unseen("it is not known whether the device has poll queues")
        }
        () if polls.iter().all(|polls| !polls) => not("the device has no poll queues"),
        () if polls.iter().any(|polls| !polls) => not("some of the devices have no poll queues"),
        () => OptionOutcome::AsAsked,
    }
}

/// A load of a CPU may differ by this many percent of it.
const LOAD_SLACK: f64 = 10.0;

fn cpu_load(asked: &Asked<'_, '_>) -> OptionOutcome {
    let Some(wanted) = asked.value.trim_end_matches('%').parse::<f64>().ok().filter(|wanted| *wanted > 0.0) else {
        return unseen("it is no number");
    };
    let Some(figures) = asked.figures().filter(|figures| figures.total_runtime_ns > 0) else {
        return unseen("the job has not run");
    };
    let load = 100.0 * figures.usage.cpu_ns() as f64 / figures.total_runtime_ns as f64;
    as_asked_if((load - wanted.min(100.0)).abs() <= LOAD_SLACK, || of_asked(load, wanted, " % of a CPU"))
}

//! The measured cases and their goals. A new case is one row in [`CASES`].
//!
//! Must not know: how a case is measured. The fields of a row are explained in `case.rs`.

// tidy: table

use super::case::{Case, Goal, PLAIN, Target, Work};

/// The loop with one feature more.
const SHAPED: &[Goal] = &[Goal::SpeedAtLeast(2.5), Goal::CpuBelow(0.4)];
/// With a kernel below: not slower (2 % are noise), and less CPU time of its own.
const KERNEL: &[Goal] = &[Goal::SpeedAtLeast(0.98), Goal::UserCpuBelow(1.0), Goal::InstructionsBelow(1.0)];
/// The device decides: not slower (2 % are noise).
const NOT_SLOWER: &[Goal] = &[Goal::SpeedAtLeast(0.98)];
/// A thousand jobs start within a second, twice as fast as under fio, and with less CPU time and memory.
const MANY_JOBS: &[Goal] =
    &[Goal::SecondsBelow(1.0), Goal::SpeedAtLeast(2.0), Goal::CpuBelow(1.0), Goal::MemoryBelow(0.25)];

/// A random map of 2 MiB: larger than the first cache levels, as on a real disk.
macro_rules! null {
    ($more:literal) => {
        concat!("--name=b --ioengine=null --size=64g --bs=4k --rw=randread ", $more)
    };
}

macro_rules! target {
    ($more:literal) => {
        concat!("--name=b --filename={target} --bs=4k --io_size=100g ", $more)
    };
}

macro_rules! zero {
    ($more:literal) => {
        concat!("--name=b --filename={target} --bs=512 --size=1g --io_size=100g --rw=read ", $more)
    };
}

macro_rules! thousand {
    ($more:literal) => {
        concat!("--name=b --ioengine=null --size=1m --bs=4k --rw=randread --number_ios=1 --numjobs=1000 ", $more)
    };
}

/// A rate on the null engine: the time of a long run less that of a short one is the number of I/Os divided by the
/// rate.
macro_rules! rate {
    ($more:literal) => {
        concat!("--name=b --ioengine=null --size=64g --bs=4k --rw=randread --rate_iops=", $more)
    };
}

const fn at_rate(
    name: &'static str,
    about: &'static str,
    options: &'static str,
    n_ios: u64,
    goals: &'static [Goal],
) -> Case {
    Case { name, about, options, work: Work::PerIo { n_ios }, goals, ..PLAIN }
}

/// Data is computed when a reader needs it, and synced: the same calls as `dd conv=fsync`, with another source.
macro_rules! layout {
    ($more:literal) => {
        concat!("--name=b --filename={target} --size=1g --rw=read --ioengine=psync --number_ios=1 ", $more)
    };
}

const fn laid_out(name: &'static str, about: &'static str, options: &'static str, beside: &'static str) -> Case {
    Case {
        name,
        about,
        target: Target::NewFile,
        options,
        beside: Some(beside),
        goals: &[Goal::BesideSpeedAtLeast(0.9), Goal::SpeedAtLeast(0.95)],
        ..PLAIN
    }
}

/// Verification that is cheaper by itself, and with the kernel's part.
const VERIFIED_NOT_SLOWER: &[Goal] = &[Goal::UserCpuBelow(1.0), Goal::CpuBelow(1.0)];

/// Writes of 4 KiB, which are all read back and verified; a write and its read count as one. A faster checksum shows in
/// the user CPU time only: the kernel copies each block twice for either program, which takes the same time.
macro_rules! verified {
    ($method:literal) => {
        verified!($method, "--bs=4k --size=1g --ioengine=psync")
    };
    ($method:literal, $more:literal) => {
        concat!("--name=b --filename={target} --rw=write --verify_state_save=0 --verify=", $method, " ", $more)
    };
}

const fn verified(
    name: &'static str,
    about: &'static str,
    options: &'static str,
    n_ios: u64,
    goals: &'static [Goal],
) -> Case {
    Case { name, about, target: Target::Tmpfs, options, work: Work::PerIo { n_ios }, goals, ..PLAIN }
}

const BARE_NULL: Option<&str> = Some("null 68719476736");
/// With three reads of the clock per I/O.
const BARE_NULL_QUEUED: Option<&str> = Some("null-queued 68719476736");

/// All cases, in the order in which they run.
pub(super) const CASES: &[Case] = &[
    Case {
        name: "null-1",
        about: "the loop alone: null engine, random reads with a map, depth 1, all statistics",
        options: null!(""),
        work: Work::PerIo { n_ios: 8_000_000 },
        bare: BARE_NULL,
        goals: &[Goal::SpeedAtLeast(3.0), Goal::CpuBelow(0.33), Goal::InstructionsBelow(0.5)],
        ..PLAIN
    },
    Case {
        name: "null-32",
        about: "the loop alone, depth 32, all statistics",
        options: null!("--iodepth=32"),
        work: Work::PerIo { n_ios: 6_000_000 },
        bare: BARE_NULL_QUEUED,
        goals: &[Goal::SpeedAtLeast(4.0), Goal::BareCpuBelow(1.6), Goal::InstructionsBelow(0.5)],
        ..PLAIN
    },
    Case {
        name: "null-1-reduced",
        about: "the loop alone, depth 1, gtod_reduce=1: no latencies, hardly a clock read",
        options: null!("--gtod_reduce=1"),
        work: Work::PerIo { n_ios: 10_000_000 },
        goals: &[Goal::SpeedAtLeast(3.0), Goal::CpuBelow(0.33), Goal::InstructionsBelow(0.5)],
        ..PLAIN
    },
    Case {
        name: "null-32-reduced",
        about: "the loop alone, depth 32, gtod_reduce=1",
        options: null!("--iodepth=32 --gtod_reduce=1"),
        work: Work::PerIo { n_ios: 8_000_000 },
        goals: &[Goal::SpeedAtLeast(5.0), Goal::InstructionsBelow(0.5)],
        ..PLAIN
    },
    Case {
        name: "null-zipf",
        about: "the loop at depth 1, offsets by zipf:1.1",
        options: null!("--random_distribution=zipf:1.1"),
        work: Work::PerIo { n_ios: 6_000_000 },
        goals: SHAPED,
        ..PLAIN
    },
    Case {
        name: "null-bssplit",
        about: "the loop at depth 1, blocks of 4k, 8k and 64k",
        options: null!("--bssplit=4k/60:8k/30:64k/10"),
        work: Work::PerIo { n_ios: 6_000_000 },
        goals: SHAPED,
        ..PLAIN
    },
    Case {
        name: "null-rwmix",
        about: "the loop at depth 1, 70 % reads and 30 % writes",
        options: null!("--rw=randrw --rwmixread=70"),
        work: Work::PerIo { n_ios: 6_000_000 },
        goals: SHAPED,
        ..PLAIN
    },
    Case {
        name: "null-rate",
        about: "the loop at depth 1 under a rate that it does not reach",
        options: null!("--rate_iops=1000000000"),
        work: Work::PerIo { n_ios: 6_000_000 },
        goals: SHAPED,
        ..PLAIN
    },
    at_rate(
        "rate-1k",
        "1,000 I/Os a second, linear",
        rate!("1000"),
        4_000,
        &[Goal::RateWithin { ios_per_sec: 1e3, percent: 1.0 }],
    ),
    at_rate(
        "rate-10k",
        "10,000 I/Os a second, linear",
        rate!("10000"),
        30_000,
        &[Goal::RateWithin { ios_per_sec: 1e4, percent: 1.0 }, Goal::CoreBelow(30.0)],
    ),
    at_rate(
        "rate-100k",
        "100,000 I/Os a second, linear",
        rate!("100000"),
        300_000,
        &[Goal::RateWithin { ios_per_sec: 1e5, percent: 1.0 }],
    ),
    at_rate(
        "rate-500k",
        "500,000 I/Os a second, linear",
        rate!("500000"),
        1_500_000,
        &[Goal::RateWithin { ios_per_sec: 5e5, percent: 1.0 }],
    ),
    // A Poisson process of n I/Os misses its own rate by 1 / sqrt(n) as a standard error: to the 1 percent come two of
    // these, of nine tenths of the I/Os.
    at_rate(
        "rate-poisson-1k",
        "1,000 I/Os a second, Poisson; 3.3 % are the chance of 3,600 I/Os",
        rate!("1000 --rate_process=poisson"),
        4_000,
        &[Goal::RateWithin { ios_per_sec: 1e3, percent: 4.3 }],
    ),
    at_rate(
        "rate-poisson-10k",
        "10,000 I/Os a second, Poisson; 1.2 % are the chance of 27,000 I/Os",
        rate!("10000 --rate_process=poisson"),
        30_000,
        &[Goal::RateWithin { ios_per_sec: 1e4, percent: 2.2 }, Goal::CoreBelow(30.0)],
    ),
    at_rate(
        "rate-poisson-100k",
        "100,000 I/Os a second, Poisson; 0.4 % are the chance of 270,000 I/Os",
        rate!("100000 --rate_process=poisson"),
        300_000,
        &[Goal::RateWithin { ios_per_sec: 1e5, percent: 1.4 }],
    ),
    at_rate(
        "rate-poisson-500k",
        "500,000 I/Os a second, Poisson; 0.2 % are the chance of 1,350,000 I/Os",
        rate!("500000 --rate_process=poisson"),
        1_500_000,
        &[Goal::RateWithin { ios_per_sec: 5e5, percent: 1.2 }],
    ),
    Case {
        name: "psync-dev-zero",
        about: "psync, 512 bytes of /dev/zero",
        target: Target::DevZero,
        options: zero!("--ioengine=psync"),
        work: Work::PerIo { n_ios: 5_000_000 },
        bare: Some("pread sequential {target} 512"),
        goals: &[Goal::SpeedAtLeast(1.5), Goal::ClatLowerBy(50.0)],
        ..PLAIN
    },
    Case {
        name: "io_uring-dev-zero",
        about: "io_uring, 512 bytes of /dev/zero, depth 32",
        target: Target::DevZero,
        options: zero!("--ioengine=io_uring --iodepth=32"),
        work: Work::PerIo { n_ios: 3_000_000 },
        bare: Some("engine io_uring sequential {target} 32 1 512"),
        goals: &[Goal::SpeedAtLeast(1.2)],
        ..PLAIN
    },
    Case {
        name: "io_uring-dev-zero-fixed",
        about: "the same with registered files and buffers, in batches of 16",
        target: Target::DevZero,
        options: zero!(
            "--ioengine=io_uring --iodepth=32 --registerfiles=1 --fixedbufs=1 --iodepth_batch_submit=16 \
             --iodepth_batch_complete_min=16 --iodepth_batch_complete_max=16"
        ),
        work: Work::PerIo { n_ios: 4_000_000 },
        bare: Some("engine io_uring sequential {target} 32 16 512"),
        goals: &[Goal::SpeedAtLeast(1.35), Goal::BareSpeedAtLeast(0.9)],
        ..PLAIN
    },
    Case {
        name: "psync-read",
        about: "psync on tmpfs, random reads of 4 KiB",
        target: Target::Tmpfs,
        options: target!("--ioengine=psync --size=1g --rw=randread"),
        work: Work::PerIo { n_ios: 2_000_000 },
        bare: Some("pread random {target} 4096"),
        goals: KERNEL,
        ..PLAIN
    },
    Case {
        name: "psync-write",
        about: "psync on tmpfs, random writes of 4 KiB",
        target: Target::Tmpfs,
        options: target!("--ioengine=psync --size=1g --rw=randwrite"),
        work: Work::PerIo { n_ios: 2_000_000 },
        goals: KERNEL,
        ..PLAIN
    },
    Case {
        name: "libaio-ext4",
        about: "libaio on a file of the disk, O_DIRECT, depth 32",
        target: Target::DiskFile,
        options: target!("--ioengine=libaio --direct=1 --iodepth=32 --size=1g --rw=randread"),
        work: Work::PerIo { n_ios: 150_000 },
        goals: NOT_SLOWER,
        ..PLAIN
    },
    Case {
        name: "libaio-loop",
        about: "libaio on a loop device, O_DIRECT, depth 32",
        target: Target::Loop,
        options: target!("--ioengine=libaio --direct=1 --iodepth=32 --size=1g --rw=randread"),
        work: Work::PerIo { n_ios: 100_000 },
        goals: NOT_SLOWER,
        ..PLAIN
    },
    Case {
        name: "libaio-zram",
        about: "libaio on zram, O_DIRECT, random reads of 4 KiB, depth 32",
        target: Target::Zram,
        options: target!("--ioengine=libaio --direct=1 --iodepth=32 --size=2g --rw=randread"),
        work: Work::PerIo { n_ios: 1_500_000 },
        bare: Some("engine libaio random {target} 32 1 4096"),
        goals: KERNEL,
        ..PLAIN
    },
    Case {
        name: "libaio-zram-16",
        about: "libaio on zram in batches of 16",
        target: Target::Zram,
        options: target!(
            "--ioengine=libaio --direct=1 --iodepth=32 --size=2g --rw=randread --iodepth_batch_submit=16 \
             --iodepth_batch_complete_min=16 --iodepth_batch_complete_max=16"
        ),
        work: Work::PerIo { n_ios: 1_500_000 },
        bare: Some("engine libaio random {target} 32 16 4096"),
        goals: &[Goal::SpeedAtLeast(1.05), Goal::UserCpuBelow(1.0)],
        ..PLAIN
    },
    Case {
        name: "io_uring-tmpfs",
        about: "io_uring on tmpfs, random reads of 4 KiB, depth 32",
        target: Target::Tmpfs,
        options: target!("--ioengine=io_uring --iodepth=32 --size=1g --rw=randread"),
        work: Work::PerIo { n_ios: 2_000_000 },
        bare: Some("engine io_uring random {target} 32 1 4096"),
        goals: KERNEL,
        ..PLAIN
    },
    Case {
        name: "io_uring-zram",
        about: "io_uring on zram, O_DIRECT, random reads of 4 KiB, depth 32",
        target: Target::Zram,
        options: target!("--ioengine=io_uring --direct=1 --iodepth=32 --size=2g --rw=randread"),
        work: Work::PerIo { n_ios: 1_500_000 },
        bare: Some("engine io_uring random {target} 32 1 4096"),
        goals: KERNEL,
        ..PLAIN
    },
    Case {
        name: "io_uring-zram-fixed",
        about: "io_uring on zram with registered files and buffers, in batches of 16",
        target: Target::Zram,
        options: target!(
            "--ioengine=io_uring --direct=1 --iodepth=32 --size=2g --rw=randread --registerfiles=1 --fixedbufs=1 \
             --iodepth_batch_submit=16 --iodepth_batch_complete_min=16 --iodepth_batch_complete_max=16"
        ),
        work: Work::PerIo { n_ios: 1_500_000 },
        bare: Some("engine io_uring random {target} 32 16 4096"),
        goals: &[Goal::SpeedAtLeast(1.05), Goal::BareSpeedAtLeast(0.9), Goal::UserCpuBelow(1.0)],
        ..PLAIN
    },
    Case {
        name: "fill-64k",
        about: "new contents for each write of 64 KiB, half of which compresses; the bare loop clears and copies memory",
        options: "--name=b --ioengine=null --size=100g --bs=64k --rw=write --refill_buffers --buffer_compress_percentage=50",
        work: Work::PerIo { n_ios: 400_000 },
        bare: Some("fill 65536"),
        goals: &[Goal::GigabytesAtLeast { gigabytes: 30.0, block_bytes: 65_536.0 }, Goal::SpeedAtLeast(1.0)],
        ..PLAIN
    },
    verified(
        "verify-crc32c",
        "4 KiB written to tmpfs, read back and checked by CRC-32C",
        verified!("crc32c"),
        200_000,
        &[Goal::UserCpuBelow(0.333), Goal::CpuBelow(0.333)],
    ),
    Case {
        work: Work::PerPass { n_passes: 1_000, n_ios: 256 },
        ..verified(
            "verify-crc32c-cached",
            "the same in a file of 1 MiB, written and read over and over: the kernel copies from cache to cache",
            verified!("crc32c", "--bs=4k --size=1m --ioengine=psync"),
            0,
            &[Goal::SpeedAtLeast(3.0), Goal::UserCpuBelow(0.333)],
        )
    },
    verified(
        "verify-crc32c-64k",
        "the same in blocks of 64 KiB",
        verified!("crc32c", "--bs=64k --size=1g --ioengine=psync"),
        16_000,
        &[Goal::UserCpuBelow(0.333)],
    ),
    verified(
        "verify-crc32c-mmap",
        "the same by a mapping of the file: the copies are those of the programs",
        verified!("crc32c", "--bs=4k --size=1g --ioengine=mmap"),
        200_000,
        VERIFIED_NOT_SLOWER,
    ),
    verified(
        "verify-sha256",
        "the same by fio's form of SHA-256",
        verified!("sha256"),
        40_000,
        &[Goal::UserCpuBelow(0.25), Goal::CpuBelow(0.25)],
    ),
    verified(
        "verify-sha1",
        "the same by SHA-1",
        verified!("sha1"),
        100_000,
        &[Goal::UserCpuBelow(0.25), Goal::CpuBelow(0.25)],
    ),
    verified(
        "verify-pattern",
        "the same by a pattern with the offset in it",
        verified!("pattern", "--verify_pattern=0xdeadbeef%o --bs=4k --size=1g --ioengine=psync"),
        200_000,
        VERIFIED_NOT_SLOWER,
    ),
    verified("verify-md5", "the same by MD5", verified!("md5"), 100_000, VERIFIED_NOT_SLOWER),
    verified("verify-xxhash", "the same by XXH32", verified!("xxhash"), 200_000, VERIFIED_NOT_SLOWER),
    Case {
        name: "logs-averaged",
        about: "the loop at depth 1 with logs of latencies, bandwidth and IOPS, a row each 100 ms",
        target: Target::Directory,
        options: null!(""),
        extra: "--write_lat_log={target}/log --write_bw_log={target}/log --write_iops_log={target}/log --log_avg_msec=100",
        work: Work::PerIo { n_ios: 20_000_000 },
        goals: &[Goal::LossBelow(0.05), Goal::SpeedAtLeast(2.5)],
        ..PLAIN
    },
    Case {
        name: "logs-each-io",
        about: "the loop at depth 1 with a row for each I/O in logs of clat and lat, written out",
        target: Target::Directory,
        options: null!(""),
        extra: "--write_lat_log={target}/log",
        work: Work::PerIo { n_ios: 4_000_000 },
        goals: &[Goal::ExtraTimeBelow(0.4), Goal::SpeedAtLeast(2.5), Goal::CpuBelow(0.4)],
        ..PLAIN
    },
    Case {
        name: "logs-memory",
        about: "peak memory with a row for each I/O in logs of clat and lat, with a quarter of the I/Os and with all",
        target: Target::NullLogs,
        options: null!("--write_lat_log={target}/log"),
        work: Work::Quarter { n_ios: 4_000_000 },
        measures_memory: true,
        goals: &[
            Goal::GrowthBelow(1.1),
            Goal::RowBytesBelow { bytes: 20.0, rows_per_io: 2.0 },
            Goal::MemoryBelow(0.25),
        ],
        ..PLAIN
    },
    laid_out(
        "layout-4k",
        "a file of 1 GiB laid out by 4 KiB and synced, beside dd with conv=fsync",
        layout!("--bs=4k"),
        "dd if=/dev/zero of={target} bs=4k count=262144 conv=fsync",
    ),
    laid_out(
        "layout-1m",
        "the same by 1 MiB",
        layout!("--bs=1m"),
        "dd if=/dev/zero of={target} bs=1M count=1024 conv=fsync",
    ),
    Case {
        name: "start-1",
        about: "start and end of one null job of one I/O",
        options: null!("--number_ios=1"),
        work: Work::WholeRun,
        measures_memory: true,
        goals: &[Goal::SpeedAtLeast(6.7), Goal::CpuBelow(1.0)],
        ..PLAIN
    },
    Case {
        name: "start-1000-processes",
        about: "1,000 null jobs of one I/O, as processes",
        options: thousand!("--thread=0"),
        work: Work::WholeRun,
        measures_memory: true,
        goals: MANY_JOBS,
        ..PLAIN
    },
    Case {
        name: "start-1000-threads",
        about: "1,000 null jobs of one I/O, as threads",
        options: thousand!("--thread=1"),
        work: Work::WholeRun,
        measures_memory: true,
        goals: MANY_JOBS,
        ..PLAIN
    },
    Case {
        name: "parse-2000",
        about: "--parse-only of a job file with 2,000 sections",
        target: Target::JobFile,
        options: "--parse-only {target}",
        work: Work::WholeRun,
        measures_memory: true,
        goals: &[Goal::SpeedAtLeast(2.5), Goal::CpuBelow(0.4)],
        ..PLAIN
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_loop_has_the_order_of_its_case() {
        let of_targets =
            CASES.iter().filter_map(|case| Some((case, case.bare.filter(|bare| bare.contains("{target}"))?)));
        for (case, bare) in of_targets {
            assert_eq!(case.options.contains("--rw=rand"), bare.contains(" random "), "{}", case.name);
            assert_eq!(case.options.contains("--rw=read"), bare.contains(" sequential "), "{}", case.name);
        }
    }

    #[test]
    fn names_are_unique_and_every_case_has_a_goal() {
        for case in CASES {
            assert_eq!(CASES.iter().filter(|other| other.name == case.name).count(), 1, "{}", case.name);
            assert!(!case.goals.is_empty(), "{}", case.name);
        }
    }
}

//! The lines before a run: jobs, version, number of workers, files to be laid out.
//!
//! Must not know: how jobs are described or started. Start reading at [`job_line`].

use crate::direction_block;
use crate::text::put;
use ferrio_units::PerDirection;

/// Data for the line of a job. There is one for each job; clones are shown as `...` below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartJob {
    pub name: String,
    pub group_index: u32,
    /// Value of `rw` in its canonical spelling: `read`, `randread`, `rw`, `randrw`, `trimwrite` and so on.
    pub rw: String,
    /// Smallest and largest block, bytes.
    pub block_size: PerDirection<(u64, u64)>,
    /// `bs_is_seq_rand`: the first two sizes are those of sequential and random I/O.
    pub bs_is_seq_rand: bool,
    pub engine: String,
    pub iodepth: u32,
    /// `kb_base`: 1024 or 1000.
    pub kb_base: u32,
    pub significant_figures: u32,
    /// The engine moves data; if not, only clones are shown.
    pub does_io: bool,
    /// `numjobs` above 1.
    pub has_clones: bool,
}

/// The line of a job, unless it moves no data, and `...` for its clones.
pub fn job_line(job: &StartJob) -> String {
    let mut out = if job.does_io { io_line(job) } else { String::new() };
    if job.has_clones {
        out.push_str("...\n");
    }
    out
}

fn io_line(job: &StartJob) -> String {
    let style = direction_block::style(job.kb_base, false, job.significant_figures);
    let range = |(min, max)| format!("{}-{}", style.amount(min).primary, style.amount(max).primary);
    let [read, write, trim] = job.block_size.0.map(range);
    let mut out = String::new();
    put!(&mut out, "{}: (g={}): rw={}, bs=(R) {read}, (W) {write}, ", job.name, job.group_index, job.rw);
    if job.bs_is_seq_rand {
        out.push_str("bs_is_seq_rand, ");
    } else {
        put!(&mut out, "(T) {trim}, ");
    }
    put!(&mut out, "ioengine={}, iodepth={}\n", job.engine, job.iodepth);
    out
}

/// All lines up to `Starting`: jobs, version, number of workers.
pub fn header(jobs: &[StartJob], version: &str, n_threads: u32, n_processes: u32) -> String {
    let mut out: String = jobs.iter().map(job_line).collect();
    put!(&mut out, "{version}\n");
    out.push_str(&starting(n_threads, n_processes));
    out
}

/// `Starting 2 threads and 1 process`; empty if there is nothing to start.
pub fn starting(n_threads: u32, n_processes: u32) -> String {
    let counted = |n: u32, one: &str, many: &str| (n > 0).then(|| format!("{n} {}", if n == 1 { one } else { many }));
    let parts: Vec<String> = [counted(n_threads, "thread", "threads"), counted(n_processes, "process", "processes")]
        .into_iter()
        .flatten()
        .collect();
    if parts.is_empty() { String::new() } else { format!("Starting {}\n", parts.join(" and ")) }
}

/// The line for files that have to be laid out. `total_bytes` is the size of all files together.
pub fn layout(job_name: &str, n_files: u64, total_bytes: u64) -> String {
    let total_mib = total_bytes >> 20;
    if n_files == 1 {
        format!("{job_name}: Laying out IO file (1 file / {total_mib}MiB)\n")
    } else {
        format!("{job_name}: Laying out IO files ({n_files} files / total {total_mib}MiB)\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, rw: &str, block_size: [(u64, u64); 3]) -> StartJob {
        StartJob {
            name: name.into(),
            group_index: 0,
            rw: rw.into(),
            block_size: PerDirection(block_size),
            bs_is_seq_rand: false,
            engine: "null".into(),
            iodepth: 1,
            kb_base: 1024,
            significant_figures: 4,
            does_io: true,
            has_clones: false,
        }
    }

    /// Expected: lines of fio 3.41.
    #[test]
    fn lines_of_jobs() {
        let seq_rand =
            StartJob { bs_is_seq_rand: true, ..job("a", "randread", [(4096, 4096), (65_536, 65_536), (4096, 4096)]) };
        assert_eq!(
            job_line(&seq_rand),
            "a: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 64.0KiB-64.0KiB, bs_is_seq_rand, ioengine=null, iodepth=1\n"
        );
        let decimal = StartJob {
            kb_base: 1000,
            significant_figures: 7,
            iodepth: 99,
            does_io: true,
            has_clones: true,
            ..job("c", "trimwrite", [(64_000, 64_000), (10_000_000, 10_000_000), (1_000_000, 1_000_000)])
        };
        assert_eq!(
            job_line(&decimal),
            "c: (g=0): rw=trimwrite, bs=(R) 64000B-64000B, (W) 10000.0kB-10000.0kB, (T) 1000000B-1000000B, \
             ioengine=null, iodepth=99\n...\n"
        );
    }

    #[test]
    fn header_of_two_jobs() {
        let jobs = [job("w", "write", [(65_536, 65_536); 3]), job("r", "read", [(1024, 123_456); 3])];
        assert_eq!(
            header(&jobs, "fio-3.41", 1, 2),
            "w: (g=0): rw=write, bs=(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB, ioengine=null, \
             iodepth=1\nr: (g=0): rw=read, bs=(R) 1024B-121KiB, (W) 1024B-121KiB, (T) 1024B-121KiB, ioengine=null, \
             iodepth=1\nfio-3.41\nStarting 1 thread and 2 processes\n"
        );
    }

    #[test]
    fn workers_are_counted() {
        assert_eq!(starting(2, 0), "Starting 2 threads\n");
        assert_eq!(starting(0, 1), "Starting 1 process\n");
        assert_eq!(starting(0, 0), "");
    }

    #[test]
    fn layouts() {
        assert_eq!(layout("mix", 1, 32 << 20), "mix: Laying out IO file (1 file / 32MiB)\n");
        assert_eq!(layout("a", 3, 9_999 * 1024), "a: Laying out IO files (3 files / total 9MiB)\n");
    }
}

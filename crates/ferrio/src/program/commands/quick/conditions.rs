//! Conditions under which the figures were measured: printed before the tests, and part of the JSON.
//!
//! Must not know: figures. Start reading at [`Conditions`].

use super::arguments::QuickRequest;
use super::baseline::{TESTS, Test};
use super::layout::LaidOut;
use super::place::FilePlace;
use super::survey::{DirectorySurvey, TestedDisk};
use super::target_file::TargetFile;
use crate::shared::engine_choice::{EngineChoice, Load, saving_options};
use ferrio_formats::native::{text_width, wrap};
use ferrio_spec::engines::options::declaration::EngineOption;
use ferrio_units::humanize::bytes_text;
use serde::{Serialize, Serializer};

/// The longest warm-up.
const MAX_RAMP_MS: u64 = 2_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Conditions {
    /// Directory of the file, as an absolute path.
    pub(super) directory: String,
    pub(super) file_name: String,
    pub(super) file_bytes: u64,
    /// True if the file is smaller than planned, because writing it took too long.
    pub(super) is_cut: bool,
    pub(super) file_system: String,
    /// Mount point of the file system.
    pub(super) mounted_on: String,
    /// True if the file system keeps its data in memory.
    pub(super) is_memory: bool,
    pub(super) device: Option<TestedDisk>,
    pub(super) engine: &'static str,
    /// Private options of the engine.
    #[serde(serialize_with = "names")]
    pub(super) engine_options: Vec<EngineOption<bool>>,
    /// True if the engine itself keeps I/Os in flight; otherwise several threads do.
    pub(super) has_queue: bool,
    /// Reasons why better engines were not chosen.
    pub(super) engine_refusals: Vec<String>,
    /// Past the page cache.
    pub(super) is_direct: bool,
    /// Duration of each test.
    pub(super) runtime_ms: u64,
    /// Time before it that is not counted.
    pub(super) ramp_ms: u64,
    /// Load of each test, in the order of the tests.
    pub(super) loads: Vec<Load>,
}

fn names<S: Serializer>(options: &[EngineOption<bool>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(options.iter().map(EngineOption::name))
}

impl Conditions {
    /// Collects the conditions, which are all known once the file is laid out.
    pub(super) fn new(
        request: &QuickRequest,
        place: &FilePlace,
        file: &TargetFile,
        survey: DirectorySurvey,
        choice: &EngineChoice,
        laid_out: LaidOut,
    ) -> Self {
        let runtime_ms = u64::from(request.seconds) * 1_000;
        let memory_bytes = ferrio_sys::system_info::memory_bytes();
        let load = |test: &Test| choice.load(test.depth, test.block_bytes, laid_out.bytes, memory_bytes);
        let loads: Vec<Load> = TESTS.iter().map(load).collect();
        let buffers = TESTS.iter().zip(&loads).map(|(test, load)| test.block_bytes * u64::from(load.depth()));
        let engine_options = saving_options(choice.name, buffers.max().unwrap_or(0));
        Self {
            directory: place.directory.display().to_string(),
            file_name: file.name().to_owned(),
            file_bytes: laid_out.bytes,
            is_cut: laid_out.is_cut,
            file_system: survey.file_system,
            mounted_on: survey.mounted_on.display().to_string(),
            is_memory: survey.is_memory,
            device: survey.device,
            engine: choice.name,
            engine_options,
            has_queue: choice.has_queue,
            engine_refusals: choice.refusals.clone(),
            is_direct: laid_out.is_direct,
            runtime_ms,
            ramp_ms: (runtime_ms / 5).min(MAX_RAMP_MS),
            loads,
        }
    }

    fn engine_text(&self) -> String {
        let mut depths: Vec<(u64, u32)> =
            TESTS.iter().zip(&self.loads).map(|(test, load)| (test.block_bytes, load.depth())).collect();
        depths.sort_unstable_by(|a, b| b.cmp(a));
        depths.dedup();
        let what = if self.has_queue { "1 job, in flight" } else { "1 I/O a thread, threads" };
        let of_block = |(block_bytes, depth): &(u64, u32)| {
            format!("{depth} {} {}", if self.has_queue { "of" } else { "for" }, bytes_text(*block_bytes))
        };
        format!("{}, {what}: {}", self.engine, depths.iter().map(of_block).collect::<Vec<_>>().join(", "))
    }

    fn device_text(&self) -> String {
        match &self.device {
            Some(device) => device.to_string(),
            None if self.is_memory => format!("none: {} is in memory", self.file_system),
            None => "not known".to_owned(),
        }
    }
}

impl Conditions {
    /// The conditions in words, for a terminal of so many columns, if it is one.
    pub(super) fn text(&self, n_columns: Option<usize>) -> String {
        let seconds = |ms: u64| format!("{} s", ms as f64 / 1e3);
        let (runtime, ramp) = (seconds(self.runtime_ms), seconds(self.ramp_ms));
        let size = bytes_text(self.file_bytes);
        let how = if self.is_direct { "direct, past the page cache" } else { "BUFFERED, through the page cache" };
        let rows = [
            ("directory", self.directory.clone()),
            ("file system", format!("{}, mounted on {}", self.file_system, self.mounted_on)),
            ("device", self.device_text()),
            ("file", format!("{}, {size} of random data, removed afterwards", self.file_name)),
            ("engine", self.engine_text()),
            ("I/O", how.to_owned()),
        ];
        let heading = format!("ferrio quick: {} tests of {runtime}, each after a warm-up of {ramp}", TESTS.len());
        // Text that goes to no terminal is for programs too: a line stays one.
        let width = n_columns.map_or(usize::MAX, |_| text_width(n_columns));
        let mut text = wrap(&heading, "", width) + "\n";
        for (name, value) in rows {
            text.push_str(&wrap(&value, &format!("  {name:<11}  "), width));
        }
        text + "\n"
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use ferrio_spec::engines::options::io_uring::REGISTERFILES;

    pub(in super::super) fn on_disk() -> Conditions {
        let device =
            TestedDisk { name: "vda".to_owned(), bytes: 252 << 30, model: None, made_of: vec![], is_cached: false };
        Conditions {
            directory: "/data".to_owned(),
            file_name: ".ferrio-quick-7.tmp".to_owned(),
            file_bytes: 4 << 30,
            is_cut: false,
            file_system: "ext4".to_owned(),
            mounted_on: "/".to_owned(),
            is_memory: false,
            device: Some(device),
            engine: "io_uring",
            engine_options: vec![REGISTERFILES],
            has_queue: true,
            engine_refusals: vec![],
            is_direct: true,
            runtime_ms: 5_000,
            ramp_ms: 1_000,
            loads: [64, 256, 64, 256].map(|iodepth| Load { n_jobs: 1, iodepth }).to_vec(),
        }
    }

    #[test]
    fn the_conditions_in_words() {
        let expected = "\
ferrio quick: 4 tests of 5 s, each after a warm-up of 1 s

  directory    /data
  file system  ext4, mounted on /
  device       vda, 252 GiB
  file         .ferrio-quick-7.tmp, 4 GiB of random data, removed afterwards
  engine       io_uring, 1 job, in flight: 64 of 1 MiB, 256 of 4 KiB
  I/O          direct, past the page cache

";
        assert_eq!(on_disk().text(None), expected);
        assert!(on_disk().text(Some(40)).lines().all(|line| line.len() < 40));
    }

    #[test]
    fn threads_and_memory_in_words() {
        let mut conditions = Conditions {
            engine: "psync",
            engine_options: vec![],
            has_queue: false,
            is_direct: false,
            is_memory: true,
            device: None,
            file_system: "tmpfs".to_owned(),
            ..on_disk()
        };
        conditions.loads = [16, 64, 16, 64].map(|n_jobs| Load { n_jobs, iodepth: 1 }).to_vec();
        let text = conditions.text(None);
        for expected in [
            "psync, 1 I/O a thread, threads: 16 for 1 MiB, 64 for 4 KiB\n",
            "device       none: tmpfs is in memory\n",
            "BUFFERED, through the page cache\n",
        ] {
            assert!(text.contains(expected), "{text}");
        }
        conditions.is_memory = false;
        assert!(conditions.text(None).contains("device       not known\n"));
    }
}

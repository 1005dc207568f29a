//! The buffers of writes, measured with a compressor and a deduplicator and compared with the shares that the job asked
//! for.
//!
//! Must not know: how buffers are filled. Start reading at [`Written`], a file that a job wrote.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "all of this is test code")]

mod compression;
mod duplicates;

use ferrio_spec::BufferSpec;
use ferrio_spec::JobSpec;
use ferrio_units::random::{DEFAULT_RAND_SEED, SeedTable};
use ferrio_workload::contents::{BufferContents, ContentsPlan};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::collections::BTreeMap;
use std::io::Write;

/// Largest error of a measured share, in percentage points.
const TOLERANCE: f64 = 2.0;

/// The writes of a job with one file, block after block.
struct Written {
    bytes: Vec<u8>,
    block_bytes: usize,
}

impl Written {
    /// The writes of a job by its options for buffers.
    fn new(spec: &BufferSpec, block_bytes: usize, n_blocks: usize) -> Self {
        let size_bytes = (block_bytes * n_blocks) as u64;
        let plan = ContentsPlan { size_bytes, ..ContentsPlan::of_blocks(block_bytes as u64) };
        Self::by(spec, &plan, &SeedTable::new(DEFAULT_RAND_SEED, 1), &vec![block_bytes; n_blocks])
    }

    /// Writes of these sizes, one after another; the plan holds the smallest of them.
    fn by(spec: &BufferSpec, plan: &ContentsPlan, seeds: &SeedTable, sizes: &[usize]) -> Self {
        let mut contents = BufferContents::new(spec, plan, seeds);
        let mut bytes = vec![0; sizes.iter().sum()];
        let mut start = 0;
        for size in sizes {
            contents.prepare(&mut bytes[start..start + size], start as u64, 0);
            start += size;
        }
        Self { bytes, block_bytes: plan.block_bytes as usize }
    }

    /// Percent that zlib saves.
    fn compressed_percent(&self) -> f64 {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&self.bytes).unwrap();
        let n_compressed = encoder.finish().unwrap().len();
        100.0 * (1.0 - n_compressed as f64 / self.bytes.len() as f64)
    }

    /// For each block the first one that is the same.
    fn first_equal(&self) -> Vec<usize> {
        let mut first = BTreeMap::new();
        let blocks = self.bytes.chunks(self.block_bytes).enumerate();
        blocks.map(|(index, block)| *first.entry(block).or_insert(index)).collect()
    }

    /// Percentage of blocks that a store need not keep, because it has them already.
    fn duplicate_percent(&self) -> f64 {
        let first = self.first_equal();
        let n_duplicates = first.iter().enumerate().filter(|(index, first)| index != *first).count();
        100.0 * n_duplicates as f64 / first.len() as f64
    }

    /// Each different block once, one after another.
    fn without_duplicates(&self) -> Self {
        let blocks = self.bytes.chunks(self.block_bytes).zip(self.first_equal()).enumerate();
        let bytes = blocks.filter(|(index, (_, first))| index == first).flat_map(|(_, (block, _))| block).copied();
        Self { bytes: bytes.collect(), block_bytes: self.block_bytes }
    }
}

fn buffers(change: impl FnOnce(&mut BufferSpec)) -> BufferSpec {
    let mut spec = JobSpec::default().buffers;
    change(&mut spec);
    spec
}

fn assert_near(measured: f64, asked: f64, what: &str) {
    println!("{what}: {measured:.2} % for {asked} %");
    assert!((measured - asked).abs() <= TOLERANCE, "{what}: {measured:.2} % where {asked} % were asked for");
}

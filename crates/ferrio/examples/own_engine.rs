//! An engine of one's own: storage that makes up what is read, and counts how often the block of the read before is read again.

use ferrio::own::{Storage, StorageAccess, StorageTarget};
use ferrio::{Io, Job, Runner};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const BLOCK_BYTES: u64 = 4096;

/// Storage that makes up its contents: each block has its own number.
#[derive(Clone, Default)]
struct Numbers {
    n_repeats: Arc<AtomicU64>,
}

/// The same, opened: it remembers the block that was read last.
struct OpenNumbers {
    storage: Numbers,
    last_block: Option<u64>,
}

impl Storage for Numbers {
    fn size_bytes(&self, _target: &str) -> io::Result<u64> {
        Ok(1 << 30)
    }

    fn open(&self, _target: &str, access: StorageAccess) -> io::Result<Box<dyn StorageTarget>> {
        if access.writes {
            return Err(io::Error::from(io::ErrorKind::ReadOnlyFilesystem));
        }
        Ok(Box::new(OpenNumbers { storage: self.clone(), last_block: None }))
    }
}

impl StorageTarget for OpenNumbers {
    fn read_at(&mut self, offset_bytes: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let block = offset_bytes / BLOCK_BYTES;
        let is_repeat = self.last_block.replace(block) == Some(block);
        self.storage.n_repeats.fetch_add(u64::from(is_repeat), Ordering::Relaxed);
        buffer.chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&block.to_le_bytes()));
        Ok(buffer.len())
    }

    fn write_at(&mut self, _offset_bytes: u64, _data: &[u8]) -> io::Result<usize> {
        Err(io::Error::from(io::ErrorKind::ReadOnlyFilesystem))
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers = Numbers::default();
    let mut runner = Runner::new();
    runner.storage("numbers", numbers.clone());
    let job = Job::new("numbers").option("ioengine", "own").option("storage", "numbers");
    runner
        .add(&job.option("rw", "randread").option("random_distribution", "zipf:1.2").option("number_ios", "10000"))?;
    let measured = runner.run()?;
    let reads = measured.job("numbers").and_then(|job| job.figures(Io::Read)).ok_or("the job has read nothing")?;
    let n_repeats = numbers.n_repeats.load(Ordering::Relaxed);
    writeln!(io::stdout(), "{} reads, {n_repeats} of the block of the read before", reads.n_ios())?;
    Ok(())
}

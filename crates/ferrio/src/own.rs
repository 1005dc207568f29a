//! An engine of your own: storage of this program that jobs measure.
//!
//! A type that is a [`Storage`] opens its targets, each of which is a [`StorageTarget`]. [`Runner::storage`](crate::Runner::storage) gives it
//! a name; jobs use it with `ioengine=own` and `storage=NAME`, and everything else (rates, depths, verification, distributions, the audit)
//! works as with the built-in engines.
//!
//! ```
//! use ferrio::own::{Storage, StorageAccess, StorageTarget};
//! use ferrio::{Io, Job, Runner};
//! use std::io;
//! use std::sync::{Arc, Mutex};
//!
//! /// 1 MiB of memory behind a lock.
//! struct Memory(Arc<Mutex<Vec<u8>>>);
//!
//! struct OpenMemory(Arc<Mutex<Vec<u8>>>);
//!
//! impl Storage for Memory {
//!     fn size_bytes(&self, _target: &str) -> io::Result<u64> {
//!         Ok(1 << 20)
//!     }
//!
//!     fn open(&self, _target: &str, _access: StorageAccess) -> io::Result<Box<dyn StorageTarget>> {
//!         Ok(Box::new(OpenMemory(Arc::clone(&self.0))))
//!     }
//! }
//!
//! impl StorageTarget for OpenMemory {
//!     fn read_at(&mut self, offset_bytes: u64, buffer: &mut [u8]) -> io::Result<usize> {
//!         let bytes = self.0.lock().map_err(|_| io::Error::other("a job panicked"))?;
//!         buffer.copy_from_slice(&bytes[offset_bytes as usize..][..buffer.len()]);
//!         Ok(buffer.len())
//!     }
//!
//!     fn write_at(&mut self, offset_bytes: u64, data: &[u8]) -> io::Result<usize> {
//!         let mut bytes = self.0.lock().map_err(|_| io::Error::other("a job panicked"))?;
//!         bytes[offset_bytes as usize..][..data.len()].copy_from_slice(data);
//!         Ok(data.len())
//!     }
//! }
//!
//! # fn main() -> Result<(), ferrio::Error> {
//! let mut runner = Runner::new();
//! runner.storage("memory", Memory(Arc::new(Mutex::new(vec![0; 1 << 20]))));
//! let job = Job::new("a").option("ioengine", "own").option("storage", "memory").option("rw", "randwrite");
//! let job = job.option("bs", "4k").option("size", "1m").option("verify", "crc32c");
//! // Without a file of its state in this directory.
//! runner.add(&job.option("verify_state_save", "0"))?;
//! let measured = runner.run()?;
//! assert_eq!(measured.n_failed(), 0, "{:?}", measured.messages());
//! let writes = measured.job("a").and_then(|job| job.figures(Io::Write)).expect("it writes");
//! assert_eq!(writes.bytes(), 1 << 20);
//! # Ok(())
//! # }
//! ```

#[doc(inline)]
pub use ferrio_engine::own::{Storage, StorageAccess, StorageTarget};

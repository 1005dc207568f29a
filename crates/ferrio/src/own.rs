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
//!
//! A storage that has many I/Os in flight makes a [`StorageQueue`] of each job ([`Storage::queue`]), and jobs use it with `ioengine=own_async`
//! and `iodepth`. The queue is handed each I/O with its buffer ([`StorageIo`]), and [`StorageIo::complete`] says from any thread that it
//! is done:
//!
//! ```
//! use ferrio::own::{Storage, StorageAccess, StorageIo, StorageJob, StorageQueue};
//! use ferrio::{Io, Job, Runner};
//! use std::io;
//! use std::sync::mpsc::{Sender, channel};
//!
//! /// Zeroes, which a thread of its own writes into the buffers.
//! struct Zeroes;
//!
//! struct ZeroesQueue(Sender<StorageIo>);
//!
//! impl Storage for Zeroes {
//!     fn size_bytes(&self, _target: &str) -> io::Result<u64> {
//!         Ok(1 << 20)
//!     }
//!
//!     fn queue(&self, _job: &StorageJob<'_>) -> io::Result<Box<dyn StorageQueue>> {
//!         let (sender, submitted) = channel::<StorageIo>();
//!         std::thread::spawn(move || {
//!             for mut io in submitted {
//!                 match io.kind() {
//!                     Io::Read => io.buffer().fill(0),
//!                     Io::Write | Io::Trim | Io::Sync => {}
//!                 }
//!                 let length_bytes = io.length_bytes();
//!                 io.complete(Ok(length_bytes));
//!             }
//!         });
//!         Ok(Box::new(ZeroesQueue(sender)))
//!     }
//! }
//!
//! impl StorageQueue for ZeroesQueue {
//!     fn open(&mut self, _target_index: u32, _name: &str, _access: StorageAccess) -> io::Result<()> {
//!         Ok(())
//!     }
//!
//!     fn submit(&mut self, io: StorageIo) {
//!         // An I/O that comes back because the thread has ended is dropped, which is EIO.
//!         let _ = self.0.send(io);
//!     }
//! }
//!
//! # fn main() -> Result<(), ferrio::Error> {
//! let mut runner = Runner::new();
//! runner.storage("zeroes", Zeroes);
//! let job = Job::new("a").option("ioengine", "own_async").option("storage", "zeroes").option("iodepth", "8");
//! runner.add(&job.option("rw", "randread").option("size", "1m"))?;
//! let measured = runner.run()?;
//! assert_eq!(measured.n_failed(), 0, "{:?}", measured.messages());
//! let reads = measured.job("a").and_then(|job| job.figures(Io::Read)).expect("it reads");
//! assert_eq!(reads.n_ios(), 256);
//! # Ok(())
//! # }
//! ```

#[doc(inline)]
pub use ferrio_engine::own::{Storage, StorageAccess, StorageIo, StorageJob, StorageQueue, StorageTarget};

//! What engines do in another way than fio, in the words of CONFORMANCE.md. The rows of the table of engines refer to them.
//!
//! Must not know: capabilities. A text begins with what a user meets first.

/// Deviation of engines that cannot repeat their work.
pub(super) const ONCE: &str =
    "end_fsync has no effect; in fio the job creates or deletes again and ends with an error.";

/// Mended by both engines for sockets.
pub(super) const NET_MENDED: &str = "Every wait ends on a signal and with the runtime; fio waits for ever. A TCP read that comes in parts \
                          counts once, as short, with all of its bytes; fio 3.41 counts each part and leaves out bytes of the \
                          first ones. How many reads are short depends on when parts of a block arrive. A closing word that \
                          comes in the middle of a read counts as 8 bytes.";

/// Further text of `netsplice`.
pub(super) const NETSPLICE_MENDED: &str = "A block above 64k is sent in parts; fio waits for ever. Verified data is copied into the pipe; fio \
                                sends what its buffer holds later. Otherwise as net.";

/// Refused by both engines for sockets.
pub(super) const NET_STRICTER: &str = "A connection that closes without the closing word is an error. An existing file at the path of a Unix \
                            socket stays.";

/// Mended by the engine for network block devices.
pub(super) const NBD_MENDED: &str = "A server that does not answer ends a job within a second of a stop, or two after its runtime; fio waits for ever. Without \
                          a runtime it ends the job after server_timeout (two minutes).";

/// Mended by the engine for Ceph objects.
pub(super) const RADOS_MENDED: &str = "Operations that fail end the job with their error, and so do syncs (EINVAL); fio 3.41 ignores the first and crashes at the others. \
                            A monitor that does not answer ends the job after 30 seconds, servers that end no I/O after server_timeout (two minutes); fio waits \
                            for minutes or for ever. Writes to a full pool fail; fio waits for room.";

/// Mended by the engine for Ceph block devices.
pub(super) const RBD_MENDED: &str = "A size beyond the end of the image is cut; fio lays out a local file. A job that only reads needs no right to write. \
                          A monitor that does not answer ends the job after 30 seconds, servers that end no I/O after server_timeout (two minutes); fio waits \
                          for minutes or for ever.";

/// Mended by the engine for `GlusterFS`.
pub(super) const GFAPI_MENDED: &str = "Each file has a handle of its own; in fio the I/O of all files goes to the one opened last. A file that cannot be opened is an error.";

/// Mended by the asynchronous engine for `GlusterFS`.
pub(super) const GFAPI_ASYNC_MENDED: &str = "I/Os that fail end the job with their error, which fio ignores. Each file has a handle of its own; in fio the I/O of all files \
                                  goes to the one opened last. A file that cannot be opened is an error.";

/// Mended by the engine for objects of a server.
pub(super) const HTTP_MENDED: &str = "A job whose server is silent ends within a second of a stop or of the end of its runtime; fio waits for ever. Without \
                           a runtime it ends after server_timeout (two minutes). Requests after a first trim keep their methods; in fio all of \
                           them delete.";

/// Differences of the engine for iSCSI.
pub(super) const LIBISCSI_DIFFERENT: &str =
    "The line about a failed command has the target's sense data in place of fio's general line.";

/// Mended by the engine for iSCSI.
pub(super) const LIBISCSI_MENDED: &str = "A target that does not answer ends a job within a second of a stop; fio waits for ever. A lost connection \
                               ends the job, and so does a target that answers nothing for server_timeout (two minutes). A block that is not a multiple of the LUN's fails with \
                               EINVAL.";

/// Different in the engine for the drivers of libblkio.
pub(super) const LIBBLKIO_DIFFERENT: &str =
    "Each job, a thread too, has its own connection: a server that takes one serves one job.";

/// Mended by the engine for the drivers of libblkio.
pub(super) const LIBBLKIO_MENDED: &str = "A job that only reads needs no right to write, and writes with sync=1 are durable when they are done. A server that does not \
                               answer ends a job within a second of a stop, or two after its runtime; without a runtime it ends the job after server_timeout (two \
                               minutes).";

/// Mended by the engine for files of an NFS server.
pub(super) const NFS_MENDED: &str = "A job waits for all of its I/Os, which fio forgets at the end, and jobs that only read can use a read-only export. A \
                          mount or file that fails ends the run with 1; syncs are done, and unlink=1 removes files. A server that \
                          does not answer ends a job within a second of a stop, and a lost connection ends it at once unless the \
                          address has autoreconnect. A server that answers nothing for server_timeout (two minutes) ends the job. The errno of a write that fails is the \
                          server's (ENOSPC), not EFAULT.";

/// Mended by the engine for RDMA.
pub(super) const RDMA_MENDED: &str = "Clone n uses port+n; in fio the first clone has the port, and the others fail. Every wait ends on a signal and with the \
                           runtime, and after server_timeout (two minutes) without an answer; fio waits for ever. Blocks that do not fit the server, \
                           verb=recv of a client and a missing hostname are errors; fio ends with 0 or crashes. Sends wait for a buffer of the \
                           server; fio fails. A client begins at once, and fio half a second after it has connected, within its runtime. A server \
                           whose client writes or reads counts no I/O; fio counts one of no bytes.";

/// Refused by the engine for network block devices.
pub(super) const NBD_STRICTER: &str = "A job that writes to a read-only export is refused before its first I/O. I/Os above the server's \
                            largest block, or 64 MiB, fail with EINVAL.";

pub(super) const SG_MENDED: &str = "zonemode=zbd works on /dev/sgN; fio refuses it there. fdatasync is a sync, which fio counts as a short read. The device's words about a failed command on a block device are shown.";

pub(super) const SG_STRICTER: &str = "A disk whose block device is in use is not written to through /dev/sgN. I/Os that are not whole blocks and syncs of ranges \
                           fail with EINVAL. More than 64 trims go out as several commands.";

/// Mended by the engine for devices of persistent memory.
pub(super) const DEV_DAX_MENDED: &str =
    "Blocks, sizes and offsets of any length work; fio fails unless they fit the alignment of the device.";

/// Different in the engine for libraries of others.
pub(super) const EXTERNAL_DIFFERENT: &str = "Libraries are built with ferrio's own header, include/ferrio_engine.h; those made for fio are refused. \
                                  Their options are given by library_options, and the job line shows the engine as external.";

/// Mended by the engine for files in persistent memory.
pub(super) const LIBPMEM_MENDED: &str = "A file keeps its length and its data outside of the job's range; fio fills and cuts it, and ignores \
                              offset. A file that is long enough is not filled anew. With fsync or fdatasync, blocks may have any size.";

/// Refused by the engine for pass-through commands.
pub(super) const PASSTHROUGH_STRICTER: &str = "A namespace whose block device is in use is not written to, as for block devices. I/Os that are not whole blocks, and syncs of ranges, fail with EINVAL; fio rounds them down, or ends the pass.";

/// Mended by the engine that runs a program.
pub(super) const EXEC_MENDED: &str = "Without a runtime the job ends with its program, and clones write to files of their own; in fio the job never \
                           ends. The grace time ends with the program, and its signal reaches all that the program has started.";

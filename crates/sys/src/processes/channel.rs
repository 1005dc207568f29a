//! Messages from a child to its parent: a pair of `SOCK_SEQPACKET` sockets.
//!
//! A message of any size up to the receiver's bound crosses in packets of at most 64 KiB, so that the limits on socket
//! buffers do not matter. The sender blocks while the buffer is full; the receiver never does.
//!
//! Must not know: contents of messages.

use crate::error::{Context, Error, Result};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};
use std::cell::RefCell;

/// Bytes of a message in one packet. Below every default of `net.core.wmem_max` (208 KiB).
const CHUNK_BYTES: usize = 64 << 10;
/// Buffer asked for, so that a child can usually hand over its results and end without waiting.
const SEND_BUFFER_BYTES: usize = 1 << 20;
/// First byte of a packet: more packets of this message follow.
const MORE: u8 = 0;
/// First byte of a packet: the message ends here.
const LAST: u8 = 1;

thread_local! {
    /// Room for one packet, shared by all receivers of a thread: a supervisor may have a thousand.
    static PACKET: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The end that sends. One process uses it.
#[derive(Debug)]
pub struct MessageSender {
    socket: OwnedFd,
}

/// The end that receives. One process uses it.
#[derive(Debug)]
pub struct MessageReceiver {
    socket: OwnedFd,
    partial: Vec<u8>,
    max_message_bytes: usize,
}

/// Result of looking for a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// A whole message.
    Message(Vec<u8>),
    /// No whole message has arrived yet.
    Nothing,
    /// The sender is gone; nothing more will come.
    Closed {
        /// The sender closed in the middle of a message, which is lost.
        is_cut_short: bool,
    },
}

/// A new channel. Both ends refuse messages longer than the bound, so that neither can be made to take unlimited
/// memory. Each process should drop the end that it does not use: the receiver notices the death of the sender only if
/// no other process holds that end.
pub fn message_channel(max_message_bytes: usize) -> Result<(MessageSender, MessageReceiver)> {
    let (sender, receiver) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .context("socketpair", "SOCK_SEQPACKET")?;
    // A larger buffer only saves waiting: past net.core.wmem_max it takes a privilege, and without it is cut to that.
    if sockopt::set_socket_send_buffer_size_force(&sender, SEND_BUFFER_BYTES).is_err() {
        sockopt::set_socket_send_buffer_size(&sender, SEND_BUFFER_BYTES).context("setsockopt", "SO_SNDBUF")?;
    }
    Ok((MessageSender { socket: sender }, MessageReceiver { socket: receiver, partial: Vec::new(), max_message_bytes }))
}

impl MessageSender {
    /// Sends a message, waiting for room.
    ///
    /// # Errors
    /// `EPIPE` or `ECONNRESET` if the receiver is gone.
    pub fn send(&self, message: &[u8]) -> Result<()> {
        let mut packet = Vec::with_capacity(CHUNK_BYTES.min(message.len()) + 1);
        let mut rest = message;
        loop {
            let (chunk, after) = rest.split_at(rest.len().min(CHUNK_BYTES));
            packet.clear();
            packet.push(if after.is_empty() { LAST } else { MORE });
            packet.extend_from_slice(chunk);
            self.send_packet(&packet)?;
            if after.is_empty() {
                return Ok(());
            }
            rest = after;
        }
    }

    fn send_packet(&self, packet: &[u8]) -> Result<()> {
        // A packet is sent whole or not at all.
        rustix::io::retry_on_intr(|| rustix::net::send(&self.socket, packet, SendFlags::NOSIGNAL))
            .map(drop)
            .context("send", format_args!("({} bytes)", packet.len()))
    }
}

impl MessageReceiver {
    /// Takes the next whole message if there is one. Does not block.
    ///
    /// # Errors
    /// The error of the kernel, or [`Error::Parse`] for a packet that no [`MessageSender`] sent or a message beyond the
    /// bound; after that the channel is useless.
    pub fn try_receive(&mut self) -> Result<Received> {
        PACKET.with_borrow_mut(|packet| {
            packet.resize(CHUNK_BYTES + 1, 0);
            self.receive_into(packet)
        })
    }

    fn receive_into(&mut self, packet: &mut [u8]) -> Result<Received> {
        loop {
            let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
            let received = rustix::io::retry_on_intr(|| rustix::net::recv(&self.socket, &mut *packet, flags));
            let packet_bytes = match received {
                Err(Errno::AGAIN) => return Ok(Received::Nothing),
                Err(Errno::CONNRESET) => 0,
                result => result.context("recv", "message")?.1,
            };
            if packet_bytes == 0 {
                return Ok(Received::Closed { is_cut_short: !self.partial.is_empty() });
            }
            if let Some(message) = self.take_packet(packet, packet_bytes)? {
                return Ok(Received::Message(message));
            }
        }
    }

    fn take_packet(&mut self, packet: &[u8], packet_bytes: usize) -> Result<Option<Vec<u8>>> {
        let bad = |text: String| Error::Parse { what: "packet on a message channel", text };
        let Some((&kind, chunk)) = packet.get(..packet_bytes).and_then(<[u8]>::split_first) else {
            return Err(bad(format!("{packet_bytes} bytes")));
        };
        if self.partial.len() + chunk.len() > self.max_message_bytes {
            return Err(bad(format!("message of more than {} bytes", self.max_message_bytes)));
        }
        self.partial.extend_from_slice(chunk);
        match kind {
            LAST => Ok(Some(std::mem::take(&mut self.partial))),
            MORE => Ok(None),
            other => Err(bad(format!("kind {other}"))),
        }
    }
}

impl AsFd for MessageReceiver {
    /// The descriptor to poll for readability.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processes::process::{ChildEnd, exit_at_once, fork, wait};

    fn message_of(len: usize) -> Vec<u8> {
        (0..len).map(|index| (index % 251) as u8).collect()
    }

    #[test]
    fn messages_of_all_sizes_cross_from_a_child_in_order() {
        let lens = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 5_000_000];
        let (sender, mut receiver) = message_channel(5_000_000).unwrap();
        assert_eq!(receiver.try_receive().unwrap(), Received::Nothing);
        let child = fork(|| i32::from(lens.iter().any(|&len| sender.send(&message_of(len)).is_err()))).unwrap();
        drop(sender);
        let mut messages = Vec::new();
        loop {
            match receiver.try_receive().unwrap() {
                Received::Message(message) => messages.push(message),
                Received::Nothing => std::thread::yield_now(),
                Received::Closed { is_cut_short } => break assert!(!is_cut_short),
            }
        }
        assert_eq!(messages, lens.map(message_of));
        assert_eq!(wait(child).unwrap(), ChildEnd::Exited(0));
    }

    #[test]
    fn a_sender_that_dies_is_noticed() {
        let (sender, mut receiver) = message_channel(1 << 20).unwrap();
        let child = fork(|| {
            sender.send_packet(&[MORE, 1, 2]).unwrap();
            exit_at_once(3)
        })
        .unwrap();
        drop(sender);
        assert_eq!(wait(child).unwrap(), ChildEnd::Exited(3));
        // For a while, children of other tests may hold a copy of the sending end.
        let end = std::iter::repeat_with(|| receiver.try_receive().unwrap()).find(|got| *got != Received::Nothing);
        assert_eq!(end, Some(Received::Closed { is_cut_short: true }));
    }

    #[test]
    fn hostile_packets_are_errors() {
        for packet in [vec![9, 1], vec![LAST; 102], vec![LAST; CHUNK_BYTES + 2]] {
            let (sender, mut receiver) = message_channel(100).unwrap();
            sender.send_packet(&packet).unwrap();
            assert!(receiver.try_receive().is_err(), "{}", packet.len());
        }
    }

    #[test]
    fn sending_to_nobody_is_an_error_not_a_signal() {
        let (sender, receiver) = message_channel(100).unwrap();
        drop(receiver);
        // For a while, children of other tests may hold a copy of the receiving end.
        let error = std::iter::repeat_with(|| sender.send(b"x")).find_map(std::result::Result::err);
        assert!(matches!(error.unwrap().errno(), Some(libc::EPIPE | libc::ECONNRESET)));
    }
}

//! Addresses of a host. The library call that looks up a name can take long, and nothing interrupts it: a thread makes it, and is left
//! behind if the patience is over first.
//!
//! Must not know: connections. Start reading at [`look_up`].

use crate::contract::Patience;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc;

/// The addresses of a port of a host; `None`: the patience was over. The error says why there are none.
pub(crate) fn look_up(name: &str, port: u16, patience: Patience<'_>) -> Result<Option<Vec<SocketAddr>>, String> {
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(Some(vec![SocketAddr::new(address, port)]));
    }
    let (sender, receiver) = mpsc::channel();
    let of_thread = name.to_owned();
    let look = move || {
        let found = (of_thread.as_str(), port).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
        // Nobody waits any more if the patience was over.
        let _ = sender.send(found.map_err(|error| error.to_string()));
    };
    if std::thread::Builder::new().spawn(look).is_err() {
        return Err("no thread for the look-up of the server's name".to_owned());
    }
    loop {
        match receiver.recv_timeout(Patience::LOOK) {
            Ok(Ok(found)) if !found.is_empty() => return Ok(Some(found)),
            Ok(Ok(_)) => return Err(format!("the host {name} has no address")),
            Ok(Err(why)) => return Err(format!("the host {name} is not found: {why}")),
            Err(_) if patience.is_over() => return Ok(None),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err("the look-up of the server's name failed".to_owned());
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
}

//! What a server answers: the size of an export, or at least that it can be reached.
//!
//! Must not know: files. Start reading at [`answers`].

use super::{Ability, Answer};
use ferrio_engine::{EngineOptions, Patience};
use ferrio_spec::engines::options::from_texts;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest wait for a server.
const LIMIT: Duration = Duration::from_secs(5);

/// The answers of the server behind a URL.
///
/// # Errors
/// The URL has no scheme that is known, or the server does not answer.
pub(super) fn answers(url: &str) -> Result<Vec<Answer>, String> {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    match scheme {
        "nbd" | "nbds" | "nbd+unix" | "nbds+unix" => block_server(url),
        "http" | "https" => web_server(scheme, rest),
        "nfs" => reached("ioengine=nfs", rest, 2049).map(|answer| vec![answer]),
        "iscsi" => reached("ioengine=libiscsi", rest, 3260).map(|answer| vec![answer]),
        _ => Err(format!("{url}: unknown scheme; allowed: nbd, nbds, nbd+unix, nbds+unix, http, https, nfs, iscsi")),
    }
}

/// Asks for the size of an export, as a job does.
fn block_server(url: &str) -> Result<Vec<Answer>, String> {
    let engine = "nbd";
    let options = from_texts(engine, [("uri", url)]).ok_or("the engine nbd has no option uri")?;
    let prepare = ferrio_engine::find(engine).and_then(|kind| kind.io()).ok_or("this ferrio has no engine nbd")?;
    let prepared = prepare(&EngineOptions::new(options)).map_err(|error| error.to_string())?;
    let start = Instant::now();
    let is_over = || start.elapsed() >= LIMIT;
    match prepared.target_bytes(Path::new(""), Patience::new(&is_over)).map_err(|error| error.to_string())? {
        Some(bytes) => Ok(vec![Answer::works("ioengine=nbd", format!("the export has {bytes} bytes"))]),
        None => Err(format!("{url}: no answer within {} s", LIMIT.as_secs())),
    }
}

fn web_server(scheme: &str, rest: &str) -> Result<Vec<Answer>, String> {
    let is_plain = scheme == "http";
    let name = "ioengine=http";
    let mut stream = connect(rest, if is_plain { 80 } else { 443 })?;
    if !is_plain {
        return Ok(vec![Answer::works(name, "the server can be reached; TLS was not tried")]);
    }
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let request = format!("HEAD /{path} HTTP/1.0\r\nHost: {host}\r\n\r\n");
    let mut reply = [0; 256];
    let n_bytes = stream
        .set_read_timeout(Some(LIMIT))
        .and_then(|()| stream.write_all(request.as_bytes()))
        .and_then(|()| stream.read(&mut reply))
        .map_err(|error| format!("{host}: {error}"))?;
    let reply = String::from_utf8_lossy(&reply[..n_bytes]);
    let line: String = reply.lines().next().unwrap_or_default().chars().filter(|letter| !letter.is_control()).collect();
    if !line.starts_with("HTTP/") {
        return Ok(vec![Answer::new(name, Ability::Fails, "the server does not speak HTTP")]);
    }
    Ok(vec![Answer::works(name, format!("the server answers {line}"))])
}

/// That something listens at the place of a server.
fn reached(name: &str, rest: &str, port: u16) -> Result<Answer, String> {
    connect(rest, port).map(|_| Answer::works(name, "the server can be reached"))
}

/// A connection to the host at the beginning of the rest of a URL.
fn connect(rest: &str, port: u16) -> Result<TcpStream, String> {
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.is_empty() {
        return Err("the URL names no host".to_owned());
    }
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(before, port)| port.parse::<u16>().is_ok() && (!before.contains(':') || before.ends_with(']')));
    let place = if has_port { host.to_owned() } else { format!("{host}:{port}") };
    let failed = |error: std::io::Error| format!("{place}: {error}");
    let mut last = Err(format!("{place}: the name has no address"));
    for address in place.to_socket_addrs().map_err(failed)? {
        last = TcpStream::connect_timeout(&address, LIMIT).map_err(failed);
        if last.is_ok() {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_server_is_reached_refused_or_not_known() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let found = answers(&format!("nfs://127.0.0.1:{port}/export")).expect("it listens");
        assert_eq!((found[0].name.as_str(), found[0].state), ("ioengine=nfs", Ability::Works));
        drop(listener);
        assert!(answers(&format!("iscsi://127.0.0.1:{port}/iqn")).is_err());
        assert!(answers(&format!("nbd://127.0.0.1:{port}/x")).is_err());
        for url in ["ftp://127.0.0.1/", "nfs://", "://"] {
            assert!(answers(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_web_server_tells_its_status() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut request = [0; 512];
            let n_bytes = stream.read(&mut request).expect("a request");
            stream.write_all(b"HTTP/1.1 403 Forbidden\r\n\r\n").expect("sent");
            String::from_utf8_lossy(&request[..n_bytes]).into_owned()
        });
        let found = answers(&format!("http://127.0.0.1:{port}/bucket")).expect("it answers");
        assert!(found[0].why.contains("403 Forbidden"), "{found:?}");
        assert!(server.join().expect("it ends").starts_with("HEAD /bucket HTTP/1.0"));
    }
}

//! A small server of HTTP that keeps objects, as well-behaved or as bad as a test wants it.
//!
//! Start reading at [`Server::start`]. Its threads live as long as the program of the tests.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Time between two bytes of a server that drips.
const DRIP_INTERVAL: Duration = Duration::from_millis(50);

/// What a server does with a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    /// Does it, and answers.
    Yes,
    /// The same, and closes the connection after it has said so.
    Last,
    /// The same, and closes the connection without a word about it.
    Quit,
    /// Does it, and answers later.
    Later(Duration),
    /// Sends these bytes.
    Says(&'static str),
    /// Sends these bytes, and closes the connection.
    SaysLast(&'static str),
    /// Sends an answer with this status and body.
    No(u16, &'static str),
    /// Sends these bytes again and again.
    Endless(&'static str, &'static str),
    /// Sends these bytes, and then one byte after the other, each after a pause.
    Drips(&'static str),
    /// Never answers.
    Never,
    /// Closes the connection without an answer.
    Cut,
}

/// A request, as far as answers depend on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    /// Its number on the server, from 0.
    pub(super) number: usize,
    pub(super) is_put: bool,
}

/// What a server has seen and keeps.
#[derive(Default)]
pub(super) struct Seen {
    /// Heads of requests.
    pub(super) requests: Vec<String>,
    pub(super) n_connections: usize,
    /// By their paths.
    pub(super) objects: BTreeMap<String, Vec<u8>>,
}

#[derive(Clone)]
pub(super) struct Server {
    /// Host and port.
    pub(super) host: String,
    shared: Arc<Mutex<Seen>>,
}

impl Server {
    pub(super) fn start(answer: fn(Asked) -> Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a socket");
        let host = listener.local_addr().expect("an address").to_string();
        let server = Self { host, shared: Arc::default() };
        let of_listener = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                of_listener.seen().n_connections += 1;
                let server = of_listener.clone();
                std::thread::spawn(move || {
                    // The client closes the connection whenever it likes.
                    let _ = server.serve(&stream, answer);
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        server
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.shared.lock().expect("no thread has panicked")
    }

    /// Numbers of requests and of objects.
    pub(super) fn n_seen(&self) -> (usize, usize) {
        let seen = self.seen();
        (seen.requests.len(), seen.objects.len())
    }

    fn serve(&self, mut stream: &TcpStream, answer: fn(Asked) -> Answer) -> Result<()> {
        let mut reader = BufReader::new(stream);
        loop {
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                if reader.read_line(&mut head)? == 0 {
                    return Ok(());
                }
            }
            let is_put = head.starts_with("PUT ");
            let mut body =
                vec![0; header(&head, "content-length").map_or(0, |length| length.parse().expect("a number"))];
            reader.read_exact(&mut body)?;
            let number = {
                let mut seen = self.seen();
                seen.requests.push(head.clone());
                seen.requests.len() - 1
            };
            let answer = answer(Asked { number, is_put });
            match answer {
                Answer::Yes | Answer::Last | Answer::Quit => {}
                Answer::Later(time) => std::thread::sleep(time),
                Answer::Says(text) => {
                    stream.write_all(text.as_bytes())?;
                    continue;
                }
                Answer::SaysLast(text) => return stream.write_all(text.as_bytes()),
                Answer::No(status, text) => {
                    write!(stream, "HTTP/1.1 {status} No\r\nContent-Length: {}\r\n\r\n{text}", text.len())?;
                    continue;
                }
                Answer::Endless(first, again) => {
                    stream.write_all(first.as_bytes())?;
                    loop {
                        stream.write_all(again.as_bytes())?;
                    }
                }
                Answer::Drips(first) => {
                    stream.write_all(first.as_bytes())?;
                    loop {
                        std::thread::sleep(DRIP_INTERVAL);
                        stream.write_all(b"x")?;
                    }
                }
                Answer::Never => {
                    let _ = reader.read(&mut [0]);
                    return Ok(());
                }
                Answer::Cut => return Ok(()),
            }
            let (status, body) = self.does(&head, body);
            let length = body.len();
            let body = if head.starts_with("HEAD ") { Vec::new() } else { body };
            let connection = if matches!(answer, Answer::Last) { "Connection: close\r\n" } else { "" };
            let mut bytes = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{connection}\r\n").into_bytes();
            bytes.extend_from_slice(&body);
            stream.write_all(&bytes)?;
            if matches!(answer, Answer::Last | Answer::Quit) {
                return Ok(());
            }
        }
    }

    /// Does a request; status and body of its answer.
    fn does(&self, head: &str, body: Vec<u8>) -> (String, Vec<u8>) {
        let mut words = head.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut seen = self.seen();
        match method {
            "PUT" => {
                seen.objects.insert(path.to_owned(), body);
                ("201 Created".to_owned(), Vec::new())
            }
            "DELETE" => match seen.objects.remove(path) {
                Some(_) => ("200 OK".to_owned(), Vec::new()),
                None => ("404 Not Found".to_owned(), b"gone".to_vec()),
            },
            "PROPFIND" => ("207 Multi-Status".to_owned(), listed(&seen, path, ("<D:href>", "</D:href>"), path)),
            "GET" if path.contains("?list-type=2") => {
                let prefix = path.split("prefix=").nth(1).unwrap_or_default().replace("%2F", "/");
                let bucket = path.split('?').next().unwrap_or_default();
                ("200 OK".to_owned(), listed(&seen, &format!("{bucket}/{prefix}"), ("<Key>", "</Key>"), ""))
            }
            _ => match seen.objects.get(path) {
                Some(object) => part(object, header(head, "range").as_deref()),
                None => ("404 Not Found".to_owned(), b"no such object".to_vec()),
            },
        }
    }
}

/// A list of the objects whose paths begin so, each between two tags, behind an entry of its own if that is not empty.
fn listed(seen: &Seen, prefix: &str, (open, close): (&str, &str), first: &str) -> Vec<u8> {
    let paths = seen.objects.keys().filter(|path| path.starts_with(prefix)).map(String::as_str);
    let first = Some(first).filter(|first| !first.is_empty());
    let entries = first.into_iter().chain(paths).map(|path| format!("{open}{path}{close}"));
    format!("<list>{}</list>", entries.collect::<String>()).into_bytes()
}

/// An object, or the part of it that a header names.
fn part(object: &[u8], range: Option<&str>) -> (String, Vec<u8>) {
    let Some(range) = range else { return ("200 OK".to_owned(), object.to_vec()) };
    let (start, end) = range.strip_prefix("bytes=").and_then(|range| range.split_once('-')).expect("a range");
    let (start, end): (usize, usize) = (start.parse().expect("a number"), end.parse().expect("a number"));
    if start >= object.len() {
        return ("416 Range Not Satisfiable".to_owned(), Vec::new());
    }
    let end = end.min(object.len() - 1);
    let status = format!("206 Partial Content\r\nContent-Range: bytes {start}-{end}/{}", object.len());
    (status, object[start..=end].to_vec())
}

pub(super) fn header(head: &str, name: &str) -> Option<String> {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    let mut values = lines.filter(|(other, _)| other.eq_ignore_ascii_case(name));
    values.next().map(|(_, value)| value.trim().to_owned())
}

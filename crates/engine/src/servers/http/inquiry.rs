//! What a server answers to requests that change nothing: a GET of the first byte, and OPTIONS.
//!
//! Must not know: jobs. Start reading at [`inquire`].

use super::answer::{BodyUse, plain};
use super::client::{HttpClient, SLICE};
use super::fault::HttpFault;
use super::line::HttpDoor;
use super::settings::HttpPlace;
use crate::contract::{Cancellation, EngineError};
use crate::servers::remote::tls::{Checks, TlsError, TlsSettings, TlsTerms};
use crate::servers::server_facts::{TlsFacts, WebFacts, WebProtocol};
use std::io::Write as _;
use std::time::{Duration, Instant};

/// Asks a server; `None`: the call was cancelled.
pub(crate) fn inquire(url: &str, cancellation: Cancellation<'_>) -> Result<Option<WebFacts>, EngineError> {
    let failed = |why: String| EngineError::Unfit { step: "inquiry", what: why, is_named: false, errno: libc::EIO };
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let has_tls = scheme.eq_ignore_ascii_case("https");
    if host.contains('@') {
        // The text may have a password, so it is not repeated.
        let why = "the URL has a user or a password, which is not asked with: leave them out here, and give the job http_user and http_pass";
        return Err(failed(why.to_owned()));
    }
    let place = HttpPlace::parse(host, if has_tls { 443 } else { 80 }).ok_or_else(|| {
        failed(format!("{url}: the URL names no host; allowed: NAME, NAME:PORT, [ADDRESS] and [ADDRESS]:PORT"))
    })?;
    if path.bytes().any(|byte| !byte.is_ascii_graphic()) {
        return Err(failed(format!("{url}: the path has a blank, or a character that is not encoded")));
    }
    let mut door = Door { place, has_tls, checks: Checks::All };
    let mut client = door.client().map_err(|why| failed(why.to_string()))?;
    let mut problem = None;
    match client.connect(cancellation) {
        Ok(true) => {}
        Ok(false) => return Ok(None),
        // Whether it speaks at all is asked without a look at its certificate.
        Err(why) if has_tls => {
            door.checks = Checks::Nothing;
            client = door.client().map_err(|why| failed(why.to_string()))?;
            match client.connect(cancellation) {
                Ok(true) => problem = Some(why.to_string()),
                Ok(false) => return Ok(None),
                Err(_) => return Err(failed(why.to_string())),
            }
        }
        Err(why) => return Err(failed(why.to_string())),
    }
    let tls = client.tls_version().map(|version| TlsFacts {
        version,
        time: Duration::from_nanos(client.steps.tls.max_ns),
        problem,
    });
    let mut facts = WebFacts { tls, connect: Duration::from_nanos(client.steps.connect.max_ns), ..WebFacts::default() };
    let target = format!("/{path}");
    if !ask(&mut client, &door, "GET", &target, cancellation).map_err(|fault| failed(fault.to_string()))? {
        return Ok(None);
    }
    facts.first_byte = Duration::from_nanos(client.steps.first_byte.max_ns);
    note_get(&client, &mut facts);
    // A server that does not answer this one, or closes the connection, has answered the first.
    if let Ok(true) = ask(&mut client, &door, "OPTIONS", &target, cancellation) {
        note_options(&client, &mut facts);
    }
    Ok(Some(facts))
}

/// The way to a server.
struct Door {
    place: HttpPlace,
    has_tls: bool,
    checks: Checks,
}

impl Door {
    fn client(&self) -> Result<HttpClient, TlsError> {
        let terms = TlsTerms {
            name: self.place.name.clone(),
            checks: self.checks,
            authorities: None,
            identity: None,
            option: "http_ca",
        };
        let tls = self.has_tls.then(|| TlsSettings::new(&terms)).transpose()?;
        Ok(HttpClient::new(HttpDoor { place: self.place.clone(), tls }))
    }
}

/// Sends a request, and waits for its answer; false: the call was cancelled.
fn ask(
    client: &mut HttpClient,
    door: &Door,
    method: &str,
    target: &str,
    cancellation: Cancellation<'_>,
) -> Result<bool, HttpFault> {
    client.begin(false, BodyUse::Inquiry, |head| {
        let range = if method == "GET" { "Range: bytes=0-0\r\n" } else { "" };
        // Writing to a list cannot fail.
        let _ = write!(head, "{method} {target} HTTP/1.1\r\nHost: {}\r\n{range}Accept: */*\r\n\r\n", door.place.header);
    });
    loop {
        match client.go_on(&mut [], Instant::now() + SLICE) {
            Some(done) => return done.map(|()| true),
            None if cancellation.is_over() => return Ok(false),
            None => {}
        }
    }
}

fn header(client: &HttpClient, name: &str) -> Option<String> {
    let all = &client.answer.headers.all;
    all.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
}

fn note_get(client: &HttpClient, facts: &mut WebFacts) {
    let answer = &client.answer;
    facts.status = answer.status;
    facts.server = header(client, "server");
    facts.challenges = answer.headers.challenges.iter().map(|text| plain(text)).collect();
    facts.has_ranges = answer.status == 206;
    let has = |prefix: &str| answer.headers.all.iter().any(|(name, _)| name.starts_with(prefix));
    let text = String::from_utf8_lossy(&answer.text);
    let is_s3_error = text.contains("<Error>") && text.contains("<Code>");
    if has("x-amz-") || is_s3_error || text.contains("http://s3.amazonaws.com/doc/") {
        facts.protocols.push(WebProtocol::S3);
    }
    if has("x-openstack-request-id") || has("x-trans-id") {
        facts.protocols.push(WebProtocol::Swift);
    }
    let date = header(client, "date").and_then(|date| jiff::fmt::rfc2822::parse(&date).ok());
    facts.clock_ahead_s = date.map(|date| date.timestamp().as_second() - jiff::Timestamp::now().as_second());
}

fn note_options(client: &HttpClient, facts: &mut WebFacts) {
    if let Some(classes) = header(client, "dav") {
        facts.protocols.push(WebProtocol::Webdav(classes));
    }
}

//! What a server answers, in words: by the same client code as the engines, and without a write.
//!
//! Must not know: files, protocols. Start reading at [`answers`].

use crate::shared::engine_checks::{Ability, Answer};
use anyhow::anyhow;
use ferrio_engine::Cancellation;
use ferrio_engine::inquire::{
    self, IscsiFacts, LunFacts, NbdFacts, NfsFacts, NfsMountFacts, ServerFacts, TlsFacts, WebFacts, WebProtocol,
};
use ferrio_spec::secret::without_passwords_of;
use ferrio_units::humanize::{bytes_text, duration_text};
use std::time::{Duration, Instant};

/// Longest wait for a server.
const LIMIT: Duration = Duration::from_secs(5);

/// Difference of clocks from which on S3 refuses signatures, seconds.
const MOST_CLOCK_SKEW_S: i64 = 900;

/// The answers of the server behind a URL.
///
/// # Errors
/// The URL has no scheme that is known, or the server does not answer.
pub(super) fn answers(url: &str) -> anyhow::Result<Vec<Answer>> {
    asked(url).map_err(|error| anyhow!(without_passwords_of(url, &error.to_string())))
}

fn asked(url: &str) -> anyhow::Result<Vec<Answer>> {
    let start = Instant::now();
    let is_over = || start.elapsed() >= LIMIT;
    match inquire::server(url, Cancellation::new(&is_over))? {
        None => Err(anyhow!("{url}: no answer within {} s", LIMIT.as_secs())),
        Some(ServerFacts::Nbd(facts)) => Ok(of_nbd(&facts)),
        Some(ServerFacts::Web(facts)) => Ok(of_web(&facts)),
        Some(ServerFacts::Nfs(mounts)) => of_nfs(url, &mounts),
        Some(ServerFacts::Iscsi(facts)) => Ok(of_iscsi(&facts)),
    }
}

fn of_tls(tls: &TlsFacts, cure: &str) -> Answer {
    match &tls.problem {
        None => Answer::works("TLS", format!("{}, agreed on in {}", tls.version, time_text(tls.time))),
        Some(problem) => Answer::fails("TLS", problem.clone(), cure),
    }
}

fn time_text(time: Duration) -> String {
    duration_text(time.as_nanos() as f64)
}

fn of_nbd(facts: &NbdFacts) -> Vec<Answer> {
    let size = format!("the export has {} bytes ({})", facts.size_bytes, bytes_text(facts.size_bytes));
    let mut answers = vec![Answer::works("ioengine=nbd", size)];
    answers.push(if facts.is_read_only {
        Answer::fails("writes", "the export is read-only", "let the server export it writable")
    } else {
        Answer::works("writes", "")
    });
    answers.extend(facts.abilities.iter().map(|(name, is_offered)| match is_offered {
        true => Answer::works(*name, ""),
        false => Answer::fails(*name, "the server does not offer it", cure_of_nbd(name)),
    }));
    answers.push(match facts.blocks {
        Some([smallest, preferred, largest]) => {
            Answer::works("blocks", format!("multiples of {smallest} bytes, best {preferred}, at most {largest}"))
        }
        None => Answer::new("blocks", Ability::Unknown, "the server does not announce them"),
    });
    answers.extend(facts.tls.iter().map(|tls| of_tls(tls, "")));
    answers
}

fn cure_of_nbd(ability: &str) -> &'static str {
    match ability {
        "flush" => "a job has to do without fsync and end_fsync",
        "trim" => "a job has to do without trims",
        "multi-conn" => "a job that writes needs connections=1",
        _ => "",
    }
}

fn of_web(facts: &WebFacts) -> Vec<Answer> {
    let mut answers = vec![of_status(facts)];
    let cure = "name its authority by http_ca=FILE, or use https=insecure for a test";
    answers.extend(facts.tls.iter().map(|tls| of_tls(tls, cure)));
    let times = format!("connected in {}, first byte after {}", time_text(facts.connect), time_text(facts.first_byte));
    answers.push(Answer::works("times", times));
    let dav = facts.protocols.iter().find_map(|protocol| match protocol {
        WebProtocol::Webdav(classes) => Some(format!("classes {classes}: http_mode=webdav")),
        _ => None,
    });
    let shown = |protocol: &WebProtocol, mode: &str| facts.protocols.contains(protocol).then(|| mode.to_owned());
    for (name, found) in [
        ("WebDAV", dav),
        ("S3", shown(&WebProtocol::S3, "http_mode=s3")),
        ("Swift", shown(&WebProtocol::Swift, "http_mode=swift")),
    ] {
        let silent = "requests without a login show no sign of it";
        answers.push(
            found.map_or_else(|| Answer::new(name, Ability::Unknown, silent), |details| Answer::works(name, details)),
        );
    }
    answers.push(match facts.status {
        206 => Answer::works("parts of objects", "http_object_mode=range"),
        200 => Answer::fails("parts of objects", "the server has sent the whole object", "use http_object_mode=block"),
        _ => Answer::new("parts of objects", Ability::Unknown, "no object was read"),
    });
    answers.extend(facts.clock_ahead_s.map(of_clock));
    answers
}

fn of_status(facts: &WebFacts) -> Answer {
    let name = "ioengine=http";
    let server = facts.server.as_ref().map_or_else(String::new, |server| format!(" ({server})"));
    let status = format!("the server{server} answers {}", facts.status);
    let login = facts.challenges.first().map_or_else(String::new, |challenge| format!(", {challenge}"));
    match facts.status {
        401 | 403 => Answer::fails(
            name,
            format!("{status} without a login{login}"),
            "give the job http_user and http_pass, the keys of S3, or a token of Swift",
        ),
        404 => Answer::works(name, format!("{status}: there is no object of this name")),
        429 | 500.. => Answer::fails(name, status, "look in the log of the server"),
        _ => Answer::works(name, status),
    }
}

fn of_clock(ahead_s: i64) -> Answer {
    let side = if ahead_s < 0 { "behind" } else { "ahead of" };
    let text = format!("the server's is {} s {side} this one's", ahead_s.unsigned_abs());
    if ahead_s.abs() < MOST_CLOCK_SKEW_S {
        Answer::works("clock", text)
    } else {
        Answer::fails("clock", format!("{text}, and S3 takes no signatures then"), "set both clocks, as by NTP")
    }
}

/// # Errors
/// No version of the protocol can be used.
fn of_nfs(url: &str, mounts: &[NfsFacts]) -> anyhow::Result<Vec<Answer>> {
    if mounts.iter().all(|facts| facts.mount.is_err()) {
        let reasons = mounts.iter().map(|facts| {
            let why = facts.mount.as_ref().err().map_or("", String::as_str);
            format!("version {}: {why}", facts.version)
        });
        return Err(anyhow!("{url}: {}", reasons.collect::<Vec<_>>().join("; ")));
    }
    let mut answers = Vec::new();
    for NfsFacts { version, mount } in mounts {
        let name = format!("NFS version {version}");
        match mount {
            Ok(mount) => {
                let limits = match mount.largest_bytes {
                    // By version 4 the library does not ask for them.
                    [0, _] | [_, 0] => String::new(),
                    most => {
                        let [read, write] = most.map(bytes_text);
                        format!("; a request reads at most {read}, writes at most {write}")
                    }
                };
                answers.push(Answer::works(name, format!("mounted (version={version}){limits}")));
            }
            Err(why) => answers.push(Answer::fails(name, why.clone(), "see the exports and versions of the server")),
        }
    }
    if let Some((version, mount)) = mounts.iter().find_map(|facts| Some((facts.version, facts.mount.as_ref().ok()?))) {
        answers.extend(of_mount(version, mount));
    }
    Ok(answers)
}

fn of_mount(version: u32, mount: &NfsMountFacts) -> Vec<Answer> {
    let space = match mount.space_bytes {
        Some([all, free]) => {
            let text = format!("{} free of {}", bytes_text(free), bytes_text(all));
            if free == 0 {
                Answer::fails("space", text, "make room on the server")
            } else {
                Answer::works("space", text)
            }
        }
        None => Answer::new("space", Ability::Unknown, "the server does not tell"),
    };
    let allowed = mount.permissions;
    let permission = |name: &str, index: usize| match allowed.map(|allowed| allowed[index]) {
        Some(true) => Answer::works(name, ""),
        Some(false) => Answer::fails(
            name,
            "the directory of the export does not allow it to this user",
            "see uid and gid in the address, and the access and squashing of the export",
        ),
        None => Answer::new(name, Ability::Unknown, "the server does not tell"),
    };
    let writing = match permission("writing", 1) {
        // What the library can send decides, whatever the server allows.
        Answer { state: Ability::Works | Ability::Unknown, .. } if version >= 4 => Answer::fails(
            "writing",
            "libnfs 4 cannot send writes by version 4",
            "use version=3 in the address, if the server has it",
        ),
        answer => answer,
    };
    vec![space, permission("reading", 0), writing]
}

fn of_iscsi(facts: &IscsiFacts) -> Vec<Answer> {
    let Some(lun) = &facts.lun else {
        if facts.targets.is_empty() {
            return vec![Answer::fails(
                "ioengine=libiscsi",
                "the portal shows this initiator no target",
                "let a target accept the name or the address of the initiator",
            )];
        }
        let names = facts.targets.iter();
        return names
            .map(|name| Answer::works("target", format!("{name}: name a LUN, iscsi://HOST/{name}/LUN")))
            .collect();
    };
    of_lun(lun)
}

fn of_lun(lun: &LunFacts) -> Vec<Answer> {
    let size = format!(
        "logged in; the LUN has {} bytes ({}), in blocks of {} bytes",
        lun.size_bytes,
        bytes_text(lun.size_bytes),
        lun.block_bytes
    );
    let writes = match lun.is_protected {
        Some(false) => Answer::works("writes", ""),
        Some(true) => Answer::fails("writes", "the LUN is write-protected", "let the target export it writable"),
        None => Answer::new("writes", Ability::Unknown, "the target does not tell"),
    };
    let trim = match lun.has_unmap {
        Some(true) => Answer::works("trim (UNMAP)", "with libiscsi_unmap=1"),
        Some(false) => Answer::fails("trim (UNMAP)", "the LUN is not thin", "make it a thin one at the target"),
        None => Answer::new("trim (UNMAP)", Ability::Unknown, "the target does not tell"),
    };
    let mut answers = vec![Answer::works("ioengine=libiscsi", size), writes, trim];
    if !lun.luns.is_empty() {
        let numbers: Vec<String> = lun.luns.iter().map(ToString::to_string).collect();
        answers.push(Answer::works("LUNs of the target", numbers.join(", ")));
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_server_is_refused_or_not_known() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        for url in [format!("nbd://127.0.0.1:{port}/x"), format!("http://127.0.0.1:{port}/x")] {
            assert!(answers(&url).expect_err("it is gone").to_string().contains("refused"), "{url}");
        }
        for url in ["ftp://127.0.0.1/", "http://", "http://h/a b", "://"] {
            assert!(answers(url).is_err(), "{url}");
        }
    }

    /// The answers of a web server that answers each request with the next of these.
    fn answers_of(replies: &'static [&'static str]) -> (Vec<Answer>, Vec<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let server = std::thread::spawn(move || {
            let mut stream: Option<TcpStream> = None;
            let mut requests = Vec::new();
            for reply in replies {
                let mut from = stream.take().unwrap_or_else(|| listener.accept().expect("a client").0);
                let mut request = [0; 512];
                let n_bytes = from.read(&mut request).expect("a request");
                requests.push(String::from_utf8_lossy(&request[..n_bytes]).into_owned());
                from.write_all(reply.as_bytes()).expect("sent");
                stream = Some(from);
            }
            requests
        });
        let found = answers(&format!("http://127.0.0.1:{port}/bucket/o")).expect("it answers");
        (found, server.join().expect("it ends"))
    }

    fn answer<'a>(answers: &'a [Answer], name: &str) -> &'a Answer {
        answers.iter().find(|answer| answer.name == name).unwrap_or_else(|| panic!("no {name} in {answers:?}"))
    }

    #[test]
    fn a_web_server_tells_its_protocols() {
        let (found, requests) = answers_of(&[
            "HTTP/1.1 206 Partial Content\r\nServer: S\r\nContent-Length: 1\r\nx-amz-request-id: 1\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nDAV: 1,2\r\nContent-Length: 0\r\n\r\n",
        ]);
        assert!(
            requests[0].starts_with("GET /bucket/o HTTP/1.1") && requests[0].contains("Range: bytes=0-0"),
            "{requests:?}"
        );
        assert!(requests[1].starts_with("OPTIONS /bucket/o"), "{requests:?}");
        assert_eq!(answer(&found, "ioengine=http").why, "the server (S) answers 206");
        for name in ["S3", "WebDAV", "parts of objects"] {
            assert_eq!(answer(&found, name).state, Ability::Works, "{found:?}");
        }
        assert_eq!(answer(&found, "Swift").state, Ability::Unknown);
        // This clock is not that of 1970.
        assert_eq!(answer(&found, "clock").state, Ability::Fails);
    }

    #[test]
    fn a_web_server_that_wants_a_login_says_how() {
        let (found, _) = answers_of(&[
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 405 No\r\nConnection: close\r\n\r\n",
        ]);
        let login = answer(&found, "ioengine=http");
        assert_eq!(login.state, Ability::Fails);
        assert!(login.why.contains("Basic realm") && login.cure.contains("http_user"), "{login:?}");
    }

    #[test]
    fn exports_and_luns_say_what_they_take() {
        let facts = NbdFacts {
            size_bytes: 1 << 20,
            is_read_only: true,
            abilities: vec![("trim", false), ("flush", true)],
            blocks: Some([512, 4096, 1 << 25]),
            tls: None,
        };
        let found = of_nbd(&facts);
        assert_eq!(answer(&found, "ioengine=nbd").why, "the export has 1048576 bytes (1 MiB)");
        assert_eq!(
            ["writes", "trim", "flush"].map(|name| answer(&found, name).state),
            [Ability::Fails, Ability::Fails, Ability::Works]
        );
        assert_eq!(answer(&found, "blocks").why, "multiples of 512 bytes, best 4096, at most 33554432");
        let lun = LunFacts {
            size_bytes: 1 << 20,
            block_bytes: 512,
            has_unmap: None,
            is_protected: Some(true),
            luns: vec![1, 2],
        };
        let found = of_iscsi(&IscsiFacts { targets: Vec::new(), lun: Some(lun) });
        assert_eq!(
            ["writes", "trim (UNMAP)"].map(|name| answer(&found, name).state),
            [Ability::Fails, Ability::Unknown]
        );
        assert_eq!(answer(&found, "LUNs of the target").why, "1, 2");
        assert_eq!(of_iscsi(&IscsiFacts::default())[0].state, Ability::Fails);
    }

    #[test]
    fn mounts_say_their_space_and_permission() {
        let refused = NfsFacts { version: 4, mount: Err("no".to_owned()) };
        let refusal = of_nfs("nfs://h/x", std::slice::from_ref(&refused)).expect_err("refused");
        assert_eq!(refusal.to_string(), "nfs://h/x: version 4: no");
        let mount = NfsMountFacts {
            largest_bytes: [1 << 20; 2],
            space_bytes: Some([1 << 30, 0]),
            permissions: Some([true, false]),
        };
        let found = of_nfs("nfs://h/x", &[NfsFacts { version: 3, mount: Ok(mount) }, refused]).expect("one works");
        let states =
            ["NFS version 3", "NFS version 4", "space", "reading", "writing"].map(|name| answer(&found, name).state);
        assert_eq!(states, [Ability::Works, Ability::Fails, Ability::Fails, Ability::Works, Ability::Fails]);
        // By version 4 the library does not know the limits, and does not write.
        let mount = NfsMountFacts { permissions: Some([true, true]), ..NfsMountFacts::default() };
        let found = of_nfs("nfs://h/x", &[NfsFacts { version: 4, mount: Ok(mount.clone()) }]).expect("it works");
        assert_eq!(answer(&found, "NFS version 4").why, "mounted (version=4)");
        assert_eq!(
            [answer(&found, "reading").state, answer(&found, "writing").state],
            [Ability::Works, Ability::Fails]
        );
        let both = [3, 4].map(|version| NfsFacts { version, mount: Ok(mount.clone()) });
        assert_eq!(answer(&of_nfs("nfs://h/x", &both).expect("both work"), "writing").state, Ability::Works);
    }
}

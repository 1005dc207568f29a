//! ferrio on hosts that have none, or another version: copied there by the same program that starts workers, and kept for the next time.
//!
//! It is in a directory of the user's cache that its version and its SHA-256 name, so that a changed program is another one. Each step is
//! one command of the remote shell, in a text without single quotes, backslashes and newlines, which all shells pass on as it is. Must not
//! know: workers. Start reading at [`PushedProgram::on`].

use super::copies::{Copies, OlderCopies};
use super::remote_shell::{LaunchError, RemoteShell};
use ring::digest::{Context, SHA256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The word with which an answer begins; what stands before it, a shell prints by itself.
const ANSWER: &str = "ferrio-push";
/// Longest output of a command on a host, bytes.
const MOST_BYTES: usize = 1 << 16;
/// Time between two looks how far a copy is.
const COPY_LOOK: Duration = Duration::from_millis(100);
/// A copy may take so many times as long as a question.
const COPY_LIMITS: u32 = 20;

/// Asks what a host has. Arguments: ferrio there, its wanted version, the name of the directory, SHA-256 and length of the program.
const PROBE: &str = concat!(
    "v=$($1 --version 2>/dev/null </dev/null | head -n 1); ",
    "if [ \"$v\" = \"$2\" ]; then echo ferrio-push present; exit 0; fi; ",
    "c=${XDG_CACHE_HOME:-}; if [ -z \"$c\" ]; then c=${HOME:-/nonexistent}/.cache; fi; ",
    "d=$c/ferrio/$3; s=absent; ",
    "if [ -x \"$d/ferrio\" ]; then if command -v sha256sum >/dev/null 2>&1; ",
    "then h=$(sha256sum <\"$d/ferrio\"); if [ \"${h%% *}\" = \"$4\" ]; then s=cached; fi; ",
    "elif [ \"$(wc -c <\"$d/ferrio\")\" -eq \"$5\" ]; then s=cached; fi; fi; ",
    "echo ferrio-push $s $(uname -m) \"$d\""
);

/// Takes the program from the standard input. Arguments: the directory, SHA-256 and length of the program, its version.
const COPY: &str = concat!(
    "umask 077; t=$1/.ferrio.$(uname -n).$$; r=copied; ",
    "if mkdir -p \"$1\" && cat >\"$t\"; then ",
    "if command -v sha256sum >/dev/null 2>&1; then h=$(sha256sum <\"$t\"); if [ \"${h%% *}\" = \"$2\" ]; then :; else r=damaged; fi; ",
    "elif [ \"$(wc -c <\"$t\")\" -eq \"$3\" ]; then :; else r=damaged; fi; ",
    "if [ $r = copied ]; then chmod 700 \"$t\"; v=$(\"$t\" --version 2>&1 </dev/null | head -n 1); ",
    "if [ \"$v\" = \"$4\" ]; then mv -f \"$t\" \"$1/ferrio\" || r=unwritable; else r=\"unusable $v\"; fi; fi; ",
    "else r=unwritable; fi; rm -f \"$t\"; n=0; for o in \"${1%/*}\"/fio-*-ferrio-*/ferrio; do ",
    "if [ \"$o\" = \"$1/ferrio\" ]; then :; elif [ -f \"$o\" ]; then n=$((n + 1)); fi; done; ",
    "if [ \"$r\" = copied ]; then r=\"copied $n\"; fi; echo ferrio-push \"$r\""
);

/// A program that is copied to hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedProgram {
    path: PathBuf,
    /// Its version line.
    version: String,
    sha256: String,
    n_bytes: u64,
    /// The machine that it is for, by number (`e_machine` of ELF).
    machine: u16,
}

/// A file is no program for hosts.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// It cannot be read.
    #[error("{}: {}", path.display(), ferrio_units::error_text(source))]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It is something else.
    #[error("{}: this is no program for Linux", .0.display())]
    NoProgram(PathBuf),
}

impl PushedProgram {
    /// The program in this file, whose version is said to be this.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub fn of(path: &Path, version: &str) -> Result<Self, PushError> {
        let failed = |source| PushError::File { path: path.to_owned(), source };
        let mut file = File::open(path).map_err(failed)?;
        let (mut head, mut digest, mut n_bytes) = (Vec::new(), Context::new(&SHA256), 0);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let n = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(failed(error)),
            };
            digest.update(&buffer[..n]);
            n_bytes += n as u64;
            if head.len() < ELF_HEAD {
                head.extend_from_slice(&buffer[..n.min(ELF_HEAD)]);
            }
        }
        let machine = elf_machine(&head).ok_or_else(|| PushError::NoProgram(path.to_owned()))?;
        let mut sha256 = String::new();
        for byte in digest.finish().as_ref() {
            let _ = write!(sha256, "{byte:02x}");
        }
        Ok(Self { path: path.to_owned(), version: version.to_owned(), sha256, n_bytes, machine })
    }

    fn shown(&self) -> String {
        if self.path.starts_with("/proc/self") { "this ferrio".to_owned() } else { self.path.display().to_string() }
    }

    /// The name of its directory on hosts.
    fn directory(&self) -> String {
        format!("{}-{}", self.version, self.sha256.get(..16).unwrap_or_default())
    }

    /// ferrio on a host, as a word for its shell: that which it has, if it is of this version; else this program, which is copied unless it
    /// was before.
    ///
    /// # Errors
    /// The host cannot be reached, is another kind of machine, or does not take it.
    pub(super) fn on(
        &self,
        shell: &RemoteShell,
        host: &str,
        limit: Duration,
        copies: &Copies,
    ) -> Result<String, LaunchError> {
        let refused = |reason: String| LaunchError::Push { host: host.to_owned(), reason };
        let n_bytes = self.n_bytes.to_string();
        let directory = self.directory();
        let arguments = [&shell.program, &self.version, &directory, &self.sha256, &n_bytes].map(String::as_str);
        let said = shell.ask(host, PROBE, &arguments, None, limit)?;
        let answer = answer(&said).ok_or_else(|| refused("it does not answer as a shell does".to_owned()))?;
        let mut words = answer.splitn(3, ' ');
        let (state, machine) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let place = words.next().unwrap_or_default();
        if state == "present" {
            return Ok(shell.program.clone());
        }
        if place.is_empty() || !matches!(state, "cached" | "absent") {
            return Err(refused(format!("it answers {answer:?}")));
        }
        let own = machine_names(self.machine);
        if !own.contains(&machine) {
            return Err(refused(format!(
                "its machine is {machine}, and {} is for {}: --push=FILE names a ferrio for that machine",
                self.shown(),
                own.first().copied().unwrap_or("another")
            )));
        }
        if state == "absent" {
            let made = self.copy(shell, host, place, limit, copies);
            copies.end(host);
            made?;
        }
        Ok(quoted(&format!("{place}/ferrio")))
    }

    /// Copies the program into its directory on a host.
    fn copy(
        &self,
        shell: &RemoteShell,
        host: &str,
        place: &str,
        limit: Duration,
        copies: &Copies,
    ) -> Result<(), LaunchError> {
        let refused = |reason: String| LaunchError::Push { host: host.to_owned(), reason };
        let failed = |source: io::Error| refused(format!("{}: {}", self.shown(), ferrio_units::error_text(&source)));
        let file = File::open(&self.path).map_err(failed)?;
        let n_bytes = self.n_bytes.to_string();
        let arguments = [place, &self.sha256, &n_bytes, &self.version];
        // The remote shell reads the file by a descriptor with the same offset.
        let look = |mut file: &File| copies.reach(host, file.stream_position().unwrap_or_default(), self.n_bytes);
        let input = Some(WatchedInput { file: &file, look: &look });
        let said = shell.ask(host, COPY, &arguments, input, limit.saturating_mul(COPY_LIMITS))?;
        let Some(answer) = answer(&said) else { return Err(refused("the copy was interrupted".to_owned())) };
        if let Some(n_copies) = answer.strip_prefix("copied ").and_then(|number| number.parse().ok()) {
            if n_copies > 0 {
                let directory = place.rsplit_once('/').map_or(place, |(directory, _)| directory).to_owned();
                copies.has_older(OlderCopies { host: host.to_owned(), n_copies, directory });
            }
            return Ok(());
        }
        Err(refused(match (answer, answer.strip_prefix("unusable ")) {
            ("damaged", _) => "what has come there is not what was sent".to_owned(),
            (_, Some(reason)) => format!("the copy in {place} cannot be used: {reason}"),
            _ => format!("{place} cannot be written"),
        }))
    }
}

/// The input of a script, and what looks at it from time to time.
#[derive(Clone, Copy)]
struct WatchedInput<'a> {
    file: &'a File,
    look: &'a dyn Fn(&File),
}

impl RemoteShell {
    /// What a script says on a host; its standard error goes to ours.
    fn ask(
        &self,
        host: &str,
        script: &str,
        arguments: &[&str],
        input: Option<WatchedInput<'_>>,
        limit: Duration,
    ) -> Result<String, LaunchError> {
        let program = self.command.first().cloned().unwrap_or_default();
        let words: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
        let mut command = Command::new(&program);
        command.args(self.command.iter().skip(1)).arg(host);
        command.arg(format!("sh -c {} ferrio-push {}", quoted(script), words.join(" ")));
        let started = |source| LaunchError::Start { program: program.clone(), source };
        let (ours, theirs) = UnixStream::pair().map_err(started)?;
        let file = input.map(|input| input.file.try_clone()).transpose().map_err(started)?;
        command
            .stdin(file.map_or_else(Stdio::null, Stdio::from))
            .stdout(OwnedFd::from(theirs))
            .stderr(Stdio::inherit());
        let mut child = command.spawn().map_err(started)?;
        drop(command);
        let said = heard(ours, limit, &|| {
            if let Some(WatchedInput { file, look }) = input {
                look(file);
            }
        });
        if said.is_err() {
            let _ = child.kill();
        }
        let ending = child.wait().map(|status| format!(" ({program}: {status})")).unwrap_or_default();
        match said {
            Ok(said) if said.contains(ANSWER) => Ok(said),
            Ok(_) => Err(LaunchError::Push { host: host.to_owned(), reason: format!("it does not answer{ending}") }),
            Err(error) => {
                let reason = match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => format!("no answer within {} s", limit.as_secs()),
                    _ => error.to_string(),
                };
                Err(LaunchError::Push { host: host.to_owned(), reason })
            }
        }
    }
}

/// All that comes until the end. `look` is called from time to time.
fn heard(mut socket: UnixStream, limit: Duration, look: &dyn Fn()) -> io::Result<String> {
    let until = Instant::now() + limit;
    let (mut said, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        look();
        socket.set_read_timeout(Some(left.min(COPY_LOOK)))?;
        match socket.read(&mut buffer) {
            Ok(0) => return Ok(String::from_utf8_lossy(&said).into_owned()),
            Ok(n) => said.extend_from_slice(&buffer[..n]),
            // The time is looked at above.
            Err(error)
                if [ErrorKind::Interrupted, ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {}
            Err(error) => return Err(error),
        }
        if said.len() > MOST_BYTES {
            return Err(io::Error::other("it prints something else"));
        }
    }
}

/// The last answer in what a host says.
fn answer(said: &str) -> Option<&str> {
    said.lines().rev().find_map(|line| line.strip_prefix(ANSWER)).map(str::trim)
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Bytes of a program in which its machine is named.
const ELF_HEAD: usize = 20;

/// `e_machine` of a program (elf(5)); `None`: it is none.
fn elf_machine(head: &[u8]) -> Option<u16> {
    let is_program = head.get(..4)? == b"\x7fELF";
    let bytes: [u8; 2] = head.get(18..20)?.try_into().ok()?;
    let is_big_endian = *head.get(5)? == 2;
    is_program.then(|| if is_big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
}

/// The names by which kernels call a machine (`uname -m`), the usual one first.
fn machine_names(machine: u16) -> &'static [&'static str] {
    match machine {
        3 => &["i686", "i586", "i386", "x86_64"],
        20 => &["ppc"],
        21 => &["ppc64le", "ppc64"],
        22 => &["s390x"],
        40 => &["armv7l", "armv6l", "armv8l", "aarch64"],
        62 => &["x86_64", "amd64"],
        183 => &["aarch64", "arm64"],
        243 => &["riscv64"],
        258 => &["loongarch64"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_of_a_program_is_read() {
        let own = PushedProgram::of(Path::new("/proc/self/exe"), "v").expect("this program");
        assert!(machine_names(own.machine).contains(&std::env::consts::ARCH));
        assert_eq!((own.sha256.len(), own.directory().len()), (64, 18));
        assert!(matches!(PushedProgram::of(Path::new("/etc/passwd"), "v"), Err(PushError::NoProgram(_))));
        assert!(matches!(PushedProgram::of(Path::new("/no/such"), "v"), Err(PushError::File { .. })));
        assert_eq!(elf_machine(b"\x7fELF\x02\x02\x01\0\0\0\0\0\0\0\0\0\0\x02\0\x16"), Some(22));
    }

    #[test]
    fn scripts_are_words_for_any_shell() {
        for script in [PROBE, COPY] {
            assert!(!script.contains(['\'', '\\', '\n', '!']), "{script}");
            let checked = Command::new("sh").args(["-n", "-c", script]).status().expect("a shell");
            assert!(checked.success());
        }
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(answer("Welcome\nferrio-push cached x86_64 /a b\n"), Some("cached x86_64 /a b"));
        assert_eq!(answer("Welcome\n"), None);
    }
}

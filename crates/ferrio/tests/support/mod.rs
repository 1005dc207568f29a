//! Shared by the end-to-end tests: running ferrio and fio with a time limit, scratch directories, skipping tests.
//!
//! Must not know: the features under test. Start reading at [`Run`].

mod loop_device;
mod recorded;

pub(crate) use loop_device::{LoopDevice, unmount};

use ferrio_testing::{skip, skip_part};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The version that the expectations of the peer's tests were made with.
const PEER_VERSION: &str = "fio-3.41";

/// Runs that version, wherever it is kept.
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/fio-peer");

/// The version that reads and writes verified data and state files in the older layout.
const OLD_PEER_VERSION: &str = "fio-3.33";

/// A run that has not ended by then is killed, with all its jobs.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// fio prints this if any device of the machine disappears while it examines all of them.
const PEER_NOISE: &str = "stat: No such file or directory\n";

/// The clock that fio takes by itself. Told to take it, it does not test it first, which takes more CPU time than most runs of tests.
const PEER_CLOCK: &str = "--clocksource=cpu";

/// True if one of five attempts succeeds. On a machine with other work, a single one proves nothing about a rule that looks at times.
pub(crate) fn succeeds_once(mut attempt: impl FnMut() -> bool) -> bool {
    (0..5).any(|_| attempt())
}

/// Reports a skipped test and the reason. With a part of the test in parentheses behind its name, only that part is skipped:
/// `paths_are_resolved (on btrfs)`.
pub(crate) fn skip(test: &str, reason: &str) {
    if test.contains(" (") {
        skip_part!(test, "{reason}");
    } else {
        skip!(test, "{reason}");
    }
}

/// True when fio is wanted and installed; else the test is reported as skipped.
pub(crate) fn has_peer(test: &str) -> bool {
    has_version(test, Program::Peer, PEER_VERSION)
}

/// As [`has_peer`], for the fio whose verified data have the older layout.
pub(crate) fn has_old_peer(test: &str) -> bool {
    has_version(test, Program::OldPeer, OLD_PEER_VERSION)
}

/// True when fio is wanted and installed; else that part of the test is reported as skipped.
pub(crate) fn peer_too(test: &str) -> bool {
    has_peer(&format!("{test} (under the peer)"))
}

/// As [`peer_too`], for the fio of [`has_old_peer`].
pub(crate) fn old_peer_too(test: &str) -> bool {
    has_old_peer(&format!("{test} (under the older peer)"))
}

/// The peers that are there, whose verified data have one layout each; a missing one is reported.
pub(crate) fn peers_of_both_layouts(test: &str) -> Vec<Program> {
    let newest = peer_too(test).then_some(Program::Peer);
    newest.into_iter().chain(old_peer_too(test).then_some(Program::OldPeer)).collect()
}

/// The versions of the peers that are there.
static PEER_IS: OnceLock<String> = OnceLock::new();
static OLD_PEER_IS: OnceLock<String> = OnceLock::new();

fn version(program: Program) -> String {
    let output = Command::new(program.path()).arg("--version").output().map(|output| output.stdout);
    String::from_utf8_lossy(&output.unwrap_or_default()).trim().to_owned()
}

fn has_version(test: &str, program: Program, wanted: &str) -> bool {
    if std::env::var_os("FERRIO_PEER").is_none_or(|value| value != "1") {
        skip(test, "FERRIO_PEER is not 1");
        return false;
    }
    let version = match program {
        Program::OldPeer => OLD_PEER_IS.get_or_init(|| version(program)),
        _ => PEER_IS.get_or_init(|| version(program)),
    };
    if version != wanted {
        skip(test, &format!("the peer is {wanted}, and {} says '{version}'", program.path()));
    }
    version == wanted
}

/// True when programs are on the path; else the test is reported as skipped.
pub(crate) fn has_programs(test: &str, programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |program: &str| std::env::split_paths(&path).any(|directory| directory.join(program).is_file());
    let missing = programs.iter().find(|program| !is_there(program));
    if let Some(program) = missing {
        skip(test, &format!("needs {program}"));
    }
    missing.is_none()
}

/// True for root; else the test is reported as skipped.
pub(crate) fn is_root(test: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skip(test, "needs root");
    }
    is_root
}

/// A directory for one test, removed with everything in it.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// A directory where the build keeps its files.
    pub(crate) fn new(test: &str) -> Self {
        Self::below(Path::new(env!("CARGO_TARGET_TMPDIR")), test)
    }

    /// A directory whose files are in memory, where the machine has such a place: no device is slow there.
    pub(crate) fn in_memory(test: &str) -> Self {
        let memory = Path::new("/dev/shm");
        if rustix::fs::access(memory, rustix::fs::Access::WRITE_OK).is_ok() {
            Self::below(memory, test)
        } else {
            Self::new(test)
        }
    }

    /// A directory that other users can reach.
    pub(crate) fn in_temporary_directory(test: &str) -> Self {
        Self::below(&std::env::temp_dir(), test)
    }

    fn below(parent: &Path, test: &str) -> Self {
        static N_MADE: AtomicU32 = AtomicU32::new(0);
        let number = N_MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("ferrio-{}-{number}-{test}", std::process::id());
        let path = parent.join(name);
        std::fs::create_dir_all(&path).expect("a directory for scratch files");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Path of a file in the directory.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.join(name), content).expect("a scratch file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.join(name)).unwrap_or_default()).into_owned()
    }

    /// Names in the directory, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("the directory is there");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if std::fs::remove_dir_all(&self.0).is_err() {
            // Engines make directories without any permission, as fio does, and only root can remove what is in such ones.
            permit_all(&self.0);
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// Lets their owner enter all directories below one.
fn permit_all(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let _ = std::fs::set_permissions(entry.path(), std::fs::Permissions::from_mode(0o700));
            permit_all(&entry.path());
        }
    }
}

/// The program to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Ferrio,
    Peer,
    /// Debian's fio of the host, which is years older.
    OldPeer,
}

impl Program {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Ferrio => env!("CARGO_BIN_EXE_ferrio"),
            Self::Peer => PEER,
            Self::OldPeer => "fio",
        }
    }

    /// Option that makes ferrio use this program's layout of verified data and states.
    pub(crate) fn layout_option(self) -> &'static str {
        if self == Self::OldPeer { "--verify_header_layout=3.33" } else { "" }
    }
}

/// A run to be started.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    program: Program,
    wrapper: Vec<OsString>,
    arguments: Vec<OsString>,
    directory: PathBuf,
    stdin: Vec<u8>,
    environment: Vec<(String, String)>,
    removed: Vec<String>,
    record: Option<(&'static str, &'static [&'static str])>,
}

impl Run {
    /// A run in a directory. Arguments are separated by blanks.
    pub(crate) fn new(program: Program, directory: &Path, arguments: &str) -> Self {
        Self {
            program,
            wrapper: Vec::new(),
            arguments: arguments.split_whitespace().map(OsString::from).collect(),
            directory: directory.to_owned(),
            stdin: Vec::new(),
            environment: Vec::new(),
            removed: Vec::new(),
            record: None,
        }
    }

    /// Names the clock to ferrio, too, so that reports of both programs have the same options.
    pub(crate) fn with_clock_of_peer(mut self) -> Self {
        if self.program == Program::Ferrio {
            self.arguments.insert(0, PEER_CLOCK.into());
        }
        self
    }

    pub(crate) fn stdin(mut self, text: &[u8]) -> Self {
        text.clone_into(&mut self.stdin);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Removes a variable of the environment, unless [`Run::env`] sets it.
    pub(crate) fn without_env(mut self, name: &str) -> Self {
        self.removed.push(name.to_owned());
        self
    }

    /// Runs the program under another one, such as `strace -f`.
    pub(crate) fn under(mut self, wrapper: &str) -> Self {
        self.wrapper = wrapper.split_whitespace().map(OsString::from).collect();
        self
    }

    /// Adds arguments that may have blanks.
    pub(crate) fn words(mut self, arguments: &[String]) -> Self {
        self.arguments.extend(arguments.iter().map(OsString::from));
        self
    }

    /// Adds words to the program under which it runs.
    pub(crate) fn under_words(mut self, words: &[String]) -> Self {
        self.wrapper.extend(words.iter().map(OsString::from));
        self
    }

    /// Runs a shell script in which `"$0" "$@"` is the program with its arguments.
    pub(crate) fn in_shell(mut self, script: &str) -> Self {
        self.wrapper = ["sh", "-c", script].map(OsString::from).to_vec();
        self
    }

    /// Says that the result of a run of the peer may be a recorded one, of the set of this name: it depends on nothing but the arguments, the
    /// input and the files of the directory, and the test looks at nothing but what the run has printed and at these files.
    pub(crate) fn recorded(mut self, set: &'static str, files: &'static [&'static str]) -> Self {
        self.record = Some((set, files));
        self
    }

    /// Runs to the end.
    pub(crate) fn finish(self) -> Finished {
        match self.record {
            Some((set, files)) => recorded::finish(self, set, files),
            None => self.finish_now(),
        }
    }

    fn finish_now(self) -> Finished {
        self.start().finish()
    }

    pub(crate) fn start(self) -> Running {
        let shown = format!("{:?} {:?} in {}", self.program, self.arguments, self.directory.display());
        let clock = (self.program != Program::Ferrio).then(|| PEER_CLOCK.into());
        let program = std::iter::once(self.program.path().into()).chain(clock);
        let mut words = self.wrapper.into_iter().chain(program).chain(self.arguments);
        let mut command = Command::new(words.next().expect("a program"));
        // Tests in the background of a script ignore SIGINT, and a program would do so before it listens.
        if ferrio_sys::signals::is_ignored(rustix::process::Signal::INT).is_ok_and(|is_ignored| is_ignored) {
            ferrio_sys::signals::reset_in_program(&mut command);
        }
        // What one test leaves behind is no other's business, and no user's.
        command.env("FERRIO_STATE", "off").env_remove("FERRIO_KEEP");
        for name in &self.removed {
            command.env_remove(name);
        }
        // A signal to its process group must not end the tests.
        if self.program != Program::Ferrio {
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        let mut child = command
            .args(words)
            .current_dir(&self.directory)
            .envs(self.environment)
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{shown}: {error}"));
        let mut input = child.stdin.take().expect("a pipe");
        let bytes = self.stdin;
        // A program that does not read its input closes the pipe; that is no failure.
        std::thread::spawn(move || drop(input.write_all(&bytes)));
        let stdout = collect(child.stdout.take().expect("a pipe"));
        let stderr = collect(child.stderr.take().expect("a pipe"));
        Running { program: self.program, shown, child, stdout, stderr }
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// A run that was started.
pub(crate) struct Running {
    program: Program,
    shown: String,
    child: Child,
    stdout: JoinHandle<Vec<u8>>,
    stderr: JoinHandle<Vec<u8>>,
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Children, their children, and so on.
    pub(crate) fn jobs(&self) -> Vec<u32> {
        descendants(self.pid())
    }

    /// Waits until something is so; fails after the time limit.
    pub(crate) fn wait_until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !is_so(self) {
            let has_ended = self.child.try_wait().is_ok_and(|status| status.is_some());
            if has_ended || start.elapsed() > TIME_LIMIT {
                self.kill();
                panic!("{}: no '{what}' (the program has ended: {has_ended})", self.shown);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn kill(&mut self) {
        for pid in descendants(self.pid()).into_iter().chain([self.pid()]) {
            send(pid, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }

    /// Waits for the end.
    pub(crate) fn finish(mut self) -> Finished {
        let start = Instant::now();
        let mut is_late = false;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the child is ours") {
                break status;
            }
            if start.elapsed() > TIME_LIMIT && !is_late {
                is_late = true;
                self.kill();
            }
            wait_for_end(&self.child);
        };
        let text =
            |thread: JoinHandle<Vec<u8>>| String::from_utf8_lossy(&thread.join().expect("it only reads")).into_owned();
        let (stdout, mut stderr) = (text(self.stdout), text(self.stderr));
        if self.program != Program::Ferrio {
            stderr = stderr.replace(PEER_NOISE, "");
        }
        assert!(!is_late, "{}: killed after {TIME_LIMIT:?}\n{stdout}\n{stderr}", self.shown);
        Finished { shown: self.shown, code: status.code(), signal: status.signal(), stdout, stderr }
    }
}

/// Sends a signal to a process that a test has started.
pub(crate) fn send(pid: u32, signal: rustix::process::Signal) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid as i32) {
        // A process that has ended by itself needs no signal.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Waits until a child ends, or for a moment: it may have a limit of time.
fn wait_for_end(child: &Child) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let at_most = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
    let pid = rustix::process::Pid::from_raw(child.id() as i32).expect("a child has a number");
    match rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
        Ok(end) => drop(poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&at_most))),
        Err(_) => std::thread::sleep(Duration::from_millis(2)),
    }
}

fn descendants(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children: Vec<u32> = children.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let below: Vec<u32> = children.iter().flat_map(|child| descendants(*child)).collect();
    children.into_iter().chain(below).collect()
}

/// A run that has ended.
#[derive(Debug, Clone)]
pub(crate) struct Finished {
    shown: String,
    /// Exit code, if no signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// Everything that a failed assertion should show.
    pub(crate) fn all(&self) -> String {
        let Self { shown, code, signal, stdout, stderr } = self;
        format!("{shown}\nexit code {code:?}, signal {signal:?}\n-- stdout\n{stdout}\n-- stderr\n{stderr}")
    }

    /// Fails unless the run went well.
    pub(crate) fn succeeded(self) -> Self {
        assert!(self.code == Some(0), "{}", self.all());
        self
    }

    /// Fails if the run had something to complain about.
    pub(crate) fn quiet(self) -> Self {
        assert!(self.stderr.is_empty(), "{}", self.all());
        self
    }
}

/// Runs a tool of the system (mkfs, mount, ...) and returns its standard output; `None` when it failed.
pub(crate) fn tool(command: &str) -> Option<String> {
    let mut words = command.split_whitespace();
    let output = Command::new(words.next()?).args(words).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

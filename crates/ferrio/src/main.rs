//! The program. What it does is in `crates/cli`.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    ferrio_cli::program()
}

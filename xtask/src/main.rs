//! ferrio's own chores: `cargo xtask tidy | licences | generate | scaffold | bench | instructions | build-cost`.
//!
//! A chore never changes the program: it checks the repository, writes documents into it, or measures.
//! Start reading at [`run`]; each chore has a module.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore speaks to the one who called it")]

mod bench;
mod build_cost;
mod callgrind;
mod generate;
mod instructions;
mod licences;
mod scaffold;
mod tidy;

use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <chore>
  tidy [--update]      style checks; exceptions stand in xtask/ratchet.toml, --update lowers those that shrank
  licences             every dependency's licence must be on the allow list
  generate [--check]   writes the documents that follow from the tables; --check only compares
  scaffold             adds a dummy of each kind (option, engine, ...) to a copy, and checks that it builds and works
  bench [CASE...] [--pairs N] [--quick] [--csv FILE]
                       measures ferrio and fio side by side; an unknown CASE lists the known ones; FILE gets each figure
  instructions [--check | --update]
                       counts instructions per I/O with callgrind and compares with xtask/instructions.toml
  build-cost [--check | --update]
                       measures the CPU time of a clean release build by crate and compares with xtask/build-cost.toml";

fn main() -> ExitCode {
    if let Some(code) = build_cost::as_compiler(&std::env::args_os().skip(1).collect::<Vec<_>>()) {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the task that the arguments name; returns the text to print on success.
fn run(arguments: &[&str]) -> Result<String> {
    let root = repository_root();
    match arguments {
        ["tidy"] => tidy::check(&root),
        ["tidy", "--update"] => tidy::update(&root),
        ["licences"] => licences::check(&root),
        ["generate"] => generate::write(&root),
        ["generate", "--check"] => generate::check(&root),
        ["scaffold"] => scaffold::check(&root),
        ["bench", arguments @ ..] => bench::run(&root, arguments),
        ["instructions"] => instructions::show(&root),
        ["instructions", "--check"] => instructions::check(&root),
        ["instructions", "--update"] => instructions::update(&root),
        ["build-cost"] => build_cost::show(&root),
        ["build-cost", "--check"] => build_cost::check(&root),
        ["build-cost", "--update"] => build_cost::update(&root),
        _ => bail!("{USAGE}"),
    }
}

/// The directory that holds the workspace's `Cargo.toml`.
fn repository_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

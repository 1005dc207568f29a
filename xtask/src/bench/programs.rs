//! The programs that are compared: ferrio and the bare loops of this workspace, built for release, and fio.
//!
//! Start reading at [`Programs::find`].

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) struct Programs {
    pub(super) peer: PathBuf,
    pub(super) own: PathBuf,
    pub(super) bare: PathBuf,
}

impl Programs {
    /// Builds ferrio and the bare loop, and finds fio.
    pub(super) fn find(root: &Path) -> Result<Self> {
        let directory = build_release(root, &["ferrio", "ferrio-benches"])?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let peer = std::env::split_paths(&path).map(|directory| directory.join("fio")).find(|file| file.is_file());
        let peer = peer.context("no fio on PATH: there is nothing to compare with (Debian: apt-get install fio)")?;
        Ok(Self { peer, own: directory.join("ferrio"), bare: directory.join("ferrio-bare") })
    }
}

/// Builds packages of the workspace for release and gives the directory of their programs.
pub(crate) fn build_release(root: &Path, packages: &[&str]) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--locked", "--quiet"]).current_dir(root);
    command.args(packages.iter().flat_map(|package| ["--package", package]));
    let status = command.status().context("cannot start cargo build")?;
    if !status.success() {
        bail!("cargo build --release: {status}");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(root.join(target).join("release"))
}

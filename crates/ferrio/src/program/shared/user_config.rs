//! The directory of a user's own settings.

use std::path::PathBuf;

/// A file or directory below the user's settings of ferrio, by default `~/.config/ferrio`; `None`: no variable says where they are.
pub(crate) fn user_config(name: &str) -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = of("XDG_CONFIG_HOME").or_else(|| of("HOME").map(|home| home.join(".config")));
    config.map(|config| config.join("ferrio").join(name))
}

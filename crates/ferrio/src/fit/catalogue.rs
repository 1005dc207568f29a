//! The recipes that are known: those of the program, and those of the user.
//!
//! Must not know: what a recipe says. Start reading at [`Catalogue::find`].

use crate::fit::recipe::MOST_BYTES;
use crate::fit::{FitError, Recipe};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

macro_rules! recipes {
    ($($name:literal),+ $(,)?) => {
        /// Names of the recipes of the program.
        pub const NAMES: &[&str] = &[$($name),+];
        const TEXTS: &[&str] = &[$(include_str!(concat!("../../recipes/", $name, ".toml"))),+];
    };
}

recipes![
    "ai-checkpoint",
    "ai-shuffled-read",
    "backup-target",
    "consul",
    "elasticsearch",
    "etcd",
    "gitlab-gitaly",
    "kafka",
    "kubernetes-control-plane",
    "mysql",
    "nfs-home",
    "postgresql",
    "prometheus",
    "redis",
    "rocksdb",
    "sqlite",
    "video-4k",
    "video-8k",
    "vm-boot-storm",
];

/// Where recipes are.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// The directory of the user's recipes; `None`: there is none.
    pub directory: Option<PathBuf>,
}

impl Catalogue {
    /// The names of all recipes, in their order, each once. A recipe of the user goes before that of the program of the same name.
    ///
    /// # Errors
    /// The directory of the user is there and cannot be read.
    pub fn names(&self) -> Result<Vec<String>, FitError> {
        let mut names: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
        if let Some(directory) = &self.directory {
            let failed = |source| FitError::File { path: directory.clone(), source };
            match std::fs::read_dir(directory) {
                Ok(entries) => {
                    for entry in entries {
                        let name = entry.map_err(failed)?.file_name();
                        names.extend(name.to_str().and_then(|name| name.strip_suffix(".toml")).map(str::to_owned));
                    }
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error)),
            }
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// A recipe by its name, or by the path of its file (with a `/`, or ending in `.toml`).
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn find(&self, word: &str) -> Result<Recipe, FitError> {
        if let Some(path) = self.place(word) {
            return read(&path);
        }
        if let Some(index) = NAMES.iter().position(|name| *name == word) {
            return Recipe::parse(TEXTS[index], word);
        }
        let known = self.names()?;
        let nearest = ferrio_job::suggest::did_you_mean(word, known.iter().map(String::as_str)).map(str::to_owned);
        Err(FitError::Unknown { name: word.to_owned(), nearest, known })
    }

    /// The file of a recipe of the user; `None`: the word is the name of a recipe of the program, or of none.
    pub fn place(&self, word: &str) -> Option<PathBuf> {
        if word.contains('/') || Path::new(word).extension().is_some_and(|extension| extension == "toml") {
            return Some(PathBuf::from(word));
        }
        let own = self.directory.as_ref().map(|directory| directory.join(format!("{word}.toml")));
        own.filter(|path| path.is_file())
    }
}

fn read(path: &Path) -> Result<Recipe, FitError> {
    let failed = |source| FitError::File { path: path.to_owned(), source };
    let mut text = String::new();
    let file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(failed(ErrorKind::InvalidInput.into()));
    }
    file.take(MOST_BYTES).read_to_string(&mut text).map_err(failed)?;
    Recipe::parse(&text, &path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_recipes_of_the_program_are_recipes() {
        let catalogue = Catalogue::default();
        for name in NAMES {
            let recipe = catalogue.find(name).expect(name);
            assert_eq!(recipe.name, *name);
            assert!(recipe.title.chars().count() <= 72, "{name}: {}", recipe.title);
        }
        let mut sorted = NAMES.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, NAMES);
    }

    #[test]
    fn an_unknown_name_has_a_near_one() {
        let error = Catalogue::default().find("postgres").expect_err("no recipe").to_string();
        assert!(error.starts_with("no recipe is called postgres"), "{error}");
        assert!(Catalogue::default().find("none/such.toml").is_err());
    }
}

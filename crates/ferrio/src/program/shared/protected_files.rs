//! The files that no output of a command may replace.
//!
//! Must not know: outputs. Start reading at [`of_run`].

use ferrio_spec::RunSpec;
use ferrio_sys::output::{FileRole, ProtectedPaths};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The files of a run: those that it reads, those that were read for its specification, and the targets of its jobs.
pub(crate) fn of_run(spec: &RunSpec, inputs: &[PathBuf]) -> ProtectedPaths {
    // A run that cannot be planned has no targets.
    ferrio_run::protected_files(spec, inputs).unwrap_or_else(|_| ProtectedPaths::inputs(inputs))
}

/// The files that a command line names which cannot be executed: job files, and the value of `filename`. `inputs`: those of them that
/// were read.
pub(crate) fn of_words(arguments: &[OsString], inputs: Vec<PathBuf>) -> ProtectedPaths {
    let mut kept = ProtectedPaths::inputs(inputs);
    let mut is_value = true;
    for word in arguments {
        let bytes = word.as_bytes();
        if let Some(names) = bytes.strip_prefix(b"--filename=") {
            let names = names.split(|byte| *byte == b':');
            names.for_each(|name| kept.add(PathBuf::from(OsString::from_vec(name.to_vec())), FileRole::Target));
        } else if !is_value && !bytes.starts_with(b"-") {
            kept.add(PathBuf::from(word), FileRole::Input);
        }
        // The first word is the name of the program.
        is_value = bytes == b"--output";
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_sys::output::check;
    use std::path::Path;

    #[test]
    fn words_of_a_bad_command_line_are_job_files_and_targets() {
        let directory = std::env::temp_dir().join(format!("ferrio-kept-{}", std::process::id()));
        let name = |file: &str| directory.join(file).into_os_string().into_string().unwrap();
        let words = ["fio", "--output", &name("out"), &format!("--filename={}:{}", name("a"), name("b")), &name("job")];
        std::fs::create_dir_all(&directory).unwrap();
        let kept = of_words(&words.map(OsString::from), Vec::new());
        for (file, is_kept) in [("out", false), ("a", true), ("b", true), ("job", true)] {
            assert_eq!(check(Path::new(&name(file)), &kept).is_err(), is_kept, "{file}");
        }
        std::fs::remove_dir_all(directory).unwrap();
    }
}

//! Secrets as values of options: where they come from, and how a job keeps them.
//!
//! Must not know: which options are secret. Start reading at [`engine_secret`].

use crate::environment::Environment;
use crate::error::JobError;
use crate::options::OPTIONS;
use crate::options::definition::OptionDef;
use crate::refused_value::{RefusedValue, SecretError};
use crate::suggest::nearest;
use crate::value::Value;
use ferrio_spec::EngineValue;
use ferrio_spec::Secrecy;
use ferrio_spec::secret::{Secret, without_passwords};
use ferrio_units::error_text;
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

/// What stands before the name of a variable of the environment.
const FROM_VARIABLE: &str = "env:";

/// What stands before the path of a file.
const FROM_FILE: &str = "file:";

/// Most bytes of a file with a secret.
const MAX_BYTES: u64 = 64 << 10;

/// True if a value says where the secret is, and is none itself.
pub(super) fn is_source(text: &str) -> bool {
    text.starts_with(FROM_VARIABLE) || text.starts_with(FROM_FILE)
}

/// A line `NAME=VALUE`, or a word `--NAME=VALUE`, as outputs show it, whatever job it stands in: also where the name is nearly that
/// of a secret.
pub(crate) fn shown_line(text: &str) -> Cow<'_, str> {
    let Some((name, value)) = text.split_once('=') else { return Cow::Borrowed(text) };
    let called = name.trim().trim_start_matches('-');
    let secrets = || OPTIONS.iter().filter(|def| def.secrecy == Secrecy::Secret);
    let def = OPTIONS.iter().find(|def| def.names().any(|known| known == called)).or_else(|| {
        let (near, _) = nearest(called, secrets().map(|def| def.name)).filter(|(_, distance)| *distance <= 2)?;
        secrets().find(|def| def.name == near)
    });
    let shown = def.map_or_else(|| without_passwords(value), |def| def.shown(value));
    if shown == value { Cow::Borrowed(text) } else { Cow::Owned(format!("{name}={shown}")) }
}

/// The value of an engine's option as its job keeps it, if it is a secret or has one; `None`: it is shown as it is.
///
/// # Errors
/// The secret is not where the value says.
pub(super) fn engine_secret(
    def: &OptionDef,
    value: &Value,
    environment: &dyn Environment,
) -> Result<Option<EngineValue>, JobError> {
    let Value::Text(text) = value else { return Ok(None) };
    let shown = def.shown(text);
    let given = match def.secrecy {
        Secrecy::Secret => found(def.name, text, environment)?,
        _ if *shown == **text => return Ok(None),
        _ => text.clone(),
    };
    Ok(Some(EngineValue::Secret(Secret::new(shown, given))))
}

/// The secret that a value is, or says the place of.
fn found(name: &'static str, text: &str, environment: &dyn Environment) -> Result<String, JobError> {
    let refused = |why| RefusedValue::Secret { option: name, given: text.to_owned(), why }.into();
    let unread = |error| refused(SecretError::Unread(error_text(&error)));
    if let Some(variable) = text.strip_prefix(FROM_VARIABLE) {
        let value = environment.variable(variable).filter(|value| !value.is_empty());
        return value.ok_or_else(|| refused(SecretError::NoVariable));
    }
    let Some(path) = text.strip_prefix(FROM_FILE) else { return Ok(text.to_owned()) };
    let mut bytes = Vec::new();
    let file = environment.open(Path::new(path)).map_err(unread)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refused(SecretError::TooLarge(MAX_BYTES)));
    }
    let secret = String::from_utf8(bytes).map_err(|_| refused(SecretError::NotText))?;
    // An editor ends a file with a line break.
    let secret = secret.trim_end_matches(['\n', '\r']);
    if secret.is_empty() { Err(refused(SecretError::Empty)) } else { Ok(secret.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::find_private;
    use crate::testing::World;

    #[test]
    fn lines_have_no_secrets() {
        for (text, expected) in [
            ("http_s3_key=hush", "http_s3_key=***"),
            ("http_s3_kye=hush", "http_s3_kye=***"),
            (" http_pass = hush # x", " http_pass =***"),
            ("--http_host=ada:hush@h", "--http_host=ada:***@h"),
            ("http_pass=env:NAME", "http_pass=env:NAME"),
            ("uri=nbd://ada:hush@h", "uri=nbd://ada:***@h"),
            ("bs=4k", "bs=4k"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(shown_line(text), expected, "{text}");
        }
    }

    /// A path is no URL, whatever its name has in it: the file of that name is opened.
    #[test]
    fn names_of_urls_alone_lose_their_password() {
        let job = |name: &str| crate::testing::draft_of(&[("filename", name)]).expect("a name").job;
        let url = job("iscsi\\://ada%hush@h/i/0");
        assert_eq!(url.target.filenames, ["iscsi://ada%***@h/i/0"]);
        assert_eq!(url.engine.secret_names, [Secret::new("iscsi://ada%***@h/i/0", "iscsi://ada%hush@h/i/0")]);
        let path = job("/srv/a\\://ada\\:hush@h");
        assert_eq!((path.target.filenames[0].as_str(), path.engine.secret_names.len()), ("/srv/a://ada:hush@h", 0));
    }

    #[test]
    fn secrets_come_from_the_value_the_environment_or_a_file() {
        let mut world = World::default().with_file("key", "from a file\n");
        world.variables =
            [("KEY", "hush"), ("EMPTY", "")].map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let def = find_private("http", "http_s3_key").expect("the option");
        let kept = |text: &str| engine_secret(def, &Value::Text(text.to_owned()), &world);
        for (text, shown, value) in
            [("hush", "***", "hush"), ("env:KEY", "env:KEY", "hush"), ("file:key", "file:key", "from a file")]
        {
            assert_eq!(kept(text), Ok(Some(EngineValue::Secret(Secret::new(shown, value)))), "{text}");
        }
        for text in ["env:NONE", "env:EMPTY", "file:none"] {
            let error = kept(text).expect_err(text).line();
            assert!(error.starts_with(&format!("fio: http_s3_key={text}: ")), "{error}");
        }
    }
}

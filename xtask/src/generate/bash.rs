//! docs/completions/ferrio.bash: completion for bash.

use super::completion::{Completion, Value, completions};
use super::text::GENERATED;
use std::fmt::Write as _;

const BEGINNING: &str = r#"
_ferrio() {
    local current="${COMP_WORDS[COMP_CWORD]}" previous="" before="" name="" prefix="" words=""
    [ "$COMP_CWORD" -ge 1 ] && previous="${COMP_WORDS[COMP_CWORD-1]}"
    [ "$COMP_CWORD" -ge 2 ] && before="${COMP_WORDS[COMP_CWORD-2]}"
    # bash breaks --rw=read into three words, unless COMP_WORDBREAKS has no '='.
    if [ "$current" = "=" ]; then
        name="$previous" current=""
    elif [ "$previous" = "=" ]; then
        name="$before"
    elif [[ "$current" == --*=* ]]; then
        name="${current%%=*}" prefix="$name=" current="${current#*=}"
    else
        name="$previous"
    fi
    case "${name#--}" in
"#;

const END: &str = r#"    esac
    if [ -n "$words" ]; then
        mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$words" -- "$current")
    elif [[ "$current" == -* && -z "$prefix" ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$_ferrio_names" -- "$current")
        [[ "${COMPREPLY[0]-}" == *= ]] && compopt -o nospace
    elif [[ "$COMP_CWORD" -eq 1 && -n "$current" ]]; then
        mapfile -t COMPREPLY < <(compgen -W "quick verify help" -- "$current"; compgen -f -- "$current")
    fi
}

complete -o bashdefault -o default -F _ferrio ferrio
"#;

/// The document.
pub(super) fn render() -> String {
    let completions = completions();
    let mut text = format!("# {GENERATED}\n# shellcheck shell=bash\n\n_ferrio_names='\n");
    for completion in &completions {
        let equals = if completion.value == Value::Optional { "" } else { "=" };
        // Infallible here and below: writing to a String never fails.
        let _ = writeln!(text, "--{}{equals}", completion.name);
    }
    let _ = write!(text, "'\n{BEGINNING}");
    for completion in &completions {
        push_case(&mut text, completion);
    }
    text.push_str(END);
    text
}

fn push_case(text: &mut String, completion: &Completion) {
    if !completion.words.is_empty() {
        let _ = writeln!(text, "        {}) words='{}' ;;", completion.name, completion.words.join(" "));
    }
}

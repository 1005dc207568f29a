//! Completion for bash.

use super::native::NativeCommand;
use super::words::{Flag, FlagValue, flags_of_fio};
use std::fmt::Write as _;

const VALUES: &str = r#"    local current="${COMP_WORDS[COMP_CWORD]}" previous="" before="" name="" prefix="" words="" names="" command="" own="" n=1
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
    [[ "$name" == --* ]] || name=""
"#;

const END: &str = r#"    if [ -n "$words" ] && [ -n "$name" ]; then
        mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$words" -- "$current")
    elif [[ "$current" == -* && -z "$prefix" ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$names" -- "$current")
        [[ "${COMPREPLY[0]-}" == *= ]] && compopt -o nospace 2>/dev/null
    elif [ -n "$own" ] && [ "$COMP_CWORD" -eq "$n" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$own" -- "$current"; [ "$n" -gt 1 ] || compgen -f -- "$current")
        # A job file may be in the place of a command.
        [ "$n" -gt 1 ] || compopt -o filenames 2>/dev/null
    fi
}
"#;

pub(super) fn script(program: &str, native: &[NativeCommand]) -> String {
    let flags = flags_of_fio();
    let mut text = format!("# Completion of {program} for bash.\n# shellcheck shell=bash\n\n_{program}_names='\n");
    push_names(&mut text, &flags);
    // Infallible here and below: writing to a String never fails.
    let _ = write!(text, "'\n\n_{program}() {{\n{VALUES}");
    push_commands(&mut text, program, native);
    let _ = writeln!(text, "    if [ -z \"$command\" ]; then case \"${{name#--}}\" in");
    push_cases(&mut text, "        ", &flags);
    let _ = writeln!(text, "    esac; fi\n{END}\ncomplete -o bashdefault -o default -F _{program} {program}");
    text
}

/// What the first words mean: they choose `names`, `words`, and `own`, the words that may stand in place `n`.
fn push_commands(text: &mut String, program: &str, native: &[NativeCommand]) {
    let _ = writeln!(text, "    names=\"$_{program}_names\"");
    if native.is_empty() {
        return;
    }
    let _ = writeln!(text, "    own='{}'", words(native));
    let _ = writeln!(text, "    [ \"$COMP_CWORD\" -gt 1 ] && case \"${{COMP_WORDS[1]}}\" in");
    for command in native {
        push_command(text, program, command);
    }
    text.push_str("    esac\n");
}

fn push_command(text: &mut String, program: &str, command: &NativeCommand) {
    // The options of jobs stay beside those of the command.
    let (kept, chosen) =
        if command.takes_jobs { (format!("$_{program}_names "), "") } else { (String::new(), " command=1") };
    let own = if command.commands.is_empty() { command.operands.join(" ") } else { words(&command.commands) };
    let _ = writeln!(text, "        {})", command.name);
    let _ = writeln!(text, "            names=\"{kept}{}\" own='{own}' n=2{chosen}", names(&command.flags));
    push_values(text, &command.flags);
    if !command.commands.is_empty() {
        let _ = writeln!(text, "            [ \"$COMP_CWORD\" -gt 2 ] && case \"${{COMP_WORDS[2]}}\" in");
        for inner in &command.commands {
            let _ = writeln!(text, "            {})", inner.name);
            let _ =
                writeln!(text, "            names=\"{}\" own='{}' n=3", names(&inner.flags), inner.operands.join(" "));
            push_values(text, &inner.flags);
            text.push_str("            ;;\n");
        }
        text.push_str("            esac\n");
    }
    text.push_str("            ;;\n");
}

fn push_values(text: &mut String, flags: &[Flag]) {
    if flags.iter().any(|flag| !flag.words.is_empty()) {
        text.push_str("            case \"${name#--}\" in\n");
        push_cases(text, "                ", flags);
        text.push_str("            esac\n");
    }
}

fn push_cases(text: &mut String, indent: &str, flags: &[Flag]) {
    for flag in flags.iter().filter(|flag| !flag.words.is_empty()) {
        let _ = writeln!(text, "{indent}{}) words='{}' ;;", flag.name, flag.words.join(" "));
    }
}

fn push_names(text: &mut String, flags: &[Flag]) {
    for flag in flags {
        let _ = writeln!(text, "{}", name(flag));
    }
}

fn names(flags: &[Flag]) -> String {
    flags.iter().map(name).collect::<Vec<_>>().join(" ")
}

fn name(flag: &Flag) -> String {
    let equals = if flag.value == FlagValue::Optional { "" } else { "=" };
    format!("--{}{equals}", flag.name)
}

fn words(commands: &[NativeCommand]) -> String {
    commands.iter().map(|command| command.name.as_str()).collect::<Vec<_>>().join(" ")
}

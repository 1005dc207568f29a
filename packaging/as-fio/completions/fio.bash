# Completion of ferrio under the name fio.
# shellcheck shell=bash disable=SC1091
. /usr/share/bash-completion/completions/ferrio
complete -o bashdefault -o default -F _ferrio fio

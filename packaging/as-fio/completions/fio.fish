# Completion of ferrio under the name fio.
complete -c fio -w ferrio

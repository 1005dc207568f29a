#!/bin/bash
# Runs one load of a recipe with fio under strace and summarises it in the same way as the traces of the programs.
#   apt-get install fio strace
#   recipe.sh NAME.toml LOAD [seconds]
. "$(dirname "$0")/common.sh"
need fio strace python3
SECONDS_=${3:-15}
python3 -c 'import sys, tomllib; print(next(l["jobs"] for l in tomllib.load(open(sys.argv[1], "rb"))["load"] if l["name"] == sys.argv[2]))' "$1" "$2" >"$WORK/job.fio"
mkdir "$WORK/data"
nice -n 10 fio --directory="$WORK/data" --create_only=1 "$WORK/job.fio" >/dev/null
traced "$WORK/calls" fio --directory="$WORK/data" --time_based --runtime="$SECONDS_" "$WORK/job.fio" >/dev/null
CLASSES=$(grep -o '^\[[^]]*\]' "$WORK/job.fio" | tr -d '[]' | grep -v '^global$' | sed "s|\(.*\)|\1=/data/\1\\\\.[0-9]|")
"$HERE/analyse.py" "$WORK/calls" $CLASSES
[ -n "${KEEP:-}" ] || rm -rf "$WORK"

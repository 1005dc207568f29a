#!/bin/bash
# PostgreSQL 15 of Debian 12 under pgbench's TPC-B-like transactions at an offered rate.
#   apt-get install postgresql strace
#   postgresql.sh [transactions per second] [seconds] [scale]
# The default of 620 s is two checkpoints of the default 5 minutes; the first 305 s are left out of the summary.
. "$(dirname "$0")/common.sh"
need strace
BIN=/usr/lib/postgresql/15/bin
RATE=${1:-200} SECONDS_=${2:-620} SCALE=${3:-60}
chown postgres "$WORK"
as() { nice -n 10 setpriv --reuid postgres --regid postgres --clear-groups -- "$@"; }
cd "$WORK"
as $BIN/initdb -D "$WORK/data" -A trust >/dev/null
cat >>"$WORK/data/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$WORK'

CONF
as $BIN/pg_ctl -D "$WORK/data" -l "$WORK/log" -w start >/dev/null
as $BIN/createdb -h "$WORK" bench
as $BIN/pgbench -h "$WORK" -i -q -s "$SCALE" bench 2>/dev/null
as $BIN/pg_ctl -D "$WORK/data" -w stop >/dev/null
mkdir "$WORK/calls"; chown postgres "$WORK/calls"
as strace -ff -y -T -ttt -s 0 -e abbrev=none -e trace=$CALLS -o "$WORK/calls/t" $BIN/postgres -D "$WORK/data" 2>"$WORK/log2" &
for _ in $(seq 100); do as $BIN/pg_isready -q -h "$WORK" && break; sleep 0.3; done
as $BIN/pgbench -h "$WORK" -c 8 -j 1 -R "$RATE" -T "$SECONDS_" bench 2>&1 | egrep 'tps|latency|transactions'
kill -INT "$(head -1 "$WORK/data/postmaster.pid")"; wait || true
"$HERE/analyse.py" "$WORK/calls" 'wal=/pg_wal/' 'data=/base/' 'other=/(global|pg_xact|pg_multixact)/' --from "$((SECONDS_ / 2 - 5))" --to "$SECONDS_"
[ -n "${KEEP:-}" ] || rm -rf "$WORK"

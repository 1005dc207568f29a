#!/bin/bash
# MariaDB 10.11 (InnoDB) of Debian 12 under sysbench's read-write transactions.
#   apt-get install mariadb-server sysbench strace
# innodb_use_native_aio is off: Debian's build uses io_uring, whose requests no system call shows.
#   mariadb.sh [transactions per second] [seconds]
. "$(dirname "$0")/common.sh"
need mariadbd sysbench strace mariadb
RATE=${1:-40} SECONDS_=${2:-90}
mkdir "$WORK/data" "$WORK/calls"; chown -R mysql "$WORK"
OPTIONS="--no-defaults --datadir=$WORK/data --socket=$WORK/sock --skip-networking --pid-file=$WORK/pid
  --innodb-buffer-pool-size=64M --innodb-log-file-size=96M --innodb-flush-log-at-trx-commit=1 --innodb-doublewrite=1
  --innodb-use-native-aio=0 --innodb-flush-method=O_DIRECT --skip-log-bin
  --innodb-max-dirty-pages-pct-lwm=1 --innodb-adaptive-flushing=1 --innodb-io-capacity=200"
mariadb-install-db --no-defaults --datadir="$WORK/data" --user=mysql --auth-root-authentication-method=normal >/dev/null 2>&1
bench() { nice -n 10 sysbench oltp_read_write --mysql-socket="$WORK/sock" --mysql-user=root --mysql-db=bench --tables=4 --table-size=250000 --rand-type=uniform "$@"; }
up() { for _ in $(seq 200); do mariadb --no-defaults -S "$WORK/sock" -u root -e 'select 1' >/dev/null 2>&1 && break; sleep 0.3; done; }
nice -n 10 mariadbd $OPTIONS --user=mysql 2>"$WORK/log" & up
mariadb --no-defaults -S "$WORK/sock" -u root -e 'create database bench'
bench prepare >/dev/null
kill "$(cat "$WORK/pid")"; wait || true
traced "$WORK/calls" mariadbd $OPTIONS --user=mysql 2>"$WORK/log2" & up
bench --threads=8 --rate="$RATE" --time="$SECONDS_" run | egrep 'transactions:|avg|95th' || true
stop "$WORK/calls"
"$HERE/analyse.py" "$WORK/calls" 'redo=/ib_logfile' 'doublewrite-and-system=/ibdata1' 'undo=/undo' 'data=\.ibd$' --from 10 --to "$SECONDS_"
[ -n "${KEEP:-}" ] || rm -rf "$WORK"

#!/bin/bash
# SQLite 3.40 of Debian 12 in WAL mode: one writer with small transactions at an offered rate, one reader.
#   apt-get install python3 strace            (Python's module sqlite3 uses Debian's libsqlite3)
#   sqlite.sh [FULL|NORMAL] [transactions per second] [seconds]
. "$(dirname "$0")/common.sh"
need python3 strace
MODE=${1:-FULL} RATE=${2:-100} SECONDS_=${3:-60}
cat >"$WORK/load.py" <<'PY'
import random, sqlite3, sys, threading, time
path, mode, rate, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
rows = 400_000
if mode == "fill":
    make = sqlite3.connect(path, isolation_level=None)
    make.execute("pragma journal_mode=wal")
    make.execute("pragma synchronous=off")
    make.execute("create table item(id integer primary key, name text, body blob)")
    make.execute("create index item_name on item(name)")
    make.execute("begin")
    for i in range(rows):
        make.execute("insert into item values(?,?,?)", (i, f"n{random.randrange(10**9)}", random.randbytes(300)))
    make.execute("commit")
    make.execute("pragma wal_checkpoint(truncate)")
    make.close()
    sys.exit()
stop = time.time() + seconds
def reader():
    c = sqlite3.connect(path, isolation_level=None)
    c.execute("pragma cache_size=-2000")            # SQLite's default, 2 MB
    while time.time() < stop:
        c.execute("select * from item where id=?", (random.randrange(rows),)).fetchall()
        time.sleep(0.005)
def writer():
    c = sqlite3.connect(path, isolation_level=None)
    c.execute(f"pragma synchronous={mode}")
    due = time.time()
    while time.time() < stop:
        c.execute("begin immediate")
        i = random.randrange(rows)
        c.execute("update item set body=? where id=?", (random.randbytes(300), i))
        c.execute("insert into item(name, body) values(?,?)", (f"n{random.randrange(10**9)}", random.randbytes(100)))
        c.execute("commit")
        due += random.expovariate(rate)
        time.sleep(max(0, due - time.time()))
threads = [threading.Thread(target=reader), threading.Thread(target=writer)]
[t.start() for t in threads]
[t.join() for t in threads]
PY
nice -n 10 python3 "$WORK/load.py" "$WORK/app.db" fill 0 0
traced "$WORK/calls" python3 "$WORK/load.py" "$WORK/app.db" "$MODE" "$RATE" "$SECONDS_"
"$HERE/analyse.py" "$WORK/calls" 'wal=app\.db-wal$' 'database=app\.db$' --from 3
[ -n "${KEEP:-}" ] || rm -rf "$WORK"

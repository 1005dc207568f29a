#!/bin/bash
# Redis 7.0 of Debian 12 with its append-only file (appendfsync everysec): 20 clients that set values at an offered rate.
#   apt-get install redis-server python3 strace
#   redis.sh [everysec|always] [SETs a second] [seconds]
. "$(dirname "$0")/common.sh"
need redis-server python3 strace
MODE=${1:-everysec} RATE=${2:-2000} SECONDS_=${3:-60}
cat >"$WORK/load.py" <<'PY'
import os, random, socket, sys, threading, time
path, rate, seconds, clients = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), 20
stop = time.time() + seconds
def client():
    s = socket.socket(socket.AF_UNIX); s.connect(path)
    due = time.time()
    while time.time() < stop:
        key, value = b"user:%d" % random.randrange(10**6), os.urandom(random.choice((50, 200, 800)))
        s.sendall(b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (len(key), key, len(value), value))
        s.recv(64)
        due += random.expovariate(rate / clients)
        time.sleep(max(0, due - time.time()))
threads = [threading.Thread(target=client) for _ in range(clients)]
[t.start() for t in threads]; [t.join() for t in threads]
PY
traced "$WORK/calls" redis-server --port 0 --unixsocket "$WORK/sock" --dir "$WORK" --appendonly yes --appendfsync "$MODE" --save "" --daemonize no >"$WORK/log" &
for _ in $(seq 100); do [ -S "$WORK/sock" ] && break; sleep 0.1; done
nice -n 10 python3 "$WORK/load.py" "$WORK/sock" "$RATE" "$SECONDS_"
stop "$WORK/calls"
"$HERE/analyse.py" "$WORK/calls" 'log=/appendonlydir/.*\.aof' --from 3 --to "$SECONDS_"
[ -n "${KEEP:-}" ] || rm -rf "$WORK"

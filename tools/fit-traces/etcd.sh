#!/bin/bash
# etcd 3.4 of Debian 12 under the load of its own check: 150 puts/s, 60 s, one member on loopback.
#   apt-get install etcd-server etcd-client strace
. "$(dirname "$0")/common.sh"
need etcd etcdctl strace
LOAD=${1:-s}
traced "$WORK/calls" etcd --data-dir "$WORK/data" --listen-client-urls http://127.0.0.1:23790 \
    --advertise-client-urls http://127.0.0.1:23790 --listen-peer-urls http://127.0.0.1:23800 \
    --initial-advertise-peer-urls http://127.0.0.1:23800 --initial-cluster default=http://127.0.0.1:23800 \
    --log-level error 2>"$WORK/etcd.log" &
export ETCDCTL_API=3
for _ in $(seq 100); do etcdctl --endpoints=http://127.0.0.1:23790 endpoint health >/dev/null 2>&1 && break; sleep 0.2; done
nice -n 10 etcdctl --endpoints=http://127.0.0.1:23790 check perf --load="$LOAD" 2>&1 | tr '\r' '\n' | tail -8 || true
stop "$WORK/calls"
"$HERE/analyse.py" "$WORK/calls" 'wal=\.wal$' 'backend=/snap/db$' 'snapshot=\.snap' 'tmp=\.tmp$'
rm -rf "$WORK"

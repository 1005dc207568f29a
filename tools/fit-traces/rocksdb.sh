#!/bin/bash
# RocksDB 7.8 of Debian 12 under its own db_bench: random reads beside a writer of limited rate, with compaction.
#   apt-get install rocksdb-tools strace
#   rocksdb.sh [seconds] [keys] [writes per second]
. "$(dirname "$0")/common.sh"
need db_bench strace
SECONDS_=${1:-60} KEYS=${2:-3000000} WRITES=${3:-10000}
COMMON="--db=$WORK/db --num=$KEYS --key_size=16 --value_size=400 --compression_type=none --write_buffer_size=16777216
  --target_file_size_base=16777216 --max_bytes_for_level_base=67108864 --cache_size=33554432 --bloom_bits=10 --max_background_jobs=2
  --threads=1 --statistics=0 --histogram=0"
nice -n 10 db_bench $COMMON --benchmarks=filluniquerandom,waitforcompaction >/dev/null 2>&1 || nice -n 10 db_bench $COMMON --benchmarks=fillrandom >/dev/null
du -sm "$WORK/db"
traced "$WORK/calls" db_bench $COMMON --use_existing_db=1 --benchmarks=readwhilewriting --threads=4 \
    --benchmark_write_rate_limit=$((WRITES * 416)) --duration="$SECONDS_" 2>&1 | tail -2
"$HERE/analyse.py" "$WORK/calls" 'wal=/db/\d+\.log$' 'tables=/db/\d+\.sst$' 'manifest=MANIFEST' --from 3
[ -n "${KEEP:-}" ] || rm -rf "$WORK"

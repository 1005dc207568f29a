# Common parts of the tracing scripts; sourced by them.
set -eu
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WORK=${WORK:-$(mktemp -d /tmp/recipe-trace.XXXXXX)}
chmod 755 "$WORK"
CALLS=read,pread64,readv,preadv,preadv2,write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,sync_file_range,syncfs,msync,io_submit,io_uring_enter,openat,ftruncate,fallocate,copy_file_range
# traced DIR COMMAND...: runs COMMAND under strace, one file of calls per thread in DIR
traced() {
    local dir=$1; shift
    mkdir -p "$dir"
    nice -n 10 strace -ff -y -T -ttt -s 0 -e abbrev=none -e trace=$CALLS -o "$dir/t" \
        sh -c 'echo $$ >"$0"; exec "$@"' "$dir/pid" "$@"
}
# stop DIR [SIGNAL]: ends the program that `traced DIR` runs in the background, and waits for strace
stop() { kill "-${2:-TERM}" "$(cat "$1/pid")" || true; wait || true; }
need() { for p in "$@"; do command -v "$p" >/dev/null || { echo "$p is missing: apt-get install it" >&2; exit 1; }; done; }

#!/bin/bash
# Prometheus 2.42 of Debian 12: four targets of 2,000 series each, a scrape every 2 s, blocks of one minute instead of
# two hours so that the trace holds the writing and the merging of blocks.
#   apt-get install prometheus python3 strace
#   prometheus.sh [seconds]
. "$(dirname "$0")/common.sh"
need prometheus python3 strace
SECONDS_=${1:-240}
cat >"$WORK/targets.py" <<'PY'
import http.server, random, threading
def page():
    r = random.random
    return "".join(f'load_value{{unit="{i}",zone="z{i % 7}",kind="k{i % 13}"}} {r() * 1e6:.3f}\n' for i in range(2000)).encode()
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = page(); self.send_response(200); self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body))); self.end_headers(); self.wfile.write(body)
    def log_message(self, *a): pass
for port in range(19110, 19114):
    threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", port), H).serve_forever).start()
PY
cat >"$WORK/prometheus.yml" <<CONF
global: { scrape_interval: 2s }
scrape_configs: [ { job_name: load, static_configs: [ { targets: ['127.0.0.1:19110','127.0.0.1:19111','127.0.0.1:19112','127.0.0.1:19113'] } ] } ]
CONF
nice -n 10 python3 "$WORK/targets.py" & TARGETS=$!
traced "$WORK/calls" prometheus --config.file="$WORK/prometheus.yml" --storage.tsdb.path="$WORK/data" \
    --web.listen-address=127.0.0.1:19090 --storage.tsdb.min-block-duration=1m --storage.tsdb.max-block-duration=3m \
    --log.level=error 2>"$WORK/log" & PROM=$!
sleep "$SECONDS_"
kill "$(cat "$WORK/calls/pid")" || true; wait $PROM || true; kill $TARGETS || true
"$HERE/analyse.py" "$WORK/calls" 'wal=/data/wal/' 'head-chunks=/chunks_head/' 'blocks=/data/.*(chunks|index|meta|tombstones)' --from 5
[ -n "${KEEP:-}" ] || rm -rf "$WORK"

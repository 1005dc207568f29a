#!/usr/bin/env python3
"""Checks recipes: keys, lengths, the rules for jobs, and every job file with fio.

    check.py [--run SECONDS] NAME.toml...

Without --run each job file is only parsed (fio --parse-only). With --run it also runs for SECONDS in a
temporary directory, and the figures that the limits name are printed.
"""
import json, os, re, shutil, subprocess, sys, tempfile, tomllib

TOP = {"name", "title", "about", "load", "limit", "trace"}
LOAD = {"name", "about", "seconds", "jobs", "scale"}
LIMIT = {"load", "job", "figure", "most", "least", "means", "source"}
SOURCE = {"title", "url", "year", "says"}
TRACE = {"program", "load", "how", "figure", "difference"}
KINDS, METRICS = {"read", "write", "trim", "sync"}, {"iops", "bw", "mean", "p50", "p95", "p99", "p99.9", "p99.99", "max"}
FORBIDDEN = re.compile(r"^(filename|directory|runtime|time_based|output.*|write_.*_log|status-interval)\b", re.M)
UNIT = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def say(path, text):
    print(f"{os.path.basename(path)}: {text}")
    global bad
    bad = True


def figure(job, text):
    kind, metric = text.split(".", 1)
    side = job["sync"] if kind == "sync" else job[kind]
    if metric == "iops":
        return side["iops"]
    if metric == "bw":
        return side["bw_bytes"] / 1e6
    lat = side["lat_ns"] if kind == "sync" else side["clat_ns"]
    if metric in ("mean", "max"):
        return lat[metric] / 1e6
    return lat["percentile"][f"{float(metric[1:]):.6f}"] / 1e6


def check(path, seconds):
    r = tomllib.load(open(path, "rb"))
    for keys, table, where in [(TOP, [r], "top")] + [(LOAD, r.get("load", []), "load"), (LIMIT, r.get("limit", []), "limit"),
                                                     (SOURCE, [l["source"] for l in r.get("limit", [])], "source"),
                                                     (TRACE, r.get("trace", []), "trace")]:
        for t in table:
            if set(t) - keys:
                say(path, f"unknown keys in {where}: {set(t) - keys}")
    for k in ("name", "title", "about", "load"):
        if k not in r:
            say(path, f"no {k}")
    if r["name"] + ".toml" != os.path.basename(path) or not re.fullmatch("[a-z0-9-]+", r["name"]):
        say(path, "name differs from the file's")
    if len(r["title"]) > 70:
        say(path, f"title has {len(r['title'])} characters")
    sections = {}
    for l in r["load"]:
        if set(l) != LOAD:
            say(path, f"load {l.get('name')}: keys {LOAD - set(l)} are missing")
        if FORBIDDEN.search(l["jobs"]):
            say(path, f"load {l['name']}: forbidden option {FORBIDDEN.search(l['jobs']).group(0)}")
        if not 30 <= l["seconds"] <= 120:
            say(path, f"load {l['name']}: {l['seconds']} s")
        if set(l["scale"]) - {"rate_iops", "rate", "numjobs", "iodepth"}:
            say(path, f"load {l['name']}: scale {l['scale']}")
        for s in l["scale"]:
            if not re.search(rf"^{s}=", l["jobs"], re.M):
                say(path, f"load {l['name']}: scale names {s}, which no job has")
        sections[l["name"]] = [s for s in re.findall(r"^\[(.+)\]", l["jobs"], re.M) if s != "global"]
    for l in r.get("limit", []):
        kind, metric = l["figure"].split(".", 1)
        if l["job"] not in sections.get(l["load"], []):
            say(path, f"limit on {l['load']}/{l['job']}, which is not there")
        if kind not in KINDS or metric not in METRICS:
            say(path, f"limit's figure {l['figure']}")
        if ("most" in l) == ("least" in l):
            say(path, "a limit needs most or least")
        value = l.get("most", l.get("least"))
        pattern = {"iops": r"\d+(\.\d+)?", "bw": r"\d+(\.\d+)?(MB|GB)/s"}.get(metric, r"\d+(\.\d+)?(ns|us|ms|s)")
        if not re.fullmatch(pattern, value):
            say(path, f"limit's value {value}")
        if set(l["source"]) != SOURCE:
            say(path, "source is incomplete")
    for t in r.get("trace", []):
        if t["load"] not in sections:
            say(path, f"trace of load {t['load']}")
        for f in t.get("figure", []):
            if set(f) != {"name", "traced", "recipe"} or not all(isinstance(f[k], float) for k in ("traced", "recipe")):
                say(path, f"trace figure {f}")
            elif abs(f["traced"] - f["recipe"]) > 0.1 * max(abs(f["traced"]), 1e-9):
                print(f"  {r['name']}: figure differs by more than 10 %: {f['name']} {f['traced']} / {f['recipe']}")
    for l in r["load"]:
        d = tempfile.mkdtemp(prefix="recipe-check-", dir="/tmp")
        job = os.path.join(d, "job.fio")
        open(job, "w").write(l["jobs"])
        p = subprocess.run(["fio", "--parse-only", job], capture_output=True, text=True)
        if p.returncode or p.stderr.strip():
            say(path, f"load {l['name']}: fio --parse-only: {p.stdout} {p.stderr}")
        elif seconds:
            p = subprocess.run(["nice", "-n", "10", "fio", f"--directory={d}", "--time_based", f"--runtime={seconds}",
                                "--output-format=json", job], capture_output=True, text=True)
            size = int(subprocess.run(["du", "-sm", "--apparent-size", d], capture_output=True, text=True).stdout.split()[0])
            try:
                jobs = json.loads(p.stdout[p.stdout.index("{"):])["jobs"]
            except ValueError:
                jobs = []
            if p.returncode or not jobs or any(j["error"] for j in jobs) or "signal" in p.stderr + p.stdout:
                say(path, f"load {l['name']}: fio failed: {p.returncode} {p.stderr[:600]} {p.stdout[:300]}")
            else:
                for j in jobs:
                    kinds = [f"{k} {j[k]['iops']:.0f}/s {j[k]['bw_bytes'] / 1e6:.2f} MB/s mean {j[k]['bw_bytes'] / max(j[k]['iops'], 1e-9):.0f} B"
                             for k in ("read", "write") if j[k]["total_ios"]]
                    s = j["sync"]
                    n = s["total_ios"] or s["lat_ns"].get("N", 0)
                    if n:
                        ios = j["write"]["total_ios"] or 1
                        kinds.append(f"syncs {n / ios:.3f} per write")
                    print(f"  {r['name']}/{l['name']}/{j['jobname']}: {'; '.join(kinds)}")
                for m in r.get("limit", []):
                    if m["load"] == l["name"]:
                        mine = [j for j in jobs if j["jobname"] == m["job"]]
                        if len(mine) != 1:
                            print(f"    limit on {m['job']}: {len(mine)} jobs of this name")
                        print(f"    {m['job']} {m['figure']} = {figure(mine[0], m['figure']):.3f} (ms, MB/s or IOPS); limit {m.get('most', '') and 'at most ' + m['most']}{m.get('least', '') and 'at least ' + m['least']}")
                print(f"    {size} MiB laid out")
        shutil.rmtree(d)


bad = False
args = sys.argv[1:]
seconds = 0
if args and args[0] == "--run":
    seconds, args = int(args[1]), args[2:]
for a in args:
    check(a, seconds)
sys.exit(bad)

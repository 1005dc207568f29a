#!/usr/bin/env python3
"""Summaries of the storage system calls of a traced program.

    analyse.py DIR CLASS=REGEX [CLASS=REGEX ...] [--from SECONDS] [--to SECONDS]

DIR holds the files of `strace -ff -y -T -ttt -o DIR/t` (one file per thread, so that no call
is cut in two).  Every call on a file whose path matches REGEX (first match counts) goes to CLASS.
For each class the program prints: calls, sizes (median, p90, mean, commonest), the share of reads,
the share of calls that begin where the call before it on the same file ended (sequential share; a second
figure also counts calls that begin up to 64 KiB earlier, as a log does that rewrites its last page),
syncs, writes per sync, calls in flight (time-weighted mean while at least one was in flight, and the
highest), rates per second, and the same for offsets.
"""
import collections, glob, os, re, sys

READ = {"read", "pread64", "readv", "preadv", "preadv2"}
WRITE = {"write", "pwrite64", "writev", "pwritev", "pwritev2"}
SYNC = {"fsync", "fdatasync", "sync_file_range", "msync", "syncfs"}
HEAD = re.compile(r"^(\d+\.\d+) (\w+)\((.*)$")
TAIL = re.compile(r"\)\s+= (-?\d+|0x[0-9a-f]+)(?:<[^>]*>)?(?: [A-Z]+ \([^)]*\))?(?: <(\d+\.\d+)>)?$")
FD = re.compile(r"^(\d+)<([^>]*)>")
IOCB = re.compile(r"aio_lio_opcode=IOCB_CMD_(PREAD|PWRITE|PREADV|PWRITEV|FSYNC|FDSYNC)[^}]*?aio_fildes=\d+<([^>]*)>"
                  r"(?:[^}]*?aio_nbytes=(\d+))?(?:[^}]*?aio_offset=(\d+))?")


def events(directory):
    for path in glob.glob(os.path.join(directory, "t.*")):
        for line in open(path, errors="replace"):
            head = HEAD.match(line)
            if not head:
                continue
            tail = TAIL.search(line)
            if not tail or tail.group(1).startswith("-"):
                continue
            start, call, args = float(head.group(1)), head.group(2), head.group(3)
            took = float(tail.group(2) or 0)
            if call == "io_submit":
                for op, file, size, offset in IOCB.findall(args):
                    kind = "read" if "READ" in op else "write" if "WRITE" in op else "sync"
                    yield start, took, kind, "aio", file, int(size or 0), int(offset or 0)
                continue
            fd = FD.match(args)
            if not fd:
                continue
            body = line[: tail.start()]
            if call in READ or call in WRITE:
                kind = "read" if call in READ else "write"
                size = int(tail.group(1), 0)
                offset = None
                if call in ("pread64", "pwrite64", "preadv", "pwritev"):
                    last = re.search(r", (\d+)$", body)
                    offset = int(last.group(1)) if last else None
                yield start, took, kind, call, fd.group(2), size, offset
            elif call in SYNC:
                yield start, took, "sync", call, fd.group(2), 0, None


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else 0


def depth(spans):
    edges = sorted([(a, 1) for a, _ in spans] + [(b, -1) for _, b in spans])
    now, last, busy, area, top = 0, None, 0.0, 0.0, 0
    for at, step in edges:
        if now > 0:
            busy += at - last
            area += now * (at - last)
        now += step
        top = max(top, now)
        last = at
    return (area / busy if busy else 0.0), top


def main():
    args, classes, begin, end = sys.argv[1:], [], 0.0, 1e18
    directory = args.pop(0)
    while args:
        word = args.pop(0)
        if word == "--from":
            begin = float(args.pop(0))
        elif word == "--to":
            end = float(args.pop(0))
        else:
            name, _, pattern = word.partition("=")
            classes.append((name, re.compile(pattern)))
    all_events = sorted(events(directory))
    if not all_events:
        sys.exit("no calls found")
    zero = all_events[0][0]
    groups, other, position = collections.defaultdict(list), collections.Counter(), {}
    for start, took, kind, call, file, size, offset in all_events:
        if kind != "sync":
            if offset is None:                     # read()/write() go on from where the last one ended
                sequential = follows = True
            else:
                ended = position.get((file, kind))
                sequential = ended == offset
                follows = ended is not None and ended - 65536 <= offset <= ended
                position[(file, kind)] = offset + size
        else:
            sequential = follows = None
        if not begin <= start - zero <= end:
            continue
        for name, pattern in classes:
            if pattern.search(file):
                groups[name].append((start, took, kind, call, file, size, offset, sequential, follows))
                break
        else:
            if file.startswith("/") and not file.startswith(("/proc", "/sys", "/dev", "/etc", "/usr", "/lib")):
                other[re.sub(r"\d+", "#", file)] += 1
    for name, _ in classes:
        calls = groups.get(name, [])
        if not calls:
            print(f"{name}: no calls\n")
            continue
        seconds = max(c[0] for c in calls) - min(c[0] for c in calls) or 1e-9
        print(f"{name}: {len(calls)} calls in {seconds:.1f} s, {len({c[4] for c in calls})} files")
        reads = sum(1 for c in calls if c[2] == "read")
        writes = sum(1 for c in calls if c[2] == "write")
        syncs = sum(1 for c in calls if c[2] == "sync")
        if reads + writes:
            print(f"  share of reads {100 * reads / (reads + writes):.1f} %")
        for kind in ("read", "write"):
            mine = [c for c in calls if c[2] == kind]
            if not mine:
                continue
            sizes = [c[5] for c in mine]
            common = ", ".join(f"{s} B {100 * n / len(sizes):.0f} %" for s, n in collections.Counter(sizes).most_common(6))
            mean_depth, top = depth([(c[0], c[0] + c[1]) for c in mine])
            print(f"  {kind}s: {len(mine)}, {len(mine) / seconds:.1f}/s, {sum(sizes) / seconds / 1e6:.3f} MB/s, "
                  f"calls {dict(collections.Counter(c[3] for c in mine))}")
            print(f"    size: median {quantile(sizes, .5)}, p90 {quantile(sizes, .9)}, p99 {quantile(sizes, .99)}, "
                  f"max {max(sizes)}, mean {sum(sizes) / len(sizes):.0f}; commonest {common}")
            print(f"    sequential {100 * sum(1 for c in mine if c[7]) / len(mine):.1f} %, "
                  f"or at most 64 KiB before that end {100 * sum(1 for c in mine if c[8]) / len(mine):.1f} %; "
                  f"in flight mean {mean_depth:.2f}, most {top}")
            took = [c[1] for c in mine]
            print(f"    took: median {quantile(took, .5) * 1e6:.0f} us, p99 {quantile(took, .99) * 1e6:.0f} us")
        mine = [c for c in calls if c[2] == "sync"]
        if mine:
            mean_depth, top = depth([(c[0], c[0] + c[1]) for c in mine])
            took = [c[1] for c in mine]
            # writes between two syncs of one file
            since, runs, volume, volumes = collections.Counter(), [], collections.Counter(), []
            for c in calls:
                if c[2] == "write":
                    since[c[4]] += 1
                    volume[c[4]] += c[5]
                elif c[2] == "sync":
                    runs.append(since[c[4]])
                    volumes.append(volume[c[4]])
                    since[c[4]] = volume[c[4]] = 0
            print(f"  syncs: {syncs}, {syncs / seconds:.1f}/s, calls {dict(collections.Counter(c[3] for c in mine))}; "
                  f"syncs per write {syncs / writes if writes else 0:.3f}")
            print(f"    writes before a sync: median {quantile(runs, .5)}, p90 {quantile(runs, .9)}, mean {sum(runs) / len(runs):.2f}; "
                  f"bytes before a sync: median {quantile(volumes, .5)}, mean {sum(volumes) / len(volumes):.0f}")
            print(f"    in flight mean {mean_depth:.2f}, most {top}; took: median {quantile(took, .5) * 1e6:.0f} us, "
                  f"p99 {quantile(took, .99) * 1e6:.0f} us, max {max(took) * 1e6:.0f} us")
        print()
    if other:
        print("outside of the classes: " + ", ".join(f"{f} {n}" for f, n in other.most_common(12)))


main()

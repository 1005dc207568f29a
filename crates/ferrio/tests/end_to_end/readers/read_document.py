"""Reads a JSON document as analysts do: one row a job, columns by the path of their keys."""

import json
import sys

import pandas

with open(sys.argv[1]) as stream:
    table = pandas.json_normalize(json.load(stream)["jobs"])
columns = ["read.io_bytes", "write.total_ios", "read.iops", "write.clat_ns.mean", "usr_cpu"]
answer = {
    "rows": len(table),
    "names": list(table["jobname"]),
    "sums": {column: float(table[column].sum()) for column in columns},
    "largest_99": float(table["read.clat_ns.percentile.99.000000"].max()),
}
print(json.dumps(answer))

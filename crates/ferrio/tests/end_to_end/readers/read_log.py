"""Reads a performance log as analysts do: what each direction has, by the named column."""

import json
import sys

import pandas

COLUMNS = ["time", "value", "ddir", "bs", "prio"]
WITH_OFFSET = ["time", "value", "ddir", "bs", "offset", "prio"]

answer = {}
for name in sys.argv[1:]:
    with open(name) as stream:
        n_columns = stream.readline().count(",") + 1
    names = WITH_OFFSET if n_columns == len(WITH_OFFSET) else COLUMNS
    table = pandas.read_csv(name, header=None, names=names, index_col=False, skipinitialspace=True)
    of_directions = table.groupby("ddir")["value"].agg(["count", "sum", "mean", "min", "max"])
    answer[name] = {
        "rows": len(table),
        "types": sorted({str(kind) for kind in table.dtypes}),
        "first_ms": int(table["time"].min()),
        "last_ms": int(table["time"].max()),
        "bytes": int(table["bs"].sum()),
        "offsets": int(table["offset"].nunique()) if "offset" in table else 0,
        "directions": {str(key): row.to_dict() for key, row in of_directions.iterrows()},
    }
print(json.dumps(answer))

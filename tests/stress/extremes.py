"""Trace files with too much of one thing, each a function (path, size): written as it goes.

`size` is the number of whatever there is too much of; SIZES has what the product promises to bear.
"""

import gzip
import json

SIZES = {
    "many_names": 1_000_000,
    "long_text": 100_000_000,  # bytes
    "one_time": 10_000_000,
    "deep": 100_000,
    "many_threads": 100_000,
    "century": 1000,
    "many_series": 10_000,
    "many_arguments": 100_000,
}


def slices(path, rows):
    """A file of rows (JSON texts), with a step around them."""
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"schemaVersion":1,"traceEvents":[\n')
        file.write(
            '{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":1,"dur":9}'
        )
        for row in rows:
            file.write(",\n")
            file.write(row)
        file.write("\n]}\n")


def op(name, ts, dur, tid=1, more=""):
    times = f'"ts":{ts},"dur":{dur}{more}'
    return f'{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":{tid},{times}}}'


def many_names(path, size):
    slices(path, (op(f"aten::op_{i}_with_a_name_of_its_own", 10 + i, 1) for i in range(size)))


def long_text(path, size):
    text = "x" * size
    slices(
        path, [op("aten::mm", 10, 5, more=f',"args":{{"note":"{text}"}}'), op("aten::mm", 20, 5)]
    )


def one_time(path, size):
    slices(path, (op("aten::same", 10, 1) for _ in range(size)))


def deep(path, size):
    slices(path, (op("aten::nested", 10 + i, 2 * (size - i)) for i in range(size)))


def many_threads(path, size):
    def rows():
        for i in range(size):
            name = f'"name":"thread_name","pid":1,"tid":{i + 2},"args":{{"name":"worker {i}"}}'
            yield f'{{"ph":"M","ts":0,{name}}}'
            yield op("aten::mm", 10 + i % 100, 5, tid=i + 2)

    slices(path, rows())


def century(path, size):
    year = 365 * 24 * 3600 * 1_000_000
    slices(path, (op("aten::yearly", year * 110 * i // size, 1000) for i in range(size)))


def many_series(path, size):
    def rows():
        for at in range(20):
            for i in range(size):
                value = f'"args":{{"value":{at * i % 97}}}'
                yield f'{{"ph":"C","name":"series {i}","pid":1,"tid":1,"ts":{10 + at},{value}}}'

    slices(path, rows())


def many_arguments(path, size):
    arguments = ",".join(f'"key {i}":{i}' for i in range(size))
    slices(path, [op("aten::mm", 10, 5, more=f',"args":{{{arguments}}}')])


def wrong_checksum(path, size=1000):
    """A whole gzip whose checksum is of something else."""
    rows = [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1}] * size
    rows = [{**row, "ts": 10 * i, "dur": 5} for i, row in enumerate(rows)]
    packed = bytearray(gzip.compress(json.dumps({"traceEvents": rows}).encode()))
    packed[-8] ^= 1
    with open(path, "wb") as file:
        file.write(packed)

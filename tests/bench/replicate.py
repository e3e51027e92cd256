#!/usr/bin/env python3
"""A larger trace from a real one: copies of its events one after another in time.

    replicate.py IN.json[.gz] OUT.json.gz --megabytes 200

Works on the text of each event, so that decimals, key order and white space stay as written. Copies
after the first get later `ts` and other ids, so that launches, flows and steps link within a copy;
metadata rows and the rows that exist once in a trace are written once.
"""

import argparse
import gzip
import re
import zlib

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')
SHIFTED = re.compile(
    r'(?P<ts>(?<="ts":)\s*-?\d+)'
    r'|(?P<id>(?<="id":)\s*\d+'
    r'|(?<="correlation":)\s*\d+'
    r'|(?<="wait_on_cuda_event_record_corr_id":)\s*\d+'
    r'|(?<="[Ee]xternal id":)\s*"?\d+)'
    r"|(?P<step>(?<=ProfilerStep#)\d+)"
)
ONCE = re.compile(r'"ph":\s*"M"|"cat":\s*"Trace"|"Iteration Start|"Record Window')
DURATION = re.compile(r'"dur":\s*(\d+)')
ID_STEP = 10_000_000
GAP_US = 10_000


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()


def events_of(text):
    """(text before the first event, events, text after the last one)."""
    opening = re.compile(r'"traceEvents"\s*:\s*\[').search(text)
    if opening is None:
        raise SystemExit("the file has no traceEvents")
    events, depth, start, end = [], 0, 0, opening.end()
    for token in TOKEN.finditer(text, opening.end()):
        character = token.group()
        if character in ("{", "["):
            if depth == 0:
                start = token.start()
            depth += 1
        elif character in ("}", "]"):
            if depth == 0:  # the end of traceEvents
                break
            depth -= 1
            if depth == 0:
                end = token.end()
                events.append(text[start:end])
    return text[: opening.end()], events, text[end:]


def pieces(event):
    """The event cut at what is shifted: [literal, (kind, prefix, number), literal, …]."""
    cut, at = [], 0
    for match in SHIFTED.finditer(event):
        value = match.group()
        digits = re.search(r"-?\d+$", value).start()
        cut += [event[at : match.start()] + value[:digits], (match.lastgroup, int(value[digits:]))]
        at = match.end()
    return cut + [event[at:]]


def span_of(cut_events, events):
    """Microseconds from the first start to the last end of what is repeated."""
    first, last, steps = None, 0, set()
    for cut, event in zip(cut_events, events):
        duration = DURATION.search(event)
        for part in cut:
            if isinstance(part, tuple) and part[0] == "ts" and part[1] > 0:
                first = part[1] if first is None else min(first, part[1])
                last = max(last, part[1] + (int(duration.group(1)) if duration else 0) + 1)
            elif isinstance(part, tuple) and part[0] == "step":
                steps.add(part[1])
    return last - (first or 0) + GAP_US, len(steps)


def copy_of(cut_events, shift):
    return ",\n".join(
        "".join(p if isinstance(p, str) else str(p[1] + shift[p[0]]) for p in cut)
        for cut in cut_events
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--megabytes", type=float, required=True, help="of JSON, at least")
    options = parser.parse_args()

    head, events, tail = events_of(read(options.source))
    once = [event for event in events if ONCE.search(event)]
    events = [event for event in events if not ONCE.search(event)]
    cut_events = [pieces(event) for event in events]
    span, steps = span_of(cut_events, events)
    wanted, written, copies = options.megabytes * 1e6, 0, 0
    with open(options.target, "wb") as file:
        deflate = zlib.compressobj(1, wbits=31)

        def write(text):
            nonlocal written
            data = text.encode()
            written += len(data)
            file.write(deflate.compress(data))

        write(head + "\n" + ",\n".join(once))
        while written < wanted:
            shift = {"ts": copies * span, "id": copies * ID_STEP, "step": copies * steps}
            write((",\n" if once or copies else "") + copy_of(cut_events, shift))
            copies += 1
        write(tail)
        file.write(deflate.flush())
    print(f"{copies} copies, {written} bytes, {len(once) + copies * len(events)} events")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes tb_backend/api/summary.schema.json, the JSON Schema of what `traceglass summary --format
json` prints, from the components of openapi.yaml; --check only compares."""

import json
import os
import sys

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
API = os.path.join(ROOT, "tb_backend", "api")
TARGET = os.path.join(API, "summary.schema.json")
COMPONENTS = "#/components/schemas/"


def moved(node, used):
    """A copy with references into `$defs`; names referred to are added to `used`."""
    if isinstance(node, list):
        return [moved(item, used) for item in node]
    if not isinstance(node, dict):
        return node
    copy = {key: moved(value, used) for key, value in node.items()}
    reference = node.get("$ref", "")
    if reference.startswith(COMPONENTS):
        used.append(reference.removeprefix(COMPONENTS))
        copy["$ref"] = "#/$defs/" + used[-1]
    return copy


def schema():
    with open(os.path.join(API, "openapi.yaml"), encoding="utf-8") as file:
        components = yaml.safe_load(file)["components"]["schemas"]
    error = {
        "type": "object",
        "required": ["path", "code", "message"],
        "additionalProperties": False,
        "properties": {
            "path": {"type": "string"},
            "code": {"enum": ["empty", "not_a_trace", "broken", "unreadable"]},
            "message": {"type": "string", "minLength": 1},
            "offset": {"type": "integer", "description": "byte of the inflated text"},
        },
    }
    properties = {
        "schema": {"const": "traceglass.summary/1"},
        "traces": {"type": "array", "items": {"$ref": COMPONENTS + "SummaryTrace"}},
        "errors": {"type": "array", "items": error},
        "collectives": {"type": "array", "items": {"$ref": COMPONENTS + "Collective"}},
    }
    used = []
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "traceglass.summary/1",
        "description": "What `traceglass summary --format json` prints. Times are integer "
        "nanoseconds; a field is absent when unknown.",
        "type": "object",
        "required": list(properties),
        "additionalProperties": False,
        "properties": moved(properties, used),
        "$defs": {},
    }
    while used:
        name = used.pop()
        if name not in document["$defs"]:
            document["$defs"][name] = moved(components[name], used)
    document["$defs"] = dict(sorted(document["$defs"].items()))
    return json.dumps(document, indent=1) + "\n"


def main():
    text = schema()
    if sys.argv[1:] == ["--check"]:
        with open(TARGET, encoding="utf-8") as file:
            if file.read() != text:
                print("tb_backend/api/summary.schema.json is stale: run scripts/summary_schema.py")
                return 1
        return 0
    with open(TARGET, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

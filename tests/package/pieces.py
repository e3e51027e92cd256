#!/usr/bin/env python3
"""Cuts the C++ out of a document: pieces.py DOCUMENT FOLDER writes a file for each ```cpp block.

A block with `#include` is a file of its own. Any other is the body of a function, in which stand
the objects that the text has introduced: `profiler`, `model`, `loader`."""

import os
import re
import sys

BODY = """#include <libtrace/libtrace.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

struct Batch {{}};
struct Model {{
  void forward(const Batch&) {{}}
  void backward() {{}}
}};

void piece_{number}(libtrace::Profiler& profiler, Model& model, std::vector<Batch>& loader) {{
  (void)profiler, (void)model, (void)loader;
{text}
}}
"""


def main():
    document, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    with open(document, encoding="utf-8") as file:
        blocks = re.findall(r"^```cpp\n(.*?)^```$", file.read(), re.M | re.S)
    if not blocks:
        sys.exit(f"{document} holds no ```cpp")
    for number, text in enumerate(blocks):
        whole = text if "#include" in text else BODY.format(number=number, text=text.rstrip())
        with open(os.path.join(folder, f"piece_{number}.cc"), "w", encoding="utf-8") as out:
            out.write(whole)


if __name__ == "__main__":
    main()

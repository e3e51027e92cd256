"""`traceglass` on PATH: becomes the program that the package holds."""

import os
import sys

from traceglass_tb import backend


def main():
    program = backend.packaged_binary()
    try:
        os.execv(program, ["traceglass", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{program} cannot be run: {error}")

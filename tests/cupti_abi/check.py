#!/usr/bin/env python3
"""Fetches NVIDIA's wheels with pip into build/cupti, and checks our offsets against the headers of
each release and our decoder against its library. Exit 77 (skipped) where pip reaches no index.

    check.py [--offline]     uses only what build/cupti has already
"""

import glob
import os
import re
import subprocess
import sys
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build", "cupti")
SKIPPED = 77

# Release -> (wheel, whether its library bears calls without a driver). "" is the newest.
RELEASES = {
    "11.8.87": ("nvidia-cuda-cupti-cu11", False),
    "12.9.79": ("nvidia-cuda-cupti-cu12", True),
    "13.0.85": ("nvidia-cuda-cupti", True),
    "13.1.115": ("nvidia-cuda-cupti", True),
    "": ("nvidia-cuda-cupti", False),
}
# What the headers include besides: cuda.h, crt/host_defines.h.
TOOLKIT = [
    "nvidia-cuda-runtime-cu12==12.9.79",
    "nvidia-cuda-runtime==13.5.37",
    "nvidia-cuda-crt==13.5.37",
]

# Record types of a header, by family; the first versions of some are from before CUDA 9.
FAMILIES = {
    "KERNEL": r"CUpti_ActivityKernel(?:[4-9]|1\d)",
    "MEMCPY": r"CUpti_ActivityMemcpy[3-9]?",
    "PEER": r"CUpti_ActivityMemcpyPtoP\d?",
    "MEMSET": r"CUpti_ActivityMemset\d?",
    "CALL": r"CUpti_ActivityAPI",
    "SYNC": r"CUpti_ActivitySynchronization\d?",
    "CUDA_EVENT": r"CUpti_ActivityCudaEvent\d?",
    "OVERHEAD": r"CUpti_ActivityOverhead\d?",
    "MEMORY": r"CUpti_ActivityMemory[2-9]",
    "GRAPH": r"CUpti_ActivityGraphTrace\d?",
    "CONTEXT": r"CUpti_ActivityContext\d?",
    "SUBSCRIBER": r"CUpti_SubscriberParams",
}


def fetch(requirement, folder):
    """Unpacks one wheel into `folder`, once."""
    if os.path.isdir(folder):
        return
    if "--offline" in sys.argv:
        skip(f"{folder} is not there")
    wheels = os.path.join(BUILD, "wheels", re.sub(r"\W+", "_", requirement))
    os.makedirs(wheels, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check"]
    pip += ["--no-deps", "--only-binary", ":all:", "-d", wheels, requirement]
    result = subprocess.run(pip, capture_output=True, text=True, timeout=600)
    if result.returncode != 0:
        skip(f"pip cannot fetch {requirement}: {result.stderr.strip()[-300:]}")
    (wheel,) = glob.glob(os.path.join(wheels, "*.whl"))
    part = folder + ".part"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(part)
    os.rename(part, folder)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def one(pattern):
    found = sorted(glob.glob(os.path.join(BUILD, pattern), recursive=True))
    if not found:
        sys.exit(f"{pattern} is in none of the wheels")
    return found[0]


def run(*command):
    print("$", " ".join(os.path.relpath(c, ROOT) if c.startswith(ROOT) else c for c in command))
    return subprocess.run(command, cwd=ROOT).returncode == 0


def compile_and_run(name, sources, includes=(), defines=(), arguments=()):
    binary = os.path.join(BUILD, name)
    command = ["g++", "-std=c++20", "-O1", "-Wall", "-Wno-deprecated-declarations", "-I", ROOT]
    command += ["-I", os.path.join(ROOT, "libtrace", "include")]
    for folder in includes:
        command += ["-isystem", folder]
    command += [f"-D{define}" for define in defines]
    return run(*command, *sources, "-o", binary, "-ldl") and run(binary, *arguments)


def write_structs(headers, path):
    text = ""
    for name in ("cupti_activity.h", "cupti_activity_deprecated.h", "cupti_callbacks.h"):
        header = os.path.join(headers, name)
        if os.path.exists(header):
            with open(header, encoding="utf-8") as file:
                text += file.read()
    with open(path, "w", encoding="utf-8") as out:
        for family, pattern in FAMILIES.items():
            names = sorted(set(re.findall(rf"^\}}\s*({pattern});", text, re.MULTILINE)))
            if not names and family not in ("SUBSCRIBER", "GRAPH"):
                sys.exit(f"no {family} in {headers}")
            out.writelines(f"{family}({struct})\n" for struct in names)


def main():
    os.makedirs(BUILD, exist_ok=True)
    for requirement in TOOLKIT:
        fetch(requirement, os.path.join(BUILD, "toolkit", re.sub(r"\W+", "_", requirement)))
    crt = os.path.dirname(os.path.dirname(one("toolkit/*crt*/**/crt/host_defines.h")))
    toolkit = {
        "12": [os.path.dirname(one("toolkit/*cu12*/**/include/cuda.h")), crt],
        "13": [os.path.dirname(one("toolkit/nvidia_cuda_runtime_13*/**/include/cuda.h")), crt],
    }
    source = os.path.join(ROOT, "libtrace", "cupti")
    decoder = [os.path.join(source, name) for name in ("api.cc", "decode.cc", "event_log.cc")]
    decoder.append(
        os.path.join(ROOT, "libtrace", "record", "chunk_pool.cc")
    )  # whose ceiling they share
    tests = os.path.join(ROOT, "tests", "cupti_abi")
    good = True
    for release, (wheel, walks) in RELEASES.items():
        name = release or "newest"
        fetch(f"{wheel}=={release}" if release else wheel, os.path.join(BUILD, name))
        headers = os.path.dirname(one(f"{name}/**/include/cupti.h"))
        library = one(f"{name}/**/lib/libcupti.so.*")
        structs = os.path.join(BUILD, f"{name}.inc")
        write_structs(headers, structs)
        includes = [headers, *toolkit["12" if release.startswith(("11", "12")) else "13"]]
        check = os.path.join(tests, "headers_check.cc")
        good &= compile_and_run(
            f"headers_check_{name}", [check], includes, [f'STRUCTS="{structs}"']
        )
        if walks:
            check = os.path.join(tests, "walker_check.cc")
            good &= compile_and_run(f"walker_check_{name}", [check, *decoder], arguments=[library])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

"""Which directory TensorBoard was started on, and whether a profile lies in it.

`context.logdir` is what the user typed ("~" is not expanded by TensorBoard); with `--logdir_spec`
it is "" and `flags.logdir_spec` holds "name:dir,name:dir".
"""

import os
import re
import threading
import time

# Names that the server lists (it decides what they are); none that TensorBoard itself writes.
_PROFILE = re.compile(r"\.(json|json\.gz|pftrace)$")
_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")

# is_active() runs on every listing: entries looked at and seconds spent before it says "perhaps".
_SCAN_ENTRIES = 20_000
_SCAN_SECONDS = 0.1
_SCAN_AGAIN_SECONDS = 5.0


def expanded(path):
    """An absolute path; a URL such as gs://bucket stays as typed. Never raises: where the current
    directory is gone, a relative path stays one."""
    if _URL.match(path):
        return path
    path = os.path.expanduser(path)
    try:
        return os.path.abspath(path)
    except OSError:
        return path


def parse_spec(spec):
    """[(name, path)] of a logdir spec, by TensorBoard's own rule: a name is what stands before the
    first colon, unless a slash precedes it; a URL's scheme is no name."""
    parts = []
    for item in (part.strip() for part in spec.split(",")):
        name, colon, rest = item.partition(":")
        if not colon or "/" in name or _URL.match(item):
            name, rest = "", item
        if rest:
            parts.append((name, rest))
    return parts


class Source:
    """The directories to serve, as command-line arguments of `traceglass serve`."""

    def __init__(self, logdir="", spec=""):
        named = parse_spec(spec) if spec and not logdir else [("", logdir)] if logdir else []
        self.directories = [(name, expanded(path)) for name, path in named]
        self._spec = bool(spec and not logdir)
        self._lock = threading.Lock()
        self._found = False
        self._scanned_at = float("-inf")

    @classmethod
    def of_context(cls, context):
        """Never raises: an odd context gives a source without directories."""
        flags = getattr(context, "flags", None)
        logdir = getattr(context, "logdir", None) or getattr(flags, "logdir", None) or ""
        spec = getattr(flags, "logdir_spec", None) or ""
        return cls(str(logdir), str(spec))

    def __str__(self):
        return ", ".join(path for _, path in self.directories) or "(no log directory)"

    def arguments(self):
        if self._spec:
            spec = ",".join(f"{name}:{path}" if name else path for name, path in self.directories)
            return ["--logdir-spec", spec]
        return [path for _, path in self.directories]

    def remote(self):
        """The first directory that is a URL, which the server cannot read; None without one."""
        return next((path for _, path in self.directories if _URL.match(path)), None)

    def holds_profiles(self):
        """True when a profile is found, and when it cannot be ruled out cheaply."""
        with self._lock:
            now = time.monotonic()
            if not self._found and now - self._scanned_at >= _SCAN_AGAIN_SECONDS:
                self._found = any(_may_hold(path) for _, path in self.directories)
                self._scanned_at = now
            return self._found


def _may_hold(root):
    """Walks breadth first, so that a deep tree of checkpoints does not hide a shallow profile."""
    if _URL.match(root):
        return True
    deadline = time.monotonic() + _SCAN_SECONDS
    left = _SCAN_ENTRIES
    seen = set()
    level = [root]
    while level:
        below = []
        for directory in level:
            try:
                identity = os.stat(directory)
                if (identity.st_dev, identity.st_ino) in seen:  # a symlink cycle
                    continue
                seen.add((identity.st_dev, identity.st_ino))
                with os.scandir(directory) as entries:
                    for entry in entries:
                        left -= 1
                        if _PROFILE.search(entry.name):
                            return True
                        if left < 0 or time.monotonic() > deadline:
                            return True
                        if entry.is_dir():
                            below.append(entry.path)
            except OSError:
                continue  # vanished or not ours to read: the server says so when asked
        level = below
    return False

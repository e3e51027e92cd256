"""One rank of a training program, simulated: host threads that run ahead of device streams.

Work on a stream starts when its launch has reached the device, the stream is free and what it waits
for is done, so a kernel's times are known when it is launched; a synchronisation moves the host's
clock to the end of that work. Nothing is given a time by hand: a plant adds cost at one place, and
the steps become as much longer as they would. All times are integer nanoseconds.
"""

import zlib
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field

US = 1_000
MS = 1_000_000

# As measured in real traces of A100 and H100: a launch call takes 3.3 to 10 us, the kernel of an
# idle stream starts 5 to 8 us after the call does, a stream goes on 1 us after its last kernel.
LAUNCH_CALL_US = 4.5
LAUNCH_LATENCY_US = 6.5
STREAM_GAP_US = 0.9
SYNC_RETURN_US = 4.0  # from the end of the awaited work until the host goes on
QUEUE = 1_000  # launches that the driver holds before the call blocks

MAIN, AUTOGRAD = "main", "autograd"
COMPUTE, COMM = 7, 20  # stream ids as PyTorch's are


@dataclass
class Kernel:
    name: str
    us: float
    grid: tuple = (1024, 1, 1)
    block: tuple = (256, 1, 1)
    registers: int = 32
    shared: int = 0
    occupancy: int = 60


@dataclass
class Row:
    """A row of the trace. `lane`: a host thread's name or a stream's number."""

    cat: str
    name: str
    lane: object
    start: int
    end: int
    args: dict = field(default_factory=dict)


@dataclass
class Collective:
    """What a rank's program yields to meet the others: the answer is when the transfer ends."""

    ready: int
    transfer: int


class Rank:
    def __init__(self, rank=0, world=1, seed=1, stacks=False):
        self.rank, self.world, self.seed, self.stacks = rank, world, seed, stacks
        self.now = 20 * MS
        self.thread = MAIN
        self.rows, self.flows = [], []
        self.pauses = []  # [start, end): host and device both stand still
        self.free_at = {COMPUTE: 0, COMM: 0}
        self.queue = deque()  # ends of launched work that the host has not passed yet
        self.step = 0
        self.correlation = 1_000 + 7 * rank
        self.external = 0
        self.sequence = 100
        self._open = []  # external ids of the open ops
        self._frames = []
        self._frame_ids = 0
        self._drawn, self._path = {}, []
        self.allocated, self.reserved, self._next_address = 512 << 20, 4 << 30, 1 << 45

    # Noise is a function of the place in the program, so that a twin without the plant has the same
    # noise in all that it shares with the planted run.
    def noise(self, key, spread):
        text = f"{self.seed}/{self.rank}/{self.step}/{'/'.join(self._path)}/{key}"
        count = self._drawn[text] = self._drawn.get(text, -1) + 1
        text += f"/{count}"
        return 1 + spread * (zlib.crc32(text.encode()) / 2**31 - 1)

    def spend(self, us, key):
        """The current thread works."""
        self.now += round(us * US * self.noise(key, 0.12))

    # ---- host rows

    @contextmanager
    def op(self, name, us=4.0, cat="cpu_op", **args):
        """A dispatched op: most of its own cost comes before what it calls."""
        row, self.external = self._begin(cat, name, args), self.external + 1
        row.args["External id"] = self.external
        self._open.append(self.external)
        self._path.append(name.split("#")[0])  # of ProfilerStep#5 without its number
        self.spend(us * 0.7, "before")
        yield row
        self.spend(us * 0.3, "after")
        self._path.pop()
        self._open.pop()
        row.end = self.now

    def annotation(self, name, us=3.0):
        return self.op(name, us, "user_annotation")

    @contextmanager
    def frame(self, name, us=0.0, module=None):
        """A Python call. Its cost is spent whether or not the profiler records stacks."""
        row = self._begin("python_function", name, {}) if self.stacks else None
        if row:
            self._frame_ids += 1
            row.args["Python id"] = self._frame_ids
            row.args["Python parent id"] = self._frames[-1] if self._frames else None
            if module is not None:
                row.args["Python module id"] = module
            self._frames.append(self._frame_ids)
        self._path.append(name)
        self.spend(us * 0.6, "before")
        yield
        self.spend(us * 0.4, "after")
        self._path.pop()
        if row:
            self._frames.pop()
            row.end = self.now

    @contextmanager
    def on_thread(self, thread):
        """The other thread works while this one waits for it: a hand-over there and back."""
        before, self.thread = self.thread, thread
        self.spend(12, "wake")
        yield
        self.spend(8, "wake back")
        self.thread = before

    def python(self, us, name):
        """Work of the program's own, of which the profiler sees at most the frame."""
        with self.frame(name):
            self.spend(us, name)

    def pause(self, us):
        """The host stands still; what is paused is all that lies behind the end of all work."""
        start = max(self.now, *self.free_at.values())
        self.now += round(us * US)
        if start < self.now:
            self.pauses.append((start, self.now))

    def _begin(self, cat, name, args):
        row = Row(cat, name, self.thread, self.now, self.now, dict(args))
        self.rows.append(row)
        return row

    # ---- runtime calls and device work

    def runtime(self, name, us, until=0):
        """A runtime call; with `until` it returns after that time."""
        self.correlation += 1
        row = self._begin("cuda_runtime", name, {"correlation": self.correlation})
        if self._open:
            row.args["External id"] = self._open[-1]
        self.spend(us, name)
        self.now = max(self.now, until)
        row.end = self.now
        return row

    def launch(self, kernel, stream=COMPUTE, after=0, call="cudaLaunchKernel"):
        """Launches; returns the kernel's end."""
        args = {
            "grid": kernel.grid,
            "block": kernel.block,
            "registers per thread": kernel.registers,
            "shared memory": kernel.shared,
            "est. achieved occupancy %": kernel.occupancy,
        }
        return self._submit("kernel", kernel.name, kernel.us, stream, after, call, args)

    def replay(self, kernels, stream=COMPUTE):
        """A captured graph: one call, its kernels back to back under one correlation."""
        self._await_queue()
        call = self.runtime("cudaGraphLaunch", 14)
        at = max(call.start + round(9 * US), self.free_at[stream] + round(STREAM_GAP_US * US))
        for kernel in kernels:
            start = at
            at = start + round(kernel.us * US * self.noise(kernel.name, 0.02))
            row = Row("kernel", kernel.name, stream, start, at, dict(call.args))
            row.args |= {"grid": kernel.grid, "block": kernel.block}
            self.rows.append(row)
            self.free_at[stream] = at
            at += round(0.6 * US)
        self.queue.append(self.free_at[stream])

    def busy_before(self, kernel, us):
        """Work that was launched before the window: rows without a launch. What had begun before it
        is not recorded."""
        at = self.now + 40 * US
        while at < self.now + us * US:
            end = at + round(kernel.us * US)
            self.correlation += 1
            args = {"correlation": self.correlation, "grid": kernel.grid, "block": kernel.block}
            self.rows.append(Row("kernel", kernel.name, COMPUTE, at, end, args))
            self.free_at[COMPUTE] = end
            at = end + round(STREAM_GAP_US * US)

    def copy(self, kind, size, gb_per_s, stream=COMPUTE):
        """`kind` as CUPTI names it. From or to pageable memory the call itself waits until what is
        on the stream and the copy are done."""
        us = 1.2 + size / gb_per_s / 1e3
        args = {"bytes": size, "memory bandwidth (GB/s)": round(size / us / 1e3, 3)}
        waits = "Pageable" in kind
        name = f"Memcpy {kind}"
        return self._submit("gpu_memcpy", name, us, stream, 0, "cudaMemcpyAsync", args, waits)

    def memset(self, size, stream=COMPUTE):
        args = {"bytes": size}
        us = 1.0 + size / 1_200 / 1e3
        return self._submit("gpu_memset", "Memset (Device)", us, stream, 0, "cudaMemsetAsync", args)

    def synchronize(self, call="cudaStreamSynchronize", stream=COMPUTE):
        ends = self.free_at.values() if "Device" in call else [self.free_at[stream]]
        until = max(ends)
        return self.runtime(
            call, 2.0, until + round(SYNC_RETURN_US * US) if until > self.now else 0
        )

    def collective(self, name, kernel_name, elements, dtype, transfer_us, sequence):
        """An all-reduce on the communication stream after what is launched on the compute stream;
        yields to meet the other ranks, returns its end."""
        group = {
            "Collective name": name,
            "In msg nelems": elements,
            "Out msg nelems": elements,
            "Group size": self.world,
            "dtype": dtype,
            "In split size": "[]",
            "Out split size": "[]",
            "Process Group Name": "0",
            "Process Group Description": "default_pg",
            "Process Group Ranks": str(list(range(self.world))),
            "Seq": sequence,
        }
        outer = self.op("c10d::allreduce_", 18)
        inner = self.op("record_param_comms", 14, **group, Rank=self.rank)
        with outer, inner, self.annotation(f"nccl:{name}", 6):
            self.runtime("cudaEventRecord", 1.2)
            self.runtime("cudaStreamWaitEvent", 1.0)
            self._await_queue()
            call = self.runtime("cudaLaunchKernelExC", 6)
            ready = max(
                call.start + round(LAUNCH_LATENCY_US * US),
                self.free_at[COMM] + round(STREAM_GAP_US * US),
                self.free_at[COMPUTE] + round(1.5 * US),
            )
            end = yield Collective(ready, round(transfer_us * US))
            row = Row("kernel", kernel_name, COMM, ready, end, dict(call.args) | group)
            row.args |= {"grid": (16, 1, 1), "block": (544, 1, 1)}
            row.args |= {"registers per thread": 96, "shared memory": 87_568}
            self.rows.append(row)
            self.free_at[COMM] = end
            self.queue.append(end)
            self.runtime("cudaEventRecord", 1.2)
        return end

    def stream_waits(self, until, stream=COMPUTE):
        """cudaStreamWaitEvent: what is launched from now on starts after `until`."""
        self.runtime("cudaStreamWaitEvent", 1.0)
        self.free_at[stream] = max(self.free_at[stream], until)

    def _submit(self, cat, name, us, stream, after, call_name, args, waits=False):
        self._await_queue()
        call = self.runtime(call_name, LAUNCH_CALL_US)
        start = max(
            call.start + round(LAUNCH_LATENCY_US * US * self.noise("latency", 0.15)),
            self.free_at[stream] + round(STREAM_GAP_US * US),
            after,
        )
        end = start + max(800, round(us * US * self.noise(name, 0.02)))
        self.rows.append(Row(cat, name, stream, start, end, dict(call.args) | args))
        self.free_at[stream] = end
        self.queue.append(end)
        if waits:
            self.now = max(self.now, end + round(SYNC_RETURN_US * US))
            call.end = self.now
        return end

    def _await_queue(self):
        """A full queue: the call begins when the oldest work is done."""
        while self.queue and self.queue[0] <= self.now:
            self.queue.popleft()
        if len(self.queue) >= QUEUE:
            self.now = max(self.now, self.queue[len(self.queue) - QUEUE])

    # ---- memory

    def allocate(self, size):
        self._next_address += max(512, size)
        self.allocated += size
        self._memory(size, self._next_address)
        return (size, self._next_address)

    def release(self, block):
        size, address = block
        self.allocated -= size
        self._memory(-size, address)

    def _memory(self, size, address):
        args = {
            "Bytes": size,
            "Addr": address,
            "Total Allocated": self.allocated,
            "Total Reserved": self.reserved,
            "Device Type": 1,
            "Device Id": self.rank,
        }
        self._begin("cpu_instant_event", "[memory]", args)

    def malloc(self, size, us):
        """The allocator finds no block: cudaMalloc."""
        self.runtime("cudaMalloc", us)
        self.reserved += size

    def free_cached(self, size, us):
        """The allocator gives cached blocks back: cudaFree waits for the device."""
        self.runtime("cudaFree", us, max(self.free_at.values()))
        self.reserved -= size

    # ---- steps

    @contextmanager
    def profiler_step(self, number, like):
        """`like`: the step whose noise it has, so that a longer run repeats a window."""
        self.step, self._drawn = like, {}
        with self.annotation(f"ProfilerStep#{number}", 10):
            yield
        self.spend(12, "between steps")


def run(programs):
    """Runs the ranks' programs (generators) together: each goes on until its next collective, which
    ends one transfer after the last rank is there."""
    waiting = {}
    for index, program in enumerate(programs):
        waiting[index] = next(program, None)
    while any(waiting.values()):
        met = [w for w in waiting.values() if w]
        if len(met) != len(programs):
            raise RuntimeError("a rank ended while others wait in a collective")
        end = max(w.ready for w in met) + max(w.transfer for w in met)
        for index, program in enumerate(programs):
            try:
                waiting[index] = program.send(end)
            except StopIteration:
                waiting[index] = None

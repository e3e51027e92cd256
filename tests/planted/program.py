"""The training loop that every plant is put into: a convolutional network of sixteen layers with
batch norm, cross entropy, SGD with momentum, on one device or data parallel on several.

As it stands it is healthy: batches come from workers through pinned memory, convolutions run in
bf16 on tensor cores, the optimizer updates all parameters in a few launches, gradients are reduced
while backward still runs, and the host is ahead of the device all the time. Each field of `Options`
spoils one of these.
"""

from contextlib import contextmanager
from dataclasses import dataclass, replace

import network
from network import CLASSES, LAYERS_A_STAGE, STAGES, Layer, gemm, shapes, small
from simulation import AUTOGRAD, Kernel, Rank, run


@dataclass
class Options:
    steps: int = 6
    period: int = 6  # of the noise
    batch: int = 64
    world: int = 1
    stacks: bool = False
    seed: int = 1
    # data loading
    loader: str = "_MultiProcessingDataLoaderIter"
    loader_us: float = 90.0
    pinned: bool = True
    # synchronisation
    items: int = 0  # `.item()` after that many layers of forward, evenly
    item_at_end: bool = False  # `loss.item()` at the end of the step
    synchronize: bool = False  # `torch.cuda.synchronize()` there, to time the step
    prologue_us: float = 25.0  # Python of the program's own at the start of a step
    # kernels
    fp32_layers: int = 0  # of sixteen: those that are left in fp32, without tensor cores, …
    tf32: bool = False  # … or with
    foreach: bool = True  # optimizer: all parameters in a few launches, or each by itself
    pieces: int = 0  # elementwise kernels of an activation written by hand, a layer
    fused_pieces: bool = False  # the same work in one kernel
    graphed_pieces: bool = False  # the same kernels replayed as a graph
    # memory
    churn: int = 0  # cudaFree and cudaMalloc pairs a step
    churn_us: float = 250.0
    # communication
    reduce_us: float = 0.0  # transfer of all gradients
    buckets: int = 8
    overlap: bool = True
    # anything else on the host
    python_us: float = 0.0
    late_us: float = 0.0  # the same, on the last rank only
    pause_us: float = 0.0  # between steps, in none of them: a validation, a checkpoint
    # How the window begins: the device still has so much to do that was launched before it.
    in_flight_us: float = 0.0


class Training:
    def __init__(self, options, rank):
        self.options = options
        self.rank = Rank(rank, options.world, options.seed, options.stacks)
        count = len(STAGES) * LAYERS_A_STAGE
        self.layers = [
            Layer(i, options.batch, options.fp32_layers, options.tf32) for i in range(count)
        ]
        self.parameters = sum(layer.channels**2 * 9 for layer in self.layers)
        self.forward_ops = []  # those that autograd remembers, with what their backward is
        self.activations = []
        self.collectives = 0

    def program(self):
        """The loop, as a generator that yields at each collective."""
        r, o = self.rank, self.options
        if o.in_flight_us:
            r.busy_before(self.layers[0].convolution("wgrad"), o.in_flight_us)
        with r.frame("train.py(96): <module>"), r.frame("train.py(61): train"):
            for number in range(5, 5 + o.steps):
                with r.profiler_step(number, (number - 5) % o.period):
                    yield from self._step()
                with r.frame("torch/profiler/profiler.py(760): step", 15):
                    pass
                r.pause(o.pause_us)
        r.synchronize("cudaDeviceSynchronize")

    def _step(self):
        r, o = self.rank, self.options
        self._load()
        r.spend(o.prologue_us, "prologue")
        self._to_device([o.batch, 3, 224, 224], o.batch * 3 * 224 * 224 * 2, "c10::BFloat16")
        self._to_device([o.batch], o.batch * 8, "long int")
        with r.annotation("Optimizer.zero_grad#SGD.zero_grad", 40):
            pass
        self._forward()
        self._loss()
        yield from self._backward()
        self._optimizer()
        if o.item_at_end:
            self._item()
        if o.synchronize:
            r.synchronize("cudaDeviceSynchronize")
        if o.churn:
            self._churn()
        late = o.late_us if r.rank == o.world - 1 else 0
        if o.python_us + late:
            r.python(o.python_us + late, "train.py(44): log_histograms")

    # ---- input

    def _load(self):
        r, o = self.rank, self.options
        frame = r.frame(f"torch/utils/data/dataloader.py(701): {o.loader}.__next__", 6)
        with frame, r.annotation(f"enumerate(DataLoader)#{o.loader}.__next__"):
            r.spend(o.loader_us, "loader")

    def _to_device(self, dims, size, kind):
        r = self.rank
        with r.op("aten::to", 3, **shapes(dims, types=[kind])), r.op("aten::_to_copy", 4):
            with r.op("aten::empty_strided", 4):
                self.activations.append(r.allocate(size))
            with r.op("aten::copy_", 5, **shapes(dims, dims, types=[kind, kind])):
                if self.options.pinned:
                    r.copy("HtoD (Pinned -> Device)", size, 24)
                else:
                    r.copy("HtoD (Pageable -> Device)", size, 5)
                    r.synchronize()

    # ---- forward

    def _forward(self):
        r, o = self.rank, self.options
        self.forward_ops = []
        every = len(self.layers) // o.items if o.items else 0
        with self._module("Net_0"):
            for layer in self.layers:
                self._convolution(layer)
                self._batch_norm(layer)
                self._activation(layer)
                if o.pieces:
                    self._gate(layer)
                if every and (layer.index + 1) % every == 0:
                    with r.frame("model.py(52): check_finite", 6):
                        self._item()
            features = STAGES[-1][0]
            args = shapes([CLASSES], [o.batch, features], [features, CLASSES])
            linear = self._remembered("aten::linear", 4, "AddmmBackward0", None, **args)
            with self._module("Linear_0"), linear, r.op("aten::addmm", 14, **args):
                r.launch(gemm(2 * o.batch * features * CLASSES))

    def _module(self, name):
        number = int(name.rsplit("_", 1)[1])
        return self.rank.frame(f"nn.Module: {name}", 8, number)

    @contextmanager
    def _remembered(self, name, us, backward, layer, **args):
        r = self.rank
        r.sequence += 1
        args |= {"Sequence number": r.sequence, "Fwd thread id": 0}
        with r.op(name, us, **args) as row:
            self.forward_ops.append((row, backward, layer, r.sequence))
            yield

    def _convolution(self, layer):
        r = self.rank
        args = shapes(layer.shape, layer.weight, types=[layer.type] * 2)
        outer = r.op("aten::conv2d", 6, **args)
        op = self._remembered("aten::convolution", 5, "ConvolutionBackward0", layer, **args)
        with self._module(f"Conv2d_{layer.index}"), outer, op:
            inner = r.op("aten::_convolution", 6, **args)
            with inner, r.op("aten::cudnn_convolution", 22, **args):
                self.activations.append(r.allocate(layer.bytes))
                r.launch(layer.convolution("fprop"), call="cudaLaunchKernelExC")

    def _batch_norm(self, layer):
        r = self.rank
        args = shapes(layer.shape, [layer.channels], types=[layer.type, "float"])
        with self._module(f"BatchNorm2d_{layer.index}"):
            with r.op("aten::add_", 5, **shapes([], types=["long int"])):
                r.launch(small(network.COUNT, 1.6))
            outer = r.op("aten::batch_norm", 4, **args)
            inner = r.op("aten::_batch_norm_impl_index", 5, **args)
            backward = "CudnnBatchNormBackward0"
            op = self._remembered("aten::cudnn_batch_norm", 16, backward, layer, **args)
            with outer, inner, op:
                self.activations.append(r.allocate(layer.bytes))
                r.launch(layer.norm(network.NORM, 3))

    def _activation(self, layer):
        r = self.rank
        args = shapes(layer.shape, types=[layer.type])
        op = self._remembered("aten::clamp_min", 7, "ReluBackward0", layer, **args)
        with self._module(f"ReLU_{layer.index}"), r.op("aten::relu", 4, **args), op:
            self.activations.append(r.allocate(layer.bytes))
            r.launch(layer.elementwise("clamp_min_functor", 2))

    def _gate(self, layer):
        """A gate over the channels, written as `pieces` small ops, or compiled to one kernel, which
        starts only once and keeps what lies between in registers."""
        r, o = self.rank, self.options
        count = o.batch * layer.channels
        args = shapes([o.batch, layer.channels], [o.batch, layer.channels])
        with r.frame("model.py(31): gate", 6):
            if o.fused_pieces:
                with r.op("CompiledFunction", 30):
                    fused = small("triton_poi_fused_add_mul_sigmoid_0", 1.8 + 0.2 * o.pieces, count)
                    r.launch(fused, call="cudaLaunchKernelExC")
                return
            if o.graphed_pieces:
                r.replay([small(network.GATE, 2.0, count)] * o.pieces)
                return
            for piece in range(o.pieces):
                op = ["aten::mul", "aten::add", "aten::sigmoid"][piece % 3]
                r.spend(3, "python of the gate")
                with r.op(op, 7, **args):
                    r.launch(small(network.GATE, 2.0, count))

    def _item(self):
        """A scalar to the host: a copy to pageable memory, and a wait for it."""
        r = self.rank
        args = shapes([], types=["float"])
        with r.op("aten::item", 3, **args), r.op("aten::_local_scalar_dense", 5, **args):
            r.copy("DtoH (Device -> Pageable)", 4, 0.004)
            r.synchronize()

    def _loss(self):
        r, o = self.rank, self.options
        args = shapes([o.batch, CLASSES], [o.batch], types=["float", "long int"])
        with self._module("CrossEntropyLoss_0"), r.op("aten::cross_entropy_loss", 6, **args):
            outer = r.op("aten::log_softmax", 4, **args)
            op = self._remembered("aten::_log_softmax", 8, "LogSoftmaxBackward0", None, **args)
            with outer, op:
                r.launch(small(network.SOFTMAX, 6, o.batch * CLASSES))
            outer, inner = r.op("aten::nll_loss_nd", 4, **args), r.op("aten::nll_loss", 3, **args)
            op = self._remembered("aten::nll_loss_forward", 8, "NllLossBackward0", None, **args)
            with outer, inner, op:
                r.launch(small(network.NLL, 3.2))

    # ---- backward

    def _backward(self):
        r, o = self.rank, self.options
        ops = list(reversed(self.forward_ops))
        reduce_at = self._bucket_ends(len(ops)) if o.reduce_us else {}
        outer = r.frame("torch/_tensor.py(532): backward", 10)
        with outer, r.frame("torch/autograd/__init__.py(243): backward", 8):
            with r.op("aten::ones_like", 8, **shapes([], types=["float"])):
                r.launch(small(network.FILL, 1.6))
            reduced = 0
            with r.on_thread(AUTOGRAD):
                for index, (row, name, layer, sequence) in enumerate(ops):
                    self._backward_of(row, name, layer, sequence)
                    if index in reduce_at:
                        reduced = yield from self._all_reduce(reduce_at[index])
                if reduced:
                    r.stream_waits(reduced)
        while self.activations:
            r.release(self.activations.pop())

    def _bucket_ends(self, ops):
        """Position of a backward op -> shares of the gradients that are reduced after it. Without
        overlap all are reduced after the last op."""
        o = self.options
        if not o.overlap:
            return {ops - 1: [1 / o.buckets] * o.buckets}
        # As DDP's buckets fill: the last holds what the first layers have, which is little.
        last = 0.02
        share = (1 - last) / (o.buckets - 1)
        ends = {(b + 1) * ops // o.buckets - 1 - ops // 12: [share] for b in range(o.buckets - 1)}
        return ends | {ops - 1: [last]}

    def _all_reduce(self, shares):
        end = 0
        for share in shares:
            self.collectives += 1
            us = self.options.reduce_us * share + 12
            elements = round(self.parameters * share)
            end = yield from self.rank.collective(
                "allreduce", network.ALL_REDUCE, elements, "BFloat16", us, self.collectives
            )
        return end

    def _backward_of(self, forward, name, layer, sequence):
        r = self.rank
        ids = {"Sequence number": sequence, "Fwd thread id": 1}
        outer = r.op(f"autograd::engine::evaluate_function: {name}", 5, **ids)
        with outer, r.op(name, 5, **ids) as row:
            r.flows.append((forward, row))
            self._gradient(name, layer)
        if name == "ConvolutionBackward0":
            accumulate = "torch::autograd::AccumulateGrad"
            outer = r.op(f"autograd::engine::evaluate_function: {accumulate}", 3)
            with outer, r.op(accumulate, 4):
                pass

    def _gradient(self, name, layer):
        r, o = self.rank, self.options
        if name == "ConvolutionBackward0":
            args = shapes(layer.shape, layer.shape, layer.weight, types=[layer.type] * 3)
            with r.op("aten::convolution_backward", 26, **args):
                r.launch(layer.convolution("dgrad"), call="cudaLaunchKernelExC")
                r.launch(layer.convolution("wgrad"), call="cudaLaunchKernelExC")
        elif name == "CudnnBatchNormBackward0":
            with r.op("aten::cudnn_batch_norm_backward", 16, **shapes(layer.shape)):
                r.launch(layer.norm(network.NORM_BACKWARD, 4))
        elif name == "ReluBackward0":
            with r.op("aten::threshold_backward", 9, **shapes(layer.shape, layer.shape)):
                r.launch(layer.elementwise("threshold_functor", 3))
        elif name == "AddmmBackward0":
            features = STAGES[-1][0]
            for left, right in [
                ([o.batch, CLASSES], [CLASSES, features]),
                ([CLASSES, o.batch], [o.batch, features]),
            ]:
                with r.op("aten::mm", 14, **shapes(left, right)):
                    r.launch(gemm(2 * o.batch * features * CLASSES))
        else:
            op = f"aten::{name.removesuffix('Backward0').lower()}_backward"
            with r.op(op, 9):
                r.launch(small(f"void at::native::{name}_kernel<float>", 4.0, o.batch))

    # ---- the rest

    def _optimizer(self):
        r, o = self.rank, self.options
        outer = r.frame("torch/optim/optimizer.py(473): wrapper", 15)
        with outer, r.annotation("Optimizer.step#SGD.step", 12):
            if o.foreach:
                self._foreach()
                return
            for layer in self.layers:
                for count in (layer.channels**2 * 9, layer.channels, layer.channels):
                    args = shapes([count], [count], types=["float"] * 2)
                    for op, passes in [("add", 3), ("mul_", 2), ("add_", 3)]:
                        r.spend(5, "python of the loop")
                        with r.op(f"aten::{op}", 8, **args):
                            r.launch(network.element_wise(op, count, passes))

    def _foreach(self):
        r = self.rank
        for op, passes in [("_foreach_add", 3), ("_foreach_mul_", 2), ("_foreach_add_", 3)]:
            with r.op(f"aten::{op}", 60):
                for _ in range(2):
                    us = 2 + passes * self.parameters * 2 / network.BYTES_PER_US
                    r.launch(Kernel(network.FOREACH, us, (320, 1, 1), (512, 1, 1), 40))

    def _churn(self):
        """The allocator's cache does not fit the request: it gives blocks back and asks anew."""
        r, o = self.rank, self.options
        with r.op("aten::empty", 6, **shapes([], types=[""])):
            for _ in range(o.churn):
                r.free_cached(256 << 20, o.churn_us * 0.6)
            for _ in range(o.churn):
                r.malloc(256 << 20, o.churn_us)
            self.activations.append(r.allocate(64 << 20))


def simulate(options):
    """The ranks, their rows and clocks complete."""
    trainings = [Training(options, rank) for rank in range(options.world)]
    run([training.program() for training in trainings])
    return [training.rank for training in trainings]


def whole_ns(rank):
    """From the first step's start to the end of all work, without the pauses between steps."""
    steps = [row for row in rank.rows if row.name.startswith("ProfilerStep#")]
    pauses = sum(end - start for start, end in rank.pauses if end < steps[-1].end)
    return max(steps[-1].end, *rank.free_at.values()) - steps[0].start - pauses


def mean_step_ns(options):
    """Of the recorded window, which opens with an empty queue."""
    return whole_ns(simulate(options)[0]) / options.steps


def steady_step_ns(options):
    """What one more step of a long run like this costs."""
    more = replace(options, steps=3 * options.steps)
    added = more.steps - options.steps
    return (whole_ns(simulate(more)[0]) - whole_ns(simulate(options)[0])) / added

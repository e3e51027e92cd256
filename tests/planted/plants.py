"""What is planted: per verdict three strengths or more, each beside its clean twin, the same
program without the plant. Mixes name two. Benign runs have what looks like a plant, at no cost.
"""

from dataclasses import dataclass, field, replace

from program import Options


@dataclass(frozen=True)
class Case:
    name: str
    verdicts: tuple  # those planted; none: the run is benign
    planted: Options
    clean: Options
    without: dict = field(default_factory=dict)  # of a mix: verdict -> the run without that plant


def _case(name, verdicts, base, plant, twin=None):
    """`plant` and `twin` are what the two change of `base`."""
    base = Options(**base)
    return Case(name, verdicts, replace(base, **plant), replace(base, **(twin or {})))


def _mix(name, base, plants, twins=None):
    """`plants`: verdict -> what it changes; `twins`: what its absence changes, if anything."""
    twins = twins or {}

    def run(*present):
        changes = dict(base)
        for verdict, change in plants.items():
            changes |= change if verdict in present else twins.get(verdict, {})
        return Options(**changes)

    without = {verdict: run(*(v for v in plants if v != verdict)) for verdict in plants}
    return Case(name, tuple(plants), run(*plants), run(), without)


def _single():
    iterator = "_SingleProcessDataLoaderIter"
    for strength, us in [("low", 14_000), ("medium", 24_000), ("high", 80_000)]:
        plant = {"loader": iterator, "loader_us": us}
        yield _case(f"data_loading-{strength}", ("data_loading",), {"batch": 32}, plant)

    # `.item()` in the model sixteen times a step, each costs the lead over the device.
    yield _case("synchronization-low", ("synchronization",), {"batch": 16}, {"items": 16})
    # `loss.item()` each step, so that what the host does before its first launch is never hidden.
    base = {"batch": 16, "prologue_us": 2_500}
    yield _case("synchronization-medium", ("synchronization",), base, {"item_at_end": True})
    base = {"batch": 8, "prologue_us": 200}
    plant = {"item_at_end": True, "items": 16}
    yield _case("synchronization-high", ("synchronization",), base, plant)
    base = {"batch": 16, "prologue_us": 1_500}
    yield _case("synchronization-timing", ("synchronization",), base, {"synchronize": True})
    yield _case("synchronization-pageable", ("synchronization",), {"batch": 32}, {"pinned": False})

    for strength, pieces in [("low", 26), ("medium", 32), ("high", 80)]:
        base = {"batch": 16, "pieces": pieces}
        yield _case(
            f"small_kernels-{strength}", ("small_kernels",), base, {}, {"fused_pieces": True}
        )
    base = {"batch": 16, "pieces": 60}
    twin = {"graphed_pieces": True}
    yield _case("small_kernels-graph", ("small_kernels",), base, {}, twin)
    yield _case("small_kernels-optimizer", ("small_kernels",), {"batch": 8}, {"foreach": False})

    for strength, layers in [("low", 3), ("medium", 8), ("high", 16)]:
        name = f"inefficient_operators-{strength}"
        base = {"batch": 32, "fp32_layers": layers}
        yield _case(name, ("inefficient_operators",), base, {}, {"tf32": True})

    for strength, pairs in [("low", 3), ("medium", 8), ("high", 24)]:
        yield _case(f"memory-{strength}", ("memory",), {"batch": 32}, {"churn": pairs})

    # What the backward pass of the twin hides: 10 ms of 16, 20 of 32.
    for strength, batch, us in [("low", 32, 1_500), ("medium", 32, 5_000), ("high", 64, 14_000)]:
        base = {"batch": batch, "world": 2, "reduce_us": us}
        yield _case(f"communication-{strength}", ("communication",), base, {"overlap": False})
    base = {"batch": 32, "world": 2, "reduce_us": 500}
    plant = {"overlap": False, "buckets": 48}
    yield _case("communication-small", ("communication",), base, plant)

    for strength, us in [("low", 14_000), ("medium", 24_000), ("high", 70_000)]:
        name = f"low_utilization-{strength}"
        yield _case(name, ("low_utilization",), {"batch": 32}, {"python_us": us})


def _mixed():
    single = {"loader": "_SingleProcessDataLoaderIter"}
    yield _mix(
        "mixed-loading-sync",
        {"batch": 32, "prologue_us": 500},
        {
            "data_loading": single | {"loader_us": 9_000},
            "synchronization": {"item_at_end": True},
        },
    )
    yield _mix(
        "mixed-loading-python",
        {"batch": 32},
        {
            "data_loading": single | {"loader_us": 20_000},
            "low_utilization": {"python_us": 15_000},
        },
    )
    yield _mix(
        "mixed-kernels-loading",
        {"batch": 16, "pieces": 60},
        {"small_kernels": {}, "data_loading": single | {"loader_us": 8_000}},
        {"small_kernels": {"fused_pieces": True}},
    )
    yield _mix(
        "mixed-fp32-communication",
        {"batch": 32, "world": 2, "reduce_us": 5_000, "fp32_layers": 8},
        {"inefficient_operators": {}, "communication": {"overlap": False}},
        {"inefficient_operators": {"tf32": True}},
    )
    yield _mix(
        "mixed-fp32-memory",
        {"batch": 32, "fp32_layers": 12},
        {"inefficient_operators": {}, "memory": {"churn": 10}},
        {"inefficient_operators": {"tf32": True}},
    )


def _benign():
    yield _case("benign-small-batch", (), {"batch": 8}, {})
    yield _case("benign-large-batch", (), {"batch": 64, "stacks": True}, {})
    # As long as two thirds of the step, and hidden behind the device all the same.
    plant = {"loader": "_SingleProcessDataLoaderIter", "loader_us": 20_000}
    yield _case("benign-hidden-loader", (), {"batch": 64, "in_flight_us": 31_000}, plant)
    yield _case("benign-item", (), {"batch": 64}, {"item_at_end": True})
    yield _case("benign-logging", (), {"batch": 64, "in_flight_us": 31_000}, {"python_us": 15_000})
    yield _case("benign-overlapped", (), {"batch": 32, "world": 2, "reduce_us": 9_000}, {})
    # Longer than the step itself, and in none.
    yield _case("benign-pause", (), {"batch": 64, "pause_us": 60_000}, {})
    yield _case("benign-loop-optimizer", (), {"batch": 64}, {"foreach": False})


CASES = {case.name: case for case in [*_single(), *_mixed(), *_benign()]}

"""Event files by TensorBoard's own writer, without TensorFlow, and what its reader says of them."""

import os

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2
from tensorboard.compat.proto.types_pb2 import DT_DOUBLE, DT_FLOAT, DT_HALF, DT_INT32
from tensorboard.plugins.scalar import metadata as scalar_metadata
from tensorboard.summary.writer.event_file_writer import EventFileWriter

TYPES = {"float": DT_FLOAT, "double": DT_DOUBLE, "int": DT_INT32, "half": DT_HALF}


class EventFile:
    """A writer that is flushed and closed with the `with` block."""

    def __init__(self, folder, name=""):
        """Named by the writer, which counts its files in a name that does not sort; or `name`."""
        os.makedirs(folder, exist_ok=True)
        self.folder, self.name, self.before = folder, name, set(os.listdir(folder))
        self.writer = EventFileWriter(folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.writer.close()
        if self.name:
            (made,) = set(os.listdir(self.folder)) - self.before
            os.rename(os.path.join(self.folder, made), os.path.join(self.folder, self.name))

    def _add(self, step, wall_time, value):
        summary = summary_pb2.Summary(value=[value])
        event = event_pb2.Event(wall_time=wall_time, step=step, summary=summary)
        self.writer.add_event(event)

    def scalar(self, tag, step, wall_time, value):
        self._add(step, wall_time, summary_pb2.Summary.Value(tag=tag, simple_value=value))

    def tensor(self, tag, step, wall_time, value, kind="float"):
        """A scalar as TensorFlow 2 and torch's new_style write it."""
        tensor = tensor_pb2.TensorProto(
            dtype=TYPES[kind], tensor_shape=tensor_shape_pb2.TensorShapeProto()
        )
        if kind == "half":
            tensor.half_val.append(value)  # its 16 bits
        else:
            getattr(tensor, f"{kind}_val").append(value)
        metadata = scalar_metadata.create_summary_metadata(display_name="", description="")
        made = summary_pb2.Summary.Value(tag=tag, tensor=tensor, metadata=metadata)
        self._add(step, wall_time, made)

    def histogram(self, tag, step, wall_time):
        histogram = summary_pb2.HistogramProto(min=0, max=1, num=1, sum=1, bucket_limit=[1])
        self._add(step, wall_time, summary_pb2.Summary.Value(tag=tag, histo=histogram))

    def session(self, step, wall_time):
        """What torch writes for purge_step."""
        log = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
        self.writer.add_event(event_pb2.Event(wall_time=wall_time, step=step, session_log=log))


def scalars_by_tensorboard(folder):
    """{tag: [(step, wall time, value)]} as TensorBoard's reader tells it, nothing left out."""
    accumulator = EventAccumulator(folder, size_guidance={"scalars": 0, "tensors": 0})
    accumulator.Reload()
    told = {}
    for tag in accumulator.Tags()["scalars"]:
        told[tag] = [(e.step, e.wall_time, e.value) for e in accumulator.Scalars(tag)]
    for tag in accumulator.Tags()["tensors"]:
        plugin = accumulator.SummaryMetadata(tag).plugin_data.plugin_name
        if plugin != scalar_metadata.PLUGIN_NAME:
            continue
        told[tag] = []
        for event in accumulator.Tensors(tag):
            tensor = event.tensor_proto
            values = [*tensor.float_val, *tensor.double_val, *tensor.int_val]
            told[tag].append((event.step, event.wall_time, float(values[0])))
    return told

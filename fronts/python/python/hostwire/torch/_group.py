"""The process group: what `torch.distributed` calls."""

import contextlib
import hashlib
from datetime import timedelta

import numpy as np
import torch
import torch.distributed as dist

import hostwire
from hostwire._lanes import Arena

from . import _launch
from ._tensors import Target, bytes_in_place, check, check_size, combination, source
from ._work import MessageWork, Worker

# Tags of messages: this bit, the number of the group, and the tag of the program.
_TAG_BIT = 1 << 63
_TAG_BITS = 32

_NO_TIME = timedelta(0)
_NOTHING = np.empty(0, np.uint8)

_arena = None
# How often this process has made a group of this name and these members; the number is the same at
# all members. The store may still have keys of an earlier one.
_times_made = {}


def create(options, _backend_options=None):
    """Makes the group that `torch.distributed` asks for."""
    rank, size, timeout = options.group_rank, options.group_size, options.timeout
    # None for the group of all processes.
    ranks = tuple(options.global_ranks_in_group)
    time = _times_made[options.group_id, ranks] = _times_made.get((options.group_id, ranks), 0) + 1
    members_id = hashlib.sha256(repr(ranks).encode()).hexdigest()[:32]
    store = dist.PrefixStore(f"hostwire-{members_id}-{time}", options.store)
    job, job_name = _launch.job(store, rank, size, timeout)
    arena = _arena_of(job, size)
    slot, number = arena.take()
    store.set(str(rank), f"{job_name} {job.pe} {slot} {number}")
    store.wait([str(member) for member in range(size)], timeout)
    members = [store.get(str(member)).decode().split() for member in range(size)]
    for member, (name, *_) in enumerate(members):
        if name != job_name:
            raise hostwire.CallerError(
                f"rank {member} of this group is in another job of hostwire: the first group with "
                "this backend has to have all processes that later ones have"
            )
    _, pes, slots, numbers = zip(*members, strict=True)
    if len(set(pes)) != size:
        raise hostwire.CallerError(
            f"{size} processes of this group are {len(set(pes))} PEs: hostwire.Job() of this process "
            "has not joined the others; make the process group first"
        )
    number = int(numbers[0])
    lanes = arena.lanes(rank, list(map(int, pes)), list(map(int, slots)), number)
    return HostwireGroup(job, arena, slot, lanes, number, timeout)


def _arena_of(job, size):
    global _arena
    if _arena is None or _arena.job is not job:
        # All PEs make it together, so PEs outside this group would be waited for.
        if size != job.pes:
            raise hostwire.CallerError(
                f"the first group with this backend has {size} of the job's {job.pes} processes; "
                "first make one that has all of them, by new_group(backend=\"hostwire\")"
            )
        _arena = Arena(job)
    return _arena


class HostwireGroup(dist.ProcessGroup):
    """A group of processes whose CPU tensors move by puts."""

    def __init__(self, job, arena, slot, lanes, number, timeout):
        super().__init__(lanes.rank, lanes.size)
        self._job, self._arena, self._slot, self._lanes = job, arena, slot, lanes
        self._number, self._timeout_s = number, timeout.total_seconds()
        self._worker = Worker()
        self._name = self._description = ""
        self._is_open, self._is_used = True, False
        _launch.groups.add(self)

    # Properties of the group.

    def getBackendName(self):
        return "hostwire"

    def getRank(self):
        return self._lanes.rank

    def getSize(self):
        return self._lanes.size

    rank, size = getRank, getSize

    def name(self):
        return "hostwire"

    def _set_group_name(self, name):
        self._name = name

    setGroupName = _set_group_name

    def getGroupName(self):
        return self._name

    group_name = property(getGroupName)

    def _set_group_desc(self, description):
        self._description = description

    setGroupDesc = _set_group_desc

    def getGroupDesc(self):
        return self._description

    group_desc = property(getGroupDesc)

    # PyTorch asks the backend of a device. This group is its own.
    supports_coalescing = supports_splitting = False

    def _get_backend(self, device):
        if torch.device(device).type != "cpu":
            raise hostwire.CallerError(f"the backend hostwire moves CPU tensors, not of {device}")
        return self

    get_backend = _get_backend

    @property
    def _device_types(self):
        # FSDP reads them. If a group has some while it is made, PyTorch takes it for a group of its own
        # backends, and looks for these.
        return [torch.device("cpu")] if self._is_used else []

    def set_timeout(self, timeout):
        """Operations that are called from now on have so much time."""
        self._timeout_s = timeout.total_seconds()

    _set_default_timeout = set_timeout

    def shutdown(self):
        """Ends what this process has for the group. Other ranks may still be in its operations."""
        if self._is_open:
            self._end()
            self.leave()

    abort = shutdown

    def leave(self):
        """Tells the other ranks that no operation of this one will come any more."""
        # A member that is lost or closed learns nothing; nor does any member if a thread is still
        # in an operation.
        with contextlib.suppress(hostwire.Error):
            self._lanes.leave()

    def _end(self):
        self._is_open = False
        self._worker.close()
        # After a failure a late put may still come, and would go into the slot's next group.
        if not self._worker.is_broken:
            self._arena.give_back(self._slot, self._lanes)

    def __del__(self):
        # Does not tell the others: that could wait for room on a wire.
        if getattr(self, "_is_open", False):
            self._end()

    # How an operation runs.

    def _run(self, operation, tensors, options):
        if not self._is_open:
            raise hostwire.CallerError("the process group was destroyed")
        self._is_used = True
        timeout = getattr(options, "timeout", None)
        has_limit = timeout is not None and timeout > _NO_TIME
        limit_s = timeout.total_seconds() if has_limit else self._timeout_s
        return self._worker.run(operation, limit_s, tensors, getattr(options, "asyncOp", True))

    # Collective operations.

    def allreduce(self, tensors, opts=None, **_):
        tensors = _list(tensors)
        if len(tensors) != 1:
            return self.allreduce_coalesced(tensors, opts)
        (tensor,) = tensors
        combine = combination(opts, tensor)
        return self._run(lambda limit_s: self._all_reduce(tensor, combine, limit_s), tensors, opts)

    def allreduce_coalesced(self, tensors, opts=None):
        combinations = [combination(opts, tensor) for tensor in tensors]

        def operation(limit_s):
            for tensor, combine in zip(tensors, combinations, strict=True):
                self._all_reduce(tensor, combine, limit_s)

        return self._run(operation, tensors, opts)

    def _all_reduce(self, tensor, combine, limit_s):
        values = bytes_in_place(tensor) if combine.is_bare else None
        if values is not None:
            self._lanes.all_reduce(values, combine.names, limit_s)
            return
        self._combine_in_place(self._lanes.all_reduce, tensor, combine, limit_s)

    def _combine_in_place(self, operation, tensor, combine, limit_s):
        target = Target(tensor, is_read=True)
        combine.scale(target.bytes)
        operation(target.bytes, combine.names, limit_s)
        combine.finish(target.bytes, self.size())
        target.store()

    def reduce(self, tensors, opts=None):
        (tensor,) = _list(tensors)
        combine = combination(opts, tensor)
        root = self._root(opts)

        def operation(limit_s):
            # Tensors of the other ranks stay unchanged.
            if self.rank() != root:
                # The tensor is only read, and may be in memory that cannot be written.
                values = combine.scaled(source(tensor))
                sent = self._nothing()
                sent[root] = values
                names = ("reduce", *combine.names)
                self._lanes.exchange(sent, self._nothing(), names, limit_s)
                return
            self._combine_in_place(self._lanes.reduce, tensor, combine, limit_s)

        return self._run(operation, [tensor], opts)

    def reduce_scatter(self, output_tensors, input_tensors, opts=None, **_):
        if isinstance(output_tensors, torch.Tensor):
            output_tensors, input_tensors = [output_tensors], [input_tensors]
        pairs = list(zip(output_tensors, input_tensors, strict=True))
        for output, values in pairs:
            self._check_count(values)
            for tensor in values:
                check(tensor, output.dtype)
            check_size(values[self.rank()], output)
        return self._reduce_scatter(pairs, opts)

    def reduce_scatter_single(self, output, values, opts=None):
        return self.reduce_scatter_single_coalesced([output], [values], opts)

    def reduce_scatter_single_coalesced(self, outputs, inputs, opts=None):
        pairs = list(zip(outputs, inputs, strict=True))
        for output, values in pairs:
            check(values, output.dtype)
            check_size(values, output, self.size())
        return self._reduce_scatter(pairs, opts)

    def _reduce_scatter(self, pairs, opts):
        """`pairs`: an output, with a list of tensors or with one for all ranks."""
        combinations = [combination(opts, output) for output, _ in pairs]

        def operation(limit_s):
            for (output, values), combine in zip(pairs, combinations, strict=True):
                if isinstance(values, torch.Tensor):
                    sources = [combine.scaled(source(values))]
                    sources = _parts(sources[0], self.size())
                else:
                    sources = [combine.scaled(source(tensor)) for tensor in values]
                target = Target(output)
                self._lanes.reduce_scatter(sources, target.bytes, combine.names, limit_s)
                combine.finish(target.bytes, self.size())
                target.store()

        return self._run(operation, [output for output, _ in pairs], opts)

    def allgather(self, output_tensors, input_tensors, opts=None, **_):
        if isinstance(input_tensors, torch.Tensor):
            output_tensors, input_tensors = [output_tensors], [input_tensors]
        pairs = list(zip(output_tensors, input_tensors, strict=True))
        for outputs, values in pairs:
            self._check_count(outputs)
            for output in outputs:
                check(output, values.dtype)
            check(values)
            check_size(values, outputs[self.rank()])

        def operation(limit_s):
            for outputs, values in pairs:
                targets = [Target(output) for output in outputs]
                parts = [target.bytes for target in targets]
                self._exchange([source(values)] * self.size(), parts, "all_gather", values, limit_s)
                for target in targets:
                    target.store()

        return self._run(operation, output_tensors, opts)

    def allgather_coalesced(self, output_lists, input_tensors, opts=None):
        # A list for each rank, of an output for each input; `allgather` takes them the other way round.
        self._check_count(output_lists)
        for outputs in output_lists:
            if len(outputs) != len(input_tensors):
                raise hostwire.CallerError(
                    f"{len(input_tensors)} inputs, and {len(outputs)} outputs for a rank"
                )
        by_input = [list(outputs) for outputs in zip(*output_lists, strict=True)]
        return self.allgather(by_input, input_tensors, opts)

    def all_gather_single(self, output, values, opts=None):
        return self.all_gather_single_coalesced([output], [values], opts)

    def all_gather_single_coalesced(self, outputs, inputs, opts=None):
        pairs = list(zip(outputs, inputs, strict=True))
        for output, values in pairs:
            check(values)
            check(output, values.dtype)
            check_size(output, values, self.size())

        def operation(limit_s):
            for output, values in pairs:
                target = Target(output)
                parts = _parts(target.bytes, self.size())
                self._exchange([source(values)] * self.size(), parts, "all_gather", values, limit_s)
                target.store()

        return self._run(operation, outputs, opts)

    def broadcast(self, tensors, opts=None, **_):
        (tensor,) = _list(tensors)
        check(tensor)
        root = self._root(opts)

        def operation(limit_s):
            if self.rank() == root:
                values = source(tensor)
                sent, outs = [values] * self.size(), self._nothing()
                sent[root] = _NOTHING
                self._exchange(sent, outs, "broadcast", tensor, limit_s)
            else:
                target = Target(tensor)
                outs = self._nothing()
                outs[root] = target.bytes
                self._exchange(self._nothing(), outs, "broadcast", tensor, limit_s)
                target.store()

        return self._run(operation, [tensor], opts)

    def gather(self, output_tensors, input_tensors, opts=None):
        (values,) = _list(input_tensors)
        check(values)
        root = self._root(opts)
        outputs = output_tensors[0] if self.rank() == root else []
        if self.rank() == root:
            self._check_count(outputs)
            for output in outputs:
                check(output, values.dtype)
            check_size(values, outputs[root])

        def operation(limit_s):
            targets = [Target(output) for output in outputs]
            sent, outs = self._nothing(), [target.bytes for target in targets]
            sent[root] = source(values)
            self._exchange(sent, outs or self._nothing(), "gather", values, limit_s)
            for target in targets:
                target.store()

        return self._run(operation, output_tensors, opts)

    def gather_single(self, output, values, opts=None):
        is_root = self.rank() == self._root(opts)
        if is_root:
            check_size(output, values, self.size())
            if not output.is_contiguous():
                raise hostwire.CallerError("expected an output whose elements lie behind each other")
        pieces = list(output.reshape(-1).chunk(self.size())) if is_root else []
        return self.gather([pieces], [values], opts)

    gather_into_tensor = gather_single

    def scatter(self, output_tensors, input_tensors, opts=None):
        (output,) = _list(output_tensors)
        check(output)
        root = self._root(opts)
        inputs = input_tensors[0] if self.rank() == root else []
        if self.rank() == root:
            self._check_count(inputs)
            for values in inputs:
                check(values, output.dtype)
            check_size(inputs[root], output)

        def operation(limit_s):
            target = Target(output)
            outs = self._nothing()
            outs[root] = target.bytes
            sent = [source(values) for values in inputs]
            self._exchange(sent or self._nothing(), outs, "scatter", output, limit_s)
            target.store()

        return self._run(operation, [output], opts)

    def alltoall(self, output_tensors, input_tensors, opts=None, **_):
        self._check_count(output_tensors)
        self._check_count(input_tensors)
        for tensor in (*output_tensors, *input_tensors):
            check(tensor, output_tensors[0].dtype)
        check_size(input_tensors[self.rank()], output_tensors[self.rank()])

        def operation(limit_s):
            targets = [Target(output) for output in output_tensors]
            sent = [source(values) for values in input_tensors]
            outs = [target.bytes for target in targets]
            self._exchange(sent, outs, "all_to_all", output_tensors[0], limit_s)
            for target in targets:
                target.store()

        return self._run(operation, output_tensors, opts)

    def all_to_all_single(self, output, values, output_splits, input_splits, opts=None, **_):
        check(output)
        check(values, output.dtype)
        out_bytes = _split_bytes(output, output_splits, self.size(), "output")
        in_bytes = _split_bytes(values, input_splits, self.size(), "input")
        if out_bytes[self.rank()] != in_bytes[self.rank()]:
            raise hostwire.CallerError(
                f"this rank sends itself {in_bytes[self.rank()]} bytes and expects "
                f"{out_bytes[self.rank()]}"
            )

        def operation(limit_s):
            target = Target(output)
            sent, outs = _cut(source(values), in_bytes), _cut(target.bytes, out_bytes)
            self._exchange(sent, outs, "all_to_all", output, limit_s)
            target.store()

        return self._run(operation, [output], opts)

    def barrier(self, opts=None, **_):
        return self._run(self._lanes.barrier, [], opts)

    # Names that older versions of PyTorch call.
    _allgather_base = all_gather_single
    allgather_into_tensor_coalesced = all_gather_single_coalesced
    _reduce_scatter_base = reduce_scatter_single
    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced
    alltoall_base = all_to_all_single

    def _exchange(self, sent, outs, name, tensor, limit_s):
        """`sent[i]` goes to rank `i`, and `outs[i]` comes from it: elements as those of `tensor`."""
        dtype = str(tensor.dtype).removeprefix("torch.")
        self._lanes.exchange(sent, outs, (name, dtype, None), limit_s)

    def _nothing(self):
        return [_NOTHING] * self.size()

    def _root(self, opts):
        root = opts.rootRank
        if not 0 <= root < self.size():
            raise hostwire.CallerError(f"there is no rank {root} in a group of {self.size()}")
        return root

    def _check_count(self, tensors):
        if len(tensors) != self.size():
            raise hostwire.CallerError(
                f"expected {self.size()} tensors, one for each rank, got {len(tensors)}"
            )

    # Messages.

    def send(self, tensors, to, tag=0):
        (tensor,) = _list(tensors)
        check(tensor)
        request = self._job.start_send(self._pe(to), source(tensor), self._tag(tag))
        return MessageWork([tensor], request)

    def recv(self, tensors, source_rank, tag=0):
        return self._recv(tensors, self._pe(source_rank), tag)

    def recv_anysource(self, tensors, tag=0):
        return self._recv(tensors, None, tag)

    recvAnysource = recv_anysource

    def _recv(self, tensors, pe, tag):
        (tensor,) = _list(tensors)
        check(tensor)
        size_bytes = tensor.numel() * tensor.element_size()
        request = self._job.start_recv(pe, self._tag(tag), room_bytes=size_bytes)

        def take(message):
            if len(message.data) != size_bytes:
                raise hostwire.CallerError(
                    f"the message has {len(message.data)} bytes, the tensor {size_bytes}"
                )
            if size_bytes:
                target = Target(tensor)
                target.bytes[:] = np.frombuffer(message.data, np.uint8)
                target.store()
            return self._lanes.pes.index(message.source)

        return MessageWork([tensor], request, take)

    def _pe(self, rank):
        if not 0 <= rank < self.size():
            raise hostwire.CallerError(f"there is no rank {rank} in a group of {self.size()}")
        return self._lanes.pes[rank]

    def _tag(self, tag):
        if not 0 <= tag < 1 << _TAG_BITS:
            raise hostwire.CallerError(f"a tag is a number from 0 to 2^{_TAG_BITS} - 1, got {tag}")
        return _TAG_BIT | self._number << _TAG_BITS | tag

    # Operations that are called between these two run one after the other, as without them.

    def start_coalescing(self, _device=None):
        """Nothing has to be kept together."""

    def end_coalescing(self, _device=None):
        return self._run(lambda _: None, [], None)

    _start_coalescing, _end_coalescing = start_coalescing, end_coalescing


def _list(tensors):
    return [tensors] if isinstance(tensors, torch.Tensor) else tensors


def _parts(values, count):
    """`values`, whose length is a multiple of `count`, in so many parts."""
    step = values.size // count
    return [values[index * step : (index + 1) * step] for index in range(count)]


def _cut(values, sizes_bytes):
    ends = np.cumsum(sizes_bytes).tolist()
    return [
        values[end - size : end] for end, size in zip(ends, sizes_bytes, strict=True)
    ]


def _split_bytes(tensor, rows, size, what):
    """Bytes for each rank, of so many rows each; of equal parts, if `rows` is empty."""
    length = tensor.shape[0] if tensor.dim() else 0
    if not rows:
        if length % size:
            raise hostwire.CallerError(
                f"{what}: expected a first axis of a multiple of {size}, got {length}"
            )
        rows = [length // size] * size
    if len(rows) != size or sum(rows) != length or min(rows) < 0:
        raise hostwire.CallerError(
            f"{what}: expected {size} sizes whose sum is the first axis, {length}, got {list(rows)}"
        )
    row_bytes = tensor[:1].numel() * tensor.element_size() if length else 0
    return [count * row_bytes for count in rows]

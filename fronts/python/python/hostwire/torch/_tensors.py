"""Tensors as bytes, and how their elements are combined."""

from ctypes import c_ubyte

import numpy as np
import torch
import torch.distributed as dist

import hostwire

_INTEGERS = {
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
}
_FLOATS = {torch.float16, torch.bfloat16, torch.float32, torch.float64}
_COMPLEX = {torch.complex64, torch.complex128}
_BITS = _INTEGERS | {torch.bool}
_ORDERED = _BITS | _FLOATS
_ALL = _ORDERED | _COMPLEX

_Op = dist.ReduceOp.RedOpType
_SUM = _Op.SUM
# The operation on two elements, and the types that it takes. AVG is a sum, divided at the end.
_OPERATIONS = {
    _Op.SUM: ("sum", _ALL),
    _Op.AVG: ("sum", _FLOATS | _COMPLEX),
    _Op.PRODUCT: ("prod", _ALL),
    _Op.MIN: ("min", _ORDERED),
    _Op.MAX: ("max", _ORDERED),
    _Op.BAND: ("and", _BITS),
    _Op.BOR: ("or", _BITS),
    _Op.BXOR: ("xor", _BITS),
}
# The same operations on bools.
_OF_BOOLS = {"sum": "or", "max": "or", "prod": "and", "min": "and"}
# Names of types in the native part.
_NAMES = {dtype: str(dtype).removeprefix("torch.") for dtype in _ALL}
# Types that NumPy lacks.
_FOREIGN = {torch.bfloat16}


def check(tensor, dtype=None):
    """An error if `tensor` is none that this backend can read and write, or not of `dtype`."""
    if not isinstance(tensor, torch.Tensor):
        raise hostwire.CallerError(f"expected a tensor, got {type(tensor).__name__}")
    if not tensor.is_cpu:
        raise hostwire.CallerError(
            f"expected a tensor in the memory of the CPU, got one on {tensor.device}: the backend "
            "hostwire moves CPU tensors; copy it there, or make a group of another backend for it, "
            "by new_group(backend=...)"
        )
    if tensor.layout is not torch.strided or tensor.is_quantized:
        kind = "a quantized one" if tensor.is_quantized else f"one of layout {tensor.layout}"
        raise hostwire.CallerError(f"expected a dense tensor, got {kind}")
    if dtype is not None and tensor.dtype != dtype:
        raise hostwire.CallerError(f"expected elements of {dtype}, got {tensor.dtype}")


def check_size(tensor, other, times=1):
    """An error if `tensor` has not `times` as many elements as `other`."""
    expected = other.numel() * times
    if tensor.numel() != expected:
        raise hostwire.CallerError(f"expected {expected} elements, got {tensor.numel()}")


class _Memory:
    """The memory of a tensor, for NumPy. `tensor.numpy()` would mark the storage as one that cannot
    be resized, for ever; FSDP resizes what it has gathered."""

    def __init__(self, tensor):
        self._tensor = tensor
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (tensor.numel() * tensor.element_size(),),
            "data": (tensor.data_ptr(), False),
        }


def bytes_of(tensor):
    """The bytes of a tensor whose elements lie behind each other, as an array that keeps it alive."""
    if tensor.numel() == 0:
        return np.empty(0, np.uint8)
    return np.asarray(_Memory(tensor))


def _is_plain(tensor):
    return tensor.is_contiguous() and not tensor.is_conj() and not tensor.is_neg()


def source(tensor):
    """The bytes of a tensor that is read only; of a copy, if its elements lie apart."""
    return bytes_of(tensor if _is_plain(tensor) else _packed(tensor))


def _packed(tensor):
    packed = torch.empty(tensor.shape, dtype=tensor.dtype)
    return packed.copy_(tensor.detach())


def bytes_in_place(tensor):
    """As `bytes_of`, in less time: for a call, since they do not keep the tensor alive. None if its elements
    lie apart."""
    len_bytes = tensor.nbytes
    if not len_bytes or not _is_plain(tensor):
        return None
    return (c_ubyte * len_bytes).from_address(tensor.data_ptr())


class Target:
    """The bytes of a tensor that is written, until `store` puts them where they belong."""

    def __init__(self, tensor, is_read=False):
        self._tensor = tensor
        self._packed = None
        if not _is_plain(tensor):
            self._packed = _packed(tensor) if is_read else torch.empty(
                tensor.shape, dtype=tensor.dtype
            )
        self.bytes = bytes_of(tensor if self._packed is None else self._packed)

    def store(self):
        if self._packed is not None:
            self._tensor.detach().copy_(self._packed)


class Combination:
    """How elements of `dtype` are combined by `op`: `names` of both for the native part, and what is
    done before and after."""

    def __init__(self, op, dtype):
        self._dtype = dtype
        self._factor = None
        # An operation that has only a name is a ReduceOp.
        kind = getattr(op, "op", op)
        if kind == _Op.PREMUL_SUM:
            self._factor = op.factor if hasattr(op, "factor") else op.__getstate__()[1]
            kind = _Op.SUM
        if kind not in _OPERATIONS:
            raise hostwire.CallerError(f"the backend hostwire has no reduction {op}")
        name, dtypes = _OPERATIONS[kind]
        if dtype not in dtypes:
            raise hostwire.CallerError(f"{kind.name} does not combine elements of {dtype}")
        if dtype is torch.bool:
            name = _OF_BOOLS.get(name, name)
        self.names = _NAMES[dtype], name
        self._is_average = kind == _Op.AVG
        # Whether nothing is done before and after.
        self.is_bare = self._factor is None and not self._is_average

    @property
    def has_factor(self):
        return self._factor is not None

    def scale(self, values):
        """What is done with the own elements at first, `values` being their bytes."""
        if self._factor is not None and values.size:
            self._tensor(values, self._dtype).mul_(self._factor)

    def scaled(self, values):
        """As `scale`, of elements that must not be changed."""
        if self._factor is not None:
            values = values.copy()
            self.scale(values)
        return values

    def finish(self, values, size):
        """What is done with the result of `size` ranks."""
        if self._is_average and values.size:
            # Each part of a complex element.
            real = self._dtype.to_real() if self._dtype.is_complex else self._dtype
            self._tensor(values, real).div_(size)

    @staticmethod
    def _tensor(values, dtype):
        return torch.frombuffer(values, dtype=dtype)


# By operation and dtype; those with a factor are none of them. Sums have a table of their own: to look up an
# operation of PyTorch takes longer than to compare it.
_combinations, _sums = {}, {}


def combination(options, tensor):
    """How `options` of an operation want the elements of `tensor` combined."""
    check(tensor)
    op = getattr(options, "reduceOp", options)
    if op is None or op == _SUM:
        op, known, key = _SUM, _sums, tensor.dtype
    else:
        known, key = _combinations, (getattr(op, "op", op), tensor.dtype)
    found = known.get(key)
    if found is None:
        found = Combination(op, tensor.dtype)
        if not found.has_factor:
            known[key] = found
    return found

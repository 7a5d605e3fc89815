"""Arrays for the native part: converted, copied, or made for a result."""

import contextlib

import numpy as np

from .errors import CallerError


def _array(values):
    """`values` as an array, without a copy where NumPy needs none."""
    if hasattr(values, "__dlpack__") and not isinstance(values, np.ndarray):
        # First, since PyTorch's `__array__` marks its tensor as one that cannot be resized any more.
        with contextlib.suppress(Exception):
            return np.from_dlpack(values)
    return np.asarray(values)


def converted(values, dtype):
    """`values` as an array of `dtype`, if no value is lost."""
    array = _array(values)
    if array.dtype == dtype:
        return np.asarray(array, dtype=dtype, order="C")
    if not isinstance(values, np.ndarray) and array.dtype.kind in "iu" and dtype.kind in "iu":
        # NumPy looks at each number, and raises OverflowError.
        try:
            return np.asarray(values, dtype=dtype, order="C")
        except OverflowError as error:
            raise CallerError(str(error)) from None
    if not np.can_cast(array.dtype, dtype, casting="same_kind"):
        raise CallerError(f"values: expected {dtype}, got {array.dtype}; convert them by astype()")
    return array.astype(dtype, order="C")


def as_array(local, dtype, copy):
    """What `numpy.asarray` asks an array handle for."""
    if copy is None:
        return np.asarray(local, dtype=dtype)
    return np.array(local, dtype=dtype, copy=copy)


def as_input(values):
    """`values` as an array whose elements lie behind each other, aligned, in this machine's order."""
    array = _array(values)
    if array.dtype.hasobject:
        raise CallerError(f"expected plain data, got an array of {array.dtype}")
    return np.require(array, dtype=array.dtype.newbyteorder("="), requirements=["C", "A"])


def copied(values):
    """A copy of `values` to work in."""
    return np.array(as_input(values), order="C")


def check_out(out, values):
    """An error if `out` cannot take a result like `values`, to work in."""
    array = np.asarray(values)
    if not isinstance(out, np.ndarray):
        raise CallerError(f"out: expected an array, got {type(out).__name__}")
    if (out.shape, out.dtype) != (array.shape, array.dtype):
        raise CallerError(
            f"out: expected {array.dtype} of shape {array.shape}, got {out.dtype} of {out.shape}"
        )
    if not (out.flags.writeable and out.flags.c_contiguous):
        raise CallerError("out: expected a writable array whose elements lie behind each other")


def room_for(out):
    """An array as `out`, whose elements lie behind each other."""
    return np.empty(out.shape, out.dtype)


def assign(out, values):
    """Copies `values` to `out`."""
    try:
        out[...] = values
    except ValueError as error:
        raise CallerError(f"out: {error}") from None


def gathered(values, size):
    """Room for `size` arrays as `values`."""
    return np.empty((size, *values.shape), values.dtype)


def exchanged(values, size):
    """Room for what `size` ranks send."""
    _rows(values, size)
    return np.empty_like(values)


def piece(values, size):
    """Room for one of `size` pieces."""
    rows = _rows(values, size)
    return np.empty((rows // size, *values.shape[1:]), values.dtype)


def _rows(values, size):
    if values.ndim == 0 or values.shape[0] % size != 0:
        raise CallerError(
            f"values: expected a first axis of a multiple of {size}, got shape {values.shape}"
        )
    return values.shape[0]


def row_bytes(values):
    """Bytes of one element of the first axis."""
    if values.ndim == 0:
        raise CallerError("values: expected an array with one axis or more, got a number")
    return values.dtype.itemsize * int(np.prod(values.shape[1:], dtype=np.int64))


def joined(values, rows):
    """Room for `rows` rows as those of `values`."""
    return np.empty((rows, *values.shape[1:]), values.dtype)


def scattered(values, out, is_root):
    """What the root of a scatter gives, in the elements of `out`; nothing elsewhere."""
    if not isinstance(out, np.ndarray):
        raise CallerError(f"out: expected an array, got {type(out).__name__}")
    if not is_root:
        return np.empty(0, out.dtype)
    if values is None:
        raise CallerError("values: the root has to give them")
    given = converted(values, out.dtype)
    # The native part reads one while it writes the other, so they must not overlap.
    return given.copy() if np.may_share_memory(given, out) else given


def message(data):
    """The elements of an array behind each other."""
    if not isinstance(data, np.ndarray):
        raise CallerError(f"data: expected bytes or an array, got {type(data).__name__}")
    if data.dtype.hasobject:
        raise CallerError("data: an array of Python objects has no bytes; use send_object")
    return np.ascontiguousarray(data).view(np.uint8)

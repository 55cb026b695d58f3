"""Machine instructions that numba has no function for.

Call an address, prefetch a cache line, and search a block of entries at once: numba's own
loops for a maximum, its place, or a match in a short row do not use the vector registers.
"""

import functools
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import carray, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload
from numba.np.arrayobj import populate_array


def by_type(**options: Any) -> Callable[[Any], Any]:
    """Let compiled code call what ``resolve`` returns for the types of its arguments.

    Like ``numba.extending.overload``, but a fingerprint reaches ``resolve``, as the name closes
    over it.
    """

    def decorate(resolve: Any) -> Any:
        @functools.wraps(resolve)
        def name(*arguments: Any) -> Any:
            raise TypeError(f"only compiled code can call {resolve.__name__}")

        overload(name, **options)(resolve)
        return name

    return decorate


@intrinsic
def plain(typing_context, value):
    """``value``, which must be a number on every branch of the code that made it."""
    if isinstance(value, types.Optional | types.NoneType):
        raise TypingError("a branch returns nothing; expected a number from each")
    return value(value), lambda context, builder, signature, arguments: arguments[0]


@intrinsic
def call_scalar(typing_context, address, theta, a, b, c):
    """``f(theta, a, b, c)`` for the function at ``address`` and the numbers at ``theta``."""
    return _call_of(3)


@intrinsic
def call_step(typing_context, address, theta, s, gap, eta, y, j):
    """``f(theta, s, gap, eta, y, j)``, likewise."""
    return _call_of(5)


def _call_of(arity):
    """Typing and code of a call by address with so many doubles."""
    double, pointer = ir.DoubleType(), ir.PointerType(ir.DoubleType())

    def generate(context, builder, signature, arguments):
        address, theta, *numbers = arguments
        function = ir.FunctionType(double, [pointer, *[double] * arity])
        target = builder.inttoptr(address, ir.PointerType(function))
        return builder.call(target, [builder.inttoptr(theta, pointer), *numbers])

    return types.float64(types.intp, types.intp, *[types.float64] * arity), generate


@intrinsic
def call_writer(typing_context, address, theta, c, indices, values):
    """``f(theta, c, length of c, indices, values)`` for arrays; see ``rcmd.jit.writers``."""

    def generate(context, builder, signature, arguments):
        address, theta, *arrays = arguments
        kinds = signature.args[2:]
        parts = [
            context.make_array(kind)(context, builder, array)
            for kind, array in zip(kinds, arrays, strict=True)
        ]
        c, indices, values = (part.data for part in parts)
        whole, pointer = ir.IntType(64), ir.PointerType(ir.DoubleType())
        kinds = [pointer, pointer, whole, ir.PointerType(whole), pointer]
        target = builder.inttoptr(address, ir.PointerType(ir.FunctionType(whole, kinds)))
        theta = builder.inttoptr(theta, pointer)
        return builder.call(target, [theta, c, parts[0].nitems, indices, values])

    return types.int64(types.intp, types.intp, c, indices, values), generate


@intrinsic
def part(typing_context, array, start, stop):
    """``array[start:stop]`` of a contiguous vector, to be used while that is.

    A slice counts its users, and each count is an atomic instruction of some 5 ns.
    """

    def generate(context, builder, signature, arguments):
        whole, start, stop = arguments
        make = context.make_array(signature.args[0])
        whole, made = make(context, builder, whole), make(context, builder)
        populate_array(
            made,
            data=builder.gep(whole.data, [start]),
            shape=[builder.sub(stop, start)],
            strides=[whole.itemsize],
            itemsize=whole.itemsize,
            meminfo=None,
        )
        return made._getvalue()

    return array(array, types.intp, types.intp), generate


@intrinsic
def pointer_at(typing_context, address):
    """The place of an address that is kept as a double, in which all of them fit."""

    def generate(context, builder, signature, arguments):
        address = builder.fptoui(arguments[0], ir.IntType(64))
        return builder.inttoptr(address, ir.PointerType(ir.IntType(8)))

    return types.voidptr(types.float64), generate


@by_type(inline="always")
def array_at(address, shape, dtype):
    """The contiguous array there."""
    return lambda address, shape, dtype: carray(pointer_at(address), shape, dtype)


@intrinsic
def prefetch(typing_context, array, offset):
    """Ask for the cache line ``offset`` bytes into ``array``; never faults."""

    def generate(context, builder, signature, arguments):
        array_type = signature.args[0]
        data = context.make_array(array_type)(context, builder, arguments[0]).data
        byte = ir.PointerType(ir.IntType(8))
        _prefetch(builder, builder.gep(builder.bitcast(data, byte), [arguments[1]]))
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


@intrinsic
def prefetch_address(typing_context, address):
    """Ask for the cache line at ``address``; never faults."""

    def generate(context, builder, signature, arguments):
        _prefetch(builder, builder.inttoptr(arguments[0], ir.PointerType(ir.IntType(8))))
        return context.get_dummy_value()

    return types.void(types.intp), generate


def _prefetch(builder, line):
    """Have the line of a pointer to bytes brought into all caches, for reading."""
    byte, integer = ir.PointerType(ir.IntType(8)), ir.IntType(32)
    function = builder.module.declare_intrinsic(
        "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, *[integer] * 3])
    )
    read, keep, data_cache = integer(0), integer(3), integer(1)
    builder.call(function, [line, read, keep, data_cache])


@intrinsic
def larger(typing_context, a, b):
    """max(a, b) of two doubles that are not nan."""
    signature = types.float64(types.float64, types.float64)
    return signature, lambda context, builder, _, arguments: _maximum(builder, *arguments)


@intrinsic
def masked(typing_context, x, keep, flip):
    """The double with the bits ``(bits of x & keep) ^ flip``: |x|, -x or x."""

    def generate(context, builder, signature, arguments):
        x, keep, flip = arguments
        bits = builder.bitcast(x, ir.IntType(64))
        return builder.bitcast(builder.xor(builder.and_(bits, keep), flip), ir.DoubleType())

    return types.float64(types.float64, types.uint64, types.uint64), generate


@intrinsic
def highest_of_64(typing_context, d, start, keep, flip):
    """The maximum of ``masked(d[k], keep, flip)`` over the 64 k from ``start`` on."""

    def generate(context, builder, signature, arguments):
        keys = _masked_64(context, builder, signature.args[0], *arguments)
        return _highest(builder, keys)

    return types.float64(d, types.uint64, types.uint64, types.uint64), generate


@intrinsic
def coded_highest_of_64(typing_context, d, start, keep, code):
    """The bits of the largest ``masked(d[k], keep, 0)`` over these k, plus ``code - k``.

    ``keep`` drops as many of the lowest bits as ``code`` needs.
    """

    def generate(context, builder, signature, arguments):
        array, start, keep, code = arguments
        word = ir.IntType(64)
        keys = _masked_64(context, builder, signature.args[0], array, start, keep, word(0))
        lanes = ir.Constant(ir.VectorType(word, 64), [word(t) for t in range(64)])
        codes = builder.sub(_splat(builder, builder.sub(code, start), 64), lanes)
        coded = builder.or_(builder.bitcast(keys, codes.type), codes)
        return builder.bitcast(_highest(builder, builder.bitcast(coded, keys.type)), word)

    return types.uint64(d, types.uint64, types.uint64, types.uint64), generate


@intrinsic
def first_of_64(typing_context, d, start, keep, flip, wanted):
    """The first of these k with ``masked(d[k], keep, flip) == wanted``; 64 further if none has."""

    def generate(context, builder, signature, arguments):
        *block, wanted = arguments
        keys = _masked_64(context, builder, signature.args[0], *block)
        same = builder.fcmp_ordered("==", keys, _splat(builder, wanted, 64))
        mask = builder.bitcast(same, ir.IntType(64))
        return builder.add(block[1], builder.cttz(mask, ir.IntType(1)(0)))

    return types.uint64(d, types.uint64, types.uint64, types.uint64, types.float64), generate


@intrinsic
def match_16(typing_context, columns, start, wanted):
    """Bit t of the answer is set where ``columns[start + t] == wanted``, t < 16."""

    def generate(context, builder, signature, arguments):
        array, start, wanted = arguments
        if signature.args[0].dtype.bitwidth < 64:
            wanted = builder.trunc(wanted, ir.IntType(signature.args[0].dtype.bitwidth))
        block = _load_block(context, builder, signature.args[0], array, start, 16)
        same = builder.icmp_unsigned("==", block, _splat(builder, wanted, 16))
        return builder.zext(builder.bitcast(same, ir.IntType(16)), ir.IntType(64))

    return types.uint64(columns, types.uint64, types.uint64), generate


@intrinsic
def lowest_bit(typing_context, mask):
    """The number of the lowest set bit of a mask that is not zero."""
    nonzero, signature = ir.IntType(1)(1), types.uint64(types.uint64)
    return signature, lambda context, builder, _, arguments: builder.cttz(arguments[0], nonzero)


def _highest(builder, keys):
    """The largest of 64 lanes."""
    width = 64
    while width > 1:  # halve: lane t against lane t + width
        width //= 2
        left, right = (
            builder.shuffle_vector(keys, keys, _lanes(range(first, first + width)))
            for first in (0, width)
        )
        keys = _maximum(builder, left, right)
    return builder.extract_element(keys, ir.IntType(32)(0))


def _maximum(builder, a, b):
    """One vmaxpd: the flags drop the order of nan and of signed zeros that max() keeps."""
    flags = ("nnan", "nsz")
    return builder.select(builder.fcmp_ordered(">", a, b, flags=flags), a, b, flags=flags)


def _masked_64(context, builder, array_type, array, start, keep, flip):
    block = _load_block(context, builder, array_type, array, start, 64)
    bits = builder.bitcast(block, ir.VectorType(ir.IntType(64), 64))
    bits = builder.and_(bits, _splat(builder, keep, 64))
    return builder.bitcast(builder.xor(bits, _splat(builder, flip, 64)), block.type)


def _load_block(context, builder, array_type, array, start, length):
    """``array[start : start + length]`` as one vector; the array is contiguous."""
    data = context.make_array(array_type)(context, builder, array).data
    pointer = builder.gep(data, [start])
    vector = ir.VectorType(pointer.type.pointee, length)
    return builder.load(
        builder.bitcast(pointer, ir.PointerType(vector)), align=array_type.dtype.bitwidth // 8
    )


def _splat(builder, scalar, length):
    vector = ir.VectorType(scalar.type, length)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.IntType(32)(0))
    return builder.shuffle_vector(one, one, _lanes([0] * length))


def _lanes(numbers):
    lane = ir.IntType(32)
    return ir.Constant(ir.VectorType(lane, len(numbers)), [lane(t) for t in numbers])

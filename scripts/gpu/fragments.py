#!/usr/bin/env python3
"""Where the fragments of `wmma` lie in registers, and the sums of its products: one line per fragment, the same text on a GPU and on
the emulator. Needs the CUDA driver alone.

    python3 scripts/gpu/fragments.py
    ridgepoint emulate python3 scripts/gpu/fragments.py

A line `a row m16n16k16 f16 4: ..` has, for each of 32 lanes, for each register, for each element of it from the lowest bits on, the
element's number in three hexadecimal digits: row * columns + column."""

import ctypes
import random
import struct
import sys

# Bits of an element, and for each shape the registers of a and of b.
M16, M8, M32 = "m16n16k16", "m8n32k16", "m32n8k16"
FACTORS = {
    "f16": (16, {M16: (8, 8), M8: (8, 8), M32: (8, 8)}),
    "bf16": (16, {M16: (4, 4), M8: (2, 8), M32: (8, 2)}),
    "tf32": (32, {"m16n16k8": (4, 4)}),
    "s8": (8, {M16: (2, 2), M8: (1, 4), M32: (4, 1)}),
    "u8": (8, {M16: (2, 2), M8: (1, 4), M32: (4, 1)}),
    "s4": (4, {"m8n8k32": (1, 1)}),
    "u4": (4, {"m8n8k32": (1, 1)}),
    "b1": (1, {"m8n8k128": (1, 1)}),
    "f64": (64, {"m8n8k4": (1, 1)}),
}
# Bits of an element of the sums.
SUMS = {"f16": 16, "f32": 32, "s32": 32, "f64": 64}
SUMS_OF = {"f16": ["f16", "f32"], "bf16": ["f32"], "tf32": ["f32"], "f64": ["f64"]}


def sizes(shape):
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


def registers_of_sum(shape, kind):
    m, n, _ = sizes(shape)
    return m * n // 32 * SUMS[kind] // max(SUMS[kind], 32)


def fragments():
    """Each fragment: its name, its layout, its shape, its type, bits, registers, rows and columns."""
    seen = set()
    for kind, (bits, shapes) in FACTORS.items():
        for shape, (of_a, of_b) in shapes.items():
            m, n, k = sizes(shape)
            layouts = {"a": ["row"], "b": ["col"]} if bits < 8 else {"a": ["row", "col"], "b": ["row", "col"]}
            for layout in layouts["a"]:
                yield "a", layout, shape, kind, bits, of_a, m, k
            for layout in layouts["b"]:
                yield "b", layout, shape, kind, bits, of_b, k, n
            for of_sum in SUMS_OF.get(kind, ["s32"]):
                for layout in ["row", "col"]:
                    if ("c", layout, shape, of_sum) not in seen:
                        seen.add(("c", layout, shape, of_sum))
                        yield "c", layout, shape, of_sum, SUMS[of_sum], registers_of_sum(shape, of_sum), m, n


def register(bits, kind):
    """The type of a register, its bytes and how it is stored."""
    if bits == 64:
        return ".f64", 8, "f64"
    return (".f32", 4, "f32") if kind == "f32" else (".b32", 4, "b32")


def listed(name, count):
    return "{" + ", ".join(f"%{name}{at}" for at in range(count)) + "}"


def fragment_kernel(name, fragment, lane_side, body):
    """A kernel of a buffer to read, one to write and a stride; each lane has its part of one of the two."""
    bits, kind, count = fragment[4], fragment[3], fragment[5]
    of, size, _ = register(bits, kind)
    return f"""
.visible .entry {name}(.param .u64 p0, .param .u64 p1, .param .u32 p2)
{{
    .reg {of} %x<{count}>;
    .reg .b64 %in, %out;
    .reg .b32 %lane, %stride;
    ld.param.u64 %in, [p0];
    ld.param.u64 %out, [p1];
    ld.param.u32 %stride, [p2];
    mov.u32 %lane, %tid.x;
    mad.wide.u32 %{lane_side}, %lane, {count * size}, %{lane_side};
{body}
}}
"""


def fragment_kernels(fragment):
    """Loads a fragment and shows its registers; of sums, stores one that was shown."""
    name, layout, shape, kind, bits, count, *_ = fragment
    _, size, store = register(bits, kind)
    load = f"    wmma.load.{name}.sync.aligned.{layout}.{shape}.global.{kind} {listed('x', count)}, [%in], %stride;\n"
    shown = "\n".join(f"    st.global.{store} [%out + {at * size}], %x{at};" for at in range(count))
    text = fragment_kernel(f"load_{name}_{layout}_{shape}_{kind}", fragment, "out", load + shown)
    if name == "c":
        given = "\n".join(f"    ld.global.{store} %x{at}, [%in + {at * size}];" for at in range(count))
        stored = f"\n    wmma.store.d.sync.aligned.{layout}.{shape}.global.{kind} [%out], {listed('x', count)}, %stride;"
        text += fragment_kernel(f"store_{layout}_{shape}_{kind}", fragment, "in", given + stored)
    return text


def products():
    """Each product: the type of its factors, its shape, layouts, the types of d and c, what stands behind the names."""
    for kind, (bits, shapes) in FACTORS.items():
        for shape in shapes:
            both = [("row", "col")] if bits < 8 else [(a, b) for a in ["row", "col"] for b in ["row", "col"]]
            for layouts in both:
                if kind == "b1":
                    for operator in ["xor", "and"]:
                        yield kind, shape, layouts, "s32", "s32", operator
                elif kind == "f16":
                    for d in ["f16", "f32"]:
                        for c in ["f16", "f32"]:
                            yield kind, shape, layouts, d, c, ""
                elif kind in ("bf16", "tf32", "f64"):
                    of_sum = SUMS_OF[kind][0]
                    yield kind, shape, layouts, of_sum, of_sum, ""
                else:
                    yield kind, shape, layouts, "s32", "s32", ""
                    yield kind, shape, layouts, "s32", "s32", "satfinite"


def product_name(product):
    kind, shape, layouts, d, c, extra = product
    return "_".join(filter(None, ["mma", kind, shape, *layouts, d, c, extra]))


def product_kernel(product):
    kind, shape, (of_a, of_b), d, c, extra = product
    bits, shapes = FACTORS[kind]
    a_count, b_count = shapes[shape]
    c_count, d_count = registers_of_sum(shape, c), registers_of_sum(shape, d)
    m, n, k = sizes(shape)
    factor, c_of, d_of = (register(width, of)[0] for width, of in [(bits, kind), (SUMS[c], c), (SUMS[d], d)])
    operator = f".{extra}.popc" if kind == "b1" else ""
    types = f"{d}.{c}" if kind == "f16" else f"{d}.{kind}.{kind}.{c}"
    rounding = ".rn" if kind == "f64" else ""
    saturation = ".satfinite" if extra == "satfinite" else ""
    strides = [k if of_a == "row" else m, n if of_b == "row" else k]
    return f"""
.visible .entry {product_name(product)}(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)
{{
    .reg {factor} %a<{a_count}>, %b<{b_count}>;
    .reg {c_of} %c<{c_count}>;
    .reg {d_of} %d<{d_count}>;
    .reg .b64 %p<4>;
    ld.param.u64 %p0, [p0];
    ld.param.u64 %p1, [p1];
    ld.param.u64 %p2, [p2];
    ld.param.u64 %p3, [p3];
    wmma.load.a.sync.aligned.{of_a}.{shape}.global.{kind} {listed("a", a_count)}, [%p0], {strides[0]};
    wmma.load.b.sync.aligned.{of_b}.{shape}.global.{kind} {listed("b", b_count)}, [%p1], {strides[1]};
    wmma.load.c.sync.aligned.row.{shape}.global.{c} {listed("c", c_count)}, [%p2], {n};
    wmma.mma{operator}.sync.aligned.{of_a}.{of_b}.{shape}{rounding}.{types}{saturation} {listed("d", d_count)}, {listed("a", a_count)}, {listed("b", b_count)}, {listed("c", c_count)};
    wmma.store.d.sync.aligned.row.{shape}.global.{d} [%p3], {listed("d", d_count)}, {n};
}}
"""


def module():
    kernels = [fragment_kernels(it) for it in fragments()] + [product_kernel(it) for it in products()]
    return ".version 8.0\n.target sm_90\n.address_size 64\n" + "".join(kernels)


class Driver:
    """The driver's functions that are needed, on the first device."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            sys.exit(f"{error}: without a GPU, `ridgepoint emulate` has a driver")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.loaded = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(self.loaded), module().encode() + b"\0")

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            sys.exit(f"{name}: error {status}")

    def memory(self, data):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoD_v2", address, bytes(data), ctypes.c_size_t(len(data)))
        return address

    def launch(self, name, inputs, bytes_out, *scalars):
        """One warp; returns the bytes of the last buffer, which begins as zeros."""
        buffers = [self.memory(it) for it in inputs] + [self.memory(bytes(bytes_out))]
        arguments = buffers + [ctypes.c_uint32(it) for it in scalars]
        pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.cast(ctypes.byref(it), ctypes.c_void_p) for it in arguments))
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), self.loaded, name.encode())
        self.call("cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, None, pointers, None)
        out = ctypes.create_string_buffer(bytes_out)
        self.call("cuMemcpyDtoH_v2", out, buffers[-1], ctypes.c_size_t(bytes_out))
        for buffer in buffers:
            self.call("cuMemFree_v2", buffer)
        return out.raw


def packed(values, bits):
    """Elements of so many bits, the first in the lowest."""
    number = 0
    for at, value in enumerate(values):
        number |= (value & ((1 << bits) - 1)) << (at * bits)
    return number.to_bytes(len(values) * bits // 8, "little")


def unpacked(data, bits):
    number = int.from_bytes(data, "little")
    return [number >> (at * bits) & ((1 << bits) - 1) for at in range(len(data) * 8 // bits)]


def show_fragment(driver, fragment):
    name, layout, shape, kind, bits, count, rows, columns = fragment
    # The element's number at each place of memory.
    if layout == "row":
        at_place, stride = list(range(rows * columns)), columns
    else:
        at_place, stride = [row * columns + column for column in range(columns) for row in range(rows)], rows
    size = 8 if bits == 64 else 4
    found = [0] * (32 * count * size * 8 // bits)
    # A bit of the numbers at a time: all types have the values 0 and 1.
    for bit in range((rows * columns - 1).bit_length()):
        data = packed([number >> bit & 1 for number in at_place], bits)
        got = driver.launch(f"load_{name}_{layout}_{shape}_{kind}", [data], 32 * count * size, stride)
        found = [all | one << bit for all, one in zip(found, unpacked(got, bits))]
    print(f"{name} {layout} {shape} {kind} {count}: " + "".join(f"{it:03x}" for it in found))
    if name == "c":
        # The same registers are stored to where they were loaded from.
        for to in ["row", "col"]:
            order = range(rows * columns) if to == "row" else [r * columns + c for c in range(columns) for r in range(rows)]
            source = packed([number & 0x3ff for number in found], bits)
            got = driver.launch(f"store_{to}_{shape}_{kind}", [source], rows * columns * bits // 8, columns if to == "row" else rows)
            right = unpacked(got, bits) == [number & 0x3ff for number in order]
            print(f"store {to} {shape} {kind} after {layout}: {'the same places' if right else 'OTHER PLACES'}")


def encoded(kind, value):
    """The bits of a whole number."""
    if kind == "f16":
        return int.from_bytes(struct.pack("<e", value), "little")
    if kind == "bf16":
        return int.from_bytes(struct.pack("<f", value), "little") >> 16
    if kind in ("tf32", "f32"):
        return int.from_bytes(struct.pack("<f", value), "little")
    if kind == "f64":
        return int.from_bytes(struct.pack("<d", value), "little")
    return value


def show_product(driver, product):
    kind, shape, (of_a, of_b), d, c, extra = product
    bits = FACTORS[kind][0]
    m, n, k = sizes(shape)
    source = random.Random(product_name(product))
    low, high = {"b1": (0, 1), "u4": (0, 15), "s4": (-8, 7), "u8": (0, 255), "s8": (-128, 127)}.get(kind, (-4, 4))
    a = [[source.randint(low, high) for _ in range(k)] for _ in range(m)]
    b = [[source.randint(low, high) for _ in range(n)] for _ in range(k)]
    top = 2**31 - 1 if c == "s32" and kind != "b1" else 4
    sums = [[source.choice([top, -top, 1, 0, -3]) for _ in range(n)] for _ in range(m)]

    def laid(matrix, layout):
        return [it for row in (matrix if layout == "row" else zip(*matrix)) for it in row]

    inputs = [
        packed([encoded(kind, it) for it in laid(a, of_a)], bits),
        packed([encoded(kind, it) for it in laid(b, of_b)], bits),
        packed([encoded(c, it) for it in laid(sums, "row")], SUMS[c]),
    ]
    got = unpacked(driver.launch(product_name(product), inputs, m * n * SUMS[d] // 8), SUMS[d])

    def entry(row, column):
        pairs = [(a[row][at], b[at][column]) for at in range(k)]
        if extra in ("xor", "and"):
            total = sum(x ^ y if extra == "xor" else x & y for x, y in pairs)
        else:
            total = sum(x * y for x, y in pairs)
        total += sums[row][column]
        if extra == "satfinite":
            total = max(-(2**31), min(2**31 - 1, total))
        return encoded(d, total) & ((1 << SUMS[d]) - 1)

    wrong = sum(got[row * n + column] != entry(row, column) for row in range(m) for column in range(n))
    print(f"{product_name(product)}: {wrong} of {m * n} sums differ from whole numbers'")


def main():
    if sys.argv[1:] == ["--ptx"]:
        print(module())
        return
    driver = Driver()
    for fragment in fragments():
        show_fragment(driver, fragment)
    for product in products():
        show_product(driver, product)


main()

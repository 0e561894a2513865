"""The products of crates/gemm on a GPU: correctness against float64, then TFLOP/s beside cuBLAS (torch.mm, torch._scaled_mm).

    ptxas -arch=sm_90a target/*/build/ridgepoint-gemm-*/out/kernels.ptx -o kernels.cubin
    python3 benches/peers/gemm.py kernels.cubin [TYPES]

A burst is 3 launches and 10 that are timed each (5 graphs where a launch is short), after 0.15 s without work; the rate is the median
of the bursts' medians. Sustained: a second of launches, half of which are timed, without rests between those of the peers; the median of six rounds, after
two in which the chip gets warm.
docs/results/h200-gemm/turns-3.txt is what it printed on one H200.
"""
import ctypes, statistics, sys, time
import torch

V, U = ctypes.c_void_p, ctypes.c_uint32
CUDA = ctypes.CDLL("libcuda.so.1")
# Elements, the map's type of them, their size, and the result's elements, its map's type, its size and what rounding to it costs.
TYPES = {"bf16": (torch.bfloat16, 9, 2, torch.bfloat16, 9, 2, 2.0 ** -8), "f16": (torch.float16, 6, 2, torch.float16, 6, 2, 2.0 ** -11),
         "tf32": (torch.float32, 11, 4, torch.float32, 7, 4, 2.0 ** -22), "e4m3": (torch.float8_e4m3fn, 0, 1, torch.bfloat16, 9, 2, 2.0 ** -8),
         "f64": (torch.float64, 8, 8, torch.float64, 8, 8, 2.0 ** -52)}
# How far a sum may be off, relative to the sum of the sizes of its terms. Of f64 for each term, the reference's own included.
SUM = {"bf16": 2.0 ** -20, "f16": 2.0 ** -20, "tf32": 2.0 ** -20, "e4m3": 2.0 ** -7, "f64": 2.0 ** -52}
# Half of the least number above 0 of the result's type.
LEAST = {"bf16": 2.0 ** -134, "f16": 2.0 ** -25, "tf32": 2.0 ** -150, "e4m3": 2.0 ** -134, "f64": 2.0 ** -1074}
STAGES = {256: 4, 128: 6}
CLUSTER, OVERLAPPING = 4, 6
OVERLAP = True


def check(result, what):
    if result:
        raise SystemExit(f"{what}: error {result}")


def tensor_map(tensor, number, size, box_rows):
    """A map of a row-major matrix, in global memory; rows of a box are 128 bytes, swizzled, zeros outside."""
    rows, columns = tensor.shape
    raw = (ctypes.c_uint64 * 32)()
    at = (ctypes.addressof(raw) + 63) & ~63
    check(CUDA.cuTensorMapEncodeTiled(
        V(at), number, 2, V(tensor.data_ptr()), (ctypes.c_uint64 * 2)(columns, rows),
        (ctypes.c_uint64 * 1)(tensor.stride(0) * size), (U * 2)(128 // size, box_rows),
        (U * 2)(1, 1), 0, 3, 3, 0), "encode a tensor map")
    return torch.frombuffer(bytearray(ctypes.string_at(at, 128)), dtype=torch.uint8).cuda()


def problem_of(factor):
    class Problem(ctypes.Structure):
        _fields_ = [("m", U), ("n", U), ("k", U), ("pitch", U), ("alpha", factor), ("beta", factor), ("has_bias", U), ("activation", U)]
    return Problem


Problem, Problem64 = problem_of(ctypes.c_float), problem_of(ctypes.c_double)


class Shape(ctypes.Structure):
    _fields_ = [("rows", U), ("columns", U), ("pitch", U), ("copy_pitch", U)]


class Attribute(ctypes.Structure):
    _fields_ = [("id", U), ("pad", U), ("value", U * 16)]


class Config(ctypes.Structure):
    _fields_ = [("grid", U * 3), ("block", U * 3), ("shared", U), ("stream", V), ("attributes", V), ("count", U)]


class Launch:
    def __init__(self, name, grid, block, shared, values, attributes):
        self.name, self.grid, self.block, self.shared, self.values = name, grid, block, shared, values
        self.function = V()
        check(CUDA.cuModuleGetFunction(ctypes.byref(self.function), MODULE, name.encode()), "look up " + name)
        if shared > 48 << 10:
            check(CUDA.cuFuncSetAttribute(self.function, 8, shared), "allow shared memory")
        self.arguments = (V * len(values))(*[ctypes.addressof(value) for value in values])
        self.attributes = (Attribute * max(1, len(attributes)))(*[Attribute(id, 0, (U * 16)(*value)) for id, value in attributes])
        self.count = len(attributes)

    def __call__(self):
        config = Config((U * 3)(*self.grid), (U * 3)(self.block, 1, 1), self.shared, torch.cuda.current_stream().cuda_stream,
                        ctypes.addressof(self.attributes), self.count)
        check(CUDA.cuLaunchKernelEx(ctypes.byref(config), self.function, self.arguments, None), "launch " + self.name)


def pointer(tensor):
    return ctypes.c_uint64(tensor.data_ptr())


def packed(tensor, size):
    """A launch that copies a matrix into rows that begin at multiples of 128 bytes, and the copy, as crates/gemm/src/packed.rs."""
    rows, columns = tensor.shape
    pitch = -(-columns * size // 128) * 128 // size
    copy = torch.empty(rows, pitch, device="cuda", dtype=tensor.dtype)
    values = [pointer(tensor), pointer(copy), Shape(rows, columns, tensor.stride(0), pitch)]
    grid = [min(-(-rows // 8), 4096), -(-columns // 512), 1]
    return Launch(f"pack_{size}", grid, 256, 0, values, []), copy[:, :columns]


def sharing(tiles, steps, shares):
    """Blocks per cluster and clusters, as crates/gemm/src/sharing.rs chooses them."""
    def cost(share):
        clusters = min(tiles, 132 // share if share < 4 else 99 // share)
        turns, left_over = divmod(tiles, share * clusters)
        last = 0 if left_over == 0 else steps if left_over > clusters or share == 1 else -(-steps // share) + share
        return turns * steps + last, share, clusters
    return min(map(cost, shares))[1:]


class Double:
    """name: gemm_f64_ORDER; behind it the blocks per cluster, if they are not to be the fastest."""

    def __init__(self, name, a, b, c, alpha=1.0, beta=0.0, bias=None, activation=0, pack=False):
        kernel, *words = name.split()
        m, n = c.shape
        self.keep, self.packs = [a, b, c, bias], []
        for index in range(2):
            tensor = self.keep[index]
            if pack or tensor.stride(0) % 2 or tensor.data_ptr() % 16:
                launch, self.keep[index] = packed(tensor, 8)
                self.packs.append((launch, tensor))
        maps = [tensor_map(self.keep[0], 8, 8, 128), tensor_map(self.keep[1], 8, 8, 16 if "by_rows" in name else 128)]
        self.keep += maps
        tiles = -(-m // 128) * -(-n // 128)
        share, clusters = sharing(tiles, -(-a.shape[1] // 16), [int(word) for word in words if word.isdigit()] or [1, 2, 4, 8])
        values = [pointer(each) for each in maps] + [pointer(c), ctypes.c_uint64(0 if bias is None else bias.data_ptr())]
        values.append(Problem64(m, n, a.shape[1], c.stride(0), alpha, beta, int(bias is not None), activation))
        attributes = [(OVERLAPPING, [int(OVERLAP)]), (CLUSTER, [share, 1, 1])]
        self.main = Launch(kernel, [share * clusters, 1, 1], 384, 1024 + 6 * (256 * 128 + 16), values, attributes)

    def __call__(self):
        for launch, _ in self.packs:
            launch()
        self.main()


def team(rows, columns):
    """Blocks per cluster and blocks for so many tiles, as crates/gemm/src/tiling.rs chooses them."""
    tiles, even = rows * columns, (rows + rows % 2) * columns
    return (2, min(132, even)) if rows > 1 and tiles > 132 and -(-even // 132) <= -(-tiles // 132) else (1, min(132, tiles))


class Gemm:
    """name: gemm_TYPE_ORDER_WIDTH, small_TYPE_ORDER or fused_TYPE_ORDER; behind it `alone`, if blocks are to bring all tiles themselves."""

    def __init__(self, name, a, b, c, alpha=1.0, beta=0.0, bias=None, activation=0, pack=False):
        name, *words = name.split()
        small = "small" in name
        # Small products with a bias have kernels of their own.
        parts = name.removeprefix("finished_").split("_")
        kind, order = parts[1], "_".join(parts[2:4])
        rows, width = (64, 128) if small else (128, int((parts + ["256"])[4]))
        _, number, size, _, result_number, result_size, _ = TYPES[kind]
        m, n = c.shape
        self.keep, self.packs = [a, b, c, bias], []
        for index in range(2):
            tensor = self.keep[index]
            if pack or tensor.stride(0) * size % 16 or tensor.data_ptr() % 16:
                launch, self.keep[index] = packed(tensor, size)
                self.packs.append((launch, tensor))
        tiles = [-(-m // rows), -(-n // width)]
        share, grid = (1, tiles[0] * tiles[1]) if small else (1, min(132, tiles[0] * tiles[1])) if "alone" in words else team(*tiles)
        boxes = [rows, width // 2 if order == "by_columns" else 64]
        maps = [tensor_map(each, number, size, box) for each, box in zip(self.keep, boxes)]
        if parts[0] != "fused":
            maps.append(tensor_map(c, result_number, result_size, 64))
        self.keep += maps
        values = [pointer(each) for each in maps] + ([pointer(c)] if parts[0] == "fused" else [])
        values.append(ctypes.c_uint64(0 if bias is None else bias.data_ptr()))
        values.append(Problem(m, n, a.shape[1], c.stride(0), alpha, beta, int(bias is not None), activation))
        stages, results = (8, 0) if small else (STAGES[width], 4 * 64 * 128)
        shared = 1024 + stages * (rows + width) * 128 + results + 16 * stages
        attributes = [(OVERLAPPING, [int(OVERLAP)]), (CLUSTER, [share, 1, 1])]
        self.main = Launch(name, [grid, 1, 1], 160 if small else 384, shared, values, attributes)

    def __call__(self):
        for launch, _ in self.packs:
            launch()
        self.main()


def product(name, *arguments, **finish):
    return (Double if "f64" in name else Gemm)(name, *arguments, **finish)


def normal(kind, rows, columns, pitch=None):
    whole = torch.randn(rows, pitch or columns, device="cuda").to(TYPES[kind][0])
    if kind == "tf32":
        whole = (whole.view(torch.int32) & ~0x1FFF).view(torch.float32)
    return whole[:, :columns]


def correct(name, m, n, k, alpha=1.0, beta=0.0, activation=0, gap=None):
    """`gap` elements lie between rows, or as few as make them multiples of 16 bytes, and 16 bytes."""
    torch.manual_seed(m * n + k)
    kind, by_rows, fused = name.removeprefix("finished_").split("_")[1], "by_rows" in name, name.startswith(("fused", "gemm_f64"))
    unit = 16 // TYPES[kind][2]
    pitch = lambda width: width + gap if gap is not None else -(-width // unit) * unit + unit
    a = normal(kind, m, k, pitch(k))
    b = normal(kind, k, n, pitch(n)) if by_rows else normal(kind, n, k, pitch(k))
    result = TYPES[kind][3]
    bias = torch.randn(n, device="cuda").to(result) if activation else None
    guarded = torch.full((m + 2, n + 3 if fused else -(-n // 8) * 8 + 8), 7.0, device="cuda", dtype=result)
    c = guarded[1:m + 1, :n]
    c.copy_(torch.randn(m, n, device="cuda")) if beta else c.fill_(float("nan"))
    before = c.double().clone()
    run = product(name, a, b, c, alpha=alpha, beta=beta, bias=bias, activation=activation)
    run()
    torch.cuda.synchronize()
    first = c.clone()
    right = b.double() if by_rows else b.double().t()
    exact = alpha * (a.double() @ right)
    size = abs(alpha) * (a.double().abs() @ right.abs())
    if beta:
        exact, size = exact + beta * before, size + abs(beta) * before.abs()
    if activation:
        exact = exact + bias.double()
        exact = torch.relu(exact) if activation == 1 else torch.nn.functional.gelu(exact)
    bound = exact.abs() * TYPES[kind][6] + 1.13 * size * SUM[kind] * (k + 2 if kind == "f64" else 1) + LEAST[kind]
    worst = ((c.double() - exact).abs() / bound).nan_to_num(nan=float("inf")).max().item()
    outside = bool((guarded[0] == 7).all() and (guarded[-1] == 7).all() and (guarded[:, n:] == 7).all())
    same = True
    if not beta:
        for _ in range(3):
            run()
        torch.cuda.synchronize()
        same = torch.equal(c, first)
    good = worst <= 1.0 and outside and same
    print(f"{'ok    ' if good else 'FAILED'} {name} {m} x {n} x {k} alpha {alpha} beta {beta} activation {activation} gap {gap}: "
          f"worst error / bound {worst:.3f}, outside untouched {outside}, the same again {same}", flush=True)
    return good


def correctness(kinds):
    shapes = [(128, 256, 64), (1, 8, 8), (129, 264, 200), (1000, 520, 1048), (2049, 136, 776), (4097, 2056, 72), (768, 1024, 408)]
    odd = [(1, 1, 8), (127, 255, 64), (129, 257, 200), (1001, 515, 1048), (385, 3, 72)]
    factors = [(1.0, 0.0), (0.5, 0.0), (1.0, 1.0), (-1.25, 0.75), (0.0, 1.5)]
    good = []
    for kind in kinds:
        for order in ["by_columns", "by_rows"] if TYPES[kind][2] in [2, 8] else ["by_columns"]:
            name = f"fused_{kind}_{order}"
            copied = [f"gemm_{kind}_{order}_256", f"gemm_{kind}_{order}_128", f"small_{kind}_{order}"]
            if kind == "f64":
                copied, name = [f"gemm_f64_{order}"], f"gemm_f64_{order}"
            good += [correct(each, m, n, k) for each in copied for m, n, k in shapes]
            if kind != "f64":
                finished = copied[:2] + ["finished_" + copied[2]]
                good += [correct(each, m, n, k, alpha, activation=activation) for each in finished for alpha, activation, (m, n, k) in
                         [(0.5, 0, (129, 264, 200)), (1.0, 1, (1000, 520, 1048)), (-1.25, 1, (4097, 2056, 72))]]
            good += [correct(name, m, n, k, alpha, beta) for (m, n, k), (alpha, beta) in zip(odd, factors)]
            good += [correct(name, m, n, k, activation=activation, gap=gap) for activation, gap, (m, n, k) in
                     [(1, 0, (129, 257, 201)), (2, 3, (1001, 515, 1047)), (1, 5, (64, 512, 1)), (2, None, (300, 520, 512))]]
    return len(good), good.count(False)


def graph_of(run, count):
    """`count` launches as one graph, so that the host's time for a launch does not count."""
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        run()
        stream.synchronize()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(count):
                run()
    return graph.replay


def burst(run, warm, timed):
    for _ in range(warm):
        run()
    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(timed)]
    for begin, end in pairs:
        begin.record()
        run()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) for begin, end in pairs)


def theirs(kind, a, columns, rows, by_rows):
    if kind == "e4m3":
        one = torch.ones((), device="cuda")
        of = lambda fast: lambda: torch._scaled_mm(a, columns.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=fast)
        return {"cuBLAS": of(True), "cuBLAS, sums in f32": of(False)}
    out = torch.empty(a.shape[0], columns.shape[0], device="cuda", dtype=TYPES[kind][3])
    return {"cuBLAS": (lambda: torch.mm(a, rows, out=out)) if by_rows else (lambda: torch.mm(a, columns.t(), out=out))}


def speed(kind, m, n, k, names, rounds, theirs_by_rows=False):
    """A name may have words behind it: `packed` copies operands that need not be, `relu` and `gelu` add a bias and an activation."""
    torch.manual_seed(1)
    a, columns = normal(kind, m, k), normal(kind, n, k)
    rows = normal(kind, k, n) if theirs_by_rows else None
    result = TYPES[kind][3]
    c, bias = torch.empty(m, n, device="cuda", dtype=result), torch.randn(n, device="cuda").to(result)
    runs = theirs(kind, a, columns, rows, theirs_by_rows)
    for activation in {"relu", "gelu"} & {word for name in names for word in name.split()[1:]}:
        # A bias and an activation by cuBLASLt; GELU by a formula with tanh.
        fused = lambda gelu: lambda: torch._addmm_activation(bias, a, columns.t(), use_gelu=gelu)
        runs["cuBLAS " + activation] = fused(activation == "gelu")
    peers = list(runs)
    for name in names:
        kernel, *words = name.split()
        activation = 1 if "relu" in words else 2 if "gelu" in words else 0
        runs[name] = product(name, a, rows if "by_rows" in kernel else columns, c,
                             bias=bias if activation else None, activation=activation, pack="packed" in words)
    count = max(1, int(2e11 / (2 * m * n * k)))
    warm, timed = (3, 10) if count == 1 else (3, 5)
    if count > 1:
        runs = {name: graph_of(run, count) for name, run in runs.items()}
    times = {name: [] for name in runs}
    for number in range(rounds):
        for name in list(runs) if number % 2 == 0 else list(runs)[::-1]:
            torch.cuda.synchronize()
            time.sleep(0.15)
            times[name].append(burst(runs[name], warm, timed) / count)
    rates = {name: 2 * m * n * k / statistics.median(all_) / 1e9 for name, all_ in times.items()}
    for name in peers[1:] + names:
        print(f"burst {kind} {m} x {n} x {k} ({count} a graph): cuBLAS {rates['cuBLAS']:.1f}, {name} {rates[name]:.1f} TFLOP/s, "
              f"ratio {rates[name] / rates['cuBLAS']:.3f}, spread {100 * (max(times[name]) / min(times[name]) - 1):.1f} %", flush=True)


def sustained(kind, size, name, seconds=1.0):
    torch.manual_seed(1)
    a, columns = normal(kind, size, size), normal(kind, size, size)
    c = torch.empty(size, size, device="cuda", dtype=TYPES[kind][3])
    runs = {"cuBLAS": theirs(kind, a, columns, None, False)["cuBLAS"], name: product(name, a, columns, c)}
    halves = {each: max(2, int(500 * seconds / burst(run, 2, 3))) for each, run in runs.items()}
    times = {each: [] for each in runs}
    # The first rounds are those in which the chip gets warm. Of 16384 x 16384 x 16384 they differ by up to 4 %.
    for number in range(-2, 12):
        for each in list(runs) if number % 2 == 0 else list(runs)[::-1]:
            time_of_one = burst(runs[each], halves[each], halves[each])
            if number >= 0:
                times[each].append(time_of_one)
    rates = {each: 2 * size ** 3 / statistics.median(all_) / 1e9 for each, all_ in times.items()}
    print(f"sustained {kind} {size} x {size} x {size} ({seconds} s each): cuBLAS {rates['cuBLAS']:.1f}, {name} {rates[name]:.1f} TFLOP/s, "
          f"ratio {rates[name] / rates['cuBLAS']:.3f}, spread {100 * (max(times[name]) / min(times[name]) - 1):.1f} %", flush=True)


MODULE = V()


def load(path):
    """The kernels, for launches by name."""
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    check(CUDA.cuModuleLoadData(ctypes.byref(MODULE), open(path, "rb").read() + b"\0"), "load")


def main():
    load(sys.argv[1])
    kinds = sys.argv[2:] or list(TYPES)
    cases, failures = correctness(kinds)
    print("cases", cases, "failures", failures, flush=True)
    if "f64" in kinds:
        doubles()
    if kinds != ["f64"]:
        singles()
    sys.exit(failures > 0)


def doubles():
    name = "gemm_f64_by_columns"
    for size in [8192, 4096, 2048, 1024, 512]:
        speed("f64", size, size, size, [name], 4)
    speed("f64", 8192, 8192, 8192, ["gemm_f64_by_rows"], 4, theirs_by_rows=True)
    speed("f64", 8191, 4097, 2049, [name], 4)
    sustained("f64", 8192, name)


def singles():
    global OVERLAP
    columns = lambda kind, *widths: [f"gemm_{kind}_by_columns_{width}" for width in widths]
    small = ["small_bf16_by_columns"]
    fused = "fused_bf16_by_columns"
    speed("bf16", 16384, 16384, 16384, columns("bf16", 256), 3)
    finished = [each + words for each in columns("bf16", 256) for words in ["", " relu"]] + [fused, fused + " relu", fused + " gelu"]
    speed("bf16", 8192, 8192, 8192, finished, 4)
    speed("bf16", 8192, 8192, 8192, ["gemm_bf16_by_rows_256"], 4, theirs_by_rows=True)
    speed("bf16", 4096, 4096, 4096, columns("bf16", 256, 128), 4)
    for size in [2048, 1024, 512]:
        speed("bf16", size, size, size, columns("bf16", 256, 128) + small + ["finished_small_bf16_by_columns relu"], 4)
    speed("bf16", 1024, 1024, 4096, columns("bf16", 256, 128) + small, 4)
    speed("bf16", 8191, 4097, 2049, [fused], 4)
    for k in [2048, 2056, 2064]:
        speed("bf16", 8191, 4104, k, [each + words for each in columns("bf16", 256) for words in ["", " packed"]], 3)
    speed("f16", 8192, 8192, 8192, columns("f16", 256), 3)
    speed("tf32", 8192, 8192, 8192, columns("tf32", 256), 4)
    speed("tf32", 4096, 4096, 4096, columns("tf32", 256), 4)
    speed("e4m3", 8192, 8192, 8192, columns("e4m3", 256), 4)
    speed("e4m3", 4096, 4096, 4096, columns("e4m3", 256), 4)
    for kind, size in [("bf16", 16384), ("bf16", 8192), ("bf16", 4096), ("f16", 8192), ("tf32", 8192), ("e4m3", 8192)]:
        sustained(kind, size, *columns(kind, 256))
    OVERLAP = False
    print("without overlapping launches", flush=True)
    speed("bf16", 2048, 2048, 2048, columns("bf16", 256), 4)
    speed("bf16", 1024, 1024, 1024, columns("bf16", 128) + small, 4)


if __name__ == "__main__":
    main()

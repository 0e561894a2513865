"""The products of crates/gemm on a GPU: correctness against float64, then TFLOP/s beside cuBLAS (torch.mm).

    ptxas -arch=sm_90a target/*/build/ridgepoint-gemm-*/out/kernels.ptx -o kernels.cubin
    python3 benches/peers/gemm.py kernels.cubin

A burst is 3 launches and 10 that are timed each (5 graphs where a launch is short), after 0.15 s without work; the rate is the median
of the bursts' medians. docs/results/h200-gemm/gemm.txt is what it printed on one H200.
"""
import ctypes, statistics, sys, time
import torch

V = ctypes.c_void_p
CUDA = ctypes.CDLL("libcuda.so.1")
TYPES = {"bf16": (torch.bfloat16, 9, 2, 2.0 ** -8), "f16": (torch.float16, 6, 2, 2.0 ** -11), "tf32": (torch.float32, 11, 4, 2.0 ** -22)}
STAGES = {256: 4, 128: 6}


def check(result, what):
    if result:
        raise SystemExit(f"{what}: error {result}")


def tensor_map(tensor, kind, box_rows):
    """A map of a row-major matrix, in global memory; rows of a box are 128 bytes, swizzled, zeros outside."""
    _, number, size, _ = TYPES[kind]
    rows, columns = tensor.shape
    raw = (ctypes.c_uint64 * 32)()
    at = (ctypes.addressof(raw) + 63) & ~63
    check(CUDA.cuTensorMapEncodeTiled(
        V(at), number, 2, V(tensor.data_ptr()), (ctypes.c_uint64 * 2)(columns, rows),
        (ctypes.c_uint64 * 1)(tensor.stride(0) * size), (ctypes.c_uint32 * 2)(128 // size, box_rows),
        (ctypes.c_uint32 * 2)(1, 1), 0, 3, 3, 0), "encode a tensor map")
    return torch.frombuffer(bytearray(ctypes.string_at(at, 128)), dtype=torch.uint8).cuda()


class Problem(ctypes.Structure):
    _fields_ = [("m", ctypes.c_uint32), ("n", ctypes.c_uint32), ("k", ctypes.c_uint32), ("alpha", ctypes.c_float),
                ("beta", ctypes.c_float), ("pitch", ctypes.c_uint32)]


class Gemm:
    """name: gemm_TYPE_ORDER_WIDTH or scaled_TYPE_ORDER."""

    def __init__(self, name, a, b, c, alpha=1.0, beta=0.0, k=None):
        parts = name.split("_")
        kind, order = parts[1], "_".join(parts[2:4])
        width = int(parts[4]) if len(parts) > 4 else 256
        m, n = c.shape
        shared = 1024 + STAGES[width] * (128 + width) * 128 + 4 * 64 * 128 + 16 * STAGES[width]
        self.function = V()
        check(CUDA.cuModuleGetFunction(ctypes.byref(self.function), MODULE, name.encode()), "look up " + name)
        check(CUDA.cuFuncSetAttribute(self.function, 8, shared), "allow shared memory")
        self.shared = shared
        self.keep = [tensor_map(a, kind, 128), tensor_map(b, kind, width if order == "by_columns" else 64), a, b, c]
        third = c.data_ptr()
        if parts[0] == "gemm":
            self.keep.append(tensor_map(c, kind, 64))
            third = self.keep[-1].data_ptr()
        self.values = [ctypes.c_uint64(self.keep[0].data_ptr()), ctypes.c_uint64(self.keep[1].data_ptr()), ctypes.c_uint64(third),
                       Problem(m, n, a.shape[1] if k is None else k, alpha, beta, c.stride(0))]
        self.arguments = (V * 4)(*[ctypes.addressof(value) for value in self.values])
        self.grid = min(132, -(-m // 128) * -(-n // width))

    def __call__(self):
        stream = V(torch.cuda.current_stream().cuda_stream)
        check(CUDA.cuLaunchKernel(self.function, self.grid, 1, 1, 384, 1, 1, self.shared, stream, self.arguments, None), "launch")


def normal(kind, rows, columns, pitch=None):
    whole = torch.randn(rows, pitch or columns, device="cuda").to(TYPES[kind][0])
    if kind == "tf32":
        whole = (whole.view(torch.int32) & ~0x1FFF).view(torch.float32)
    return whole[:, :columns]


def correct(name, m, n, k, alpha, beta):
    torch.manual_seed(m * n + k)
    kind, by_rows, scaled = name.split("_")[1], "by_rows" in name, name.startswith("scaled")
    unit = 16 // TYPES[kind][2]
    pitch = lambda width: -(-width // unit) * unit + unit
    a = normal(kind, m, k, pitch(k))
    b = normal(kind, k, n, pitch(n)) if by_rows else normal(kind, n, k, pitch(k))
    guarded = torch.full((m + 2, n + 3 if scaled else pitch(n)), 7.0, device="cuda", dtype=TYPES[kind][0])
    c = guarded[1:m + 1, :n]
    c.copy_(torch.randn(m, n, device="cuda")) if beta else c.fill_(float("nan"))
    before = c.double()
    Gemm(name, a, b, c, alpha, beta)()
    torch.cuda.synchronize()
    right = b.double() if by_rows else b.double().t()
    exact = alpha * (a.double() @ right)
    size = abs(alpha) * (a.double().abs() @ right.abs())
    if beta:
        exact, size = exact + beta * before, size + abs(beta) * before.abs()
    bound = exact.abs() * TYPES[kind][3] + size * 2.0 ** -20 + 1e-30
    worst = ((c.double() - exact).abs() / bound).nan_to_num(nan=float("inf")).max().item()
    outside = bool((guarded[0] == 7).all() and (guarded[-1] == 7).all() and (guarded[:, n:] == 7).all())
    good = worst <= 1.0 and outside
    print(f"{'ok    ' if good else 'FAILED'} {name} {m} x {n} x {k} alpha {alpha} beta {beta}: worst error / bound {worst:.3f}, outside untouched {outside}",
          flush=True)
    return good


def correctness():
    shapes = [(128, 256, 64), (1, 8, 8), (129, 264, 200), (1000, 520, 1048), (2049, 136, 776), (4097, 2056, 72)]
    odd = [(1, 1, 8), (127, 255, 64), (129, 257, 200), (1001, 515, 1048), (385, 3, 72)]
    good = []
    for kind in ["bf16", "f16"]:
        for order in ["by_columns", "by_rows"]:
            for width in [256, 128]:
                good += [correct(f"gemm_{kind}_{order}_{width}", m, n, k, 1.0, 0.0) for m, n, k in shapes]
            good += [correct(f"scaled_{kind}_{order}", m, n, k, alpha, beta) for (m, n, k), (alpha, beta) in
                     zip(odd, [(1.0, 0.0), (0.5, 0.0), (1.0, 1.0), (-1.25, 0.75), (0.0, 1.5)])]
    good += [correct("scaled_tf32_by_columns", m, n, k, alpha, beta) for (m, n, k), (alpha, beta) in
             zip(odd + shapes, [(1.0, 0.0), (0.5, 0.0), (1.0, 1.0), (-1.25, 0.75), (0.0, 1.5)] + [(1.0, 0.0)] * 6)]
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


def speed(kind, m, n, k, names, rounds, theirs_by_rows=False):
    torch.manual_seed(1)
    a, columns, rows = normal(kind, m, k), normal(kind, n, k), normal(kind, k, n)
    c, theirs = (torch.empty(m, n, device="cuda", dtype=TYPES[kind][0]) for _ in range(2))
    torch.backends.cuda.matmul.allow_tf32 = True
    runs = {"cuBLAS": (lambda: torch.mm(a, rows, out=theirs)) if theirs_by_rows else (lambda: torch.mm(a, columns.t(), out=theirs))}
    for name in names:
        runs[name] = Gemm(name, a, rows if "by_rows" in name else columns, c)
    count = max(1, int(4e11 / (2 * m * n * k)))
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
    for name in names:
        print(f"burst {kind} {m} x {n} x {k} ({count} a graph): cuBLAS {rates['cuBLAS']:.1f}, {name} {rates[name]:.1f} TFLOP/s, "
              f"ratio {rates[name] / rates['cuBLAS']:.3f}, spread {100 * (max(times[name]) / min(times[name]) - 1):.1f} %", flush=True)


torch.cuda.init()
torch.zeros(1, device="cuda")
MODULE = V()
check(CUDA.cuModuleLoadData(ctypes.byref(MODULE), open(sys.argv[1], "rb").read() + b"\0"), "load")
cases, failures = correctness()
print("cases", cases, "failures", failures, flush=True)
by_columns = ["gemm_bf16_by_columns_256", "gemm_bf16_by_columns_128"]
speed("bf16", 8192, 8192, 8192, by_columns + ["scaled_bf16_by_columns"], 5)
speed("bf16", 8192, 8192, 8192, ["gemm_bf16_by_rows_256"], 4, theirs_by_rows=True)
speed("bf16", 4096, 4096, 4096, by_columns, 5)
speed("bf16", 2048, 2048, 2048, by_columns, 5)
speed("bf16", 1024, 1024, 1024, by_columns, 5)
speed("bf16", 8191, 4104, 2056, by_columns, 4)
speed("bf16", 8192, 4096, 2048, by_columns, 4)
speed("f16", 8192, 8192, 8192, ["gemm_f16_by_columns_256"], 4)
speed("f16", 4096, 4096, 4096, ["gemm_f16_by_columns_256"], 4)
speed("tf32", 8192, 8192, 8192, ["scaled_tf32_by_columns"], 4)
speed("tf32", 4096, 4096, 4096, ["scaled_tf32_by_columns"], 4)
sys.exit(failures > 0)

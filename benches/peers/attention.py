"""Attention of examples/attention on a GPU: correctness against float64, then TFLOP/s beside PyTorch's scaled_dot_product_attention, with
the backends FlashAttention and cuDNN.

    ptxas -arch=sm_90a target/*/build/attention-*/out/kernels.ptx -o kernels.cubin
    python3 benches/peers/attention.py kernels.cubin

Inputs are random normal numbers. A burst is 3 calls and 10 that are timed each, after 0.15 s without work; the rate is that of the
median of the bursts' medians, and counts 4 x 128 operations per query and key that it sees. Further cubins are timed, too.
"""
import ctypes, os, statistics, sys, time
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

V = ctypes.c_void_p
CUDA = ctypes.CDLL("libcuda.so.1")
HEAD, TILE = 128, 128
SHARED = 1024 + 6 * TILE * HEAD * 2 + 16 + 2 * 32


def check(result, what):
    if result:
        raise SystemExit(f"{what}: error {result}")


def tensor_map(tensor, rows):
    """A map of heads x sequence x 128 elements, in global memory; boxes of 64 columns, swizzled by 128 bytes, zeros outside."""
    heads, sequence, columns = tensor.shape
    raw = (ctypes.c_uint64 * 32)()
    at = (ctypes.addressof(raw) + 63) & ~63
    check(CUDA.cuTensorMapEncodeTiled(
        V(at), 9, 3, V(tensor.data_ptr()), (ctypes.c_uint64 * 3)(columns, sequence, heads),
        (ctypes.c_uint64 * 2)(columns * 2, columns * 2 * sequence), (ctypes.c_uint32 * 3)(64, rows, 1),
        (ctypes.c_uint32 * 3)(1, 1, 1), 0, 3, 3, 0), "encode a tensor map")
    return torch.frombuffer(bytearray(ctypes.string_at(at, 128)), dtype=torch.uint8).cuda()


class Problem(ctypes.Structure):
    _fields_ = [("heads", ctypes.c_uint32), ("sequence", ctypes.c_uint32), ("scale", ctypes.c_float)]


class Attention:
    """Inputs and result of batches x heads x sequence x 128 elements."""

    def __init__(self, module, q, k, v, o, causal):
        self.function = V()
        name = b"attention_causal" if causal else b"attention_full"
        check(CUDA.cuModuleGetFunction(ctypes.byref(self.function), module, name), "look up a kernel")
        check(CUDA.cuFuncSetAttribute(self.function, 8, SHARED), "allow shared memory")
        flat = [tensor.view(-1, tensor.shape[-2], HEAD) for tensor in (q, k, v, o)]
        heads, sequence, _ = flat[0].shape
        self.maps = [tensor_map(tensor, rows) for tensor, rows in zip(flat, (64, 128, 128, 64))]
        self.values = [ctypes.c_uint64(map.data_ptr()) for map in self.maps] + [Problem(heads, sequence, HEAD ** -0.5)]
        self.arguments = (V * 5)(*[ctypes.addressof(value) for value in self.values])
        tiles = -(-sequence // TILE)
        self.grid = min(132, heads * (-(-tiles // 2) if causal else tiles))

    def __call__(self):
        stream = V(torch.cuda.current_stream().cuda_stream)
        check(CUDA.cuLaunchKernel(self.function, self.grid, 1, 1, 384, 1, 1, SHARED, stream, self.arguments, None), "launch")


def exact(q, k, v, rows, causal):
    """The rows of the result, in float64."""
    scores = q[:, :, rows].double() @ k.double().transpose(-1, -2) * HEAD ** -0.5
    if causal:
        hidden = torch.arange(k.shape[2], device="cuda")[None, :] > rows[:, None]
        scores.masked_fill_(hidden, float("-inf"))
    weights = scores.softmax(-1)
    return weights @ v.double(), weights @ v.double().abs()


def correct(module, batches, heads, sequence, causal, size):
    torch.manual_seed(sequence)
    q, k, v = (torch.randn(batches, heads, sequence, HEAD, device="cuda").mul(scale).bfloat16() for scale in (size, size, 1))
    guarded = torch.full((batches * heads * sequence + 2, HEAD), 7.0, device="cuda", dtype=torch.bfloat16)
    o = guarded[1:-1].view(batches, heads, sequence, HEAD)
    o.fill_(float("nan"))
    Attention(module, q, k, v, o, causal)()
    torch.cuda.synchronize()
    rows = torch.arange(sequence, device="cuda") if sequence <= 2100 else torch.randperm(sequence, device="cuda")[:200]
    value, terms = exact(q, k, v, rows, causal)
    bound = (value.abs() + terms) / 256
    worst = ((o[:, :, rows].double() - value).abs() / bound).nan_to_num(nan=float("inf")).max().item()
    outside = bool((guarded[0] == 7).all() and (guarded[-1] == 7).all() and not o.isnan().any())
    good = worst <= 1.0 and outside
    print(f"{'ok    ' if good else 'FAILED'} {batches} x {heads} x {sequence} {'causal' if causal else 'full'} size {size}: "
          f"worst error / bound {worst:.3f}, outside untouched {outside}", flush=True)
    return good


def correctness(module):
    shapes = [(1, 1, 1), (2, 3, 7), (1, 2, 64), (1, 1, 127), (1, 3, 128), (2, 2, 129), (1, 5, 255), (3, 3, 640), (1, 150, 257),
              (1, 7, 1000), (2, 3, 2047), (1, 4, 8191)]
    good = [correct(module, *shape, causal, size) for shape in shapes for causal in (False, True) for size in (1, 3)]
    return len(good), good.count(False)


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


def theirs(backend, q, k, v, causal):
    def run():
        with sdpa_kernel(backend):
            torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return run


def speed(modules, batches, heads, sequence, causal, rounds):
    torch.manual_seed(1)
    q, k, v = (torch.randn(batches, heads, sequence, HEAD, device="cuda").bfloat16() for _ in range(3))
    o = torch.empty_like(q)
    runs = {"FlashAttention": theirs(SDPBackend.FLASH_ATTENTION, q, k, v, causal),
            "cuDNN": theirs(SDPBackend.CUDNN_ATTENTION, q, k, v, causal)}
    for name, module in modules.items():
        runs[name] = Attention(module, q, k, v, o, causal)
    times = {name: [] for name in runs}
    for number in range(rounds):
        for name in list(runs) if number % 2 == 0 else list(runs)[::-1]:
            torch.cuda.synchronize()
            time.sleep(0.15)
            times[name].append(burst(runs[name], 3, 10))
    pairs = batches * heads * (sequence * (sequence + 1) // 2 if causal else sequence * sequence)
    rates = {name: 4 * HEAD * pairs / statistics.median(all_) / 1e9 for name, all_ in times.items()}
    for name in modules:
        spread = 100 * (max(times[name]) / min(times[name]) - 1)
        print(f"{batches} x {heads} x {sequence} {'causal' if causal else 'full'}: FlashAttention {rates['FlashAttention']:.1f}, "
              f"cuDNN {rates['cuDNN']:.1f}, {name} {rates[name]:.1f} TFLOP/s, of FlashAttention "
              f"{rates[name] / rates['FlashAttention']:.3f}, of cuDNN {rates[name] / rates['cuDNN']:.3f}, spread {spread:.1f} %", flush=True)


torch.cuda.init()
torch.zeros(1, device="cuda")
print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}", flush=True)
MODULES = {}
for path in sys.argv[1:]:
    module = V()
    check(CUDA.cuModuleLoadData(ctypes.byref(module), open(path, "rb").read() + b"\0"), "load")
    MODULES[os.path.basename(path).removesuffix(".cubin")] = module
cases, failures = 0, 0
for name, module in MODULES.items():
    print(name, flush=True)
    more, bad = correctness(module)
    cases, failures = cases + more, failures + bad
print("cases", cases, "failures", failures, flush=True)
for causal in (False, True):
    for shape in ((4, 16, 4096), (2, 16, 8192), (1, 16, 16384), (16, 16, 1024), (8, 16, 2047)):
        speed(MODULES, *shape, causal, 3)
sys.exit(failures > 0)

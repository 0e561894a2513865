"""The steps of examples/ladder on a GPU, beside cuBLAS (torch.mm) in the same call, TFLOP/s.

    ptxas -arch=sm_90a target/*/build/ladder-*/out/kernels.ptx -o kernels.cubin
    python3 benches/peers/ladder.py kernels.cubin

Each step is first compared with float64. Bursts are those of gemm.py.
"""
import ctypes, statistics, sys, time
import torch
import gemm
from gemm import Launch, U, burst, graph_of, normal, pointer, tensor_map

# Rows and columns of a tile, of a box of B, stages, threads and blocks of a cluster; None: a block for each tile.
STEPS = {"wgmma_64x64": (64, 64, 64, 1, 128, None), "wgmma_128x128": (128, 128, 128, 1, 256, None),
         "producer_128x128": (128, 128, 128, 6, 384, None), "producer_128x256": (128, 256, 256, 4, 384, None),
         "persistent": (128, 256, 256, 4, 384, 1), "pingpong": (64, 256, 256, 5, 384, 1),
         "multicast": (128, 256, 128, 4, 384, 2)}
SIZES = [1024, 2048, 4096, 8192]


class Sizes(ctypes.Structure):
    _fields_ = [("m", U), ("n", U), ("k", U)]


def step(name, a, b, c):
    """A launch of a step; B is given as n rows of k."""
    (m, n), k = c.shape, a.shape[1]
    sizes = Sizes(m, n, k)
    if name == "gemm":
        return gemm.Gemm("small_bf16_by_columns" if m * n <= 1024 * 1024 else "gemm_bf16_by_columns_256", a, b, c)
    if name == "mma_sync":
        values = [pointer(a), pointer(b), pointer(c), sizes]
        return Launch(name, [-(-m // 128) * -(-n // 128), 1, 1], 256, 3 * 2 * 128 * 40 * 2, values, [])
    rows, columns, box, stages, threads, cluster = STEPS[name]
    maps = [tensor_map(a, 9, 2, rows), tensor_map(b, 9, 2, box)]
    tiles = -(-m // rows) * -(-n // columns)
    blocks = tiles if cluster is None else min(132, cluster * -(-m // (rows * cluster)) * -(-n // columns))
    shared = 1024 + stages * ((rows + columns) * 128 + 16)
    launch = Launch(name, [blocks, 1, 1], threads, shared, [pointer(maps[0]), pointer(maps[1]), pointer(c), sizes],
                    [(4, [cluster, 1, 1])] if cluster and cluster > 1 else [])
    launch.maps = maps
    return launch


def main():
    gemm.load(sys.argv[1])
    names, failures = ["mma_sync", *STEPS, "gemm"], 0
    for m, n, k in [(128, 256, 64), (1, 8, 8), (129, 264, 200), (1000, 520, 1048), (2049, 136, 776), (3000, 2056, 72)]:
        a, b = normal("bf16", m, k), normal("bf16", n, k)
        exact, size = a.double() @ b.double().t(), a.double().abs() @ b.double().abs().t()
        for name in names:
            c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
            step(name, a, b, c)()
            torch.cuda.synchronize()
            worst = ((c.double() - exact).abs() / (exact.abs() * 2 ** -8 + size * 2 ** -19)).nan_to_num(nan=float("inf")).max().item()
            failures += worst > 1
            print("ok    " if worst <= 1 else "FAILED", name, m, "x", n, "x", k, f"worst error / bound {worst:.3f}", flush=True)
    for size in SIZES:
        a, b = normal("bf16", size, size), normal("bf16", size, size)
        c = torch.empty(size, size, device="cuda", dtype=torch.bfloat16)
        count = max(1, int(2e11 / (2 * size ** 3)))
        runs = {"cuBLAS": lambda: torch.mm(a, b.t(), out=c), **{name: step(name, a, b, c) for name in names}}
        if count > 1:
            runs = {name: graph_of(run, count) for name, run in runs.items()}
        times = {name: [] for name in runs}
        for number in range(3):
            for name in list(runs) if number % 2 == 0 else list(runs)[::-1]:
                torch.cuda.synchronize()
                time.sleep(0.15)
                times[name].append(burst(runs[name], 3, 10 if count == 1 else 5) / count)
        rates = {name: 2 * size ** 3 / statistics.median(all_) / 1e9 for name, all_ in times.items()}
        for name, rate in rates.items():
            print(f"{size} {name} {rate:.1f} TFLOP/s, {rate / rates['cuBLAS']:.3f} of cuBLAS, "
                  f"spread {100 * (max(times[name]) / min(times[name]) - 1):.1f} %", flush=True)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()

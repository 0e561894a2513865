"""A loop that reads a scalar each step, or keeps it on the device, by PyTorch: scalar.py reads|keeps [STEPS]"""

import sys
import time

import torch


def reads(x, weight, steps):
    history = []
    for _ in range(steps):
        x = torch.tanh(x @ weight)
        loss = (x * x).mean()
        history.append(loss.item())
    return history[-1]


def keeps(x, weight, steps):
    history = torch.empty(steps, device="cuda")
    for step in range(steps):
        x = torch.tanh(x @ weight)
        history[step] = (x * x).mean()
    return history.tolist()[-1]


def main():
    variant = globals()[sys.argv[1]]
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    x = torch.randn(512, 512, device="cuda")
    weight = torch.randn(512, 512, device="cuda") / 20
    variant(x, weight, 20)
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    begin = time.perf_counter()
    last = variant(x, weight, steps)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - begin
    torch.cuda.profiler.stop()
    print(f"TIME scalar {sys.argv[1]} {seconds:.6f} s, {last:.6f}")


main()

"""Steps of training, by PyTorch, for what recording costs: train.py small|large|empty [alone|torch] [STEPS]"""

import contextlib
import sys
import time

import torch


def network(width, depth, batch):
    layers = []
    for _ in range(depth):
        layers += [torch.nn.Linear(width, width), torch.nn.GELU()]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(batch, width, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()

    return step


def main():
    kind = sys.argv[1]
    is_traced = len(sys.argv) > 2 and sys.argv[2] == "torch"
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else {"small": 400, "large": 60, "empty": 20000}[kind]
    if kind == "empty":
        one = torch.zeros(1, device="cuda")
        step = one.zero_
    else:
        step = network(*{"small": (64, 16, 64), "large": (8192, 8, 4096)}[kind])
    for _ in range(20):
        step()
    torch.cuda.synchronize()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    tracer = torch.profiler.profile(activities=activities, with_stack=True) if is_traced else contextlib.nullcontext()
    with tracer as profile:
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            for _ in range(steps):
                step()
            torch.cuda.synchronize()
            times.append((time.perf_counter() - begin) / steps)
    print(f"TIME train {kind} {sorted(times)[2] * 1e6:.2f} us a step")
    if is_traced:
        events = profile.events()
        on_device = [it for it in events if it.device_type == torch.autograd.DeviceType.CUDA]
        print(f"TORCH {len(on_device)} pieces of work, {sum(it.device_time_total for it in on_device):.1f} us")


main()

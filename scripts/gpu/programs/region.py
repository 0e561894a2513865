"""The part of a PyTorch program that is measured: alone and between the calls that a recorder looks for, or traced by
torch.profiler, which then says what the GPU did."""

import contextlib
import time

import torch


@contextlib.contextmanager
def measured(name, is_traced=False):
    torch.cuda.synchronize()
    tracer = contextlib.nullcontext()
    if is_traced:
        kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        tracer = torch.profiler.profile(activities=kinds, with_stack=True)
    with tracer as profile:
        torch.cuda.profiler.start()
        begin = time.perf_counter()
        yield
        torch.cuda.synchronize()
        seconds = time.perf_counter() - begin
        torch.cuda.profiler.stop()
    print(f"TIME {name} {seconds:.6f} s")
    if is_traced:
        totals = {"copies": [0, 0], "fills": [0, 0], "kernels": [0, 0]}
        for event in profile.profiler.kineto_results.events():
            if event.device_type() == torch.autograd.DeviceType.CUDA:
                first = event.name().split(" ")[0]
                kind = {"Memcpy": "copies", "Memset": "fills"}.get(first, "kernels")
                totals[kind][0] += 1
                totals[kind][1] += event.duration_ns()
        for kind, (count, nanoseconds) in totals.items():
            print(f"TORCH {name} {kind} {count} {nanoseconds}")

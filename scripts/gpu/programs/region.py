"""The part of a PyTorch program that is measured: alone and between the calls that a recorder looks for, or traced by
torch.profiler, which then says what the GPU did."""

import contextlib
import sys
import time

import torch

IS_TRACED = "torch" in sys.argv[1:]


def measured(name, body, repeats=1):
    """Runs the body so often, and prints how long each took in seconds."""
    torch.cuda.synchronize()
    tracer = contextlib.nullcontext()
    if IS_TRACED:
        kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        tracer = torch.profiler.profile(activities=kinds, with_stack=True)
    times = []
    with tracer as profile:
        torch.cuda.profiler.start()
        for _ in range(repeats):
            begin = time.perf_counter()
            body()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - begin)
        torch.cuda.profiler.stop()
    print("TIME", name, *(f"{it:.6f}" for it in times), flush=True)
    if IS_TRACED:
        say_totals(name, profile)


def say_totals(name, profile):
    totals = {"copies": [0, 0], "fills": [0, 0], "kernels": [0, 0]}
    for event in profile.profiler.kineto_results.events():
        # Ranges of the program, such as an optimizer's step, are events of the device, too.
        if event.device_type() == torch.autograd.DeviceType.CUDA and not event.is_user_annotation():
            first = event.name().split(" ")[0]
            kind = {"Memcpy": "copies", "Memset": "fills"}.get(first, "kernels")
            totals[kind][0] += 1
            totals[kind][1] += event.duration_ns()
    for kind, (count, nanoseconds) in totals.items():
        print("TORCH", name, kind, count, nanoseconds, flush=True)

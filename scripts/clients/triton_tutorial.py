"""A tutorial of Triton as it stands, but for what measures times: `triton_tutorial.py FILE`. `scripts/clients/triton.sh` runs it."""

import runpy
import sys
import types

import torch
import triton

NOTHING = types.SimpleNamespace(run=lambda **_options: None)
triton.testing.perf_report = lambda _configurations: lambda _function: NOTHING

names = runpy.run_path(sys.argv[1], run_name="__main__")
if "attention" in names and "test_op" in names:
    # Its test of attention forwards and backwards, with sizes that take seconds.
    for causal in (False, True):
        names["test_op"](1, 2, 128, 64, causal, False, "bwd", "triton-fp16", torch.float16)

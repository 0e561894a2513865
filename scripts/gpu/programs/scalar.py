"""A loop that reads a scalar each step, or keeps it on the device, by PyTorch: scalar.py reads|keeps [torch]"""

import sys

import torch
from region import measured

STEPS = 1000


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


def main(name):
    variant = globals()[name]
    x = torch.randn(512, 512, device="cuda")
    weight = torch.randn(512, 512, device="cuda") / 20
    variant(x, weight, 20)
    measured(f"scalar-{name}", lambda: variant(x, weight, STEPS), 5)


if __name__ == "__main__":
    main(sys.argv[1])

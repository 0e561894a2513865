"""Steps of training, by PyTorch, for what recording costs: train.py small|large|empty|paced [torch]

`paced` launches some 10,000 kernels per second: the host has other work between them."""

import sys
import time

import torch
from region import measured

STEPS = {"small": 200, "large": 10, "empty": 20000, "paced": 10000}


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


def paced(launch, steps):
    """A loop whose host has 90 us of work of its own for each launch."""
    for _ in range(steps):
        begin = time.perf_counter()
        while time.perf_counter() - begin < 90e-6:
            pass
        launch()


def main():
    kind = sys.argv[1]
    steps = STEPS[kind]
    if kind in ("empty", "paced"):
        step = torch.zeros(1, device="cuda").zero_
    else:
        step = network(*{"small": (64, 16, 64), "large": (8192, 8, 4096)}[kind])
    for _ in range(20):
        step()
    with measured(f"train {kind}", sys.argv[2:] == ["torch"]):
        if kind == "paced":
            paced(step, steps)
        else:
            for _ in range(steps):
                step()


main()

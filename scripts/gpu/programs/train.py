"""Steps of training, by PyTorch, for what recording costs: train.py small|large|empty|paced [torch]

`paced` launches some 10,000 kernels per second: the host has other work between them."""

import sys
import time

import torch
from region import measured

STEPS = {"small": 100, "large": 4, "empty": 10000, "paced": 5000}


def network(width, depth, batch):
    layers = []
    for _ in range(depth):
        layers += [torch.nn.Linear(width, width, device="cuda"), torch.nn.GELU()]
    model = torch.nn.Sequential(*layers)
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


def main(kind):
    if kind in ("empty", "paced"):
        step = torch.zeros(1, device="cuda").zero_
    else:
        step = network(*{"small": (64, 16, 64), "large": (8192, 8, 4096)}[kind])

    def steps():
        for _ in range(STEPS[kind]):
            step()

    for _ in range(20 if kind != "large" else 2):
        step()
    measured(f"train-{kind}", (lambda: paced(step, STEPS[kind])) if kind == "paced" else steps)


if __name__ == "__main__":
    main(sys.argv[1])

"""Ten batches to the device, multiplied, and back, by PyTorch: batches.py pageable|pinned|streams [torch]"""

import sys

import torch
from region import measured

BATCHES = 10
ORDER = 4096


def one_stream(inputs, outputs, weight):
    for source, result in zip(inputs, outputs):
        x = source.to("cuda", non_blocking=True)
        y = x @ weight
        result.copy_(y, non_blocking=True)


def streams(inputs, outputs, weight):
    lanes = [torch.cuda.Stream() for _ in range(3)]
    for number, (source, result) in enumerate(zip(inputs, outputs)):
        with torch.cuda.stream(lanes[number % len(lanes)]):
            x = source.to("cuda", non_blocking=True)
            y = x @ weight
            result.copy_(y, non_blocking=True)


def main(name):
    variant = streams if name == "streams" else one_stream
    shape = (ORDER, ORDER)
    is_pinned = name != "pageable"
    batch = torch.randn(shape)
    inputs = [torch.empty(shape, pin_memory=is_pinned).copy_(batch) for _ in range(BATCHES)]
    outputs = [torch.zeros(shape, pin_memory=is_pinned) for _ in range(BATCHES)]
    weight = torch.randn(shape, device="cuda")
    variant(inputs, outputs, weight)
    measured(f"batches-{name}", lambda: variant(inputs, outputs, weight), 3)


if __name__ == "__main__":
    main(sys.argv[1])

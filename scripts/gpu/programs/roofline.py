"""Kernels whose bytes and operations are known: roofline.py

Matrix products of four types, a softmax, a product by a number, a sum, the same product in a graph, and small launches of four threads.
"""

import threading

import torch

N = 4096
a, b = (torch.randn(N, N, device="cuda", dtype=torch.float16) for _ in range(2))
x = torch.randn(1 << 26, device="cuda")
y = torch.empty_like(x)

for _ in range(5):
    a @ b
    torch.mul(x, 2.0, out=y)
    torch.softmax(x.view(8192, 8192), 1)
    x.sum().item()

a.bfloat16() @ b.bfloat16()
torch.backends.cuda.matmul.allow_tf32 = True
a.float() @ b.float()
torch.backends.cuda.matmul.allow_tf32 = False
a.float()[:2048] @ b.float()
a.double()[:1024] @ b.double()
torch.cuda.synchronize()

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    # No launch outside of the graph is of this shape.
    torch.mul(x[: 1 << 25], 2.0, out=y[: 1 << 25])
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()


def small():
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(50):
            torch.add(x[:1000], 1.0)


threads = [threading.Thread(target=small) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
torch.cuda.synchronize()

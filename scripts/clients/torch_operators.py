"""PyTorch on the emulated driver, its operators on the CPU: a check of each kind. `scripts/clients/triton.sh` runs it."""

import torch

on_device = {"device": "cuda"}

# Factories, arithmetic, views that are written to, conversions.
x = torch.arange(8, dtype=torch.float32, **on_device)
assert (x + x).tolist() == [0, 2, 4, 6, 8, 10, 12, 14] and x.sum().item() == 28
x[::2] = 5
x[::2].add_(1)
assert x.tolist() == [6, 1, 6, 3, 6, 5, 6, 7]
assert x.half().dtype == torch.float16 and x.to(torch.int32)[1].item() == 1
assert x.view(2, 4).t().contiguous().cpu().equal(x.cpu().view(2, 4).t())
wide = torch.zeros(4, 6, **on_device)
wide[:, 1:3] = x.view(4, 2)
assert wide.sum().item() == x.sum().item() and wide[:, 0].abs().sum().item() == 0

# A number takes part as a number: it does not widen.
assert (x.half() * 2.5).dtype == torch.float16 and (torch.tensor(3, dtype=torch.int8, **on_device) & 1).dtype == torch.int8
assert x.to(torch.int16).bitwise_and(3).tolist() == [2, 1, 2, 3, 2, 1, 2, 3]

# Conjugates are views.
turned = torch.tensor([[1 + 2j, 3 - 1j]], **on_device)
assert (turned.conj() @ turned.T).item() == 15 and turned.conj().clone().cpu().equal(turned.cpu().conj())
turned.conj().copy_(torch.tensor([[5j, 1]], dtype=turned.dtype))
assert turned.tolist() == [[-5j, 1]]

# Results given by the caller, and of sizes that values decide on.
out = torch.empty(0, **on_device)
assert torch.add(x, 1, out=out) is out and out.tolist() == [7, 2, 7, 4, 7, 6, 7, 8]
assert torch.nonzero(x > 5).shape == (5, 1) and torch.sort(x, descending=True)[0].tolist() == [7, 6, 6, 6, 6, 5, 3, 1]
values, places = x.max(0)
assert values.item() == 7 and places.item() == 7

# Random numbers: seeds repeat them, and a generator goes on.
torch.manual_seed(1)
first = torch.rand(4, **on_device)
torch.manual_seed(1)
assert torch.rand(4, **on_device).equal(first) and not torch.rand(4, **on_device).equal(first)
generator = torch.Generator("cuda").manual_seed(3)
drawn = [torch.randn(4, generator=generator, **on_device) for _ in range(2)]
assert not drawn[0].equal(drawn[1])
assert torch.randn(4, generator=generator.manual_seed(3), **on_device).equal(drawn[0])

torch.cuda.manual_seed(7)
drawn = torch.rand(4, **on_device)
torch.cuda.manual_seed(7)
assert torch.rand(4, **on_device).equal(drawn)

# Operands that lie between each other, each of which is written.
columns = torch.ones(3, 2, **on_device)
torch._foreach_mul_([columns[:, 0], columns[:, 1]], 2)
assert columns.tolist() == [[2, 2]] * 3

# Forms that a CPU has not.
for normalize in (torch.softmax, torch.log_softmax):
    both = []
    for device in ("cpu", "cuda"):
        given = torch.linspace(-1, 1, 12).view(3, 4).half().to(device).requires_grad_(True)
        made = normalize(given, -1, dtype=torch.float32)
        made.backward(torch.linspace(0, 1, 12, device=device).view(3, 4))
        both.append((made.detach().cpu(), given.grad.cpu()))
    torch.testing.assert_close(both[0], both[1])
both = []
for device in ("cpu", "cuda"):
    torch.manual_seed(4)
    layers = torch.nn.Sequential(torch.nn.Conv1d(4, 4, 3, groups=4), torch.nn.RMSNorm(6)).to(device)
    given = torch.linspace(-1, 1, 32).view(1, 4, 8).to(device).requires_grad_(True)
    layers(given).square().sum().backward()
    both.append([given.grad.cpu()] + [parameter.grad.cpu() for parameter in layers.parameters()])
torch.testing.assert_close(both[0], both[1])

# Gradients, layers, an optimizer, attention: as on the CPU.
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 2)
)
images = torch.randn(2, 3, 8, 8)
losses = []
for device in ("cpu", "cuda"):
    torch.manual_seed(2)
    for layer in model:
        getattr(layer, "reset_parameters", bool)()
    model.to(device).zero_grad()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(2):
        loss = model(images.to(device)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    losses.append(loss.item())
assert abs(losses[0] - losses[1]) <= 1e-4 * abs(losses[0]), losses
query = torch.randn(1, 2, 8, 16)
attend = torch.nn.functional.scaled_dot_product_attention
torch.testing.assert_close(attend(query, query, query), attend(*[query.cuda()] * 3).cpu())

# Two streams, and a copy that does not block.
stream = torch.cuda.Stream()
stream.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(stream):
    doubled = x * 2
host = torch.empty(8, pin_memory=True)
torch.cuda.current_stream().wait_stream(stream)
host.copy_(doubled, non_blocking=True)
torch.cuda.synchronize()
assert host.equal(x.cpu() * 2)

# A kernel that torch.compile writes: the emulator runs it, and checks it.
logits = torch.randn(4, 64, **on_device)
softmax = torch.compile(lambda values: torch.softmax(values * 2, -1))
torch.testing.assert_close(softmax(logits).cpu(), torch.softmax(logits.cpu() * 2, -1))

# An operator in a graph is refused.
graph = torch.cuda.CUDAGraph()
try:
    with torch.cuda.graph(graph):
        x + 1
    raise SystemExit("an operator was captured")
except RuntimeError as error:
    assert "on the CPU" in str(error), error
print("passed")

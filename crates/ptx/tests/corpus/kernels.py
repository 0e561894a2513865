import sys, triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(out + i, tl.load(x + i, m) + tl.load(y + i, m), m)

@triton.jit
def softmax(x, out, stride, n, B: tl.constexpr):
    r = tl.program_id(0); i = tl.arange(0, B)
    v = tl.load(x + r * stride + i, i < n, other=-float('inf'))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + r * stride + i, e / tl.sum(e, 0), i < n)

@triton.jit
def matmul(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM); n = tl.program_id(1) * BN + tl.arange(0, BN); k = tl.arange(0, BK)
    pa = a + m[:, None] * sa + k[None, :]; pb = b + k[:, None] * sb + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK; pb += BK * sb
    tl.store(c + m[:, None] * sc + n[None, :], acc.to(tl.float16))

@triton.jit
def atomics(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n, other=0)
    tl.atomic_add(out, tl.sum(v, 0)); tl.atomic_max(out + 1, tl.max(v, 0))
    tl.store(out + 2 + i, tl.cumsum(v, 0))

def go(fn, sig, const, arch, name, **opts):
    names = fn.arg_names
    src = ASTSource(fn=fn, signature={**sig, **{k: 'constexpr' for k in const}}, constexprs=const,
        attrs={(i,): [["tt.divisibility", 16]] for i, k in enumerate(names) if k in sig})
    k = triton.compile(src, target=GPUTarget('cuda', arch, 32), options=opts)
    open(f'{sys.argv[1]}/triton_{name}_{arch}.ptx', 'w').write(k.asm['ptx'])

for arch in (75, 80, 90, 100):
    for fn, sig, const, name, opts in [
        (add, dict(x='*fp32', y='*fp32', out='*fp32', n='i32'), dict(B=1024), 'add', {}),
        (softmax, dict(x='*fp32', out='*fp32', stride='i32', n='i32'), dict(B=1024), 'softmax', {}),
        (matmul, dict(a='*fp16', b='*fp16', c='*fp16', M='i32', N='i32', K='i32', sa='i32', sb='i32', sc='i32'), dict(BM=64, BN=64, BK=32), 'matmul', dict(num_warps=4, num_stages=3)),
        (matmul, dict(a='*fp8e4nv' if arch >= 90 else '*bf16', b='*fp8e4nv' if arch >= 90 else '*bf16', c='*fp16', M='i32', N='i32', K='i32', sa='i32', sb='i32', sc='i32'), dict(BM=128, BN=128, BK=64), 'matmul8', dict(num_warps=4, num_stages=3)),
        (atomics, dict(x='*i32', out='*i32', n='i32'), dict(B=256), 'atomics', {}),
    ]:
        try: go(fn, sig, const, arch, name, **opts)
        except Exception as e: print(name, arch, type(e).__name__, str(e)[:200])

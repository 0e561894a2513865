"""Kernels of strangers, and how each is launched. The list was written and committed before the model was run on any of them.

Nothing of theirs is here: `functions` are cut by name from the file of a checkout, the last one being the kernel, and stand behind `before`,
which has the types and figures that other files of theirs give. `of(n)` gives grid and arguments of a launch of size n, in the notation of
`ridgepoint run`; `measured` and `counted` are the sizes, chosen so that each block does the same in both.
"""

import typing

STUDY = [64, 128, 256, 512, 1024]
UINT = "typedef unsigned int uint;\n"
GROUPS = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups;\n"
FLOATX = "typedef float floatX;\n"
TILE = """
#define TILE_DIM 32
#define BLOCK_ROWS 16
"""
CONVOLUTION_ROWS = (
    GROUPS
    + """#define KERNEL_RADIUS 8
#define KERNEL_LENGTH 17
__constant__ float c_Kernel[KERNEL_LENGTH];
#define ROWS_BLOCKDIM_X 16
#define ROWS_BLOCKDIM_Y 4
#define ROWS_RESULT_STEPS 8
#define ROWS_HALO_STEPS 1
"""
)
CONVOLUTION_COLUMNS = (
    GROUPS
    + """#define KERNEL_RADIUS 8
#define KERNEL_LENGTH 17
__constant__ float c_Kernel[KERNEL_LENGTH];
#define COLUMNS_BLOCKDIM_X 16
#define COLUMNS_BLOCKDIM_Y 8
#define COLUMNS_RESULT_STEPS 8
#define COLUMNS_HALO_STEPS 1
"""
)
HISTOGRAM = (
    UINT
    + GROUPS
    + """#define TAG_MASK 0xFFFFFFFFU
#define LOG2_WARP_SIZE 5U
#define WARP_COUNT 6
#define UINT_BITS 32
#define HISTOGRAM256_BIN_COUNT 256
#define HISTOGRAM256_THREADBLOCK_SIZE 192
#define HISTOGRAM256_THREADBLOCK_MEMORY (WARP_COUNT * HISTOGRAM256_BIN_COUNT)
#define UMUL(a, b) ((a) * (b))
#define UMAD(a, b, c) (UMUL((a), (b)) + (c))
"""
)
ATOMS = """
#define FPTYPE float
#define POSVECTYPE float4
#define FORCEVECTYPE float4
typedef unsigned int uint;
#define zero make_float4(0, 0, 0, 0)
"""
GELU = FLOATX + "#define GELU_SCALING_FACTOR sqrtf(2.0f / M_PI)"

SOURCES = {"samples": "NVIDIA/cuda-samples", "llm.c": "karpathy/llm.c", "hecbench": "zjin-lcf/HeCBench", "triton": "ROCm/triton"}


class Kernel(typing.NamedTuple):
    name: str
    source: str
    file: str
    functions: list
    measured: int
    counted: int
    of: typing.Callable  # Of a size and a number of threads per block: the grid, and the arguments.
    blocks: list  # Threads per block, as measured, each a number or a tuple.
    out: int  # The argument that is written, of which nothing may stay as it was.
    before: str = ""
    after: str = ""
    others: list = []  # Functions of other files, which stand before.
    shared: typing.Callable = lambda block: 0
    # Of Triton's: the types of the arguments, the constants and the warps.
    signature: dict = {}
    constants: dict = {}
    warps: int = 4


def lines(n, block):
    """Blocks for n threads."""
    return [-(-n // block)]


def f32(n, data="random"):
    return f"f32[{n}]={data}" if data else f"f32[{n}]"


def stream(inputs):
    """A kernel of one thread per element: so many inputs, an output, then the number of elements."""
    return lambda n, block: (lines(n, block), [*[f32(n)] * inputs, f32(n, None), f"i32:{n}"])


def outward(inputs):
    """As `stream`, with the output first."""
    return lambda n, block: (lines(n, block), [f32(n, None), *[f32(n)] * inputs, f"i32:{n}"])


def transpose(n, _):
    return [n // 32, n // 32], [f32(n * n, None), f32(n * n), f"i32:{n}", f"i32:{n}"]


def convolution(across, down):
    def of(n, _):
        return [4096 // across, n // down], [f32(4096 * n, None), f32(4096 * n), "i32:4096", f"i32:{n}", "i32:4096"]

    return of


def attention(n, block):
    words = [f"i32:{n}", "i32:256", "i32:768", "i32:12"]
    return lines(n * 12 * 256 * 256, block), [f32(n * 12 * 256 * 256, None), f32(n * 256 * 3 * 768), *words]


def permute(n, block):
    every = n * 12 * 256 * 64
    return lines(every, block), [*[f32(every, None)] * 3, f32(3 * every), f"i32:{n}", "i32:256", "i32:12", "i32:64"]


def encoder(n, block):
    out = n * 1024 * 768
    words = [f"u32[{n * 1024}]=random:50257", f32(50257 * 768, "ones"), f32(1024 * 768, "ones"), f"i32:{n}", "i32:1024", "i32:768"]
    return lines(out, block), [f32(out, None), *words]


def rows_of_warps(n, block):
    return lines(n * 32, block), [f32(n * 768, None), f32(n, None), f32(n, None), f32(n * 768), f32(768), f32(768), f"i32:{n}", "i32:768"]


def adamw(n, block):
    figures = ["f32:0.001", "f32:0.9", "f32:0.999", "f32:0.1", "f32:0.001", "f32:0.00000001", "f32:0.01"]
    return lines(n, block), [*[f32(n)] * 4, f"u64:{n}", *figures]


def crossentropy(n, block):
    return lines(n, block), [f32(n, None), f32(n * 64), f"u32[{n}]=random:64", f"i32:{n // 1024}", "i32:1024", "i32:64"]


def merge(n, block):
    keys = f"u32[{n}]=random:1000000000"
    return lines(n // 2, block), [f"u32[{n}]", f"u32[{n}]", keys, keys, f"u32:{n}", f"u32:{n}", "u32:8192", "u32:1"]


def walsh(n, block):
    # The stride is that of the first pass of arrays of 2^16, a row of blocks each.
    return [2**14 // block, n], [f32(n * 2**16, None), f32(n * 2**16), "i32:16384"]


def md(n, block):
    words = [f32(4 * n), f32(4 * n, None), f"u32[{n * 64}]=random:{n}", f"i32:{n}", "i32:64", "f32:1.5", "f32:2", "f32:16"]
    return lines(n, block), words


def plane(n, _):
    return [n // 16, n // 16]


KERNELS = [
    Kernel("vectorAdd", "samples", "Samples/0_Introduction/vectorAdd/vectorAdd.cu", ["vectorAdd"], 2**26, 2**18, stream(2), STUDY, 2),
    Kernel("transposeNaive", "samples", "Samples/6_Performance/transpose/transpose.cu", ["transposeNaive"], 8192, 1024, transpose, [(32, 16)], 0, TILE),
    Kernel("transposeCoalesced", "samples", "Samples/6_Performance/transpose/transpose.cu", ["transposeCoalesced"], 8192, 1024, transpose, [(32, 16)], 0, GROUPS + TILE),
    Kernel("transposeNoBankConflicts", "samples", "Samples/6_Performance/transpose/transpose.cu", ["transposeNoBankConflicts"], 8192, 1024, transpose, [(32, 16)], 0, GROUPS + TILE),
    Kernel(
        "BlackScholesGPU",
        "samples",
        "Samples/5_Domain_Specific/BlackScholes/BlackScholes_kernel.cuh",
        ["cndGPU", "BlackScholesBodyGPU", "BlackScholesGPU"],
        2**26,
        2**18,
        lambda n, block: (lines(n // 2, block), [f32(n, None), f32(n, None), f32(n, "ones"), f32(n, "ones"), f32(n, "ones"), "f32:0.02", "f32:0.3", f"i32:{n}"]),
        [128],
        0,
    ),
    Kernel(
        "convolutionRowsKernel",
        "samples",
        "Samples/2_Concepts_and_Techniques/convolutionSeparable/convolutionSeparable.cu",
        ["convolutionRowsKernel"],
        8192,
        128,
        convolution(128, 4),
        [(16, 4)],
        0,
        CONVOLUTION_ROWS,
    ),
    Kernel(
        "convolutionColumnsKernel",
        "samples",
        "Samples/2_Concepts_and_Techniques/convolutionSeparable/convolutionSeparable.cu",
        ["convolutionColumnsKernel"],
        8192,
        256,
        convolution(16, 64),
        [(16, 8)],
        0,
        CONVOLUTION_COLUMNS,
    ),
    Kernel(
        "histogram256Kernel",
        "samples",
        "Samples/2_Concepts_and_Techniques/histogram/histogram256.cu",
        ["addByte", "addWord", "histogram256Kernel"],
        2**24,
        2**24,
        lambda n, _: ([240], ["u32[61440]", f"u32[{n}]=random:4294967295", f"u32:{n}"]),
        [192],
        0,
        HISTOGRAM,
    ),
    Kernel(
        "MatrixMulCUDA",
        "samples",
        "Samples/0_Introduction/matrixMul/matrixMul.cu",
        ["MatrixMulCUDA"],
        1024,
        1024,
        lambda n, _: ([n // 32, n // 32], [f32(n * n, None), f32(n * n), f32(n * n), f"i32:{n}", f"i32:{n}"]),
        [(32, 32)],
        0,
        after="template __global__ void MatrixMulCUDA<32>(float *, float *, float *, int, int);",
    ),
    Kernel(
        "bitonicSortShared",
        "samples",
        "Samples/2_Concepts_and_Techniques/sortingNetworks/bitonicSort.cu",
        ["bitonicSortShared"],
        2**24,
        2**16,
        lambda n, _: ([n // 1024], [f"u32[{n}]", f"u32[{n}]", *[f"u32[{n}]=random:1000000000"] * 2, "u32:1024", "u32:1"]),
        [512],
        0,
        UINT + GROUPS + "#define SHARED_SIZE_LIMIT 1024U",
        others=[("Samples/2_Concepts_and_Techniques/sortingNetworks/sortingNetworks_common.cuh", "Comparator")],
    ),
    Kernel(
        "bitonicMergeGlobal",
        "samples",
        "Samples/2_Concepts_and_Techniques/sortingNetworks/bitonicSort.cu",
        ["bitonicMergeGlobal"],
        2**26,
        2**18,
        merge,
        STUDY,
        0,
        UINT,
        others=[("Samples/2_Concepts_and_Techniques/sortingNetworks/sortingNetworks_common.cuh", "Comparator")],
    ),
    Kernel(
        "scanExclusiveShared",
        "samples",
        "Samples/2_Concepts_and_Techniques/scan/scan.cu",
        ["scan1Inclusive", "scan1Exclusive", "scan4Inclusive", "scan4Exclusive", "scanExclusiveShared"],
        2**26,
        2**18,
        lambda n, _: ([n // 1024], [f"u32[{n}]", f"u32[{n}]=random:1000", "u32:1024"]),
        [256],
        0,
        UINT + GROUPS + "#define THREADBLOCK_SIZE 256",
    ),
    Kernel(
        "scalarProdGPU",
        "samples",
        "Samples/2_Concepts_and_Techniques/scalarProd/scalarProd_kernel.cuh",
        ["scalarProdGPU"],
        16384,
        128,
        lambda n, _: ([n], [f32(n, None), f32(n * 4096), f32(n * 4096), f"i32:{n}", "i32:4096"]),
        STUDY,
        0,
        GROUPS + "#define IMUL(a, b) __mul24(a, b)\n#define ACCUM_N 1024",
    ),
    Kernel(
        "fwtBatch1Kernel",
        "samples",
        "Samples/5_Domain_Specific/fastWalshTransform/fastWalshTransform_kernel.cuh",
        ["fwtBatch1Kernel"],
        2**15,
        2**7,
        lambda n, _: ([n], [f32(n * 2048, None), f32(n * 2048), "i32:11"]),
        [512],
        0,
        GROUPS,
        shared=lambda _: 8192,
    ),
    Kernel("fwtBatch2Kernel", "samples", "Samples/5_Domain_Specific/fastWalshTransform/fastWalshTransform_kernel.cuh", ["fwtBatch2Kernel"], 1024, 8, walsh, STUDY, 0),
    Kernel("gelu_forward_kernel1", "llm.c", "dev/cuda/gelu_forward.cu", ["gelu_forward_kernel1"], 2**26, 2**18, outward(1), STUDY, 0, GELU),
    Kernel("gelu_backward1", "llm.c", "dev/cuda/gelu_backward.cu", ["gelu_backward1"], 2**26, 2**18, outward(2), STUDY, 0, GELU),
    Kernel("layernorm_forward_kernel3", "llm.c", "dev/cuda/layernorm_forward.cu", ["layernorm_forward_kernel3"], 2**16, 2**10, rows_of_warps, STUDY, 0, GROUPS),
    Kernel(
        "softmax_forward_kernel4",
        "llm.c",
        "dev/cuda/softmax_forward.cu",
        ["warpReduceMax", "softmax_forward_kernel4"],
        2**15,
        2**7,
        lambda n, _: ([n], [f32(n * 2048, None), f32(n * 2048), f"i32:{n}", "i32:2048"]),
        STUDY,
        0,
        GROUPS,
        others=[("dev/cuda/common.h", "warpReduceSum")],
        shared=lambda block: block // 8,
    ),
    Kernel("residual_forward_kernel1", "llm.c", "dev/cuda/residual_forward.cu", ["residual_forward_kernel1"], 2**26, 2**18, outward(2), STUDY, 0, FLOATX),
    Kernel("encoder_forward_kernel2", "llm.c", "dev/cuda/encoder_forward.cu", ["encoder_forward_kernel2"], 64, 1, encoder, STUDY, 0, FLOATX),
    Kernel("adamw_kernel2", "llm.c", "dev/cuda/adamw.cu", ["lerp", "adamw_kernel2"], 2**26, 2**18, adamw, STUDY, 0),
    Kernel("attention_query_key_kernel1", "llm.c", "dev/cuda/attention_forward.cu", ["attention_query_key_kernel1"], 32, 1, attention, [256], 0),
    Kernel("permute_kernel", "llm.c", "dev/cuda/attention_forward.cu", ["permute_kernel"], 128, 2, permute, STUDY, 0),
    Kernel(
        "matmul_backward_bias_kernel2",
        "llm.c",
        "dev/cuda/matmul_backward_bias.cu",
        ["matmul_backward_bias_kernel2"],
        8,
        8,
        lambda n, block: (lines(768 * 32, block), [f32(768), f32(n * 1024 * 768), f"i32:{n}", "i32:1024", "i32:768"]),
        [128],
        0,
        FLOATX + GROUPS,
    ),
    Kernel("crossentropy_forward_kernel1", "llm.c", "dev/cuda/crossentropy_forward.cu", ["crossentropy_forward_kernel1"], 2**22, 2**16, crossentropy, STUDY, 0),
    Kernel(
        "matmul_forward_kernel1",
        "llm.c",
        "dev/cuda/matmul_forward.cu",
        ["matmul_forward_kernel1"],
        1024,
        1024,
        lambda n, _: ([n // 16, n // 16], [f32(n * n, None), f32(n * 256), f32(n * 256), f32(n), f"i32:{n}", "i32:256", f"i32:{n}"]),
        [(16, 16)],
        0,
    ),
    Kernel(
        "compute_haversine_distance",
        "hecbench",
        "src/haversine-cuda/distance.cu",
        ["compute_haversine_distance"],
        2**24,
        2**16,
        lambda n, block: (lines(n, block), [f"f64[{4 * n}]=random", f"f64[{n}]", f"i32:{n}"]),
        STUDY,
        1,
        "#define DEGREE_TO_RADIAN (M_PI / 180.0)\n#define EARTH_RADIUS_KM 6371.0",
    ),
    Kernel(
        "floydWarshallPass",
        "hecbench",
        "src/floydwarshall-cuda/main.cu",
        ["floydWarshallPass"],
        8192,
        1024,
        lambda n, _: (plane(n, _), [f"u32[{n * n}]=random:100", f"u32[{n * n}]=zeros", f"u32:{n}", "u32:7"]),
        [(16, 16)],
        0,
    ),
    Kernel(
        "jacobi_step",
        "hecbench",
        "src/jacobi-cuda/main.cu",
        ["jacobi_step"],
        2048,
        2048,
        lambda n, _: (plane(n, _), [f32(n * n), f32(n * n), "f32[1]=zeros"]),
        [(16, 16)],
        0,
        "#define N 2048\n#define IDX(i, j) ((i) + (j) * N)",
    ),
    Kernel(
        "iso_2dfd_kernel",
        "hecbench",
        "src/iso2dfd-cuda/iso2dfd.cu",
        ["iso_2dfd_kernel"],
        8192,
        1024,
        lambda n, _: (plane(n, _), [f32(n * n), f32(n * n), f32(n * n), "f32:0.1", f"u64:{n}", f"u64:{n}"]),
        [(16, 16)],
        0,
        "#define HALF_LENGTH 1",
    ),
    Kernel("pc4", "hecbench", "src/popcount-cuda/main.cu", ["pc4"], 2**24, 2**16, lambda n, block: (lines(n, block), [f"u64[{n}]=iota", f"u32[{n}]", f"i32:{n}"]), STUDY, 1),
    Kernel(
        "nn",
        "hecbench",
        "src/nn-cuda/nearestNeighbor.cu",
        ["nn"],
        2**26,
        2**18,
        lambda n, block: (lines(n, block), [f"i32:{n}", "f32:30", "f32:90", f32(2 * n), f32(n, None)]),
        STUDY,
        4,
        "struct LatLong { float lat; float lng; };",
    ),
    Kernel(
        "glu_kernel",
        "hecbench",
        "src/glu-cuda/main.cu",
        ["glu_kernel"],
        2**17,
        2**9,
        lambda n, block: (lines(n * 512, block), [f"i32:{n}", "i32:512", "i32:1", f32(n * 1024), f32(n * 512, None)]),
        STUDY,
        4,
    ),
    Kernel(
        "maxpool3d",
        "hecbench",
        "src/maxpool3d-cuda/main.cu",
        ["maxpool3d"],
        256,
        4,
        lambda n, _: ([32, 32, n], [f32(n * 2**20), f32(n * 2**18, None), *["i32:2"] * 4, f"i32:{n}", "i32:1024", "i32:1024", "i32:512", "i32:512"]),
        [(16, 16)],
        1,
        "#define DTYPE float",
    ),
    Kernel("md", "hecbench", "src/md-cuda/main.cu", ["md"], 2**20, 2**15, md, STUDY, 1, ATOMS),
    Kernel(
        "add_kernel",
        "triton",
        "python/tutorials/01-vector-add.py",
        ["add_kernel"],
        2**26,
        2**18,
        lambda n, _: ([n // 1024], [f32(n), f32(n), f32(n, None), f"i32:{n}"]),
        [128],
        2,
        signature={"x_ptr": "*fp32", "y_ptr": "*fp32", "output_ptr": "*fp32", "n_elements": "i32"},
        constants={"BLOCK_SIZE": 1024},
    ),
    Kernel(
        "_seeded_dropout",
        "triton",
        "python/tutorials/04-low-memory-dropout.py",
        ["_seeded_dropout"],
        2**26,
        2**18,
        lambda n, _: ([n // 1024], [f32(n), f32(n, None), f"i32:{n}", "f32:0.5", "i32:123"]),
        [128],
        1,
        signature={"x_ptr": "*fp32", "output_ptr": "*fp32", "n_elements": "i32", "p": "fp32", "seed": "i32"},
        constants={"BLOCK_SIZE": 1024},
    ),
    Kernel(
        "softmax_kernel",
        "triton",
        "python/tutorials/02-fused-softmax.py",
        ["softmax_kernel"],
        2**15,
        2**7,
        lambda n, _: ([n], [f32(n * 2048, None), f32(n * 2048), "i32:2048", "i32:2048", f"i32:{n}", "i32:2048"]),
        [256],
        0,
        signature={"output_ptr": "*fp32", "input_ptr": "*fp32", "input_row_stride": "i32", "output_row_stride": "i32", "n_rows": "i32", "n_cols": "i32"},
        constants={"BLOCK_SIZE": 2048, "num_stages": 2},
        warps=8,
    ),
    Kernel(
        "_layer_norm_fwd_fused",
        "triton",
        "python/tutorials/05-layer-norm.py",
        ["_layer_norm_fwd_fused"],
        2**14,
        2**7,
        lambda n, _: ([n], [f32(n * 4096), f32(n * 4096, None), f32(4096), f32(4096), f32(n, None), f32(n, None), "i32:4096", "i32:4096", "f32:0.00001"]),
        [256],
        1,
        signature={"X": "*fp32", "Y": "*fp32", "W": "*fp32", "B": "*fp32", "Mean": "*fp32", "Rstd": "*fp32", "stride": "i32", "N": "i32", "eps": "fp32"},
        constants={"BLOCK_SIZE": 1024},
        warps=8,
    ),
]

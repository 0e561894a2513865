//! Why instructions are not executed. docs/testing-kernels.md has these words, each with its instructions.

use ptx::{
    Completion, CpAsyncBulk, CpAsyncBulkTensor, CpReduceAsyncBulk, Mma, Operation, Rounding, Space,
    TensorMode, Type,
};

const BLOCKS: &str =
    "copies between blocks, and stores that another block's mbarrier counts, are not emulated";
const UNDEFINED: &str = "the PTX ISA does not define it";

/// The reason, for what is refused whole; none where the lowering says what of it is.
pub(super) fn reason(operation: &Operation) -> Option<&'static str> {
    Some(match operation {
        Operation::Other(it) => return of_name(&it.name),
        Operation::WmmaLoad(_) | Operation::WmmaStore(_) | Operation::WmmaMma(_) => {
            "no document says how its fragments lie in registers"
        }
        Operation::Mma(it) => return of_mma(it),
        Operation::WgmmaMma(it) if it.sparsity.is_some() || it.bits.is_some() => {
            "sparse factors and single bits are not emulated"
        }
        Operation::Ldmatrix(_) | Operation::Stmatrix(_) => {
            "matrices other than 8 by 8 elements of 16 bits are not emulated"
        }
        Operation::CpAsyncBulkTensor(it) => return of_tensor_copy(it),
        Operation::CpAsyncBulk(it) => return of_bulk_copy(it),
        Operation::CpReduceAsyncBulk(it) if is_between_blocks(it) => BLOCKS,
        Operation::StAsync(_) | Operation::RedAsync(_) => BLOCKS,
        Operation::Stacksave(_) | Operation::Stackrestore(_) | Operation::Alloca(_) => {
            "the stack does not grow within a function"
        }
        Operation::CvtFour(it) if it.to == Type::E2m1x4 => {
            "the PTX ISA's text does not say which of the random bits each number takes"
        }
        Operation::Rcp(it) if it.ftz && it.ty == Type::F64 => UNDEFINED,
        Operation::Fma(it) if is_half(it.ty) && it.rounding != Rounding::Rn => UNDEFINED,
        _ => return None,
    })
}

/// Those that are only taken apart.
fn of_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "tex" | "tld4" | "txq" | "suld" | "sust" | "sured" | "suq" | "istypep" => {
            "textures and surfaces are not emulated"
        }
        "tcgen05" => "tensor memory is not emulated",
        "multimem" => "memory of several devices at one address is not emulated",
        "tensormap" => "a tensor map is in the emulator's own layout",
        "clusterlaunchcontrol" => "blocks that have not begun are not cancelled",
        "warpsync" | "_warpsync" => UNDEFINED,
        _ => return None,
    })
}

fn of_mma(it: &Mma) -> Option<&'static str> {
    if it.sparsity.is_some() || it.scale.is_some() || it.kind.is_some() {
        return Some("sparse and scaled factors are not emulated");
    }
    (it.shape.k == 4 && it.a_type == Type::F16)
        .then_some("products of quarter warps are not emulated")
}

fn of_tensor_copy(it: &CpAsyncBulkTensor) -> Option<&'static str> {
    if it.mode != TensorMode::Tile {
        return Some("parts of a tensor other than boxes are not emulated");
    }
    it.block_group.map(|_| "pairs of blocks are not emulated")
}

fn of_bulk_copy(it: &CpAsyncBulk) -> Option<&'static str> {
    if it.byte_mask.is_some() {
        return Some("copies of some of 16 bytes are not emulated");
    }
    let is_between =
        it.destination_space == Space::SharedCluster && it.source_space == Space::Shared;
    is_between.then_some(BLOCKS)
}

fn is_between_blocks(it: &CpReduceAsyncBulk) -> bool {
    matches!(it.completion, Completion::Mbarrier(_))
}

fn is_half(ty: Type) -> bool {
    matches!(ty, Type::Bf16 | Type::Bf16x2)
}

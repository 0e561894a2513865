//! Why instructions are not executed. docs/testing-kernels.md has these words, each with its instructions.

use ptx::{
    Completion, CpAsyncBulk, CpAsyncBulkTensor, CpReduceAsyncBulk, CvtFour, FloatRoot, Fma, Mma,
    Rounding, Space, TensorMode, Type, WgmmaMma, WmmaMma,
};

pub(super) const BETWEEN_BLOCKS: &str =
    "copies between blocks, and stores that another block's mbarrier counts, are not emulated";
pub(super) const ELEMENTS: &str = "matrices whose elements become wider are not emulated";
pub(super) const IMAGES: &str = "textures of several samples, formatted stores, and textures and surfaces by reference are not emulated";
pub(super) const TENSOR_MAP: &str =
    "interleaved and packed tensor maps, and swizzles of another size, are not emulated";
pub(super) const TENSOR_MEMORY: &str = "of tensor memory, pairs of blocks, sparse, stationary and shifted factors, shifts, loads with a \
     reduction and copies of 4 lanes or that make elements wider are not emulated";
pub(super) const CANCEL: &str = "answers for all blocks of a cluster are not emulated";
pub(super) const UNDEFINED: &str = "the PTX ISA does not define it";

/// The reason where one holds, else what the lowering says.
fn because(holds: bool, reason: &str, why: String) -> String {
    match holds {
        true => reason.to_owned(),
        false => why,
    }
}

/// Those that are only taken apart.
pub(super) fn taken_apart(name: &str) -> String {
    let reason = match name {
        "txq" | "sured" | "suq" | "istypep" => {
            "textures and surfaces are not asked what they are, and surfaces not reduced into"
        }
        "tcgen05" => TENSOR_MEMORY,
        "multimem" => "memory of several devices at one address is not emulated",
        "warpsync" | "_warpsync" => UNDEFINED,
        _ => "this instruction is not emulated",
    };
    reason.to_owned()
}

pub(super) fn fma(it: &Fma, why: String) -> String {
    let is_half = matches!(it.ty, Type::Bf16 | Type::Bf16x2);
    because(is_half && it.rounding != Rounding::Rn, UNDEFINED, why)
}

pub(super) fn rcp(it: &FloatRoot, why: String) -> String {
    because(it.ftz && it.ty == Type::F64, UNDEFINED, why)
}

pub(super) fn cvt_four(it: &CvtFour, why: String) -> String {
    because(
        it.to == Type::E2m1x4,
        "the PTX ISA's text does not say which of the random bits each number takes",
        why,
    )
}

pub(super) fn mma(it: &Mma, why: String) -> String {
    if it.sparsity.is_some() || it.scale.is_some() || it.kind.is_some() {
        return "sparse and scaled factors are not emulated".to_owned();
    }
    let is_quarter = it.shape.k == 4 && it.a_type == Type::F16;
    because(
        is_quarter,
        "products of quarter warps are not emulated",
        why,
    )
}

pub(super) fn wmma(it: &WmmaMma) -> String {
    match it.rounding {
        None | Some(Rounding::Rn) => UNDEFINED.to_owned(),
        Some(_) => "products of `f64` are rounded to nearest alone".to_owned(),
    }
}

pub(super) fn wgmma(it: &WgmmaMma, why: String) -> String {
    because(
        it.sparsity.is_some() || it.bits.is_some(),
        "sparse factors and single bits are not emulated",
        why,
    )
}

pub(super) fn tensor_memory(_: String) -> String {
    TENSOR_MEMORY.to_owned()
}

pub(super) fn tensor_copy(it: &CpAsyncBulkTensor, why: String) -> String {
    if it.mode != TensorMode::Tile {
        return "parts of a tensor other than boxes are not emulated".to_owned();
    }
    because(
        it.block_group.is_some(),
        "pairs of blocks are not emulated",
        why,
    )
}

pub(super) fn bulk_copy(it: &CpAsyncBulk, why: String) -> String {
    if it.byte_mask.is_some() {
        return "copies of some of 16 bytes are not emulated".to_owned();
    }
    let is_between =
        it.destination_space == Space::SharedCluster && it.source_space == Space::Shared;
    because(is_between, BETWEEN_BLOCKS, why)
}

pub(super) fn bulk_reduction(it: &CpReduceAsyncBulk, why: String) -> String {
    let is_between = matches!(it.completion, Completion::Mbarrier(_));
    because(is_between, BETWEEN_BLOCKS, why)
}

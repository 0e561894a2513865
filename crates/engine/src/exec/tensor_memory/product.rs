//! `tcgen05.mma`: products of matrices whose sum, and whose left factor if one wants, are in tensor memory.

use ptx::Tcgen05Kind;

use super::super::failure::Cause;
use super::super::matrix_descriptor::Layout;
use super::super::op::{Context, Op};
use super::super::shared_operand::Address;
use super::super::{checked, counted};
use super::{LANES, TensorMemory, memory};
use crate::arith::tensor::{Element, Scale, Sum, add_products};
use crate::check::{TensorAct, TensorCells};

/// `d = a * b + d`.
#[derive(Debug)]
pub(crate) struct Multiply {
    pub(crate) kind: Tcgen05Kind,
    pub(crate) d: Address,
    pub(crate) a: Left,
    /// A slot of 64 bits.
    pub(crate) b: u32,
    /// A slot of words: the instruction descriptor.
    pub(crate) descriptor: u32,
    pub(crate) scales: Option<Scales>,
    /// Slots of words: a bit for each lane of the sum that stays.
    pub(crate) disabled: Vec<u32>,
    /// Whether d is added, a slot of a predicate.
    pub(crate) adds: u32,
    /// d is divided by 2 to this power before.
    pub(crate) scale_d: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Left {
    /// A slot of 64 bits.
    Shared(u32),
    Tensor(Address),
}

/// Where the scales of the factors are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scales {
    /// Elements of a row that have one.
    pub(crate) block: u32,
    pub(crate) a: Address,
    pub(crate) b: Address,
}

/// The types, sizes and layouts of an instruction descriptor.
#[derive(Debug, PartialEq)]
struct Sizes {
    m: usize,
    n: usize,
    k: usize,
    a: Element,
    b: Element,
    d: Sum,
    negates: bool,
    a_is_along_k: bool,
    b_is_along_k: bool,
    scale: Scale,
    /// The byte in a word that the first scale is in.
    a_scale: u32,
    b_scale: u32,
}

impl Sizes {
    /// Reads an instruction descriptor.
    fn of(kind: Tcgen05Kind, descriptor: u32) -> Result<Sizes, String> {
        let bits = |from: u32, count: u32| descriptor >> from & ((1 << count) - 1);
        let wrong =
            |what: String| format!("an instruction descriptor {descriptor:#010x} with {what}");
        if bits(2, 1) == 1 {
            return Err(wrong("sparse factors, which are not emulated".to_owned()));
        }
        let is_scaled = kind.is_scaled();
        if is_scaled && (bits(31, 1) == 1 || bits(24, 1) == 1 || bits(3, 1) == 1)
            || !is_scaled && bits(29, 1) == 1
        {
            return Err(wrong(
                "a size of k or a type of scales that is not emulated".to_owned(),
            ));
        }
        let element = |from: u32| {
            let number = bits(from, 3);
            let of = match (kind, number) {
                (Tcgen05Kind::F16, 0) => Element::F16,
                (Tcgen05Kind::F16, 1) => Element::Bf16,
                (Tcgen05Kind::Tf32, 2) => Element::Tf32,
                (Tcgen05Kind::I8, 0) => Element::U8,
                (Tcgen05Kind::I8, 1) => Element::S8,
                (Tcgen05Kind::F8f6f4 | Tcgen05Kind::Mxf8f6f4, 0) => Element::E4m3,
                (Tcgen05Kind::F8f6f4 | Tcgen05Kind::Mxf8f6f4, 1) => Element::E5m2,
                (Tcgen05Kind::F8f6f4 | Tcgen05Kind::Mxf8f6f4, 3) => Element::E2m3,
                (Tcgen05Kind::F8f6f4 | Tcgen05Kind::Mxf8f6f4, 4) => Element::E3m2,
                (Tcgen05Kind::F8f6f4 | Tcgen05Kind::Mxf8f6f4, 5) => Element::WideE2m1,
                (Tcgen05Kind::Mxf4 | Tcgen05Kind::Mxf4nvf4, 1) => Element::E2m1,
                _ => {
                    let kind = kind.name();
                    return Err(wrong(format!("the type {number} of a factor of `.{kind}`")));
                }
            };
            Ok(of)
        };
        let d = match (kind, bits(4, 2), bits(3, 1)) {
            _ if is_scaled => Sum::F32,
            (Tcgen05Kind::I8, 2, 0) => Sum::S32,
            (Tcgen05Kind::I8, 2, _) => Sum::SaturatedS32,
            (Tcgen05Kind::F16 | Tcgen05Kind::F8f6f4, 0, _) => Sum::F16,
            (Tcgen05Kind::F16 | Tcgen05Kind::F8f6f4 | Tcgen05Kind::Tf32, 1, _) => Sum::F32,
            (_, number, _) => {
                let kind = kind.name();
                return Err(wrong(format!("the type {number} of the sum of `.{kind}`")));
            }
        };
        let (m, n) = (16 * bits(24, 5) as usize, 8 * bits(17, 6) as usize);
        let step = if m == 64 { 8 } else { 16 };
        let fits = match m {
            64 => !is_scaled,
            128 => true,
            _ => false,
        };
        if !fits || !(8..=256).contains(&n) || n % step != 0 && !is_scaled {
            return Err(wrong(format!(
                "m = {m} and n = {n}; of one block's `.{}` m is {} and n a multiple of {step} up to 256",
                kind.name(),
                if is_scaled { "128" } else { "64 or 128" }
            )));
        }
        let sizes = Sizes {
            m,
            n,
            k: match kind {
                Tcgen05Kind::Tf32 => 8,
                Tcgen05Kind::F16 => 16,
                Tcgen05Kind::F8f6f4 | Tcgen05Kind::I8 | Tcgen05Kind::Mxf8f6f4 => 32,
                Tcgen05Kind::Mxf4 | Tcgen05Kind::Mxf4nvf4 => 64,
            },
            a: element(7)?,
            b: element(10)?,
            d,
            negates: bits(13, 1) != bits(14, 1),
            a_is_along_k: bits(15, 1) == 0,
            b_is_along_k: bits(16, 1) == 0,
            scale: match bits(23, 1) {
                0 => Scale::Ue4m3,
                _ => Scale::Ue8m0,
            },
            a_scale: bits(29, 2),
            b_scale: bits(4, 2),
        };
        for (of, is_along_k) in [(sizes.a, sizes.a_is_along_k), (sizes.b, sizes.b_is_along_k)] {
            if of.room_bits() < 8 && !is_along_k {
                return Err(wrong(format!("{of:?} that follow each other along m or n")));
            }
        }
        Ok(sizes)
    }

    /// The lane of a row of the sum, and of a left factor in tensor memory.
    fn lane(&self, row: usize) -> usize {
        match self.m {
            64 => row / 16 * 32 + row % 16,
            _ => row,
        }
    }

    /// Lanes of tensor memory that it reaches in some columns.
    fn cells(&self, first: u32, column: u32, count: u32) -> Vec<TensorCells> {
        match self.m {
            64 => (0..4)
                .map(|part| TensorCells::new(first + 32 * part, 16, column, count))
                .collect(),
            _ => vec![TensorCells::new(0, LANES as u32, column, count)],
        }
    }
}

impl Multiply {
    /// # Safety
    /// The slots are those of the running program.
    #[inline(always)]
    pub(super) unsafe fn execute(
        &self,
        context: &mut Context<'_>,
        op: &Op,
        lane: usize,
    ) -> Result<(), Cause> {
        // SAFETY: the slots are those of a verified program, of their kinds.
        let (descriptor, adds) = unsafe {
            let descriptor = context.slot::<u32>(self.descriptor)[lane];
            (descriptor, context.predicate(self.adds) >> lane & 1 == 1)
        };
        let sizes = Sizes::of(self.kind, descriptor).map_err(Cause::misuse)?;
        let (m, n, k) = (sizes.m, sizes.n, sizes.k);
        // SAFETY: as above.
        let d = unsafe { place(context, &self.d, lane, &sizes, n as u32)? };
        let mut chunks = Vec::new();
        let mut reads = Vec::new();
        // SAFETY: as above.
        let mut a = unsafe { self.left(context, lane, &sizes, (&mut chunks, &mut reads))? };
        let mut b = vec![0.0; k * n];
        // SAFETY: as above.
        let right = unsafe { context.slot::<u64>(self.b)[lane] };
        let right = Layout::of_tcgen05(right).map_err(Cause::misuse)?;
        let layout = (sizes.b, sizes.b_is_along_k);
        chunks.extend(
            right.each(context, layout, (0, n), k, |across, depth, number| {
                b[depth * n + across] = number;
            })?,
        );
        if sizes.negates {
            a.iter_mut().for_each(|number| *number = -*number);
        }
        if let Some(scales) = &self.scales {
            // SAFETY: as above.
            unsafe { scale(context, scales, lane, &sizes, (&mut a, &mut b), &mut reads)? };
        }
        // SAFETY: as above.
        let stays = unsafe { self.stays(context, lane) };
        let writes = sizes.cells(d.0, d.1, n as u32);
        let writes: Vec<TensorCells> = match stays {
            0 => writes,
            _ => writes
                .into_iter()
                .flat_map(|it| it.without(stays))
                .collect(),
        };
        if adds {
            reads.extend(&writes);
        }
        let act = TensorAct::Product {
            chunks: &chunks,
            reads: &reads,
        };
        checked::tensor(context, op, lane, act, &writes)?;
        self.add(memory(context), &sizes, d, (&a, &b), (adds, stays));
        counted::product(context, op, 2 * (m * n * k) as u64);
        Ok(())
    }

    /// The left factor, row by row.
    ///
    /// # Safety
    /// As for [`Multiply::execute`].
    unsafe fn left(
        &self,
        context: &mut Context<'_>,
        lane: usize,
        sizes: &Sizes,
        (chunks, reads): (&mut Vec<u64>, &mut Vec<TensorCells>),
    ) -> Result<Vec<f64>, Cause> {
        let (m, k) = (sizes.m, sizes.k);
        let mut a = vec![0.0; m * k];
        match &self.a {
            Left::Shared(slot) => {
                // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
                let descriptor = unsafe { context.slot::<u64>(*slot)[lane] };
                let layout = Layout::of_tcgen05(descriptor).map_err(Cause::misuse)?;
                let of = (sizes.a, sizes.a_is_along_k);
                chunks.extend(
                    layout.each(context, of, (0, m), k, |across, depth, number| {
                        a[across * k + depth] = number;
                    })?,
                );
            }
            Left::Tensor(address) => {
                if sizes.a.room_bits() != sizes.a.bits() || !sizes.a_is_along_k {
                    let text = format!("a left factor of {:?} in tensor memory", sizes.a);
                    return Err(Cause::misuse(format!("{text} is not emulated")));
                }
                let each = 32 / sizes.a.bits() as usize;
                let columns = (k / each) as u32;
                // SAFETY: the slots are those of a verified program, of their kinds.
                let (first, column) = unsafe { place(context, address, lane, sizes, columns)? };
                reads.extend(sizes.cells(first, column, columns));
                let memory = memory(context);
                for (row, a) in a.chunks_exact_mut(k).enumerate() {
                    let lane = first as usize + sizes.lane(row);
                    for (part, a) in a.chunks_exact_mut(each).enumerate() {
                        let word = u64::from(*memory.word(lane, column + part as u32));
                        for (index, number) in a.iter_mut().enumerate() {
                            *number = sizes.a.number(word >> (index as u32 * sizes.a.bits()));
                        }
                    }
                }
            }
        }
        Ok(a)
    }

    /// The lanes of the sum that stay.
    ///
    /// # Safety
    /// As for [`Multiply::execute`].
    unsafe fn stays(&self, context: &Context<'_>, lane: usize) -> u128 {
        let words = self.disabled.iter().enumerate();
        words.fold(0, |mask, (index, &slot)| {
            // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
            let word = unsafe { context.slot::<u32>(slot)[lane] };
            mask | u128::from(word) << (32 * index)
        })
    }

    #[inline(always)]
    fn add(
        &self,
        memory: &mut TensorMemory,
        sizes: &Sizes,
        (first, column): (u32, u32),
        (a, b): (&[f64], &[f64]),
        (adds, stays): (bool, u128),
    ) {
        let (n, k) = (sizes.n, sizes.k);
        let mut sums = vec![0.0; sizes.m * n];
        if adds {
            let scale = f64::powi(2.0, -(self.scale_d as i32));
            for (row, sums) in sums.chunks_exact_mut(n).enumerate() {
                let lane = first as usize + sizes.lane(row);
                for (sum, column) in sums.iter_mut().zip(column..) {
                    *sum = sizes.d.number((*memory.word(lane, column)).into()) * scale;
                }
            }
        }
        add_products(&mut sums, a, b, n, k);
        for (row, sums) in sums.chunks_exact(n).enumerate() {
            let lane = first as usize + sizes.lane(row);
            if stays >> lane & 1 == 1 {
                continue;
            }
            for (sum, column) in sums.iter().zip(column..) {
                *memory.word(lane, column) = sizes.d.rounded(*sum) as u32;
            }
        }
    }
}

/// The first lane and the first column of so many columns of a matrix, which are allocated.
///
/// # Safety
/// The slot is one of the running program.
unsafe fn place(
    context: &mut Context<'_>,
    address: &Address,
    lane: usize,
    sizes: &Sizes,
    columns: u32,
) -> Result<(u32, u32), Cause> {
    // SAFETY: the slots are those of a verified program, of their kinds.
    let address = unsafe { address.of(context, lane) as u32 };
    placed(context, address, sizes, columns)
}

/// The same of an address.
fn placed(
    context: &mut Context<'_>,
    address: u32,
    sizes: &Sizes,
    columns: u32,
) -> Result<(u32, u32), Cause> {
    let (first, column) = (address >> 16, address & 0xffff);
    if first != 0 && (sizes.m, first) != (64, 16) {
        return Err(Cause::misuse(format!(
            "a matrix of {} rows from lane {first} of tensor memory on",
            sizes.m
        )));
    }
    memory(context).check(column, columns)?;
    Ok((first, column))
}

/// Multiplies the factors with their scales: the word of each row is in the lane of its number modulo 32, 32 rows in each column,
/// for each warp's lanes.
///
/// # Safety
/// The slots are those of the running program.
unsafe fn scale(
    context: &mut Context<'_>,
    scales: &Scales,
    lane: usize,
    sizes: &Sizes,
    (a, b): (&mut [f64], &mut [f64]),
    reads: &mut Vec<TensorCells>,
) -> Result<(), Cause> {
    let (n, k, block) = (sizes.n, sizes.k, scales.block as usize);
    let count = (k / block) as u32;
    if sizes.a_scale.max(sizes.b_scale) + count > 4 || block == 32 && sizes.scale != Scale::Ue8m0 {
        return Err(Cause::misuse(format!(
            "{count} scales of {:?} from bytes {} and {} of a word on: a word has 4, and blocks of 32 elements have those of Ue8m0",
            sizes.scale, sizes.a_scale, sizes.b_scale
        )));
    }
    let mut words = |address: &Address, rows: usize| {
        let columns = rows.div_ceil(32) as u32;
        // SAFETY: the slots are those of a verified program, of their kinds.
        let at = unsafe { address.of(context, lane) as u32 };
        // The two highest bits say which byte, as the instruction descriptor does.
        let (_, column) = placed(context, at & 0x3fff_ffff, sizes, columns)?;
        // The last column may be used in part, in each warp's lanes.
        let whole = rows as u32 / 32;
        reads.push(TensorCells::new(0, LANES as u32, column, whole));
        let lanes = (rows as u32 % 32).next_multiple_of(16);
        if lanes > 0 {
            let of_warps = (0..4).map(|warp| TensorCells::new(32 * warp, lanes, column + whole, 1));
            reads.extend(of_warps);
        }
        let memory = memory(context);
        let word = |row: usize| {
            let at = column + (row / 32) as u32;
            *memory.word(row % 32, at)
        };
        Ok::<Vec<u32>, Cause>((0..rows).map(word).collect())
    };
    let (of_a, of_b) = (words(&scales.a, sizes.m)?, words(&scales.b, n)?);
    let number = |word: u32, first: u32, depth: usize| {
        let byte = first + (depth / block) as u32;
        sizes.scale.number((word >> (8 * (byte & 3))) as u8)
    };
    for (a, word) in a.chunks_exact_mut(k).zip(of_a) {
        for (depth, a) in a.iter_mut().enumerate() {
            *a *= number(word, sizes.a_scale, depth);
        }
    }
    for (depth, b) in b.chunks_exact_mut(n).enumerate() {
        for (b, &word) in b.iter_mut().zip(&of_b) {
            *b *= number(word, sizes.b_scale, depth);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_tells_types_and_sizes() {
        // m = 128, n = 64, bf16, f32.
        let descriptor = 1 << 4 | 1 << 7 | 1 << 10 | 1 << 16 | 8 << 17 | 8 << 24;
        let sizes = Sizes::of(Tcgen05Kind::F16, descriptor).expect("it is one");
        assert_eq!((sizes.m, sizes.n, sizes.k), (128, 64, 16));
        assert_eq!(
            (sizes.a, sizes.b, sizes.d),
            (Element::Bf16, Element::Bf16, Sum::F32)
        );
        assert!(sizes.a_is_along_k && !sizes.b_is_along_k && !sizes.negates);
        for (wrong, why) in [
            (descriptor | 1 << 2, "sparse"),
            (descriptor | 2 << 7, "the type 3 of a factor"),
            (descriptor | 2 << 4, "the type 3 of the sum"),
            (descriptor | 4 << 24, "m = 192"),
            (descriptor & !(63 << 17), "n = 0"),
        ] {
            let error = Sizes::of(Tcgen05Kind::F16, wrong).expect_err("it is none");
            assert!(error.contains(why), "{error}");
        }
    }
}

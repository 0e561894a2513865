//! The embedded kernels as workloads.

pub(crate) mod caches;
pub(crate) mod chains;
mod checked;
mod elementwise;
mod gemv;
pub(crate) mod latency;
mod matmul;
mod norm;
mod pattern;
mod polynomial;
mod power;
pub(crate) mod stream;
mod values;

pub use chains::Fma;
pub(crate) use checked::Checked;
pub use gemv::Gemv;
pub use matmul::Matmul;
pub use polynomial::Polynomial;
pub use stream::Stream;

use kernels_gpu::ceilings::chains::{
    AddMulF16x2, AddMulF32, Exp2F32, FmaBf16x2, FmaF16x2, FmaF32, FmaF64, MadI32, Measured,
};
use kernels_gpu::polynomial::{ILPS, WIDTHS};

use crate::driver::DeviceValue;
use crate::workload::Workload;
use caches::{Again, Shared};
use chains::Chains;
use latency::{Barrier, Chase};

/// Those that the command line knows, by name.
pub fn all() -> Vec<&'static dyn Workload> {
    vec![
        &Stream::COPY,
        &Stream::READ,
        &Stream::SCALE,
        &Stream::ELEMENTWISE,
        &Stream::NRM2,
        &Gemv,
        &Matmul,
        &Fma,
        &Polynomial::POWER_SUM,
        &Polynomial::HORNER,
    ]
}

/// All kernels, each at least once.
pub(crate) fn checked() -> Vec<Checked> {
    let mut all = Vec::new();
    for form in [Polynomial::POWER_SUM, Polynomial::HORNER] {
        // An element of f16x2 is two numbers.
        all.extend([
            polynomial(form, ["f32", "f64"]),
            polynomial(form, ["f16x2"]).each(2),
        ]);
    }
    all.extend(elementwise::checked());
    all.extend(norm::checked());
    all.extend(gemv::checked());
    all.push(matmul::checked());
    all.extend(power::checked());
    all.extend(streams());
    all.extend(ceilings());
    all
}

fn polynomial<const N: usize>(form: Polynomial, dtypes: [&'static str; N]) -> Checked {
    // More steps than a straight line has, and some that are left.
    Checked::new(form.varied(), &[128])
        .at("k", [131])
        .at("dtype", dtypes)
        .at("vector", WIDTHS)
        .at("ilp", ILPS)
}

fn streams() -> Vec<Checked> {
    let all = [
        Stream::READ,
        Stream::WRITE,
        Stream::COPY,
        Stream::SCALE,
        Stream::STREAM_SCALE,
        Stream::ELEMENTWISE,
        Stream::TRIAD,
    ];
    let all = all.map(|it| Checked::new(it, &[32, 256]));
    let norm = Checked::new(Stream::NRM2, &[96]).all_seeded();
    let all = all.into_iter().chain([norm]);
    // An element is a vector.
    all.map(|it| it.at("ilp", stream::UNROLLS).each(4))
        .collect()
}

/// What measures arithmetic, caches, latencies and barriers.
fn ceilings() -> Vec<Checked> {
    let whole = |it: Checked, axes: [(&'static str, u64); 2]| {
        axes.into_iter()
            .fold(it, |it, (axis, value)| it.at(axis, [value]))
    };
    vec![
        chains::<FmaF32>(),
        chains::<FmaF64>(),
        chains::<FmaF16x2>(),
        chains::<FmaBf16x2>(),
        chains::<AddMulF32>(),
        chains::<AddMulF16x2>(),
        chains::<MadI32>(),
        chains::<Exp2F32>(),
        whole(one_shape(Again), [("passes", 3), ("steps", 2)]).at("shift", [0, 1]),
        one_shape(Shared).at("passes", [3]),
        whole(one_shape(Chase::Global), [("stride", 1), ("loads", 1000)]),
        whole(one_shape(Chase::Shared), [("stride", 1), ("loads", 1000)]),
        one_shape(Barrier).at("blocks", [3]).most(1000),
        latency::clocks(),
    ]
}

fn chains<O: Measured<Value: DeviceValue> + Send>() -> Checked {
    let chains = O::VARIANTS.iter().map(|variant| variant.chains);
    one_shape(Chains::<O>::NEW)
        .at("ilp", chains)
        .at("steps", [2 * O::LINE])
}

/// Of one launch for each size.
fn one_shape(workload: impl Workload + Send + 'static) -> Checked {
    let mut it = Checked::new(workload, &[128]);
    it.grids.truncate(1);
    it
}

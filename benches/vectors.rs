//! How long do the vector kernels take, at the sizes at which peers are compared?
//!
//! On a GPU the times are the device's own, of launches in a graph, so that the host's are not among
//! them. Without one the emulator
//! runs a small size and every name begins with `emulator`: those are not a GPU's times.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use kernels_gpu::elementwise::{self, exp_f32, gelu_f32, relu_f32};
use kernels_gpu::functions::{Axpy, Exp, Gelu, Relu};
use kernels_gpu::vector::map_threads;
use ridgepoint::driver::{
    Device, DeviceBuffer, DeviceChoice, DriverError, Graph, LaunchConfig, Stream,
};
use ridgepoint::kernels;
use ridgepoint::vector::{Norm, Normalize, Product, Real, Scaled};

fn vectors(criterion: &mut Criterion) {
    let device = kernels::open(&DeviceChoice::Auto).expect("a GPU that works, or none");
    let bench = Bench {
        device: &device,
        stream: Stream::new(&device).expect("a stream"),
        emulated: device.properties().is_emulated(),
        nodes: if device.properties().is_emulated() {
            1
        } else {
            20
        },
    };
    bench.norms::<f32>(criterion, &[10, 16, 20, 24, 26, 28]);
    bench.norms::<f64>(criterion, &[10, 20, 26]);
    bench.elementwise(criterion, 28);
    bench.products::<f32>(criterion);
    bench.products::<f64>(criterion);
}

struct Bench<'d> {
    device: &'d Device,
    stream: Stream<'d>,
    emulated: bool,
    /// Launches in a graph.
    nodes: u64,
}

impl Bench<'_> {
    /// Times `launch` under this name.
    fn time(
        &self,
        criterion: &mut Criterion,
        group: &str,
        size: u32,
        launch: impl FnMut() -> Result<(), DriverError>,
    ) {
        let graph = self.graph(launch).expect("launches can be captured");
        let machine = if self.emulated { "emulator" } else { "cuda" };
        let mut group = criterion.benchmark_group(format!("{machine}/{group}"));
        group.sample_size(20);
        group.warm_up_time(Duration::from_millis(50));
        group.measurement_time(Duration::from_millis(200));
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            bencher.iter_custom(|iterations| {
                let milliseconds = self.milliseconds(&graph, iterations);
                Duration::from_secs_f64(milliseconds.expect("the launches work") / 1e3)
            });
        });
        group.finish();
    }

    fn graph(
        &self,
        mut launch: impl FnMut() -> Result<(), DriverError>,
    ) -> Result<Graph<'_>, DriverError> {
        self.stream
            .capture(|| (0..self.nodes).try_for_each(|_| launch()))
    }

    /// The time of so many launches, rounded up to whole graphs.
    fn milliseconds(&self, graph: &Graph<'_>, iterations: u64) -> Result<f64, DriverError> {
        let replays = iterations.div_ceil(self.nodes);
        let start = self.stream.record()?;
        for _ in 0..replays {
            // SAFETY: the buffers of its launches outlive `time`, which waits below.
            unsafe { graph.launch(&self.stream) }?;
        }
        let end = self.stream.record()?;
        self.stream.synchronize()?;
        let all = end.milliseconds_since(&start)?;
        Ok(all * iterations as f64 / (replays * self.nodes) as f64)
    }

    /// Random elements, which are repeated.
    fn random<T: Real>(&self, n: usize) -> DeviceBuffer<T> {
        let mut random = fastrand::Rng::with_seed(42);
        let pattern: Vec<T> = (0..n.min(1 << 20))
            .map(|_| T::from_f64(random.f64() - 0.5))
            .collect();
        let mut buffer = self.device.buffer_zeroed(n).expect("memory");
        for first in (0..n).step_by(pattern.len()) {
            buffer.write(first, &pattern).expect("a copy");
        }
        buffer
    }

    /// The exponents, or a small one on the emulator.
    fn sizes(&self, exponents: &[u32]) -> Vec<u32> {
        if self.emulated {
            vec![10]
        } else {
            exponents.to_vec()
        }
    }

    fn norms<T: Real>(&self, criterion: &mut Criterion, exponents: &[u32]) {
        let device = self.device;
        for exponent in self.sizes(exponents) {
            let n = 1 << exponent;
            let x = self.random::<T>(n);
            let mut y = device.buffer_zeroed(n).expect("memory");
            let mut norm = device.buffer_zeroed(1).expect("memory");
            let mut nrm2 = Norm::<T>::new(device, n).expect("a launch");
            let mut normalize = Normalize::<T>::new(device, n).expect("a launch");
            self.time(criterion, &format!("nrm2/{}", T::NAME), exponent, || {
                // SAFETY: here and below, the buffers outlive `time`, which waits for the stream.
                unsafe { nrm2.launch(&self.stream, x.slice(..), norm.slice_mut(..)) }
            });
            self.time(
                criterion,
                &format!("normalize/{}", T::NAME),
                exponent,
                || {
                    // SAFETY: as above.
                    unsafe {
                        normalize.launch(
                            &self.stream,
                            x.slice(..),
                            y.slice_mut(..),
                            norm.slice_mut(..),
                        )
                    }
                },
            );
        }
    }

    fn elementwise(&self, criterion: &mut Criterion, exponent: u32) {
        let device = self.device;
        let exponent = self.sizes(&[exponent])[0];
        let n = 1 << exponent;
        let x = self.random::<f32>(n);
        let mut y = device.buffer_zeroed(n).expect("memory");
        let shape = LaunchConfig::linear(map_threads::<f32>(n as u64), elementwise::BLOCK);
        let scale = Scaled::new(device, n).expect("a launch");
        self.time(criterion, "scale/f32", exponent, || {
            // SAFETY: as in `norms`, here and below.
            unsafe { scale.launch(&self.stream, 1.5, x.slice(..), y.slice_mut(..)) }
        });
        macro_rules! map {
            ($($name:literal: $kernel:ident, $function:expr;)*) => {$(
                let prepared = device.prepare($kernel::entry(), shape).expect("a launch");
                self.time(criterion, $name, exponent, || {
                    // SAFETY: as above.
                    unsafe {
                        prepared.launch(&self.stream, &($function, x.slice(..), y.slice_mut(..), n))
                    }
                });
            )*};
        }
        map! {
            "relu/f32": relu_f32, Relu;
            "gelu/f32": gelu_f32, Gelu;
            "exp/f32": exp_f32, Exp;
        }
        let z = self.random::<f32>(n);
        let axpy = device
            .prepare(elementwise::axpy_f32::entry(), shape)
            .expect("a launch");
        self.time(criterion, "axpy/f32", exponent, || {
            let arguments = (
                Axpy { factor: 1.5 },
                x.slice(..),
                z.slice(..),
                y.slice_mut(..),
                n,
            );
            // SAFETY: as above.
            unsafe { axpy.launch(&self.stream, &arguments) }
        });
    }

    fn products<T: Real>(&self, criterion: &mut Criterion) {
        let exponent = if self.emulated { 6 } else { 13 };
        let n: usize = 1 << exponent;
        let (a, x) = (self.random::<T>(n * n), self.random::<T>(n));
        let mut y = self.device.buffer_zeroed(n).expect("memory");
        let product = Product::<T>::new(self.device, n as u32).expect("a launch");
        self.time(criterion, &format!("gemv/{}", T::NAME), exponent, || {
            // SAFETY: as in `norms`.
            unsafe { product.launch(&self.stream, a.slice(..), x.slice(..), y.slice_mut(..)) }
        });
    }
}

criterion_group!(benches, vectors);
criterion_main!(benches);

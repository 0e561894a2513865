//! The ways in which a program launches.

use crate::arguments::In;
use crate::capture;
use crate::context::current;
use crate::handles::{Handle, look};
use crate::launch::Launch;
use crate::parameters::{Each, Extra, no_extra, packed};
use crate::status::{Answer, Status};
use crate::stream;
use crate::work::{Work, submit};

/// `CUlaunchConfig`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Config {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    stream: Handle,
    attributes: In<Attribute>,
    count: u32,
}

/// `CUlaunchAttribute`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Attribute {
    id: u32,
    padding: u32,
    value: [u32; 16],
}

/// How the blocks of a launch belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Together {
    pub(crate) cluster: [u32; 3],
    pub(crate) is_cooperative: bool,
    /// Whether the launch may begin when the one before it says so.
    pub(crate) overlaps: bool,
}

impl Together {
    /// They do not.
    pub(crate) const NONE: Together = Together {
        cluster: [1; 3],
        is_cooperative: false,
        overlaps: false,
    };

    /// Blocks of a cluster.
    pub(crate) fn blocks_per_cluster(&self) -> u32 {
        product(self.cluster)
    }
}

/// Returns how many threads or blocks three extents have; what is too many stays so.
pub(crate) fn product(extents: [u32; 3]) -> u32 {
    extents
        .into_iter()
        .fold(1, |all: u32, it| all.saturating_mul(it))
}

/// `CUlaunchAttributeID`: those that change what a launch does here. Policies, priorities and domains change the speed
/// alone; launches that overlap by programs' own events end one after another here.
const COOPERATIVE: u32 = 2;
const CLUSTER: u32 = 4;
const PROGRAMMATIC_STREAM_SERIALIZATION: u32 = 6;
const LAST: u32 = 16;

impl Config {
    pub(crate) fn together(&self) -> Answer<Together> {
        let mut together = Together::NONE;
        for attribute in self.attributes.all(self.count as usize)? {
            let [x, y, z, ..] = attribute.value;
            match attribute.id {
                COOPERATIVE => together.is_cooperative = x != 0,
                PROGRAMMATIC_STREAM_SERIALIZATION => together.overlaps = x != 0,
                CLUSTER => together.cluster = [x, y, z].map(|it| it.max(1)),
                0..=LAST => {}
                _ => return Err(Status::INVALID_VALUE),
            }
        }
        Ok(together)
    }
}

/// A kernel's launch as it is described to the driver.
#[derive(Clone, Copy)]
pub(crate) struct Described {
    pub(crate) function: Handle,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    pub(crate) each: Each,
    pub(crate) extra: Extra,
}

impl Described {
    /// The launch, with a copy of its parameters.
    pub(crate) fn launch(&self, together: Together) -> Answer<Launch> {
        let function = look(self.function)?;
        let function: std::sync::Arc<crate::function::Function> = function;
        let (kernel, _) = function.kernel()?;
        let launch = Launch {
            parameters: packed(&kernel, self.each, self.extra)?,
            function,
            shape: engine::Shape {
                grid: self.grid,
                block: self.block,
                dynamic_shared: self.shared,
            },
            cluster: together.cluster,
            is_cooperative: together.is_cooperative,
            overlaps: together.overlaps,
        };
        launch.check()?;
        Ok(launch)
    }
}

fn launch(described: &Described, together: Together, stream: Handle) -> Answer {
    let context = current()?.handle;
    let stream = stream::of(stream)?;
    let launch = described.launch(together).and_then(|launch| {
        let of_function = launch.function.context();
        let is_elsewhere = of_function.is_some_and(|it| it != stream.context);
        match stream.context != context || is_elsewhere {
            true => Err(Status::INVALID_HANDLE),
            false => Ok(launch),
        }
    });
    let launch = capture::noted(&stream, launch)?;
    submit(&stream, Work::Launch(launch.into()))
}

pub(crate) mod calls {
    use super::*;

    driver! {
        fn cuLaunchKernel | cuLaunchKernel_ptsz(
            function: Handle, x: u32, y: u32, z: u32, width: u32, height: u32, depth: u32, shared: u32, stream: Handle,
            each: Each, extra: Extra,
        ) {
            let (grid, block) = ([x, y, z], [width, height, depth]);
            launch(&Described { function, grid, block, shared, each, extra }, Together::NONE, stream)
        }
        fn cuLaunchCooperativeKernel | cuLaunchCooperativeKernel_ptsz(
            function: Handle, x: u32, y: u32, z: u32, width: u32, height: u32, depth: u32, shared: u32, stream: Handle,
            each: Each,
        ) {
            let (grid, block, extra) = ([x, y, z], [width, height, depth], no_extra());
            let together = Together { is_cooperative: true, ..Together::NONE };
            launch(&Described { function, grid, block, shared, each, extra }, together, stream)
        }
        fn cuLaunchKernelEx | cuLaunchKernelEx_ptsz(config: In<Config>, function: Handle, each: Each, extra: Extra) {
            let config = config.get()?;
            let Config { grid, block, shared, stream, .. } = config;
            launch(&Described { function, grid, block, shared, each, extra }, config.together()?, stream)
        }
    }
}

//! The ways in which a program launches.

use std::collections::HashMap;

use crate::arguments::{In, Out};
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

impl Together {
    /// Sets what an attribute says.
    ///
    /// # Errors
    /// There is no such attribute.
    pub(crate) fn set(&mut self, id: u32, value: [u32; 16]) -> Answer {
        let [x, y, z, ..] = value;
        match id {
            COOPERATIVE => self.is_cooperative = x != 0,
            PROGRAMMATIC_STREAM_SERIALIZATION => self.overlaps = x != 0,
            CLUSTER => self.cluster = [x, y, z].map(|it| it.max(1)),
            0..=LAST => {}
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }

    /// The value of an attribute, where it is one of those that change what a launch does here.
    pub(crate) fn get(&self, id: u32) -> Option<[u32; 16]> {
        let mut value = [0; 16];
        match id {
            COOPERATIVE => value[0] = self.is_cooperative.into(),
            PROGRAMMATIC_STREAM_SERIALIZATION => value[0] = self.overlaps.into(),
            CLUSTER if self.blocks_per_cluster() > 1 => value[..3].copy_from_slice(&self.cluster),
            CLUSTER => {}
            _ => return None,
        }
        Some(value)
    }
}

impl Config {
    pub(crate) fn together(&self) -> Answer<Together> {
        let mut together = Together::NONE;
        for attribute in self.attributes.all(self.count as usize)? {
            together.set(attribute.id, attribute.value)?;
        }
        Ok(together)
    }
}

/// A value of an attribute that a kernel's node has.
#[derive(Clone, Copy)]
pub(crate) struct Value(pub(crate) [u32; 16], usize);

impl Value {
    /// Bytes of each attribute that a node has; the others are of launches in streams.
    const BYTES: [(u32, usize); 9] = [
        // Access policy window, cooperative, cluster's extents, cluster's policy, priority, memory domains, preferred shared memory.
        (1, 32),
        (COOPERATIVE, 4),
        (CLUSTER, 12),
        (5, 4),
        (8, 4),
        (9, 2),
        (10, 4),
        // Whether devices update the node, and by which handle; shared memory beyond the preferred.
        (13, 16),
        (14, 4),
    ];

    /// # Errors
    /// Nodes have no such attribute.
    pub(crate) fn of(id: u32, words: [u32; 16]) -> Answer<Value> {
        let found = Value::BYTES.into_iter().find(|it| it.0 == id);
        let (_, bytes) = found.ok_or(Status::INVALID_VALUE)?;
        Ok(Value(words, bytes))
    }

    /// Reads what a program sets.
    ///
    /// # Errors
    /// As [`Value::of`].
    pub(crate) fn read(id: u32, from: In<u8>) -> Answer<Value> {
        let mut value = Value::of(id, [0; 16])?;
        let bytes = from.all(value.1)?;
        for (word, part) in value.0.iter_mut().zip(bytes.chunks(4)) {
            let mut all = [0; 4];
            all[..part.len()].copy_from_slice(part);
            *word = u32::from_le_bytes(all);
        }
        Ok(value)
    }

    /// Writes as many bytes as it has.
    pub(crate) fn write(self, to: Out<u8>) -> Answer {
        let bytes = self.0.into_iter().flat_map(u32::to_le_bytes);
        to.put_all(bytes.take(self.1))
    }
}

/// Attributes that a program has set of a node, and asks for again.
#[derive(Clone, Default)]
pub(crate) struct Attributes(HashMap<u32, Value>);

impl Attributes {
    pub(crate) fn all() -> impl Iterator<Item = u32> {
        Value::BYTES.into_iter().map(|it| it.0)
    }

    pub(crate) fn set(&mut self, id: u32, value: Value) {
        self.0.insert(id, value);
    }

    /// # Errors
    /// There is no such attribute.
    pub(crate) fn get(&self, id: u32) -> Answer<Value> {
        /// Memory domains: the launch's default one, and what is remote.
        const DOMAINS: u32 = 9;
        let mut words = [0; 16];
        words[0] = if id == DOMAINS {
            u32::from_le_bytes([0, 1, 0, 0])
        } else {
            0
        };
        self.0
            .get(&id)
            .copied()
            .map_or_else(|| Value::of(id, words), Ok)
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
            handle: self.function,
            parameters: packed(&kernel, self.each, self.extra)?,
            function,
            shape: engine::Shape {
                grid: self.grid,
                block: self.block,
                dynamic_shared: self.shared,
            },
            together,
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

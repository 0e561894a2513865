//! Nodes that are graphs, done by a condition that kernels set: once, in a loop, or one of several.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use crate::context::{Context, current};
use crate::executable::{Executable, Extent};
use crate::findings::say;
use crate::graph::Graph;
use crate::graph_memory::Reserved;
use crate::handles::{Handle, lock, look};
use crate::order::Lane;
use crate::settings::{TIME_LIMIT, settings};
use crate::status::{Answer, Status};

/// A value that kernels set by `cudaGraphSetConditional`, whose handle is its address.
pub(crate) struct Condition {
    word: Reserved,
    /// The value at the beginning of each launch, where there is one.
    first: Option<u32>,
    /// Whether it has its node, which is one.
    is_used: AtomicBool,
}

/// Those that there are.
static ALL: Mutex<Vec<Weak<Condition>>> = Mutex::new(Vec::new());

/// A node as it is in a graph.
pub(crate) struct Conditional {
    condition: Arc<Condition>,
    kind: Repeats,
    bodies: Vec<Arc<Graph>>,
    /// Their handles, where the program reads them.
    handles: Vec<Handle>,
}

/// A node as it is executed.
pub(crate) struct Branch {
    condition: Arc<Condition>,
    kind: Repeats,
    bodies: Vec<Arc<Executable>>,
}

/// `CUgraphConditionalNodeType`
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeats {
    /// The first graph where the value is not 0, the second where it is.
    If,
    /// The graph as long as the value is not 0.
    While,
    /// The graph of the value's number.
    Switch,
}

/// `CU_GRAPH_COND_ASSIGN_DEFAULT`
const HAS_FIRST: u32 = 1;

/// How long a loop may take where the environment has no limit.
const LIMIT: Duration = Duration::from_secs(300);

impl Condition {
    /// Returns one of a device.
    fn new(device: u32, first: u32, flags: u32) -> Answer<Arc<Condition>> {
        let first = match flags {
            0 => None,
            HAS_FIRST => Some(first),
            _ => return Err(Status::INVALID_VALUE),
        };
        let word = Reserved::new(device, size_of::<u32>() as u64)?;
        word.show();
        let is_used = AtomicBool::new(false);
        let condition = Arc::new(Condition {
            word,
            first,
            is_used,
        });
        let mut all = lock(&ALL);
        all.retain(|it| it.strong_count() > 0);
        all.push(Arc::downgrade(&condition));
        Ok(condition)
    }

    /// Returns that of a handle.
    fn of(handle: u64) -> Answer<Arc<Condition>> {
        let all: Vec<_> = lock(&ALL).iter().filter_map(Weak::upgrade).collect();
        let found = all.into_iter().find(|it| it.handle() == handle);
        found.ok_or(Status::INVALID_VALUE)
    }

    /// The number that a program and its kernels know it by.
    pub(crate) fn handle(&self) -> u64 {
        self.word.start
    }

    fn word(&self) -> &AtomicU32 {
        let word = std::ptr::with_exposed_provenance_mut(self.handle() as usize);
        // SAFETY: memory of its own, as large and aligned, which stays until it is dropped. Kernels write it by the engine,
        // whose accesses are atomic.
        unsafe { AtomicU32::from_ptr(word) }
    }

    fn value(&self) -> u32 {
        self.word().load(Ordering::Relaxed)
    }
}

impl Conditional {
    /// Returns a node for a condition, with as many graphs as are asked for, at a level within others.
    fn new(condition: Arc<Condition>, kind: u32, size: u32, level: usize) -> Answer<Conditional> {
        /// More than a program has cases.
        const MOST: u32 = 1 << 12;
        let kind = match (kind, size) {
            (0, 1 | 2) => Repeats::If,
            (1, 1) => Repeats::While,
            (2, 1..=MOST) => Repeats::Switch,
            _ => return Err(Status::INVALID_VALUE),
        };
        Extent::NOTHING.with(Extent::NOTHING).admit_at(level)?;
        if condition.is_used.swap(true, Ordering::Relaxed) {
            return Err(Status::INVALID_VALUE);
        }
        let bodies: Vec<_> = (0..size).map(|_| Graph::body(level)).collect();
        Ok(Conditional {
            condition,
            kind,
            handles: bodies.iter().map(Graph::known).collect(),
            bodies,
        })
    }

    pub(crate) fn bodies(&self) -> &[Arc<Graph>] {
        &self.bodies
    }

    pub(crate) fn instantiated(&self) -> Answer<Branch> {
        let bodies = self
            .bodies
            .iter()
            .map(|it| Executable::within(it).map(Arc::new));
        Ok(Branch {
            condition: Arc::clone(&self.condition),
            kind: self.kind,
            bodies: bodies.collect::<Answer<_>>()?,
        })
    }

    /// Where the handles of its graphs are, as long as it is.
    fn handles(&self) -> usize {
        self.handles.as_ptr().expose_provenance()
    }
}

impl Branch {
    /// Whether another one is of the same condition.
    pub(crate) fn is_like(&self, other: &Branch) -> bool {
        Arc::ptr_eq(&self.condition, &other.condition)
    }

    pub(crate) fn bodies(&self) -> &[Arc<Executable>] {
        &self.bodies
    }

    /// Gives the condition its first value.
    pub(crate) fn begin(&self) {
        if let Some(first) = self.condition.first {
            self.condition.word().store(first, Ordering::Relaxed);
        }
    }

    /// Does what the condition asks for.
    pub(crate) fn run(&self, lane: &Lane) -> Answer {
        let value = self.condition.value();
        let chosen = match self.kind {
            Repeats::While => return self.repeat(lane),
            Repeats::If => usize::from(value == 0),
            Repeats::Switch => value as usize,
        };
        self.bodies.get(chosen).map_or(Ok(()), |it| it.run(lane))
    }

    fn repeat(&self, lane: &Lane) -> Answer {
        let limit = settings().time.unwrap_or(LIMIT);
        let begun = Instant::now();
        while self.condition.value() != 0 {
            self.bodies.iter().try_for_each(|it| it.run(lane))?;
            if begun.elapsed() > limit {
                let limit = limit.as_secs();
                say(&format!(
                    "a conditional node of a graph goes on after {limit} s; {TIME_LIMIT} sets the limit"
                ));
                return Err(Status::LAUNCH_TIMEOUT);
            }
        }
        Ok(())
    }
}

/// `CUDA_CONDITIONAL_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Described {
    handle: u64,
    kind: u32,
    size: u32,
    /// Where the handles of the graphs are.
    bodies: usize,
    context: Handle,
}

impl Described {
    /// Returns the node that a program describes, in its graph, and the description with the graphs of the node.
    pub(crate) fn node(self, graph: &Graph) -> Answer<(Conditional, Described)> {
        let condition = Condition::of(self.handle)?;
        let node = Conditional::new(condition, self.kind, self.size, graph.level() + 1)?;
        let bodies = node.handles();
        Ok((node, Described { bodies, ..self }))
    }
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::Out;

    driver! {
        fn cuGraphConditionalHandleCreate(to: Out<u64>, graph: Handle, context: Handle, first: u32, flags: u32) {
            to.check()?;
            let graph = look::<Graph>(graph)?;
            let device = match context { 0 => current()?.device, context => look::<Context>(context)?.device };
            let condition = Condition::new(device, first, flags)?;
            let handle = condition.handle();
            graph.add_condition(condition);
            to.put(handle)
        }
    }
}

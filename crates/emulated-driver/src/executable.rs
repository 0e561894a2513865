//! Graphs as they are executed.

use std::sync::{Arc, Mutex};

use engine::check;

use crate::conditional::Branch;
use crate::graph::Graph;
use crate::handles::{Handle, lock};
use crate::order::{self, Lane, Owned};
use crate::recorded::{self, Place};
use crate::status::{Answer, Status};
use crate::user_object::Retained;
use crate::work::Work;

/// A graph as it was when it was instantiated: none holds itself.
pub(crate) struct Executable {
    nodes: Mutex<Vec<Step>>,
    extent: Extent,
    pub(crate) flags: u64,
    /// By what recordings name it.
    number: u32,
    /// Objects of the program's that stay as long as it.
    objects: Mutex<Vec<Arc<Retained>>>,
    /// Held by the only one of a graph that may have no other.
    claim: Option<Arc<()>>,
}

/// How large a graph is with those within it.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) nodes: usize,
    pub(crate) depth: usize,
}

impl Extent {
    pub(crate) const NOTHING: Extent = Extent { nodes: 0, depth: 0 };
    /// A graph that is twice in another, which is twice in a third, soon has no end; and each takes a part of the stack.
    const MOST: Extent = Extent {
        nodes: 1 << 20,
        depth: 64,
    };
    /// A graph is copied into the one that it becomes a node of.
    const MOST_COPIED: usize = 1 << 16;

    /// Returns it with a node more, and what is within that.
    pub(crate) fn with(self, within: Extent) -> Extent {
        Extent {
            nodes: self.nodes.saturating_add(within.nodes).saturating_add(1),
            depth: self.depth.max(1 + within.depth),
        }
    }

    /// Returns the extent of a graph of these steps.
    ///
    /// # Errors
    /// It is larger than a graph may be.
    fn of(steps: &[Step]) -> Answer<Extent> {
        let add = |all: Extent, step: &Step| all.with(step.work.extent());
        let all = steps.iter().fold(Extent::NOTHING, add);
        match all.nodes <= Extent::MOST.nodes && all.depth <= Extent::MOST.depth {
            true => Ok(all),
            false => Err(Status::INVALID_VALUE),
        }
    }

    /// Refuses to copy a graph of this extent to a level within others, for which it is too large or too deep.
    pub(crate) fn admit_at(self, level: usize) -> Answer {
        match self.nodes <= Extent::MOST_COPIED && level + self.depth <= Extent::MOST.depth {
            true => Ok(()),
            false => Err(Status::INVALID_VALUE),
        }
    }
}

/// A node of an executable graph.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) node: Handle,
    pub(crate) work: Work,
    /// The numbers of the steps that it comes after.
    pub(crate) after: Vec<usize>,
    pub(crate) is_enabled: bool,
}

impl Step {
    fn run(&self, lane: &Lane) -> Answer {
        match self.is_enabled {
            true => self.work.run(lane),
            false => Ok(()),
        }
    }
}

/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`
const FREES_ON_LAUNCH: u64 = 1;

impl Executable {
    /// Returns the executable form of a graph.
    ///
    /// # Errors
    /// Some nodes come after each other, there are more than a graph may have, or it has another one and may not.
    pub(crate) fn new(graph: &Graph, flags: u64) -> Answer<Executable> {
        let claim = graph.claim()?;
        Executable::of(graph, flags, claim)
    }

    /// Returns that of a graph within another, which alone may have others.
    pub(crate) fn within(graph: &Graph) -> Answer<Executable> {
        Executable::of(graph, 0, None)
    }

    fn of(graph: &Graph, flags: u64, claim: Option<Arc<()>>) -> Answer<Executable> {
        let steps = graph.steps()?;
        Ok(Executable {
            extent: Extent::of(&steps)?,
            nodes: Mutex::new(steps),
            flags,
            number: recorded::number(),
            objects: Mutex::new(graph.objects()),
            claim,
        })
    }

    pub(crate) fn steps(&self) -> Vec<Step> {
        lock(&self.nodes).clone()
    }

    pub(crate) fn run(&self, lane: &Lane) -> Answer {
        let steps = self.steps();
        let is_whole = lane.place.graph == 0;
        if is_whole {
            begin(&steps);
            if self.flags & FREES_ON_LAUNCH != 0 {
                free_left(&steps);
            }
            admit(&steps)?;
        }
        let place = match is_whole {
            true => Place {
                graph: self.number,
                ..lane.place
            },
            // Within another, which is the one that was launched.
            false => lane.place,
        };
        run(&steps, lane, place)
    }

    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }

    pub(crate) fn objects(&self) -> Vec<Arc<Retained>> {
        lock(&self.objects).clone()
    }

    /// Whether one of its nodes does something.
    pub(crate) fn any(&self, does: impl Fn(&Work) -> bool) -> bool {
        lock(&self.nodes).iter().any(|it| does(&it.work))
    }

    /// Returns it as it is done later, whatever is set of it meanwhile.
    pub(crate) fn queued(&self) -> Arc<Executable> {
        let mut steps = self.steps();
        for step in steps.iter_mut().filter(|it| it.is_enabled) {
            // Copies read the program's memory when they are done.
            if matches!(step.work, Work::Record(_) | Work::Executable(_)) {
                step.work = step.work.clone().queued();
            }
        }
        Arc::new(Executable {
            nodes: Mutex::new(steps),
            extent: self.extent,
            flags: self.flags,
            number: self.number,
            objects: Mutex::new(self.objects()),
            claim: self.claim.clone(),
        })
    }

    /// Whether one of its nodes calls a function of the host.
    pub(crate) fn calls_host(&self) -> bool {
        self.any(Work::calls_host)
    }

    /// Sets what a node does.
    ///
    /// # Errors
    /// It has no such node, or that is of another kind.
    pub(crate) fn set(&self, node: Handle, work: Work) -> Answer {
        let work = work.instantiated()?;
        self.with_step(node, |step| {
            if step.work.kind() != work.kind() {
                return Err(Status::INVALID_VALUE);
            }
            step.work = work.in_place_of(&step.work)?;
            Ok(())
        })
    }

    /// Has a node that is a graph do what another graph of the same shape does.
    ///
    /// # Errors
    /// It has no such node, or the other graph another shape.
    pub(crate) fn set_child(&self, node: Handle, graph: &Graph) -> Answer {
        let new = Executable::within(graph)?;
        self.with_step(node, |step| {
            let Work::Executable(own) = &step.work else {
                return Err(Status::INVALID_VALUE);
            };
            if !are_alike(&own.steps(), &new.steps()) {
                return Err(Status::GRAPH_EXEC_UPDATE_FAILURE);
            }
            step.work = Work::Executable(Arc::new(new));
            Ok(())
        })
    }

    /// Does something with the step of a node.
    fn with_step<T>(&self, node: Handle, act: impl FnOnce(&mut Step) -> Answer<T>) -> Answer<T> {
        let mut nodes = lock(&self.nodes);
        let step = nodes.iter_mut().find(|it| it.node == node);
        act(step.ok_or(Status::INVALID_VALUE)?)
    }

    /// Whether a node does what it does, and not nothing.
    ///
    /// # Errors
    /// It has no such node of a kernel, copy or fill.
    pub(crate) fn is_enabled(&self, node: Handle) -> Answer<bool> {
        self.with_step(node, |step| {
            step.work.can_be_disabled().map(|()| step.is_enabled)
        })
    }

    /// Sets that.
    ///
    /// # Errors
    /// As [`Executable::is_enabled`].
    pub(crate) fn enable(&self, node: Handle, is_enabled: bool) -> Answer {
        self.with_step(node, |step| {
            step.work.can_be_disabled()?;
            step.is_enabled = is_enabled;
            Ok(())
        })
    }

    /// Takes over what another graph of the same shape does.
    ///
    /// # Errors
    /// It has another shape.
    pub(crate) fn update(&self, graph: &Graph) -> Answer {
        let new = graph.steps()?;
        let mut own = lock(&self.nodes);
        if !are_alike(&own, &new) {
            return Err(Status::GRAPH_EXEC_UPDATE_FAILURE);
        }
        // Its nodes keep their names, and its memory.
        for (own, new) in own.iter_mut().zip(new) {
            if !matches!(own.work, Work::Allocate(_) | Work::Release(_)) {
                own.work = new.work;
            }
        }
        drop(own);
        let before = std::mem::replace(&mut *lock(&self.objects), graph.objects());
        drop(before);
        Ok(())
    }
}

/// Whether two graphs have the same shape: nodes of the same kinds, and those within them.
fn are_alike(own: &[Step], new: &[Step]) -> bool {
    let is_alike = |(own, new): (&Step, &Step)| {
        let (graphs, others) = (within(own), within(new));
        let mut pairs = graphs.iter().zip(&others);
        let is_of_same = match (&own.work, &new.work) {
            (Work::Branch(own), Work::Branch(new)) => own.is_like(new),
            _ => true,
        };
        is_of_same
            && own.after == new.after
            && own.work.kind() == new.work.kind()
            && graphs.len() == others.len()
            && pairs.all(|(own, new)| are_alike(&own.steps(), &new.steps()))
    };
    own.len() == new.len() && own.iter().zip(new).all(is_alike)
}

/// The graphs within a step.
fn within(step: &Step) -> Vec<Arc<Executable>> {
    match &step.work {
        Work::Executable(executable) => vec![Arc::clone(executable)],
        Work::Branch(branch) => branch.bodies().to_vec(),
        _ => Vec::new(),
    }
}

/// Gives conditions their first values, those of graphs within the steps too.
fn begin(steps: &[Step]) {
    for step in steps {
        if let Work::Branch(branch) = &step.work {
            Branch::begin(branch);
        }
        within(step).iter().for_each(|it| begin(&it.steps()));
    }
}

/// Refuses to launch where the launch before has allocated what was not freed.
fn admit(steps: &[Step]) -> Answer {
    let is_left = |step: &Step| matches!(&step.work, Work::Allocate(memory) if memory.is_live());
    match steps.iter().any(is_left) {
        true => Err(Status::INVALID_VALUE),
        false => Ok(()),
    }
}

/// Frees what the launch before has allocated and not freed.
fn free_left(steps: &[Step]) {
    for step in steps {
        if let Work::Allocate(memory) = &step.work {
            memory.free_left();
        }
        within(step).iter().for_each(|it| free_left(&it.steps()));
    }
}

/// Does the steps, of which each comes after those that it names alone: what no edges order may be done at once.
fn run(steps: &[Step], lane: &Lane, place: Place) -> Answer {
    if order::if_checked().is_none() {
        let lane = Lane {
            place,
            ..lane.clone()
        };
        return steps.iter().try_for_each(|step| step.run(&lane));
    }
    let streams: Vec<Owned> = steps.iter().map(|_| Owned::new()).collect();
    let mut ends: Vec<check::Event> = Vec::new();
    let begin = {
        let mut known = order::checking();
        lane.settle(&mut known);
        known.streams.record(lane.order)
    };
    let mut ran = Ok(());
    for (step, own) in steps.iter().zip(&streams) {
        {
            let mut known = order::checking();
            known.streams.wait(own.0, &begin);
            for &before in &step.after {
                known.streams.wait(own.0, &ends[before]);
            }
        }
        let own = Lane {
            order: own.0,
            after: Vec::new(),
            place,
        };
        ran = step.run(&own);
        ends.push(order::checking().streams.record(own.order));
        if ran.is_err() {
            break;
        }
    }
    let mut known = order::checking();
    ends.iter()
        .for_each(|end| known.streams.wait(lane.order, end));
    drop(known);
    ran
}

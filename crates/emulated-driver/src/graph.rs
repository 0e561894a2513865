//! Graphs: nodes, each with those that it comes after, and what is executed of them.

use std::sync::{Arc, Mutex, OnceLock, Weak};

use engine::check;

use crate::capture;
use crate::handles::{Handle, Kept, end, keep_as, lock, reserve};
use crate::order::{self, Lane, Owned};
use crate::recorded::{self, Place};
use crate::status::{Answer, Status};
use crate::work::Work;

/// A node.
pub(crate) struct Node {
    pub(crate) handle: Handle,
    graph: Weak<Graph>,
    /// The node that it is a copy of, where its graph is a clone.
    original: Option<Handle>,
    work: Mutex<Work>,
    after: Mutex<Vec<Arc<Node>>>,
}

/// A graph, whose nodes are in an order in which they may be done.
#[derive(Default)]
pub(crate) struct Graph {
    nodes: Mutex<Vec<Arc<Node>>>,
    /// Known once a program has it.
    handle: OnceLock<Handle>,
}

/// A graph as it was when it was instantiated, or added to another: none holds itself.
pub(crate) struct Executable {
    nodes: Mutex<Vec<Step>>,
    extent: Extent,
    /// By what recordings name it.
    number: u32,
}

/// How large a graph is with those within it.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    nodes: usize,
    depth: usize,
}

impl Extent {
    pub(crate) const NOTHING: Extent = Extent { nodes: 0, depth: 0 };
    /// A graph that is twice in another, which is twice in a third, soon has no end; and each takes a part of the stack.
    const MOST: Extent = Extent {
        nodes: 1 << 20,
        depth: 64,
    };

    /// Returns the extent of a graph of these steps.
    ///
    /// # Errors
    /// It is larger than a graph may be.
    fn of(steps: &[Step]) -> Answer<Extent> {
        let mut all = Extent::NOTHING;
        for step in steps {
            let within = step.work.extent();
            all.nodes = all.nodes.saturating_add(1 + within.nodes);
            all.depth = all.depth.max(1 + within.depth);
        }
        match all.nodes <= Extent::MOST.nodes && all.depth <= Extent::MOST.depth {
            true => Ok(all),
            false => Err(Status::INVALID_VALUE),
        }
    }
}

/// A node of an executable graph.
#[derive(Clone)]
struct Step {
    node: Handle,
    work: Work,
    /// The numbers of the steps that it comes after.
    after: Vec<usize>,
    is_enabled: bool,
}

impl Step {
    fn run(&self, lane: &Lane) -> Answer {
        match self.is_enabled {
            true => self.work.run(lane),
            false => Ok(()),
        }
    }
}

impl Node {
    pub(crate) fn work(&self) -> Work {
        lock(&self.work).clone()
    }

    pub(crate) fn set_work(&self, work: Work) {
        *lock(&self.work) = work;
    }

    pub(crate) fn after(&self) -> Vec<Arc<Node>> {
        lock(&self.after).clone()
    }

    pub(crate) fn add_after(&self, node: Arc<Node>) {
        lock(&self.after).push(node);
    }

    pub(crate) fn comes_after(&self, node: &Arc<Node>) -> bool {
        lock(&self.after).iter().any(|it| Arc::ptr_eq(it, node))
    }

    /// Whether it came after another node, and does so no longer.
    pub(crate) fn remove_after(&self, node: &Arc<Node>) -> bool {
        let mut after = lock(&self.after);
        let before = after.len();
        after.retain(|it| !Arc::ptr_eq(it, node));
        after.len() < before
    }

    /// The nodes that come after it.
    pub(crate) fn dependents(self: &Arc<Self>) -> Vec<Arc<Node>> {
        let mut all = self.graph.upgrade().map_or(Vec::new(), |it| it.nodes());
        all.retain(|it| it.comes_after(self));
        all
    }

    /// Takes it out of its graph, with its edges.
    pub(crate) fn destroy(self: &Arc<Self>) -> Answer {
        let graph = self.graph.upgrade();
        graph.iter().try_for_each(capture::refuse_end)?;
        end::<Node>(self.handle)?;
        if let Some(graph) = graph {
            for node in self.dependents() {
                node.remove_after(self);
            }
            lock(&graph.nodes).retain(|it| !Arc::ptr_eq(it, self));
        }
        drop(std::mem::take(&mut *lock(&self.after)));
        Ok(())
    }
}

impl Graph {
    /// Adds a node.
    pub(crate) fn add(self: &Arc<Self>, work: Work, after: Vec<Arc<Node>>) -> Arc<Node> {
        self.add_copy(None, work, after)
    }

    fn add_copy(
        self: &Arc<Self>,
        original: Option<Handle>,
        work: Work,
        after: Vec<Arc<Node>>,
    ) -> Arc<Node> {
        let handle = reserve();
        let node = Arc::new(Node {
            handle,
            graph: Arc::downgrade(self),
            original,
            work: Mutex::new(work),
            after: Mutex::new(after),
        });
        keep_as(handle, Node::object(Arc::clone(&node)));
        lock(&self.nodes).push(Arc::clone(&node));
        node
    }

    /// Returns another graph of the same nodes and edges.
    pub(crate) fn copy(&self) -> Arc<Graph> {
        let copy: Arc<Graph> = Arc::default();
        let own = self.nodes();
        let copies: Vec<Arc<Node>> = own
            .iter()
            .map(|it| copy.add_copy(Some(it.handle), it.work(), Vec::new()))
            .collect();
        for (node, copied) in own.iter().zip(&copies) {
            for before in node.after() {
                let place = own.iter().position(|it| Arc::ptr_eq(it, &before));
                place
                    .into_iter()
                    .for_each(|it| copied.add_after(Arc::clone(&copies[it])));
            }
        }
        copy
    }

    /// Returns the handle of its copy of a node.
    pub(crate) fn copy_of(&self, node: Handle) -> Option<Handle> {
        let nodes = lock(&self.nodes);
        let copy = nodes.iter().find(|it| it.original == Some(node))?;
        Some(copy.handle)
    }

    /// Its handle, made when it is first asked for.
    pub(crate) fn handle_or(&self, make: impl FnOnce() -> Handle) -> Handle {
        *self.handle.get_or_init(make)
    }

    pub(crate) fn handle(&self) -> Option<Handle> {
        self.handle.get().copied()
    }

    /// Whether nodes are its.
    pub(crate) fn has(&self, nodes: &[Arc<Node>]) -> bool {
        let own = lock(&self.nodes);
        let is_own = |node: &Arc<Node>| own.iter().any(|it| Arc::ptr_eq(it, node));
        nodes.iter().all(is_own)
    }

    pub(crate) fn nodes(&self) -> Vec<Arc<Node>> {
        lock(&self.nodes).clone()
    }

    /// Its steps: nodes that an edge was added to later come where they may be done.
    ///
    /// # Errors
    /// Some nodes come after each other.
    fn steps(&self) -> Answer<Vec<Step>> {
        let mut left = self.nodes();
        let mut steps: Vec<Step> = Vec::new();
        while !left.is_empty() {
            let number = |node: &Arc<Node>| steps.iter().position(|it| it.node == node.handle);
            let is_ready = |node: &Arc<Node>| node.after().iter().all(|it| number(it).is_some());
            let next = left
                .iter()
                .position(is_ready)
                .ok_or(Status::INVALID_VALUE)?;
            let node = &left[next];
            let after = node.after().iter().filter_map(number).collect();
            let step = Step {
                node: node.handle,
                work: node.work(),
                after,
                is_enabled: true,
            };
            steps.push(step);
            left.remove(next);
        }
        Ok(steps)
    }

    /// Returns its executable form.
    ///
    /// # Errors
    /// Some nodes come after each other, or there are more than a graph may have.
    pub(crate) fn instantiate(&self) -> Answer<Executable> {
        let steps = self.steps()?;
        Ok(Executable {
            extent: Extent::of(&steps)?,
            nodes: Mutex::new(steps),
            number: recorded::number(),
        })
    }

    /// Forgets its nodes, which others may hold, and their edges, which may go around in circles.
    pub(crate) fn end(&self) {
        let nodes = std::mem::take(&mut *lock(&self.nodes));
        for node in nodes {
            let _ = end::<Node>(node.handle);
            let after = std::mem::take(&mut *lock(&node.after));
            drop(after);
        }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        self.end();
    }
}

impl Executable {
    pub(crate) fn run(&self, lane: &Lane) -> Answer {
        let steps = lock(&self.nodes).clone();
        run(&steps, lane, self.number)
    }

    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }

    /// Whether one of its nodes calls a function of the host.
    pub(crate) fn calls_host(&self) -> bool {
        lock(&self.nodes).iter().any(|it| it.work.calls_host())
    }

    /// Returns it as it is now, for a graph that it becomes a node of.
    pub(crate) fn as_now(&self) -> Executable {
        Executable {
            nodes: Mutex::new(lock(&self.nodes).clone()),
            extent: self.extent,
            number: self.number,
        }
    }

    /// Sets what a node does.
    pub(crate) fn set(&self, node: Handle, work: Work) -> Answer {
        self.with_step(node, |step| {
            step.work = work;
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
        let is_alike = |(own, new): (&Step, &Step)| {
            own.after == new.after && own.work.kind() == new.work.kind()
        };
        if own.len() != new.len() || !own.iter().zip(&new).all(is_alike) {
            return Err(Status::GRAPH_EXEC_UPDATE_FAILURE);
        }
        // Its nodes keep their names.
        for (own, new) in own.iter_mut().zip(new) {
            own.work = new.work;
        }
        Ok(())
    }
}

/// Does the steps, of which each comes after those that it names alone: what no edges order may be done at once.
fn run(steps: &[Step], lane: &Lane, number: u32) -> Answer {
    let place = match lane.place.graph {
        0 => Place {
            graph: number,
            ..lane.place
        },
        // Within another, which is the one that was launched.
        _ => lane.place,
    };
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
        step.run(&own)?;
        ends.push(order::checking().streams.record(own.order));
    }
    let mut known = order::checking();
    ends.iter()
        .for_each(|end| known.streams.wait(lane.order, end));
    drop(known);
    Ok(())
}

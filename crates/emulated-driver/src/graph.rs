//! Graphs: nodes, each with those that it comes after, and what is executed of them.

use std::sync::{Arc, Mutex, OnceLock};

use engine::check;

use crate::handles::{Handle, Kept, keep_as, lock, reserve};
use crate::order::{self, Lane, Owned};
use crate::status::{Answer, Status};
use crate::work::Work;

/// A node.
pub(crate) struct Node {
    pub(crate) handle: Handle,
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

/// A graph as it was when it was instantiated.
pub(crate) struct Executable {
    nodes: Mutex<Vec<Step>>,
}

/// A node of an executable graph.
#[derive(Clone)]
struct Step {
    node: Handle,
    work: Work,
    /// The numbers of the steps that it comes after.
    after: Vec<usize>,
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
}

impl Graph {
    /// Adds a node.
    pub(crate) fn add(&self, work: Work, after: Vec<Arc<Node>>) -> Arc<Node> {
        let handle = reserve();
        let node = Arc::new(Node {
            handle,
            work: Mutex::new(work),
            after: Mutex::new(after),
        });
        keep_as(handle, Node::object(Arc::clone(&node)));
        lock(&self.nodes).push(Arc::clone(&node));
        node
    }

    /// Its handle, made when it is first asked for.
    pub(crate) fn handle_or(&self, make: impl FnOnce() -> Handle) -> Handle {
        *self.handle.get_or_init(make)
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
            };
            steps.push(step);
            left.remove(next);
        }
        Ok(steps)
    }

    /// Does all that it has, as a node of another graph.
    pub(crate) fn run(&self, lane: &Lane) -> Answer {
        run(&self.steps()?, lane)
    }

    /// Returns its executable form.
    pub(crate) fn instantiate(&self) -> Answer<Executable> {
        Ok(Executable {
            nodes: Mutex::new(self.steps()?),
        })
    }

    /// Forgets its nodes, which others may hold.
    pub(crate) fn end(&self) {
        let nodes = std::mem::take(&mut *lock(&self.nodes));
        for node in nodes {
            let _ = crate::handles::end::<Node>(node.handle);
        }
    }
}

impl Executable {
    pub(crate) fn run(&self, lane: &Lane) -> Answer {
        let steps = lock(&self.nodes).clone();
        run(&steps, lane)
    }

    /// Sets what a node does.
    pub(crate) fn set(&self, node: Handle, work: Work) -> Answer {
        let mut nodes = lock(&self.nodes);
        let step = nodes.iter_mut().find(|it| it.node == node);
        step.ok_or(Status::INVALID_VALUE)?.work = work;
        Ok(())
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
fn run(steps: &[Step], lane: &Lane) -> Answer {
    if order::if_checked().is_none() {
        return steps.iter().try_for_each(|step| step.work.run(lane));
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
        };
        step.work.run(&own)?;
        ends.push(order::checking().streams.record(own.order));
    }
    let mut known = order::checking();
    ends.iter()
        .for_each(|end| known.streams.wait(lane.order, end));
    drop(known);
    Ok(())
}

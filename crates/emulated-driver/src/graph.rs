//! Graphs: nodes, each with those that it comes after.

use std::sync::{Arc, Mutex, OnceLock, Weak};

use crate::capture;
use crate::conditional::Condition;
use crate::executable::{Executable, Extent, Step};
use crate::handles::{Handle, Kept, end, keep_as, keep_shared, lock, reserve};
use crate::launch::Launch;
use crate::launch_calls::{Attributes, Value};
use crate::parameters::Told;
use crate::status::{Answer, Status};
use crate::user_object::{Retained, UserObject};
use crate::work::Work;

/// A node.
pub(crate) struct Node {
    pub(crate) handle: Handle,
    graph: Weak<Graph>,
    /// The node that it is a copy of, where its graph is a clone.
    original: Option<Handle>,
    work: Mutex<Work>,
    after: Mutex<Vec<Arc<Node>>>,
    /// The attributes of a kernel's launch that a program has set.
    attributes: Mutex<Attributes>,
    /// The parameters of a kernel where a program reads them: the last, and before it those of kernels with others.
    told: Mutex<Vec<Told>>,
}

/// A graph, whose nodes are in an order in which they may be done.
pub(crate) struct Graph {
    nodes: Mutex<Vec<Arc<Node>>>,
    /// Known once a program has it.
    handle: OnceLock<Handle>,
    /// How many graphs it is within: none of a program's own.
    level: usize,
    /// Whether a condition decides when it is done.
    is_body: bool,
    objects: Mutex<Vec<Arc<Retained>>>,
    conditions: Mutex<Vec<Arc<Condition>>>,
    /// The claim of its executable form, where there may be one at most.
    claimed: Mutex<Weak<()>>,
}

impl Node {
    pub(crate) fn work(&self) -> Work {
        lock(&self.work).clone()
    }

    /// The graph that it is of, while there is one.
    pub(crate) fn graph(&self) -> Option<Arc<Graph>> {
        self.graph.upgrade()
    }

    /// Sets what it does.
    ///
    /// # Errors
    /// That is of another kind.
    pub(crate) fn set_work(&self, work: Work) -> Answer {
        let before = self.work();
        if work.kind() != before.kind() {
            return Err(Status::INVALID_VALUE);
        }
        self.replace(work.in_place_of(&before)?);
        Ok(())
    }

    fn replace(&self, work: Work) {
        let before = std::mem::replace(&mut *lock(&self.work), work);
        before.end_within();
    }

    /// Sets an attribute of a kernel's launch.
    ///
    /// # Errors
    /// It is no kernel, or there is no such attribute.
    pub(crate) fn set_attribute(&self, id: u32, value: Value) -> Answer {
        let Work::Launch(launch) = self.work() else {
            return Err(Status::INVALID_VALUE);
        };
        let launch = launch.with_attribute(id, value)?;
        lock(&self.attributes).set(id, value);
        self.replace(Work::Launch(launch.into()));
        Ok(())
    }

    /// Returns an attribute of a kernel's launch.
    ///
    /// # Errors
    /// As [`Node::set_attribute`].
    pub(crate) fn attribute(&self, id: u32) -> Answer<Value> {
        match self.work() {
            Work::Launch(launch) => launch.attribute(id, &lock(&self.attributes)),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    /// Takes over the attributes of another kernel's launch.
    ///
    /// # Errors
    /// One of both is no kernel.
    pub(crate) fn copy_attributes(&self, from: &Node) -> Answer {
        for id in Attributes::all() {
            self.set_attribute(id, from.attribute(id)?)?;
        }
        Ok(())
    }

    /// Returns a kernel's launch, and where the addresses of its parameters are, which stay until others are set and asked for.
    ///
    /// # Errors
    /// It is no kernel.
    pub(crate) fn tell(&self) -> Answer<(Arc<Launch>, usize)> {
        let mut told = lock(&self.told);
        let Work::Launch(launch) = self.work() else {
            return Err(Status::INVALID_VALUE);
        };
        let (kernel, _) = launch.function.kernel()?;
        let is_told = told
            .last_mut()
            .is_some_and(|it| it.tell_anew(&kernel, &launch.parameters));
        if !is_told {
            told.push(Told::new(&kernel, &launch.parameters));
        }
        let address = told.last().map_or(0, Told::address);
        Ok((launch, address))
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
        if graph.as_ref().is_some_and(|it| it.has_memory()) {
            return Err(Status::NOT_SUPPORTED);
        }
        end::<Node>(self.handle)?;
        if let Some(graph) = graph {
            for node in self.dependents() {
                node.remove_after(self);
            }
            lock(&graph.nodes).retain(|it| !Arc::ptr_eq(it, self));
        }
        self.clear();
        Ok(())
    }

    /// Forgets its edges, and the graphs within it.
    fn clear(&self) {
        drop(std::mem::take(&mut *lock(&self.after)));
        self.work().end_within();
    }
}

impl Graph {
    /// One that is within others.
    pub(crate) fn within(level: usize) -> Arc<Graph> {
        Graph::of(level, false)
    }

    /// One that a condition decides about.
    pub(crate) fn body(level: usize) -> Arc<Graph> {
        Graph::of(level, true)
    }

    fn of(level: usize, is_body: bool) -> Arc<Graph> {
        Arc::new(Graph {
            nodes: Mutex::default(),
            handle: OnceLock::new(),
            level,
            is_body,
            objects: Mutex::default(),
            conditions: Mutex::default(),
            claimed: Mutex::default(),
        })
    }

    pub(crate) fn level(&self) -> usize {
        self.level
    }

    /// Adds a node.
    ///
    /// # Errors
    /// A condition decides about the graph, in which there are no such nodes.
    pub(crate) fn add(self: &Arc<Self>, work: Work, after: Vec<Arc<Node>>) -> Answer<Arc<Node>> {
        self.add_copy(None, work, after)
    }

    fn add_copy(
        self: &Arc<Self>,
        original: Option<&Node>,
        work: Work,
        after: Vec<Arc<Node>>,
    ) -> Answer<Arc<Node>> {
        if self.is_body && !work.can_be_conditional() {
            return Err(Status::INVALID_VALUE);
        }
        let handle = reserve();
        let attributes =
            original.map_or_else(Attributes::default, |it| lock(&it.attributes).clone());
        let node = Arc::new(Node {
            handle,
            graph: Arc::downgrade(self),
            original: original.map(|it| it.handle),
            work: Mutex::new(work),
            after: Mutex::new(after),
            attributes: Mutex::new(attributes),
            told: Mutex::default(),
        });
        keep_as(handle, Node::object(Arc::clone(&node)));
        lock(&self.nodes).push(Arc::clone(&node));
        Ok(node)
    }

    /// Returns a copy for a node of another graph.
    ///
    /// # Errors
    /// As [`Graph::copy_to`].
    pub(crate) fn copy_into(&self, outer: &Graph) -> Answer<Arc<Graph>> {
        self.copy_to(outer.level + 1, outer.is_body)
    }

    /// Returns another graph of the same nodes and edges, at a level within others.
    ///
    /// # Errors
    /// It is larger than what is copied, or too deep there, of those that are not copied (see [`Work::is_alone`]), or a condition is to
    /// decide about nodes of which that is not possible.
    pub(crate) fn copy_to(&self, level: usize, is_body: bool) -> Answer<Arc<Graph>> {
        if self.is_alone() {
            return Err(Status::NOT_SUPPORTED);
        }
        self.extent().admit_at(level)?;
        let copy = Graph::of(level, is_body);
        let own = self.nodes();
        let copies = own.iter().map(|it| {
            let work = it.work().copied_to(&copy)?;
            copy.add_copy(Some(it), work, Vec::new())
        });
        let copies: Vec<Arc<Node>> = copies.collect::<Answer<_>>()?;
        for (node, copied) in own.iter().zip(&copies) {
            for before in node.after() {
                let place = own.iter().position(|it| Arc::ptr_eq(it, &before));
                place
                    .into_iter()
                    .for_each(|it| copied.add_after(Arc::clone(&copies[it])));
            }
        }
        *lock(&copy.objects) = self.objects();
        Ok(copy)
    }

    /// Returns a graph of what is executed, as it is now, for a node of this one.
    pub(crate) fn within_of(&self, executable: &Executable) -> Answer<Arc<Graph>> {
        Graph::of_executable(executable, self.level + 1, self.is_body)
    }

    /// Returns a graph of what is executed, as it is now, at a level within others.
    ///
    /// # Errors
    /// As [`Graph::copy_to`].
    fn of_executable(executable: &Executable, level: usize, is_body: bool) -> Answer<Arc<Graph>> {
        executable.extent().admit_at(level)?;
        let graph = Graph::of(level, is_body);
        let mut nodes: Vec<Arc<Node>> = Vec::new();
        for step in executable.steps() {
            if step.work.is_alone() {
                return Err(Status::STREAM_CAPTURE_UNSUPPORTED);
            }
            let after = step.after.iter().map(|&it| Arc::clone(&nodes[it]));
            let work = match step.is_enabled {
                true => step.work.of_node(&graph)?,
                false => Work::Nothing,
            };
            nodes.push(graph.add(work, after.collect())?);
        }
        *lock(&graph.objects) = executable.objects();
        Ok(graph)
    }

    /// Returns the handle of its copy of a node.
    pub(crate) fn copy_of(&self, node: Handle) -> Option<Handle> {
        let nodes = lock(&self.nodes);
        let copy = nodes.iter().find(|it| it.original == Some(node))?;
        Some(copy.handle)
    }

    /// Its handle, made when it is first asked for.
    pub(crate) fn known(self: &Arc<Self>) -> Handle {
        *self.handle.get_or_init(|| keep_shared(Arc::clone(self)))
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

    /// How large it is with the graphs within it.
    pub(crate) fn extent(&self) -> Extent {
        let nodes = self.nodes();
        let add = |all: Extent, node: &Arc<Node>| all.with(node.work().extent());
        nodes.iter().fold(Extent::NOTHING, add)
    }

    /// Whether it is not copied, and executable once at a time.
    fn is_alone(&self) -> bool {
        self.nodes().iter().any(|it| it.work().is_alone())
    }

    /// Whether it allocates or frees memory.
    pub(crate) fn has_memory(&self) -> bool {
        let is_of_memory =
            |it: &Arc<Node>| matches!(it.work(), Work::Allocate(_) | Work::Release(_));
        self.nodes().iter().any(is_of_memory)
    }

    /// Whether a node frees the memory at an address.
    pub(crate) fn frees(&self, address: u64) -> bool {
        let is_freed =
            |it: &Arc<Node>| matches!(it.work(), Work::Release(its) if its.start() == address);
        self.nodes().iter().any(is_freed)
    }

    /// Returns what its executable form holds, where there is one at most.
    ///
    /// # Errors
    /// There is one.
    pub(crate) fn claim(&self) -> Answer<Option<Arc<()>>> {
        if !self.is_alone() {
            return Ok(None);
        }
        let mut claimed = lock(&self.claimed);
        if claimed.strong_count() > 0 {
            return Err(Status::NOT_SUPPORTED);
        }
        let claim = Arc::new(());
        *claimed = Arc::downgrade(&claim);
        Ok(Some(claim))
    }

    /// Keeps a condition, for a node of it.
    pub(crate) fn add_condition(&self, condition: Arc<Condition>) {
        lock(&self.conditions).push(condition);
    }

    /// Keeps a reference to an object of the program's as long as it, and each graph that is made of it, is there.
    pub(crate) fn retain(&self, object: Retained) {
        lock(&self.objects).push(object.into());
    }

    /// Gives up references to an object.
    ///
    /// # Errors
    /// It has fewer.
    pub(crate) fn release(&self, object: &Arc<UserObject>, count: usize) -> Answer {
        let mut objects = lock(&self.objects);
        let own: usize = objects.iter().map(|it| it.count_of(object)).sum();
        let left = own.checked_sub(count).ok_or(Status::INVALID_VALUE)?;
        let (gone, mut kept): (Vec<_>, Vec<_>) = std::mem::take(&mut *objects)
            .into_iter()
            .partition(|it| it.count_of(object) > 0);
        if left > 0 {
            // Those that are gone give up all that it had.
            kept.push(Retained::new(object, left).into());
        }
        *objects = kept;
        drop(objects);
        drop(gone);
        Ok(())
    }

    pub(crate) fn objects(&self) -> Vec<Arc<Retained>> {
        lock(&self.objects).clone()
    }

    /// Its steps: nodes that an edge was added to later come where they may be done.
    ///
    /// # Errors
    /// Some nodes come after each other.
    pub(crate) fn steps(&self) -> Answer<Vec<Step>> {
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
                work: node.work().instantiated()?,
                after,
                is_enabled: true,
            };
            steps.push(step);
            left.remove(next);
        }
        Ok(steps)
    }

    /// Forgets its nodes, which others may hold, and their edges, which may go around in circles.
    pub(crate) fn end(&self) {
        let nodes = std::mem::take(&mut *lock(&self.nodes));
        for node in nodes {
            let _ = end::<Node>(node.handle);
            node.clear();
        }
        let objects = std::mem::take(&mut *lock(&self.objects));
        drop(objects);
    }

    /// The same of one that is within a node that ends, with its handle.
    pub(crate) fn end_within(&self) {
        if let Some(handle) = self.handle() {
            let _ = end::<Graph>(handle);
        }
        self.end();
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        self.end();
    }
}

//! The run itself: whichever of the threads and the streams is first goes on.

use std::collections::VecDeque;

use super::plan::{Engine, Plan};

/// A thread of the host that runs again.
struct Thread {
    /// Its next step.
    next: usize,
    /// When its last step ended.
    free: u64,
    /// When the step that waits began.
    waits_since: Option<u64>,
}

/// A stream that runs again.
#[derive(Default)]
struct Queue {
    works: VecDeque<usize>,
    /// When its last work ended.
    free: u64,
    /// Work of other streams that the next one waits for.
    after: Vec<usize>,
}

/// Work that runs again.
#[derive(Clone, Default)]
struct Done {
    launched: u64,
    after: Vec<usize>,
    end: Option<u64>,
}

struct Run<'p> {
    plan: &'p Plan,
    threads: Vec<Thread>,
    queues: Vec<Queue>,
    works: Vec<Done>,
    /// When each engine is free.
    engines: [u64; Engine::COUNT],
    end: u64,
}

/// When the process ends, in nanoseconds after it began.
pub(super) fn run(plan: &Plan) -> u64 {
    let thread = |_| Thread {
        next: 0,
        free: 0,
        waits_since: None,
    };
    let mut run = Run {
        plan,
        threads: plan.threads.iter().map(thread).collect(),
        queues: (0..plan.streams).map(|_| Queue::default()).collect(),
        works: vec![Done::default(); plan.works.len()],
        engines: [0; Engine::COUNT],
        end: 0,
    };
    loop {
        let host = (0..run.threads.len()).filter_map(|it| Some((run.start_of_step(it)?, it)));
        let device = (0..run.queues.len()).filter_map(|it| Some((run.start_of_work(it)?, it)));
        match (host.min(), device.min()) {
            (Some((time, thread)), device) if device.is_none_or(|it| time <= it.0) => {
                run.step(thread, time);
            }
            (_, Some((time, queue))) => run.work(queue, time),
            (_, None) => break,
        }
    }
    run.end
}

impl Run<'_> {
    /// When a thread's next step begins; `None` for one that waits, or has ended.
    fn start_of_step(&self, thread: usize) -> Option<u64> {
        let of = &self.threads[thread];
        let step = self.plan.threads[thread].steps.get(of.next)?;
        of.waits_since.is_none().then_some(of.free + step.gap)
    }

    fn step(&mut self, thread: usize, time: u64) {
        let step = &self.plan.threads[thread].steps[self.threads[thread].next];
        for (stream, after) in &step.stream_waits {
            self.queues[*stream].after.extend(after);
        }
        for &work in &step.works {
            let queue = &mut self.queues[self.plan.works[work].stream];
            let after = std::mem::take(&mut queue.after);
            queue.works.push_back(work);
            self.works[work] = Done {
                launched: time,
                after,
                end: None,
            };
        }
        let of = &mut self.threads[thread];
        if step.awaits.is_empty() {
            of.free = time + step.cost;
            self.go_on(thread);
        } else {
            of.waits_since = Some(time);
            self.wake(thread);
        }
    }

    fn go_on(&mut self, thread: usize) {
        let (of, plan) = (&mut self.threads[thread], &self.plan.threads[thread]);
        of.next += 1;
        of.waits_since = None;
        let is_last = of.next == plan.steps.len();
        self.end = self.end.max(of.free + if is_last { plan.tail } else { 0 });
    }

    /// Lets a thread go on if all that it waits for has an end.
    fn wake(&mut self, thread: usize) {
        let of = &self.threads[thread];
        let Some(since) = of.waits_since else {
            return;
        };
        let step = &self.plan.threads[thread].steps[of.next];
        let mut until = since;
        for &work in &step.awaits {
            match self.works[work].end {
                Some(end) => until = until.max(end),
                None => return,
            }
        }
        self.threads[thread].free = until + step.cost;
        self.go_on(thread);
    }

    /// When the first work of a stream begins; `None` where there is none, or it waits for work that has not begun.
    fn start_of_work(&self, queue: usize) -> Option<u64> {
        let queue = &self.queues[queue];
        let &index = queue.works.front()?;
        let (work, done) = (&self.plan.works[index], &self.works[index]);
        let mut ready = queue.free;
        for &earlier in &done.after {
            ready = ready.max(self.works[earlier].end?);
        }
        if self.plan.is_exclusive[work.engine as usize] {
            ready = ready.max(self.engines[work.engine as usize]);
        }
        let after = ready.saturating_add_signed(work.gap);
        Some(after.max(done.launched + work.latency))
    }

    fn work(&mut self, queue: usize, time: u64) {
        let Some(index) = self.queues[queue].works.pop_front() else {
            return;
        };
        let work = &self.plan.works[index];
        let end = time + work.took;
        self.works[index].end = Some(end);
        self.queues[queue].free = self.queues[queue].free.max(end);
        let engine = &mut self.engines[work.engine as usize];
        *engine = (*engine).max(end);
        self.end = self.end.max(end);
        for thread in 0..self.threads.len() {
            self.wake(thread);
        }
    }
}

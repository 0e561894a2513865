//! Callers, numbered.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Mutex;

use recording::{Record, Stack};

use crate::lock;
use crate::native::{self, Modules};
use crate::python::{self, Place};

/// So many callers are kept, the innermost.
const DEEPEST: usize = 128;

/// All callers so far.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    numbers: Mutex<Numbers>,
    modules: Mutex<Modules>,
}

#[derive(Debug, Default)]
struct Numbers {
    python: HashMap<Vec<Place>, u32>,
    native: HashMap<Vec<u64>, u32>,
    last: u32,
}

thread_local! {
    /// Kept for their memory.
    static PLACES: RefCell<Vec<Place>> = const { RefCell::new(Vec::new()) };
    static ADDRESSES: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl Stacks {
    /// The number of the current callers; new ones are written.
    pub(crate) fn current(&self, write: impl Fn(&Record)) -> u32 {
        let of_python = PLACES.try_with(|places| {
            let mut places = places.try_borrow_mut().ok()?;
            self.of_python(&mut places, &write)
        });
        if let Ok(Some(number)) = of_python {
            return number;
        }
        let of_machine = ADDRESSES.try_with(|addresses| {
            let mut addresses = addresses.try_borrow_mut().ok()?;
            self.of_machine(&mut addresses, &write)
        });
        of_machine.ok().flatten().unwrap_or(0)
    }

    fn of_python(&self, places: &mut Vec<Place>, write: &impl Fn(&Record)) -> Option<u32> {
        places.clear();
        let interpreter = python::enter()?;
        let is_own = interpreter.walk(places, DEEPEST)?;
        if let Some(&number) = lock(&self.numbers).python.get(places.as_slice()) {
            return Some(number);
        }
        // The interpreter is asked without the lock: it may run other threads meanwhile.
        let frames = places
            .iter()
            .map(|place| interpreter.frame(place))
            .collect();
        let mut numbers = lock(&self.numbers);
        if let Some(&number) = numbers.python.get(places.as_slice()) {
            return Some(number);
        }
        let id = numbers.next();
        numbers.python.insert(places.clone(), id);
        let of_thread = match is_own {
            true => 0,
            false => std::process::id(),
        };
        write(&Record::Stack(Stack {
            id,
            frames,
            of_thread,
        }));
        Some(id)
    }

    fn of_machine(&self, addresses: &mut Vec<u64>, write: &impl Fn(&Record)) -> Option<u32> {
        addresses.clear();
        native::walk(addresses, DEEPEST);
        if addresses.is_empty() {
            return None;
        }
        let mut numbers = lock(&self.numbers);
        if let Some(&number) = numbers.native.get(addresses.as_slice()) {
            return Some(number);
        }
        let id = numbers.next();
        numbers.native.insert(addresses.clone(), id);
        for module in lock(&self.modules).first_seen(addresses) {
            write(&Record::Module(module));
        }
        let frames = addresses.iter().map(|it| recording::Frame::Native(*it));
        write(&Record::Stack(Stack {
            id,
            frames: frames.collect(),
            of_thread: 0,
        }));
        Some(id)
    }
}

impl Numbers {
    fn next(&mut self) -> u32 {
        self.last += 1;
        self.last
    }
}

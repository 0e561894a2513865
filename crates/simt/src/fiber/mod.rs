//! Functions that run on stacks of their own, and can stop and go on in the midst of what they call.

#[cfg(any(test, not(all(target_arch = "x86_64", unix))))]
mod portable;
#[cfg(all(target_arch = "x86_64", unix))]
mod x86_64;

#[cfg(not(all(target_arch = "x86_64", unix)))]
pub(crate) use portable::{Fiber, Inside};
#[cfg(all(target_arch = "x86_64", unix))]
pub(crate) use x86_64::{Fiber, Inside};

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::rc::Rc;

    use crate::stack::ThreadStack;

    /// The same cases for each implementation.
    macro_rules! cases {
        ($implementation:ident) => {
            mod $implementation {
                use super::*;
                use crate::fiber::$implementation::{Fiber, Inside};

                fn fiber(body: impl FnOnce(&Inside<Cell<u32>>) + 'static) -> Fiber<Cell<u32>> {
                    let stack = ThreadStack::new().expect("there is memory");
                    Fiber::new(stack, Cell::new(0), body)
                }

                #[test]
                fn fibers_take_turns_and_give_their_stacks_back() {
                    let order = Rc::new(RefCell::new(Vec::new()));
                    let mut fibers = ["a", "b", "c"].map(|name| {
                        let order = order.clone();
                        fiber(move |fiber| {
                            for turn in 0..3 {
                                order.borrow_mut().push(format!("{name}{turn}"));
                                fiber.suspend();
                            }
                        })
                    });
                    for turn in 0..4 {
                        for fiber in &mut fibers {
                            assert!(!fiber.has_ended());
                            fiber.resume();
                            assert_eq!(fiber.has_ended(), turn == 3);
                        }
                    }
                    for fiber in fibers {
                        fiber.into_stack();
                    }
                    assert_eq!(order.borrow().join(" "), "a0 b0 c0 a1 b1 c1 a2 b2 c2");
                }

                #[test]
                fn both_sides_see_the_shared_value_and_keep_their_own() {
                    let mut fiber = fiber(|fiber| {
                        let given: [u32; 40] = std::array::from_fn(|_| {
                            fiber.suspend();
                            fiber.shared().get()
                        });
                        fiber.shared().set(given.iter().sum());
                        fiber.suspend();
                    });
                    fiber.resume();
                    for number in 0..40 {
                        fiber.shared().set(number);
                        fiber.resume();
                    }
                    assert_eq!(fiber.shared().get(), 780);
                    fiber.resume();
                    assert!(fiber.has_ended());
                }

                #[test]
                fn a_fiber_stops_at_its_gate_too_and_is_unwound_behind_it() {
                    let held = Rc::new(());
                    let count = held.clone();
                    let mut fiber = fiber(move |fiber| {
                        let _held = held;
                        for turn in 1.. {
                            fiber.shared().set(turn);
                            match fiber.gate() {
                                // SAFETY: `resume` is on the other side.
                                Some(gate) => unsafe { gate.pass() },
                                None => fiber.suspend(),
                            }
                            fiber.go_on();
                        }
                    });
                    for turn in 1..4 {
                        fiber.resume();
                        assert_eq!(fiber.shared().get(), turn);
                    }
                    drop(fiber);
                    assert_eq!(Rc::strong_count(&count), 1);
                }

                #[test]
                fn a_panic_goes_on_in_who_resumes_it() {
                    let mut fiber = fiber(|fiber| {
                        fiber.suspend();
                        resume_unwind(Box::new(17));
                    });
                    fiber.resume();
                    let panic = catch_unwind(AssertUnwindSafe(|| fiber.resume()));
                    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&17));
                }

                #[test]
                fn what_is_on_a_stack_is_dropped_with_the_fiber() {
                    let shared = Rc::new(());
                    for turns in 0..3 {
                        let held = shared.clone();
                        let mut fiber = fiber(move |fiber| {
                            let _held = held;
                            let caught = catch_unwind(AssertUnwindSafe(|| {
                                fiber.suspend();
                                fiber.suspend();
                            }));
                            drop(caught);
                            fiber.suspend();
                        });
                        for _ in 0..turns {
                            fiber.resume();
                        }
                        assert_eq!(Rc::strong_count(&shared), 2);
                        drop(fiber);
                        assert_eq!(Rc::strong_count(&shared), 1, "after {turns} turns");
                    }
                }

                #[test]
                fn an_abandoned_fiber_is_not_unwound() {
                    let shared = Rc::new(());
                    let held = shared.clone();
                    let mut fiber = fiber(move |fiber| {
                        let _held = held;
                        fiber.suspend();
                    });
                    fiber.resume();
                    // SAFETY: the counter on its stack may be leaked.
                    unsafe { fiber.abandon() };
                    drop(fiber);
                    assert_eq!(Rc::strong_count(&shared), 2);
                }
            }
        };
    }

    cases!(portable);
    #[cfg(all(target_arch = "x86_64", unix))]
    cases!(x86_64);
}

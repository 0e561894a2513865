//! Launches on several threads, whose results are looked at in their order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

/// Does the work of each item, of as many at a time as there are threads, and looks at the results one by one in the items' order,
/// until that is enough: then no further work begins, and what is still done is not looked at.
pub(super) fn each<I: Send, R: Send, E>(
    items: impl Iterator<Item = I> + Send,
    threads: usize,
    work: impl Fn(I) -> R + Sync,
    mut look: impl FnMut(R) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let items = Mutex::new(items.enumerate());
    let is_enough = AtomicBool::new(false);
    let (send, receive) = mpsc::channel();
    let one_after_another = |send: mpsc::Sender<(usize, R)>| {
        while !is_enough.load(Ordering::Relaxed) {
            let next = items.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, item)) = next else { return };
            // Who waits for it may have seen enough.
            let _ = send.send((number, work(item)));
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let send = send.clone();
            scope.spawn(|| one_after_another(send));
        }
        drop(send);
        let (mut early, mut next) = (BTreeMap::new(), 0);
        let mut look_at_all = || {
            for (number, result) in &receive {
                early.insert(number, result);
                while let Some(result) = early.remove(&next) {
                    next += 1;
                    if look(result)?.is_break() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        };
        let looked = look_at_all();
        is_enough.store(true, Ordering::Relaxed);
        looked
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_come_in_order_whoever_is_first() {
        let mut seen = Vec::new();
        let work = |item: u64| {
            thread::sleep(Duration::from_millis(if item.is_multiple_of(2) {
                5
            } else {
                0
            }));
            item * 10
        };
        let looked = each(0..7, 3, work, |it| {
            seen.push(it);
            Ok::<_, ()>(ControlFlow::Continue(()))
        });
        assert_eq!((looked, seen), (Ok(()), vec![0, 10, 20, 30, 40, 50, 60]));
    }

    #[test]
    fn nothing_begins_after_enough_was_seen() {
        let (begun, mut seen) = (Mutex::new(0), 0);
        let work = |item: u64| {
            *begun.lock().expect("no panic") += 1;
            item
        };
        let looked = each(0.., 2, work, |it| {
            seen += 1;
            match it {
                0..3 => Ok(ControlFlow::Continue(())),
                3 => Ok(ControlFlow::Break(())),
                _ => Err("looked on"),
            }
        });
        assert_eq!((looked, seen), (Ok(()), 4));
        let failed = each(
            0..100,
            2,
            |it| it,
            |_| Err::<ControlFlow<()>, _>("the first"),
        );
        assert_eq!(failed, Err("the first"));
    }
}

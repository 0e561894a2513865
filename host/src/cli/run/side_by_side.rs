//! Launches on several threads, whose results are looked at in their order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

/// The items that are left, and how far one has looked.
struct Left<I> {
    items: I,
    taken: usize,
    looked: usize,
    is_enough: bool,
}

/// Does the work of each item, of as many at a time as there are threads, and looks at the results one by one in the items' order,
/// until that is enough: then no further work begins, and those that have begun are not looked at. The first has its result looked at
/// before another begins, because often it is enough, and of a launch that never ends the others would not end either. No more than
/// twice as many items as there are threads are ahead of the looks, so that few results are kept.
pub(super) fn each<I: Send, R: Send, E>(
    items: impl Iterator<Item = I> + Send,
    threads: usize,
    work: impl Fn(I) -> R + Sync,
    mut look: impl FnMut(R) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let threads = threads.max(1);
    let left = Mutex::new(Left {
        items,
        taken: 0,
        looked: 0,
        is_enough: false,
    });
    let (has_looked, (send, receive)) = (Condvar::new(), mpsc::channel());
    let next = || {
        let ahead = |looked| if looked == 0 { 1 } else { looked + 2 * threads };
        let is_ahead = |left: &mut Left<_>| !left.is_enough && left.taken >= ahead(left.looked);
        let left = has_looked.wait_while(lock(&left), is_ahead);
        let mut left = left.unwrap_or_else(PoisonError::into_inner);
        if left.is_enough {
            return None;
        }
        let number = left.taken;
        left.taken += 1;
        left.items.next().map(|item| (number, item))
    };
    let one_after_another = |send: mpsc::Sender<(usize, R)>| {
        while let Some((number, item)) = next() {
            // Who waits for it may have seen enough.
            let _ = send.send((number, work(item)));
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            let send = send.clone();
            scope.spawn(|| one_after_another(send));
        }
        drop(send);
        let mut early = BTreeMap::new();
        let mut look_at_all = || {
            let mut next = 0;
            for (number, result) in &receive {
                early.insert(number, result);
                while let Some(result) = early.remove(&next) {
                    if look(result)?.is_break() {
                        return Ok(());
                    }
                    next += 1;
                    lock(&left).looked = next;
                    has_looked.notify_all();
                }
            }
            Ok(())
        };
        let looked = look_at_all();
        lock(&left).is_enough = true;
        has_looked.notify_all();
        looked
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_come_in_order() {
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
    fn nothing_begins_after_enough_was_seen_or_far_ahead() {
        let (begun, mut seen) = (Mutex::new(0), 0);
        let work = |item: u64| {
            *lock(&begun) += 1;
            thread::sleep(Duration::from_millis(if item <= 1 { 50 } else { 0 }));
            item
        };
        let looked = each(0.., 2, work, |it| {
            let most = [1, 5].get(it as usize).copied().unwrap_or(u64::MAX);
            assert!(*lock(&begun) <= most, "{begun:?}");
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

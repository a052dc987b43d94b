//! Work on many items at once, such as files or sessions.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::thread;

/// For each thread, the most results that wait for an earlier one.
const WAITING: usize = 16;

/// Applies the function to every item, `at_once` in parallel; returns the results in order.
pub fn each<T: Sync, R: Send>(
    items: &[T],
    at_once: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let mut results = Vec::with_capacity(items.len());
    in_order(
        items.len(),
        at_once,
        |at| work(&items[at]),
        |result| {
            results.push(result);
            ControlFlow::Continue(())
        },
    );
    results
}

/// Applies the function to the numbers from 0 to `count`, `at_once` in parallel, and hands the results over in order. No
/// further number begins once `take` breaks off, or while too many results wait for an earlier one.
pub fn in_order<R: Send>(
    count: usize,
    at_once: usize,
    work: impl Fn(usize) -> R + Sync,
    mut take: impl FnMut(R) -> ControlFlow<()>,
) {
    let threads = at_once.min(count);
    if threads <= 1 {
        let _ = (0..count).try_for_each(|at| take(work(at)));
        return;
    }
    let end = count.min(threads * WAITING);
    let places = Places { next: Mutex::new((0, Some(end))), moved: Condvar::new() };
    let (tell, told) = mpsc::channel();
    let go = |tell: mpsc::Sender<_>| {
        while let Some(at) = places.next() {
            let result = panic::catch_unwind(AssertUnwindSafe(|| work(at)));
            // Nobody listens after the end.
            let _ = tell.send((at, result));
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            let tell = tell.clone();
            scope.spawn(|| go(tell));
        }
        drop(tell);
        let (mut waiting, mut taken) = (BTreeMap::new(), 0);
        let mut panicked = None;
        'taking: while taken < count
            && let Ok((at, result)) = told.recv()
        {
            waiting.insert(at, result);
            while let Some(result) = waiting.remove(&taken) {
                taken += 1;
                let goes_on = match result {
                    Ok(result) => take(result).is_continue(),
                    Err(panic) => {
                        panicked = Some(panic);
                        false
                    }
                };
                if !goes_on {
                    break 'taking;
                }
                places.allow(Some(count.min(taken + threads * WAITING)));
            }
        }
        places.allow(None);
        if let Some(panic) = panicked {
            panic::resume_unwind(panic);
        }
    });
}

/// The next place, and the end of those that may begin; `None`: no more may.
struct Places {
    next: Mutex<(usize, Option<usize>)>,
    moved: Condvar,
}

impl Places {
    /// The next place, as soon as it may begin.
    fn next(&self) -> Option<usize> {
        let places = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let mut places = self
            .moved
            .wait_while(places, |(next, end)| Some(*next) == *end)
            .unwrap_or_else(PoisonError::into_inner);
        places.1?;
        places.0 += 1;
        Some(places.0 - 1)
    }

    /// Allows the places before this one.
    fn allow(&self, end: Option<usize>) {
        self.next.lock().unwrap_or_else(PoisonError::into_inner).1 = end;
        self.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..50).collect();
        for at_once in [1, 4, 64] {
            let squares = each(&items, at_once, |n| {
                thread::sleep(Duration::from_micros(50 - n));
                n * n
            });
            assert_eq!(squares, items.iter().map(|n| n * n).collect::<Vec<_>>());
            assert!(each(&items[..0], at_once, |n| *n).is_empty());
        }
    }

    #[test]
    fn little_waits_for_an_early_item_that_takes_long() {
        let begun = AtomicUsize::new(0);
        let ahead = |at: usize| {
            begun.fetch_add(1, Ordering::SeqCst);
            if at == 0 {
                thread::sleep(Duration::from_millis(50));
            }
            begun.load(Ordering::SeqCst)
        };
        let mut first = None;
        in_order(1000, 2, ahead, |seen| {
            first.get_or_insert(seen);
            ControlFlow::Continue(())
        });
        assert!(first.unwrap() <= 2 * WAITING, "{first:?}");
        assert_eq!(begun.into_inner(), 1000);
    }

    #[test]
    fn nothing_begins_after_the_taker_broke_off() {
        let begun = AtomicUsize::new(0);
        let mut taken = 0;
        let work = |_| begun.fetch_add(1, Ordering::SeqCst);
        in_order(100_000, 4, work, |_| {
            taken += 1;
            if taken == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(taken, 3);
        assert!(begun.into_inner() <= 3 + 4 * (WAITING + 1));
    }

    #[test]
    #[should_panic(expected = "item 7")]
    fn a_panic_reaches_the_caller() {
        each(&(0..200).collect::<Vec<_>>(), 3, |n| assert_ne!(*n, 7, "item 7"));
    }
}

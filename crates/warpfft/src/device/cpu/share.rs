//! Tasks shared among threads. The caller is one of them, so that nothing waits for another thread to wake, and each thread
//! takes the next few tasks when it is done with the last, so that one which is held up holds nobody else up.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::Error;

/// Times that a thread comes for more tasks, where all are equally fast.
const TURNS: u64 = 8;

/// Does tasks 0 to `tasks` on so many threads, each with memory of its own; where a thread gets none, those that are left are
/// not done.
pub(super) fn share<S>(
    tasks: u64,
    threads: u64,
    memory: impl Fn() -> Result<S, Error> + Sync,
    one: impl Fn(&mut S, u64) + Sync,
    done: impl Fn(S) + Sync,
) -> Result<(), Error> {
    let threads = threads.min(tasks);
    let few = (tasks / (TURNS * threads.max(1))).max(1);
    let next = AtomicU64::new(0);
    let failed = Mutex::new(None);
    let work = || {
        let mut first = next.fetch_add(few, Ordering::Relaxed);
        if first >= tasks {
            return;
        }
        let mut own = match memory() {
            Ok(own) => own,
            Err(error) => {
                next.store(tasks, Ordering::Relaxed);
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                return;
            }
        };
        while first < tasks {
            (first..tasks.min(first + few)).for_each(|task| one(&mut own, task));
            first = next.fetch_add(few, Ordering::Relaxed);
        }
        done(own);
    };
    if threads > 1 {
        rayon::in_place_scope(|scope| {
            (1..threads).for_each(|_| scope.spawn(|_| work()));
            work();
        });
    } else {
        work();
    }
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_is_done_once() {
        for (tasks, threads) in [(0, 1), (0, 4), (1, 4), (3, 2), (100, 1), (101, 3), (1000, 4)] {
            let times: Vec<AtomicU64> = (0..tasks).map(|_| AtomicU64::new(0)).collect();
            let (made, given) = (AtomicU64::new(0), AtomicU64::new(0));
            let count = |of: &AtomicU64| {
                of.fetch_add(1, Ordering::Relaxed);
            };
            let memory = || {
                count(&made);
                Ok(())
            };
            let result =
                share(tasks, threads, memory, |(), task| count(&times[task as usize]), |()| count(&given));
            assert_eq!(result, Ok(()));
            assert!(times.iter().all(|times| times.load(Ordering::Relaxed) == 1), "{tasks} by {threads}");
            assert!(made.load(Ordering::Relaxed) <= threads);
            assert_eq!(made.into_inner(), given.into_inner());
        }
    }

    #[test]
    fn without_memory_the_rest_is_not_done() {
        for threads in [1, 3] {
            let full = Error::OutOfMemory { device: "here".into(), bytes: 1, free: None };
            let result = share(100, threads, || Err::<(), _>(full.clone()), |(), _| {}, |()| {});
            assert_eq!(result, Err(full));
        }
    }
}

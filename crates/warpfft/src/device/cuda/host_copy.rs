//! Copies in the computer's memory, by threads that do nothing else.
//!
//! They are not those of rayon's own pool, which may all wait for what this run holds. And one of those that waits, whatever
//! pool it waits for, may be handed another of the caller's runs, which waits for what it holds itself: so a thread of any
//! pool has a plain one wait. To make threads for each copy would cost as much as the copy, some 30 microseconds each.

use std::sync::OnceLock;
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Bytes that one thread copies at once.
const PIECE: usize = 1 << 20;
/// Threads at most: more than memory keeps up with.
const MOST: usize = 16;

/// The threads; none, if none can be had.
fn threads() -> Option<&'static ThreadPool> {
    static THREADS: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let make = || {
        let count = thread::available_parallelism().map_or(1, usize::from).min(MOST);
        let name = |index| format!("warpfft-copy-{index}");
        (count > 1).then(|| ThreadPoolBuilder::new().num_threads(count).thread_name(name).build().ok())?
    };
    THREADS.get_or_init(make).as_ref()
}

/// Copies; both are of one length.
pub(super) fn copy(source: &[u8], target: &mut [u8]) {
    let pool = if target.len() >= 2 * PIECE { threads() } else { None };
    let Some(pool) = pool else { return target.copy_from_slice(source) };
    if rayon::current_thread_index().is_none() {
        return shared(pool, source, target);
    }
    let begun = thread::scope(|scope| {
        let waiting = || shared(pool, source, &mut *target);
        thread::Builder::new().spawn_scoped(scope, waiting).is_ok()
    });
    if !begun {
        target.copy_from_slice(source);
    }
}

/// Copies by a pool's threads; this one, which is no pool's, waits.
fn shared(pool: &ThreadPool, source: &[u8], target: &mut [u8]) {
    let pieces = target.chunks_mut(PIECE).zip(source.chunks(PIECE));
    pool.in_place_scope(|scope| {
        for (to, from) in pieces {
            scope.spawn(move |_| to.copy_from_slice(from));
        }
    });
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Mutex;

    use rayon::prelude::*;

    use super::*;

    #[test]
    fn every_byte_is_copied_once() {
        for bytes in [0, 1, 1000, PIECE, 2 * PIECE, 3 * PIECE + 5] {
            let source: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
            let mut target = vec![255; bytes];
            copy(&source, &mut target);
            assert!(source == target, "{bytes}");
        }
    }

    /// A thread of rayon's that waits for its copy is not handed another of its callers, who would wait for the same lock.
    #[test]
    fn nothing_else_runs_where_a_copy_is_waited_for() {
        thread_local! {
            static WAITS: Cell<bool> = const { Cell::new(false) };
        }
        let source = vec![7_u8; 4 * PIECE];
        let target = Mutex::new(vec![0_u8; 4 * PIECE]);
        (0..64).into_par_iter().for_each(|_| {
            assert!(!WAITS.replace(true), "this thread waits for a copy");
            copy(&source, &mut target.lock().expect("nobody panicked"));
            WAITS.set(false);
        });
    }
}

//! Work that nobody waits for yet: jobs go to a few threads of their own, which end when there is nothing left.
//!
//! A process may end while a job runs. What a job calls, a driver, clears up at that moment, which it must not do
//! under the job's feet: so the end of the process waits for jobs that run, and forgets those that have not begun.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::thread;

/// Threads at most; each job may keep several processors busy.
const MOST: usize = 4;

type Job = Box<dyn FnOnce() + Send>;

struct Pool {
    state: Mutex<State>,
    /// A job has ended.
    ended: Condvar,
}

struct State {
    waiting: VecDeque<Job>,
    /// Threads that do jobs that wait.
    running: usize,
    /// Threads with one job each.
    beside: usize,
    closed: bool,
}

static POOL: Pool = Pool::new();

/// Does a job soon, on another thread. One that is forgotten, as the process ends, is dropped.
pub(crate) fn behind(job: impl FnOnce() + Send + 'static) {
    once_at_exit();
    POOL.add(Box::new(job));
}

/// Does a job at once, beside all others, for somebody who waits. It is dropped where there are no more threads.
pub(crate) fn beside(job: impl FnOnce() + Send + 'static) {
    once_at_exit();
    POOL.start(Box::new(job));
}

fn once_at_exit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(wait_at_exit);
}

/// Makes the end of the process wait for jobs before it undoes anything that was loaded until now.
pub(crate) fn wait_at_exit() {
    // SAFETY: C's own function, with its signature; what it is given is a function that unwinds nothing.
    if unsafe { atexit(close) } != 0 {
        tracing::debug!("the end of the process will not wait for what runs behind");
    }
}

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

extern "C" fn close() {
    POOL.close();
}

impl Pool {
    const fn new() -> Self {
        let state = State { waiting: VecDeque::new(), running: 0, beside: 0, closed: false };
        Self { state: Mutex::new(state), ended: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&'static self, job: Job) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        state.waiting.push_back(job);
        let threads = thread::available_parallelism().map_or(1, |all| (all.get() / 2).clamp(1, MOST));
        if state.running >= threads {
            return;
        }
        state.running += 1;
        drop(state);
        let started = thread::Builder::new().name("warpfft-behind".into()).spawn(|| self.work());
        if started.is_err() {
            // There are no more threads: late is better than never.
            self.work();
        }
    }

    fn start(&'static self, job: Job) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        state.beside += 1;
        drop(state);
        let ends = Beside(self);
        let started = thread::Builder::new().name("warpfft-beside".into()).spawn(move || {
            let _ends = ends;
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        });
        if let Err(error) = started {
            tracing::debug!(%error, "a job that would have saved time was not begun");
        }
    }

    /// Does one job after the other until there are none. Counted as running by whoever calls it.
    fn work(&self) {
        let mut state = self.state();
        while let Some(job) = state.waiting.pop_front() {
            drop(state);
            // What a panic leaves undone is dropped with the job, which tells those who wait.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
            state = self.state();
        }
        state.running -= 1;
        drop(state);
        self.ended.notify_all();
    }

    /// Takes no more jobs, forgets those that wait, and returns when none runs.
    fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let forgotten = std::mem::take(&mut state.waiting);
        drop(state);
        drop(forgotten);
        let mut state = self.state();
        while state.running + state.beside > 0 {
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A thread with one job, counted until it ends.
struct Beside(&'static Pool);

impl Drop for Beside {
    fn drop(&mut self) {
        self.0.state().beside -= 1;
        self.0.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn jobs_are_done_and_a_panic_stops_none_of_them() {
        let (done, all) = channel();
        for i in 0..20 {
            let done = done.clone();
            behind(move || {
                assert!(i != 3, "this job panics");
                done.send(i).expect("somebody listens");
            });
        }
        drop(done);
        let mut seen: Vec<usize> = all.iter().collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..20).filter(|&i| i != 3).collect::<Vec<_>>());
    }

    #[test]
    fn closing_waits_for_what_runs_and_forgets_the_rest() {
        static OWN: Pool = Pool::new();
        static DONE: AtomicUsize = AtomicUsize::new(0);
        let (started, begun) = channel();
        for _ in 0..100 {
            let started = started.clone();
            OWN.add(Box::new(move || {
                started.send(()).ok();
                thread::sleep(Duration::from_millis(20));
                DONE.fetch_add(1, Ordering::SeqCst);
            }));
        }
        begun.recv().expect("one begins");
        OWN.close();
        let done = DONE.load(Ordering::SeqCst);
        assert!((1..100).contains(&done), "{done}");
        thread::sleep(Duration::from_millis(60));
        assert_eq!(DONE.load(Ordering::SeqCst), done, "none runs any more");
        OWN.add(Box::new(|| panic!("it is closed")));
        assert_eq!(OWN.state().waiting.len(), 0);
    }

    #[test]
    fn a_job_beside_waits_for_no_other_and_is_waited_for() {
        static OWN: Pool = Pool::new();
        static DONE: AtomicUsize = AtomicUsize::new(0);
        let (done, all) = channel();
        for _ in 0..4 * MOST {
            OWN.add(Box::new(|| thread::sleep(Duration::from_millis(200))));
        }
        let start = std::time::Instant::now();
        OWN.start(Box::new(move || done.send(start.elapsed()).expect("somebody listens")));
        // Four threads at most have 800 ms of what was there before.
        assert!(all.recv().expect("it is done") < Duration::from_millis(600));
        OWN.start(Box::new(|| panic!("this job panics")));
        OWN.start(Box::new(|| {
            thread::sleep(Duration::from_millis(50));
            DONE.fetch_add(1, Ordering::SeqCst);
        }));
        OWN.close();
        assert_eq!(DONE.load(Ordering::SeqCst), 1);
    }
}

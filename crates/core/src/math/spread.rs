//! Long lists of numbers that do not depend on each other, made by all of the processor's threads.

use std::thread;

/// Entries that are worth a thread: about a millisecond of sines.
const WORTH: u64 = 1 << 13;

/// `f` of 0 to `len - 1`.
pub fn each<T: Send>(len: u64, f: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let threads = if len < 2 * WORTH { 1 } else { thread::available_parallelism().map_or(1, usize::from) };
    let part = len.div_ceil(threads as u64).max(WORTH);
    let of = |start: u64| (start..(start + part).min(len)).map(&f).collect::<Vec<T>>();
    if part >= len {
        return of(0);
    }
    thread::scope(|scope| {
        let of = &of;
        // What no thread can be had for is done here.
        let begun: Vec<_> = (part..len)
            .step_by(part as usize)
            .map(|start| (start, thread::Builder::new().spawn_scoped(scope, move || of(start))))
            .collect();
        let mut all = of(0);
        all.reserve_exact((len - part) as usize);
        for (start, thread) in begun {
            match thread {
                Ok(thread) => match thread.join() {
                    Ok(mut own) => all.append(&mut own),
                    Err(panic) => std::panic::resume_unwind(panic),
                },
                Err(_) => all.append(&mut of(start)),
            }
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stand_in_order_whoever_makes_them() {
        for len in [0, 1, WORTH, 2 * WORTH - 1, 2 * WORTH, 3 * WORTH + 1, 20 * WORTH + 7] {
            assert!(each(len, |x| 3 * x).into_iter().eq((0..len).map(|x| 3 * x)), "{len}");
        }
    }

    #[test]
    #[should_panic(expected = "the last")]
    fn a_panic_is_passed_on() {
        each(4 * WORTH, |x| assert!(x + 1 < 4 * WORTH, "the last"));
    }
}

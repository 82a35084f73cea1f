//! Ctrl-C: the row under way is finished and written; a second one ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::code;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Listens from now on.
pub fn listen() {
    let handler = || {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(code::INTERRUPTED));
        }
        eprintln!("warpfft: stops after this row; once more to stop at once");
    };
    // Where nothing can listen, the system's own way stays: each row is whole in the file all the same.
    let _ = ctrlc::set_handler(handler);
}

/// Whether to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

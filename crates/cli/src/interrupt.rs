//! Ctrl-C, and being told to end. Where rows are measured, the one under way is finished and written, and a second time ends the
//! program at once; elsewhere the first does. Files that are half written are taken away.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use crate::error::{CliError, code};

static LISTENING: Once = Once::new();
/// Rows are measured.
static BY_ROWS: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// From now on the first time asks to stop after a row.
pub fn listen() {
    BY_ROWS.store(true, Ordering::SeqCst);
    hear();
}

/// Whether to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Stops where that was asked for, with so many rows left.
pub fn check(left: usize) -> Result<(), CliError> {
    if asked() { Err(CliError::Interrupted { left, kept: false }) } else { Ok(()) }
}

/// A file that is no good until it is finished, for as long as this lives.
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Remembers a file.
    pub fn new(path: &Path) -> Self {
        unfinished().push(path.into());
        hear();
        Self(path.into())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().retain(|path| *path != self.0);
    }
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hear() {
    // Where nothing can listen, the system's own way stays: each row is whole in its file all the same.
    LISTENING.call_once(|| {
        let _ = ctrlc::set_handler(interrupted);
    });
}

fn interrupted() {
    if BY_ROWS.load(Ordering::SeqCst) && !ASKED.swap(true, Ordering::SeqCst) {
        eprintln!("warpfft: stops after this row; once more to stop at once");
        return;
    }
    for path in unfinished().drain(..) {
        let _ = std::fs::remove_file(path);
    }
    eprintln!("warpfft: interrupted; files that were not finished are as they were before");
    // Without what would run at an ordinary exit: a driver that is at work does not stand being taken down.
    signal_hook::low_level::exit(code::INTERRUPTED.into());
}

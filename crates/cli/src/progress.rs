//! Progress on work that takes over a second, shown only to people who watch.

use std::io::IsTerminal;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar for one stage of work; it disappears with this value.
pub struct Progress {
    bar: ProgressBar,
    watcher: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts a stage of so many bytes, or of unknown length.
    pub fn start(stage: &'static str, bytes: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(bytes, ProgressDrawTarget::hidden()).with_message(stage);
        if !std::io::stderr().is_terminal() {
            return Self { bar, watcher: None };
        }
        let template = match bytes {
            Some(_) => "{msg} {wide_bar} {bytes}/{total_bytes} {eta}",
            None => "{spinner} {msg} {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let (stop, stopped) = mpsc::channel::<()>();
        let shown = bar.clone();
        let watcher = std::thread::spawn(move || {
            if stopped.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
                // Only the end of the stage ends this wait.
                let _ = stopped.recv();
            }
        });
        Self { bar, watcher: Some((stop, watcher)) }
    }

    /// So many bytes more are done.
    pub fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, watcher)) = self.watcher.take() {
            drop(stop);
            // A bar that failed to draw is no reason to fail.
            let _ = watcher.join();
        }
        self.bar.finish_and_clear();
    }
}

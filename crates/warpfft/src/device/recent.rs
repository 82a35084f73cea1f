//! The plans made last, kept so that asking again for one of them costs nothing. Bounded by number and by what
//! they hold on the device.

use std::sync::{Mutex, PoisonError};

/// Plans kept at most.
const MOST: usize = 64;
/// Bytes on the device that they may hold together.
const MOST_BYTES: u64 = 64 << 20;

/// Values by key, the ones used last first.
pub(crate) struct Recent<T> {
    entries: Mutex<Vec<Entry<T>>>,
}

struct Entry<T> {
    key: String,
    bytes: u64,
    value: T,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { entries: Mutex::default() }
    }
}

impl<T: Clone> Recent<T> {
    /// The value of that key.
    pub fn get(&self, key: &str) -> Option<T> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let at = entries.iter().position(|entry| entry.key == key)?;
        entries[..=at].rotate_right(1);
        Some(entries[0].value.clone())
    }

    /// Keeps a value that holds so many bytes, and lets go of those that were not used for longest.
    pub fn keep(&self, key: String, bytes: u64, value: T) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let mut gone: Vec<_> = entries.extract_if(.., |entry| entry.key == key).collect();
        entries.insert(0, Entry { key, bytes, value });
        let mut sum = 0_u64;
        let fit = entries.iter().take(MOST).take_while(|entry| {
            sum = sum.saturating_add(entry.bytes);
            sum <= MOST_BYTES
        });
        let fit = fit.count();
        gone.extend(entries.drain(fit..));
        // What goes calls the driver, which may take its time.
        drop(entries);
        drop(gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_stays() {
        let recent = Recent::default();
        for i in 0..MOST {
            recent.keep(i.to_string(), 1, i);
        }
        assert_eq!(recent.get("0"), Some(0));
        recent.keep("new".into(), 1, 1000);
        assert_eq!(recent.get("0"), Some(0), "it was just used");
        assert_eq!(recent.get("1"), None, "it was the oldest");
        assert_eq!(recent.get("2"), Some(2));
        assert_eq!(recent.get("new"), Some(1000));
        assert_eq!(recent.entries.lock().expect("no panic").len(), MOST);
    }

    #[test]
    fn one_key_has_one_value() {
        let recent = Recent::default();
        recent.keep("a".into(), 1, 1);
        recent.keep("a".into(), 1, 2);
        assert_eq!(recent.get("a"), Some(2));
        assert_eq!(recent.entries.lock().expect("no panic").len(), 1);
    }

    #[test]
    fn large_values_push_others_out() {
        let recent = Recent::default();
        recent.keep("small".into(), 10, 1);
        recent.keep("large".into(), MOST_BYTES - 5, 2);
        assert_eq!((recent.get("small"), recent.get("large")), (None, Some(2)));
        recent.keep("too large".into(), MOST_BYTES + 1, 3);
        assert_eq!(recent.get("too large"), None);
        recent.keep("huge".into(), u64::MAX, 4);
        recent.keep("small".into(), 10, 5);
        assert_eq!(recent.get("small"), Some(5));
    }
}

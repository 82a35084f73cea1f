//! Machine code kept between runs, in the user's cache folder. A cache that fails is no failure: entries that
//! are missing, unreadable or damaged count as absent, and what cannot be written is not. Where the folder is full,
//! the oldest entries go.

mod prune;

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::hash::hash;

/// First bytes of an entry; the number is the format's.
const MAGIC: &[u8; 8] = b"warpfft1";
/// Bytes of an entry before its content: the first bytes, and a hash of the content.
const HEADER: usize = MAGIC.len() + 16;

/// Bytes of all entries at most, unless the environment says otherwise: some thousand plans.
const LIMIT: u64 = 512 << 20;

/// A folder of entries, or none where caching is off.
#[derive(Debug, Clone)]
pub(crate) struct DiskCache {
    folder: Option<PathBuf>,
    /// Bytes of all entries at most.
    limit: u64,
}

impl DiskCache {
    /// Where the environment says: off with `WARPFFT_CACHE=off`, in `WARPFFT_CACHE_DIR`, else in the user's cache
    /// folder; of at most `WARPFFT_CACHE_MIB` MiB.
    pub fn from_environment() -> Self {
        let off = std::env::var_os("WARPFFT_CACHE").is_some_and(|value| value.eq_ignore_ascii_case("off"));
        if off || !super::DISK_CACHE.load(Ordering::Relaxed) {
            return Self { folder: None, limit: 0 };
        }
        let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = path("WARPFFT_CACHE_DIR")
            .or_else(|| path("XDG_CACHE_HOME").map(|cache| cache.join("warpfft")))
            .or_else(|| path("LOCALAPPDATA").map(|cache| cache.join("warpfft")))
            .or_else(|| path("HOME").map(|home| home.join(".cache").join("warpfft")));
        Self { folder, limit: limit(std::env::var_os("WARPFFT_CACHE_MIB").as_deref()) }
    }

    /// The entry of that name, if it is there and whole.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        let mut entry = std::fs::read(self.folder.as_ref()?.join(name)).ok()?;
        let sum = entry.get(MAGIC.len()..HEADER)?;
        let whole = entry.starts_with(MAGIC) && sum == hash(&entry[HEADER..]).to_le_bytes();
        whole.then(|| entry.split_off(HEADER))
    }

    /// Whether there is an entry of that name; it may yet be damaged.
    pub fn has(&self, name: &str) -> bool {
        self.folder.as_ref().is_some_and(|folder| folder.join(name).is_file())
    }

    /// Whether there is an entry whose name ends so.
    pub fn has_any(&self, ending: &str) -> bool {
        let listed = self.folder.as_ref().and_then(|folder| std::fs::read_dir(folder).ok());
        listed.is_some_and(|entries| {
            entries
                .flatten()
                .any(|entry| entry.file_name().to_str().is_some_and(|name| name.ends_with(ending)))
        })
    }

    /// Writes an entry, whole or not at all; not one that would fill the cache alone.
    pub fn write(&self, name: &str, content: &[u8]) {
        let bytes = (content.len() + HEADER) as u64;
        let Some(folder) = self.folder.as_ref().filter(|_| bytes <= self.limit) else { return };
        if let Err(error) = write_whole(folder, name, content) {
            tracing::debug!(folder = %folder.display(), name, %error, "a cache entry was not written");
        }
        prune::after(folder, bytes, self.limit);
    }
}

/// Bytes that a number of MiB stands for; what is no number counts as not given.
fn limit(mebibytes: Option<&OsStr>) -> u64 {
    let given = mebibytes.and_then(OsStr::to_str).map(str::trim).filter(|text| !text.is_empty());
    let number = given.and_then(|text| text.parse::<u64>().ok());
    if let (Some(text), None) = (given, number) {
        tracing::warn!(text, "WARPFFT_CACHE_MIB is no whole number of MiB and is not used");
    }
    number.map_or(LIMIT, |mebibytes| mebibytes.saturating_mul(1 << 20))
}

fn write_whole(folder: &Path, name: &str, content: &[u8]) -> std::io::Result<()> {
    // Two processes, or two threads, may write the same entry at once: each has a file of its own until the
    // rename.
    static WRITES: AtomicU64 = AtomicU64::new(0);
    std::fs::create_dir_all(folder)?;
    let unique = format!(".{name}.{}.{}", std::process::id(), WRITES.fetch_add(1, Ordering::Relaxed));
    let temporary = folder.join(unique);
    let write = || {
        let mut file = std::fs::File::create(&temporary)?;
        file.write_all(MAGIC)?;
        file.write_all(&hash(content).to_le_bytes())?;
        file.write_all(content)?;
        drop(file);
        std::fs::rename(&temporary, folder.join(name))
    };
    write().inspect_err(|_| drop(std::fs::remove_file(&temporary)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(name: &str) -> DiskCache {
        let folder = std::env::temp_dir().join(format!("warpfft-cache-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        DiskCache { folder: Some(folder), limit: LIMIT }
    }

    #[test]
    fn what_was_written_is_read() {
        let cache = cache("whole");
        assert_eq!(cache.read("a"), None);
        cache.write("a", b"machine code");
        cache.write("a", b"newer code");
        assert_eq!(cache.read("a").as_deref(), Some(&b"newer code"[..]));
        let left = std::fs::read_dir(cache.folder.as_ref().expect("on")).expect("it exists").count();
        assert_eq!(left, 1, "no temporary file stays");
    }

    #[test]
    fn entries_are_found_by_their_ending() {
        let cache = cache("ending");
        assert!(!cache.has_any(".cubin"), "there is no folder");
        cache.write("a.plan", b"record");
        assert!(!cache.has_any(".cubin"));
        cache.write("a.cubin", b"machine code");
        assert!(cache.has_any(".cubin"));
    }

    #[test]
    fn damaged_entries_are_absent_and_rewritten() {
        let cache = cache("damaged");
        cache.write("a", b"machine code");
        let path = cache.folder.as_ref().expect("on").join("a");
        let good = std::fs::read(&path).expect("it was written");
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            std::fs::write(&path, &bad).expect("the folder is ours");
            assert_eq!(cache.read("a"), None, "byte {at}");
            std::fs::write(&path, &good[..at]).expect("the folder is ours");
            assert_eq!(cache.read("a"), None, "cut at {at}");
        }
        cache.write("a", b"machine code");
        assert_eq!(cache.read("a").as_deref(), Some(&b"machine code"[..]));
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_no_failure() {
        let cache = DiskCache { folder: Some("/dev/null/not-a-folder".into()), limit: LIMIT };
        cache.write("a", b"machine code");
        assert_eq!(cache.read("a"), None);
        let off = DiskCache { folder: None, limit: LIMIT };
        off.write("a", b"machine code");
        assert_eq!(off.read("a"), None);
    }

    #[test]
    fn the_limit_is_a_number_of_mebibytes() {
        let given = |text: &str| limit(Some(OsStr::new(text)));
        assert_eq!(limit(None), LIMIT);
        assert_eq!((given("3"), given(" 64 "), given("0")), (3 << 20, 64 << 20, 0));
        assert_eq!(given("99999999999999999"), u64::MAX);
        for text in ["", "much", "-1", "1.5", "99999999999999999999999"] {
            assert_eq!(given(text), LIMIT, "{text}");
        }
    }

    #[test]
    fn nothing_is_written_that_would_fill_the_cache_alone() {
        let cache = DiskCache { limit: 100, ..cache("alone") };
        cache.write("a", &[1; 100 - HEADER]);
        cache.write("b", &[1; 101 - HEADER]);
        assert!(cache.read("a").is_some() && cache.read("b").is_none());
        let nothing = DiskCache { limit: 0, ..cache.clone() };
        nothing.write("c", b"");
        assert_eq!(cache.read("c"), None);
    }

    #[test]
    fn a_full_cache_keeps_what_was_written_last() {
        let cache = DiskCache { limit: 10_000, ..cache("full") };
        for i in 0..100_u32 {
            let name = format!("{i:032x}.plan");
            cache.write(&name, &[i as u8; 1000 - HEADER]);
            assert_eq!(cache.read(&name), Some(vec![i as u8; 1000 - HEADER]), "entry {i}");
        }
        let folder = cache.folder.as_ref().expect("on");
        let left = std::fs::read_dir(folder).expect("it exists").flatten();
        let bytes: u64 = left.map(|entry| entry.metadata().expect("it is there").len()).sum();
        assert!((5000..=10_000).contains(&bytes), "{bytes}");
    }

    /// Others read, write and prune the same folder: an entry is there whole or absent, and nothing fails.
    #[test]
    fn many_share_a_full_cache() {
        let cache = DiskCache { limit: 20_000, ..cache("shared") };
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                let cache = &cache;
                scope.spawn(move || {
                    for i in 0..200 {
                        let which = (i * 7 + thread * 3) % 40;
                        let (name, content) = (format!("{which:032x}.cubin"), vec![which as u8; 2000]);
                        match cache.read(&name) {
                            Some(found) => assert_eq!(found, content),
                            None => cache.write(&name, &content),
                        }
                    }
                });
            }
        });
        let left = std::fs::read_dir(cache.folder.as_ref().expect("on")).expect("it exists").flatten();
        let names: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert!(
            names.iter().all(|name| name.to_str().is_some_and(|name| !name.starts_with('.'))),
            "{names:?}"
        );
        assert!((1..=9).contains(&names.len()), "{names:?}");
    }
}

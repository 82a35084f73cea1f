//! Making room in a full cache: the oldest entries go first. Other processes may write, read and make room at the same
//! time: each removes whole files, and a file that another one removed first is no failure.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// The folder is looked through when this part of the limit was written since.
const PART: u64 = 16;
/// Room is made down to this many parts.
const KEPT: u64 = 14;
/// A file half written that is older than this has nobody left who would finish it.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A file of the cache.
struct Entry {
    path: PathBuf,
    bytes: u64,
    written: SystemTime,
}

/// Makes room after that many bytes were written, where it is time to look: a process may write a part of the limit
/// before it looks again, and looks at its first entry.
pub(super) fn after(folder: &Path, bytes: u64, limit: u64) {
    static SINCE: AtomicU64 = AtomicU64::new(u64::MAX / 2);
    let since = SINCE.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
    if since > limit / PART {
        SINCE.store(0, Ordering::Relaxed);
        prune(folder, limit);
    }
}

/// Removes the oldest entries until the others take clearly less than the limit, if all take more; and what was left
/// half written.
fn prune(folder: &Path, limit: u64) {
    let Ok(listed) = std::fs::read_dir(folder) else { return };
    let now = SystemTime::now();
    let mut entries = Vec::new();
    for file in listed.flatten() {
        let name = file.file_name();
        let Some(name) = name.to_str() else { continue };
        let (whole, temporary) = (is_entry(name), name.strip_prefix('.').is_some_and(is_entry));
        let Ok(metadata) = file.metadata() else { continue };
        let Ok(written) = metadata.modified() else { continue };
        if !metadata.is_file() {
            continue;
        }
        let abandoned = temporary && now.duration_since(written).is_ok_and(|age| age > ABANDONED);
        if whole {
            entries.push(Entry { path: file.path(), bytes: metadata.len(), written });
        } else if abandoned {
            remove(&file.path());
        }
    }
    let mut total: u64 = entries.iter().map(|entry| entry.bytes).sum();
    if total <= limit {
        return;
    }
    entries.sort_by(|a, b| (a.written, &a.path).cmp(&(b.written, &b.path)));
    for entry in entries {
        if total <= limit / PART * KEPT {
            break;
        }
        remove(&entry.path);
        total -= entry.bytes;
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::debug!(path = %path.display(), %error, "a cache entry was not removed");
    }
}

/// Whether a file is the cache's by its name, which begins with a hash: the folder may be one that holds other things.
fn is_entry(name: &str) -> bool {
    let hash = name.as_bytes().get(..32);
    hash.is_some_and(|hash| hash.iter().all(u8::is_ascii_hexdigit))
        && (name.contains(".plan") || name.contains(".cubin"))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn file(folder: &Path, name: &str, bytes: usize, hours: u64) {
        let path = folder.join(name);
        std::fs::write(&path, vec![0; bytes]).expect("the folder is ours");
        let written = SystemTime::now() - Duration::from_secs(3600 * hours);
        File::options().append(true).open(&path).and_then(|file| file.set_modified(written)).expect("ours");
    }

    fn names(folder: &Path) -> Vec<String> {
        let listed = std::fs::read_dir(folder).expect("it is there").flatten();
        let mut names: Vec<String> =
            listed.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn hashed(start: char, ending: &str) -> String {
        start.to_string().repeat(32) + ending
    }

    #[test]
    fn the_oldest_go_first_and_only_what_is_the_caches() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = folder.path();
        let (old, middle, new) =
            (hashed('a', ".plan"), hashed('c', "-sm90-driver13000.cubin"), hashed('b', ".plan"));
        file(place, &old, 400, 3);
        file(place, &middle, 400, 2);
        file(place, &new, 400, 1);
        file(place, "notes.plan", 5000, 9);
        file(place, &hashed('d', ".txt"), 5000, 9);
        file(place, &format!(".{}.123.0", hashed('e', ".plan")), 5000, 9);
        file(place, &format!(".{}.124.0", hashed('f', ".plan")), 5000, 0);
        std::fs::create_dir(place.join(hashed('9', ".plan"))).expect("the folder is ours");
        let left = |gone: &[&str]| {
            let all = [&old, &middle, &new, "notes.plan", &hashed('d', ".txt"), &hashed('9', ".plan")];
            let running = format!(".{}.124.0", hashed('f', ".plan"));
            let mut left: Vec<String> = all.iter().map(ToString::to_string).chain([running]).collect();
            left.retain(|name| !gone.contains(&&**name));
            left.sort();
            left
        };
        prune(place, 1200);
        assert_eq!(names(place), left(&[]), "nothing is over the limit but what nobody will finish");
        prune(place, 1100);
        assert_eq!(names(place), left(&[&old]));
        prune(place, 1100);
        assert_eq!(names(place), left(&[&old]), "there is room");
        prune(place, 0);
        assert_eq!(names(place), left(&[&old, &middle, &new]));
        prune(&place.join("absent"), 0);
    }
}

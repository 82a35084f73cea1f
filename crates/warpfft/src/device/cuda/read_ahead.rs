//! The driver's assembler is a library of its own, of tens of megabytes, which the driver opens at the first assembly of
//! a process. Where no process has done so since the machine started, that reads a disk. So it is read while the driver
//! starts, which takes longer, on a thread that nobody waits for.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::device::cache::DiskCache;

/// The library, beside the driver's own.
const ASSEMBLER: &str = "libnvidia-ptxjitcompiler.so.1";

/// Threads that read it, each a part: disks are slow to answer, and answer many at once.
const READERS: u64 = 8;

/// Reads the assembler into the system's page cache, unless there is machine code of runs before, which does without.
/// What fails here only comes later, when the driver opens the library.
pub(super) fn read_assembler() {
    if !cfg!(target_os = "linux") || DiskCache::from_environment().has_any(".cubin") {
        return;
    }
    let named = || std::thread::Builder::new().name("warpfft-read-ahead".into());
    let started = named().spawn(move || {
        let path = std::fs::read_to_string("/proc/self/maps").ok().as_deref().and_then(beside_driver)?;
        let bytes = std::fs::metadata(&path).ok()?.len();
        let part = bytes.div_ceil(READERS);
        std::thread::scope(|scope| {
            for start in (0..bytes).step_by(part.max(1) as usize) {
                let path = &path;
                let reader = named().spawn_scoped(scope, move || read_part(path, start, part));
                drop(reader);
            }
        });
        Some(())
    });
    drop(started);
}

fn read_part(path: &Path, start: u64, bytes: u64) -> std::io::Result<u64> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(start))?;
    std::io::copy(&mut file.take(bytes), &mut std::io::sink())
}

/// The assembler's path by the list of a process's mapped files, where the driver is one of them.
fn beside_driver(maps: &str) -> Option<PathBuf> {
    // A line: addresses, rights, offset, device, inode, and from the first slash on the path.
    let mut files = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let is_driver = |path: &&Path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("libcuda.so"))
    };
    Some(files.find(is_driver)?.with_file_name(ASSEMBLER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assembler_lies_beside_the_driver() {
        let maps = "7f00-7f10 r-xp 00000000 08:01 77   /usr/lib/libc.so.6\n7f10-7f20 rw-p 00000000 00:00 0\n\
                    7f20-7f30 r-xp 00001000 08:01 78   /opt/the driver/libcuda.so.580.95\n";
        let path = beside_driver(maps).expect("the driver is there");
        assert_eq!(path, Path::new("/opt/the driver/libnvidia-ptxjitcompiler.so.1"));
        assert_eq!(beside_driver("7f00-7f10 r-xp 00000000 08:01 77 /usr/lib/libcudart.so.12\n"), None);
    }

    #[test]
    fn a_part_is_read_to_the_end_of_the_file() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), [7; 100]).expect("it is ours");
        let read = |start| read_part(file.path(), start, 30).expect("it is there");
        assert_eq!([0, 30, 90, 200].map(read), [30, 30, 10, 0]);
        assert!(read_part(Path::new("/no/such/file"), 0, 1).is_err());
    }
}

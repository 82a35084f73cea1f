//! Wisdom as a file: JSON with an entry on each line, so that two versions of it can be compared by eye.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use fs4::fs_std::FileExt;
use serde::Deserialize;

use super::{Entry, Wisdom};
use crate::error::Error;

/// What this version writes, and the latest that it reads.
const FORMAT: u64 = 1;

#[derive(Deserialize)]
struct Head {
    format: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    #[serde(rename = "format")]
    _format: u64,
    entries: Vec<Entry>,
}

/// The entries of a text.
pub(super) fn parse(text: &str, name: &str) -> Result<Vec<Entry>, Error> {
    let bad = |error: serde_json::Error| Error::Wisdom {
        path: name.to_owned(),
        line: error.line(),
        // The message's own place would say the line twice.
        detail: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
    };
    let Head { format } = serde_json::from_str(text).map_err(bad)?;
    if format != FORMAT {
        let detail = format!("format {format}, but this version reads format {FORMAT}");
        return Err(Error::Wisdom { path: name.to_owned(), line: 1, detail });
    }
    serde_json::from_str::<Content>(text).map(|content| content.entries).map_err(bad)
}

/// Entries as a text.
pub(super) fn text<'a>(entries: impl Iterator<Item = &'a Entry>) -> String {
    let lines: Vec<String> = entries
        .filter_map(|entry| serde_json::to_string(entry).ok())
        .map(|line| format!("    {line}"))
        .collect();
    let entries = if lines.is_empty() { "[]".to_owned() } else { format!("[\n{}\n  ]", lines.join(",\n")) };
    format!("{{\n  \"format\": {FORMAT},\n  \"entries\": {entries}\n}}\n")
}

fn failed(path: &Path, error: &io::Error, written: bool) -> Error {
    Error::WisdomFile { path: path.display().to_string(), written, reason: error.to_string() }
}

pub(super) fn read(path: &Path) -> Result<String, Error> {
    utf8(path, fs::read(path).map_err(|error| failed(path, &error, false))?)
}

fn utf8(path: &Path, bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Error::Wisdom { path: path.display().to_string(), line, detail: "it is not UTF-8 text".into() }
    })
}

/// Changes a file while nobody else does.
pub(super) fn update(path: &Path, change: impl FnOnce(&mut Wisdom)) -> Result<(), Error> {
    let _lock = lock(path).map_err(|error| failed(path, &error, true))?;
    // A pipe or a device could be read without an end, and is not replaced.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        let reason = io::Error::new(ErrorKind::InvalidInput, "it is no regular file; give the name of one");
        return Err(failed(path, &reason, true));
    }
    let mut wisdom = match fs::read(path) {
        Ok(bytes) => Wisdom::parse(&utf8(path, bytes)?, &path.display().to_string())?,
        Err(error) if error.kind() == ErrorKind::NotFound => Wisdom::new(),
        Err(error) => return Err(failed(path, &error, true)),
    };
    change(&mut wisdom);
    replace(path, &wisdom.to_text()).map_err(|error| failed(path, &error, true))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A lock that all programs of this machine take for that file. Not the file itself, which is replaced; and not one
/// beside it, which would stay there.
fn lock(path: &Path) -> io::Result<File> {
    let name = path.file_name().ok_or_else(|| io::Error::new(ErrorKind::IsADirectory, "it names no file"))?;
    let whole = fs::canonicalize(folder_of(path))?.join(name);
    let place = lock_place(&whole);
    let file = File::options().create(true).append(true).open(place)?;
    FileExt::lock_exclusive(&file)?;
    Ok(file)
}

fn lock_place(whole: &Path) -> PathBuf {
    // FNV-1a, the same in every build.
    let bytes = whole.as_os_str().as_encoded_bytes();
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |state, &byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    std::env::temp_dir().join(format!("warpfft-wisdom-{hash:016x}.lock"))
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays one: what it leads to is replaced, or made.
    let target = fs::canonicalize(path)
        .or_else(|_| fs::read_link(path).map(|target| folder_of(path).join(target)))
        .unwrap_or_else(|_| path.to_owned());
    if target.exists() {
        // What is protected could be renamed over all the same.
        File::options().write(true).open(&target)?;
    }
    let mut file = tempfile::Builder::new()
        .prefix(".warpfft-")
        .suffix(".part")
        .tempfile_in(folder_of(&target))
        // The temporary name means nothing to the user.
        .map_err(|error| io::Error::from(error.kind()))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    readable(file.as_file(), &target)?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// The permissions that the file had, or those of any new file: a temporary one is its owner's alone.
#[cfg(unix)]
fn readable(file: &File, target: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let before = fs::metadata(target).map(|metadata| metadata.permissions());
    file.set_permissions(before.unwrap_or_else(|_| fs::Permissions::from_mode(0o644)))
}

#[cfg(not(unix))]
fn readable(_file: &File, _target: &Path) -> io::Result<()> {
    Ok(())
}

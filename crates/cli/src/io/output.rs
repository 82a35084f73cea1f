//! Files that appear whole or not at all: written beside their place under another name, forced to the disk,
//! then renamed. What is no regular file (a pipe, a device) is written directly, since it cannot be replaced; so is what
//! stands behind the standard output, which others write to as well.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use crate::error::CliError;
use crate::interrupt::Unfinished;

/// An output that is being written. Dropped before [`Output::commit`], or interrupted, it leaves nothing behind.
pub struct Output {
    path: PathBuf,
    file: BufWriter<File>,
    /// What is renamed in the end; `None`: it is written as it stands.
    pending: Option<Pending>,
    existed: bool,
}

/// A file under another name beside its place.
struct Pending {
    file: TempPath,
    /// The place itself, with symbolic links followed.
    target: PathBuf,
    /// Takes the file away when the user interrupts.
    _unfinished: Unfinished,
}

impl Output {
    /// Begins to write: finds out early whether the place can be written.
    pub fn create(path: &Path) -> Result<Self, CliError> {
        let failed = |source, existed| CliError::Write { path: path.into(), source, existed };
        if let Some(stdout) = standard(path) {
            let file = stdout.map_err(|error| failed(error, false))?;
            return Ok(Self::direct(path, file));
        }
        let metadata = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error, false)),
        };
        let existed = metadata.is_some();
        if path.as_os_str().is_empty() {
            return Err(failed(io::Error::new(io::ErrorKind::NotFound, "the name is empty"), false));
        }
        if metadata.as_ref().is_some_and(fs::Metadata::is_dir) || path.to_string_lossy().ends_with('/') {
            return Err(CliError::OutputIsFolder { path: path.into() });
        }
        if metadata.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            let file = OpenOptions::new().write(true).open(path).map_err(|error| failed(error, true))?;
            return Ok(Self::direct(path, file));
        }
        let target = place(path, existed).map_err(|error| failed(error, existed))?;
        if existed {
            // A file may be renamed over where it must not be written: who protected it does not want that.
            OpenOptions::new().write(true).open(&target).map_err(|error| failed(error, true))?;
        }
        let temporary = beside(&target, metadata.map(|metadata| metadata.permissions()))
            .map_err(|error| failed(error, existed))?;
        let (open, file) = temporary.into_parts();
        let pending = Pending { _unfinished: Unfinished::new(&file), file, target };
        Ok(Self { path: path.into(), file: buffered(open), pending: Some(pending), existed })
    }

    /// What is written as it stands.
    fn direct(path: &Path, file: File) -> Self {
        Self { path: path.into(), file: buffered(file), pending: None, existed: false }
    }

    /// Writes through a function.
    pub fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
        write(&mut self.file).and_then(|()| self.file.flush()).map_err(|error| self.failed(error))
    }

    /// Forces what was written to the disk, so that only the renaming is left to fail.
    pub fn sync(&mut self) -> Result<(), CliError> {
        match &self.pending {
            Some(_) => self.file.get_ref().sync_all().map_err(|error| self.failed(error)),
            None => Ok(()),
        }
    }

    /// Puts the file in its place.
    pub fn commit(mut self) -> Result<(), CliError> {
        self.sync()?;
        let Some(Pending { file, target, _unfinished }) = self.pending.take() else { return Ok(()) };
        file.persist(&target).map_err(|error| self.failed(error.error))?;
        // The rename itself is only safe on disk once the folder is; not every system can do that.
        if let Ok(folder) = File::open(folder_of(&target)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    fn failed(&self, source: io::Error) -> CliError {
        CliError::Write {
            path: self.path.clone(),
            source: plain(source),
            existed: self.existed && self.pending.is_some(),
        }
    }
}

/// The standard output, where a path names it. Opened by its path, a file behind it would be written from its start, whatever
/// stands there.
#[cfg(unix)]
fn standard(path: &Path) -> Option<io::Result<File>> {
    use std::os::fd::AsFd;
    const NAMES: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    let named = NAMES.iter().any(|name| Path::new(name) == path);
    named.then(|| io::stdout().as_fd().try_clone_to_owned().map(File::from))
}

#[cfg(not(unix))]
fn standard(_path: &Path) -> Option<io::Result<File>> {
    None
}

/// Whether a path names the standard output.
pub fn is_stdout(path: &Path) -> bool {
    standard(path).is_some()
}

/// Where the file itself is to be: a link stays one, also where it points to nothing yet.
fn place(path: &Path, existed: bool) -> io::Result<PathBuf> {
    if existed {
        return fs::canonicalize(path);
    }
    match fs::read_link(path) {
        Ok(target) => Ok(folder_of(path).join(target)),
        Err(_) => Ok(path.into()),
    }
}

/// Whether two names are of one file, also before there is one.
pub fn same_place(a: &Path, b: &Path) -> bool {
    let full = |path: &Path| {
        let place = place(path, path.exists()).ok()?;
        Some(fs::canonicalize(folder_of(&place)).ok()?.join(place.file_name()?))
    };
    a == b || full(a).zip(full(b)).is_some_and(|(a, b)| a == b)
}

/// An error without the temporary name that libraries add: it means nothing to the user.
fn plain(error: io::Error) -> io::Error {
    error.raw_os_error().map_or(error, io::Error::from_raw_os_error)
}

fn buffered(file: File) -> BufWriter<File> {
    BufWriter::with_capacity(1 << 18, file)
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn beside(target: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let folder = folder_of(target);
    if !folder.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("there is no folder {}", folder.display()),
        ));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".warpfft-").suffix(".part");
    #[cfg(unix)]
    if permissions.is_none() {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: the system takes the user's mask off.
        builder.permissions(Permissions::from_mode(0o666));
    }
    let temporary = builder.tempfile_in(folder).map_err(strip)?;
    if let Some(permissions) = permissions {
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            // Still its owner's, where this user may give a file away.
            let before = fs::metadata(target)?;
            let _ = fchown(temporary.as_file(), Some(before.uid()), Some(before.gid()));
        }
        temporary.as_file().set_permissions(permissions)?;
    }
    Ok(temporary)
}

/// The library wraps the system's error together with the temporary name; only the former helps.
fn strip(error: io::Error) -> io::Error {
    let kind = error.kind();
    let inner =
        error.get_ref().and_then(|inner| inner.source()).and_then(|inner| inner.downcast_ref::<io::Error>());
    match inner.and_then(io::Error::raw_os_error) {
        Some(code) => io::Error::from_raw_os_error(code),
        None if error.raw_os_error().is_some() => plain(error),
        None => io::Error::from(kind),
    }
}

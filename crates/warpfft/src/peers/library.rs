//! Finding a library by its names, or by the path that an environment variable gives.

use libloading::Library;

use crate::error::Error;

/// Opens a library: at the path in the environment variable, or the first of the names that the system finds.
pub(super) fn open(library: &'static str, variable: &str, names: &[&str]) -> Result<Library, Error> {
    let given = std::env::var_os(variable).filter(|path| !path.is_empty());
    // SAFETY: loading a numerical library runs its initialisers, which set up its own data only; whoever sets the
    // variable says that the file is that library.
    let load = |name: &std::ffi::OsStr| unsafe { Library::new(name) };
    let absent = |reason: String| Error::PeerAbsent { library, reason, variable: variable.to_owned() };
    if let Some(path) = given {
        return load(&path).map_err(|error| absent(error.to_string()));
    }
    let found = names.iter().find_map(|name| load(name.as_ref()).ok());
    found.ok_or_else(|| absent(format!("none of {} is found", names.join(", "))))
}

/// A symbol as a function pointer. The library must outlive it.
///
/// # Safety
///
/// `F` is the type of the function of that name.
pub(super) unsafe fn function<F: Copy>(
    from: &Library,
    library: &'static str,
    name: &str,
) -> Result<F, Error> {
    // SAFETY: by this function's contract.
    let symbol = unsafe { from.get::<F>(name.as_bytes()) };
    symbol.map(|symbol| *symbol).map_err(|_| Error::PeerAbsent {
        library,
        reason: format!("the library that was found has no {name}"),
        variable: String::new(),
    })
}

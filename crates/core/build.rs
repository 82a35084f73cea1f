//! Hashes this crate's sources, so that what was compiled by one build is never taken for the work of another.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut files = vec![root.join("Cargo.toml"), root.join("build.rs")];
    collect(&root.join("src"), &mut files);
    // The order in which folders list their files differs between machines.
    files.sort();
    let mut state = 0xcbf2_9ce4_8422_2325;
    for file in &files {
        let content = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let name = file.strip_prefix(&root).unwrap_or(file).to_string_lossy().into_owned();
        state = mix(mix(state, name.as_bytes()), &content);
    }
    println!("cargo:rustc-env=WARPFFT_CORE_FINGERPRINT={state:016x}");
    // A folder stands for all files below it.
    println!("cargo:rerun-if-changed=src");
    println!("cargo:rerun-if-changed=Cargo.toml");
    println!("cargo:rerun-if-changed=build.rs");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// FNV-1a over the length and the bytes; line ends count as one, however a checkout writes them.
fn mix(state: u64, bytes: &[u8]) -> u64 {
    let length = bytes.iter().filter(|&&byte| byte != b'\r').count() as u64;
    let bytes = bytes.iter().copied().filter(|&byte| byte != b'\r');
    length
        .to_le_bytes()
        .into_iter()
        .chain(bytes)
        .fold(state, |state: u64, byte| (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

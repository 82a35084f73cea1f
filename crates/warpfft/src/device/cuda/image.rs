//! A loaded program's record: all that its launches need, and nothing that planning needed. It is what the disk
//! cache keeps for a problem, so that a plan asked for again is read and not made.

use serde::{Deserialize, Serialize};
use warpfft_core::kernel::{Access, AtRun};
use warpfft_core::problem::Problem;
use warpfft_core::program::{Binding, Launch, Program};
use warpfft_core::recipe::Recipe;
use warpfft_core::target::Limits;

use super::super::check;
use super::super::outline::{BufferOutline, KernelOutline, Outline};
use crate::error::Error;

/// Raised when the meaning of a record changes though its sources below do not.
const FORMAT: u32 = 1;

/// A hash of the sources that decide what a record holds, beside the compiler's own: a build with other ones
/// must not take this build's records for its own.
const SOURCES: u64 = mixed(&[
    include_bytes!("assemble.rs"),
    include_bytes!("image.rs"),
    include_bytes!("../check.rs"),
    include_bytes!("../outline.rs"),
]);

/// FNV-1a over all bytes of all files.
const fn mixed(files: &[&[u8]]) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    let mut file = 0;
    while file < files.len() {
        let mut at = 0;
        while at < files[file].len() {
            state = (state ^ files[file][at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            at += 1;
        }
        file += 1;
    }
    state
}

/// Widest access of any kernel, in bytes.
const MAX_ALIGN: u64 = 64;

/// Everything that decides what a problem becomes, apart from the problem: this build, the driver and the limits.
pub(super) fn identity(limits: &Limits, driver_version: i32) -> String {
    let (version, compiler) = (env!("CARGO_PKG_VERSION"), warpfft_core::FINGERPRINT);
    // The debugging form has every field, also those added later, and tells any two numbers apart.
    format!(
        "warpfft {version}, record {FORMAT}.{SOURCES:016x}.{compiler}, driver {driver_version}, {limits:?}"
    )
}

/// A problem, and the recipe for it if there is one, as a key beside an [`identity`].
pub(super) fn problem_key(problem: &Problem, recipe: Option<&Recipe>) -> String {
    match recipe {
        Some(recipe) => format!("{problem:?} by {recipe:?}"),
        None => format!("{problem:?}"),
    }
}

/// All that the launches of a program need.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Image<'a> {
    /// What it was made for, in full: a name derived from a hash could be another's.
    pub key: &'a str,
    /// Distinct kernels.
    #[serde(borrow)]
    pub kernels: Vec<KernelImage<'a>>,
    /// Launches in order.
    #[serde(with = "launches")]
    pub launches: Vec<Launch>,
    /// Contents of the tables.
    #[serde(borrow)]
    pub tables: Vec<&'a [u8]>,
    /// Bytes of workspace.
    pub workspace_bytes: u64,
}

/// A kernel as the driver loads it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KernelImage<'a> {
    pub name: &'a str,
    /// Hash of the text that it was assembled from.
    pub text: u128,
    pub threads: u32,
    pub cluster: u32,
    pub blocks: u64,
    #[serde(with = "at_run")]
    pub at_run: Option<AtRun>,
    pub shared_bytes: u32,
    /// It waits by itself for the launch before.
    pub waits: bool,
    #[serde(borrow)]
    pub buffers: Vec<BufferImage<'a>>,
    /// Machine code.
    pub code: &'a [u8],
}

/// One of a kernel's buffers.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BufferImage<'a> {
    pub name: &'a str,
    /// Bytes that the kernel may touch.
    pub bytes: u64,
    /// Bytes to whose multiple the buffer must be aligned.
    pub align: u64,
    #[serde(with = "AccessRecord")]
    pub access: Access,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Access")]
enum AccessRecord {
    Read,
    Write,
    ReadWrite,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Binding")]
enum BindingRecord {
    Input(u8),
    Output(u8),
    Workspace { offset: u64, bytes: u64 },
    Table(u16),
    Filter,
}

/// Parts of launches as records.
mod at_run {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::AtRun;

    pub fn serialize<S: Serializer>(at_run: &Option<AtRun>, to: S) -> Result<S::Ok, S::Error> {
        at_run.map(|at_run| (at_run.most, at_run.step, at_run.blocks)).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<AtRun>, D::Error> {
        let record = Option::<(u32, u32, u64)>::deserialize(from)?;
        Ok(record.map(|(most, step, blocks)| AtRun { most, step, blocks }))
    }
}

/// Launches as records.
mod launches {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Binding, BindingRecord, Launch};

    #[derive(Serialize, Deserialize)]
    struct Bound(#[serde(with = "BindingRecord")] Binding);

    pub fn serialize<S: Serializer>(launches: &[Launch], to: S) -> Result<S::Ok, S::Error> {
        let record = |launch: &Launch| {
            let bound: Vec<Bound> = launch.bindings.iter().map(|&binding| Bound(binding)).collect();
            (launch.kernel, bound)
        };
        launches.iter().map(record).collect::<Vec<_>>().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Launch>, D::Error> {
        let records = Vec::<(usize, Vec<Bound>)>::deserialize(from)?;
        let launch = |(kernel, bound): (usize, Vec<Bound>)| Launch {
            kernel,
            bindings: bound.into_iter().map(|bound| bound.0).collect(),
        };
        Ok(records.into_iter().map(launch).collect())
    }
}

impl<'a> Image<'a> {
    /// The record of a program whose kernels were assembled: of each, the hash of its text and its machine code.
    pub fn of(key: &'a str, program: &'a Program, assembled: &[(u128, &'a [u8])]) -> Result<Self, Error> {
        let tables = program.tables.iter().map(check::table_bytes).collect::<Result<_, _>>()?;
        Ok(Self { tables, ..Self::without_tables(key, program, assembled) })
    }

    /// The same without its tables, which take time to make.
    pub fn without_tables(key: &'a str, program: &'a Program, assembled: &[(u128, &'a [u8])]) -> Self {
        let kernel = |(kernel, &(text, code)): (&'a _, &(u128, &'a [u8]))| {
            let outline = KernelOutline::of(kernel);
            let buffers = outline.buffers.into_iter().zip(check::alignments(kernel));
            let buffer = |(buffer, align): (BufferOutline<'a>, u64)| {
                let BufferOutline { name, bytes, access } = buffer;
                BufferImage { name, bytes, align, access }
            };
            KernelImage {
                name: outline.name,
                text,
                threads: outline.threads,
                cluster: outline.cluster,
                blocks: outline.blocks,
                at_run: outline.at_run,
                shared_bytes: outline.shared_bytes,
                waits: outline.waits,
                buffers: buffers.map(buffer).collect(),
                code,
            }
        };
        let kernels = program.kernels.iter().map(|kernel| &**kernel);
        Self {
            key,
            kernels: kernels.zip(assembled).map(kernel).collect(),
            launches: program.launches.clone(),
            tables: Vec::new(),
            workspace_bytes: program.workspace_bytes,
        }
    }

    /// As bytes; `None` where there is no memory for them.
    pub fn encode(&self) -> Option<Vec<u8>> {
        postcard::to_allocvec(self).ok()
    }

    /// From bytes, if they are a whole record for that key.
    pub fn decode(bytes: &'a [u8], key: &str) -> Option<Self> {
        let (image, rest): (Self, _) = postcard::take_from_bytes(bytes).ok()?;
        (rest.is_empty() && image.key == key).then_some(image)
    }

    /// Whether the record hangs together, is one for this problem and fits the device: the same questions that a
    /// program is asked, so that a damaged record launches nothing.
    pub fn check(&self, problem: &Problem, limits: &Limits) -> Result<(), Error> {
        check::outline(&self.outline(problem), limits)?;
        for buffer in self.kernels.iter().flat_map(|kernel| &kernel.buffers) {
            if !buffer.align.is_power_of_two() || buffer.align > MAX_ALIGN {
                return check::malformed(format!("buffer {} is aligned to {}", buffer.name, buffer.align));
            }
        }
        Ok(())
    }

    fn outline(&'a self, problem: &'a Problem) -> Outline<'a> {
        Outline {
            problem,
            kernels: self.kernels.iter().map(KernelImage::outline).collect(),
            launches: &self.launches,
            tables: self.tables.iter().map(|table| table.len() as u64).collect(),
            workspace_bytes: self.workspace_bytes,
        }
    }
}

impl KernelImage<'_> {
    /// The kernel without its code.
    pub fn outline(&self) -> KernelOutline<'_> {
        let buffers = self.buffers.iter().map(|buffer| BufferOutline {
            name: buffer.name,
            bytes: buffer.bytes,
            access: buffer.access,
        });
        KernelOutline {
            name: self.name,
            threads: self.threads,
            cluster: self.cluster,
            blocks: self.blocks,
            at_run: self.at_run,
            shared_bytes: self.shared_bytes,
            waits: self.waits,
            buffers: buffers.collect(),
        }
    }
}

#[cfg(test)]
#[path = "image_tests.rs"]
mod tests;

//! Names of types, operations and their attributes: what printing, parsing and error messages share.

use std::fmt::{Display, Formatter, Result};

use crate::kernel::{Access, Class, Op, Place, Space, Type};

impl Type {
    /// The numeric and predicate types with their names.
    pub const SCALARS: [(Self, &'static str); 8] = [
        (Self::Bool, "bool"),
        (Self::I32, "i32"),
        (Self::U32, "u32"),
        (Self::U64, "u64"),
        (Self::F16, "f16"),
        (Self::Bf16, "bf16"),
        (Self::F32, "f32"),
        (Self::F64, "f64"),
    ];
}

impl Display for Type {
    /// Pointers by the number of their array, since a type alone does not know its name.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some((_, name)) = Self::SCALARS.iter().find(|(ty, _)| ty == self) {
            return f.write_str(name);
        }
        match self {
            Self::Ptr(Space::Global(i)) => write!(f, "ptr.global.{i}"),
            Self::Ptr(Space::Shared(i)) => write!(f, "ptr.shared.{i}"),
            Self::Ptr(Space::Remote(i)) => write!(f, "ptr.remote.{i}"),
            _ => Ok(()),
        }
    }
}

impl Access {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::ReadWrite];

    /// Name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::ReadWrite => "read_write",
        }
    }
}

impl Display for Class {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Scalar => "any type but a pointer",
            Self::Number => "a number",
            Self::Float => "a float",
            Self::Half => "a float of 16 bits",
            Self::Int => "an integer",
            Self::Bits => "an integer or a predicate",
            Self::Index => "u32 or u64",
            Self::Lane => "a 32-bit number or f64",
            Self::Pointer => "a pointer",
        })
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Any => "any array",
            Self::Global => "a global buffer",
            Self::Shared => "a shared array of the own block",
            Self::Remote => "a shared array of another block",
            Self::Cluster => "a shared array",
            Self::Declared => "a declared array",
        })
    }
}

impl Display for Op {
    /// The name with its attributes, as in the text form. The value of a constant, an access' offset and the
    /// predicate stand behind, among the arguments.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.info().name)?;
        match *self {
            Self::Load { width, cache, .. } | Self::Store { width, cache, .. } => {
                write!(f, ".{width}")?;
                if cache.name().is_empty() { Ok(()) } else { write!(f, ".{}", cache.name()) }
            }
            Self::RemoteStoreAsync { width, .. } => write!(f, ".{width}"),
            Self::BarrierInit { count } => write!(f, ".{count}"),
            Self::BulkWait { pending } => write!(f, ".{pending}"),
            Self::ClusterArrive { relaxed: true } | Self::AtomicAdd { relaxed: true } => {
                f.write_str(".relaxed")
            }
            _ => Ok(()),
        }
    }
}

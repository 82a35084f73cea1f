//! What a device must have for an operation, beyond what all have: asked by the pass that makes kernels legal, by the
//! simulator and by the emitters.

use super::{MmaShape, Op, Special};
use crate::target::{Api, Limits};

/// What some devices have, and others lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ability {
    /// Blocks that share their memory.
    Clusters,
    /// Barriers that count bytes.
    TransactionBarriers,
    /// Asynchronous copies of many bytes.
    BulkCopies,
    /// Blocks that can wait for each other, by atomics that order what they did.
    WaitingBlocks,
    /// Launches that may begin before the one before has ended.
    EarlyLaunches,
    /// Values of other lanes of the subgroup.
    Shuffles,
    /// Two floats of 16 bits in one word.
    Pairs,
    /// Products of matrices.
    Matrices(MmaShape),
}

impl Op {
    /// What it takes; `None` for what every device has.
    pub const fn ability(&self) -> Option<Ability> {
        Some(match *self {
            Self::MapRemote
            | Self::ClusterArrive { .. }
            | Self::ClusterWait
            | Self::Special(Special::ClusterRank) => Ability::Clusters,
            // Its pointer to another block is a cluster's already.
            Self::RemoteStoreAsync { .. }
            | Self::BarrierInit { .. }
            | Self::BarrierInitFence
            | Self::BarrierExpect
            | Self::BarrierArrive
            | Self::BarrierWait => Ability::TransactionBarriers,
            Self::BulkLoad
            | Self::BulkStore
            | Self::BulkCommit
            | Self::BulkWait { .. }
            | Self::BulkPrefetch { .. }
            | Self::AsyncFence => Ability::BulkCopies,
            Self::AtomicAdd { .. } | Self::AtomicLoad | Self::CounterAdd | Self::CounterWait => {
                Ability::WaitingBlocks
            }
            Self::LaunchWait => Ability::EarlyLaunches,
            Self::Shuffle(_) => Ability::Shuffles,
            Self::Pack => Ability::Pairs,
            Self::Mma(shape) => Ability::Matrices(shape),
            _ => return None,
        })
    }
}

impl Ability {
    /// Its name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clusters => "clusters",
            Self::TransactionBarriers => "transaction barriers",
            Self::BulkCopies => "bulk copies",
            Self::WaitingBlocks => "blocks that can wait for each other",
            Self::EarlyLaunches => "launches that begin early",
            Self::Shuffles => "subgroup shuffles",
            Self::Pairs => "pairs of 16-bit floats",
            Self::Matrices(_) => "matrix instructions of this shape",
        }
    }

    /// Whether a device has it.
    pub fn is_within(self, limits: &Limits) -> bool {
        match self {
            Self::Clusters => limits.max_cluster > 1,
            Self::TransactionBarriers | Self::BulkCopies => limits.bulk_copy,
            Self::WaitingBlocks => matches!(limits.api, Api::Ptx { .. }),
            Self::EarlyLaunches => matches!(limits.api, Api::Ptx { sm: 90.. }),
            Self::Shuffles => limits.shuffle,
            Self::Pairs => matches!(limits.api, Api::Ptx { .. }) && limits.f16,
            Self::Matrices(shape) => {
                let there = matches!(limits.api, Api::Ptx { sm: 80.. }) && limits.subgroup == 32;
                match shape {
                    MmaShape::M8N8K4F64 => there && limits.f64,
                    MmaShape::M16N8K8Tf32 => there,
                    MmaShape::M16N8K16F16 | MmaShape::M16N8K16Bf16 => there && limits.f16,
                }
            }
        }
    }
}

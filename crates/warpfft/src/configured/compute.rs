//! What changes from one transform to the next.

/// One transform: its direction, and where in their arrays the data are.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[must_use]
pub struct Compute {
    inverse: bool,
    at: [At; 2],
}

/// Where the data of one domain are.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct At {
    /// The rectangle's first point; empty: the array's.
    pub origin: Vec<u64>,
    pub channel: u64,
}

impl Compute {
    /// From spatial data to frequencies; both begin where their arrays do, in the first channel.
    pub fn forward() -> Self {
        Self::default()
    }

    /// From frequencies to spatial data, likewise.
    pub fn inverse() -> Self {
        Self { inverse: true, ..Self::default() }
    }

    /// The other way round, between the same places.
    pub fn inverted(self) -> Self {
        Self { inverse: !self.inverse, ..self }
    }

    /// Whether it is inverse.
    pub const fn is_inverse(&self) -> bool {
        self.inverse
    }

    /// Where in its array the rectangle of spatial data begins, one number for each dimension.
    pub fn spatial_origin(mut self, origin: &[u64]) -> Self {
        self.at[0].origin = origin.to_vec();
        self
    }

    /// The same of frequencies.
    pub fn frequency_origin(mut self, origin: &[u64]) -> Self {
        self.at[1].origin = origin.to_vec();
        self
    }

    /// Which channel of spatial data, from 0 on.
    pub fn spatial_channel(mut self, channel: u64) -> Self {
        self.at[0].channel = channel;
        self
    }

    /// The same of frequencies.
    pub fn frequency_channel(mut self, channel: u64) -> Self {
        self.at[1].channel = channel;
        self
    }

    pub(super) const fn at(&self, side: usize) -> &At {
        &self.at[side]
    }
}

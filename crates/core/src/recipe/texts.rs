//! Plans as texts.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::plan::Plan;

pub fn serialize<S: Serializer>(plans: &[Plan], to: S) -> Result<S::Ok, S::Error> {
    plans.iter().map(ToString::to_string).collect::<Vec<_>>().serialize(to)
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Plan>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    texts.iter().map(|text| text.parse().map_err(de::Error::custom)).collect()
}

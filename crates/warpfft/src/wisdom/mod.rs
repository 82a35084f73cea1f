//! What was found by timing: which recipe is the fastest for a problem on a device. A readable file, keyed by the
//! device's name and the problem; plans look it up before they ask the cost model.
//!
//! Where a device finds it: what [`Device::with_wisdom`](crate::Device::with_wisdom) gave it, else the file that the
//! environment variable `WARPFFT_WISDOM` names, else what comes with this crate. An entry for an unknown problem, or
//! one whose recipe the compiler no longer offers, changes nothing: the cost model's choice is always there.
//!
//! An entry also serves other numbers of the same transforms, where they are alike to the device:
//! [`Wisdom::recipe_near`].

mod file;
mod key;
mod near;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use warpfft_core::problem::Problem;
use warpfft_core::recipe::Recipe;
use warpfft_core::target::Limits;

use crate::error::Error;

pub use key::problem_key;

/// The environment variable that names a file of wisdom.
pub const VARIABLE: &str = "WARPFFT_WISDOM";

/// Wisdom that comes with the crate.
const SHIPPED: [(&str, &str); 2] =
    [("h100.json", include_str!("h100.json")), ("h200.json", include_str!("h200.json"))];

/// The fastest recipe found for one problem on one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The device's name.
    pub device: String,
    /// The problem, as [`problem_key`] writes it.
    pub problem: String,
    /// Time over that of a copy, as measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<f64>,
    /// The same of the cost model's choice, in the same run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<f64>,
    /// The version of this crate that measured.
    pub version: String,
    /// The day, as year-month-day.
    pub date: String,
    /// What to compile. It is kept as it was written: one of a later version is not understood here, but not lost.
    recipe: serde_json::Value,
}

impl Entry {
    /// An entry of today.
    pub fn new(
        device: &str,
        problem: &Problem,
        recipe: &Recipe,
        copies: Option<f64>,
        estimate: Option<f64>,
    ) -> Self {
        let short = |copies: f64| (copies * 1e4).round() / 1e4;
        Self {
            device: device.to_owned(),
            problem: problem_key(problem),
            copies: copies.map(short),
            estimate: estimate.map(short),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            date: time::OffsetDateTime::now_utc().date().to_string(),
            recipe: serde_json::to_value(recipe).unwrap_or_default(),
        }
    }

    /// What to compile.
    ///
    /// # Errors
    ///
    /// The recipe is of another version: why it is not understood.
    pub fn recipe(&self) -> Result<Recipe, Error> {
        Recipe::deserialize(&self.recipe)
            .map_err(|error| Error::Recipe { problem: self.problem.clone(), detail: error.to_string() })
    }
}

/// An entry's recipe, if this version understands it.
fn understood(entry: &Entry) -> Option<Recipe> {
    entry.recipe().inspect_err(|error| tracing::debug!(%error, "wisdom was not used")).ok()
}

/// Entries, one for each device and problem.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wisdom {
    entries: BTreeMap<(String, String), Entry>,
}

impl Wisdom {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// What comes with this crate.
    ///
    /// # Errors
    ///
    /// None: a test reads it.
    pub fn shipped() -> Result<Self, Error> {
        let mut all = Self::new();
        for (name, text) in SHIPPED {
            all.merge(Self::parse(text, name)?);
        }
        Ok(all)
    }

    /// From a file's text; `name` is for messages.
    ///
    /// # Errors
    ///
    /// The text is no wisdom: with the line.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let mut all = Self::new();
        file::parse(text, name)?.into_iter().for_each(|entry| all.insert(entry));
        Ok(all)
    }

    /// From a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is no wisdom.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::parse(&file::read(path)?, &path.display().to_string())
    }

    /// Adds these entries to a file, which may not be there yet: those of other problems and devices stay, also when
    /// several programs save at once. It is replaced as a whole, or not at all.
    ///
    /// # Errors
    ///
    /// What is there is no wisdom, or the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        file::update(path, |there| there.merge(self.clone()))
    }

    /// As text, an entry on a line.
    pub fn to_text(&self) -> String {
        file::text(self.entries())
    }

    /// Adds an entry, or replaces the one of that device and problem.
    pub fn insert(&mut self, entry: Entry) {
        self.entries.insert((entry.device.clone(), entry.problem.clone()), entry);
    }

    /// Adds all entries of another; where both have one, the other's counts.
    pub fn merge(&mut self, other: Self) {
        self.entries.extend(other.entries);
    }

    /// All entries, by device and problem.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// The recipe for a problem on a device of that name, if there is one that this version understands.
    pub fn recipe(&self, device: &str, problem: &Problem) -> Option<Recipe> {
        if self.entries.is_empty() {
            return None;
        }
        let entry = self.entries.get(&(device.to_owned(), problem_key(problem)))?;
        understood(entry)
    }

    /// The recipe for a problem on a device of that name; where there is none, that for the nearest number of the
    /// same transforms, if it is alike to a device with these limits: both fill it, or they differ less than
    /// twofold; and where there is none either, what there is for the same problem without its functions and shifts, of as
    /// many as a run may ask for. It may be one that the compiler does not offer for this problem.
    pub fn recipe_near(&self, device: &str, limits: &Limits, problem: &Problem) -> Option<Recipe> {
        self.recipe(device, problem)
            .or_else(|| near::nearest(&self.entries, device, limits, problem).and_then(understood))
            .or_else(|| self.recipe_near(device, limits, &near::plain(problem)?))
    }

    /// What devices use that were given nothing else: the file in the environment over what comes with this crate.
    /// Read once in a process.
    ///
    /// # Errors
    ///
    /// As [`Wisdom::load`].
    pub fn ambient() -> Result<Arc<Self>, Error> {
        static AMBIENT: OnceLock<Result<Arc<Wisdom>, Error>> = OnceLock::new();
        AMBIENT.get_or_init(|| Self::from_environment().map(Arc::new)).clone()
    }

    fn from_environment() -> Result<Self, Error> {
        let mut all = Self::shipped()?;
        if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
            all.merge(Self::load(Path::new(&path))?);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests;

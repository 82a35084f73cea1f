//! Buffers that are too long to be kept: only what is touched exists.

use std::collections::HashMap;

use super::super::Type;
use super::Memory;
use super::count::SECTOR;

/// Which pages of a buffer exist, in the order in which they were first touched, and what the others hold.
#[derive(Debug, Clone)]
pub struct Pages {
    places: HashMap<u64, usize>,
    numbers: Vec<u64>,
    /// Elements of a page, which is a sector: rows of tiles fill whole pages.
    size: u64,
    fill: fn(u64) -> f64,
}

impl Pages {
    /// No page exists yet.
    pub(super) fn new(elem: Type, fill: fn(u64) -> f64) -> Self {
        let size = SECTOR as u64 / u64::from(elem.bytes());
        Self { places: HashMap::new(), numbers: Vec::new(), size, fill }
    }

    /// Place of an element among those that exist; the contents of new pages are appended to `data`.
    pub(super) fn place(&mut self, element: u64, data: &mut Memory) -> usize {
        let (page, size) = (element / self.size, self.size);
        let slot = *self.places.entry(page).or_insert_with(|| {
            let fresh = (page * size..(page + 1) * size).map(self.fill);
            match data {
                Memory::F32(all) => all.extend(fresh.map(|x| x as f32)),
                Memory::F64(all) => all.extend(fresh),
                _ => {}
            }
            self.numbers.push(page);
            self.numbers.len() - 1
        });
        slot * size as usize + (element % size) as usize
    }

    /// The element at a place.
    pub(super) fn element(&self, place: usize) -> u64 {
        let page = self.numbers.get(place / self.size as usize).copied().unwrap_or(0);
        page * self.size + place as u64 % self.size
    }

    /// Elements of all pages that exist, with their places.
    pub(super) fn elements(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        (0..self.numbers.len() * self.size as usize).map(|place| (self.element(place), place))
    }
}

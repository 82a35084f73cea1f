//! Arrays with the memory of who touched each element last, and when.

use super::super::{Access, Buffer, Shared, Type};
use super::count::SECTOR;
use super::fault::Touch;
use super::order::{Order, Who};
use super::{GlobalBuffer, Memory, Pages};

/// Address of a thread that takes no part in an access.
pub(super) const OFF: usize = usize::MAX;

/// The last accesses to one element; a time of 0 is none in this launch.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    writer: Who,
    written: u32,
    reader: Who,
    read: u32,
}

/// What an access collides with.
pub(super) enum Clash {
    /// Nothing was ever written there.
    Unwritten,
    /// An earlier access that nothing orders.
    Race(Who, u32, Touch),
}

/// A global buffer, or one shared array of all blocks of the cluster.
pub(super) struct Array {
    pub name: String,
    pub elem: Type,
    /// Elements of the buffer, or of each block's array.
    pub len: u64,
    /// First byte in shared memory.
    pub base: usize,
    pub data: Memory,
    pub read_only: bool,
    /// Of a buffer that is too long to be kept, the part that is.
    pages: Option<Pages>,
    global: bool,
    /// Elements that hold something, for global buffers.
    filled: Vec<bool>,
    all_filled: bool,
    /// Empty for buffers that are only read: their accesses cannot race.
    cells: Vec<Cell>,
    /// Last cluster that read or wrote each sector, plus one.
    stamps: [Vec<u64>; 2],
}

impl Array {
    /// Takes a buffer's content.
    pub fn global(declared: &Buffer, buffer: &mut GlobalBuffer) -> Self {
        let data = std::mem::replace(&mut buffer.data, Memory::U32(Vec::new()));
        let filled = std::mem::take(&mut buffer.written);
        let pages = buffer.pages.take();
        let sectors = (data.len() * declared.elem.bytes() as usize).div_ceil(SECTOR);
        let read_only = declared.access == Access::Read;
        Self {
            name: declared.name.clone(),
            elem: declared.elem,
            len: declared.len,
            base: 0,
            read_only,
            pages,
            global: true,
            all_filled: filled.iter().all(|&filled| filled),
            cells: if read_only { Vec::new() } else { vec![Cell::default(); data.len()] },
            stamps: [vec![0; sectors], vec![0; sectors]],
            filled,
            data,
        }
    }

    /// A shared array, once for each block of the cluster. `None` for types that are never stored.
    pub fn shared(declared: &Shared, base: u32, cluster: u32) -> Option<Self> {
        let len = declared.len as usize * cluster as usize;
        Some(Self {
            name: declared.name.clone(),
            elem: declared.elem,
            len: declared.len.into(),
            base: base as usize,
            data: Memory::zeros(declared.elem, len)?,
            read_only: false,
            pages: None,
            global: false,
            filled: Vec::new(),
            all_filled: false,
            cells: vec![Cell::default(); len],
            stamps: [Vec::new(), Vec::new()],
        })
    }

    /// Gives a buffer its content back.
    pub fn restore(self, buffer: &mut GlobalBuffer) {
        buffer.data = self.data;
        buffer.written = self.filled;
        buffer.pages = self.pages;
    }

    /// Whether only a part of it exists.
    pub fn is_sparse(&self) -> bool {
        self.pages.is_some()
    }

    /// Elements to where they are kept, which they are from now on.
    pub fn place(&mut self, addresses: &mut [usize]) {
        let Some(pages) = &mut self.pages else { return };
        for address in addresses.iter_mut().filter(|address| **address != OFF) {
            *address = pages.place(*address as u64, &mut self.data);
        }
        let len = self.data.len();
        self.filled.resize(len, true);
        if !self.read_only {
            self.cells.resize(len, Cell::default());
        }
        let sectors = (len * self.elem.bytes() as usize).div_ceil(SECTOR);
        self.stamps.iter_mut().for_each(|stamps| stamps.resize(sectors, 0));
    }

    /// The element that is kept at a place.
    pub fn element(&self, place: usize) -> u64 {
        self.pages.as_ref().map_or(place as u64, |pages| pages.element(place))
    }

    /// A thread reads an element.
    pub fn read(&mut self, order: &Order, lane: u32, at: usize) -> Result<(), Clash> {
        if self.global && !self.all_filled && !self.filled[at] {
            return Err(Clash::Unwritten);
        }
        if self.read_only {
            return Ok(());
        }
        let cell = &mut self.cells[at];
        if !self.global && cell.written < order.start {
            return Err(Clash::Unwritten);
        }
        if cell.written != 0 && !order.before(cell.writer, cell.written, lane) {
            let touch = if Order::is_transfer(cell.writer) { Touch::AsyncWrite } else { Touch::Write };
            return Err(Clash::Race(cell.writer, cell.written, touch));
        }
        let forgotten = cell.read == 0 || (!self.global && cell.read < order.start);
        cell.reader = if forgotten || order.before(cell.reader, cell.read, lane) {
            lane
        } else {
            order.join(cell.reader, cell.read, lane)
        };
        cell.read = order.now;
        Ok(())
    }

    /// A thread writes an element; `mark` is the thread, or the transfer that it starts.
    pub fn write(&mut self, order: &Order, lane: u32, at: usize, mark: Who) -> Result<(), Clash> {
        let cell = &mut self.cells[at];
        let since = if self.global { 1 } else { order.start };
        if cell.written >= since && !order.before(cell.writer, cell.written, lane) {
            let touch = if Order::is_transfer(cell.writer) { Touch::AsyncWrite } else { Touch::Write };
            return Err(Clash::Race(cell.writer, cell.written, touch));
        }
        if cell.read >= since && !order.before(cell.reader, cell.read, lane) {
            return Err(Clash::Race(cell.reader, cell.read, Touch::Read));
        }
        *cell = Cell { writer: mark, written: order.now, reader: 0, read: 0 };
        if self.global {
            self.filled[at] = true;
        }
        Ok(())
    }

    /// Whether an element holds something, and who wrote it when, if that was in this launch.
    pub fn writer(&self, at: usize) -> Option<(Who, u32)> {
        self.cells.get(at).filter(|cell| cell.written != 0).map(|cell| (cell.writer, cell.written))
    }

    /// Whether a global element holds something.
    pub fn is_filled(&self, at: usize) -> bool {
        self.filled.get(at).copied().unwrap_or(false)
    }

    /// Counts the sectors among `addresses` that cluster `group` had not touched yet in this way.
    pub fn stamp(&mut self, addresses: &[usize], group: u64, write: bool) -> u64 {
        let bytes = self.elem.bytes() as usize;
        let stamps = &mut self.stamps[usize::from(write)];
        let mut fresh = 0;
        for &address in addresses.iter().filter(|&&address| address != OFF) {
            let stamp = &mut stamps[address * bytes / SECTOR];
            if *stamp != group + 1 {
                *stamp = group + 1;
                fresh += 1;
            }
        }
        fresh
    }
}

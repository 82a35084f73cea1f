//! Loads, stores and atomic operations.

use super::super::{Inst, Op, Space, Type};
use super::column::{Column, Elem, with_elem};
use super::count;
use super::exec::{Machine, Mask};
use super::fault::{Fault, Touch};
use super::memory::{Array, Clash, OFF};
use super::order::Who;

/// A constant distance and a number of neighbouring elements.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub width: u8,
    pub offset: i32,
}

impl Machine<'_> {
    /// The array that a space names.
    pub(super) fn array(&self, space: Space) -> Result<&Array, Fault> {
        let array = match space {
            Space::Global(i) => self.globals.get(i as usize),
            Space::Shared(i) | Space::Remote(i) => self.shared.get(i as usize),
        };
        array.ok_or_else(|| self.malformed("the array does not exist"))
    }

    /// The space that pointer argument `i` points into.
    pub(super) fn space(&self, inst: &Inst, i: usize) -> Result<Space, Fault> {
        match inst.args.get(i).and_then(|arg| self.kernel.types.get(arg.0 as usize)) {
            Some(&Type::Ptr(space)) => Ok(space),
            _ => Err(self.malformed("an argument should be a pointer")),
        }
    }

    /// Address of each thread's first element, [`OFF`] where the thread takes no part; all of them in bounds and
    /// aligned.
    pub(super) fn resolve(
        &self,
        inst: &Inst,
        arg: usize,
        shape: Shape,
        mask: &Mask,
        pred: Option<&[bool]>,
    ) -> Result<Vec<usize>, Fault> {
        let space = self.space(inst, arg)?;
        let array = self.array(space)?;
        let (at, rank) = match self.arg(inst, arg)? {
            Column::Ptr(at) => (at, None),
            Column::Remote(at, rank) => (at, Some(rank)),
            _ => return Err(self.malformed("an argument should be a pointer")),
        };
        let (width, len) = (i64::from(shape.width), array.len as i64);
        if !matches!(width, 1 | 2 | 4) || width * i64::from(array.elem.bytes()) > 16 {
            return Err(self.malformed("an access is of 1, 2 or 4 elements and at most 16 bytes"));
        }
        let own = matches!(space, Space::Shared(_)) && self.order.barriers.len() > 1;
        let mut addresses = vec![OFF; at.len()];
        for (lane, address) in addresses.iter_mut().enumerate() {
            if !mask.lanes[lane] || pred.is_some_and(|pred| !pred[lane]) {
                continue;
            }
            let first = at[lane].wrapping_add(i64::from(shape.offset));
            if first < 0 || first > len - width {
                let element = if (0..len).contains(&first) { len } else { first };
                return Err(self.out_of_bounds(lane, &array.name, element, array.len));
            }
            if first % width != 0 {
                let (at, array) = (self.site(lane), array.name.clone());
                return Err(Fault::Misaligned {
                    at,
                    array,
                    element: first as u64,
                    align: shape.width.into(),
                });
            }
            let block = match rank {
                Some(rank) => rank[lane] as usize,
                None if own => self.order.block(lane as u32) as usize,
                None => 0,
            };
            *address = block * array.len as usize + first as usize;
        }
        Ok(addresses)
    }

    /// Where the elements of a buffer are kept.
    fn place(&mut self, space: Space, mut addresses: Vec<usize>) -> Vec<usize> {
        if let Space::Global(i) = space {
            self.globals[i as usize].place(&mut addresses);
        }
        addresses
    }

    /// Counts what an instruction moves.
    fn count_access(&mut self, space: Space, addresses: &[usize], width: u8, write: bool) {
        let threads = self.kernel.threads as usize;
        match space {
            Space::Global(i) => {
                let array = &mut self.globals[i as usize];
                let bytes = array.elem.bytes() as usize;
                let sectors = count::sectors(addresses, bytes, threads, self.subgroup);
                let fresh = array.stamp(addresses, self.group, write);
                self.report.minimal_sectors += fresh;
                if write {
                    self.report.global_sectors_written += sectors;
                    self.report.minimal_sectors_written += fresh;
                } else {
                    self.report.global_sectors_read += sectors;
                    self.report.minimal_sectors_read += fresh;
                }
            }
            Space::Shared(i) => {
                let array = &self.shared[i as usize];
                let bytes = array.elem.bytes() as usize;
                let moved = bytes * width as usize;
                let (ideal, actual) = count::wavefronts(addresses, array.base, bytes, moved, threads);
                self.report.shared_accesses += ideal;
                self.report.shared_wavefronts += actual;
            }
            // Remote accesses go over the network between multiprocessors, not through these banks.
            Space::Remote(_) => {}
        }
    }

    pub(super) fn load(
        &mut self,
        inst: &Inst,
        shape: Shape,
        predicated: bool,
        mask: &Mask,
    ) -> Result<(), Fault> {
        let space = self.space(inst, 0)?;
        let pred = if predicated { Some(self.lanes::<bool>(inst, 1)?) } else { None };
        let addresses = self.resolve(inst, 0, shape, mask, pred)?;
        let addresses = self.place(space, addresses);
        if self.reaches_out(space, &addresses)? {
            self.bulk.last_remote = self.order.now;
        }
        self.count_access(space, &addresses, shape.width, false);
        self.touch_read(space, &addresses, shape.width)?;
        let array = self.array(space)?;
        let columns: Option<Vec<Column>> =
            with_elem!(array.elem, T => gather::<T>(array, &addresses, shape.width), None);
        let columns = columns.ok_or_else(|| self.malformed("the array's type cannot be loaded"))?;
        self.define(inst, columns)
    }

    pub(super) fn store(
        &mut self,
        inst: &Inst,
        shape: Shape,
        predicated: bool,
        mask: &Mask,
    ) -> Result<(), Fault> {
        let space = self.space(inst, 0)?;
        let last = 1 + shape.width as usize;
        let pred = if predicated { Some(self.lanes::<bool>(inst, last)?) } else { None };
        let addresses = self.resolve(inst, 0, shape, mask, pred)?;
        let addresses = self.place(space, addresses);
        if self.reaches_out(space, &addresses)? {
            self.bulk.last_remote = self.order.now;
        }
        self.count_access(space, &addresses, shape.width, true);
        self.touch_write(space, &addresses, shape.width, None)?;
        self.scatter(inst, space, 1, &addresses, shape.width)
    }

    /// Checks and remembers a read of `width` elements by each thread.
    pub(super) fn touch_read(&mut self, space: Space, addresses: &[usize], width: u8) -> Result<(), Fault> {
        let array = match space {
            Space::Global(i) => &mut self.globals[i as usize],
            Space::Shared(i) | Space::Remote(i) => &mut self.shared[i as usize],
        };
        for (lane, &address) in addresses.iter().enumerate().filter(|&(_, &address)| address != OFF) {
            for at in address..address + width as usize {
                if let Err(clash) = array.read(&self.order, lane as u32, at) {
                    return Err(self.clash(space, lane, at, Touch::Read, &clash));
                }
            }
        }
        Ok(())
    }

    /// Checks and remembers a write of `width` elements by each thread, or by the transfer `mark`.
    pub(super) fn touch_write(
        &mut self,
        space: Space,
        addresses: &[usize],
        width: u8,
        mark: Option<Who>,
    ) -> Result<(), Fault> {
        for (lane, &address) in addresses.iter().enumerate().filter(|&(_, &address)| address != OFF) {
            self.write_range(space, lane, address, width as usize, mark.unwrap_or(lane as u32))?;
        }
        Ok(())
    }

    /// Checks and remembers a write of `count` elements by one thread.
    pub(super) fn write_range(
        &mut self,
        space: Space,
        lane: usize,
        address: usize,
        count: usize,
        mark: Who,
    ) -> Result<(), Fault> {
        let array = match space {
            Space::Global(i) => &mut self.globals[i as usize],
            Space::Shared(i) | Space::Remote(i) => &mut self.shared[i as usize],
        };
        if array.read_only {
            let array = array.name.clone();
            let element = self.name(space, address).1;
            return Err(Fault::ReadOnly { at: self.site(lane), array, element });
        }
        for at in address..address + count {
            if let Err(clash) = array.write(&self.order, lane as u32, at, mark) {
                return Err(self.clash(space, lane, at, Touch::Write, &clash));
            }
        }
        self.check_bulk_reads(space, lane, address, count)
    }

    /// Writes the values of arguments `first ..` to each thread's elements.
    pub(super) fn scatter(
        &mut self,
        inst: &Inst,
        space: Space,
        first: usize,
        addresses: &[usize],
        width: u8,
    ) -> Result<(), Fault> {
        let array = match space {
            Space::Global(i) => &mut self.globals[i as usize],
            Space::Shared(i) | Space::Remote(i) => &mut self.shared[i as usize],
        };
        for k in 0..width as usize {
            let value = inst.args.get(first + k).and_then(|arg| self.values.get(arg.0 as usize));
            let done = value.and_then(
                |value| with_elem!(array.elem, T => scatter::<T>(array, addresses, k, value), None),
            );
            if done.is_none() {
                return Err(self.malformed("a stored value does not have the array's type"));
            }
        }
        Ok(())
    }

    /// Turns a collision into a fault.
    pub(super) fn clash(&self, space: Space, lane: usize, at: usize, touch: Touch, clash: &Clash) -> Fault {
        let (array, element) = self.name(space, at);
        let site = self.site(lane);
        match *clash {
            Clash::Unwritten => Fault::Uninitialised { at: site, array, element },
            Clash::Race(who, time, other_touch) => {
                let other = self.order.describe(who, time);
                Fault::Race { at: site, array, element, touch, other, other_touch }
            }
        }
    }

    /// Name of an array, and an address as an element of one block's part of it.
    pub(super) fn name(&self, space: Space, at: usize) -> (String, u64) {
        self.array(space).map_or_else(
            |_| (String::new(), 0),
            |array| match space {
                Space::Global(_) => (array.name.clone(), array.element(at)),
                _ => (array.name.clone(), at as u64 % array.len.max(1)),
            },
        )
    }

    /// `AtomicAdd`, `AtomicLoad` and `CounterAdd`; threads of lower index come first.
    pub(super) fn atomic(&mut self, inst: &Inst, mask: &Mask) -> Result<(), Fault> {
        let relaxed = matches!(inst.op, Op::AtomicAdd { relaxed: true });
        let by = if inst.op == Op::AtomicLoad { None } else { Some(self.lanes::<u32>(inst, 1)?.to_vec()) };
        let mut old = vec![0; mask.lanes.len()];
        let (buffer, counters) = self.counters(inst, mask)?;
        for (lane, at) in counters {
            old[lane] = self.counter(buffer, lane, at)?;
            if inst.op != Op::CounterAdd && !relaxed {
                self.order.acquire((buffer, at as u64), lane as u32);
            }
            let (Some(by), Some(data)) = (&by, u32::of_mut(&mut self.globals[buffer as usize].data)) else {
                continue;
            };
            data[at] = data[at].wrapping_add(by[lane]);
            let sum = data[at];
            if !relaxed {
                self.order.release((buffer, at as u64), lane as u32, sum);
            }
        }
        if inst.op == Op::CounterAdd { Ok(()) } else { self.define(inst, vec![Column::U32(old)]) }
    }

    /// Blocks that could still raise the counter come later: it has what it will have.
    pub(super) fn counter_wait(&mut self, inst: &Inst, mask: &Mask) -> Result<(), Fault> {
        let wanted = self.lanes::<u32>(inst, 1)?.to_vec();
        let (buffer, counters) = self.counters(inst, mask)?;
        for (lane, at) in counters {
            let (value, wanted) = (self.counter(buffer, lane, at)?, wanted[lane]);
            if value < wanted {
                let (array, element) = self.name(Space::Global(buffer), at);
                let why = format!(
                    "{array}[{element}] is {value} and is to be {wanted}, and no block that has started brings it"
                );
                return Err(Fault::Deadlock { at: self.site(lane), why });
            }
            self.order.acquire_by((buffer, at as u64), lane as u32, wanted);
        }
        Ok(())
    }

    /// The buffer of an instruction's counters, and the counter that each active thread means.
    fn counters(&self, inst: &Inst, mask: &Mask) -> Result<(u16, Vec<(usize, usize)>), Fault> {
        let Space::Global(buffer) = self.space(inst, 0)? else {
            return Err(self.malformed("atomic operations are on global buffers"));
        };
        if self.globals[buffer as usize].is_sparse() {
            return Err(self.malformed("atomic operations are on buffers that exist as a whole"));
        }
        let addresses = self.resolve(inst, 0, Shape { width: 1, offset: 0 }, mask, None)?;
        Ok((buffer, addresses.into_iter().enumerate().filter(|&(_, at)| at != OFF).collect()))
    }

    /// A counter's value.
    fn counter(&self, buffer: u16, lane: usize, at: usize) -> Result<u32, Fault> {
        let array = &self.globals[buffer as usize];
        if !array.is_filled(at) {
            return Err(self.clash(Space::Global(buffer), lane, at, Touch::Read, &Clash::Unwritten));
        }
        let data = u32::of(&array.data);
        data.map(|data| data[at]).ok_or_else(|| self.malformed("atomic operations are on U32 buffers"))
    }
}

fn gather<T: Elem>(array: &Array, addresses: &[usize], width: u8) -> Option<Vec<Column>> {
    let data = T::of(&array.data)?;
    let column = |k: usize| {
        let lanes = addresses.iter().map(|&at| if at == OFF { T::default() } else { data[at + k] });
        T::wrap(lanes.collect())
    };
    Some((0..width as usize).map(column).collect())
}

fn scatter<T: Elem>(array: &mut Array, addresses: &[usize], k: usize, value: &Column) -> Option<()> {
    let (value, data) = (T::lanes(value)?, T::of_mut(&mut array.data)?);
    for (&at, &value) in addresses.iter().zip(value) {
        if at != OFF {
            data[at + k] = value;
        }
    }
    Some(())
}

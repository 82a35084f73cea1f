//! What a step of stages in place multiplies by: factors between its stage and the later ones; and steps of long primes,
//! which take their factors one by one.

use crate::codelet;
use crate::kernel::{Cache, Cx, Value};
use crate::pass::{PartKind, TableKind};
use crate::problem::Direction;

use super::Lowering;
use super::in_place::{Step, Work};
use super::twiddle::{Powers, centre, exact_powers};
use super::twos::InTwos;

/// Where a step's factors are.
#[derive(Clone, Copy)]
struct StepTable {
    radix: u32,
    done: u64,
    powers: Powers,
    index: Value,
    constant: i64,
    exists: Option<Value>,
}

impl Lowering<'_> {
    /// A group of a long prime, each result stored as it comes: false where it is none, or where something else is done to
    /// its points as well.
    pub(super) fn group_in_twos(&mut self, step: &Step<'_>, slot: u32) -> bool {
        let radix = step.layout.registers(&self.digits);
        let plain = !step.line.part.weighted() && step.ends.is_none() && step.work != Work::Turn;
        if !plain || !codelet::comes_in_twos(radix.into()) {
            return false;
        }
        let mut x = self.take_shared(step, slot, None);
        let exists = self.exists(&step.layout, slot);
        let (ptr, base, distance) = self.place(step, slot);
        let mut places: Vec<(Value, i32)> =
            (0..i64::from(radix)).map(|r| (ptr, (base + distance * r) as i32)).collect();
        let home = step.work == Work::Home;
        let direction = if home { Direction::Inverse } else { Direction::Forward };
        let table = self.step_table(step, slot);
        let centre = self.centre(step);
        let mut known = Vec::new();
        if let Some(table) = table {
            if home {
                x.rotate_left(centre);
                let mut next = 1;
                self.each_step_factor(table, |this, w| {
                    let w = this.conjugate(w);
                    x[next] = this.b.cmul(x[next], w);
                    next += 1;
                });
            } else {
                places.rotate_left(centre);
                known = self.few_step_factors(table);
            }
        }
        let write = InTwos {
            points: &x,
            places: &places,
            on: exists,
            scale: 1.0,
            cache: Cache::Default,
            known: &known,
            powers: self.powers_in_place(step),
        };
        self.write_in_twos(&write, direction);
        true
    }

    /// The factors between this stage and the later ones: `W^(j rest)`, j the digit of this stage, rest what the
    /// later ones spell.
    pub(super) fn step_factors(&mut self, step: &Step<'_>, slot: u32) -> Vec<Option<Cx>> {
        let radix = step.layout.registers(&self.digits);
        let Some(table) = self.step_table(step, slot) else { return vec![None; radix as usize] };
        let mut factors = vec![None];
        let home = step.work == Work::Home;
        self.each_step_factor(table, |this, w| {
            factors.push(Some(if home { this.conjugate(w) } else { w }));
        });
        factors
    }

    /// Which powers a part's factors are: only a caller's filter wants digits that count from zero.
    fn powers_in_place(&self, step: &Step<'_>) -> Powers {
        if step.line.part.kind == PartKind::Filter { self.stage_powers() } else { Powers::Balanced }
    }

    /// How far results are turned to begin with the first digit of a stage.
    pub(super) fn centre(&self, step: &Step<'_>) -> usize {
        let balanced = self.powers_in_place(step) == Powers::Balanced && step.stage + 1 < step.line.stages();
        if balanced { centre(step.layout.registers(&self.digits)) as usize } else { 0 }
    }

    /// Where a step's factors are; the last stage has none.
    fn step_table(&mut self, step: &Step<'_>, slot: u32) -> Option<StepTable> {
        let (line, stage) = (step.line, step.stage);
        let done = line.index[stage] as u64;
        if done == 1 {
            return None;
        }
        // The stages of another axis have nothing to do with it.
        let axis = self.digits.all[stage].axis;
        let later = |d: usize| d > stage && self.digits.all[d].axis == axis;
        let weights: Vec<i64> =
            line.index.iter().enumerate().map(|(d, &weight)| if later(d) { weight } else { 0 }).collect();
        let radix = step.layout.registers(&self.digits);
        let at = self.linear(&step.layout, slot, &weights);
        let index = at.thread.unwrap_or_else(|| self.b.u32(0));
        let exists = self.exists(&step.layout, slot);
        let powers = self.powers_in_place(step);
        Some(StepTable { radix, done, powers, index, constant: at.constant, exists })
    }

    fn each_step_factor(&mut self, table: StepTable, take: impl FnMut(&mut Self, Cx)) {
        let exact = |this: &mut Self, row: usize, _| this.step_factor(table, row);
        self.each_power(table.radix, table.powers, exact, take);
    }

    /// Those that are loaded, by their exponents.
    fn few_step_factors(&mut self, table: StepTable) -> Vec<(u32, Cx)> {
        let exact = exact_powers(table.radix, table.powers);
        exact.into_iter().enumerate().map(|(row, j)| (j, self.step_factor(table, row))).collect()
    }

    fn step_factor(&mut self, table: StepTable, row: usize) -> Cx {
        let StepTable { radix, done, powers, index, constant, exists } = table;
        let kind = TableKind::Stage { radix, done, powers };
        self.table_load(kind, index, (row as u64 * done) as i64 + constant, exists)
    }
}

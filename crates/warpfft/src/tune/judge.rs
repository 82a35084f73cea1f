//! Whether a candidate's output is that of the cost model's choice, on random data of the whole problem.

use half::{bf16, f16};
use warpfft_core::math::double_single::{join, split};
use warpfft_core::problem::{Placement, Precision, Problem, Storage};

use crate::device::backend::HostJob;
use crate::error::Error;
use crate::measure;
use crate::plan::Plan;
use crate::room;
use crate::span;

/// Relative distance of two right outputs at most.
pub(super) fn tolerance(problem: &Problem) -> f64 {
    let computed = match problem.precision {
        Precision::F32 => 1e-5,
        Precision::F64 => 1e-13,
        Precision::DoubleSingle => 1e-12,
    };
    // What is nearly between two numbers may be rounded to either.
    let kept = problem.stored()[1].unit();
    if kept > problem.precision.unit() { 2.0 * kept } else { computed }
}

/// Two planes of bytes, aligned for any number; the second is empty for interleaved data.
#[derive(Clone)]
struct Planes {
    planes: [(Vec<u64>, usize); 2],
    /// Numbers of 8 bytes are pairs of singles.
    paired: bool,
}

/// Bytes after which random data repeats: a multiple of no large power of two, so that transforms of the usual
/// lengths differ from each other.
const PERIOD: u64 = (1 << 25) - 40;

impl Planes {
    fn noise(bytes: [u64; 2], storage: Storage, paired: bool) -> Result<Self, Error> {
        let plane = |bytes: u64| {
            let noise = measure::noise(bytes.min(PERIOD), storage, "processor")?;
            let mut words: Vec<u64> = bytemuck::pod_collect_to_vec(&noise);
            if paired && storage == Storage::F64 {
                words.iter_mut().for_each(|word| *word = bytemuck::cast(split(f64::from_bits(*word))));
            }
            let wanted = bytes.div_ceil(8) as usize;
            let full = |_| Error::OutOfMemory { device: "processor".into(), bytes, free: None };
            room::ask(bytes, "processor")?;
            words.try_reserve_exact(wanted.saturating_sub(words.len())).map_err(full)?;
            while words.len() < wanted {
                words.extend_from_within(..words.len().min(wanted - words.len()));
            }
            Ok::<_, Error>((words, bytes as usize))
        };
        Ok(Self { planes: [plane(bytes[0])?, plane(bytes[1])?], paired })
    }

    fn bytes(&self) -> [&[u8]; 2] {
        self.planes.each_ref().map(|(words, length)| &bytemuck::cast_slice(words)[..*length])
    }

    fn bytes_mut(&mut self) -> [&mut [u8]; 2] {
        self.planes.each_mut().map(|(words, length)| &mut bytemuck::cast_slice_mut(words)[..*length])
    }

    /// All numbers, one after the other.
    fn numbers(&self, storage: Storage) -> Box<dyn Iterator<Item = f64> + '_> {
        let planes = self.bytes().into_iter();
        match storage {
            Storage::F16 => {
                Box::new(planes.flat_map(bytemuck::cast_slice::<u8, f16>).copied().map(f64::from))
            }
            Storage::Bf16 => {
                Box::new(planes.flat_map(bytemuck::cast_slice::<u8, bf16>).copied().map(f64::from))
            }
            Storage::F32 => {
                Box::new(planes.flat_map(bytemuck::cast_slice::<u8, f32>).copied().map(f64::from))
            }
            Storage::F64 if self.paired => {
                Box::new(planes.flat_map(bytemuck::cast_slice::<u8, [f32; 2]>).copied().map(join))
            }
            Storage::F64 => Box::new(planes.flat_map(bytemuck::cast_slice::<u8, f64>).copied()),
        }
    }
}

/// Random input, and the output that belongs to it.
pub(super) struct Judge<'a> {
    problem: &'a Problem,
    /// `None` in place.
    input: Option<Planes>,
    /// What is in the output before; in place, the input.
    before: Planes,
    right: Planes,
}

impl<'a> Judge<'a> {
    /// Takes a plan's output for right.
    pub fn new(problem: &'a Problem, right: &Plan) -> Result<Self, Error> {
        let (read, write) = (span::read_bytes(problem)?, span::written_bytes(problem)?);
        let in_place = problem.placement == Placement::InPlace;
        let [from, to] = problem.stored();
        let paired = problem.precision == Precision::DoubleSingle;
        let before = Planes::noise(write, to, paired)?;
        let input = (!in_place).then(|| Planes::noise(read, from, paired)).transpose()?;
        let mut judge = Self { problem, input, before, right: Planes::noise([0, 0], to, paired)? };
        judge.right = judge.run(right)?;
        Ok(judge)
    }

    fn run(&self, plan: &Plan) -> Result<Planes, Error> {
        let mut output = self.before.clone();
        let input = self.input.as_ref().map(Planes::bytes);
        plan.work().run(HostJob { input, filter: &[], output: output.bytes_mut(), part: None })?;
        Ok(output)
    }

    /// Relative distance in the Euclidean norm of a plan's output from the right one.
    pub fn distance(&self, plan: &Plan) -> Result<f64, Error> {
        let got = self.run(plan)?;
        let (mut apart, mut size) = (0.0, 0.0);
        let [_, storage] = self.problem.stored();
        for (got, want) in got.numbers(storage).zip(self.right.numbers(storage)) {
            apart += (got - want).powi(2);
            size += want.powi(2);
        }
        Ok((apart / size).sqrt())
    }
}

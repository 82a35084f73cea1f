//! From a request to its problem: axes, strides and batches become dimensions.

use super::real::Asked;
use super::{Batch, Fft, Norm, storage};
use crate::error::{Error, Side, Tensor};
use crate::problem::{Dim, Direction, ELEMENT_LIMIT, Format, Kind, Problem};

impl Fft {
    /// The validated problem.
    ///
    /// # Errors
    ///
    /// Axes out of range or repeated, a wrong number of strides, packed strides that overflow, and all that
    /// [`Problem::validated`] refuses.
    pub fn build(self) -> Result<Problem, Error> {
        let (mut transform, mut batch) = (Vec::new(), Vec::new());
        let (dims, transformed) = (self.array_dims()?, self.transformed_axes()?);
        // Points along an axis on both sides: what is packed outside of them reaches over the larger.
        let mut reaches = Vec::new();
        let sides = self.sides()?;
        for (axis, (dim, transformed)) in dims.into_iter().zip(transformed).enumerate() {
            reaches.push(Reach { points: [sides[0][axis], sides[1][axis]], dim });
            if transformed { transform.push((axis, dim)) } else { batch.push(dim) }
        }
        for (axis, asked) in self.batch.iter().enumerate() {
            let dim = match *asked {
                Batch::Strided(dim) => dim,
                Batch::Packed(n) => packed_outside(n, &reaches).ok_or(Error::TooManyElements {
                    tensor: Tensor::Batch,
                    axis,
                    limit: ELEMENT_LIMIT,
                })?,
            };
            reaches.push(Reach { points: [dim.n; 2], dim });
            batch.push(dim);
        }
        if self.any_batch {
            let axes = batch.len() - self.batch.len();
            let outermost = if self.batch.len() > self.listed { batch.len() - 1 } else { axes };
            let outermost = if self.batch.is_empty() { 0 } else { outermost };
            batch.get_mut(outermost).ok_or(Error::CountNothing)?.at_run = true;
        }
        let kind = self.kind_of(&mut transform)?;
        let functions = self.numbered_functions(&transform)?;
        if kind == Kind::Complex {
            self.check_complex_sides()?;
        }
        let windows = self.windows_of(&transform)?;
        let transform: Vec<Dim> = transform.into_iter().map(|(_, dim)| dim).collect();
        let scale = self.scale * self.norm_factor(self.norm_points(&transform, &kind));
        let fits = self.fits;
        let problem = Problem {
            kind,
            transform,
            batch,
            input_offset: self.input_offset,
            output_offset: self.output_offset,
            precision: self.computed(),
            storage: self.storage,
            input: self.input,
            output: self.output,
            placement: self.placement,
            direction: self.direction,
            scale,
            max_workspace: self.max_workspace,
            windows,
            filter: None,
            functions,
        }
        .validated()?;
        if fits { storage::fitted(problem) } else { Ok(problem) }
    }

    /// Of a complex transform only the input can be real, where the whole spectrum of reals is asked for.
    fn check_complex_sides(&self) -> Result<(), Error> {
        let reals = matches!(self.asked, Asked::Whole);
        for (side, got, real) in [(Side::Input, self.input, reals), (Side::Output, self.output, false)] {
            if (got == Format::Real) != real {
                return Err(Error::KindFormat { side, real, got });
            }
        }
        Ok(())
    }

    /// The shape with its strides.
    fn array_dims(&self) -> Result<Vec<Dim>, Error> {
        let (input, output) = match &self.strides {
            Some((input, output)) => (input.clone(), output.clone()),
            None => {
                let [input, output] = self.sides()?;
                (row_major(&input)?, row_major(&output)?)
            }
        };
        for (side, strides) in [(Side::Input, &input), (Side::Output, &output)] {
            if strides.len() != self.shape.len() {
                return Err(Error::StrideCount { side, expected: self.shape.len(), got: strides.len() });
            }
        }
        let dims = self.shape.iter().zip(&input).zip(&output);
        Ok(dims.map(|((&n, &is), &os)| Dim::new(n, is, os)).collect())
    }

    /// For each dimension of the shape whether it is transformed.
    pub(super) fn transformed_axes(&self) -> Result<Vec<bool>, Error> {
        let rank = self.shape.len();
        let Some(axes) = &self.axes else { return Ok(vec![true; rank]) };
        let mut transformed = vec![false; rank];
        for &axis in axes {
            let index = resolved(axis, rank)?;
            if std::mem::replace(&mut transformed[index], true) {
                return Err(Error::AxisRepeated { axis: index });
            }
        }
        Ok(transformed)
    }

    fn norm_factor(&self, points: f64) -> f64 {
        match (self.norm, self.direction) {
            (Some(Norm::Ortho), _) => 1.0 / points.sqrt(),
            (Some(Norm::Backward), Direction::Inverse) | (Some(Norm::Forward), Direction::Forward) => {
                1.0 / points
            }
            _ => 1.0,
        }
    }
}

/// Strides of a packed row-major array.
pub(super) fn row_major(shape: &[u64]) -> Result<Vec<i64>, Error> {
    let mut strides = vec![1; shape.len()];
    let mut below = 1i64;
    for (axis, (&n, stride)) in shape.iter().zip(&mut strides).enumerate().rev() {
        *stride = below;
        // A length of 0 is refused for itself, not for the zero strides that it would make.
        below = i64::try_from(n.max(1))
            .ok()
            .and_then(|n| below.checked_mul(n))
            .ok_or(Error::TooManyElements { tensor: Tensor::Transform, axis, limit: ELEMENT_LIMIT })?;
    }
    Ok(strides)
}

/// A dimension with the points that it has on both sides.
struct Reach {
    points: [u64; 2],
    dim: Dim,
}

/// `n` repetitions outside of all dimensions given; `None` where the stride overflows.
fn packed_outside(n: u64, given: &[Reach]) -> Option<Dim> {
    let reach = |side: usize, stride: fn(&Dim) -> i64| {
        let reaches = given
            .iter()
            .map(|one| u128::from(one.points[side]) * u128::from(stride(&one.dim).unsigned_abs()));
        i64::try_from(reaches.fold(1, u128::max)).ok()
    };
    Some(Dim::new(n, reach(0, |dim| dim.is)?, reach(1, |dim| dim.os)?))
}

/// An axis counted from 0.
pub(super) fn resolved(axis: i64, rank: usize) -> Result<usize, Error> {
    let from_start = if axis < 0 { i128::from(axis) + rank as i128 } else { i128::from(axis) };
    usize::try_from(from_start).ok().filter(|&index| index < rank).ok_or(Error::AxisOutOfRange { axis, rank })
}

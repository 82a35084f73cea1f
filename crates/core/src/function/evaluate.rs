//! What functions make of elements, on the processor: one operation goes over a row of them before the next, so that each is a
//! loop that a compiler knows.

use super::{Binary, Function, Node, Unary, counted};

impl Function {
    /// What becomes of an element at these indices, computed in `f64`.
    pub fn evaluate(&self, (re, im): (f64, f64), index: &[u64]) -> (f64, f64) {
        let (mut re, mut im) = ([re], [im]);
        self.evaluate_row(&mut Vec::new(), [&mut re, &mut im], index, (usize::MAX, &[]));
        (re[0], im[0])
    }

    /// The same for elements in a row, in place: `points` are their indices along dimension `dim`, and `index` what they have in
    /// common. One operation goes over all of them before the next, in room that is kept from one row to the next.
    pub fn evaluate_row(
        &self,
        room: &mut Vec<f64>,
        parts: [&mut [f64]; 2],
        index: &[u64],
        (dim, points): (usize, &[u64]),
    ) {
        let len = parts[0].len();
        room.clear();
        room.resize(self.nodes.len() * len, 0.0);
        for (at, node) in self.nodes.iter().enumerate() {
            let (done, rest) = room.split_at_mut(at * len);
            let of = |at: u16| &done[usize::from(at) * len..][..len];
            let values = rest[..len].iter_mut();
            match *node {
                Node::Re => rest[..len].copy_from_slice(parts[0]),
                Node::Im => rest[..len].copy_from_slice(parts[1]),
                Node::Index { dim: own, times, plus, modulo } if usize::from(own) == dim => {
                    values
                        .zip(points)
                        .for_each(|(value, &i)| *value = counted(i, times, plus, modulo) as f64);
                }
                Node::Index { dim: own, times, plus, modulo } => {
                    rest[..len].fill(counted(index[usize::from(own)], times, plus, modulo) as f64);
                }
                Node::Const(bits) => rest[..len].fill(f64::from_bits(bits)),
                Node::Unary(op, a) => match op {
                    Unary::Neg => one(values, of(a), |a| -a),
                    Unary::Abs => one(values, of(a), f64::abs),
                    Unary::Sqrt => one(values, of(a), f64::sqrt),
                },
                Node::Binary(op, a, b) => match op {
                    Binary::Add => two(values, [of(a), of(b)], |a, b| a + b),
                    Binary::Sub => two(values, [of(a), of(b)], |a, b| a - b),
                    Binary::Mul => two(values, [of(a), of(b)], |a, b| a * b),
                    Binary::Div => two(values, [of(a), of(b)], |a, b| a / b),
                    Binary::Min => two(values, [of(a), of(b)], f64::min),
                    Binary::Max => two(values, [of(a), of(b)], f64::max),
                },
                Node::IfLess(a, b, yes, no) => {
                    let less = of(a).iter().zip(of(b)).map(|(a, b)| a < b);
                    let either = less.zip(of(yes)).zip(of(no));
                    values
                        .zip(either)
                        .for_each(|(value, ((less, &yes), &no))| *value = if less { yes } else { no });
                }
            }
        }
        for (part, at) in parts.into_iter().zip(self.results()) {
            part.copy_from_slice(&room[at * len..][..len]);
        }
    }
}

/// An operation on all numbers of a row.
fn one<'a>(values: impl Iterator<Item = &'a mut f64>, a: &[f64], op: impl Fn(f64) -> f64) {
    values.zip(a).for_each(|(value, &a)| *value = op(a));
}

/// The same of two.
fn two<'a>(values: impl Iterator<Item = &'a mut f64>, [a, b]: [&[f64]; 2], op: impl Fn(f64, f64) -> f64) {
    values.zip(a).zip(b).for_each(|((value, &a), &b)| *value = op(a, b));
}

#[cfg(test)]
mod tests {
    use super::super::{Value, record};

    #[test]
    fn a_row_is_what_its_elements_are() {
        let function = record(2, |x, at| {
            let far = (at.axis(1) - 3.5).abs().min(at.axis(0).sqrt()).max(x.re.clone());
            let sign = at.axis_modulo(1, 3).if_less(0.5, -1.0, x.im.clone());
            x.conj() / (far + 1.0) * sign + Value::from(at.batch(0))
        });
        let function = function.expect("it is short");
        let points: Vec<u64> = (5..12).chain([0, 1]).collect();
        let numbers = |by: f64| points.iter().map(|&i| i as f64 * by - 2.0).collect::<Vec<_>>();
        let (re, im) = (numbers(0.75), numbers(-1.25));
        let (mut row_re, mut row_im) = (re.clone(), im.clone());
        function.evaluate_row(&mut Vec::new(), [&mut row_re, &mut row_im], &[4, 99, 7], (1, &points));
        for (i, &point) in points.iter().enumerate() {
            assert_eq!(
                (row_re[i], row_im[i]),
                function.evaluate((re[i], im[i]), &[4, point, 7]),
                "{function}"
            );
        }
    }
}

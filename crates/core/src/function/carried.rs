//! Functions seen from what carries their elements: dimensions under other numbers, lines that are one of several, and
//! complex numbers whose parts are two reals of the caller's, each an element of its own.

use std::sync::Arc;

use super::symbol::reached;
use super::{Function, Functions, Node, counted};

impl Functions {
    /// With other numbers for dimensions; `None`: the index there is always 0.
    pub(crate) fn renumbered(&mut self, number: &dyn Fn(usize) -> Option<usize>) {
        for function in self.load.iter_mut().chain(&mut self.store) {
            for node in &mut Arc::make_mut(function).nodes {
                if let Node::Index { dim, plus, modulo, .. } = node {
                    match number(usize::from(*dim)) {
                        Some(other) => *dim = other as u16,
                        None => *node = fixed(0, *plus, *modulo),
                    }
                }
            }
        }
    }

    /// With numbers for dimensions that are their places in a list.
    pub(crate) fn in_order(mut self, order: &[u16]) -> Self {
        self.renumbered(&|dim| order.iter().position(|&own| usize::from(own) == dim));
        self
    }

    /// What is applied to what is read, or to what is written.
    pub(crate) fn side(&self, writes: bool) -> Option<&Arc<Function>> {
        if writes { self.store.as_ref() } else { self.load.as_ref() }
    }

    /// Of what has one index along a dimension.
    pub(crate) fn at_index(&self, dim: Option<u16>, index: u64) -> Self {
        let Some(dim) = dim else { return self.clone() };
        self.each(|function, _| function.counted(dim, 0, index as u32))
    }

    /// Of complex numbers of which the real parts alone are the caller's.
    pub(crate) fn of_reals(&self) -> Self {
        self.each(|function, _| function.of_reals())
    }

    /// Of complex numbers whose parts are two reals of the caller's, neighbours along a dimension which counts pairs.
    pub(crate) fn of_pairs(&self, dim: u16) -> Self {
        self.each(|function, _| function.of_pairs(Some(dim)))
    }

    /// With another in place of each; it is told which writes.
    pub(crate) fn each(&self, other: impl Fn(&Function, bool) -> Function) -> Self {
        let side = |writes| self.side(writes).map(|function| Arc::new(other(function, writes)));
        Self { load: side(false), store: side(true) }
    }
}

impl Function {
    /// The same function where the index along a dimension is `times` what counts it, and `plus`; 0 times: where it is
    /// one index.
    pub(crate) fn counted(&self, dim: u16, times: u32, plus: u32) -> Self {
        let node = |&node: &Node| match node {
            Node::Index { dim: own, times: steps, plus: first, modulo } if own == dim => {
                let plus = first + steps * plus;
                match times {
                    0 => fixed(0, plus, modulo),
                    _ => Node::Index { dim, times: steps * times, plus, modulo },
                }
            }
            other => other,
        };
        Self { nodes: self.nodes.iter().map(node).collect(), results: self.results }
    }

    /// The same function of what is counted from point `first` of `n` on, around the end: where the index along a dimension, which
    /// it knows as it is, is that of the point.
    pub(crate) fn counted_from(&self, dim: u16, first: u32, n: u32) -> Self {
        let index = |plus, modulo| Node::Index { dim, times: 1, plus, modulo };
        let mut nodes: Vec<Node> = Vec::with_capacity(self.nodes.len());
        let mut numbers: Vec<u16> = Vec::with_capacity(self.nodes.len());
        for &node in &self.nodes {
            let node = match node {
                Node::Index { dim: own, modulo: 0, .. } if own == dim => index(n - first, n),
                Node::Index { dim: own, modulo, .. } if own == dim => {
                    // Behind the end it goes on with point 0.
                    let at = nodes.len() as u16;
                    nodes.push(index(0, 0));
                    nodes.push(Node::Const(f64::from(first).to_bits()));
                    nodes.push(index(n - first, modulo));
                    nodes.push(index((modulo - first % modulo) % modulo, modulo));
                    Node::IfLess(at, at + 1, at + 2, at + 3)
                }
                other => other.with(|arg| numbers[usize::from(arg)]),
            };
            numbers.push(nodes.len() as u16);
            nodes.push(node);
        }
        Self { nodes, results: self.results.map(|at| numbers[usize::from(at)]) }
    }

    /// On complex numbers of which the real part alone is the caller's; the other part is left as it is.
    pub(crate) fn of_reals(&self) -> Self {
        let mut nodes = self.nodes_of(Node::Re, 0);
        let im = nodes.len() as u16;
        nodes.push(Node::Im);
        reached(&nodes, [self.results[0], im])
    }

    /// On complex numbers whose parts are two reals of the caller's, neighbours along a dimension which counts pairs.
    pub(crate) fn of_pairs(&self, dim: Option<u16>) -> Self {
        let [first, second] = [0, 1].map(|plus| match dim {
            Some(dim) => self.counted(dim, 2, plus),
            None => self.clone(),
        });
        let mut nodes = first.nodes_of(Node::Re, 0);
        let behind = nodes.len() as u16;
        nodes.extend(second.nodes_of(Node::Im, behind));
        reached(&nodes, [self.results[0], behind + self.results[0]])
    }

    /// The operations on a real that stands in that part, with so many others before them.
    fn nodes_of(&self, part: Node, before: u16) -> Vec<Node> {
        let node = |&node: &Node| match node {
            Node::Re => part,
            Node::Im => Node::Const(0),
            other => other.with(|arg| before + arg),
        };
        self.nodes.iter().map(node).collect()
    }
}

/// An index that is always the same.
fn fixed(times: u32, plus: u32, modulo: u32) -> Node {
    Node::Const((counted(0, times, plus, modulo) as f64).to_bits())
}

#[cfg(test)]
mod tests {
    use super::super::{Value, record};
    use super::*;

    fn odd() -> Function {
        let odd = record(2, |x, at| {
            let sign = 1.0 - at.axis_modulo(0, 2) * 2.0 + at.axis_modulo(1, 3);
            x.clone().conj() * (at.axis(0) + 0.5) * sign + Value::from(x.im)
        });
        odd.expect("it is short")
    }

    #[test]
    fn both_parts_of_a_number_are_elements() {
        let (one, both) = (odd(), odd().of_pairs(Some(0)));
        for i in 0..7 {
            let alone = |x: f64, index: u64| one.evaluate((x, 0.0), &[index, 4]).0;
            let wanted = (alone(1.25, 2 * i), alone(-0.75, 2 * i + 1));
            assert_eq!(both.evaluate((1.25, -0.75), &[i, 4]), wanted, "{both}");
        }
        let single = odd().of_reals();
        assert_eq!(single.evaluate((3.0, 7.0), &[5, 1]), (one.evaluate((3.0, 0.0), &[5, 1]).0, 7.0));
    }

    #[test]
    fn indices_are_counted_from_a_point_around_the_end() {
        let (one, n) = (odd(), 10);
        for first in 0..n {
            let moved = one.counted_from(0, first, n);
            for i in 0..u64::from(n) {
                let point = (i + u64::from(first)) % u64::from(n);
                assert_eq!(
                    moved.evaluate((1.5, -2.0), &[point, 4]),
                    one.evaluate((1.5, -2.0), &[i, 4]),
                    "{moved}"
                );
            }
        }
    }

    #[test]
    fn indices_are_counted_in_steps_and_from_one_on() {
        let one = odd();
        let (steps, fixed) = (one.counted(0, 2, 1).counted(0, 3, 2), one.counted(0, 0, 9));
        assert_eq!(steps.evaluate((1.0, 2.0), &[4, 5]), one.evaluate((1.0, 2.0), &[2 * (3 * 4 + 2) + 1, 5]));
        assert_eq!(fixed.evaluate((1.0, 2.0), &[4, 5]), one.evaluate((1.0, 2.0), &[9, 5]));
        assert!(fixed.dims().all(|dim| dim == 1));
        let mut moved = Functions { load: Some(Arc::new(one.counted(1, 1, 2))), store: None };
        moved.renumbered(&|dim| (dim == 0).then_some(0));
        let moved = moved.load.expect("it is there");
        assert_eq!(moved.evaluate((1.0, 2.0), &[3]), one.evaluate((1.0, 2.0), &[3, 2]));
    }
}

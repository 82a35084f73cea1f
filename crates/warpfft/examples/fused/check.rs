//! Whether what is fast is right.

use std::io::Write;
use std::time::Duration;

use num_complex::Complex;
use warpfft::Plan;

use crate::race::registers;
use crate::search::Variant;
use crate::{Bench, Outcome};

/// Relative difference to the program of two launches: both round, in another order.
const CLOSE: f64 = 1e-6;

impl Bench {
    /// The fastest once more, and whether they are right.
    pub fn finals(&self, plain: &Plan, done: &[(f64, Variant, Plan)]) -> Outcome {
        let fastest = &done[..done.len().min(5)];
        for (copies, variant, plan) in fastest {
            println!("{} BEST {copies:.3} {} | {}", self.name, variant.text(), registers(plan));
        }
        std::io::stdout().flush()?;
        let input = noise(self.problem.elements());
        let expected = output(plain, &input)?;
        for (_, variant, plan) in &fastest[..fastest.len().min(3)] {
            let measured = plan.measure(Duration::from_millis(100))?.copies();
            let difference = (0..2).try_fold(0.0_f64, |worst, _| -> Outcome<f64> {
                let difference = difference(&output(plan, &input)?, &expected);
                // What is no number is no small difference.
                Ok(if difference.is_nan() { f64::INFINITY } else { worst.max(difference) })
            })?;
            let verdict = if difference < CLOSE { "right" } else { "WRONG" };
            println!("{} {verdict} {difference:.1e} {measured:.3} {}", self.name, variant.text());
            std::io::stdout().flush()?;
        }
        Ok(())
    }
}

fn output(plan: &Plan, input: &[Complex<f32>]) -> Outcome<Vec<Complex<f32>>> {
    let mut output = vec![Complex::default(); input.len()];
    plan.run_host(input, &mut output)?;
    Ok(output)
}

fn difference(got: &[Complex<f32>], expected: &[Complex<f32>]) -> f64 {
    let (mut apart, mut size) = (0.0_f64, 0.0_f64);
    for (x, y) in got.iter().zip(expected) {
        apart += f64::from(x.re - y.re).powi(2) + f64::from(x.im - y.im).powi(2);
        size += f64::from(y.re).powi(2) + f64::from(y.im).powi(2);
    }
    (apart / size).sqrt()
}

/// Numbers that do not repeat soon.
fn noise(count: u64) -> Vec<Complex<f32>> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0) as f32
    };
    (0..count).map(|_| Complex::new(next(), next())).collect()
}

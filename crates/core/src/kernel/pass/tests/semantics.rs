//! No pass changes what a kernel computes: random kernels, evaluated before and after.

use proptest::prelude::*;

use super::*;
use crate::kernel::{Cmp, Op};

/// A random kernel: loads, arithmetic of all kinds on what is there, stores of the last values.
fn random_kernel(rows: &[(u8, u32, u32, u32)]) -> Kernel {
    // Written by hand and not by the builder, which would simplify already.
    let mut text =
        String::from("%0: u32 = lane\n%1: ptr.global.in = addr %0\n%2: ptr.global.out = addr %0\n");
    let (mut floats, mut ints, mut bools) = (Vec::new(), vec![0], Vec::new());
    let mut next = 3;
    for i in 0..4 {
        text += &format!("%{next}: f32 = load.1 %1 +{i}\n");
        floats.push(next);
        next += 1;
    }
    let pick = |from: &[u32], i: u32| from[from.len() - 1 - (i as usize % from.len().min(7))];
    for &(op, a, b, c) in rows {
        let (x, y, z) = (pick(&floats, a), pick(&floats, b), pick(&floats, c));
        let (i, j) = (pick(&ints, a), pick(&ints, b));
        let float = ["0.0", "1.0", "-1.0", "0.5", "-3.25", "0.70710677"][a as usize % 6];
        let int = ["0", "1", "2", "5", "31", "4294967295"][b as usize % 6];
        let (kind, line) = match op % 20 {
            0 | 1 => ("f32", format!("add %{x}, %{y}")),
            2 | 3 => ("f32", format!("sub %{x}, %{y}")),
            4 => ("f32", format!("mul %{x}, %{y}")),
            5 | 6 => ("f32", format!("neg %{x}")),
            7 | 8 => ("f32", format!("fma %{x}, %{y}, %{z}")),
            9 | 10 => ("f32", format!("const {float}")),
            11 => ("u32", format!("const {int}")),
            12 => ("u32", format!("add %{i}, %{j}")),
            13 => ("u32", format!("{} %{i}, %{j}", ["mul", "sub", "min", "max"][c as usize % 4])),
            14 => ("u32", format!("{} %{i}, %{j}", ["and", "or", "xor", "mul_hi"][c as usize % 4])),
            15 => ("bool", format!("cmp.{} %{i}, %{j}", ["lt", "ge", "eq", "ne"][c as usize % 4])),
            16 => ("bool", format!("cmp.{} %{x}, %{y}", ["lt", "ge", "eq", "ne"][c as usize % 4])),
            17 if !bools.is_empty() => ("f32", format!("select %{}, %{x}, %{y}", pick(&bools, c))),
            18 => ("u32", format!("{} %{i}, %{j}", ["shl", "shr"][c as usize % 2])),
            _ => ("f32", format!("convert %{i}")),
        };
        text += &format!("%{next}: {kind} = {line}\n");
        match kind {
            "f32" => floats.push(next),
            "u32" => ints.push(next),
            _ => bools.push(next),
        }
        next += 1;
    }
    for (at, value) in floats.iter().rev().take(6).enumerate() {
        text += &format!("store.1 %2 +{at}, %{value}\n");
    }
    kernel(&text)
}

/// What a straight-line kernel stores, in the order of the stores.
fn evaluate(kernel: &Kernel, input: &[f32]) -> Vec<f32> {
    let mut values = vec![0_u32; kernel.types.len()];
    let mut stored = Vec::new();
    for inst in &kernel.body.insts {
        let bits = |i: usize| values[inst.args[i].0 as usize];
        let x = |i: usize| f32::from_bits(bits(i));
        let arg_float = inst.args.first().is_some_and(|&v| kernel.ty(v).is_float());
        let result = match inst.op {
            Op::Store { .. } => {
                stored.push(x(1));
                continue;
            }
            Op::Load { offset, .. } => input[offset as usize].to_bits(),
            Op::Const(k) if kernel.ty(inst.results[0]).is_float() => (f64::from_bits(k) as f32).to_bits(),
            Op::Const(k) => k as u32,
            Op::Special(_) => 3,
            Op::Addr => 0,
            Op::Add if arg_float => (x(0) + x(1)).to_bits(),
            Op::Sub if arg_float => (x(0) - x(1)).to_bits(),
            Op::Mul if arg_float => (x(0) * x(1)).to_bits(),
            Op::Neg => (-x(0)).to_bits(),
            Op::Fma => x(0).mul_add(x(1), x(2)).to_bits(),
            Op::Convert => (bits(0) as f32).to_bits(),
            Op::Add => bits(0).wrapping_add(bits(1)),
            Op::Sub => bits(0).wrapping_sub(bits(1)),
            Op::Mul => bits(0).wrapping_mul(bits(1)),
            Op::MulHi => ((u64::from(bits(0)) * u64::from(bits(1))) >> 32) as u32,
            Op::Min => bits(0).min(bits(1)),
            Op::Max => bits(0).max(bits(1)),
            Op::And => bits(0) & bits(1),
            Op::Or => bits(0) | bits(1),
            Op::Xor => bits(0) ^ bits(1),
            Op::Shl => bits(0).checked_shl(bits(1)).unwrap_or(0),
            Op::Shr => bits(0).checked_shr(bits(1)).unwrap_or(0),
            Op::Select => bits(if bits(0) == 1 { 1 } else { 2 }),
            Op::Cmp(cmp) if arg_float => cmp.holds(x(0).partial_cmp(&x(1))).into(),
            Op::Cmp(cmp) => cmp.holds(Some(bits(0).cmp(&bits(1)))).into(),
            other => panic!("the random kernels have no {other}"),
        };
        values[inst.results[0].0 as usize] = result;
    }
    stored
}

/// One thread, so that everything may be kept as bits of 32-bit values.
fn agree(expected: &[f32], got: &[f32]) -> bool {
    let same = |(a, b): (&f32, &f32)| a == b || (a.is_nan() && b.is_nan());
    expected.len() == got.len() && expected.iter().zip(got).all(same)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn passes_keep_what_a_kernel_computes(
        rows in prop::collection::vec(any::<(u8, u32, u32, u32)>(), 1..80),
        input in prop::collection::vec(-4.0_f32..4.0, 4),
    ) {
        let start = random_kernel(&rows);
        let expected = evaluate(&start, &input);
        let mut kernel = start.clone();
        let passes: [fn(&mut Kernel); 4] = [simplify, |k| { share(k); }, drop_dead, order];
        for pass in passes {
            let live = max_live(&kernel);
            pass(&mut kernel);
            kernel = verify(kernel).expect("a pass keeps the form").into_inner();
            let got = evaluate(&kernel, &input);
            prop_assert!(agree(&expected, &got), "{:?} became {:?}\n{}\n{}", expected, got, start, kernel);
            if pass as usize == passes[3] as usize {
                prop_assert!(max_live(&kernel) <= live, "{} registers, before {}", max_live(&kernel), live);
            }
        }
        let best = optimise(start.clone(), &Limits::h200()).expect("it is legal");
        prop_assert!(agree(&expected, &evaluate(&best, &input)), "{}\n{}", start, *best);
        let twice = optimise((*best).clone(), &Limits::h200()).expect("it is legal");
        prop_assert!(twice.body.insts.len() <= best.body.insts.len());
        prop_assert_eq!(parse(&print(&best)), Ok(best.into_inner()));
    }

    #[test]
    fn builder_and_simplifier_fold_comparisons_alike(a: u32, b: u32, which in 0..6_usize) {
        let cmp = Cmp::ALL[which];
        let text = format!(
            "%0: u32 = const {a}\n%1: u32 = const {b}\n%2: bool = {} %0, %1\n%3: ptr.global.in = addr %0\n\
             %4: f32 = load.1 %3 if %2\n%5: ptr.global.out = addr %0\nstore.1 %5, %4\n",
            cmp.name()
        );
        let text = after(&text, simplify);
        prop_assert_eq!(text.contains("load"), cmp.holds(Some(a.cmp(&b))));
    }
}

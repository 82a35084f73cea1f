//! Each rewrite, and that no pass changes what a kernel computes.

use proptest::prelude::*;

use super::*;
use crate::kernel::text::{parse, print};
use crate::kernel::{Cmp, Op};

const HEAD: &str = "\
kernel k threads=1 blocks=2 cluster=2 min_blocks=0
buffer in: f32[64] read
buffer out: f32[64] read_write
shared tile: f32[64]
body:
";

/// The kernel of these lines.
fn kernel(lines: &str) -> Kernel {
    let kernel = parse(&format!("{HEAD}{lines}")).expect("the test's own text");
    verify(kernel).expect("the test's own kernel").into_inner()
}

/// The lines behind the head after a pass; constants that nothing uses are dropped.
fn after(lines: &str, pass: impl FnOnce(&mut Kernel)) -> String {
    let mut kernel = kernel(lines);
    pass(&mut kernel);
    drop_dead(&mut kernel);
    renumber(&mut kernel);
    let kernel = verify(kernel).expect("a pass keeps the form");
    print(&kernel).strip_prefix(HEAD).expect("a pass keeps the head").to_owned()
}

/// Simplifies lines that compute from x in %3 and y in %4, and ends with a store of the last value. What stands
/// before the lines is left out of the answer.
fn simplified(lines: &str, last: u32) -> String {
    let start = "%0: u32 = lane\n%1: ptr.global.in = addr %0\n%2: ptr.global.out = addr %0\n%3: f32 = load.1 %1\n\
                 %4: f32 = load.1 %1 +1\nstore.1 %2 +8, %3\nstore.1 %2 +9, %4\n";
    let text = after(&format!("{start}{lines}\nstore.1 %2, %{last}\n"), simplify);
    text.lines().skip(start.lines().count()).map(str::trim).collect::<Vec<_>>().join("; ")
}

#[test]
fn signs_move_to_where_they_cost_nothing() {
    let cases = [
        ("%5: f32 = neg %3\n%6: f32 = neg %5", 6, "store.1 %2, %3"),
        ("%5: f32 = neg %4\n%6: f32 = add %3, %5", 6, "%5: f32 = sub %3, %4; store.1 %2, %5"),
        ("%5: f32 = neg %3\n%6: f32 = add %5, %4", 6, "%5: f32 = sub %4, %3; store.1 %2, %5"),
        ("%5: f32 = neg %4\n%6: f32 = sub %3, %5", 6, "%5: f32 = add %3, %4; store.1 %2, %5"),
        ("%5: f32 = sub %3, %4\n%6: f32 = neg %5", 6, "%5: f32 = sub %4, %3; store.1 %2, %5"),
        (
            "%5: f32 = neg %3\n%6: f32 = neg %4\n%7: f32 = mul %5, %6",
            7,
            "%5: f32 = mul %3, %4; store.1 %2, %5",
        ),
        (
            "%5: f32 = neg %3\n%6: f32 = neg %4\n%7: f32 = fma %5, %6, %3",
            7,
            "%5: f32 = fma %3, %4, %3; store.1 %2, %5",
        ),
        (
            "%5: f32 = neg %3\n%6: f32 = const 0.5\n%7: f32 = mul %5, %6",
            7,
            "%5: f32 = const -0.5; %6: f32 = mul %3, %5; store.1 %2, %6",
        ),
        (
            "%5: f32 = neg %4\n%6: f32 = const 0.5\n%7: f32 = fma %6, %3, %5\n%8: f32 = neg %7",
            8,
            "%5: f32 = const -0.5; %6: f32 = fma %5, %3, %4; store.1 %2, %6",
        ),
        ("%5: f32 = const -1.0\n%6: f32 = mul %5, %3", 6, "%5: f32 = neg %3; store.1 %2, %5"),
        ("%5: f32 = const -1.0\n%6: f32 = fma %3, %5, %4", 6, "%5: f32 = sub %4, %3; store.1 %2, %5"),
        ("%5: f32 = const 0.0\n%6: f32 = fma %3, %4, %5", 6, "%5: f32 = mul %3, %4; store.1 %2, %5"),
    ];
    for (lines, last, expected) in cases {
        assert_eq!(simplified(lines, last), expected, "{lines}");
    }
}

#[test]
fn floats_are_neither_reassociated_nor_contracted() {
    let cases = [
        ("%5: f32 = mul %3, %4\n%6: f32 = add %5, %3", 6),
        ("%5: f32 = const 0.5\n%6: f32 = add %3, %5\n%7: f32 = add %6, %5", 7),
        ("%5: f32 = const 0.5\n%6: f32 = mul %3, %5\n%7: f32 = mul %6, %5", 7),
        ("%5: f32 = sub %3, %3", 5),
        ("%5: f32 = const 0.0\n%6: f32 = mul %3, %5", 6),
    ];
    for (lines, last) in cases {
        let kept = simplified(lines, last);
        let names = |text: &str| -> Vec<String> {
            let words = text.split_whitespace().map(str::to_owned);
            words.filter(|word| matches!(word.as_str(), "mul" | "add" | "sub" | "fma")).collect()
        };
        assert_eq!(names(&kept), names(lines), "{kept}");
    }
}

#[test]
fn integer_chains_become_one_step() {
    let chain = |op: &str, k: u32, l: u32| {
        let lines = format!(
            "%0: u32 = lane\n%1: u32 = const {k}\n%2: u32 = const {l}\n%3: u32 = {op} %0, %1\n\
             %4: u32 = {op} %3, %2\n%5: ptr.global.out = addr %4\n%6: f32 = const 1.0\nstore.1 %5, %6\n"
        );
        let text = after(&lines, simplify);
        let constant = text.lines().find(|line| line.contains("u32 = const")).unwrap_or_default();
        (
            text.matches(&format!("= {op} ")).count(),
            constant.rsplit(' ').next().unwrap_or_default().to_owned(),
        )
    };
    assert_eq!(chain("add", 5, 7), (1, "12".into()));
    assert_eq!(chain("add", u32::MAX, 7), (1, "6".into()));
    assert_eq!(chain("mul", 5, 7), (1, "35".into()));
    assert_eq!(chain("and", 12, 10), (1, "8".into()));
    assert_eq!(chain("shl", 2, 3), (1, "5".into()));
    assert_eq!(chain("shr", 20, 20).0, 2, "shifts by 40 in all are not one shift");
}

#[test]
fn decided_predicates_and_branches_go() {
    let lines = |on| {
        format!(
            "%0: u32 = lane\n%1: ptr.global.in = addr %0\n%2: ptr.global.out = addr %0\n%3: bool = const {on}\n\
             %4: f32 = load.1 %1 if %3\nif %3 {{\n  store.1 %2, %4 if %3\n}}\n"
        )
    };
    let on = after(&lines(true), simplify);
    assert!(on.contains("load.1") && on.contains("store.1") && !on.contains("if"), "{on}");
    let off = after(&lines(false), simplify);
    assert_eq!(off, "");
}

#[test]
fn loops_of_no_and_of_one_turn_go() {
    let lines = |hi| {
        format!(
            "%0: u32 = lane\n%1: ptr.global.out = addr %0\n%2: f32 = const 2.0\n%3: u32 = const 0\n\
             %4: u32 = const {hi}\n%5: u32 = const 8\n%6: f32 = loop %3, %4, %5, %2 {{\n  params %7: u32, %8: f32\n  \
             %9: f32 = add %8, %2\n  yield %9\n}}\nstore.1 %1, %6\n"
        )
    };
    assert!(after(&lines(0), simplify).contains("const 2.0"));
    let one = after(&lines(8), simplify);
    assert!(one.contains("const 4.0") && !one.contains("loop"), "{one}");
    assert!(after(&lines(9), simplify).contains("loop"));
}

#[test]
fn constant_pointer_steps_go_into_offsets() {
    let lines = "%0: u32 = lane\n%1: ptr.global.in = addr %0\n%2: u64 = const 6\n%3: ptr.global.in = ptr_add %1, %2\n\
                 %4: ptr.global.in = ptr_add %3, %2\n%5: f32 = load.1 %4 -2\n%6: ptr.global.out = addr %0\n\
                 store.1 %6, %5\n";
    let text = after(lines, simplify);
    assert!(text.contains("load.1 %1 +10") && !text.contains("ptr_add"), "{text}");
}

#[test]
fn equal_instructions_are_shared_within_their_scope() {
    let lines = "%0: u32 = lane\n%1: u32 = block_index\n%2: u32 = add %0, %1\n%3: u32 = add %1, %0\n\
                 %4: u32 = sub %0, %1\n%5: u32 = sub %1, %0\n%6: u32 = mul %2, %3\n%7: u32 = mul %4, %5\n\
                 %8: u32 = add %6, %7\n%9: ptr.global.out = addr %8\n%10: f32 = const 1.0\n%11: bool = cmp.lt %0, %1\n\
                 if %11 {\n%12: u32 = add %0, %1\n%13: u32 = rem %12, %0\n%14: ptr.global.out = addr %13\n\
                 store.1 %14, %10\n}\nif %11 {\n%15: u32 = rem %2, %0\n%16: ptr.global.out = addr %15\nstore.1 %16, %10\n}\n\
                 store.1 %9, %10\n";
    let text = after(lines, |k| assert!(share(k)));
    assert_eq!(text.matches("add").count() - text.matches("addr").count(), 2, "{text}");
    assert_eq!(text.matches("sub").count(), 2, "{text}");
    assert_eq!(text.matches("rem").count(), 2, "what one branch knows, the next does not: {text}");
}

#[test]
fn what_acts_is_kept_and_nothing_else() {
    let lines = "%0: u32 = lane\n%1: ptr.global.in = addr %0\n%2: f32 = load.1 %1\n%3: u32 = const 4\n\
                 %4: f32 = loop %0, %3, %3, %2 {\nparams %5: u32, %6: f32\n%7: f32 = mul %6, %6\nyield %7\n}\n\
                 %8: bool = cmp.lt %0, %3\nif %8 {\n%9: f32 = load.1 %1 +1\n}\nbarrier\n\
                 loop %0, %3, %3 {\nparams %10: u32\nbarrier\n}\n";
    let text = after(lines, |_| {});
    assert!(!text.contains("load") && !text.contains("mul") && !text.contains("if"), "{text}");
    assert_eq!(text.matches("barrier").count(), 2, "{text}");
}

#[test]
fn addresses_sink_and_butterflies_stay() {
    let lines = "%0: u32 = lane\n%1: ptr.global.in = addr %0\n%2: ptr.global.out = addr %0\n\
                 %3: f32 = load.1 %1\n%4: f32 = load.1 %1 +1\n%5: f32 = add %3, %4\n%6: f32 = sub %3, %4\n\
                 %7: f32 = mul %5, %5\nstore.1 %2, %7\nstore.1 %2 +1, %6\n";
    let before = max_live(&kernel(lines));
    let mut ordered = kernel(lines);
    order(&mut ordered);
    let text = print(&ordered);
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} in {text}"));
    assert!(at("ptr.global.out = addr") > at("= mul"), "{text}");
    assert!(at("= sub") < at("= mul"), "{text}");
    assert!(max_live(&ordered) < before, "{text}");
}

#[test]
fn live_registers_are_counted() {
    assert_eq!(max_live(&kernel("barrier\n")), 0);
    let lines = "%0: u32 = lane\n%1: ptr.global.in = addr %0\n%2: f32 = load.1 %1\n%3: f32 = load.1 %1 +1\n\
                 %4: f32 = add %2, %3\nstore.1 %5, %4\n";
    let text = lines.replace("store.1 %5", "%5: ptr.global.out = addr %0\nstore.1 %5");
    // At its widest: lane, pointer (2), first load; the pointer ends with the second load.
    assert_eq!(max_live(&kernel(&text)), 4);
    // In a loop, what comes from outside stays live over all turns.
    let around = "%0: u32 = lane\n%1: ptr.global.out = addr %0\n%2: f32 = load.1 %1\n%3: u32 = const 4\n\
                  loop %3, %3, %3 {\nparams %4: u32\nstore.1 %1, %2\n%5: f32 = load.1 %1 +2\n\
                  %6: f32 = load.1 %1 +3\nstore.1 %1 +3, %5\nstore.1 %1 +4, %6\n}\n";
    assert_eq!(max_live(&kernel(around)), 5);
}

#[test]
fn targets_drop_hints_and_refuse_what_they_lack() {
    let lines = "%0: u32 = lane\n%1: ptr.global.in = addr %0\n%2: u32 = const 64\nbulk_prefetch %1, %2\n\
                 %3: f32 = load.1.read_only %1\n%4: ptr.shared.tile = addr %0\nstore.1.stream %4, %3\n";
    let mut alone = kernel(lines);
    alone.cluster = 1;
    let legal = |limits: Limits| {
        let mut kernel = alone.clone();
        legalise(&mut kernel, &limits).expect("hints are dropped");
        print(&kernel)
    };
    let gpu = legal(Limits::h200());
    assert!(gpu.contains("prefetch") && gpu.contains("read_only") && !gpu.contains("stream"), "{gpu}");
    assert!(!legal(Limits::a100()).contains("prefetch"));
    let web = legal(Limits::webgpu_min());
    assert!(!web.contains("prefetch") && !web.contains("read_only"), "{web}");

    let refused = |change: &dyn Fn(&mut Kernel), limits: Limits| {
        let mut kernel = alone.clone();
        change(&mut kernel);
        legalise(&mut kernel, &limits).expect_err("the target lacks it")
    };
    let lacks = |lines: &str| match refused(&|k| k.body = kernel(lines).body, Limits::webgpu_min()) {
        KernelError::Unsupported { ability, .. } => ability,
        other => panic!("{other}"),
    };
    assert_eq!(lacks("cluster_wait\n"), "clusters");
    assert_eq!(lacks("bulk_commit\n"), "bulk copies");
    assert_eq!(lacks("barrier_init_fence\n"), "transaction barriers");
    let shuffle = "%0: u32 = lane\n%1: ptr.global.in = addr %0\n%2: u32 = shuffle.xor %0, %0\n";
    assert_eq!(lacks(shuffle), "subgroup shuffles");
    let wide = |ty: Type| {
        refused(
            &|k| {
                *k = kernel("%0: u32 = const 1\n");
                (k.cluster, k.types[0]) = (1, ty);
            },
            Limits::webgpu_min(),
        )
    };
    for ty in [Type::U64, Type::F64, Type::F16, Type::Bf16] {
        assert!(matches!(wide(ty), KernelError::Unsupported { .. }), "{ty}");
    }
    let array = refused(&|k| k.buffers[1].elem = Type::F64, Limits::vulkan_min());
    assert!(matches!(array, KernelError::UnsupportedArray { elem: Type::F64, .. }));
    let limit = |change: &dyn Fn(&mut Kernel)| match refused(change, Limits::webgpu_min()) {
        KernelError::Limit { value, .. } => value,
        other => panic!("{other}"),
    };
    assert_eq!(limit(&|k| k.threads = 257), 257);
    assert_eq!(limit(&|k| k.cluster = 2), 2);
    assert_eq!(limit(&|k| k.shared[0].len = 5000), 20000);
    assert_eq!(limit(&|k| k.buffers[0].len = 1 << 26), 1 << 28);
}

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

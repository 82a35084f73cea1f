//! Each rewrite, and that no pass changes what a kernel computes (`semantics.rs`).

mod double_single;
mod semantics;

use super::*;
use crate::kernel::text::{parse, print};
use crate::kernel::{Access, Builder, Cache, Inst, Special};

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
fn tables_leave_loops_where_registers_hold_them() {
    // 1024 threads of 64 registers, of which each table entry takes two.
    let loads_before_loop = |entries: i32| {
        let mut b = Builder::new("turns", 1024, 1);
        let table = b.buffer("table", Type::F64, Access::Read, 1024 + 64);
        let data = b.buffer("data", Type::F64, Access::ReadWrite, 1 << 20);
        let thread = b.special(Special::ThreadIndex);
        let [lo, hi, step] = [0, 1024, 1].map(|x| b.u32(x));
        b.for_range(lo, hi, step, &[], |b, turn, _| {
            let row = b.mul_const(turn, 1024);
            let own = b.add(row, thread);
            let (from, at) = (b.addr(table, thread), b.addr(data, own));
            let mut x = b.load(at, 0, 1, Cache::Default, None)[0];
            for entry in 0..entries {
                let factor = b.load(from, entry, 1, Cache::ReadOnly, None)[0];
                x = b.fma(x, factor, x);
            }
            b.store(at, 0, &[x], Cache::Default, None);
            Vec::new()
        });
        let kernel = optimise(b.finish(), &Limits::h200()).expect("a kernel");
        kernel.body.insts.iter().filter(|inst| matches!(inst.op, Op::Load { .. })).count()
    };
    assert_eq!(loads_before_loop(8), 8);
    assert_eq!(loads_before_loop(32), 32, "the assembler puts a few off");
    assert_eq!(loads_before_loop(40), 0, "80 registers are not there");
}

#[test]
fn tables_are_asked_for_beside_the_data_where_no_block_hides_the_wait() {
    // Numbers times their neighbours' table entries: loads, barriers and stores in their order.
    let operations = |blocks: u64| {
        let mut b = Builder::new("sums", 32, blocks);
        let table = b.buffer("table", Type::F32, Access::Read, 32);
        let data = b.buffer("data", Type::F32, Access::ReadWrite, 32 * blocks);
        let row = b.shared("row", Type::F32, 32);
        let (block, thread) = (b.special(Special::BlockIndex), b.special(Special::ThreadIndex));
        b.barrier();
        let first = b.mul_const(block, 32);
        let own = b.add(first, thread);
        let (at, own) = (b.addr(data, own), b.addr(row, thread));
        let x = b.load(at, 0, 1, Cache::Default, None)[0];
        b.store(own, 0, &[x], Cache::Default, None);
        b.barrier();
        let mask = b.u32(31);
        let next = b.add_const(thread, 1);
        let next = b.binary(Op::And, next, mask);
        let (next, entry) = (b.addr(row, next), b.addr(table, next));
        let y = b.load(next, 0, 1, Cache::Default, None)[0];
        let factor = b.load(entry, 0, 1, Cache::ReadOnly, None)[0];
        let z = b.mul(y, factor);
        b.store(at, 0, &[z], Cache::Default, None);
        let kernel = optimise(b.finish(), &Limits::h200()).expect("a kernel");
        let name = |inst: &Inst| match (inst.op, kernel.ty(*inst.args.first()?)) {
            (Op::Load { .. }, Type::Ptr(Space::Global(0))) => Some("table"),
            (Op::Load { .. }, Type::Ptr(Space::Global(1))) => Some("data"),
            (Op::Load { .. }, _) => Some("row"),
            _ => None,
        };
        let named = |inst: &Inst| if inst.op == Op::Barrier { Some("barrier") } else { name(inst) };
        kernel.body.insts.iter().filter_map(named).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(operations(1000), "barrier data barrier row table");
    assert_eq!(operations(100), "barrier data table barrier row");
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
                *k = kernel("%0: u32 = const 1\n%1: u32 = add %0, %0\n");
                (k.cluster, k.types) = (1, vec![ty; 2]);
            },
            Limits::webgpu_min(),
        )
    };
    for ty in [Type::U64, Type::F64, Type::F16, Type::Bf16] {
        assert!(matches!(wide(ty), KernelError::Unsupported { .. }), "{ty}");
    }
    // 16-bit numbers may be kept and converted anywhere; where memory is of words, not written one by one.
    let halves = |elem: Type, width: usize| {
        let mut b = Builder::new("halves", 32, 1);
        let data = b.buffer("data", elem, Access::ReadWrite, 64);
        let lane = b.special(Special::Lane);
        let first = b.mul_const(lane, 2);
        let at = b.addr(data, first);
        let kept = b.load(at, 0, 1, Cache::Default, None);
        let wide = b.convert(Type::F32, kept[0]);
        let back = b.convert(elem, wide);
        b.store(at, 0, &vec![back; width], Cache::Default, None);
        legalise(&mut b.finish(), &Limits::webgpu_min())
    };
    for elem in [Type::F16, Type::Bf16] {
        assert!(halves(elem, 2).is_ok());
        let error = halves(elem, 1).expect_err("two threads may share a word");
        assert!(matches!(error, KernelError::Unsupported { ability: SINGLE_HALVES, .. }), "{error}");
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

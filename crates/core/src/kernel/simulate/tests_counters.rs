//! Counters between blocks: what they order, and what they do not.

use super::super::{Access, Builder, Cache, Cmp, Op, Special, Type};
use super::tests::{blank, run, thread};
use super::tests_sync::only_thread;
use super::{Fault, GlobalBuffer, Memory};

/// What a hand-over leaves out.
#[derive(Clone, Copy)]
struct Hand {
    signals: bool,
    waits: bool,
    /// Between the stores and the signal.
    barrier: bool,
    awaited: u32,
}

const RIGHT: Hand = Hand { signals: true, waits: true, barrier: true, awaited: 2 };

/// Two blocks write 32 elements each and count themselves, a third waits for the count and reads them.
fn handed_over(hand: Hand) -> Result<GlobalBuffer, Fault> {
    let mut b = Builder::new("handed_over", 32, 3);
    let data = b.buffer("data", Type::U32, Access::ReadWrite, 64);
    let counter = b.buffer("counter", Type::U32, Access::ReadWrite, 2);
    let output = b.buffer("output", Type::U32, Access::Write, 32);
    let (t, block, one, two) = (thread(&mut b), b.special(Special::BlockIndex), b.u32(1), b.u32(2));
    let (start, count) = (b.addr(data, t), b.addr(counter, one));
    let writes = b.cmp(Cmp::Lt, block, two);
    let reads = b.cmp(Cmp::Ge, block, two);
    b.when(writes, |b| {
        let first = b.mul_const(block, 32);
        let own = b.ptr_add(start, first);
        b.store(own, 0, &[t], Cache::L2, None);
        if hand.barrier {
            b.barrier();
        }
        if hand.signals {
            only_thread(b, 0, |b| b.effect(Op::CounterAdd, &[count, one]));
        }
    });
    b.when(reads, |b| {
        let awaited = b.u32(hand.awaited);
        if hand.waits {
            only_thread(b, 0, |b| b.effect(Op::CounterWait, &[count, awaited]));
            b.barrier();
        }
        let low = b.load(start, 0, 1, Cache::L2, None)[0];
        let high = b.load(start, 32, 1, Cache::L2, None)[0];
        let sum = b.add(low, high);
        let to = b.addr(output, t);
        b.store(to, 0, &[sum], Cache::Default, None);
    });
    let mut counter = GlobalBuffer::initialised(Memory::U32(vec![0, 0]));
    let mut output = blank(Type::U32, 32);
    run(&b.finish(), &mut [&mut blank(Type::U32, 64), &mut counter, &mut output])?;
    assert_eq!(counter.data, Memory::U32(vec![0, 2]));
    Ok(output)
}

#[test]
fn counters_hand_over_between_blocks() {
    assert_eq!(handed_over(RIGHT).unwrap().data, Memory::U32((0..32).map(|i| 2 * i).collect()));
    let race = |hand: Hand| match handed_over(hand) {
        Err(Fault::Race { at, array, element, .. }) => {
            assert_eq!((at.block, array.as_str()), (2, "data"));
            element
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(race(Hand { waits: false, ..RIGHT }), 0);
    // What other threads of the block stored is not released without a barrier.
    assert_eq!(race(Hand { barrier: false, ..RIGHT }), 0);
    // A wait for less than all says nothing of the rest, however late it comes.
    assert_eq!(race(Hand { awaited: 0, ..RIGHT }), 0);
    assert_eq!(race(Hand { awaited: 1, ..RIGHT }), 32);
}

#[test]
fn a_wait_that_nothing_ends_is_a_deadlock() {
    for hand in [Hand { signals: false, ..RIGHT }, Hand { awaited: 3, ..RIGHT }] {
        let fault = handed_over(hand).unwrap_err();
        let Fault::Deadlock { at, why } = fault else { panic!("{fault}") };
        assert_eq!((at.op, at.block), (Op::CounterWait, 2));
        assert!(why.contains("counter[1] is") && why.contains(&format!("to be {}", hand.awaited)), "{why}");
    }
}

/// The second block takes a number after the first one, and reads what the first wrote before it took its own.
fn by_ticket(relaxed: bool) -> Result<(), Fault> {
    let mut b = Builder::new("tickets", 1, 2);
    let data = b.buffer("data", Type::U32, Access::ReadWrite, 1);
    let counter = b.buffer("counter", Type::U32, Access::ReadWrite, 1);
    let (zero, one, block) = (b.u32(0), b.u32(1), b.special(Special::BlockIndex));
    let (at, count) = (b.addr(data, zero), b.addr(counter, zero));
    let first = b.cmp(Cmp::Eq, block, zero);
    b.when(first, |b| b.store(at, 0, &[one], Cache::L2, None));
    b.impure(Op::AtomicAdd { relaxed }, &[count, one], &[Type::U32]);
    let second = b.cmp(Cmp::Eq, block, one);
    b.when(second, |b| {
        b.load(at, 0, 1, Cache::L2, None);
    });
    let mut counter = GlobalBuffer::initialised(Memory::U32(vec![0]));
    run(&b.finish(), &mut [&mut blank(Type::U32, 1), &mut counter])?;
    assert_eq!(counter.data, Memory::U32(vec![2]));
    Ok(())
}

#[test]
fn a_relaxed_ticket_orders_nothing() {
    by_ticket(false).unwrap();
    let fault = by_ticket(true).unwrap_err();
    assert!(matches!(fault, Fault::Race { ref array, .. } if array == "data"), "{fault}");
}

//! Races in random programs, against a comparison of every pair of accesses.

use rand::{Rng, SeedableRng, rngs::StdRng};

use super::super::{Builder, Cache, Cmp, Kernel, Op, Special, Type};
use super::Fault;
use super::tests::{run, thread};
use super::tests_sync::{cluster_barrier, remote};

/// An access of the random programs below: thread of the cluster, block and element, write, and how many block
/// barriers and releasing cluster barriers came before it.
#[derive(Clone, Copy)]
struct Touched {
    thread: u32,
    element: (u32, u32),
    write: bool,
    block_epoch: u32,
    cluster_epoch: u32,
}

/// Whether two accesses race.
fn race(x: Touched, y: Touched) -> bool {
    let ordered = x.thread == y.thread
        || x.cluster_epoch != y.cluster_epoch
        || (x.thread / 2 == y.thread / 2 && x.block_epoch != y.block_epoch);
    x.element == y.element && (x.write || y.write) && !ordered
}

/// Two blocks of two threads do `steps` random accesses of each other's two elements, with random barriers.
/// Returns the kernel, and whether two of its accesses race, by comparing every pair.
fn random_program(rng: &mut StdRng, steps: usize) -> (Kernel, bool) {
    let mut b = Builder::new("random", 2, 2);
    b.cluster(2);
    let tile = b.shared("tile", Type::U32, 2);
    let (t, rank, one) = (thread(&mut b), b.special(Special::ClusterRank), b.u32(1));
    let own = b.addr(tile, t);
    b.store(own, 0, &[t], Cache::Default, None);
    cluster_barrier(&mut b, false);
    let (mut epochs, mut touched) = ((0, 0), Vec::new());
    for _ in 0..steps {
        match rng.random_range(0..10) {
            0 | 1 => {
                b.barrier();
                epochs.0 += 1;
            }
            2 => {
                cluster_barrier(&mut b, false);
                epochs.1 += 1;
            }
            3 => cluster_barrier(&mut b, true),
            _ => {
                let [write, flip, far] = std::array::from_fn(|_| rng.random_bool(0.3));
                let (only_block, only_thread) = (rng.random_range(0..3), rng.random_range(0..3));
                let index = if flip { b.binary(Op::Xor, t, one) } else { t };
                let near = b.addr(tile, index);
                let target = if far { b.binary(Op::Xor, rank, one) } else { rank };
                let at = remote(&mut b, near, target);
                let mut on = b.bool(true);
                for (value, only) in [(rank, only_block), (t, only_thread)] {
                    let only_value = b.u32(only);
                    let is = b.cmp(Cmp::Eq, value, only_value);
                    on = if only < 2 { b.binary(Op::And, on, is) } else { on };
                }
                if write {
                    b.store(at, 0, &[t], Cache::Default, Some(on));
                } else {
                    b.load(at, 0, 1, Cache::Default, Some(on));
                }
                for (block, thread) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    if (only_block == 2 || only_block == block) && (only_thread == 2 || only_thread == thread)
                    {
                        touched.push(Touched {
                            thread: 2 * block + thread,
                            element: (block ^ u32::from(far), thread ^ u32::from(flip)),
                            write,
                            block_epoch: epochs.0,
                            cluster_epoch: epochs.1,
                        });
                    }
                }
            }
        }
    }
    cluster_barrier(&mut b, true);
    let races = touched.iter().enumerate().any(|(i, x)| touched[i + 1..].iter().any(|y| race(*x, *y)));
    (b.finish(), races)
}

#[test]
fn races_are_found_exactly_where_a_pair_of_accesses_is_unordered() {
    let mut rng = StdRng::seed_from_u64(11);
    let mut found = [0, 0];
    for round in 0..4000 {
        let (kernel, races) = random_program(&mut rng, 2 + round % 12);
        match run(&kernel, &mut []) {
            Ok(_) => assert!(!races, "a race was missed: {kernel:?}"),
            Err(Fault::Race { .. }) => assert!(races, "there is no race: {kernel:?}"),
            Err(fault) => panic!("{fault}"),
        }
        found[usize::from(races)] += 1;
    }
    assert!(found.iter().all(|&count| count > 500), "both kinds should be common: {found:?}");
}

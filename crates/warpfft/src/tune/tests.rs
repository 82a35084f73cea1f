use std::cell::{Cell, RefCell};

use warpfft_core::recipe::near;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

use super::*;
use crate::wisdom::{Wisdom, problem_key};

fn device() -> Device {
    Device::sim(Limits::h200()).with_wisdom(Wisdom::new())
}

fn requests() -> Vec<Problem> {
    let all = [
        Fft::new([120]).batch(5),
        Fft::new([120]).batch(5).f64().in_place(),
        Fft::new([24, 10]).planar(),
        Fft::axes([3, 40, 2], [1]).inverse(),
    ];
    all.into_iter().map(|request| request.build().expect("it is possible")).collect()
}

/// As if that one of the first candidates were the fastest whenever it runs, and the cost model's choice the next.
fn wins(which: usize) -> impl Fn(&[&Plan], Duration) -> Result<Vec<f64>, Error> {
    let first = RefCell::new(None);
    move |plans, _| {
        let kernels = |plan: &&Plan| plan.program().map(|program| program.kernels.clone());
        let programs: Vec<_> = plans.iter().map(kernels).collect();
        let mut first = first.borrow_mut();
        let [own, winner] = first.get_or_insert_with(|| [0, which].map(|at| programs[at].clone()));
        let seconds = |program: &_| match program {
            _ if program == winner => 1.0,
            _ if program == own => 2.0,
            _ => 3.0,
        };
        Ok(programs.iter().map(seconds).collect())
    }
}

/// Threads of all blocks of a plan's launches together.
fn threads(plan: &Plan) -> u32 {
    let program = plan.program().expect("it has kernels");
    program.launches.iter().map(|launch| program.kernels[launch.kernel].threads).sum()
}

#[test]
fn the_fastest_right_candidate_becomes_wisdom_that_plans_follow() {
    for problem in requests() {
        let device = device();
        let tuned = tune(&device, &problem, Start::Candidates, Duration::from_secs(9), &wins(2))
            .expect("it is tuned");
        assert_eq!(tuned.best, 2, "{problem:?}: {:?}", tuned.trials[2]);
        assert!((tuned.gain() - 2.0).abs() < 1e-12 && tuned.untried == 0);
        assert_eq!(tuned.entry.problem, problem_key(&problem));
        assert_eq!(tuned.entry.recipe().as_ref(), Ok(&tuned.trials[2].recipe));
        let mut wisdom = Wisdom::new();
        wisdom.insert(tuned.entry);
        let device = device.with_wisdom(wisdom);
        let told = device.plan(&problem).expect("it has a plan");
        let made = Compiled::by(&tuned.trials[2].recipe, &problem, &Limits::h200()).expect("it was tried");
        assert_eq!(told.program().map(|program| &program.kernels), Some(&made.program.kernels));
        // Tuned once more, it is tried right after the cost model's choice.
        let again =
            tune(&device, &problem, Start::Candidates, Duration::ZERO, &wins(0)).expect("it is tuned");
        assert_eq!(again.trials[1].recipe, tuned.trials[2].recipe);
        assert_eq!(again.known, Some(1));
    }
}

/// Where something has been found, a search may begin with it and the model's choice alone, and it stays unless something near it
/// is clearly faster.
#[test]
fn what_is_known_is_refined_and_stays_unless_something_is_clearly_faster() {
    let problem = &requests()[0];
    let mut others = candidates(problem, &Limits::h200(), MOST).expect("it has plans");
    let known = others.remove(5).recipe;
    let mut wisdom = Wisdom::new();
    wisdom.insert(Entry::new(device().name(), problem, &known, None, None));
    let device = device().with_wisdom(wisdom);
    let program =
        |recipe: &Recipe| Compiled::by(recipe, problem, &Limits::h200()).map(|made| made.program.kernels);
    let own = program(&known);
    let near = near(&known, problem, &Limits::h200()).expect("it is followed").into_iter();
    let mut near = near.map(|one| (program(&one.recipe), one.recipe));
    let (better, recipe) = near.find(|(better, _)| *better != own).expect("there are others");
    for (seconds, gains) in [(0.995, false), (0.9, true)] {
        let race = |plans: &[&Plan], _: Duration| {
            let kernels = |plan: &Plan| plan.program().map(|program| program.kernels.clone());
            let time = |plan: &&Plan| match kernels(plan) {
                found if found.as_ref() == own.as_ref().ok() => 1.0,
                found if found.as_ref() == better.as_ref().ok() => seconds,
                _ => 2.0,
            };
            Ok(plans.iter().map(time).collect())
        };
        let tuned = tune(&device, problem, Start::Known, Duration::from_secs(5), &race).expect("it is tuned");
        assert_eq!((tuned.known, &tuned.trials[1].recipe), (Some(1), &known));
        let best = if gains { &recipe } else { &known };
        assert_eq!(&tuned.trials[tuned.best].recipe, best, "{seconds}");
        let over = tuned.gain_over_known().expect("something was known");
        assert!((over - if gains { 1.0 / seconds } else { 1.0 }).abs() < 1e-12, "{over}");
    }
}

#[test]
fn the_estimate_stays_where_nothing_is_clearly_faster() {
    let problem = &requests()[0];
    let own = device().plan(problem).expect("it has a plan");
    let close = |plans: &[&Plan], _: Duration| {
        let kernels = |plan: &Plan| plan.program().map(|program| program.kernels.clone());
        Ok(plans.iter().map(|plan| if kernels(plan) == kernels(&own) { 1.0 } else { 0.995 }).collect())
    };
    let tuned =
        tune(&device(), problem, Start::Candidates, Duration::from_secs(9), &close).expect("it is tuned");
    assert_eq!((tuned.best, tuned.gain()), (0, 1.0));
}

#[test]
fn a_short_budget_tries_the_first_few() {
    // More ways than any machine makes ready at once.
    let problem = &Fft::new([8192]).batch(2).build().expect("it is possible");
    let all = candidates(problem, &Limits::h200(), MOST).expect("it has plans").len();
    assert!(all > MOST_AT_ONCE, "{all}");
    let given = Cell::new(0);
    let race = |plans: &[&Plan], _: Duration| {
        given.set(plans.len());
        wins(1)(plans, Duration::ZERO)
    };
    let tuned = tune(&device(), problem, Start::Candidates, Duration::ZERO, &race).expect("it is tuned");
    assert_eq!((given.get(), tuned.trials.len(), tuned.best), (width(), width(), 1));
    assert_eq!(tuned.untried, all - width());
}

#[test]
fn time_that_is_left_goes_to_what_is_near_the_fastest() {
    // As if fewer threads were always faster: nothing that the cost model names first.
    let fewest = |plans: &[&Plan], _: Duration| {
        Ok(plans.iter().map(|plan| f64::from(threads(plan))).collect::<Vec<_>>())
    };
    for problem in requests() {
        let found = |seconds: u64| {
            let tuned = tune(&device(), &problem, Start::Candidates, Duration::from_secs(seconds), &fewest)
                .expect("it is tuned");
            (tuned.trials[tuned.best].seconds.clone().expect("it was timed"), tuned)
        };
        let ((short, few), (long, many)) = (found(0), found(60));
        assert!(long < short && many.trials.len() > few.trials.len(), "{problem:?}: {short} {long}");
        // Nothing that differs from it in one thing has fewer.
        let best = &many.trials[many.best].recipe;
        for other in near(best, &problem, &Limits::h200()).expect("it was tried") {
            let other = Compiled::by(&other.recipe, &problem, &Limits::h200()).expect("it is offered");
            let other = device().load(other.program).expect("it is a program");
            assert!(f64::from(threads(&other)) * MARGIN >= long, "{problem:?}");
        }
    }
}

/// What cannot be timed further on is out, and what was found before stands; a lost device is told.
#[test]
fn a_race_that_fails_costs_nothing_that_was_found() {
    let problem = &requests()[0];
    let full = Error::OutOfMemory { device: "a device".into(), bytes: 1 << 40, free: None };
    let lost = Error::DeviceLost { device: "a device".into(), detail: "it fell off".into() };
    let tuned = |error: Error| {
        let (own, races) = (wins(1), Cell::new(0));
        let race = |plans: &[&Plan], budget: Duration| {
            races.set(races.get() + 1);
            if races.get() == 2 { Err(error.clone()) } else { own(plans, budget) }
        };
        tune(&device(), problem, Start::Candidates, Duration::from_secs(9), &race)
    };
    let found = tuned(full.clone()).expect("the first race was run");
    assert_eq!(found.best, 1);
    assert!(found.trials.iter().any(|trial| trial.seconds.as_ref() == Err(&full)));
    assert_eq!(tuned(lost.clone()).map(|found| found.best), Err(lost));
}

#[test]
fn wrong_output_never_wins() {
    let problem = &requests()[0];
    let other = Fft::new([120]).batch(5).scale(1.001).build().expect("it is possible");
    let device = device();
    let right = device.plan(problem).expect("it has a plan");
    let wrong = device.plan(&other).expect("it has a plan");
    let judge = Judge::new(problem, &right).expect("it runs");
    assert!(judge.distance(&right).expect("it runs") <= judge::tolerance(problem));
    let distance = judge.distance(&wrong).expect("it runs");
    assert!((distance - 1e-3).abs() < 1e-5, "{distance}");
    let recipe = candidates(problem, &Limits::h200(), 1).expect("it has plans").remove(0).recipe;
    let trial = |seconds| Trial { recipe: recipe.clone(), predicted: 1.0, seconds: Ok(seconds) };
    let mut trials = [trial(3.0), trial(1.0), trial(2.0)];
    let plans = [Some(right.clone()), Some(wrong), Some(right)];
    assert_eq!(fastest(problem, &plans, &mut trials, None), Ok(2));
    assert!(matches!(&trials[1].seconds, Err(Error::Program { detail }) if detail.contains("1.0e-3")));
    // Nor does it keep others from winning where it was known.
    let mut trials = [trial(3.0), trial(1.0), trial(2.0)];
    assert_eq!(fastest(problem, &plans, &mut trials, Some(1)), Ok(2));
    // What is known stays beside what is hardly faster, whether that is the first or another.
    for (first, known, other, best) in
        [(1.0, 1.005, 1.002, 2), (1.005, 1.0, 2.0, 2), (1.0, 1.02, 2.0, 0), (3.0, 1.0, 0.9, 1)]
    {
        let plans = [plans[0].clone(), plans[0].clone(), plans[0].clone()];
        let mut trials = [trial(first), trial(other), trial(known)];
        assert_eq!(fastest(problem, &plans, &mut trials, Some(2)), Ok(best), "{first} {known} {other}");
    }
}

#[test]
fn devices_that_cannot_be_tuned_say_why() {
    let problem = &requests()[0];
    let refused = |device: Device| match device.tune(problem, Duration::from_millis(10)) {
        Err(Error::Unsupported { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert!(refused(Device::cpu()).contains("no kernels"));
    assert!(refused(device()).contains("time kernels"), "the simulator has no time");
}

use std::collections::BTreeSet;
use std::path::PathBuf;

use warpfft_core::problem::{RealKind, Storage};
use warpfft_core::program::Compiled;
use warpfft_core::recipe::candidates;
use warpfft_core::request::Fft;
use warpfft_core::target::Limits;

use super::*;
use crate::{Complex, Device};

fn many(n: u64, batch: u64) -> Problem {
    Fft::new([n]).batch(batch).build().expect("it is possible")
}

fn problem(n: u64) -> Problem {
    many(n, 4)
}

fn entry(device: &str, n: u64, which: usize) -> Entry {
    entry_of(device, &problem(n), which)
}

fn entry_of(device: &str, problem: &Problem, which: usize) -> Entry {
    let found = candidates(problem, &Limits::h200(), 8).expect("it has plans");
    Entry::new(device, problem, &found[which].recipe, Some(1.234_567), Some(1.5))
}

fn wisdom(entries: &[Entry]) -> Wisdom {
    let mut all = Wisdom::new();
    entries.iter().cloned().for_each(|entry| all.insert(entry));
    all
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("wisdom.json");
    (folder, path)
}

/// Takes the types that input and output are kept in out of a key's words.
fn take_kept(words: &mut Vec<&str>) -> Option<[Storage; 2]> {
    let at = words.iter().position(|&word| word == "kept")?;
    let (input, output) = words.drain(at..at + 2).nth(1)?.split_once(':')?;
    Some([input, output].map(|kept| kept.parse().expect("a type")))
}

/// What is asked, kept so.
fn keeping(ask: Fft, kept: Option<[Storage; 2]>) -> Fft {
    kept.map_or(ask.clone(), |[input, output]| ask.storages(input, output))
}

/// The problem of a key of packed arrays.
fn of_key(key: &str) -> Problem {
    let mut words: Vec<&str> = key.split(' ').collect();
    let kept = take_kept(&mut words);
    if words[0] != "c2c" {
        return of_real_key(key);
    }
    let ["c2c", precision, shape, "batch", batch] = words[..] else { panic!("{key}") };
    let lengths: Vec<u64> = shape.split('x').map(|n| n.parse().expect("a length")).collect();
    let ask = Fft::new(lengths).batch(batch.parse().expect("a batch"));
    let ask = if precision == "f64" { ask.f64() } else { ask };
    keeping(ask, kept).build().expect("it is possible")
}

/// The same of real data: each dimension is given with its strides, that of the kind first.
fn of_real_key(key: &str) -> Problem {
    let mut words: Vec<&str> = key.split(' ').collect();
    let kept = take_kept(&mut words);
    let length = |word: &str| -> u64 {
        word.split(':').next().and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{key}"))
    };
    let (ask, batch) = match &words[..] {
        [ask @ .., "batch", batch] => (ask, length(batch)),
        ask => (ask, 1),
    };
    let (kinds, lengths, precision): (Vec<&str>, Vec<u64>, &str) = match ask {
        // Each dimension after its kind.
        ["r2r", dims @ .., precision] => {
            let dims = dims.chunks(2);
            (dims.clone().map(|dim| dim[0]).collect(), dims.map(|dim| length(dim[1])).collect(), precision)
        }
        [kind, own, precision, rest @ ..] => {
            (vec![kind], rest.iter().skip(1).chain([own]).map(|word| length(word)).collect(), precision)
        }
        _ => panic!("{key}"),
    };
    let ask = Fft::new(lengths).batch(batch);
    let ask = if precision == "f64" { ask.f64() } else { ask };
    let ask = match kinds[..] {
        ["r2c"] => ask.r2c(),
        ["c2r"] => ask.c2r(),
        _ => {
            let named = |name: &&str| RealKind::ALL.into_iter().find(|real| real.name() == *name);
            let found: Option<Vec<RealKind>> = kinds.iter().map(named).collect();
            ask.r2r(found.unwrap_or_else(|| panic!("{key}")))
        }
    };
    let problem = keeping(ask, kept).build().expect("it is possible");
    assert_eq!(problem_key(&problem), key);
    problem
}

/// A change of the planner can make recipes that were timed before it impossible: they are to be tuned anew, or left out.
#[test]
fn what_is_shipped_can_be_followed() {
    let shipped = Wisdom::shipped().expect("it is whole");
    // An H100 has the limits of an H200.
    let devices: BTreeSet<&str> = shipped.entries().map(|entry| entry.device.as_str()).collect();
    assert_eq!(devices.into_iter().collect::<Vec<_>>(), ["NVIDIA H100 80GB HBM3", "NVIDIA H200"]);
    let refused = shipped.entries().filter_map(|entry| {
        let recipe = entry.recipe().expect("it is of this version");
        let made = Compiled::by(&recipe, &of_key(&entry.problem), &Limits::h200());
        made.err().map(|error| format!("{}: {error}", entry.problem))
    });
    assert_eq!(refused.collect::<Vec<_>>(), Vec::<String>::new());
}

/// What serves another number of the same transforms is no better for it by more than what times differ: if it is, one of the two is
/// older than what made the other faster, and is to be tuned anew. Of what a cache holds each number has its own time.
#[test]
fn no_number_of_transforms_lags_behind_another() {
    const APART: f64 = 1.05;
    let limits = Limits::h200();
    let beyond_the_cache = |entry: &Entry| {
        let problem = of_key(&entry.problem);
        let element = problem.input_element().min(problem.output_element());
        problem.elements() * element > 2 * limits.l2_bytes
    };
    let full: Vec<Entry> = Wisdom::shipped()
        .expect("it is read")
        .entries()
        .filter(|entry| beyond_the_cache(entry))
        .cloned()
        .collect();
    let mut all = wisdom(&full);
    let mut compared = 0;
    for entry in &full {
        let key = (entry.device.clone(), entry.problem.clone());
        let own = all.entries.remove(&key).expect("it is there");
        if let Some(other) = near::nearest(&all.entries, &own.device, &limits, &of_key(&own.problem)) {
            let [this, that] = [&own, other].map(|entry| entry.copies.expect("it was timed"));
            assert!(this < APART * that, "{} in {this} copies, {} in {that}", own.problem, other.problem);
            compared += 1;
        }
        all.entries.insert(key, own);
    }
    assert!(compared >= 16, "only {compared} have another number");
}

#[test]
fn what_is_shipped_is_whole() {
    for entry in Wisdom::shipped().expect("it is read").entries() {
        entry.recipe().expect("it is understood");
    }
}

#[test]
fn texts_come_back_and_are_readable() {
    let all = wisdom(&[entry("b", 1000, 1), entry("a", 64, 0), entry("a", 1000, 2)]);
    let text = all.to_text();
    assert_eq!(Wisdom::parse(&text, "test"), Ok(all.clone()));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 8, "an entry is a line: {text}");
    assert!(lines[3].contains(r#""device":"a","problem":"c2c f32 1000 batch 4","copies":1.2346"#), "{text}");
    assert!(lines[3].contains(r#""plans":["("#), "{text}");
    assert_eq!(Wisdom::parse(&Wisdom::new().to_text(), "test"), Ok(Wisdom::new()));
    let date = &all.entries().next().expect("one").date;
    assert!(date.len() == 10 && date.starts_with("20"), "{date}");
}

#[test]
fn saving_keeps_what_others_saved() {
    let (folder, path) = place();
    wisdom(&[entry("a", 64, 0)]).save(&path).expect("a new file");
    wisdom(&[entry("b", 64, 0)]).save(&path).expect("the same file");
    wisdom(&[entry("a", 64, 1)]).save(&path).expect("the same entry");
    let there = Wisdom::load(&path).expect("it was written");
    assert_eq!(there, wisdom(&[entry("a", 64, 1), entry("b", 64, 0)]));
    std::thread::scope(|scope| {
        for n in 2..10 {
            let path = &path;
            scope.spawn(move || wisdom(&[entry("c", n, 0)]).save(path).expect("at the same time"));
        }
    });
    assert_eq!(Wisdom::load(&path).expect("it was written").entries().count(), 10);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing else stays");
}

#[test]
fn a_bad_file_is_named_with_its_line_and_stays_as_it_is() {
    let good = wisdom(&[entry("a", 64, 0), entry("a", 1000, 0)]).to_text();
    let (_folder, path) = place();
    for (from, to, line, words) in [
        ("\"entries\": [", "\"entries\": {", 4, "string"),
        ("\"version\":", "\"versio\":", 4, "versio"),
        ("\"format\": 1", "\"format\": 7", 1, "format 7"),
        ("1.2346", "\"much\"", 4, "much"),
        ("}\n  ]\n}", "", 6, "EOF"),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        match Wisdom::parse(&text, "mine.json") {
            Err(Error::Wisdom { path, line: at, detail }) => {
                assert_eq!((path.as_str(), at), ("mine.json", line), "{detail}");
                assert!(detail.contains(words), "{detail}");
            }
            other => panic!("{from}: {other:?}"),
        }
        std::fs::write(&path, &text).expect("the folder is ours");
        let refused = wisdom(&[entry("b", 64, 0)]).save(&path);
        assert!(matches!(refused, Err(Error::Wisdom { .. })), "{refused:?}");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), text);
    }
    std::fs::write(&path, [good.lines().next().expect("a line").as_bytes(), b"\n\xff"].concat())
        .expect("ours");
    for refused in [Wisdom::load(&path).map(drop), wisdom(&[]).save(&path)] {
        assert!(
            matches!(&refused, Err(Error::Wisdom { line: 2, detail, .. }) if detail.contains("UTF-8")),
            "{refused:?}"
        );
    }
    // What has no end is not read, and what is no file is not replaced.
    #[cfg(unix)]
    {
        let refused = wisdom(&[]).save(Path::new("/dev/zero"));
        assert!(
            matches!(&refused, Err(Error::WisdomFile { reason, .. }) if reason.contains("no regular file")),
            "{refused:?}"
        );
        let link = path.with_file_name("link.json");
        std::os::unix::fs::symlink("new.json", &link).expect("the folder is ours");
        wisdom(&[entry("b", 64, 0)]).save(&link).expect("a link to nothing yet");
        assert!(link.is_symlink() && path.with_file_name("new.json").is_file());
    }
    let absent = Wisdom::load(&path.with_file_name("absent.json"));
    assert!(matches!(absent, Err(Error::WisdomFile { .. })), "{absent:?}");
    let nowhere = wisdom(&[]).save(&path.join("below").join("a.json"));
    assert!(matches!(nowhere, Err(Error::WisdomFile { .. })), "{nowhere:?}");
}

#[test]
fn recipes_of_a_later_version_are_not_used_and_not_lost() {
    let text = wisdom(&[entry("simulated h200", 64, 1)]).to_text().replace("\"threads\"", "\"fibres\"");
    let all = Wisdom::parse(&text, "test").expect("the file is whole");
    assert_eq!(all.recipe("simulated h200", &problem(64)), None);
    assert!(matches!(all.entries().next().expect("one").recipe(), Err(Error::Recipe { .. })));
    assert_eq!(all.to_text(), text);
    let device = Device::sim(Limits::h200()).with_wisdom(all);
    assert!(device.plan(&problem(64)).is_ok(), "the estimate is there");
}

#[test]
fn plans_follow_wisdom_and_fall_back_to_the_estimate() {
    let name = "simulated h200";
    let asked = problem(1000);
    let plain = Device::sim(Limits::h200()).with_wisdom(Wisdom::new());
    let estimate = plain.plan(&asked).expect("it has a plan");
    let told =
        |entry: Entry| plain.clone().with_wisdom(wisdom(&[entry])).plan(&asked).expect("it has a plan");
    let kernels = |plan: &crate::Plan| plan.program().expect("it has kernels").kernels.clone();
    assert_ne!(kernels(&told(entry(name, 1000, 2))), kernels(&estimate));
    assert_eq!(kernels(&told(entry("another device", 1000, 2))), kernels(&estimate));
    // The recipe of another problem under this one's key is out of date, as if solvers had changed.
    let stale = Entry { problem: problem_key(&asked), ..entry(name, 64, 0) };
    assert_eq!(kernels(&told(stale)), kernels(&estimate));

    let input: Vec<Complex<f32>> = (0..4000_u16).map(|i| Complex::new(f32::from(i % 17), 1.0)).collect();
    let run = |plan: &crate::Plan| {
        let mut output = vec![Complex::default(); 4000];
        plan.run_host(&input, &mut output).expect("it runs");
        output
    };
    let (ours, theirs) = (run(&told(entry(name, 1000, 2))), run(&estimate));
    assert!(ours.iter().zip(&theirs).all(|(a, b)| (a - b).norm() < 0.05), "the same transform");
}

#[test]
fn the_nearest_number_that_is_alike_is_found() {
    // The device holds 30 MB at a time: 3853 rows of 1000 points.
    let batches = [1, 40, 3000, 5000, 100_000];
    let entries: Vec<Entry> =
        (0..).zip(batches).map(|(i, batch)| entry_of("a", &many(1000, batch), i)).collect();
    let all = wisdom(&entries);
    let found = |device: &str, problem: &Problem| {
        let recipe = all.recipe_near(device, &Limits::h200(), problem)?;
        entries.iter().position(|entry| entry.recipe().as_ref() == Ok(&recipe)).map(|at| batches[at])
    };
    for (batch, nearest) in [
        (1, Some(1)),
        (2, None),
        (21, Some(40)),
        (79, Some(40)),
        (80, None),
        (1499, None),
        (2000, Some(3000)),
        (3850, Some(3000)),
        (3900, Some(5000)),
        (5000, Some(5000)),
        (22_000, Some(5000)),
        (23_000, Some(100_000)),
        (1 << 32, Some(100_000)),
    ] {
        assert_eq!(found("a", &many(1000, batch)), nearest, "{batch}");
        assert_eq!(found("b", &many(1000, batch)), None, "another device");
        assert_eq!(found("a", &many(1001, batch)), None, "another length");
    }
    let in_place = Fft::new([1000]).batch(5001).in_place().build().expect("it is possible");
    assert_eq!(found("a", &in_place), None);
    assert_eq!(all.recipe("a", &many(1000, 5001)), None, "exactly this problem is not known");
}

#[test]
fn what_is_done_beside_a_transform_follows_its_recipe() {
    let asked = Fft::new([1000]).batch(5000);
    let entry = entry_of("simulated h200", &many(1000, 5000), 2);
    let told = Device::sim(Limits::h200()).with_wisdom(wisdom(std::slice::from_ref(&entry)));
    let beside = [
        asked.clone(),
        asked.clone().on_load(|x, _| x * 0.5),
        asked.clone().any_batch(),
        asked.clone().any_batch().on_store(|x, _| x.conj()),
        asked.clone().shift_output(),
        asked.clone().shift_input().any_batch(),
    ];
    for asked in beside {
        let problem = asked.build().expect("it is possible");
        assert_eq!(told.recipe(&problem), Ok(entry.recipe().ok()), "{problem:?}");
    }
    // What leaves points out moves other bytes.
    let padded = asked.clone().pad(&[600]).build().expect("it is possible");
    let other = asked.in_place().on_load(|x, _| x * 0.5).build().expect("it is possible");
    assert_eq!([&padded, &other].map(|problem| told.recipe(problem)), [Ok(None), Ok(None)]);
}

#[test]
fn numbers_of_real_transforms_are_alike_as_those_of_complex_ones() {
    type Kinds = fn(Fft) -> Fft;
    let kinds: [Kinds; 3] = [Fft::r2c, Fft::c2r, |fft| fft.r2r([RealKind::Dct2])];
    for kind in kinds {
        let rows = |batch| kind(Fft::new([1024]).batch(batch)).build().expect("it is possible");
        let entry = entry_of("simulated h200", &rows(65536), 0);
        let all = wisdom(std::slice::from_ref(&entry));
        let found = |batch| all.recipe_near("simulated h200", &Limits::h200(), &rows(batch));
        for batch in [40_000, 65536, 1 << 20] {
            assert_eq!(found(batch), entry.recipe().ok(), "{batch}");
        }
        assert_eq!([1, 100].map(found), [None, None], "they do not fill the device");
    }
    // A single long transform fills it as several do.
    let long = |batch| Fft::new([1 << 24]).r2c().batch(batch).build().expect("it is possible");
    let entry = entry_of("simulated h200", &long(4), 0);
    let all = wisdom(std::slice::from_ref(&entry));
    assert_eq!(all.recipe_near("simulated h200", &Limits::h200(), &long(1)), entry.recipe().ok());
}

#[test]
fn plans_follow_wisdom_of_another_number_where_the_search_offers_it() {
    let plain = Device::sim(Limits::h200()).with_wisdom(Wisdom::new());
    let told = |entry: &Entry| plain.clone().with_wisdom(wisdom(std::slice::from_ref(entry)));
    let kernels = |device: &Device, problem: &Problem| {
        device.plan(problem).expect("it has a plan").program().expect("it has kernels").kernels.clone()
    };
    let (known, asked) = (many(1000, 5000), many(1000, 50_000));
    let good = entry_of("simulated h200", &known, 2);
    assert_ne!(kernels(&told(&good), &asked), kernels(&plain, &asked));
    let recipe = told(&good).recipe(&asked).expect("nothing is read");
    assert_eq!(recipe, good.recipe().ok());
    // Tiles of more transforms than there are now are not offered.
    let twelve = many(16, 12);
    let found = candidates(&twelve, &Limits::h200(), 24).expect("it has plans");
    let wide = found.iter().find(|one| one.recipe.tiles[0].batch[0] > 7).expect("short rows share a tile");
    let wide = Entry::new("simulated h200", &twelve, &wide.recipe, Some(1.234_567), Some(1.5));
    let fewer = many(16, 7);
    assert_eq!(told(&wide).recipe(&fewer), Ok(None));
    assert_eq!(kernels(&told(&wide), &fewer), kernels(&plain, &fewer));
}

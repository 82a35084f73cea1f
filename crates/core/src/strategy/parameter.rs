//! Numbers that some strategies may be given with their name: `matmul:elements=4,planes=2`.

use std::fmt;

use super::Algorithm;
use crate::error::Error;

/// A number that a strategy may be given; without it, the strategy chooses.
///
/// ```
/// use warpfft_core::Strategy;
///
/// let matmul = Strategy::named("matmul")?;
/// let names: Vec<&str> = matmul.parameters().iter().map(|parameter| parameter.name).collect();
/// assert_eq!(names, ["elements", "planes"]);
/// # Ok::<(), warpfft_core::Error>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it counts.
    pub about: &'static str,
    /// The least that it may be.
    pub least: u32,
    /// The most.
    pub most: u32,
}

/// Parameters of a strategy at most.
const MOST: usize = 2;

/// What was given of a strategy's parameters, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Given([Option<u32>; MOST]);

impl Given {
    /// The values of `name=value,name=value`.
    pub fn parsed(algorithm: &dyn Algorithm, text: &str) -> Result<Self, Error> {
        text.split(',').try_fold(Self::default(), |given, part| {
            let pair = part.split_once('=').and_then(|(name, value)| Some((name, value.parse().ok()?)));
            let (name, value) = pair.ok_or_else(|| refused(algorithm, part.into()))?;
            if given.index(algorithm, name).is_some_and(|index| given.0[index].is_some()) {
                return Err(refused(algorithm, format!("{part} (a second time)")));
            }
            given.with(algorithm, name, value)
        })
    }

    /// The same with one more.
    pub fn with(mut self, algorithm: &dyn Algorithm, name: &str, value: u32) -> Result<Self, Error> {
        let index = self.index(algorithm, name).filter(|&index| {
            let own = &algorithm.parameters()[index];
            (own.least..=own.most).contains(&value)
        });
        let index = index.ok_or_else(|| refused(algorithm, format!("{name}={value}")))?;
        self.0[index] = Some(value);
        Ok(self)
    }

    fn index(&self, algorithm: &dyn Algorithm, name: &str) -> Option<usize> {
        algorithm.parameters().iter().take(MOST).position(|own| own.name == name)
    }

    /// The value of a parameter by its place among the strategy's.
    pub fn get(&self, index: usize) -> Option<u32> {
        self.0.get(index).copied().flatten()
    }

    /// Writes them as they are parsed, after a colon.
    pub fn write(&self, algorithm: &dyn Algorithm, f: &mut impl fmt::Write) -> fmt::Result {
        let given = algorithm.parameters().iter().zip(self.0).filter_map(|(own, value)| Some((own, value?)));
        for (place, (own, value)) in given.enumerate() {
            write!(f, "{}{}={value}", if place == 0 { ':' } else { ',' }, own.name)?;
        }
        Ok(())
    }
}

fn refused(algorithm: &dyn Algorithm, given: String) -> Error {
    let name = algorithm.facts().name;
    let range = |own: &Parameter| format!("{} of {} to {}", own.name, own.least, own.most);
    let ranges: Vec<String> = algorithm.parameters().iter().map(range).collect();
    let allowed = match algorithm.parameters().first() {
        Some(first) => format!("{}, as in {name}:{}={}", ranges.join(" and "), first.name, first.least),
        None => "none".into(),
    };
    Error::StrategyParameter { name, given, allowed }
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::strategy::Strategy;

    #[test]
    fn they_are_read_and_written() {
        for name in
            ["matmul", "matmul:elements=4", "matmul-constant:planes=2", "matmul:elements=16,planes=128"]
        {
            let strategy = Strategy::named(name).expect("it is right");
            assert_eq!(strategy.to_string(), name);
            assert_eq!(name.parse(), Ok(strategy));
        }
        let turned = Strategy::named("matmul:planes=2,elements=4");
        assert_eq!(turned.map(|strategy| strategy.to_string()), Ok("matmul:elements=4,planes=2".into()));
        assert_ne!(Strategy::named("matmul"), Strategy::named("matmul:planes=1"));
        let with = Strategy::named("matmul").and_then(|matmul| matmul.with("elements", 8));
        assert_eq!(with, Strategy::named("matmul:elements=8"));
        assert_eq!(format!("{:>20}|", Strategy::named("matmul:planes=1").unwrap()), "     matmul:planes=1|");
    }

    #[test]
    fn what_is_wrong_is_named_with_what_would_work() {
        let wrong = [
            "elements=0",
            "elements=17",
            "elements=-1",
            "elements",
            "",
            "planes=129",
            "points=2",
            "elements=2,elements=2",
            "elements=2,",
            "elements=4294967297",
        ];
        for given in wrong {
            let error = Strategy::named(&format!("matmul:{given}")).expect_err(given);
            assert!(matches!(error, Error::StrategyParameter { name: "matmul", .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains("elements of 1 to 16 and planes of 1 to 128"), "{text}");
        }
        let none = Strategy::named("fft4:elements=2").expect_err("it takes none");
        assert!(none.to_string().contains("takes none"), "{none}");
        assert!(matches!(Strategy::named("fft5:elements=2"), Err(Error::UnknownStrategy { .. })));
    }
}

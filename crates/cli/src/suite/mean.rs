//! Means of ratios.

use super::record::Record;

/// The geometric mean; `None` of nothing.
pub fn geometric(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for value in values {
        sum += value.ln();
        count += 1;
    }
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

/// Records by group and precision, groups in the order of their first rows.
pub fn groups<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<(String, Vec<&'a Record>)> {
    let mut groups: Vec<(String, Vec<&Record>)> = Vec::new();
    for record in records {
        let name = format!("{} {}", record.group, record.precision);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, members)) => members.push(record),
            None => groups.push((name, vec![record])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_a_ratio_and_its_inverse_is_one() {
        assert!((geometric([4.0, 0.25]).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(geometric([]), None);
    }
}

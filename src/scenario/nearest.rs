//! "Did you mean …?"

/// So many candidates are looked at.
const MOST: usize = 10_000;
/// A longer name, in bytes, is no slip of the fingers.
const LONGEST: usize = 100;

/// The candidate that a mistyped name most likely stands for; none where all differ too much.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let allowed = 1 + name.chars().count() / 4;
    candidates
        .into_iter()
        .take(MOST)
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= 4 * allowed)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Letters to change, add, leave out or swap; a letter's case is no difference.
fn distance(name: &str, candidate: &str) -> usize {
    strsim::osa_distance(&name.to_lowercase(), &candidate.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_fingers_is_understood() {
        let steps = ["check", "insert", "commit"];
        assert_eq!(nearest("chekc", steps), Some("check"));
        assert_eq!(nearest("Check", steps), Some("check"));
        assert_eq!(nearest("comit", steps), Some("commit"));
        assert_eq!(nearest("rollback", steps), None);
        assert_eq!(nearest("a", ["b"]), None);
    }
}

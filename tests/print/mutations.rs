//! Scenario files with sections and lines of others in them.

use std::fs;
use std::path::Path;

use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};

use super::{files, survives};

/// A seed for each round, so that a failure names the one to look at.
const ROUNDS: u64 = 600;

/// A text cut before each line that begins with the mark.
fn cut<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    let mut starts: Vec<usize> = text.match_indices(mark).map(|(at, _)| at).collect();
    starts.retain(|&at| at > 0 && text.as_bytes()[at - 1] == b'\n');
    let bounds: Vec<usize> = [vec![0], starts, vec![text.len()]].concat();
    bounds.windows(2).map(|bounds| &text[bounds[0]..bounds[1]]).collect()
}

/// Takes a part away, doubles one, moves one, or brings one in from elsewhere.
fn changed<'a>(parts: &mut Vec<&'a str>, elsewhere: &[&'a str], random: &mut impl Rng) {
    let Some(last) = parts.len().checked_sub(1) else { return };
    let (from, to) = (random.random_range(0..=last), random.random_range(0..=last));
    match random.random_range(0..4) {
        0 => drop(parts.remove(from)),
        1 => parts.insert(to, parts[from]),
        2 => parts.swap(from, to),
        _ => parts.insert(to, elsewhere.choose(random).copied().unwrap_or_default()),
    }
}

#[test]
fn what_is_left_of_a_changed_file_survives() {
    let texts: Vec<String> = files().iter().map(|path| fs::read_to_string(path).expect("a file")).collect();
    let sections: Vec<&str> = texts.iter().flat_map(|text| cut(text, "-- @")).collect();
    let lines: Vec<&str> = texts.iter().flat_map(|text| text.split_inclusive('\n')).collect();
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/write-skew/changed.sql");
    let mut survived = 0;
    for seed in 0..ROUNDS {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let text = texts.choose(&mut random).expect("a text");
        let by_line = random.random_bool(0.5);
        let mut parts = if by_line { text.split_inclusive('\n').collect() } else { cut(text, "-- @") };
        for _ in 0..random.random_range(1..4) {
            changed(&mut parts, if by_line { &lines } else { &sections }, &mut random);
        }
        survived += usize::from(survives(&beside, &parts.concat()));
    }
    assert!(survived >= 80, "{survived} of {ROUNDS} changed files are still scenarios");
}

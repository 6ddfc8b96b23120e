//! How many orders there are.

/// In how many orders sessions of these lengths can be merged; `u64::MAX` where they are more.
pub fn merges(lengths: &[u64]) -> u64 {
    let mut orders: u128 = 1;
    let mut placed: u128 = 0;
    for &length in lengths {
        for step in 1..=u128::from(length) {
            placed += 1;
            // Exact at every step: a product of binomial coefficients.
            let Some(product) = orders.checked_mul(placed) else { return u64::MAX };
            orders = product / step;
        }
    }
    u64::try_from(orders).unwrap_or(u64::MAX)
}

/// How many times a schedule changes from one session to another.
pub fn switches(choices: &[usize]) -> usize {
    choices.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_are_multinomial() {
        assert_eq!(merges(&[5, 5]), 252);
        assert_eq!(merges(&[4, 4, 4]), 34_650);
        assert_eq!(merges(&[4, 4, 4, 4]), 63_063_000);
        assert_eq!(merges(&[]), 1);
        assert_eq!(merges(&[80, 80]), u64::MAX);
    }

    #[test]
    fn switches_are_counted_between_neighbours() {
        assert_eq!(switches(&[0, 0, 1, 1, 0]), 2);
        assert_eq!(switches(&[]), 0);
    }
}

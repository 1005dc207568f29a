//! Half as many values for a series that has become too long: every pair becomes one.
//!
//! Must not know: what the values are. Start reading at [`halved`].

/// Every pair of values as one, which `join` makes by adding the second value to the first. With `is_odd`, the first value is alone, because
/// it is the second one of its pair: pairs begin at even numbers of the whole series, of which these values are a part.
pub fn halved<T: Clone>(values: &[T], is_odd: bool, mut join: impl FnMut(&mut T, &T)) -> Vec<T> {
    let (alone, pairs) = values.split_at(usize::from(is_odd).min(values.len()));
    let mut joined = Vec::with_capacity(values.len() / 2 + 1);
    joined.extend_from_slice(alone);
    joined.extend(pairs.chunks(2).map(|pair| {
        let mut first = pair[0].clone();
        pair[1..].iter().for_each(|second| join(&mut first, second));
        first
    }));
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_begin_at_even_numbers() {
        let sums = |values: &[u64], is_odd| halved(values, is_odd, |sum, value| *sum += value);
        assert_eq!(sums(&[1, 2, 3, 4], false), [3, 7]);
        assert_eq!(sums(&[1, 2, 3, 4], true), [1, 5, 4]);
        assert_eq!(sums(&[1, 2, 3], false), [3, 3]);
        assert_eq!([sums(&[], false), sums(&[], true)], [[0; 0]; 2]);
    }
}

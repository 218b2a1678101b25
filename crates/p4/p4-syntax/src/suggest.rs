//! Which known word did the user probably mean?

/// The candidate nearest to `word`, if it is near enough to be a slip of the keyboard; the first of equally near ones.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = match word.chars().count() {
        0..=2 => return None,
        3..=5 => 1,
        6..=40 => 2,
        _ => return None,
    };
    let near = candidates.into_iter().map(|c| (distance(word, c, allowed), c)).filter(|(d, _)| (1..=allowed).contains(d));
    near.min_by_key(|(d, _)| *d).map(|(_, c)| c)
}

/// How many letters to add, drop, change or swap with their neighbour; anything above `limit` for words too unlike.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        rows[i][0] = i;
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let words = ["header", "control", "parser", "table"];
        assert_eq!(nearest("heder", words), Some("header"));
        assert_eq!(nearest("contorl", words), Some("control"));
        assert_eq!(nearest("parser", words), None);
        assert_eq!(nearest("x", words), None);
        assert_eq!(nearest("ethernet", words), None);
    }
}

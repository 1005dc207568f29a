//! Rows of text in columns.
//!
//! Must not know: what the rows are about. Start reading at [`aligned`].

use std::fmt::Write as _;

/// What a cell says that has no value.
pub(crate) const NOTHING: &str = "-";

/// Rows in columns, the first ones to the left and the others to the right.
pub(crate) fn aligned(rows: &[Vec<String>], n_left: usize) -> String {
    aligned_by(rows, |column| column < n_left)
}

/// Rows in columns, each to the left where `is_left` says so of its index, else to the right.
pub(crate) fn aligned_by(rows: &[impl AsRef<[String]>], is_left: impl Fn(usize) -> bool) -> String {
    let rows = || rows.iter().map(AsRef::as_ref);
    let n_columns = rows().map(<[String]>::len).max().unwrap_or_default();
    let width = |column: usize| rows().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..n_columns).map(|column| width(column).unwrap_or_default()).collect();
    let mut text = String::new();
    for row in rows() {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
            let gap = if column == 0 { "" } else { "  " };
            // Writing to a text cannot fail.
            let _ = if is_left(column) {
                write!(line, "{gap}{cell}{padding}")
            } else {
                write!(line, "{gap}{padding}{cell}")
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_at_the_right_and_words_at_the_left() {
        let rows = [["#", "bs", "IOPS"], ["1", "4k", "1,000"], ["10!", "64k", "9"]];
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
        assert_eq!(aligned(&rows, 2), "#    bs    IOPS\n1    4k   1,000\n10!  64k      9\n");
    }
}

//! Rows of text in columns: the layout of all tables of a terminal.
//!
//! Must not know: what the rows are about. Start reading at [`aligned`], then [`ColumnLayout`].

/// What a cell says that has no value.
pub const NOTHING: &str = "-";

/// Between two columns.
const GAP: &str = "  ";

/// Rows in columns, the first ones to the left and the others to the right.
pub fn aligned(rows: &[impl AsRef<[String]>], n_left: usize) -> String {
    let layout = ColumnLayout::of(rows, |column| column < n_left);
    rows.iter().map(|row| layout.line(row.as_ref())).collect()
}

/// How wide the columns of a table are, and to which side their cells stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnLayout {
    /// Letters of the widest cell, and whether the cells stand to the left.
    columns: Vec<(usize, bool)>,
}

impl ColumnLayout {
    /// The layout of these rows. A column stands to the left where `is_left` says so of its index, else to the right.
    pub fn of(rows: &[impl AsRef<[String]>], is_left: impl Fn(usize) -> bool) -> Self {
        let n_columns = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or_default();
        let cells = |column: usize| rows.iter().filter_map(move |row| row.as_ref().get(column));
        let width = |column| cells(column).map(|cell| cell.chars().count()).max().unwrap_or_default();
        Self { columns: (0..n_columns).map(|column| (width(column), is_left(column))).collect() }
    }

    pub fn line(&self, row: &[String]) -> String {
        let cells = row.iter().zip(&self.columns).map(|(cell, (width, is_left))| {
            if *is_left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        format!("{}\n", cells.collect::<Vec<_>>().join(GAP).trim_end())
    }

    /// A line of dashes below all columns.
    pub fn rule(&self) -> String {
        "-".repeat(self.width(0..self.columns.len())) + "\n"
    }

    /// A heading between two rules above some columns.
    pub fn heading_above(&self, columns: std::ops::Range<usize>, heading: &str) -> String {
        let before = self.width(0..columns.start) + if columns.start > 0 { GAP.len() } else { 0 };
        let width = self.width(columns);
        format!("{:before$}{:-^width$}\n", "", format!(" {heading} "))
    }

    /// Letters of some columns beside each other.
    fn width(&self, columns: std::ops::Range<usize>) -> usize {
        let gaps = columns.len().saturating_sub(1) * GAP.len();
        self.columns[columns].iter().map(|(width, _)| width).sum::<usize>() + gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let rows = [["#", "bs", "IOPS"], ["1", "4k", "1,000"], ["10!", "64k", "9"]];
        rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect()
    }

    #[test]
    fn numbers_stand_at_the_right_and_words_at_the_left() {
        assert_eq!(aligned(&rows(), 2), "#    bs    IOPS\n1    4k   1,000\n10!  64k      9\n");
        // A row may end before the others.
        let short = vec!["2".to_owned(), "no I/O".to_owned()];
        assert_eq!(aligned(&[vec![rows()[0].clone(), short]].concat(), 1), "#      bs  IOPS\n2  no I/O\n");
    }

    #[test]
    fn rules_are_as_wide_as_their_columns() {
        let layout = ColumnLayout::of(&rows(), |column| column < 2);
        assert_eq!(layout.rule(), "---------------\n");
        assert_eq!(layout.heading_above(1..3, "a"), "     --- a ----\n");
    }
}

//! Tables that fit.

use super::words_of_lines;

/// Between columns.
const GAP: &str = "  ";
/// No column of words is narrower.
const WORDS_MIN: usize = 24;

/// How the cells of a column are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
    /// As left, and wrapped where the table would be too wide.
    Words,
}

/// Rows of cells under a head, unless all its names are empty. The first column names the row.
pub struct Table {
    head: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// One without rows.
    pub fn new<N: Into<String>>(head: impl IntoIterator<Item = (N, Align)>) -> Self {
        let head = head.into_iter();
        Self {
            head: head.map(|(name, align)| (name.into(), align)).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; cells that it lacks are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table in lines of at most `columns`, behind `indent`. Columns that have no room
    /// follow in further blocks, each with the first column in front.
    pub fn text(&self, indent: &str, columns: usize) -> String {
        let room = columns.saturating_sub(indent.chars().count());
        let widths = self.widths(room);
        let mut out = String::new();
        for block in blocks(&widths, room) {
            if !out.is_empty() {
                out.push('\n');
            }
            let head: Vec<String> = self.head.iter().map(|(name, _)| name.clone()).collect();
            let is_named = head.iter().any(|name| !name.is_empty());
            let head = [&head].into_iter().filter(|_| is_named);
            for row in head.chain(&self.rows) {
                self.write(&mut out, indent, row, &block, &widths);
            }
        }
        out
    }

    /// How wide each column is.
    fn widths(&self, room: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = Vec::new();
        for (column, (name, _)) in self.head.iter().enumerate() {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let lengths = cells.chain([name]).map(|cell| cell.chars().count());
            widths.push(lengths.max().unwrap_or(0));
        }
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        let excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(room);
        let of_words = self.head.iter().zip(&mut widths);
        for ((_, align), width) in of_words {
            if *align == Align::Words {
                *width = (*width).min(width.saturating_sub(excess).max(WORDS_MIN));
            }
        }
        widths
    }

    fn write(
        &self,
        out: &mut String,
        indent: &str,
        row: &[String],
        block: &[usize],
        widths: &[usize],
    ) {
        let nothing = String::new();
        let cells: Vec<(Vec<String>, Align, usize)> = block
            .iter()
            .filter_map(|column| {
                let (_, align) = self.head.get(*column)?;
                let cell = row.get(*column).unwrap_or(&nothing);
                let width = *widths.get(*column)?;
                let lines = match align {
                    Align::Words => words_of_lines(cell, width),
                    Align::Left | Align::Right => vec![cell.clone()],
                };
                Some((lines, *align, width))
            })
            .collect();
        let height = cells
            .iter()
            .map(|(lines, ..)| lines.len())
            .max()
            .unwrap_or(0);
        for line in 0..height {
            let mut text = String::new();
            for (place, (lines, align, width)) in cells.iter().enumerate() {
                let cell = lines.get(line).unwrap_or(&nothing);
                let gap = if place == 0 { "" } else { GAP };
                text += &match align {
                    Align::Right => format!("{gap}{cell:>width$}"),
                    Align::Left | Align::Words => format!("{gap}{cell:<width$}"),
                };
            }
            out.push_str(format!("{indent}{text}").trim_end());
            out.push('\n');
        }
    }
}

/// The columns of one block: the first one and as many others as fit, at least one.
fn blocks(widths: &[usize], room: usize) -> Vec<Vec<usize>> {
    let first = widths.first().copied().unwrap_or(0);
    let mut blocks = vec![vec![0]];
    let mut used = first;
    for (column, width) in widths.iter().enumerate().skip(1) {
        let more = GAP.len() + width;
        match blocks.last_mut() {
            Some(block) if block.len() == 1 || used + more <= room => block.push(column),
            _ => {
                blocks.push(vec![0, column]);
                used = first;
            }
        }
        used += more;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new([
            ("size", Align::Left),
            ("time", Align::Right),
            ("rate", Align::Right),
        ]);
        table.row(["8B", "1 us", "2.500 MiB/s"].map(str::to_owned));
        table.row(["1KiB".to_owned(), "10 us".to_owned()]);
        table
    }

    #[test]
    fn columns_are_as_wide_as_what_is_in_them() {
        let text = "size   time         rate\n8B     1 us  2.500 MiB/s\n1KiB  10 us\n";
        assert_eq!(table().text("", 80), text);
    }

    #[test]
    fn columns_without_room_follow_in_a_block_of_their_own() {
        let text = "  size   time\n  8B     1 us\n  1KiB  10 us\n\n  size         rate\n  8B    2.500 MiB/s\n  1KiB\n";
        assert_eq!(table().text("  ", 22), text);
        assert!(
            table().text("", 3).lines().count() == 7,
            "one column at least"
        );
    }

    #[test]
    fn a_head_without_names_is_no_line() {
        let mut table = Table::new([("", Align::Left), ("", Align::Right)]);
        table.row(["time".to_owned(), "1 us".to_owned()]);
        assert_eq!(table.text("  ", 80), "  time  1 us\n");
    }

    #[test]
    fn words_are_wrapped_in_their_column() {
        let mut table = Table::new([("id", Align::Left), ("what", Align::Words)]);
        table.row([
            "a".to_owned(),
            "one two three four five six seven".to_owned(),
        ]);
        let text = "id  what\na   one two three four five\n    six seven\n";
        assert_eq!(table.text("", 28), text);
        assert_eq!(table.text("", 80).lines().count(), 2);
    }
}

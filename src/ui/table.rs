//! Columns of words in a narrow place: the first ones stay longest, and a column's head comes from the same declaration
//! as its cells.

use ratatui::{layout::HorizontalAlignment, style::Style};

use super::panes::row::Row;

/// Text of a cell, and its style.
pub type Cell = (String, Style);

/// A column of things of one kind.
#[derive(Debug)]
pub struct TableColumn<T> {
    head: &'static str,
    width: usize,
    /// The side to which the column's words are aligned.
    align: HorizontalAlignment,
    cell: fn(&T) -> Cell,
}

/// A column of words.
pub fn left<T>(head: &'static str, width: usize, cell: fn(&T) -> Cell) -> TableColumn<T> {
    TableColumn { head, width, align: HorizontalAlignment::Left, cell }
}

/// A column of numbers.
pub fn right<T>(head: &'static str, width: usize, cell: fn(&T) -> Cell) -> TableColumn<T> {
    TableColumn { head, width, align: HorizontalAlignment::Right, cell }
}

/// How many of these widths fit beside each other, with a gap before each and one free cell at the end; and the number
/// of cells that they take.
pub fn fitting(widths: impl IntoIterator<Item = usize>, room: usize) -> (usize, usize) {
    let (mut count, mut taken) = (0, 0);
    for width in widths {
        if taken + width >= room {
            break;
        }
        count += 1;
        taken += width + 1;
    }
    (count, taken)
}

/// The columns for which there is room.
#[derive(Debug)]
pub struct TextTable<T> {
    columns: Vec<TableColumn<T>>,
    /// Cells that the columns take, with a gap before each.
    pub width: usize,
}

impl<T> TextTable<T> {
    /// As many of the first columns as fit into `room` cells.
    pub fn fitting(columns: impl Into<Vec<TableColumn<T>>>, room: usize) -> Self {
        let mut columns = columns.into();
        let (count, width) = fitting(columns.iter().map(|column| column.width), room);
        columns.truncate(count);
        Self { columns, width }
    }

    /// Adds a column that always has room.
    #[must_use]
    pub fn with(mut self, column: TableColumn<T>) -> Self {
        self.width += column.width + 1;
        self.columns.push(column);
        self
    }

    /// Writes the heads.
    pub fn head(&self, row: &mut Row<'_>, style: Style) {
        for column in &self.columns {
            column.write(column.head, style, row);
        }
    }

    /// Writes the cells of a thing.
    pub fn cells(&self, of: &T, row: &mut Row<'_>) {
        for column in &self.columns {
            let (text, style) = (column.cell)(of);
            column.write(&text, style, row);
        }
    }
}

impl<T> TableColumn<T> {
    fn write(&self, text: &str, style: Style, row: &mut Row<'_>) {
        row.gap(1);
        match self.align {
            HorizontalAlignment::Right => row.right(text, self.width, style),
            _ => row.cell(text, self.width, style),
        };
    }
}

#[cfg(test)]
mod tests {
    use ratatui::{buffer::Buffer, layout::Rect};

    use super::*;

    fn shown(width: u16) -> [String; 2] {
        let style = Style::new();
        let columns = [
            right("tens", 4, |n: &u32| ((n / 10).to_string(), Style::new())),
            left("ones", 5, ones),
        ];
        let table = TextTable::fitting(columns, usize::from(width));
        [true, false].map(|is_head| {
            let area = Rect::new(0, 0, width, 1);
            let mut buf = Buffer::empty(area);
            let mut row = Row::new(area, &mut buf);
            if is_head {
                table.head(&mut row, style)
            } else {
                table.cells(&42, &mut row)
            }
            buf.content.iter().map(|cell| cell.symbol()).collect()
        })
    }

    fn ones(n: &u32) -> Cell {
        (format!("{} one", n % 10), Style::new())
    }

    #[test]
    fn columns_stand_below_their_heads_and_the_first_stay_longest() {
        assert_eq!(shown(12), [" tens ones  ", "    4 2 one "]);
        assert_eq!(shown(10), [" tens     ", "    4     "]);
        assert_eq!(shown(4), ["    ", "    "]);
    }
}

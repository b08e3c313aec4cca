//! Tables of comma separated values.
//!
//! In: a text. Out: a [`Table`] of cells with the names of the columns, where the first row is not made of numbers; and
//! rows of numbers as text.

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names of the columns, if the file gives them.
    pub header: Option<Vec<String>>,
    /// The cells, row by row, without the header.
    pub rows: Vec<csv::StringRecord>,
    /// How many columns there are.
    pub columns: usize,
}

impl Table {
    /// The line of the file on which a row stands.
    pub fn line(&self, row: usize) -> u64 {
        self.rows[row].position().map_or(0, csv::Position::line)
    }

    /// How messages call a column.
    pub fn column_name(&self, column: usize) -> String {
        match &self.header {
            Some(names) => format!("column `{}`", names[column]),
            None => format!("column {}", column + 1),
        }
    }

    /// The cell without blanks around it.
    pub fn cell(&self, row: usize, column: usize) -> &str {
        self.rows[row].get(column).unwrap_or_default().trim()
    }
}

/// A cell as a number; `nan` and `inf` in any case count.
pub fn number(cell: &str) -> Option<f64> {
    // Rust reads "infinity", "inf" and "nan" in any case too; a lone sign or an empty cell is nothing.
    cell.parse().ok()
}

/// Reads a table. Every row must have as many cells as the first.
pub fn read(text: &str) -> Result<Table, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut rows: Vec<csv::StringRecord> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        if let Some(first) = rows.first()
            && first.len() != record.len()
        {
            let line = record.position().map_or(0, csv::Position::line);
            return Err(format!("line {line} has {} cells, the first row has {}", record.len(), first.len()));
        }
        rows.push(record);
    }
    let columns = rows.first().map_or(0, csv::StringRecord::len);
    let named = rows.first().is_some_and(|first| first.iter().any(|cell| number(cell.trim()).is_none()));
    let header = named.then(|| rows.remove(0).iter().map(|cell| cell.trim().to_string()).collect());
    Ok(Table { header, rows, columns })
}

/// Writes rows of cells, with names above them if given.
pub fn write(header: Option<&[String]>, rows: impl Iterator<Item = Vec<String>>) -> Result<String, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    if let Some(names) = header {
        writer.write_record(names).map_err(|error| error.to_string())?;
    }
    for row in rows {
        writer.write_record(row).map_err(|error| error.to_string())?;
    }
    let bytes = writer.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_found() {
        let table = read("a, b\n1, 2\n3,4\n").unwrap();
        assert_eq!(table.header, Some(vec!["a".to_string(), "b".to_string()]));
        assert_eq!((table.rows.len(), table.columns), (2, 2));
        assert_eq!(table.cell(0, 1), "2");
        assert_eq!(table.line(1), 3);
        let table = read("1,2\n3,nan\n").unwrap();
        assert_eq!((table.header, table.rows.len()), (None, 2));
        assert_eq!(read("").unwrap().columns, 0);
    }

    #[test]
    fn uneven_rows_are_refused() {
        assert_eq!(read("1,2\n3\n").unwrap_err(), "line 2 has 1 cells, the first row has 2");
    }

    #[test]
    fn writing_quotes_where_needed() {
        let text = write(Some(&["a,b".to_string()]), [vec!["1".to_string()]].into_iter()).unwrap();
        assert_eq!(text, "\"a,b\"\n1\n");
    }
}

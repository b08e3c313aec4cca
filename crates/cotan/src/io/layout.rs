//! Text in lines.
//!
//! In: a value as a tree of texts. Out: one line if it fits, else nested lines, numbers filled up to the width.

/// A tree of texts.
#[derive(Clone, Debug)]
pub enum Doc {
    /// A word.
    Word(String),
    /// `x: doc`.
    Named(String, Box<Doc>),
    /// `open a, b, c close`.
    Group {
        /// `[`, `(`, `Point {`.
        open: String,
        /// The items.
        items: Vec<Doc>,
        /// `]`, `)`, `}`.
        close: &'static str,
    },
}

/// Lines are at most so long where that can be.
const WIDTH: usize = 100;
/// No line is indented further.
const DEEPEST: usize = 64;

impl Doc {
    /// On one line.
    pub fn line(&self) -> String {
        let mut out = String::new();
        self.write_line(&mut out);
        out
    }

    fn write_line(&self, out: &mut String) {
        match self {
            Doc::Word(text) => out.push_str(text),
            Doc::Named(name, doc) => {
                out.push_str(name);
                out.push_str(": ");
                doc.write_line(out);
            }
            Doc::Group { open, items, close } => {
                // Braces have blanks inside, brackets have not.
                let blank = if close.starts_with('}') && !items.is_empty() { " " } else { "" };
                out.push_str(open);
                out.push_str(blank);
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    item.write_line(out);
                }
                out.push_str(blank);
                out.push_str(close);
            }
        }
    }

    /// How long the line would be; stops counting above `limit`.
    fn length(&self, limit: usize) -> usize {
        match self {
            Doc::Word(text) => text.chars().count(),
            Doc::Named(name, doc) => name.chars().count() + 2 + doc.length(limit),
            Doc::Group { open, items, close } => {
                let mut sum = open.chars().count() + close.len() + 2;
                for item in items {
                    if sum > limit {
                        break;
                    }
                    sum += item.length(limit - sum) + 2;
                }
                sum
            }
        }
    }

    /// On as many lines as it needs.
    pub fn lines(&self) -> String {
        let mut out = String::new();
        self.write_lines(&mut out, 0, 0);
        out
    }

    /// Writes at an indentation, after `before` characters of the line.
    fn write_lines(&self, out: &mut String, indent: usize, before: usize) {
        // Deeper than this nobody reads lines, and the blanks of a long list would be its square.
        if indent > DEEPEST {
            return self.write_line(out);
        }
        let room = WIDTH.saturating_sub(indent + before + 1);
        match self {
            Doc::Named(name, doc) => {
                out.push_str(name);
                out.push_str(": ");
                doc.write_lines(out, indent, before + name.chars().count() + 2);
            }
            Doc::Group { open, items, close } if self.length(room) > room && !items.is_empty() => {
                out.push_str(open);
                let inner = indent + 4;
                if items.iter().all(|i| matches!(i, Doc::Word(_))) {
                    fill(out, items, inner);
                } else {
                    for item in items {
                        new_line(out, inner);
                        item.write_lines(out, inner, 0);
                        out.push(',');
                    }
                }
                new_line(out, indent);
                out.push_str(close);
            }
            Doc::Word(_) | Doc::Group { .. } => self.write_line(out),
        }
    }
}

/// As many words on a line as fit.
fn fill(out: &mut String, words: &[Doc], indent: usize) {
    let mut column = usize::MAX;
    for word in words {
        let text = word.line();
        let length = text.chars().count() + 1;
        if column.saturating_add(length + 1) > WIDTH {
            new_line(out, indent);
            column = indent;
        } else {
            out.push(' ');
            column += 1;
        }
        out.push_str(&text);
        out.push(',');
        column += length;
    }
}

fn new_line(out: &mut String, indent: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(n: usize) -> Doc {
        let items = (0..n).map(|i| Doc::Word(i.to_string())).collect();
        Doc::Group { open: "[".into(), items, close: "]" }
    }

    #[test]
    fn short_texts_stay_on_one_line() {
        assert_eq!(words(3).lines(), "[0, 1, 2]");
        let named = Doc::Named("x".into(), Box::new(words(2)));
        let point = Doc::Group { open: "Point {".into(), items: vec![named], close: "}" };
        assert_eq!(point.lines(), "Point { x: [0, 1] }");
        assert_eq!(words(0).lines(), "[]");
    }

    #[test]
    fn long_texts_are_filled() {
        let text = words(100).lines();
        assert!(text.lines().all(|l| l.len() <= WIDTH), "{text}");
        assert!(text.starts_with("[\n    0, 1, ") && text.ends_with(" 99,\n]"), "{text}");
    }
}

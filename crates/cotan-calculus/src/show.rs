//! Values as trees and as text.
//!
//! In: a value. Out: a [`Tree`] in which nothing is suspended any more, and its text: `[]`, numbers, pairs, lists, `J v`, the names
//! of primitives, functions as they were written.

use crate::error::Stuck;
use crate::machine::Machine;
use crate::value::{Head, Node, Value};
use std::fmt;

/// A value, worked out.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// A real.
    Real(f64),
    /// A truth value.
    Truth(bool),
    /// A pair that begins no list.
    Pair(Box<Tree>, Box<Tree>),
    /// Pairs that end in `[]`; also `[]` itself.
    List(Vec<Tree>),
    /// `J` of a value.
    Reverse(Box<Tree>),
    /// A function.
    Function(String),
    /// A value with an attached derivative.
    Attached(Box<Tree>, Box<Tree>),
    /// What lies too deep to be shown.
    Deeper,
}

/// How deeply pairs are shown.
pub(crate) const MOST_DEPTH: usize = 200;

/// How much of a value an error shows.
const BRIEF: usize = 60;

impl Machine<'_> {
    /// Works a value out, to the last part.
    ///
    /// # Errors
    /// A suspended part is stuck.
    pub(crate) fn tree(&mut self, v: Value, depth: usize) -> Result<Tree, Stuck> {
        self.deeper(|m| m.tree_here(v, depth))
    }

    fn tree_here(&mut self, v: Value, depth: usize) -> Result<Tree, Stuck> {
        if depth == 0 {
            return Ok(Tree::Deeper);
        }
        let tagged = |k: u32, tree| (0..k).fold(tree, |tree, _| Tree::Reverse(Box::new(tree)));
        Ok(match self.head(v)? {
            Head::Nil(k) => tagged(k, Tree::List(Vec::new())),
            Head::Real(k, r) => tagged(k, Tree::Real(r)),
            Head::Primitive(k, t) => tagged(k, Tree::Function(t.to_string())),
            Head::Closure(k, id) => {
                let tree = match self.truths.iter().position(|t| *t == Value::Node(id)) {
                    Some(i) => Tree::Truth(i == 1),
                    None => Tree::Function(self.function(id)),
                };
                tagged(k, tree)
            }
            Head::Attached(v1, v2) => {
                Tree::Attached(Box::new(self.tree(v1, depth - 1)?), Box::new(self.tree(v2, depth - 1)?))
            }
            Head::Pair(level, a, mut rest) => {
                // A tagged pair is shown as the tag of a pair, where its components bear tags.
                let mut items = vec![self.tree(a, depth - 1)?];
                loop {
                    match self.head(rest)? {
                        Head::Pair(n, a, b) if n == level => {
                            items.push(self.tree(a, depth - 1)?);
                            rest = b;
                        }
                        Head::Nil(n) if n == level => return Ok(untag(level, Tree::List(items))),
                        _ => break,
                    }
                    if items.len() > 100_000 {
                        return Ok(Tree::Deeper);
                    }
                }
                let mut tree = self.tree(rest, depth - 1)?;
                // Pairs nest to the right.
                if items.len() > depth {
                    return Ok(Tree::Deeper);
                }
                for item in items.into_iter().rev() {
                    tree = untag(level, Tree::Pair(Box::new(item), Box::new(tree)));
                }
                tree
            }
        })
    }

    /// The text of a function: the names of its captures and its parameter.
    fn function(&self, closure: u32) -> String {
        let Node::Closure(lambda, _) = &self.cells[closure as usize].node else { return "?".into() };
        let captures = &lambda.names[..lambda.captures];
        let head = format!("\\{}. ...", lambda.names[lambda.captures]);
        if captures.is_empty() { format!("<{head}>") } else { format!("<{{{}}}, {head}>", captures.join(", ")) }
    }

    /// A short text of a value for messages, whatever is wrong with it.
    pub(crate) fn brief(&mut self, v: Value) -> String {
        let here = self.here;
        let text = match self.tree(v, 6) {
            Ok(tree) => tree.to_string(),
            Err(_) => "?".into(),
        };
        self.here = here;
        match text.char_indices().nth(BRIEF) {
            Some((at, _)) => format!("{}...", &text[..at]),
            None => text,
        }
    }
}

/// `(J a, J b)` with a tag is `J (a, b)`.
fn untag(level: u32, tree: Tree) -> Tree {
    (0..level).fold(tree, |tree, _| match tree {
        Tree::Pair(a, b) => match (*a, *b) {
            (Tree::Reverse(a), Tree::Reverse(b)) => Tree::Reverse(Box::new(Tree::Pair(a, b))),
            (a, b) => Tree::Pair(Box::new(a), Box::new(b)),
        },
        Tree::List(items) if items.iter().all(|t| matches!(t, Tree::Reverse(_))) => {
            let inner = items.into_iter().map(|t| if let Tree::Reverse(t) = t { *t } else { t }).collect();
            Tree::Reverse(Box::new(Tree::List(inner)))
        }
        tree => tree,
    })
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Real(r) => f.write_str(&crate::print::real(*r)),
            Tree::Truth(b) => write!(f, "{b}"),
            Tree::Pair(a, b) => write!(f, "({a}, {b})"),
            Tree::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Tree::Reverse(inner) => match **inner {
                Tree::Attached(..) => write!(f, "J ({inner})"),
                Tree::Reverse(_) => write!(f, "J ({inner})"),
                Tree::Real(r) if r.is_sign_negative() => write!(f, "J ({inner})"),
                _ => write!(f, "J {inner}"),
            },
            Tree::Function(text) => f.write_str(text),
            Tree::Attached(a, b) => write!(f, "{a} <-J {b}"),
            Tree::Deeper => f.write_str("..."),
        }
    }
}

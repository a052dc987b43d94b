//! The text of a program that is to run: its tree, and its places.

use ruff_text_size::Ranged;

use super::place::ProgramLines;
use super::syntax::{NoSyntax, Tree};
use crate::domain::program::{Raised, Span};

/// A program that is Python.
pub struct ParsedProgram<'a> {
    pub text: &'a str,
    pub tree: Tree,
    pub(super) lines: ProgramLines<'a>,
}

impl<'a> ParsedProgram<'a> {
    /// # Errors
    /// `SyntaxError`, with its place if it has one.
    pub fn parse(text: &'a str) -> Result<Self, Box<Raised>> {
        let tree = Tree::parse(text).map_err(|error| match error {
            NoSyntax::Invalid { span, what } => Box::new(Raised::new("SyntaxError", what).at(span)),
            error => Box::new(Raised::new("SyntaxError", error.to_string())),
        })?;
        Ok(Self { text, tree, lines: ProgramLines::of(text) })
    }

    pub(super) fn span(&self, of: &impl Ranged) -> Span {
        self.lines.span(of)
    }
}

//! Python programs as syntax trees. Any text is parsed in bounded time and stack, so that hostile replies end in an
//! error.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{ModModule, Suite};
use ruff_python_parser::{Mode, Parsed, lexer, parse_module};
use thiserror::Error;

use super::place::ProgramLines;
use crate::domain::program::Span;

/// The most bytes of a program that is parsed.
pub const LONGEST: usize = 64 * 1024;
/// The longest chain of operators, attributes, subscripts and calls in one expression. The parser limits nesting, but
/// not such chains. Each link is a level of the tree, which is dropped and walked by recursion.
const LINKS: usize = 400;

/// Why a text is not a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoSyntax {
    #[error("the program has {0} bytes, and {LONGEST} is the most: write a shorter one")]
    TooLong(usize),
    #[error(
        "an expression has more than {LINKS} operators, calls and subscripts: split it into statements"
    )]
    TooDeep,
    #[error("line {}: {what}", span.line)]
    Invalid { span: Span, what: String },
}

/// The syntax tree of a program.
#[derive(Debug)]
pub struct Tree(Parsed<ModModule>);

impl Tree {
    /// Parses a program.
    ///
    /// # Errors
    ///
    /// The program is not Python, is longer than [`LONGEST`], or has an expression that is too deep to walk.
    pub fn parse(program: &str) -> Result<Self, NoSyntax> {
        if program.len() > LONGEST {
            return Err(NoSyntax::TooLong(program.len()));
        }
        if is_too_deep(program) {
            return Err(NoSyntax::TooDeep);
        }
        parse_module(program).map(Self).map_err(|error| NoSyntax::Invalid {
            span: ProgramLines::of(program).span(&error.location),
            what: error.error.to_string(),
        })
    }

    /// The statements of the module.
    pub fn body(&self) -> &Suite {
        &self.0.syntax().body
    }
}

/// Whether a tree of this program could be too deep.
fn is_too_deep(program: &str) -> bool {
    let mut lexer = lexer::lex(program, Mode::Module);
    let mut chains = Chains::default();
    loop {
        match lexer.next_token() {
            TokenKind::EndOfFile => return false,
            TokenKind::Newline => chains = Chains::default(),
            token => chains.add(token),
        }
        if chains.links() > LINKS {
            return true;
        }
    }
}

/// The chains of one logical line: for each open bracket, the number of links of its current element.
#[derive(Default)]
struct Chains {
    outer: Vec<usize>,
    current: usize,
    sum: usize,
}

impl Chains {
    /// An upper bound for the depth of the tree at this place.
    fn links(&self) -> usize {
        self.sum + self.current
    }

    fn add(&mut self, token: TokenKind) {
        match token {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                self.sum += self.current + 1;
                self.outer.push(self.current + 1);
                self.current = 0;
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                self.current = self.outer.pop().unwrap_or_default();
                self.sum -= self.current;
            }
            TokenKind::Comma | TokenKind::Semi => self.current = 0,
            token if token.is_operator() => self.current += 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_parsed_and_a_mistake_has_its_line() {
        assert_eq!(Tree::parse("x = 1\nprint(x)").unwrap().body().len(), 2);
        let error = Tree::parse("x = 1\ny = = 2").unwrap_err();
        assert_eq!(error.to_string(), "line 2: Expected an expression");
    }

    #[test]
    fn deep_and_long_programs_are_refused_and_do_not_overflow_the_stack() {
        for (begin, link, end) in [
            ("x = a", "+a", ""),
            ("x = a", ".a", ""),
            ("x = a", "[0]", ""),
            ("x = a", "()", ""),
            ("x = a", "**a", ""),
            ("x = ", "(", ""),
            ("x = ", "[", ""),
            ("x = ", "-", "1"),
            ("x = ", "not ", "1"),
            ("x = ", "lambda: ", "1"),
            ("x = ", "1 if 1 else ", "1"),
            ("x = ", "f'{", ""),
            ("x = f(a", ")(a", ")"),
            ("", "if x:\n ", "1"),
            ("x = a", " and a or a", ""),
            ("x", " = x", ""),
        ] {
            for times in [500, 5_000] {
                let program = format!("{begin}{}{end}", link.repeat(times));
                _ = Tree::parse(&program);
            }
        }
        let long = "x = 1\n".repeat(LONGEST / 6 + 1);
        assert_eq!(Tree::parse(&long).unwrap_err(), NoSyntax::TooLong(long.len()));
        let deep = format!("x = a{}", ".a".repeat(LINKS + 1));
        assert_eq!(Tree::parse(&deep).unwrap_err(), NoSyntax::TooDeep);
    }

    #[test]
    fn long_lists_and_many_lines_are_not_deep() {
        let list = format!("x = [{}]", "a.b(1), ".repeat(2_000));
        assert!(Tree::parse(&list).is_ok());
        let lines = "x = a.b[0] + 1\n".repeat(2_000);
        assert!(Tree::parse(&lines).is_ok());
    }
}

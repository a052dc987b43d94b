//! The expressions at the failing place of a program.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::super::place::ProgramLines;
use super::super::syntax::Tree;

/// The walk to a place.
struct ExpressionSearch<'t> {
    range: TextRange,
    /// The outermost expression that has exactly this place.
    exact: Option<&'t Expr>,
    /// The smallest expression and statement around it.
    expr: Option<&'t Expr>,
    stmt: Option<&'t Stmt>,
}

/// The expressions whose evaluation failed. An interpreter names the place of an expression. If the place is a target
/// or a statement instead, these are the values of that statement.
pub(super) fn failing(tree: &Tree, range: TextRange) -> Vec<&Expr> {
    let mut search = ExpressionSearch { range, exact: None, expr: None, stmt: None };
    search.visit_body(tree.body());
    match (search.exact.or(search.expr), search.stmt) {
        (Some(expr), _) => vec![expr],
        (None, Some(stmt)) => values(stmt),
        (None, None) => Vec::new(),
    }
}

/// The expression that the failing one takes a part of: `data` of `data["crew"]`, `x` of `x.get(1)`. `None` if it takes
/// no part, as in a call of a function.
pub(in super::super) fn base_of(tree: &Tree, range: TextRange) -> Option<TextRange> {
    let expr = *failing(tree, range).first()?;
    let base = match expr {
        Expr::Subscript(part) => &*part.value,
        Expr::Attribute(part) => &*part.value,
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(method) => &*method.value,
            _ => return None,
        },
        Expr::Name(_) => expr,
        _ => return None,
    };
    Some(base.range())
}

/// The values that the statement on a line works on: of the innermost statement that begins there, else of the
/// innermost one around the line.
pub(super) fn of_line<'t>(tree: &'t Tree, lines: &ProgramLines<'_>, line: u32) -> Vec<&'t Expr> {
    let mut search = OfLine { lines, line, begins: None, around: None };
    search.visit_body(tree.body());
    match search.begins.or(search.around) {
        Some(Stmt::If(stmt)) => vec![&stmt.test],
        Some(Stmt::While(stmt)) => vec![&stmt.test],
        Some(stmt) => values(stmt),
        None => Vec::new(),
    }
}

/// The walk to a line.
struct OfLine<'t, 'l> {
    lines: &'l ProgramLines<'l>,
    line: u32,
    begins: Option<&'t Stmt>,
    around: Option<&'t Stmt>,
}

impl<'t> Visitor<'t> for OfLine<'t, '_> {
    fn visit_stmt(&mut self, stmt: &'t Stmt) {
        let range = stmt.range();
        let (first, last) = (self.lines.line(range.start()), self.lines.line(range.end()));
        if !(first..=last).contains(&self.line) {
            return;
        }
        if first == self.line {
            self.begins.get_or_insert(stmt);
        }
        self.around = Some(stmt);
        walk_stmt(self, stmt);
    }
}

impl<'t> Visitor<'t> for ExpressionSearch<'t> {
    fn visit_stmt(&mut self, stmt: &'t Stmt) {
        if stmt.range().contains_range(self.range) {
            // An inner statement comes later.
            self.stmt = Some(stmt);
            walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'t Expr) {
        if !is_target(expr) && expr.range().contains_range(self.range) {
            self.expr = Some(expr);
            if expr.range() == self.range && self.exact.is_none() {
                self.exact = Some(expr);
            }
        }
        walk_expr(self, expr);
    }
}

/// Whether this expression is bound and not read. An assignment to a part reads the object that has the part.
fn is_target(expr: &Expr) -> bool {
    let context = match expr {
        Expr::Name(name) => name.ctx,
        Expr::Starred(starred) => starred.ctx,
        Expr::List(list) => list.ctx,
        Expr::Tuple(tuple) => tuple.ctx,
        _ => ExprContext::Load,
    };
    context != ExprContext::Load
}

/// The values that a statement works on.
fn values(stmt: &Stmt) -> Vec<&Expr> {
    match stmt {
        Stmt::Assign(stmt) => vec![&stmt.value],
        Stmt::AugAssign(stmt) => vec![&stmt.value],
        Stmt::AnnAssign(stmt) => stmt.value.as_deref().into_iter().collect(),
        Stmt::For(stmt) => vec![&stmt.iter],
        Stmt::With(stmt) => stmt.items.iter().map(|item| &item.context_expr).collect(),
        Stmt::Return(stmt) => stmt.value.as_deref().into_iter().collect(),
        Stmt::Assert(stmt) => vec![&stmt.test],
        Stmt::Delete(stmt) => stmt.targets.iter().collect(),
        Stmt::Expr(stmt) => vec![&stmt.value],
        _ => Vec::new(),
    }
}

//! Finds the names that a piece of a program binds and uses.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{
    Visitor, walk_except_handler, walk_expr, walk_parameter, walk_stmt,
};
use ruff_python_ast::{Alias, ExceptHandler, Expr, ExprContext, Parameter, Stmt};

use super::syntax::Tree;

/// The names of a piece of a program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PieceNames<'t> {
    /// Bound at module level, so that a later piece can use them.
    pub offers: BTreeSet<&'t str>,
    /// Bound anywhere in it, including in functions.
    bound: BTreeSet<&'t str>,
    used: BTreeSet<&'t str>,
    /// The number of functions around the present place of the walk.
    functions: usize,
}

impl<'t> PieceNames<'t> {
    pub(super) fn of(tree: &'t Tree) -> Self {
        let mut names = Self::default();
        names.visit_body(tree.body());
        names
    }

    /// The names that the piece uses and does not bind.
    pub(super) fn needs(&self) -> BTreeSet<&'t str> {
        &self.used - &self.bound
    }

    fn bind(&mut self, name: &'t str) {
        self.bound.insert(name);
        if self.functions == 0 {
            self.offers.insert(name);
        }
    }
}

impl<'t> Visitor<'t> for PieceNames<'t> {
    fn visit_stmt(&mut self, stmt: &'t Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => self.bind(&function.name),
            Stmt::ClassDef(class) => self.bind(&class.name),
            _ => {}
        }
        let inside = usize::from(matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)));
        self.functions += inside;
        walk_stmt(self, stmt);
        self.functions -= inside;
    }

    fn visit_expr(&mut self, expr: &'t Expr) {
        if let Expr::Name(name) = expr {
            match name.ctx {
                ExprContext::Load => _ = self.used.insert(&name.id),
                ExprContext::Store | ExprContext::Del | ExprContext::Invalid => self.bind(&name.id),
            }
        }
        let inside = usize::from(matches!(expr, Expr::Lambda(_)));
        self.functions += inside;
        walk_expr(self, expr);
        self.functions -= inside;
    }

    fn visit_parameter(&mut self, parameter: &'t Parameter) {
        self.bind(&parameter.name);
        walk_parameter(self, parameter);
    }

    fn visit_alias(&mut self, alias: &'t Alias) {
        let module = || alias.name.as_str().split('.').next().unwrap_or_default();
        self.bind(alias.asname.as_ref().map_or_else(module, |name| name.as_str()));
    }

    fn visit_except_handler(&mut self, handler: &'t ExceptHandler) {
        let ExceptHandler::ExceptHandler(except) = handler;
        if let Some(name) = &except.name {
            self.bind(name);
        }
        walk_except_handler(self, handler);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bound_and_needed_as_python_scopes_them() {
        let program = "import os.path as p, json\n\
                       def f(a, *b):\n    inner = a\n    return tool(inner, q)\n\
                       for i, (x, y) in f(z):\n    t = [n for n in x]\n\
                       try:\n    pass\nexcept E as error:\n    print(error, json)";
        let tree = Tree::parse(program).unwrap();
        let names = PieceNames::of(&tree);
        let offered = ["error", "f", "i", "json", "n", "p", "t", "x", "y"];
        assert_eq!(names.offers, BTreeSet::from(offered));
        assert_eq!(names.needs(), BTreeSet::from(["E", "print", "q", "tool", "z"]));
    }
}

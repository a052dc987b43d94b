//! The names that a program binds, and its calls by name.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, ExceptHandler, Expr, ExprContext, Parameter, Stmt};

/// Every name that a program binds anywhere: by assignment, as a function, class or argument, or by an import.
#[derive(Default)]
pub struct Bound {
    pub names: BTreeSet<String>,
    /// `from x import *`: any name may be bound.
    pub any: bool,
}

impl Bound {
    pub fn of(body: &[Stmt]) -> Self {
        let mut bound = Self::default();
        bound.visit_body(body);
        bound
    }

    pub fn has(&self, name: &str) -> bool {
        self.any || self.names.contains(name)
    }
}

impl<'a> Visitor<'a> for Bound {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                self.names.insert(function.name.to_string());
            }
            Stmt::ClassDef(class) => {
                self.names.insert(class.name.to_string());
            }
            Stmt::Import(import) => import.names.iter().for_each(|alias| self.visit_alias(alias)),
            Stmt::ImportFrom(import) => {
                import.names.iter().for_each(|alias| self.visit_alias(alias))
            }
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        let name = alias.asname.as_ref().unwrap_or(&alias.name).to_string();
        self.any |= name == "*";
        let first = name.split('.').next().unwrap_or_default().to_owned();
        self.names.insert(first);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.names.insert(parameter.name.to_string());
        visitor::walk_parameter(self, parameter);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(caught) = handler;
        self.names.extend(caught.name.iter().map(ToString::to_string));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && name.ctx != ExprContext::Load
        {
            self.names.insert(name.id.to_string());
        }
        visitor::walk_expr(self, expr);
    }
}

/// The plain names that an assignment target binds, and those whose value it changes, such as `d` of `d["x"]`.
pub fn targets<'a>(target: &'a Expr, names: &mut Vec<&'a str>) {
    match target {
        Expr::Name(name) => names.push(name.id.as_str()),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|each| targets(each, names)),
        Expr::List(list) => list.elts.iter().for_each(|each| targets(each, names)),
        Expr::Starred(starred) => targets(&starred.value, names),
        Expr::Subscript(part) => targets(&part.value, names),
        Expr::Attribute(part) => targets(&part.value, names),
        _ => {}
    }
}

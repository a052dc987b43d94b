//! Reads a syntax tree into the tables of [`ProgramTables`].

use ruff_python_ast::visitor::{Visitor, walk_body, walk_expr, walk_stmt};
use ruff_python_ast::{
    Alias, Comprehension, ExceptHandler, Expr, ExprLambda, ExprName, Identifier, Parameters, Stmt,
    StmtFor, StmtFunctionDef, StmtIf, StmtTry, StmtWhile,
};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::super::syntax::Tree;
use super::program::{
    Binding, BindingSource, Callable, ProgramTables, Scope, ScopePlace, StatementBlock,
};
use super::targets::{Bound, adds, bound, root};

/// The walk through a tree.
#[derive(Default)]
struct TableReader<'t> {
    program: ProgramTables<'t>,
    here: ScopePlace,
    /// The function that is being read.
    function: Option<usize>,
    /// Additions to a name. Its scope is known only after all bindings have been read.
    added: Vec<Added<'t>>,
}

/// A value that goes into a part of a variable.
struct Added<'t> {
    variable: &'t ExprName,
    place: ScopePlace,
    at: TextSize,
    value: &'t Expr,
}

/// The tables of a program.
pub(super) fn read(tree: &Tree) -> ProgramTables<'_> {
    let mut reader = TableReader::default();
    reader.program.scopes.push(Scope::default());
    reader.program.blocks.push(StatementBlock::default());
    reader.visit_body(tree.body());
    reader.finish()
}

impl<'t> TableReader<'t> {
    fn finish(mut self) -> ProgramTables<'t> {
        for Added { variable, place, at, value } in std::mem::take(&mut self.added) {
            let Some(scope) = self.program.resolve(place.scope, &variable.id) else { continue };
            let (name, source) = (variable.start(), BindingSource::Value(value));
            let binding = Binding { name, at, block: place.block, replaces: false, source };
            self.program.bindings.entry((scope, &variable.id)).or_default().push(binding);
        }
        // Stable sort: of bindings at one place the later one wins.
        self.program.bindings.values_mut().for_each(|all| all.sort_by_key(|one| one.at));
        self.program.find_sites();
        self.program
    }

    /// Binds a name at its place; the binding holds from `at` on.
    fn bind(
        &mut self,
        (name, stands): (&'t str, TextSize),
        at: TextSize,
        source: BindingSource<'t>,
    ) {
        self.bind_to(
            name,
            Binding { name: stands, at, block: self.here.block, replaces: true, source },
        );
    }

    fn bind_to(&mut self, name: &'t str, binding: Binding<'t>) {
        let declared = self.program.declared.get(&(self.here.scope, name)).copied();
        let scope = declared.unwrap_or(self.here.scope);
        self.program.bindings.entry((scope, name)).or_default().push(binding);
    }

    /// Binds the targets of a statement; the bindings hold from `at` on.
    fn bind_all(&mut self, all: Vec<Bound<'t>>, at: TextSize) {
        for Bound { target, value } in all {
            match (target, value) {
                (Expr::Name(name), value) => {
                    let source = value.map_or(BindingSource::Other, BindingSource::Value);
                    self.bind((&name.id, name.start()), at, source);
                }
                (target, Some(value)) => self.add(target, at, value),
                _ => {}
            }
        }
    }

    /// Adds a value to a part of the variable that an expression begins with.
    fn add(&mut self, target: &'t Expr, at: TextSize, value: &'t Expr) {
        if let Some(variable) = root(target) {
            self.added.push(Added { variable, place: self.here, at, value });
        }
    }

    fn in_block(&mut self, is_loop: bool, read: impl FnOnce(&mut Self)) {
        let outer = self.here.block;
        self.program.blocks.push(StatementBlock { outer: Some(outer), is_loop });
        self.here.block = self.program.blocks.len() - 1;
        read(self);
        self.here.block = outer;
    }

    fn in_scope(&mut self, runs_in_place: bool, read: impl FnOnce(&mut Self)) {
        let outer = self.here;
        self.program.scopes.push(Scope { outer: Some(outer.scope), runs_in_place });
        self.here.scope = self.program.scopes.len() - 1;
        read(self);
        self.here = outer;
    }

    fn read_function(&mut self, function: &'t StmtFunctionDef) {
        function.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
        let callable = self.add_callable(function.range, Some(&function.parameters));
        let name = (function.name.as_str(), function.name.start());
        self.bind(name, function.start(), BindingSource::Callable(callable));
        self.visit_defaults(&function.parameters);
        let outer = self.function.replace(callable);
        self.in_scope(false, |reader| {
            // Loops around a function are not loops of its body.
            reader.program.blocks.push(StatementBlock::default());
            reader.here.block = reader.program.blocks.len() - 1;
            reader.bind_parameters(callable, &function.parameters);
            reader.visit_body(&function.body);
        });
        self.function = outer;
    }

    fn read_lambda(&mut self, lambda: &'t ExprLambda) {
        let callable = self.add_callable(lambda.range, lambda.parameters.as_deref());
        self.program.callables[callable].results.push(&lambda.body);
        if let Some(parameters) = &lambda.parameters {
            self.visit_defaults(parameters);
        }
        self.in_scope(true, |reader| {
            if let Some(parameters) = &lambda.parameters {
                reader.bind_parameters(callable, parameters);
            }
            reader.visit_expr(&lambda.body);
        });
    }

    fn add_callable(&mut self, range: TextRange, parameters: Option<&'t Parameters>) -> usize {
        self.program.callables.push(Callable { range, parameters, results: Vec::new() });
        self.program.callables.len() - 1
    }

    fn visit_defaults(&mut self, parameters: &'t Parameters) {
        let with_default = parameters.iter_non_variadic_params();
        with_default.filter_map(|one| one.default()).for_each(|value| self.visit_expr(value));
    }

    fn bind_parameters(&mut self, callable: usize, parameters: &'t Parameters) {
        for parameter in parameters.iter() {
            let name = parameter.name().as_str();
            let stands = (name, parameter.name().start());
            self.bind(stands, parameters.start(), BindingSource::Parameter(callable, name));
        }
    }

    fn read_for(&mut self, stmt: &'t StmtFor) {
        self.visit_expr(&stmt.iter);
        self.in_block(true, |reader| {
            reader.bind_all(bound(&stmt.target, &stmt.iter, true), stmt.iter.end());
            reader.visit_expr(&stmt.target);
            reader.visit_body(&stmt.body);
        });
        self.in_block(false, |reader| reader.visit_body(&stmt.orelse));
    }

    fn read_while(&mut self, stmt: &'t StmtWhile) {
        self.in_block(true, |reader| {
            reader.visit_expr(&stmt.test);
            reader.visit_body(&stmt.body);
        });
        self.in_block(false, |reader| reader.visit_body(&stmt.orelse));
    }

    fn read_if(&mut self, stmt: &'t StmtIf) {
        self.visit_expr(&stmt.test);
        self.in_block(false, |reader| reader.visit_body(&stmt.body));
        for clause in &stmt.elif_else_clauses {
            self.in_block(false, |reader| reader.visit_elif_else_clause(clause));
        }
    }

    fn read_try(&mut self, stmt: &'t StmtTry) {
        self.in_block(false, |reader| {
            reader.visit_body(&stmt.body);
            reader.visit_body(&stmt.orelse);
        });
        for ExceptHandler::ExceptHandler(handler) in &stmt.handlers {
            self.in_block(false, |reader| {
                if let Some(name) = &handler.name {
                    reader.bind((name, name.start()), handler.start(), BindingSource::Other);
                }
                handler.type_.iter().for_each(|expr| reader.visit_expr(expr));
                reader.visit_body(&handler.body);
            });
        }
        self.visit_body(&stmt.finalbody);
    }

    /// The first iterable is read outside of the comprehension, the rest inside.
    fn read_comprehension(&mut self, generators: &'t [Comprehension], parts: &[&'t Expr]) {
        let Some((first, others)) = generators.split_first() else { return };
        self.visit_expr(&first.iter);
        self.in_scope(true, |reader| {
            reader.bind_all(bound(&first.target, &first.iter, true), first.start());
            reader.visit_expr(&first.target);
            first.ifs.iter().for_each(|test| reader.visit_expr(test));
            for generator in others {
                reader.visit_expr(&generator.iter);
                let all = bound(&generator.target, &generator.iter, true);
                reader.bind_all(all, generator.start());
                reader.visit_expr(&generator.target);
                generator.ifs.iter().for_each(|test| reader.visit_expr(test));
            }
            parts.iter().for_each(|part| reader.visit_expr(part));
        });
    }

    fn declare(&mut self, names: &'t [Identifier], scope: usize) {
        for name in names {
            self.program.declared.insert((self.here.scope, name.as_str()), scope);
        }
    }

    /// Reads a simple statement: its bindings come after the values that it reads.
    fn read_simple(&mut self, stmt: &'t Stmt) {
        walk_stmt(self, stmt);
        let end = stmt.end();
        match stmt {
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.bind_all(bound(target, &assign.value, false), end);
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.bind_all(bound(&assign.target, value, false), end);
                }
            }
            Stmt::AugAssign(assign) => self.add_to(&assign.target, &assign.value, end),
            Stmt::Return(returned) => {
                if let (Some(function), Some(value)) = (self.function, &returned.value) {
                    self.program.callables[function].results.push(value);
                }
            }
            _ => {}
        }
    }

    /// `x += y` binds a name in its own scope.
    fn add_to(&mut self, target: &'t Expr, value: &'t Expr, at: TextSize) {
        match target {
            Expr::Name(name) => {
                let (block, source) = (self.here.block, BindingSource::Value(value));
                let binding = Binding { name: name.start(), at, block, replaces: false, source };
                self.bind_to(&name.id, binding);
            }
            target => self.add(target, at, value),
        }
    }

    fn read_import(&mut self, names: &'t [Alias], at: TextSize) {
        for alias in names {
            let module = alias.name.as_str().split('.').next().unwrap_or_default();
            let name = alias.asname.as_ref().map_or(module, |name| name.as_str());
            self.bind((name, alias.start()), at, BindingSource::Module);
        }
    }
}

impl<'t> Visitor<'t> for TableReader<'t> {
    fn visit_stmt(&mut self, stmt: &'t Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => self.read_function(function),
            Stmt::ClassDef(class) => {
                let name = (class.name.as_str(), class.name.start());
                self.bind(name, class.start(), BindingSource::Other);
                self.in_scope(false, |reader| walk_body(reader, &class.body));
            }
            Stmt::For(stmt) => self.read_for(stmt),
            Stmt::While(stmt) => self.read_while(stmt),
            Stmt::If(stmt) => self.read_if(stmt),
            Stmt::Try(stmt) => self.read_try(stmt),
            Stmt::With(with) => {
                for item in &with.items {
                    self.visit_expr(&item.context_expr);
                    if let Some(target) = &item.optional_vars {
                        self.bind_all(bound(target, &item.context_expr, false), item.end());
                        self.visit_expr(target);
                    }
                }
                self.visit_body(&with.body);
            }
            Stmt::Global(global) => self.declare(&global.names, 0),
            Stmt::Nonlocal(nonlocal) => {
                let outer = self.program.scopes[self.here.scope].outer.unwrap_or_default();
                self.declare(&nonlocal.names, outer);
            }
            Stmt::Import(import) => self.read_import(&import.names, stmt.end()),
            Stmt::ImportFrom(import) => self.read_import(&import.names, stmt.end()),
            simple => self.read_simple(simple),
        }
    }

    fn visit_expr(&mut self, expr: &'t Expr) {
        match expr {
            Expr::Name(name) => _ = self.program.places.insert(name.range.start(), self.here),
            Expr::Lambda(lambda) => self.read_lambda(lambda),
            Expr::ListComp(comp) => self.read_comprehension(&comp.generators, &[&comp.elt]),
            Expr::SetComp(comp) => self.read_comprehension(&comp.generators, &[&comp.elt]),
            Expr::Generator(comp) => self.read_comprehension(&comp.generators, &[&comp.elt]),
            Expr::DictComp(comp) => {
                let parts: Vec<&Expr> =
                    comp.key.as_deref().into_iter().chain([&*comp.value]).collect();
                self.read_comprehension(&comp.generators, &parts);
            }
            Expr::Named(named) => {
                walk_expr(self, expr);
                self.bind_all(bound(&named.target, &named.value, false), expr.end());
            }
            Expr::Call(call) => {
                self.program.calls.push(call);
                walk_expr(self, expr);
                for (target, value) in adds(call) {
                    self.add(target, expr.end(), value);
                }
            }
            other => walk_expr(self, other),
        }
    }

    fn visit_annotation(&mut self, _: &'t Expr) {}
}

//! The tools that a program calls, as it is written.

use ruff_text_size::Ranged;
use serde::{Deserialize, Serialize};

use super::super::place::Lines;
use super::super::syntax::Tree;
use super::read::read;

/// A call of a tool in a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenCall {
    pub tool: String,
    /// The first and the last line of the call, counted from 1.
    pub line: u32,
    pub end_line: u32,
}

/// The calls of tools in a program, in the order of their names in it. A tool that is handed to another function, as in
/// `all_of(tool, …)`, is called too. A tool is not called where the program binds its name itself. Empty for a text
/// that is no Python.
pub fn tools_called_in(program: &str, tools: &[&str]) -> Vec<WrittenCall> {
    let Ok(tree) = Tree::parse(program) else { return Vec::new() };
    let (lines, read) = (Lines::of(program), read(&tree));
    let mut calls = Vec::new();
    for call in &read.calls {
        for named in std::iter::once(&*call.func).chain(&call.arguments.args) {
            let Some(name) = named.as_name_expr() else { continue };
            let is_tool = tools.contains(&name.id.as_str());
            if is_tool && !read.binds(&name.id, name.range.start()) {
                let (line, end_line) = (lines.line(call.start()), lines.line(call.end()));
                let tool = name.id.as_str().to_owned();
                calls.push((name.range.start(), WrittenCall { tool, line, end_line }));
            }
        }
    }
    calls.sort_by_key(|(at, _)| *at);
    calls.into_iter().map(|(_, call)| call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_in_the_order_of_the_text_with_their_lines() {
        let program = "def own(x):\n    return c(x)\n\
                       for q in [a(1),\n          b(\n    2)]:\n    print(own(q), d.a(3), a)\n\
                       all_of(c, [{}])";
        let calls = tools_called_in(program, &["a", "b", "c", "d"]);
        let calls: Vec<_> =
            calls.iter().map(|call| (call.tool.as_str(), call.line, call.end_line)).collect();
        let right = [("c", 2, 2), ("a", 3, 3), ("b", 4, 5), ("a", 6, 6), ("c", 7, 7)];
        assert_eq!(calls, right);
    }

    #[test]
    fn a_name_that_the_program_binds_is_no_tool() {
        let program = "def a(x):\n    return x\nfor b in a(1):\n    b()\n    c()";
        let calls = tools_called_in(program, &["a", "b", "c"]);
        assert_eq!(calls, [WrittenCall { tool: "c".to_owned(), line: 5, end_line: 5 }]);
        assert_eq!(tools_called_in("a(", &["a"]), []);
    }
}

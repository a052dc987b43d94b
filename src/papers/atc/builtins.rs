//! Python's built-in functions and types, to distinguish a call of an unknown tool from a call of these.

/// The built-ins of Python 3.14, sorted.
const BUILTINS: [&str; 74] = [
    "__import__",
    "abs",
    "aiter",
    "all",
    "all_of",
    "anext",
    "any",
    "ascii",
    "bin",
    "bool",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "exit",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "quit",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
];

/// Whether Python has a function, a type or an exception of this name.
pub(super) fn is_builtin(name: &str) -> bool {
    let is_exception = ["Error", "Exception", "Warning", "Interrupt", "Exit", "Iteration"]
        .iter()
        .any(|end| name.ends_with(end) && name.starts_with(char::is_uppercase));
    is_exception || BUILTINS.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_found_and_tools_are_not() {
        assert!(BUILTINS.is_sorted());
        assert!(BUILTINS.iter().all(|name| is_builtin(name)));
        assert!(is_builtin("KeyError") && is_builtin("StopIteration"));
        assert!(!is_builtin("search_actor") && !is_builtin("get_error"));
    }
}

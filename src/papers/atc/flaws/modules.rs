//! The modules that a program can import, and what they lack.

/// The missing part of an import.
pub enum Missing<'a> {
    /// A missing module, with advice on a replacement.
    Module(&'static str),
    Name(&'a str),
}

/// The modules that the interpreter has, in whole or in part.
const MODULES: &[&str] = &[
    "__future__",
    "asyncio",
    "base64",
    "binascii",
    "collections",
    "dataclasses",
    "datetime",
    "functools",
    "gc",
    "itertools",
    "json",
    "math",
    "os",
    "pathlib",
    "re",
    "sys",
    "typing",
    "unicodedata",
];

/// Names that programs use and these modules lack.
const LACKING: &[(&str, &[&str])] = &[
    ("collections", &["OrderedDict", "ChainMap", "UserDict", "UserList", "UserString", "abc"]),
    ("itertools", &["groupby", "tee"]),
    ("functools", &["singledispatch", "total_ordering", "cached_property"]),
];

const INSTEAD: &[(&str, &str)] = &[
    ("time", "there is nothing to wait for; use datetime for dates"),
    ("random", "the answer must not depend on chance"),
    ("statistics", "use sum and len, or sorted"),
    ("string", "write the letters as a text"),
    ("urllib", "the functions take plain text"),
    ("pprint", "use print"),
    ("traceback", "catch the exception and print it"),
    ("requests", "call the functions that are offered"),
    ("http", "call the functions that are offered"),
    ("httpx", "call the functions that are offered"),
    ("aiohttp", "call the functions that are offered"),
    ("copy", "make a new list or dict: list(a), dict(a)"),
    ("operator", "use a lambda"),
    ("decimal", "use round, or integers of the smallest unit"),
    ("fractions", "use round, or integers"),
    ("numpy", "use lists, sum, min and max"),
    ("pandas", "use lists of dicts, sorted and comprehensions"),
];

/// Whether the interpreter has this module.
pub fn is_known(module: &str) -> bool {
    MODULES.contains(&module.split('.').next().unwrap_or(module))
}

/// Whether a module lacks this name.
pub fn lacks(module: &str, name: &str) -> bool {
    LACKING.iter().any(|(known, names)| *known == module && names.contains(&name))
}

/// The first part of `from module import names` that is missing.
pub fn missing<'a>(module: &str, names: &[&'a str]) -> Option<Missing<'a>> {
    if !is_known(module) {
        let root = module.split('.').next().unwrap_or(module);
        let instead = INSTEAD.iter().find(|(known, _)| *known == root);
        return Some(Missing::Module(
            instead.map_or("write what you need yourself", |(_, text)| text),
        ));
    }
    names.iter().find(|name| lacks(module, name)).map(|name| Missing::Name(name))
}

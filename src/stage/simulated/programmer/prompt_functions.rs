//! The functions in a programmer's prompt, read as any model would read them.

/// The offered functions.
#[derive(Debug, Default)]
pub struct FunctionMenu {
    functions: Vec<Function>,
}

/// `def film_credits(film_id: int):`.
#[derive(Debug, PartialEq)]
pub struct Function {
    pub name: String,
    /// The names and the types of the arguments that are required.
    pub required: Vec<(String, String)>,
}

impl FunctionMenu {
    pub fn read(documents: &str) -> Self {
        Self { functions: documents.lines().filter_map(function).collect() }
    }

    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The other functions that take the same arguments, so that they are easily confused.
    pub fn alike<'o>(&'o self, name: &str) -> impl Iterator<Item = &'o str> {
        let own = self.function(name);
        let alike = move |other: &&Function| {
            own.is_some_and(|own| own.name != other.name && own.required == other.required)
        };
        self.functions.iter().filter(alike).map(|function| function.name.as_str())
    }
}

fn function(line: &str) -> Option<Function> {
    let (name, rest) = line.strip_prefix("def ")?.split_once('(')?;
    let (arguments, _) = rest.rsplit_once("):")?;
    let required = arguments.split(", ").filter(|argument| !argument.contains(" = "));
    let required = required.filter_map(|argument| argument.split_once(": "));
    let required = required.map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect();
    Some(Function { name: name.to_owned(), required })
}

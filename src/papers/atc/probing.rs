//! Black-box probing (ATC, section 4.3, eq. 3): the order in which tools are probed, the results that count as answers,
//! and the tools that an argument was taken from.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

use crate::domain::ToolName;

/// The most tools whose results a probed one may use.
pub const HELPERS: usize = 5;

/// The passes over the tools that have not answered yet (B). Pass 0 calls each alone. Pass 1 to β may use the tools
/// that have answered (H). There is a next pass only if the last one moved a tool from B to H.
#[derive(Clone, Debug)]
pub struct Passes {
    /// B, with the tools that have had their turn in this pass at the end.
    open: VecDeque<ToolName>,
    /// The number of tools that still have their turn in this pass.
    turns: usize,
    pass: u32,
    /// Whether another pass can do more than this one did.
    has_moved: bool,
}

impl Passes {
    /// `has_helpers`: some other tool has answered before.
    pub fn new(tools: impl IntoIterator<Item = ToolName>, has_helpers: bool) -> Self {
        let open: VecDeque<_> = tools.into_iter().collect();
        Self { turns: open.len(), open, pass: 0, has_moved: has_helpers }
    }

    /// The next tool and its pass, where `most` is β; `None`: all is done.
    pub fn next(&mut self, most: u32) -> Option<(u32, ToolName)> {
        if self.turns == 0 {
            if self.pass >= most || !self.has_moved {
                return None;
            }
            self.pass += 1;
            (self.turns, self.has_moved) = (self.open.len(), false);
        }
        self.turns = self.turns.checked_sub(1)?;
        self.open.rotate_left(1);
        self.open.back().map(|tool| (self.pass, tool.clone()))
    }

    /// Notes that the latest tool of [`Self::next`] has answered.
    pub fn answered(&mut self) {
        self.open.pop_back();
        self.has_moved = true;
    }
}

/// Why a result does not count although the call succeeded: it reports an error, or is empty.
pub fn no_answer(result: &Value) -> Option<String> {
    match result {
        Value::Null => Some("it returned null".to_owned()),
        Value::String(text) if text.trim().is_empty() => Some("it returned nothing".to_owned()),
        Value::Array(items) if items.is_empty() => Some("it returned an empty list".to_owned()),
        Value::Object(fields) if fields.is_empty() => {
            Some("it returned an empty object".to_owned())
        }
        Value::Object(fields) => {
            let (field, value) = fields.iter().find(|(name, value)| is_error(name, value))?;
            Some(format!("it returned an error: {field} is {value}"))
        }
        _ => None,
    }
}

/// Whether a result has lists, and all of them are empty, so that it does not show their elements.
pub fn has_empty_lists_only(result: &Value) -> bool {
    let (mut open, mut has_list) = (vec![result], false);
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) if !items.is_empty() => return false,
            Value::Array(_) => has_list = true,
            Value::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    has_list
}

/// Whether a field says that the whole result is an error.
fn is_error(name: &str, value: &Value) -> bool {
    let is_empty = match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) => false,
    };
    match name.to_ascii_lowercase().as_str() {
        "error" | "errors" => !is_empty,
        "success" | "ok" => *value == Value::Bool(false),
        "status" => value.as_str().is_some_and(|status| {
            ["error", "failed", "failure", "fail"].iter().any(|it| status.eq_ignore_ascii_case(it))
        }),
        _ => false,
    }
}

/// The tools whose results were the first with a value of these arguments. A value that the program writes itself is
/// not taken from a result, and neither is true, false or an empty text.
pub fn taken_from(
    arguments: &Value,
    program: &str,
    results: &[(ToolName, Value)],
) -> Vec<ToolName> {
    let mut wanted = BTreeSet::new();
    leaves(arguments, &mut |leaf| {
        let is_written = match leaf {
            Value::String(text) => program.contains(text.as_str()),
            Value::Number(number) => has_number(program, &number.to_string()),
            _ => true,
        };
        if !is_written {
            wanted.insert(plain(leaf));
        }
    });
    let mut from = Vec::new();
    for (tool, result) in results {
        let before = wanted.len();
        leaves(result, &mut |leaf| {
            wanted.remove(&plain(leaf));
        });
        if wanted.len() < before && !from.contains(tool) {
            from.push(tool.clone());
        }
    }
    from
}

/// Numbers are compared as texts, since a program may convert them.
fn plain(leaf: &Value) -> String {
    leaf.as_str().map_or_else(|| leaf.to_string(), str::to_owned)
}

fn has_number(program: &str, number: &str) -> bool {
    program.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '_').any(|word| word == number)
}

/// Every scalar of a value.
fn leaves(value: &Value, each: &mut impl FnMut(&Value)) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            scalar => each(scalar),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The turns of a probing in which these tools answer in these passes.
    fn turns(tools: &[&str], most: u32, has_helpers: bool, answers: &[(&str, u32)]) -> Vec<String> {
        let mut passes = Passes::new(tools.iter().map(|tool| (*tool).into()), has_helpers);
        let mut turns = Vec::new();
        while let Some((pass, tool)) = passes.next(most) {
            turns.push(format!("{pass}{tool}"));
            if answers.contains(&(tool.as_str(), pass)) {
                passes.answered();
            }
        }
        turns
    }

    #[test]
    fn passes_go_on_as_long_as_one_moves_a_tool() {
        let tools = ["a", "b", "c"];
        assert_eq!(
            turns(&tools, 4, false, &[("b", 0), ("a", 1)]),
            ["0a", "0b", "0c", "1a", "1c", "2c"],
            "the second pass moved nothing"
        );
        assert_eq!(turns(&tools, 4, false, &[]), ["0a", "0b", "0c"], "nobody can help");
        assert_eq!(turns(&["a"], 4, true, &[]), ["0a", "1a"], "another tool was known before");
        assert_eq!(turns(&tools, 0, true, &[("a", 0)]), ["0a", "0b", "0c"], "without the chain");
        assert_eq!(turns(&["a", "b"], 1, false, &[("a", 0)]), ["0a", "0b", "1b"]);
        assert_eq!(turns(&["a"], 4, false, &[("a", 0)]), ["0a"], "all have answered");
        assert_eq!(turns(&[], 4, true, &[]), [""; 0]);
    }

    #[test]
    fn an_error_inside_a_success_is_no_answer() {
        let errors = [
            json!(null),
            json!([]),
            json!({}),
            json!(" "),
            json!({"error": "no such id"}),
            json!({"success": false, "status_message": "x"}),
            json!({"status": "Error", "id": 1}),
            json!({"data": null, "errors": [{"message": "x"}]}),
        ];
        for result in errors {
            assert!(no_answer(&result).is_some(), "{result}");
        }
        let answers = [
            json!(0),
            json!("text"),
            json!({"results": []}),
            json!({"error": null, "id": 1}),
            json!({"errors": [], "id": 1}),
            json!({"status": "Released", "success": true}),
            json!([{"error": "of one element"}]),
        ];
        for result in answers {
            assert_eq!(no_answer(&result), None, "{result}");
        }
        for (result, is_empty) in [
            (json!({"page": 1, "results": []}), true),
            (json!({"a": {"b": []}, "c": []}), true),
            (json!({"a": [], "b": [1]}), false),
            (json!({"page": 1}), false),
            (json!([[]]), false),
        ] {
            assert_eq!(has_empty_lists_only(&result), is_empty, "{result}");
        }
    }

    #[test]
    fn a_value_comes_from_the_results_that_have_it() {
        let found = (ToolName::from("search"), json!({"results": [{"id": 603, "page": 1}]}));
        let other = (ToolName::from("other"), json!({"id": 7, "page": 1}));
        let results = [found, other];
        let from = |arguments: Value, program: &str| {
            let from = taken_from(&arguments, program, &results);
            from.iter().map(|tool| tool.as_str().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(from(json!({"id": 603}), "get(id=r['results'][0]['id'])"), ["search"]);
        assert_eq!(from(json!({"id": "603"}), "get(id=str(i))"), ["search"], "as a text");
        assert_eq!(from(json!({"id": 603, "page": 1}), "get(id=i, page=1)"), ["search"]);
        assert_eq!(from(json!({"id": 603}), "get(id=603)"), [""; 0], "it is written down");
        assert_eq!(from(json!({"id": 1}), "get(id=p)"), ["search"], "it had the value first");
        assert_eq!(from(json!({"a": 7, "b": 603}), "get(a=x, b=y)"), ["search", "other"]);
        assert_eq!(from(json!({"all": true, "name": "x"}), "get(all=True, name=n)"), [""; 0]);
    }
}

//! Compares the tool calls of two programs of a task, side by side.

use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::domain::ToolCallState;

/// A pair of aligned calls of two programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pair<'a> {
    /// The same call in both programs.
    Same(&'a ToolCallState, &'a ToolCallState),
    /// Calls of the same tool with different arguments.
    Other(&'a ToolCallState, &'a ToolCallState),
    /// A call that only the first program makes.
    First(&'a ToolCallState),
    /// A call that only the second program makes.
    Second(&'a ToolCallState),
}

/// The calls of two programs in order: equal calls are aligned first, and between them calls of the same tool.
pub fn compare<'a>(first: &[&'a ToolCallState], second: &[&'a ToolCallState]) -> Vec<Pair<'a>> {
    let whole = |calls: &[&ToolCallState]| -> Vec<(String, String)> {
        calls.iter().map(|call| (call.tool.to_string(), asked(call).to_string())).collect()
    };
    let mut pairs = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &whole(first), &whole(second)) {
        let (first, second) = (&first[op.old_range()], &second[op.new_range()]);
        match op {
            DiffOp::Equal { .. } => {
                pairs.extend(first.iter().zip(second).map(|(a, b)| Pair::Same(a, b)));
            }
            _ => pairs.extend(between(first, second)),
        }
    }
    pairs
}

/// Aligns calls of which none are equal: calls of the same tool form a pair.
fn between<'a>(first: &[&'a ToolCallState], second: &[&'a ToolCallState]) -> Vec<Pair<'a>> {
    let tools = |calls: &[&ToolCallState]| -> Vec<String> {
        calls.iter().map(|call| call.tool.to_string()).collect()
    };
    let mut pairs = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &tools(first), &tools(second)) {
        let (first, second) = (&first[op.old_range()], &second[op.new_range()]);
        match op {
            DiffOp::Equal { .. } => {
                pairs.extend(first.iter().zip(second).map(|(a, b)| Pair::Other(a, b)));
            }
            _ => {
                pairs.extend(first.iter().map(|call| Pair::First(call)));
                pairs.extend(second.iter().map(|call| Pair::Second(call)));
            }
        }
    }
    pairs
}

/// The arguments with which a program makes a call.
pub fn asked(call: &ToolCallState) -> &Value {
    call.own.as_ref().unwrap_or(&call.arguments)
}

/// The arguments in which two calls differ: the name, and both values where they are given.
pub fn differing<'a>(
    first: &'a Value,
    second: &'a Value,
) -> Vec<(&'a str, Option<&'a Value>, Option<&'a Value>)> {
    let fields = |value: &'a Value| value.as_object().into_iter().flatten();
    let own = fields(first).map(|(name, value)| (name.as_str(), Some(value), second.get(name)));
    let others = fields(second)
        .filter(|(name, _)| first.get(name.as_str()).is_none())
        .map(|(name, value)| (name.as_str(), None, Some(value)));
    own.chain(others).filter(|(_, first, second)| first != second).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call((tool, id): (&str, u32)) -> ToolCallState {
        let value = json!({
            "id": id, "n": 1, "task": 1, "lane": {"effect": id}, "origin": "live", "class": "read",
            "injected": null, "requested": 0, "started": null, "ended": null, "held": 0, "holds": [],
            "step": 1, "tool": tool, "arguments": {"id": id, "all": true}, "evidence": null,
            "phase": "requested", "helpful": null,
        });
        serde_json::from_value(value).unwrap()
    }

    fn said(first: &[(&str, u32)], second: &[(&str, u32)]) -> String {
        let [first, second] = [first, second].map(|all| all.iter().copied().map(call).collect());
        let (first, second): (Vec<ToolCallState>, Vec<ToolCallState>) = (first, second);
        let all = compare(&first.iter().collect::<Vec<_>>(), &second.iter().collect::<Vec<_>>());
        let said = all.iter().map(|pair| match pair {
            Pair::Same(a, _) => format!("={}{}", a.tool, a.id),
            Pair::Other(a, b) => format!("~{}{}:{}", a.tool, a.id, b.id),
            Pair::First(a) => format!("-{}{}", a.tool, a.id),
            Pair::Second(b) => format!("+{}{}", b.tool, b.id),
        });
        said.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn equal_calls_stand_beside_each_other_and_then_those_of_one_tool() {
        for (first, second, right) in [
            (&[][..], &[][..], ""),
            (&[("a", 1), ("b", 2)], &[("a", 1), ("b", 2)], "=a1 =b2"),
            (&[("a", 1), ("b", 2)], &[("a", 1), ("b", 3)], "=a1 ~b2:3"),
            (&[("a", 1), ("b", 2)], &[("b", 2)], "-a1 =b2"),
            (&[("b", 2)], &[("b", 2), ("c", 4)], "=b2 +c4"),
            (&[("a", 1), ("b", 2), ("c", 3)], &[("a", 9), ("d", 2), ("c", 3)], "~a1:9 -b2 +d2 =c3"),
            (&[("a", 1), ("a", 2)], &[("a", 2), ("a", 1)], "+a2 =a1 -a2"),
        ] {
            assert_eq!(said(first, second), right, "{first:?} {second:?}");
        }
    }

    #[test]
    fn arguments_differ_by_name() {
        let (one, other) = (json!({"a": 1, "b": 2, "c": 3}), json!({"a": 1, "b": 5, "d": 4}));
        let said = differing(&one, &other).into_iter().map(|(name, was, is)| {
            let shown = |value: Option<&Value>| value.map_or("-".to_owned(), Value::to_string);
            format!("{name} {} {}", shown(was), shown(is))
        });
        assert_eq!(said.collect::<Vec<_>>(), ["b 2 5", "c 3 -", "d - 4"]);
    }
}

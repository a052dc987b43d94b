use super::*;
use crate::chat::Role;
use crate::id::ToolName;
use crate::spec::EffectClass;
use crate::target::Aim;

fn read(text: &str) -> BreakpointSpec {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_breakpoint_is_written_as_it_is_read() {
    for text in [
        "search_web",
        "search_web:after",
        "search_web:both:if=ms > 500:hits=>3:once:alone",
        "tool:role",
        "any:if=tool == \"a\"",
        "tools",
        "models:hits=%10",
        "embedding",
        "class:Information Retrieval / Airline",
        "edge:search_web->calculator",
        "role:planner:after",
        "model:gpt-5\\:mini",
        "effect:write",
        "task",
        "plan",
        "evaluation:log=done {done} of {task}",
        "error",
        "error:if=ms > 3",
        "error:timeout:once",
        "value:score.search_web:crosses=0",
        "value:spent > 0.8 * budget:hits=1",
        "value:step > 3 ? left \\: spent",
        "a\\:b:log=args\\: {args.query}",
    ] {
        assert_eq!(read(text).to_string(), text);
        let json = serde_json::to_string(&read(text)).unwrap();
        assert_eq!(serde_json::from_str::<BreakpointSpec>(&json).unwrap(), read(text), "{json}");
    }
    assert_eq!(read("score:a.b").to_string(), "value:score[\"a.b\"]");
    assert_eq!(read("weight:start->a").to_string(), "value:weight[\"start\"][\"a\"]");
    assert_eq!(read("evidence:#E1").to_string(), "value:evidence[\"E1\"]");
    assert_eq!(read("left:crosses=2.5").to_string(), "value:left:crosses=2.5");
    assert_eq!(read("search_web:before").to_string(), "search_web");
}

#[test]
fn what_is_wrong_is_named() {
    for (text, why) in [
        ("", "no place given"),
        ("role:plannr", "there is no role plannr; did you mean `planner`?"),
        ("effect:writes", "there is no effect writes; did you mean `write`?"),
        ("edge:a", "`a` is not an edge such as search_web->calculator"),
        ("error:timeot", "there is no error timeot; did you mean `timeout`?"),
        ("a:onc", "unknown option `onc`; did you mean `once`?"),
        ("a:hits=x", "hits is `x`, not a number such as 3, >3 or %10"),
        ("a:hits=0", "hits is `0`, not a number such as 3, >3 or %10"),
        ("a:crosses=1", "`crosses` applies only to values"),
        ("plan:after", "`after` applies only to calls"),
        ("task:alone", "`alone` applies only to calls"),
        ("value:left:crosses=x", "crosses is `x`, not a number"),
        ("a:if=ms >", "if: something is missing here\n  ms >\n      ^"),
        ("value:ms > 3", "`ms` belongs to a call, but there is none here\n  ms > 3\n  ^"),
        ("a:log={tol}", "there is no field `tol`; did you mean `tool`?\n  tol\n  ^"),
        ("a:log={tool", "`{tool` has a `{` without `}`; double it to print it"),
        ("class", "`class:` has no name; write `tool:class` for a tool of this name"),
    ] {
        let said = BreakpointSpec::read(text).unwrap_err();
        assert!(said.starts_with(why), "{text}: {said}");
    }
}

#[test]
fn it_matches_its_place_on_its_side() {
    let (name, other) = (ToolName::new("b"), ToolName::new("c"));
    let (from, effect) = (Some("a"), Some(EffectClass::Write));
    let call = |tool, when| At {
        when,
        aim: Aim { tool: Some((tool, None)), from, effect, ..Aim::default() },
        troubles: if when == When::After { &[Trouble::Timeout, Trouble::Injected] } else { &[] },
    };
    for (text, before, after) in [
        ("b", true, false),
        ("b:after", false, true),
        ("b:both", true, true),
        ("any", true, false),
        ("tools", true, false),
        ("models", false, false),
        ("edge:a->b", true, false),
        ("edge:c->b", false, false),
        ("effect:write", true, false),
        ("effect:read", false, false),
        ("role:actor", false, false),
        ("error", false, true),
        ("error:timeout", false, true),
        ("error:injected", false, true),
        ("error:schema", false, false),
        ("plan", false, false),
    ] {
        let spec = read(text);
        let found = [When::Before, When::After].map(|when| spec.matches(&call(&name, when)));
        assert_eq!(found, [before, after], "{text}");
    }
    assert!(!read("b").matches(&call(&other, When::Before)));
    let asked =
        At { aim: Aim { role: Some(Role::Actor), ..Aim::default() }, ..call(&name, When::Before) };
    assert!(read("role:actor").matches(&asked) && read("models").matches(&asked));
    assert!(!read("effect:write").matches(&asked) && !read("tools").matches(&asked));
}

#[test]
fn hits_are_counted_from_one() {
    let due = |text: &str| (1..=6).filter(|nth| read(text).holds_at(*nth)).collect::<Vec<u32>>();
    assert_eq!(due("a"), [1, 2, 3, 4, 5, 6]);
    assert_eq!(due("a:hits=3"), [3]);
    assert_eq!(due("a:hits=>4"), [5, 6]);
    assert_eq!(due("a:hits=%3"), [3, 6]);
    assert_eq!(due("a:log=x"), [0; 0], "a logpoint holds nothing");
}

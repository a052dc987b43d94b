use super::*;

fn error(text: &str, scope: Scope) -> String {
    Expression::condition(text, scope).unwrap_err().to_string()
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, said) in [
        ("tool = \"x\"", "`=` is not an operator; `==` compares\n  tool = \"x\"\n       ^"),
        ("tool ==", "something is missing here\n  tool ==\n         ^"),
        ("(ms > 3", "`)` is missing here\n  (ms > 3\n         ^"),
        ("ms > 3 and ok", "unexpected `and`; write `&&`\n  ms > 3 and ok\n         ^"),
        ("tool == 'a", "the text has no closing '\n  tool == 'a\n          ^"),
        (
            "ok && tol == \"x\"",
            "there is no field `tol`; did you mean `tool`?\n  ok && tol == \"x\"\n        ^",
        ),
        ("ok && tool > 3", "`>` does not take string and int\n  ok && tool > 3\n             ^"),
        (
            "spent > 2 * budget",
            "`*` does not take int and double; write whole numbers as 2.0, or double(step)\n  \
             spent > 2 * budget\n            ^",
        ),
        ("spent", "expected true or false, found double\n  spent\n  ^"),
        ("", "the expression is empty\n  \n  ^"),
    ] {
        assert_eq!(error(text, Scope::Call), said);
    }
    assert_eq!(
        error("ms > 3", Scope::Session).lines().next(),
        Some("`ms` belongs to a call, but there is none here")
    );
    assert_eq!(error("tool.foo()", Scope::Call).lines().next(), Some("there is no foo"));
}

#[test]
fn what_can_be_right_is_taken() {
    for text in [
        "tool == \"search\" && ms > 500",
        "score.search < 0",
        "score[\"search\"] < 0.0",
        "weight.a.b > 0.5 || weight[\"a\"][\"b\"] == 0.1",
        "spent > 0.8 * budget",
        "result.contains(\"error\")",
        "args.query == \"x\" && args.n > 3",
        "args.list.exists(x, x > 3)",
        "has(args.query)",
        "tool in [\"a\", \"b\"]",
        "step % 10 == 0",
        "tool.matches(\"^search_\")",
        "evidence.E1 != \"\"",
        "size(prompt) > 1000",
        "ms > 100 ? ok : !ok",
    ] {
        assert_eq!(
            Expression::condition(text, Scope::Call).map(|it| it.to_string()),
            Ok(text.into())
        );
    }
    assert!(Expression::read("spent / budget", Scope::Session).is_ok());
}

struct Two;

impl FieldSource for Two {
    fn field(&self, path: &str) -> Option<Fact<'_>> {
        Some(match path {
            "tool" => Fact::text("search"),
            "ms" => Fact::Count(700),
            "score.search" => Fact::Amount(-1.25),
            _ => return None,
        })
    }
}

#[test]
fn values_are_those_of_the_fields() {
    let resolver = Resolver(&Two);
    let evaluator = Evaluator::new(&resolver);
    let value = |text: &str| {
        let read = Expression::read(text, Scope::Call).unwrap();
        evaluator.value(&read).map(|answer| answer.shown())
    };
    assert_eq!(value("ms + 1"), Ok("701".into()));
    assert_eq!(value("score.search * 2.0"), Ok("-2.5".into()));
    assert_eq!(value("tool + \"!\""), Ok("search!".into()));
    assert_eq!(value("[ms, 2]"), Ok("[700, 2]".into()));
    assert_eq!(value("ms / 0"), Err("division by zero".into()));
    let holds = |text: &str| evaluator.holds(&Expression::condition(text, Scope::Call).unwrap());
    assert!(holds("tool == \"search\" && ms > 500 && score.search < 0"));
    assert!(!holds("args.missing == 1"), "what has no value does not hold");
}

#[test]
fn an_expression_is_written_as_its_text() {
    let read = Expression::read(" ms > 1 ", Scope::Call).unwrap();
    let json = serde_json::to_string(&read).unwrap();
    assert_eq!(json, "\"ms > 1\"");
    assert_eq!(serde_json::from_str::<Expression>(&json).unwrap(), read);
    assert!(serde_json::from_str::<Expression>("\"ms >\"").is_err());
    let newer: Expression = serde_json::from_str("\"later_field > 1\"").unwrap();
    assert_eq!(newer.text(), "later_field > 1");
}

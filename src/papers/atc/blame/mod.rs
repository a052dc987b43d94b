//! Attribution: which tool's call led to an error.
//!
//! [`by_flow`] follows the failing value through the program, and calls no model. [`by_reply`] reads the answer of the
//! model that is called if the flow names no tool, or several.

mod failing_place;
mod flow;
mod parts;
mod program;
mod read;
mod reply;
mod targets;

pub(super) use self::failing_place::base_of;
pub use self::{
    flow::{CallMade, FlowStep, by_flow, ways},
    reply::by_reply,
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::program::Span;

    const TOOLS: [&str; 3] = ["movie", "person", "credits"];

    /// A program whose failing place is between `«` and `»`, and that place.
    fn marked(text: &str) -> (String, Span) {
        let place = |at: usize| {
            let before = text[..at].replace(['«', '»'], "");
            let line = before.rsplit('\n').next().unwrap();
            let count = |n: usize| u32::try_from(n + 1).unwrap();
            (count(before.matches('\n').count()), count(line.chars().count()))
        };
        let (line, column) = place(text.find('«').unwrap());
        let (end_line, end_column) = place(text.find('»').unwrap());
        (text.replace(['«', '»'], ""), Span { line, column, end_line, end_column })
    }

    /// Formats the blame of a program: the steps of the path as `name line, name line`, or `none of` with the candidate
    /// tools.
    fn said(text: &str, calls: &[CallMade]) -> String {
        let (program, span) = marked(text);
        let blame = by_flow(&program, span, &TOOLS, calls);
        let way = blame.way.iter().map(|step| format!("{} {}", step.name, step.line));
        match blame.tool {
            Some(_) => way.collect::<Vec<_>>().join(", "),
            None => format!("none of {}", blame.tools.join(", ")),
        }
    }

    fn assert_said(cases: &[(&str, &str)]) {
        for (text, right) in cases {
            assert_eq!(said(text, &[]), *right, "{text}");
        }
    }

    #[test]
    fn targets_get_what_their_statements_give_them() {
        assert_said(&[
            ("a, b = movie(), person()\n«b[0]»", "b 1, person 1"),
            ("a, *b = movie()\n«b[0]»", "b 1, movie 1"),
            ("(a, [b, c]) = (1, [movie(), person()])\n«c[0]»", "c 1, person 1"),
            ("a = (\n    movie()\n)\n«a[0]»", "a 1, movie 2"),
            ("a = b = movie()\n«a[0]»", "a 1, movie 1"),
            ("a: dict = movie()\n«a.x»", "a 1, movie 1"),
            ("n = 0\nn += movie()[\"n\"]\n«n.x»", "n 2, movie 2"),
            ("if (m := movie()):\n    «m[\"x\"]»", "m 1, movie 1"),
            ("with movie() as m:\n    «m[\"x\"]»", "m 1, movie 1"),
            ("ids = []\nfor m in movie():\n    ids.append(m)\n«ids[0]»", "ids 3, m 2, movie 2"),
            ("d = {}\nd[\"a\"][\"b\"] = movie()\n«d[\"c\"]»", "d 2, movie 2"),
            ("d = {}\nd.setdefault(1, []).append(movie())\n«d[\"c\"]»", "d 2, movie 2"),
        ]);
    }

    #[test]
    fn loops_and_comprehensions_go_through_what_they_iterate() {
        assert_said(&[
            ("for k, v in movie().items():\n    «v[0]»", "v 1, movie 1"),
            ("for i, m in enumerate(movie()):\n    «m[0]»", "m 1, movie 1"),
            ("for i, m in enumerate(movie()):\n    «i.x»", "none of "),
            ("for i, (m, p) in enumerate(zip(movie(), person())):\n    «p[0]»", "p 1, person 1"),
            ("for m in sorted(movie(), key=lambda m: «m[\"x\"]»):\n    pass", "m 1, movie 1"),
            ("x = [p[0] for m in movie() for p in m[1]]\n«x[0]»", "x 1, p 1, m 1, movie 1"),
            ("x = movie()\ny = [«x[0]» for x in x]", "x 2, x 1, movie 1"),
            ("x = {m[0]: «m[1]» for m in person()}", "m 1, person 1"),
            ("r = None\nfor q in [1]:\n    if r:\n        «r[0]»\n    r = movie()", "r 5, movie 5"),
            ("while True:\n    r = movie()\n    «r[0]»\n    r = person()", "r 2, movie 2"),
        ]);
    }

    #[test]
    fn calls_pass_their_data_on_and_tools_do_not() {
        assert_said(&[
            ("x = movie(id=person()[\"id\"])\n«x[0]»", "x 1, movie 1"),
            ("«movie(id=person()[\"id\"])»", "movie 1"),
            ("import json\nx = json.loads(movie())\n«x[0]»", "x 2, movie 2"),
            ("import json\nx = json.loads(movie()).get(0)\n«x[0]»", "x 2, movie 2"),
            ("import datetime as d\n«d.datetime.strptime(movie(), 0)»", "movie 2"),
            ("x = movie().get(\"a\", {}).get(person())\n«x[0]»", "x 1, movie 1"),
            ("x = next(iter(filter(None, movie())))\n«x[0]»", "x 1, movie 1"),
            ("x = max(movie(), key=lambda m: person())\n«x[0]»", "x 1, movie 1"),
            ("x = list(map(lambda m: m[\"a\"], movie()))\n«x[0]»", "x 1, m 1, movie 1"),
            ("x = list(map(credits, movie()))\n«x[0]»", "x 1, credits 1"),
            ("x = all_of(credits, [{\"id\": m} for m in movie()])\n«x[0]»", "x 1, credits 1"),
            ("x = f\"{movie()['t']}\" + \", \".join(movie())\n«x[0]»", "x 1, movie 1"),
            ("x = person() if movie() else person()\n«x[movie()]»", "x 1, person 1"),
            ("«int(movie()[\"id\"])»", "movie 1"),
            ("«(movie() or\n  [])[0]»", "movie 1"),
            ("«movie()[0] + person()[0]»", "none of movie, person"),
            ("x = {\"m\": movie(), **person()}\n«x[0]»", "none of movie, person"),
        ]);
    }

    #[test]
    fn the_functions_of_the_program_are_followed_through_their_calls() {
        assert_said(&[
            ("def f(r, d=1):\n    return «r[0]»\nf(movie())\nf(d=2, r=movie())", "r 3, movie 3"),
            ("def f(r):\n    return «r[0]»\nf(movie())\nf(person())", "none of movie, person"),
            (
                "def f(r):\n    return r[0]\nx = f(movie())\ny = f(person())\n«y[0]»",
                "y 4, f 2, r 4, person 4",
            ),
            (
                "def f():\n    return g()\ndef g():\n    return movie()\n«f()[0]»",
                "f 2, g 4, movie 4",
            ),
            ("def f(*rows, **named):\n    «rows[0]»\nf(1, movie())", "rows 3, movie 3"),
            ("def f(a, b):\n    «b[0]»\nf(*movie())", "b 3, movie 3"),
            ("def f(m):\n    return «m[0]»\nsorted(movie(), key=f)", "m 3, movie 3"),
            (
                "def f(m):\n    return m[0]\nx = list(map(f, movie()))\n«x[0]»",
                "x 3, f 2, m 3, movie 3",
            ),
            ("f = lambda m: m[0]\nx = f(movie())\n«x[0]»", "x 2, f 1, m 2, movie 2"),
            ("def f():\n    global r\n    r = movie()\nf()\n«r[0]»", "r 3, movie 3"),
            ("def f():\n    return «r[0]»\nr = movie()\nf()", "r 3, movie 3"),
            ("def movie():\n    return person()\n«movie()[0]»", "movie 2, person 2"),
            ("async def f(q):\n    return await movie()\n«(await f(1))[0]»", "f 2, movie 2"),
        ]);
    }

    #[test]
    fn only_what_reaches_the_place_counts() {
        assert_said(&[
            ("r = movie()\nr = person()\n«r[0]»", "r 2, person 2"),
            ("r = movie()\n«r[0]»\nr = person()", "r 1, movie 1"),
            ("if x:\n    r = movie()\nelse:\n    r = person()\n«r[0]»", "none of person, movie"),
            ("r = movie()\nif x:\n    r = person()\n    «r[0]»", "r 3, person 3"),
            ("try:\n    r = movie()\nexcept Exception as e:\n    r = []\n«r[0]»", "r 2, movie 2"),
            ("try:\n    movie()\nexcept Exception as e:\n    «e.code»", "none of "),
        ]);
        let either = "if x:\n    r = movie()\nelse:\n    r = person()\n«r[0]»";
        let call = |tool, line, answered| CallMade { tool, line, answered };
        assert_eq!(said(either, &[call("person", 4, true)]), "r 4, person 4");
        let both = [call("movie", 2, true), call("person", 4, false)];
        assert_eq!(said(either, &both), "r 2, movie 2", "a failed call has no value");
        assert_eq!(said(either, &[call("person", 9, true)]), "none of person, movie");
    }

    #[test]
    fn a_line_is_led_back_to_the_calls_that_made_its_value() {
        let text = "p = person()
pid = p[0]
def films(pid):
    for m in credits(pid):
        c = movie(
            id=m)
        if c[0] and p:
            t.append(m)
    return t
t = []
print(films(pid))
";
        let said = |line| {
            let ways = ways(text, line, None, &TOOLS).into_iter().map(|way| {
                let steps = way.iter().map(|step| format!("{} {}", step.name, step.line));
                steps.collect::<Vec<_>>().join(", ")
            });
            ways.collect::<Vec<_>>().join("; ")
        };
        for (line, right) in [
            (1, ""),
            (2, "p 1, person 1"),
            (3, ""),
            (4, "pid 11, pid 2, p 1, person 1"),
            (5, "m 4, credits 4"),
            (6, "m 4, credits 4"),
            (7, "p 1, person 1; c 5, movie 5"),
            (11, "films 9, t 8, m 4, credits 4"),
            (12, ""),
        ] {
            assert_eq!(said(line), right, "line {line}");
        }
        assert!(ways("x = (", 1, None, &TOOLS).is_empty());
    }

    #[test]
    fn cycles_end_and_unknown_functions_are_blamed_where_they_fail() {
        assert_said(&[
            ("x = movie()\nwhile x:\n    x = «x[\"a\"]»", "x 1, movie 1"),
            ("a = b\nb = a\nwhile a:\n    a = b\n    b = «a[0]»", "none of "),
            ("def f(x):\n    return x or f(x[0])\n«f(movie())[0]»", "f 2, x 3, movie 3"),
            ("def f(x):\n    return f(f(x))\n«f(1)»", "none of "),
            ("«films(1)»", "films 1"),
            ("«KeyError(1)»", "none of "),
            ("x = films(1)\n«x[0]»", "none of "),
            ("«a, b» = movie()", "movie 1"),
            ("for «a, b» in movie():\n    pass", "movie 1"),
        ]);
    }

    #[test]
    fn a_hostile_program_is_followed_in_bounded_time() {
        let chain: String = (1..3_000).map(|n| format!("x{n} = x{}[0]\n", n - 1)).collect();
        let (program, span) = marked(&format!("x0 = movie()\n{chain}«x2999[0]»"));
        assert_eq!(by_flow(&program, span, &TOOLS, &[]).way.len(), 3_001);
        let same = "x = x[0]\n".repeat(5_000);
        let (program, span) = marked(&format!("x = movie()\n{same}«x[0]»"));
        assert_eq!(by_flow(&program, span, &TOOLS, &[]).tool.as_deref(), Some("movie"));
        let branches = "if x:\n x = x[0]\n".repeat(2_500);
        let (program, span) = marked(&format!("x = movie()\n{branches}«x[0]»"));
        assert_eq!(by_flow(&program, span, &TOOLS, &[]).tool.as_deref(), Some("movie"));
        let functions = "def f(x): return f(f(x))\n".repeat(2_500);
        let (program, span) = marked(&format!("{functions}«f(movie())»"));
        assert_eq!(by_flow(&program, span, &TOOLS, &[]).tool, None, "it never returns");
        // The first function does not know `f`, and so passes its argument on.
        let lambdas = "f = lambda m: f(m)\n".repeat(3_000);
        let (program, span) = marked(&format!("{lambdas}«f(movie())»"));
        assert_eq!(by_flow(&program, span, &TOOLS, &[]).tool.as_deref(), Some("movie"));
    }

    proptest! {
        #[test]
        fn any_text_and_any_place_blame_only_names_of_the_text(
            text in "(x|y|movie|person|def f\\(x\\):|for x in |if |\\(|\\)|\\[|\\]| = |, |\n|\n    |\\.|lambda x: |return |é|\"|:){0,30}",
            (line, column, end_line, end_column) in (0_u32..6, 0_u32..20, 0_u32..6, 0_u32..20),
        ) {
            let span = Span { line, column, end_line, end_column };
            let blame = by_flow(&text, span, &TOOLS, &[]);
            prop_assert!(blame.tools.iter().all(|tool| text.contains(tool.as_str())));
            prop_assert_eq!(blame.tool.is_some(), blame.tools.len() == 1);
            prop_assert_eq!(blame.way.last().map(|step| &step.name), blame.tool.as_ref());
        }

        #[test]
        fn statements_in_any_order_are_followed_to_an_end(
            lines in prop::collection::vec(prop::sample::select(&[
                "x = movie()", "x = y", "y = x[0]", "x, y = y, x", "z = [x for x in y]", "y = person(q=x)",
                "for x in y:\n    y = x", "while y:\n    x = f(y)", "def f(y):\n    return f(x) or y",
                "x.append(y)", "y = list(map(f, x))", "if x:\n    y = movie(q=y)", "x = lambda y: x(y)", "z = x(z)",
            ][..]), 0..12),
            at in 0_usize..12,
        ) {
            let program = lines.join("\n");
            let text = program.lines().nth(at).unwrap_or_default();
            let line = u32::try_from(at + 1).unwrap();
            let span = Span { line, column: 1, end_line: line, end_column: u32::try_from(text.len() + 1).unwrap() };
            let blame = by_flow(&program, span, &TOOLS, &[]);
            let is_offered = |tool: &String| TOOLS.contains(&tool.as_str());
            prop_assert!(blame.tools.len() == 1 || blame.tools.iter().all(is_offered));
        }
    }
}

//! Programs over tools, run in the worker: golden cases, and what hostile programs may do.

use std::fs;

use serde_json::{Map, Value, json};
use toolyard::domain::program::{
    CallAnswer, Extra, ExtraOutcome, Function, Interpreter, Moment, Pause, ProgramCall, ProgramEnd,
    ProgramLimits, ProgramStart, Raised, Stops,
};
use toolyard::papers::atc::flaws::flaws_of;
use toolyard::program::Child;

use crate::sources::root;

fn data(name: &str) -> Value {
    let text = fs::read_to_string(root().join("tests/data/atc").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn interpreter() -> Child {
    toolyard::process::set_reaper(env!("CARGO_BIN_EXE_toolyard").into());
    Child::default()
}

fn on_runtime<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// What a run did.
#[derive(Debug)]
struct Ran {
    calls: Vec<ProgramCall>,
    stops: Vec<u32>,
    end: ProgramEnd,
}

async fn run(
    child: &mut Child,
    start: &ProgramStart,
    stops: &Stops,
    mut answer: impl FnMut(&ProgramCall) -> CallAnswer,
) -> Ran {
    let (mut calls, mut stopped) = (Vec::new(), Vec::new());
    if let Some(flaw) = flaws_of(&start.text, &start.functions).into_iter().next() {
        let end = ProgramEnd { error: Some(flaw), ..ProgramEnd::default() };
        return Ran { calls, stops: stopped, end };
    }
    let mut pause = child.start(start, stops).await;
    loop {
        let answers = match pause {
            Pause::Ended(end) => return Ran { calls, stops: stopped, end },
            Pause::Line(line) => {
                stopped.push(line.line);
                Vec::new()
            }
            Pause::Clock => vec![CallAnswer::Time(1_700_000_000_000)],
            Pause::Call(call) => {
                let answers = vec![answer(&call)];
                calls.push(call);
                answers
            }
            Pause::Calls(all) => {
                let answers = all.iter().map(&mut answer).collect();
                calls.extend(all);
                answers
            }
        };
        pause = child.answer(answers, stops).await;
    }
}

/// For programs that call nothing.
fn no_tool(call: &ProgramCall) -> CallAnswer {
    CallAnswer::Raise(Raised::new(
        "RuntimeError",
        format!("nobody expected a call of {}", call.tool),
    ))
}

fn start(text: &str) -> ProgramStart {
    ProgramStart { text: text.to_owned(), ..ProgramStart::default() }
}

/// The tools of the golden programs.
fn mocked(data: &Value) -> (Vec<Function>, impl Fn(&ProgramCall) -> CallAnswer) {
    let functions = data["params"].as_object().unwrap().iter().map(|(name, parameters)| Function {
        name: name.clone(),
        parameters: serde_json::from_value(parameters.clone()).unwrap(),
        takes_more: false,
    });
    let tools = data["tools"].clone();
    let answer = move |call: &ProgramCall| {
        let rows = tools[&call.tool].as_array().unwrap();
        let fits = |row: &&Value| {
            row["when"]
                .as_object()
                .unwrap()
                .iter()
                .all(|(name, value)| call.arguments.get(name) == Some(value))
        };
        let result = &rows.iter().find(fits).unwrap()["result"];
        match result.get("$error") {
            Some(error) => CallAnswer::Raise(Raised::new(
                "RuntimeError",
                format!("{}: {}", call.tool, error.as_str().unwrap()),
            )),
            None => CallAnswer::Result(
                result.as_str().map_or_else(|| result.to_string(), str::to_owned),
            ),
        }
    };
    (functions.collect(), answer)
}

#[test]
fn golden_programs_call_print_and_fail_as_in_python() {
    let data = data("programs.json");
    let (functions, answer) = mocked(&data);
    let limits = ProgramLimits { time_ms: 1000, ..ProgramLimits::default() };
    on_runtime(async {
        let mut child = interpreter();
        for case in data["programs"].as_array().unwrap() {
            for stoppable in [false, true] {
                let start = ProgramStart {
                    functions: functions.clone(),
                    limits,
                    stoppable,
                    ..start(case["code"].as_str().unwrap())
                };
                let ran = run(&mut child, &start, &Stops::default(), &answer).await;
                expect(case, &ran, stoppable);
            }
        }
    });
}

fn expect(case: &Value, ran: &Ran, stoppable: bool) {
    let name = format!("{} stoppable {stoppable}: {ran:?}", case["name"]);
    let wanted: Vec<&Value> =
        case["calls"].as_array().unwrap().iter().filter(|call| call[2] != "refused").collect();
    if wanted.last().is_none_or(|last| last[0] != "...") {
        let made = ran.calls.iter().map(|call| json!([call.tool, call.arguments]));
        let wanted = wanted.iter().map(|call| json!([call[0], call[1]]));
        assert_eq!(made.collect::<Vec<_>>(), wanted.collect::<Vec<_>>(), "{name}");
    } else {
        assert_eq!(ran.calls.len(), 50, "{name}");
    }
    assert_eq!(ran.end.printed, case["stdout"].as_str().unwrap(), "{name}");
    assert_eq!(ran.end.value, case["value"].as_str().map(Value::from), "{name}");
    let Some(error) = case["error"].as_object() else {
        assert_eq!(ran.end.error, None, "{name}");
        return;
    };
    let raised = ran.end.error.as_ref().unwrap_or_else(|| panic!("{name}"));
    assert_eq!(raised.kind, error["type"].as_str().unwrap(), "{name}");
    if let Some(text) = error.get("msg") {
        assert_eq!(raised.text, text.as_str().unwrap(), "{name}");
    }
    if let Some(line) = error.get("line") {
        assert_eq!(raised.line().map(u64::from), line.as_u64(), "{name}");
    }
    if let Some(span) = error.get("span") {
        let at = raised.span.unwrap();
        assert_eq!(json!([at.line, at.column, at.end_line, at.end_column]), *span, "{name}");
    }
}

#[test]
fn a_program_stops_before_every_statement_and_tells_frames_and_values() {
    let text = "def double(n):\n    m = 2 * n\n    return m\n\nout = []\nfor i in range(2):\n    out.append(double(i))\nprint(out)\n";
    on_runtime(async {
        let mut child = interpreter();
        let start = ProgramStart { stoppable: true, ..start(text) };
        let every = Stops::every();
        let mut pause = child.start(&start, &every).await;
        let mut seen = Vec::new();
        while let Pause::Line(stop) = pause {
            let frames: Vec<String> = stop
                .frames
                .iter()
                .map(|frame| format!("{}:{}", frame.function.as_deref().unwrap_or(""), frame.line))
                .collect();
            let set: Vec<String> =
                stop.set.iter().map(|set| format!("{}={}", set.name, set.value)).collect();
            seen.push(format!(
                "{} #{} {} {}",
                stop.line,
                stop.hit,
                frames.join(" "),
                set.join(" ")
            ));
            pause = child.answer(Vec::new(), &every).await;
        }
        insta::assert_snapshot!("program-stops", seen.join("\n"));
        let Pause::Ended(end) = pause else { panic!("{pause:?}") };
        assert_eq!(end.printed, "[0, 2]\n");
        // Over the function.
        let module = Stops { within: Some(1), ..Stops::default() };
        let ran = run(&mut child, &start, &module, no_tool).await;
        assert_eq!(ran.stops, [1, 5, 6, 7, 7, 8]);
        let ran =
            run(&mut child, &start, &Stops { lines: [2].into(), ..Stops::default() }, no_tool)
                .await;
        assert_eq!(ran.stops, [2, 2]);
        let set = Stops { names: ["m".to_owned()].into(), ..Stops::default() };
        let ran = run(&mut child, &start, &set, no_tool).await;
        assert_eq!(ran.stops, [3, 3]);
    });
}

/// What a person asks for in a program, and sets in it: in functions, too, and where it fails.
#[test]
fn a_person_asks_for_values_in_the_scope_of_a_line_and_sets_them() {
    let text = "total = 0\nnames = ['a', 'b']\ndef add(n):\n    for name in names:\n        yield_ = n\n    return total + n\nfor i in range(3):\n    total = add(i)\nprint(total, names)\n";
    let ask = |when, expression: &str, sets: Option<&str>| Extra {
        when,
        expression: expression.to_owned(),
        sets: sets.map(str::to_owned),
    };
    let told = |extras: Vec<Extra>, lines: &'static [u32]| async move {
        let mut child = interpreter();
        let start = ProgramStart { stoppable: true, extras, ..start(text) };
        let stops = Stops { lines: lines.iter().copied().collect(), ..Stops::default() };
        let mut pause = child.start(&start, &stops).await;
        let mut seen = Vec::new();
        while let Pause::Line(stop) = pause {
            for ExtraOutcome { expression, value, holds, .. } in stop.told {
                let value = value.map_or_else(|error| error, |value| value.to_string());
                seen.push(format!("{}#{} {expression}: {value} {holds}", stop.line, stop.hit));
            }
            pause = child.answer(Vec::new(), &stops).await;
        }
        let Pause::Ended(end) = pause else { panic!("{pause:?}") };
        seen.push(end.printed.trim_end().to_owned());
        seen
    };
    on_runtime(async {
        // Of its own scope, of the module's, truth, and errors, which do the program no harm.
        let asked = vec![
            ask(Moment::Line(6), "n > 1", None),
            ask(Moment::Line(6), "[n, total]  # both", None),
            ask(Moment::Hit { line: 6, hit: 2 }, "nothing", None),
            ask(Moment::Hit { line: 6, hit: 3 }, "{}['x']", None),
        ];
        assert_eq!(
            told(asked, &[6]).await,
            [
                "6#1 n > 1: false false",
                "6#1 [n, total]  # both: [0,0] true",
                "6#2 n > 1: false false",
                "6#2 [n, total]  # both: [1,0] true",
                "6#2 nothing: NameError: name 'nothing' is not defined false",
                "6#3 n > 1: true true",
                "6#3 [n, total]  # both: [2,1] true",
                "6#3 {}['x']: KeyError: 'x' false",
                "3 ['a', 'b']",
            ]
        );
        // A variable of the function, one of the module from within the function, and one of the module.
        let hit = |line, hit| Moment::Hit { line, hit };
        assert_eq!(told(vec![ask(hit(6, 2), "n * 10", Some("n"))], &[]).await, ["12 ['a', 'b']"]);
        assert_eq!(told(vec![ask(hit(6, 3), "100", Some("total"))], &[]).await, ["102 ['a', 'b']"]);
        assert_eq!(told(vec![ask(hit(9, 1), "names[:1]", Some("names"))], &[]).await, ["3 ['a']"]);
        let wrong = told(vec![ask(hit(9, 1), "names[7]", Some("names"))], &[9]).await;
        assert_eq!(wrong[0], "9#1 names[7]: IndexError: list index out of range false");
    });
}

#[test]
fn an_error_says_what_was_there() {
    let text = |last: &str| {
        format!("d = {{'id': 1, 'crew': [{{'n': 2}}], 'none': None, 't': 'x'}}\n{last}\n")
    };
    let cases = [
        ("d['crow']", "has: id, crew, none, t", Some("did you mean \"crew\"?")),
        ("d['crew'][0]['director']", "has: n", None),
        ("d['crew'][1]", "is a list of 1 element", None),
        ("[][0]", "is a list without elements", None),
        ("d['t']['x']", "is the text \"x\"", None),
        ("d['crew'].get('x')", "is a list of 1 element", None),
        ("[m['title'] for m in d['crew']]", "has: n", None),
        ("{}['x']", "is an empty dict", None),
    ];
    on_runtime(async {
        let mut child = interpreter();
        for stoppable in [false, true] {
            for (last, had, hint) in cases {
                let start = ProgramStart { stoppable, ..start(&text(last)) };
                let ran = run(&mut child, &start, &Stops::default(), no_tool).await;
                let error = ran.end.error.unwrap();
                assert_eq!(error.had.as_deref(), Some(had), "{last}: {error:?}");
                assert_eq!(error.hint.as_deref(), hint, "{last}");
            }
        }
        let plain = run(&mut child, &start("print(None[0])"), &Stops::default(), no_tool).await;
        assert_eq!(plain.end.error.unwrap().had, None);
    });
}

#[test]
fn features_work_as_they_are_listed() {
    on_runtime(async {
        let mut child = interpreter();
        let mut other = Vec::new();
        for case in data("monty.json")["cases"].as_array().unwrap() {
            let ran =
                run(&mut child, &start(case["code"].as_str().unwrap()), &Stops::default(), no_tool)
                    .await;
            let is_as_python = ran.end.error.is_none()
                && ran.end.printed == case["cpython"].as_str().unwrap_or_default();
            let works = case["works"].as_bool().unwrap();
            if !works || !is_as_python {
                let error = ran.end.error.as_ref().map(|error| {
                    format!("{} | {}", error.summary(), error.hint.as_deref().unwrap_or("-"))
                });
                let feature = case["feature"].as_str().unwrap();
                other.push(format!("{feature}: {}", error.unwrap_or(ran.end.printed)));
            }
        }
        insta::assert_snapshot!("program-features", other.join("\n"));
    });
}

#[test]
fn hostile_programs_end_in_time_and_leave_the_next_one_alone() {
    let deep = format!("x = {}1{}", "(".repeat(30_000), ")".repeat(30_000));
    let chain = format!("x = 1{}", " + 1".repeat(15_000));
    let long = format!("x = '{}'", "y".repeat(70_000));
    let programs: &[(&str, &[&str])] = &[
        ("while True: pass", &["TimeoutError"]),
        ("while True:\n    x = 1\n    y = 2", &["TimeoutError"]),
        ("def f(n): return f(n + 1)\nf(0)", &["RecursionError"]),
        ("x = 'y' * 10 ** 10", &["MemoryError"]),
        ("x = []\nwhile True: x.append('y' * 1000)", &["MemoryError", "TimeoutError"]),
        ("x = [0] * 10 ** 9", &["MemoryError"]),
        ("x = 7 ** (10 ** 8)", &["MemoryError"]),
        ("x = 10 ** 10 ** 10", &["MemoryError"]),
        ("import re\nre.match('(a+)+$', 'a' * 40 + 'b')", &[""]),
        ("while True: print('x' * 1000)", &["MemoryError"]),
        (
            "x = []\nfor i in range(200000): x = [x]\nprint(len(repr(x)))",
            &["", "TimeoutError", "SystemError"],
        ),
        (
            "x = []\ny = []\nfor i in range(200000):\n    x = [x]\n    y = [y]\nprint(x == y)",
            &["", "TimeoutError", "SystemError", "RecursionError"],
        ),
        ("x = {}\nx['x'] = x\nprint(x)\ntool(a=x)", &["TypeError"]),
        ("print(sorted(range(50000000)))", &["MemoryError", "TimeoutError"]),
        ("while True: tool(a=1)", &["RuntimeError"]),
        ("'%s' % 3", &["NotImplementedError"]),
        ("import os\nos.environ['PATH']", &["PermissionError"]),
        ("print(open('/etc/passwd').read())", &["PermissionError"]),
        ("import socket", &["ModuleNotFoundError"]),
        ("raise ValueError(3)", &["ValueError"]),
        ("__at__(99)", &["NameError"]),
        (&deep, &["SyntaxError"]),
        (&chain, &["SyntaxError"]),
        (&long, &["SyntaxError"]),
    ];
    let tool = || Function { name: "tool".into(), parameters: vec!["a".into()], takes_more: false };
    let limits = ProgramLimits { time_ms: 400, ..ProgramLimits::default() };
    on_runtime(async {
        let mut child = interpreter();
        for (text, wanted) in programs {
            for stoppable in [false, true] {
                let functions = vec![tool()];
                let start = ProgramStart { functions, stoppable, limits, ..start(text) };
                let nothing = |_: &ProgramCall| CallAnswer::Result(String::new());
                let ran = run(&mut child, &start, &Stops::default(), nothing).await;
                let kind = ran.end.error.as_ref().map_or("", |error| error.kind.as_str());
                assert!(wanted.contains(&kind), "{text:.60}: {:?}", ran.end.error);
            }
            let ran = run(&mut child, &start("print(1 + 1)"), &Stops::default(), no_tool).await;
            assert_eq!(ran.end.printed, "2\n", "after {text:.60}");
        }
    });
}

#[test]
fn arguments_that_are_no_json_are_refused_by_name() {
    let functions = vec![Function {
        name: "tool".into(),
        parameters: vec!["a".into(), "b".into()],
        takes_more: false,
    }];
    let cases = [
        ("tool(a=2 ** 70)", "tool() argument 'a' is an integer of more than 64 bits"),
        ("tool(a=float('nan'))", "tool() argument 'a' is nan, which JSON does not have"),
        ("tool(1, {2: 3})", "tool() argument 'b' is a dict with the key 2, which is no text"),
        ("tool({1})", "tool() argument 'a' is a set, which JSON does not have"),
        ("x = []\nx.append(x)\ntool(x)", "tool() argument 'a' is a value that contains itself"),
        ("tool(tool)", "tool() argument 'a' is a function, which JSON does not have"),
        ("d = {'c': 1}\ntool(**d)", "tool() got an unexpected keyword argument 'c'"),
        ("d = {'a': 1}\ntool(2, **d)", "tool() got multiple values for argument 'a'"),
        ("x = [1, 2, 3]\ntool(*x)", "tool() takes 2 positional arguments but 3 were given"),
    ];
    on_runtime(async {
        let mut child = interpreter();
        for (text, wanted) in cases {
            let start = ProgramStart { functions: functions.clone(), ..start(text) };
            let ran = run(&mut child, &start, &Stops::default(), no_tool).await;
            let error = ran.end.error.unwrap();
            assert_eq!((error.kind.as_str(), error.text.as_str()), ("TypeError", wanted), "{text}");
        }
        let all = "r = all_of(tool, [{'a': 1}, {'a': 2, 'b': 'x'}])\nprint(r)\nf = tool\nfor x in [7]:\n    print(f(x))\n";
        let start = ProgramStart { functions, ..start(all) };
        let ran =
            run(&mut child, &start, &Stops::default(), |call| match call.arguments.get("b") {
                Some(_) => CallAnswer::Raise(Raised::new("RuntimeError", "tool: no")),
                None => CallAnswer::Result(json!({ "n": call.arguments["a"] }).to_string()),
            })
            .await;
        assert_eq!(
            ran.end,
            ProgramEnd {
                printed: "[{'n': 1}, {'error': 'tool: no'}]\n{'n': 7}\n".into(),
                ..ProgramEnd::default()
            }
        );
        let lines: Vec<u32> = ran.calls.iter().map(|call| call.line).collect();
        assert_eq!(lines, [1, 1, 5]);
        let arguments: Vec<&Map<String, Value>> =
            ran.calls.iter().map(|call| &call.arguments).collect();
        assert_eq!(json!(arguments), json!([{"a": 1}, {"a": 2, "b": "x"}, {"a": 7}]));
    });
}

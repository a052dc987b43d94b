//! What each fuzz target does with its bytes: it reads them as the program reads what others wrote, and
//! asserts what must hold of anything read. Tests call the same functions with seeded mutations of real inputs.

#[path = "wires.rs"]
mod wires;

use std::sync::{LazyLock, atomic::AtomicBool};

use serde_json::{Value, json};
use toolyard::app::config::Config;
use toolyard::app::scenario::Scenario;
use toolyard::domain::program::{Extra, Function, Moment, ProgramStart, Span};
use toolyard::domain::{
    Finish, Plan, Record, Reply, Request, Role, State, ToolDef, ToolMode, ToolName, Usage,
    arguments as input, repair::Repair,
};
use toolyard::model::{ModelProgress, hosted::replies, text::from_text, understood};
use toolyard::papers::atc::{self, flaws::flaws_of, prepare::Prepared, source::ParsedProgram};
use toolyard::papers::plan::{self, MOST};
use toolyard::reader::{LocalReader, Pooling, Reader, Special, StateLayer, StateRequest};
use toolyard::store::journal::parts;
use toolyard::tool::check::Checker;
use toolyard::ui::text as screen;
use toolyard::wire::sse::Parser;

pub use self::wires::wires;

/// A line of a journal is read again as it was written, and folds into any state.
pub fn journal_line(data: &[u8]) {
    let Ok(record) = Record::read(data) else { return };
    let mut state = State::default();
    state.apply(&record);
    state.apply(&record);
    let written = serde_json::to_vec(&record).unwrap_or_default();
    assert_eq!(Record::read(&written).as_ref(), Ok(&record), "{}", shown(&written));
}

/// Lines of a journal of an earlier format, whose parts are put into their places: damaged ones give an error, and a line
/// without parts is read as it is.
pub fn journal_parts(data: &[u8]) {
    let mut parts = parts::PartsReader::default();
    for line in data.split(|byte| *byte == b'\n') {
        let has_parts = line.windows(3).any(|bytes| bytes == b"{\"=");
        let whole = parts.whole(line);
        assert!(has_parts || whole == Ok(line), "{}", shown(line));
    }
}

/// A planner's answer: no plan that is read is larger than allowed.
pub fn plan_text(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for read in
        [plan::parse(&text, &plan::PlanTools::named(["f", "search_web"])), plan::parse_json(&text)]
    {
        let steps = read.map(|Plan { steps }| steps).unwrap_or_default();
        assert!(steps.len() <= MOST, "{} plans", steps.len());
        let calls: usize = steps.iter().map(|step| step.evidence.len()).sum();
        assert!(calls <= MOST, "{calls} calls");
    }
}

/// A programmer's reply: an error at any line of its program blames names that stand in it, and a program that can run
/// is still a program when it was prepared for that.
pub fn program(data: &[u8]) {
    let Ok(program) = atc::extract(&String::from_utf8_lossy(data)) else { return };
    assert!(!program.trim().is_empty());
    for (at, line) in program.split('\n').enumerate().take(20) {
        let number = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
        let (line, end_column) = (number(at), number(line.chars().count()));
        let span = Span { line, column: 1, end_line: line, end_column };
        let blame = atc::blame::by_flow(&program, span, &["search", "f"], &[]);
        assert!(blame.tools.iter().all(|tool| program.contains(tool.as_str())), "{blame:?}");
    }
    let f = Function { name: "f".to_owned(), parameters: vec!["a".to_owned()], takes_more: false };
    let Ok(source) = ParsedProgram::parse(&program) else { return };
    if flaws_of(&program, std::slice::from_ref(&f)).is_empty() {
        let extra = |sets: Option<&str>| Extra {
            when: Moment::Always,
            expression: "len([f])  # how many".to_owned(),
            sets: sets.map(str::to_owned),
        };
        for (stoppable, extras) in
            [(false, Vec::new()), (true, Vec::new()), (true, vec![extra(None), extra(Some("a"))])]
        {
            let functions = vec![f.clone()];
            let start = ProgramStart { functions, stoppable, extras, ..ProgramStart::default() };
            let prepared = Prepared::of(&source, &start);
            assert!(
                ParsedProgram::parse(&prepared.code).is_ok(),
                "{program:?} becomes {:?}",
                prepared.code
            );
        }
    }
}

/// A stream of events is the same in pieces of any size. The first byte says how large they are.
pub fn event_stream(data: &[u8]) {
    let Some((size, data)) = data.split_first() else { return };
    let read = |size: usize| {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        for piece in data.chunks(size) {
            events.extend(parser.feed(piece).unwrap_or_default());
        }
        events.extend(parser.finish());
        events
    };
    assert_eq!(read(usize::from(*size).max(1)), read(data.len().max(1)), "{}", shown(data));
}

/// The body of a model's response is the same reply, or the same failure, in pieces of any size. The first
/// byte says how large they are, the second of which type the body is.
pub fn replies(data: &[u8]) {
    let [size, kind, data @ ..] = data else { return };
    let kinds = ["text/event-stream", "application/json", "text/html", ""];
    let kind = kinds[usize::from(*kind) % kinds.len()];
    let read = |size: usize| {
        let mut shown = String::new();
        let mut progress = |news| {
            if let ModelProgress::Text(text) = news {
                shown.push_str(&text);
            }
        };
        let read = replies::read(data, kind, size, &MENU, &mut progress);
        match &read {
            Ok(reply) => assert!(reply.calls.iter().all(|call| !call.id.is_empty())),
            Err(error) => assert_eq!(error.partial, shown),
        }
        (read, shown)
    };
    let whole = read(data.len().max(1));
    assert_eq!(read(usize::from(*size).max(1)), whole, "{kind}: {}", shown(data));
    let Ok(reply) = whole.0 else { return };
    for mode in [ToolMode::Native, ToolMode::Text] {
        let read = understood(mode, &MENU, reply.clone());
        let is_offered = |name: &ToolName| MENU.tools.iter().any(|tool| tool.name == *name);
        let from_text = read.repairs.iter().any(|it| matches!(it, Repair::FromText { .. }));
        assert!(!from_text || read.calls.iter().all(|call| is_offered(&call.tool)), "{read:?}");
    }
}

/// What reaches the screen is text alone, and no wider than its place.
pub fn screen_text(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let clean = screen::clean(&text);
    assert!(!clean.chars().any(char::is_control), "{}", shown(clean.as_bytes()));
    assert_eq!(screen::clean(&clean), clean, "what is clean stays as it is");
    for width in [1, 2, 7, 40] {
        assert!(screen::width(&screen::cut(&text, width)) <= width, "{width}: {clean}");
        assert_eq!(screen::width(&screen::fit(&text, width)), width, "{clean}");
        for line in screen::wrap(&text, width) {
            // A character of two columns has no place in one.
            assert!(screen::width(&line) <= width.max(2), "{width}: {}", shown(line.as_bytes()));
        }
    }
}

/// A configuration is read, or what is wrong with it is named.
pub fn configuration(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Err(problems) = Config::parse("config.toml", &text) {
        assert!(problems.to_string().contains("config.toml"), "{problems}");
    }
}

/// A scenario is read and can be written again, or what is wrong with it is named.
pub fn scenario(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Scenario::parse("scenario.toml", &text).map(|scenario| scenario.to_toml()) {
        Ok(Ok(written)) => {
            let again = Scenario::parse("again.toml", &written);
            assert!(again.is_ok(), "{again:?}\n{written}");
        }
        Ok(Err(_)) => {}
        Err(problems) => assert!(problems.to_string().contains("scenario.toml"), "{problems}"),
    }
}

/// Arguments of a call, as models write them, against the tool's schema.
pub fn arguments(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for (schema, checker) in TOOLS.iter() {
        let read = input::read(&text, schema);
        if checker.check(&read).is_ok() {
            assert!(read.is_object(), "{read}");
        }
    }
}

/// An answer in text mode calls a tool of the menu, or none.
pub fn action_text(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (finish, usage) = (Finish::Stop, Usage::default());
    let reply = Reply { finish, usage, ..Reply::of_text(text) };
    let read = from_text(&MENU, reply);
    assert!(read.calls.len() <= 1, "{:?}", read.calls);
}

/// A model file is read, and then reads a text, or what is wrong with it is named.
pub fn model_file(data: &[u8]) {
    let mut reader = match LocalReader::read(std::io::Cursor::new(data)) {
        Ok(reader) => reader,
        Err(fault) => {
            let error = fault.in_file("model.gguf").to_string();
            return assert!(error.starts_with("model.gguf: "), "{error}");
        }
    };
    let text = "the 12 <x>";
    let tokens = reader.tokenizer().encode(text, Special::Token).unwrap_or_default();
    assert!(tokens.ends.is_sorted() && tokens.ends.last().is_none_or(|end| *end <= text.len()));
    let wanted = [StateRequest::new(StateLayer::Final, Pooling::Mean)];
    if let Ok(states) = reader.states(&tokens.ids, &wanted, &AtomicBool::new(false)) {
        assert!(states.iter().all(|states| states.numbers().iter().all(|x| x.is_finite())));
    }
}

static TOOLS: LazyLock<Vec<(Value, Checker)>> = LazyLock::new(|| {
    let texts = json!({"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}});
    let schemas = [
        json!({"type": "object", "properties": texts, "required": ["city"]}),
        json!({"type": "object", "properties": {"expression": {"type": "string"}}}),
        json!({"type": "object", "properties": {"numbers": {"type": "array"}}}),
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
    ];
    schemas.into_iter().map(|schema| (schema.clone(), Checker::new(&schema))).collect()
});

static MENU: LazyLock<Request> = LazyLock::new(|| {
    let tools = TOOLS.iter().zip(["weather", "calculator", "list_statistic", "now"]);
    let tools = tools.map(|((schema, _), name)| ToolDef {
        name: ToolName::new(name),
        description: String::new(),
        parameters: schema.clone().into(),
    });
    Request { tools: tools.collect(), ..Request::new(Role::Actor, Vec::new()) }
});

fn shown(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

//! A breakpoint being described, field by field. The fields make up the same text that the command line takes, and
//! that text is what is checked: one grammar, one set of errors.

use ratatui::{buffer::Buffer, layout::Rect};

use super::fields::{Doubts, FormField, FormFields};
use super::{Inspect, Popup, PopupKeys, Pressed, Reply, Subject, frame};
use crate::action::{Action, KeyLayer};
use crate::domain::breakpoint::{BreakpointPlace, BreakpointSide, Trouble};
use crate::domain::target::{Sort, Target};
use crate::domain::{BreakpointId, BreakpointSpec, BreakpointState, Command, State};
use crate::hits::Hits;
use crate::panes::row;
use crate::papers::atc::extra::check_expression;
use crate::{cx::Cx, keymap::Hint, request::World, text, view::View};

/// Columns of the form.
const WIDTH: usize = 78;
/// The most fields that a breakpoint has.
const FIELDS: usize = 8;
/// Lines about the selected field, or for what is wrong.
const BELOW: usize = 4;

/// A breakpoint being described.
#[derive(Debug)]
pub struct BreakpointForm {
    /// The breakpoint that is changed, and whether it is on.
    of: Option<(BreakpointId, bool)>,
    fields: FormFields,
    /// The place that the fields are for.
    place: String,
    error: Option<String>,
    doubts: Doubts,
}

/// The values of the fields.
#[derive(Debug, Default)]
struct Texts {
    name: String,
    side: String,
    crosses: String,
    condition: String,
    hits: String,
    log: String,
    once: bool,
    alone: bool,
}

impl BreakpointForm {
    /// A form for a new breakpoint at this place.
    pub fn new(live: &State, place: Option<BreakpointPlace>) -> Self {
        let spec = BreakpointSpec::at(place.unwrap_or(BreakpointPlace::Call(Target::Tools)));
        let mut form = Self::of(live, &spec, None);
        form.fields.go_to("if");
        form
    }

    pub fn change(live: &State, id: BreakpointId, known: &BreakpointState) -> Self {
        let mut form = Self::of(live, &known.spec, Some((id, known.on)));
        form.fields.go_to("if");
        form
    }

    fn of(live: &State, spec: &BreakpointSpec, of: Option<(BreakpointId, bool)>) -> Self {
        let (word, name) = spec.place.parts();
        let option = |key| {
            let options = spec.options();
            options.into_iter().find(|(of, _)| *of == key).map_or_else(String::new, |(_, it)| it)
        };
        let texts = Texts {
            name,
            side: spec.side.name().to_owned(),
            crosses: option("crosses"),
            condition: option("if"),
            hits: option("hits"),
            log: option("log"),
            once: spec.once,
            alone: spec.alone,
        };
        let fields = FormFields::new(fields(live, word, &texts));
        Self { of, fields, place: word.to_owned(), error: None, doubts: Doubts::default() }
    }

    /// The current values of the fields.
    fn texts(&self) -> Texts {
        let text = |label| self.fields.text(label);
        let is_on = |label| self.fields.text(label) == "yes";
        Texts {
            name: text("name"),
            side: text("side"),
            crosses: text("crosses"),
            condition: text("if"),
            hits: text("hits"),
            log: text("log"),
            once: is_on("once"),
            alone: is_on("alone"),
        }
    }

    /// The breakpoint as text in the grammar of the command line.
    fn written(&self) -> String {
        let texts = self.texts();
        let escaped = |text: &str| text.replace(':', "\\:");
        let mut written = self.fields.text("place");
        if !texts.name.is_empty() {
            written.push_str(&format!(":{}", escaped(&texts.name)));
        }
        if !texts.side.is_empty() {
            written.push_str(&format!(":{}", texts.side));
        }
        let options = [
            ("crosses", &texts.crosses),
            ("if", &texts.condition),
            ("hits", &texts.hits),
            ("log", &texts.log),
        ];
        for (key, value) in options.iter().filter(|(_, value)| !value.is_empty()) {
            written.push_str(&format!(":{key}={}", escaped(value)));
        }
        let flags = [("once", texts.once), ("alone", texts.alone)];
        flags
            .iter()
            .filter(|(_, is)| *is)
            .for_each(|(name, _)| written.push_str(&format!(":{name}")));
        written
    }

    fn set(&mut self, live: &State) -> Reply {
        let read = BreakpointSpec::read(&self.written()).and_then(|spec| {
            if let BreakpointPlace::Call(target) = &spec.place {
                live.check_target(target)?;
            }
            let mut asked = spec.python.expressions();
            asked.try_for_each(|expression| check_expression(&expression, &[]))?;
            drop(asked);
            if let (BreakpointPlace::Call(target), Some(condition)) = (&spec.place, &spec.condition)
            {
                self.doubts.once(live.unknown_argument(target, condition))?;
            }
            Ok(spec)
        });
        match read {
            Ok(spec) => {
                let (breakpoint, on) = self.of.unzip();
                let (spec, on) = (Box::new(spec), on.unwrap_or(true));
                Reply::send(Command::SetBreakpoint { breakpoint, spec, on })
            }
            Err(error) => {
                self.fields.blame(&error);
                self.error = Some(error);
                Reply::Stay
            }
        }
    }

    /// Another place has other fields.
    fn settle(&mut self, live: &State) {
        self.error = None;
        let place = self.fields.text("place");
        if place != self.place {
            // What was typed for another kind of place is no name here.
            let name = names(live, &place).into_iter().next().unwrap_or_default();
            let texts = Texts { name, ..self.texts() };
            self.fields.replace(fields(live, &place, &texts));
            self.place = place;
        }
    }
}

/// The places that are not calls.
const PLACES: [&str; 9] =
    ["task", "step", "plan", "evaluation", "error", "value", "line", "variable", "frame"];
/// The places within a program.
const OF_PROGRAMS: [&str; 3] = ["line", "variable", "frame"];

/// The fields that this place has, in order.
fn fields(live: &State, place: &str, texts: &Texts) -> Vec<FormField> {
    let sort = Sort::all().find(|sort| sort.name() == place);
    let is_call = sort.is_some();
    let hint = match place {
        "edge" => "search_web->calculator",
        "server" => "api.openai.com",
        "error" => "anything that failed",
        "value" => "an expression, such as spent / budget",
        "line" => "the number of a line, such as 8",
        "variable" => "a name, such as titles",
        "frame" => "a depth: 1 is the module",
        _ => "",
    };
    let about = match place {
        "value" => "holds when it changes or becomes true; <key:form.fields> lists the fields",
        "error" => "the kind of error",
        "line" => "before this line of a program",
        "variable" => "after a program has set this variable",
        "frame" => "before any line in a frame of at most this depth; else at the program's end",
        _ => "its name",
    };
    let is_of_program = OF_PROGRAMS.contains(&place);
    let is_named = is_of_program || matches!(place, "error" | "value");
    let has_name = sort.map_or(is_named, Sort::takes_name);
    let name = has_name.then(|| {
        FormField::typed("name", &texts.name, hint).about(about).offering(names(live, place))
    });
    let sides = BreakpointSide::ALL.map(BreakpointSide::name);
    let side = is_call.then(|| {
        FormField::chosen("side", &sides, &texts.side).about("before the call, after it, or both")
    });
    let crosses = (place == "value").then(|| {
        FormField::typed("crosses", &texts.crosses, "any change")
            .about("only when the value passes this number")
    });
    let yes =
        |label, is: bool| FormField::chosen(label, &["no", "yes"], if is { "yes" } else { "no" });
    let alone = (is_call || place == "error").then(|| {
        yes("alone", texts.alone).about("holds only the matching call; all others keep running")
    });
    let places: Vec<&str> = Sort::all().map(Sort::name).chain(PLACES).collect();
    let all = [
        Some(FormField::chosen("place", &places, place).about("left and right choose")),
        name,
        side,
        crosses,
        Some(FormField::typed("if", &texts.condition, "always").about(match is_of_program {
            true => "a Python expression, such as len(titles) > 3",
            false => {
                "an expression such as ms > 500 && tool == \"search_web\"; <key:form.fields> lists the fields"
            }
        })),
        Some(
            FormField::typed("hits", &texts.hits, "every hit")
                .about("3: only the third hit; >3: each after the third; %10: every tenth"),
        ),
        Some(FormField::typed("log", &texts.log, "stop here").about(match is_of_program {
            true => "logs this text without stopping; {len(titles)} inserts a value",
            false => "logs this text without stopping; {tool} inserts a value",
        })),
        Some(yes("once", texts.once).about("switches itself off after its first stop")),
        alone,
    ];
    all.into_iter().flatten().collect()
}

/// The names that there are at such a place.
fn names(live: &State, place: &str) -> Vec<String> {
    if place == "error" {
        let all = Trouble::all().map(|trouble| trouble.name().to_owned());
        return [String::new()].into_iter().chain(all).collect();
    }
    let sort = Sort::all().find(|sort| sort.name() == place);
    sort.map(|sort| live.target_names(sort)).unwrap_or_default()
}

impl Popup for BreakpointForm {
    fn keys(&self) -> PopupKeys {
        const HINTS: &[Hint] = &[
            (&[Action::Accept], "set"),
            (&[Action::Up, Action::Down], "field"),
            (&[Action::Left, Action::Right], "choose"),
            (&[Action::Leave], "leave"),
        ];
        (KeyLayer::Form, HINTS)
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, _: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Accept) => return self.set(world.live),
            Some(Action::Fields) => return Reply::Open(Box::new(Inspect::new(Subject::Fields))),
            _ => self.fields.key(pressed),
        }
        self.settle(world.live);
        Reply::Stay
    }

    fn click(&mut self, row: usize, world: &World<'_>, _: &mut View) -> Reply {
        self.fields.click(row);
        self.settle(world.live);
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.error = None;
        self.fields.paste(text);
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let title = match self.of {
            Some((id, _)) => format!("Change breakpoint {id}"),
            None => "New breakpoint".to_owned(),
        };
        let size = (WIDTH, FIELDS + 1 + BELOW);
        let inside = frame::open(cx, (area, buf, hits), &title, &self.legend(cx), size);
        let rows = u16::try_from(self.fields.count().max(FIELDS)).unwrap_or(u16::MAX);
        let (list, below) = row::split(inside, rows);
        self.fields.draw(cx, list, buf, hits);
        let below = row::split(below, 1).1;
        let width = usize::from(inside.width);
        let (said, style): (Vec<String>, _) = match &self.error {
            // The line with the caret stays as it is.
            Some(error) => {
                let error = cx.keymap.fill(error);
                let lines = error.lines().enumerate();
                let wrapped = lines.flat_map(|(at, line)| match at {
                    0 => text::wrap(line, width).collect::<Vec<_>>(),
                    _ => vec![line.to_owned()],
                });
                (wrapped.collect(), cx.theme.warn)
            }
            None => {
                (text::wrap(&cx.keymap.fill(self.fields.about()), width).collect(), cx.theme.dim)
            }
        };
        row::lines(below, said, style, buf);
    }
}

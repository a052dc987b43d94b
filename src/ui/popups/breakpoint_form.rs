//! The form of a breakpoint.

use super::fields::{Doubts, FormField, FormFields};
use super::spec_form::{SpecForm, SpecKind};
use crate::domain::breakpoint::{BreakpointPlace, BreakpointSide, Trouble};
use crate::domain::target::{Sort, Target};
use crate::domain::{BreakpointId, BreakpointSpec, BreakpointState, Command, State};
use crate::papers::atc::extra::check_expression;

/// A breakpoint being described.
pub type BreakpointForm = SpecForm<BreakpointKind>;

#[derive(Debug)]
pub struct BreakpointKind {
    /// The breakpoint that is changed, and whether it is on.
    of: Option<(BreakpointId, bool)>,
    /// The place that the fields are for.
    place: String,
}

impl BreakpointForm {
    /// A form for a new breakpoint at this place.
    pub fn new(live: &State, place: Option<BreakpointPlace>) -> Self {
        let spec = BreakpointSpec::at(place.unwrap_or(BreakpointPlace::Call(Target::Tools)));
        Self::of(live, &spec, None)
    }

    pub fn change(live: &State, id: BreakpointId, known: &BreakpointState) -> Self {
        Self::of(live, &known.spec, Some((id, known.on)))
    }

    fn of(live: &State, spec: &BreakpointSpec, of: Option<(BreakpointId, bool)>) -> Self {
        let (place, name) = spec.place.parts();
        let options = spec.options();
        let option =
            |key: &str| options.iter().find(|(of, _)| *of == key).map(|(_, text)| text.clone());
        let yes = |is: bool| if is { YES } else { NO }.to_owned();
        let fields = fields(live, place, |label| match label {
            "name" => name.clone(),
            "side" => spec.side.name().to_owned(),
            "once" => yes(spec.once),
            "alone" => yes(spec.alone),
            key => option(key).unwrap_or_default(),
        });
        Self::at(BreakpointKind { of, place: place.to_owned() }, FormFields::new(fields), "if")
    }
}

/// The breakpoint as text in the grammar of the command line.
fn written(form: &FormFields) -> String {
    let mut written = form.text("place");
    for label in ["name", "side", "crosses", "if", "hits", "log", "once", "alone"] {
        let text = form.text(label).replace(':', "\\:");
        match label {
            _ if text.is_empty() => {}
            "name" | "side" => written.push_str(&format!(":{text}")),
            "once" | "alone" if text == YES => written.push_str(&format!(":{label}")),
            "once" | "alone" => {}
            key => written.push_str(&format!(":{key}={text}")),
        }
    }
    written
}

impl SpecKind for BreakpointKind {
    const ACCEPT: &'static str = "set";

    fn title(&self) -> String {
        self.of.map_or("New breakpoint".to_owned(), |(id, _)| format!("Change breakpoint {id}"))
    }

    fn settle(&mut self, form: &mut FormFields, live: &State) {
        let place = form.text("place");
        if place != self.place {
            // The name that was typed belongs to another kind of place.
            let name = names(live, &place).into_iter().next().unwrap_or_default();
            let all = fields(live, &place, |label| match label {
                "name" => name.clone(),
                label => form.text(label),
            });
            form.replace(all);
            self.place = place;
        }
    }

    fn commands(
        &self,
        fields: &FormFields,
        live: &State,
        doubts: &mut Doubts,
    ) -> Result<Vec<Command>, String> {
        let spec = BreakpointSpec::read(&written(fields))?;
        if let BreakpointPlace::Call(target) = &spec.place {
            live.check_target(target, spec.condition.as_ref())?;
        }
        spec.python.expressions().try_for_each(|expression| check_expression(&expression, &[]))?;
        if let (BreakpointPlace::Call(target), Some(condition)) = (&spec.place, &spec.condition) {
            doubts.once(live.unknown_argument(target, condition))?;
        }
        let (breakpoint, on) = self.of.unzip();
        let (spec, on) = (Box::new(spec), on.unwrap_or(true));
        Ok(vec![Command::SetBreakpoint { breakpoint, spec, on }])
    }
}

/// The values of a flag.
const NO: &str = "no";
const YES: &str = "yes";
/// The places that are not calls.
const PLACES: [&str; 9] =
    ["task", "step", "plan", "evaluation", "error", "value", "line", "variable", "frame"];
/// The places within a program.
const OF_PROGRAMS: [&str; 3] = ["line", "variable", "frame"];

/// The fields of this place, in order, with the values that their labels have.
fn fields(live: &State, place: &str, value: impl Fn(&str) -> String) -> Vec<FormField> {
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
        FormField::typed("name", &value("name"), hint).about(about).offering(names(live, place))
    });
    let sides = BreakpointSide::ALL.map(BreakpointSide::name);
    let side = is_call.then(|| {
        FormField::chosen("side", &sides, &value("side"))
            .about("before the call, after it, or both")
    });
    let crosses = (place == "value").then(|| {
        FormField::typed("crosses", &value("crosses"), "any change")
            .about("only when the value passes this number")
    });
    let yes = |label| FormField::chosen(label, &[NO, YES], &value(label));
    let alone = (is_call || place == "error")
        .then(|| yes("alone").about("holds only the matching call; all others keep running"));
    let places: Vec<&str> = Sort::all().map(Sort::name).chain(PLACES).collect();
    let all = [
        Some(FormField::chosen("place", &places, place).about("left and right choose")),
        name,
        side,
        crosses,
        Some(FormField::typed("if", &value("if"), "always").about(match is_of_program {
            true => "a Python expression, such as len(titles) > 3",
            false => "an expression, such as ms > 500 && !ok; <key:form.fields> lists the fields",
        })),
        Some(
            FormField::typed("hits", &value("hits"), "every hit")
                .about("3: only the third hit; >3: each after the third; %10: every tenth"),
        ),
        Some(FormField::typed("log", &value("log"), "stop here").about(match is_of_program {
            true => "logs this text without stopping; {len(titles)} inserts a value",
            false => "logs this text without stopping; {tool} inserts a value",
        })),
        Some(yes("once").about("switches itself off after its first stop")),
        alone,
    ];
    all.into_iter().flatten().collect()
}

/// The possible names at this place.
fn names(live: &State, place: &str) -> Vec<String> {
    if place == "error" {
        let all = Trouble::all().map(|trouble| trouble.name().to_owned());
        return [String::new()].into_iter().chain(all).collect();
    }
    let sort = Sort::all().find(|sort| sort.name() == place);
    sort.map(|sort| live.target_names(sort)).unwrap_or_default()
}

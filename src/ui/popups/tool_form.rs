//! A tool call that a person makes by hand: a field for each argument that the tool's schema names.

use ratatui::{buffer::Buffer, layout::Rect};
use serde_json::{Map, Value};

use super::fields::{FormField, FormFields};
use super::{Popup, PopupKeys, Pressed, Reply, frame};
use crate::action::{Action, KeyLayer};
use crate::domain::{Command, EffectClass, EffectId, State, ToolName, ToolSpec, arguments};
use crate::hits::Hits;
use crate::panes::row;
use crate::tool::check::Checker;
use crate::window::Window;
use crate::{cx::Cx, keymap::Hint, request::ScreenRequest, request::World, text, view::View};

/// Columns of the form.
const WIDTH: usize = 76;
/// The most fields that are shown at once.
const ROWS: usize = 12;
/// Lines about the selected field, or for an error.
const BELOW: usize = 5;

/// The form for a call.
pub struct ToolForm {
    tool: ToolName,
    class: EffectClass,
    arguments: Vec<Argument>,
    /// A field for each argument.
    fields: FormFields,
    checker: Checker,
    /// The call that the arguments are copied from.
    like: Option<EffectId>,
    /// Whether the user has changed a field or submitted the form; errors are shown only then.
    touched: bool,
}

/// An argument.
struct Argument {
    /// `None`: all arguments, as JSON, because the schema names none.
    name: Option<String>,
    schema: Value,
    is_required: bool,
}

impl std::fmt::Debug for ToolForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolForm").field("tool", &self.tool).finish_non_exhaustive()
    }
}

impl ToolForm {
    /// A form for this tool, with the arguments of one of its calls: the chosen one, else the latest.
    pub fn new(state: &State, spec: &ToolSpec, chosen: Option<EffectId>) -> Self {
        let own = |id: &EffectId| state.tool_call(*id).is_some_and(|call| call.tool == spec.name);
        let latest = || state.tool_calls.iter().rev().find(|call| call.tool == spec.name);
        let like = chosen.filter(own).or_else(|| latest().map(|call| call.id));
        let given = like.and_then(|id| state.tool_call(id)).map(|call| &call.arguments);
        let arguments = Argument::all(&spec.parameters);
        let fields = arguments.iter().map(|argument| argument.field(given)).collect();
        Self {
            tool: spec.name.clone(),
            class: spec.effect,
            arguments,
            fields: FormFields::new(fields),
            checker: Checker::new(&spec.parameters),
            like,
            touched: false,
        }
    }

    /// The arguments as typed.
    ///
    /// # Errors
    /// What the schema does not allow.
    fn arguments(&self) -> Result<Value, String> {
        let mut object = Map::new();
        for (argument, typed) in self.arguments.iter().zip(self.fields.texts()) {
            let typed = typed.as_str();
            match &argument.name {
                None => {
                    let value = if typed.is_empty() { "{}" } else { typed };
                    let value = serde_json::from_str(value);
                    return value.map_err(|error| format!("expected a JSON object: {error}"));
                }
                Some(_) if typed.is_empty() => {}
                Some(name) => {
                    object.insert(name.clone(), arguments::value(typed, &argument.schema));
                }
            }
        }
        let value = Value::Object(object);
        self.checker.check(&value).map(|()| value).map_err(|error| error.text)
    }

    fn call(&mut self, view: &mut View) -> Reply {
        self.touched = true;
        let Ok(arguments) = self.arguments() else { return Reply::Stay };
        view.opens_call = true;
        let command = Command::CallTool { tool: self.tool.clone(), arguments };
        Reply::Done(vec![ScreenRequest::Send(command)])
    }

    /// Hints about the selected field and the call.
    fn hints(&self) -> Vec<String> {
        let about = self.fields.about().to_owned();
        let like = self.like.map(|call| format!("values from call {call}"));
        let free = "the call changes no budget, score or experience".to_owned();
        [about].into_iter().chain(like).chain([free]).collect()
    }

    fn title(&self) -> String {
        let class = match self.class {
            EffectClass::Read => "changes nothing",
            EffectClass::Idempotent | EffectClass::Write => "changes something",
            EffectClass::Unknown => "may change something",
        };
        format!("Call {} by hand · {class}", self.tool)
    }
}

impl Argument {
    /// The arguments of a schema, required ones first.
    fn all(schema: &Value) -> Vec<Self> {
        let named = schema.get("properties").and_then(Value::as_object);
        let Some(named) = named.filter(|named| !named.is_empty()) else {
            return vec![Self { name: None, schema: Value::Null, is_required: false }];
        };
        let required = arguments::required(schema);
        let mut all: Vec<_> = named
            .iter()
            .map(|(name, schema)| Self {
                name: Some(name.clone()),
                schema: schema.clone(),
                is_required: required.contains(&name.as_str()),
            })
            .collect();
        all.sort_by_key(|argument| !argument.is_required);
        all
    }

    /// A field with its given value; without any call, with its default.
    fn field(&self, given: Option<&Value>) -> FormField {
        let text = match &self.name {
            None => given.map(Value::to_string),
            Some(name) => {
                let value = given.map_or_else(|| self.schema.get("default"), |it| it.get(name));
                value.map(written)
            }
        };
        let needed = if self.is_required { "*" } else { "" };
        let label = format!("{}{needed}", self.name.as_deref().unwrap_or("arguments"));
        let field = FormField::typed(label, &text.unwrap_or_default(), "");
        field.about(self.about()).offering(self.choices())
    }

    /// The possible values, if the schema lists them.
    fn choices(&self) -> Vec<String> {
        let named = self.schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        let mut choices: Vec<String> = named.map(written).collect();
        if self.schema.get("type").is_some_and(|kind| kind == "boolean") {
            choices = vec!["true".to_owned(), "false".to_owned()];
        }
        if !choices.is_empty() && !self.is_required {
            choices.push(String::new());
        }
        choices
    }

    /// The argument's type, whether it is required, and the schema's description.
    fn about(&self) -> String {
        let kind = match self.schema.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(kind) => kind.to_string(),
            None if self.name.is_none() => "a JSON object".to_owned(),
            None => "any value".to_owned(),
        };
        let needed = if self.is_required { "required" } else { "optional" };
        let said = self.schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let said = if said.is_empty() { String::new() } else { format!(": {said}") };
        format!("{kind}, {needed}{said}")
    }
}

/// A value as it is typed: a text without quotes, unless it would be parsed as something else.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() && !text.contains(['\n', '"', '\'']) => {
            text.clone()
        }
        value => value.to_string(),
    }
}

impl Popup for ToolForm {
    fn keys(&self) -> PopupKeys {
        const HINTS: &[Hint] = &[
            (&[Action::Accept], "call"),
            (&[Action::Up, Action::Down], "field"),
            (&[Action::Left, Action::Right], "choose"),
            (&[Action::Leave], "leave"),
        ];
        (KeyLayer::Form, HINTS)
    }

    fn key(&mut self, pressed: Pressed, _: &World<'_>, view: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Accept) => return self.call(view),
            _ => {
                let is_move = matches!(pressed.action, Some(Action::Up | Action::Down));
                self.touched |= !is_move;
                self.fields.key(pressed);
            }
        }
        Reply::Stay
    }

    fn click(&mut self, row: usize, _: &World<'_>, _: &mut View) -> Reply {
        self.fields.click(row);
        Reply::Stay
    }

    fn window(&mut self) -> Option<&mut Window> {
        Some(&mut self.fields.window)
    }

    fn paste(&mut self, text: &str) {
        self.touched = true;
        self.fields.paste(text);
    }

    fn prepare(&mut self, _: &Cx<'_>, area: Rect) {
        self.fields.fit(rows(self.fields.count(), area));
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let rows = rows(self.fields.count(), area);
        let size = (WIDTH, rows + 1 + BELOW);
        let inside = frame::open(cx, (area, buf, hits), &self.title(), &self.legend(cx), size);
        let (list, below) = row::split(inside, u16::try_from(rows).unwrap_or(u16::MAX));
        self.fields.draw(cx, list, buf, hits);
        let below = row::split(below, 1).1;
        let wrong = self.arguments().err().filter(|_| self.touched);
        let (said, style) = match wrong {
            Some(wrong) => (vec![wrong], cx.theme.warn),
            None => (self.hints(), cx.theme.dim),
        };
        let width = usize::from(inside.width);
        let lines: Vec<String> = said.iter().flat_map(|said| text::wrap(said, width)).collect();
        row::lines(below, lines, style, buf);
    }
}

/// Lines for the fields on a screen of this size.
fn rows(fields: usize, area: Rect) -> usize {
    let room = usize::from(area.height).saturating_sub(BELOW + 3).max(1);
    fields.clamp(1, ROWS).min(room)
}

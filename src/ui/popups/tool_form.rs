//! A tool call that a person makes by hand: a field for each argument that the tool's schema names.

use ratatui::{buffer::Buffer, layout::Rect};
use serde_json::{Map, Value};

use super::{Keys, Popup, Pressed, Reply, entry::Entry, frame};
use crate::domain::{Command, EffectClass, EffectId, State, ToolName, ToolSpec, arguments};
use crate::tool::check::Checker;
use crate::ui::action::{Action, Layer};
use crate::ui::hits::{Hits, Target};
use crate::ui::panes::row::{self, Row};
use crate::ui::symbols::SELECTED;
use crate::ui::window::Window;
use crate::ui::{cx::Cx, keymap::Hint, request::ScreenRequest, request::World, text, view::View};

/// Columns of the form.
const WIDTH: usize = 76;
/// The most fields that are shown at once.
const ROWS: usize = 12;
/// Lines about the selected field and what is wrong.
const BELOW: usize = 5;

/// A call being written.
pub struct ToolForm {
    tool: ToolName,
    class: EffectClass,
    fields: Vec<Field>,
    checker: Checker,
    /// The field that has the keyboard.
    at: usize,
    /// Where the arguments are from.
    like: Option<EffectId>,
    /// What is wrong is said after the first key.
    touched: bool,
    window: Window,
}

/// An argument.
struct Field {
    /// `None`: all arguments, as JSON, because the schema names none.
    name: Option<String>,
    schema: Value,
    is_required: bool,
    /// The values that are possible, where there are only some.
    choices: Vec<String>,
    entry: Entry,
}

impl std::fmt::Debug for ToolForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolForm").field("tool", &self.tool).field("at", &self.at).finish()
    }
}

impl ToolForm {
    /// A form for this tool, with the arguments of a call of it: the chosen one, else the latest.
    pub fn new(state: &State, spec: &ToolSpec, chosen: Option<EffectId>) -> Self {
        let own = |id: &EffectId| state.tool_call(*id).is_some_and(|call| call.tool == spec.name);
        let latest = || state.tool_calls.iter().rev().find(|call| call.tool == spec.name);
        let like = chosen.filter(own).or_else(|| latest().map(|call| call.id));
        let given = like.and_then(|id| state.tool_call(id)).map(|call| &call.arguments);
        Self {
            tool: spec.name.clone(),
            class: spec.effect,
            fields: Field::all(&spec.parameters, given),
            checker: Checker::new(&spec.parameters),
            at: 0,
            like,
            touched: false,
            window: Window::default(),
        }
    }

    /// The arguments as they are written.
    ///
    /// # Errors
    /// What the schema does not allow.
    fn arguments(&self) -> Result<Value, String> {
        let mut object = Map::new();
        for field in &self.fields {
            let typed = field.entry.text();
            let typed = typed.trim();
            match &field.name {
                None => {
                    let value = if typed.is_empty() { "{}" } else { typed };
                    let value = serde_json::from_str(value);
                    return value.map_err(|error| format!("expected a JSON object: {error}"));
                }
                Some(_) if typed.is_empty() => {}
                Some(name) => {
                    object.insert(name.clone(), arguments::value(typed, &field.schema));
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

    fn walk(&mut self, by: isize) {
        let last = self.fields.len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
    }

    /// Takes another of the possible values; moves in the text where there are none.
    fn choose(&mut self, pressed: Pressed, by: isize) {
        let Some(field) = self.fields.get_mut(self.at) else { return };
        if field.choices.is_empty() {
            return field.entry.key(pressed.key);
        }
        self.touched = true;
        let now = field.entry.text();
        let at = field.choices.iter().position(|choice| *choice == now);
        let len = field.choices.len();
        let to = match at {
            Some(at) => (at + len).saturating_add_signed(by) % len,
            None => 0,
        };
        let choice = field.choices[to].clone();
        field.entry.set(&choice);
    }

    /// What is said of the selected field and of the call.
    fn hints(&self) -> Vec<String> {
        let about = self.fields.get(self.at).map(Field::about).unwrap_or_default();
        let like = self.like.map(|call| format!("the values are those of call {call}"));
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

impl Field {
    /// The fields of a schema, those that are required first.
    fn all(schema: &Value, given: Option<&Value>) -> Vec<Self> {
        let named = schema.get("properties").and_then(Value::as_object);
        let Some(named) = named.filter(|named| !named.is_empty()) else {
            let text = given.map(Value::to_string).unwrap_or_default();
            return vec![Self::new(None, &Value::Null, false, &text)];
        };
        let required = arguments::required(schema);
        let mut fields: Vec<_> = named
            .iter()
            .map(|(name, schema)| {
                let value = given.map_or_else(|| schema.get("default"), |given| given.get(name));
                let text = value.map(written).unwrap_or_default();
                let is_required = required.contains(&name.as_str());
                Self::new(Some(name.clone()), schema, is_required, &text)
            })
            .collect();
        fields.sort_by_key(|field| !field.is_required);
        fields
    }

    fn new(name: Option<String>, schema: &Value, is_required: bool, text: &str) -> Self {
        let named = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        let mut choices: Vec<String> = named.map(written).collect();
        if schema.get("type").is_some_and(|kind| kind == "boolean") {
            choices = vec!["true".to_owned(), "false".to_owned()];
        }
        if !choices.is_empty() && !is_required {
            choices.push(String::new());
        }
        Self { name, schema: schema.clone(), is_required, choices, entry: Entry::line(text) }
    }

    fn label(&self) -> &str {
        self.name.as_deref().unwrap_or("arguments")
    }

    /// Its kind and what the tool's author says about it.
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

/// A value as it is typed: a text without quotes, unless it would be read as something else.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() && !text.contains(['\n', '"', '\'']) => {
            text.clone()
        }
        value => value.to_string(),
    }
}

impl Popup for ToolForm {
    fn keys(&self) -> Keys {
        const HINTS: &[Hint] = &[
            (&[Action::Accept], "call"),
            (&[Action::Up, Action::Down], "field"),
            (&[Action::Left, Action::Right], "choose"),
            (&[Action::Leave], "leave"),
        ];
        (Layer::Form, HINTS)
    }

    fn key(&mut self, pressed: Pressed, _: &World<'_>, view: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Accept) => return self.call(view),
            Some(Action::Up) => self.walk(-1),
            Some(Action::Down) => self.walk(1),
            Some(Action::Left) => self.choose(pressed, -1),
            Some(Action::Right) => self.choose(pressed, 1),
            _ => {
                self.touched = true;
                if let Some(field) = self.fields.get_mut(self.at) {
                    field.entry.key(pressed.key);
                }
            }
        }
        Reply::Stay
    }

    fn click(&mut self, row: usize, _: &World<'_>, _: &mut View) -> Reply {
        self.at = row.min(self.fields.len().saturating_sub(1));
        Reply::Stay
    }

    fn window(&mut self) -> Option<&mut Window> {
        Some(&mut self.window)
    }

    fn paste(&mut self, text: &str) {
        self.touched = true;
        if let Some(field) = self.fields.get_mut(self.at) {
            field.entry.paste(text);
        }
    }

    fn prepare(&mut self, _: &Cx<'_>, area: Rect) {
        let rows = rows(self.fields.len(), area);
        self.window = self.window.next(self.fields.len(), rows, Some(self.at));
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let rows = rows(self.fields.len(), area);
        let size = (WIDTH, rows + 1 + BELOW);
        let inside = frame::open(cx, (area, buf, hits), &self.title(), &self.legend(cx), size);
        let (list, below) = row::split(inside, u16::try_from(rows).unwrap_or(u16::MAX));
        let longest = self.fields.iter().map(|field| text::width(field.label())).max();
        let label = longest.unwrap_or_default().min(usize::from(inside.width) / 3) + 2;
        let shown = self.fields.iter().enumerate().skip(self.window.first);
        for ((at, field), line) in shown.zip(list.rows()) {
            let chosen = at == self.at;
            let mut row = Row::new(line, buf);
            row.cell(if chosen { SELECTED } else { "" }, 2, cx.theme.accent);
            let needed = if field.is_required { "*" } else { "" };
            let style = if chosen { cx.theme.accent } else { cx.theme.text };
            row.cell(&format!("{}{needed}", field.label()), label, style).gap(1);
            let x = line.x + u16::try_from(label + 3).unwrap_or(u16::MAX).min(line.width);
            let value = Rect { x, width: line.right().saturating_sub(x), ..line };
            if chosen && field.choices.is_empty() {
                field.entry.draw(cx, value, buf);
            } else {
                Row::new(value, buf).put(&field.entry.text(), cx.theme.text);
            }
            hits.add(line, Target::PopupRow(at));
        }
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

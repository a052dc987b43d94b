//! A fault being described, field by field. The fields make up the same text that the command line
//! takes, and that text is what is checked: one grammar, one set of errors.

use ratatui::{buffer::Buffer, crossterm::event::KeyCode, layout::Rect};

use super::{Reply, entry::Entry, frame};
use crate::{
    domain::{
        command::Command,
        fault::{FaultKind, FaultSpec},
        id::{FaultId, ToolName},
        state::{FaultState, State},
    },
    ui::{
        hits::{Hits, Target},
        key::Key,
        pane::Cx,
        text,
        update::ScreenRequest,
    },
};

pub(super) const KEYS: &str = "up/down: field · left/right: choose · enter: arm · esc: leave";

/// What is asked for, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Tool,
    Kind,
    Probability,
    Nth,
    FromTask,
    /// The error's text, or the latency's milliseconds; other kinds have none.
    Detail,
}

const FIELDS: [Field; 6] =
    [Field::Tool, Field::Kind, Field::Probability, Field::Nth, Field::FromTask, Field::Detail];

/// Cells for the fields' names.
const LABEL: u16 = 13;

/// A fault being described.
#[derive(Debug)]
pub struct FaultForm {
    /// The fault that the new one replaces.
    replaces: Option<FaultId>,
    tool: Entry,
    kind: usize,
    probability: Entry,
    nth: Entry,
    from_task: Entry,
    detail: Entry,
    selected: usize,
    error: Option<String>,
}

impl FaultForm {
    pub fn new(tool: Option<ToolName>) -> Self {
        Self {
            replaces: None,
            tool: Entry::line(tool.as_ref().map_or("", ToolName::as_str)),
            kind: 0,
            probability: Entry::line(""),
            nth: Entry::line(""),
            from_task: Entry::line(""),
            detail: Entry::line(""),
            // The tool is mostly right already.
            selected: 1,
            error: None,
        }
    }

    /// Starts from a fault that is there, and replaces it.
    pub fn change(id: FaultId, fault: &FaultState) -> Self {
        let spec = &fault.spec;
        let shown = |number: Option<String>| Entry::line(number.as_deref().unwrap_or(""));
        let detail = match &spec.kind {
            FaultKind::Error { text } => text.clone(),
            FaultKind::Latency { ms } => ms.to_string(),
            FaultKind::Timeout | FaultKind::Empty | FaultKind::Garbage => String::new(),
        };
        let kind = FaultKind::NAMES.iter().position(|name| *name == spec.kind.name());
        Self {
            replaces: fault.armed.then_some(id),
            kind: kind.unwrap_or(0),
            probability: shown(spec.trigger.probability.map(|p| p.to_string())),
            nth: shown(spec.trigger.nth.map(|n| n.to_string())),
            from_task: shown(spec.trigger.from_task.map(|n| n.to_string())),
            detail: Entry::line(&detail),
            ..Self::new(Some(spec.tool.clone()))
        }
    }

    fn field(&self) -> Field {
        FIELDS[self.selected.min(FIELDS.len() - 1)]
    }

    fn entry_mut(&mut self) -> Option<&mut Entry> {
        match self.field() {
            Field::Tool => Some(&mut self.tool),
            Field::Kind => None,
            Field::Probability => Some(&mut self.probability),
            Field::Nth => Some(&mut self.nth),
            Field::FromTask => Some(&mut self.from_task),
            Field::Detail => self.detail_key().map(|_| &mut self.detail),
        }
    }

    fn detail_key(&self) -> Option<&'static str> {
        match FaultKind::NAMES[self.kind] {
            "error" => Some("text"),
            "latency" => Some("ms"),
            _ => None,
        }
    }

    /// As the command line would have it.
    fn written(&self) -> String {
        let mut text = format!("{}:{}", self.tool.text().trim(), FaultKind::NAMES[self.kind]);
        let keys = [("p", &self.probability), ("nth", &self.nth), ("from-task", &self.from_task)];
        let detail = self.detail_key().map(|key| (key, &self.detail));
        // The text of an error takes all that follows it, so it comes last.
        for (key, entry) in keys.into_iter().chain(detail) {
            let value = entry.text();
            if !value.trim().is_empty() {
                text.push_str(&format!(":{key}={}", value.trim()));
            }
        }
        text
    }

    fn spec(&self, live: &State) -> Result<FaultSpec, String> {
        let spec = FaultSpec::read(&self.written())?;
        if live.tools.contains_key(&spec.tool) {
            return Ok(spec);
        }
        let known = live.tools.keys().map(ToolName::as_str);
        let nearest = crate::domain::words::nearest(spec.tool.as_str(), known);
        let hint = nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
        Err(format!("there is no tool `{}`{hint}", spec.tool))
    }

    pub(super) fn key(&mut self, key: Key, live: &State) -> Reply {
        let last = FIELDS.len() - 1;
        match key.code {
            KeyCode::Esc => return Reply::Close,
            KeyCode::Char('c') if key.types().is_none() => return Reply::Close,
            KeyCode::Enter => return self.arm(live),
            KeyCode::Up => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down | KeyCode::Tab => self.selected = (self.selected + 1).min(last),
            KeyCode::Left | KeyCode::Right => self.choose(key, live),
            _ => {
                self.error = None;
                if let Some(entry) = self.entry_mut() {
                    entry.key(key);
                } else if key.types() == Some(' ') {
                    self.turn_kind(1);
                }
            }
        }
        Reply::Stay
    }

    fn arm(&mut self, live: &State) -> Reply {
        let spec = match self.spec(live) {
            Ok(spec) => spec,
            Err(error) => {
                self.error = Some(error);
                return Reply::Stay;
            }
        };
        let replaced = self.replaces.map(|fault| Command::DisarmFault { fault });
        let commands = replaced.into_iter().chain([Command::ArmFault { spec }]);
        Reply::Done(commands.map(ScreenRequest::Send).collect())
    }

    /// Left and right choose among kinds and tools, and move in text.
    fn choose(&mut self, key: Key, live: &State) {
        let by = if key.code == KeyCode::Left { -1 } else { 1 };
        match self.field() {
            Field::Kind => self.turn_kind(by),
            Field::Tool => self.turn_tool(by, live),
            Field::Probability | Field::Nth | Field::FromTask | Field::Detail => {
                if let Some(entry) = self.entry_mut() {
                    entry.key(key);
                }
            }
        }
    }

    fn turn_kind(&mut self, by: isize) {
        let kinds = FaultKind::NAMES.len();
        self.kind = (self.kind + kinds).saturating_add_signed(by) % kinds;
        self.detail.set("");
    }

    fn turn_tool(&mut self, by: isize, live: &State) {
        let total = live.tools.len();
        if total == 0 {
            return;
        }
        let at = live.tools.get_index_of(self.tool.text().trim()).unwrap_or(0);
        let next = (at + total).saturating_add_signed(by) % total;
        if let Some((name, _)) = live.tools.get_index(next) {
            self.tool.set(name.as_str());
        }
    }

    pub(super) fn click(&mut self, row: usize) -> Reply {
        if row == self.selected && self.field() == Field::Kind {
            self.turn_kind(1);
        }
        self.selected = row;
        Reply::Stay
    }

    pub(super) fn paste(&mut self, text: &str) {
        if let Some(entry) = self.entry_mut() {
            entry.paste(text);
        }
    }

    pub(super) fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let title = if self.replaces.is_some() { "Change a fault" } else { "A new fault" };
        let inside = frame::open(cx, (area, buf, hits), title, KEYS, (72, 10));
        for (row, y) in (inside.y..inside.bottom()).take(FIELDS.len()).enumerate() {
            let line = Rect { y, height: 1, ..inside };
            self.draw_field(cx, FIELDS[row], row == self.selected, line, buf);
            hits.add(line, Target::PopupRow(row));
        }
        let below = inside.y + FIELDS.len() as u16 + 1;
        let width = usize::from(inside.width);
        let (said, style) = match &self.error {
            Some(error) => (error.clone(), cx.theme.bad),
            None => (self.written(), cx.theme.dim),
        };
        for (y, line) in (below..inside.bottom()).zip(text::wrap(&said, width)) {
            buf.set_stringn(inside.x, y, line, width, style);
        }
    }

    fn draw_field(&self, cx: &Cx<'_>, field: Field, on: bool, line: Rect, buf: &mut Buffer) {
        let label_style = if on { cx.theme.accent } else { cx.theme.text };
        let (label, hint, entry) = match field {
            Field::Tool => ("tool", "", Some(&self.tool)),
            Field::Kind => ("kind", "", None),
            Field::Probability => ("probability", "always", Some(&self.probability)),
            Field::Nth => ("nth call", "every call", Some(&self.nth)),
            Field::FromTask => ("from task", "at once", Some(&self.from_task)),
            Field::Detail => match self.detail_key() {
                Some("ms") => ("milliseconds", "1000", Some(&self.detail)),
                Some(_) => ("text", "503 Service Unavailable", Some(&self.detail)),
                None => return,
            },
        };
        let mark = if on { "› " } else { "  " };
        let width = usize::from(line.width);
        buf.set_stringn(line.x, line.y, format!("{mark}{label}"), width, label_style);
        let x = (line.x + LABEL + 2).min(line.right());
        let value = Rect { x, width: line.right() - x, ..line };
        let room = usize::from(value.width);
        match entry {
            None => {
                let kind = format!("◂ {} ▸", FaultKind::NAMES[self.kind]);
                buf.set_stringn(value.x, value.y, kind, room, label_style);
            }
            Some(entry) if on => {
                entry.draw(cx, value, buf);
                if entry.text().is_empty() && value.width > 2 {
                    let hint = text::cut(hint, room - 2);
                    buf.set_stringn(value.x + 2, value.y, hint, room - 2, cx.theme.dim);
                }
            }
            Some(entry) if entry.text().is_empty() => {
                buf.set_stringn(value.x, value.y, hint, room, cx.theme.dim);
            }
            Some(entry) => {
                let text = entry.text();
                buf.set_stringn(value.x, value.y, text::cut(&text, room), room, cx.theme.text);
            }
        }
    }
}

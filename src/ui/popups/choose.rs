//! A choice of one among a few things: the class of a tool, a knob's named values.

use ratatui::{buffer::Buffer, layout::Rect};

use super::chooser::{self, Chooser, ChooserFrame};
use super::narrow::Words;
use super::{Confirm, Reply, ValueEntry, choice::ChooserPopup};
use crate::action::Action;
use crate::domain::{ClassAssignment, ClassedBy, Command, EffectId, Knob, State, ToolName};
use crate::next::NextSession;
use crate::own::{self, OwnCommand};
use crate::panes::{format, row::Row};
use crate::request::{ScreenRequest, World};
use crate::symbols::CHOSEN;
use crate::{cx::Cx, hits::Hits, keymap::Hint, text};
use crate::{pane::PaneId, twin::TwinKind, view::View};

/// A few things to choose from.
#[derive(Debug)]
pub struct Choose {
    title: String,
    choices: Vec<ChoiceItem>,
    chooser: Chooser,
}

#[derive(Debug)]
struct ChoiceItem {
    label: String,
    detail: String,
    /// Whether the item is the current choice.
    current: bool,
    does: ChoiceOutcome,
}

/// The effect of choosing an item.
#[derive(Debug)]
enum ChoiceOutcome {
    Send(Command),
    /// Opens an entry for the name of this tool's class.
    Type(ToolName, Option<ClassAssignment>),
    /// Puts the pane in the place of the focused one.
    Show(PaneId),
    Twin(TwinKind),
    Demo(&'static str),
    Act(Action),
    /// Only closes the popup.
    Stay,
}

impl Choose {
    /// The choice of a tool's class: a configured one, none, or any other name.
    pub fn class(live: &State, tool: &ToolName) -> Self {
        let now = live.tools.get(tool).and_then(|tool| tool.class.as_ref());
        let choice = |detail: &str, class: &str, domain: Option<&str>| {
            let class = ClassAssignment {
                class: class.to_owned(),
                domain: domain.map(str::to_owned),
                by: ClassedBy::User,
            };
            ChoiceItem {
                label: class.name(),
                detail: detail.to_owned(),
                current: now
                    .is_some_and(|now| (&now.class, &now.domain) == (&class.class, &class.domain)),
                does: ChoiceOutcome::Send(Command::SetClass {
                    tool: tool.clone(),
                    class: Some(class),
                }),
            }
        };
        let mut choices = Vec::new();
        for (name, class) in &live.workers.classes.0 {
            choices.push(choice(&class.description, name, None));
            let domains = class.domains.iter();
            choices.extend(domains.map(|(domain, about)| choice(about, name, Some(domain))));
        }
        choices.push(ChoiceItem {
            label: "none".to_owned(),
            detail: "the next plan classifies it again".to_owned(),
            current: now.is_none(),
            does: ChoiceOutcome::Send(Command::SetClass { tool: tool.clone(), class: None }),
        });
        choices.push(ChoiceItem {
            label: "another…".to_owned(),
            detail: "any other name".to_owned(),
            current: choices.iter().all(|choice| !choice.current),
            does: ChoiceOutcome::Type(tool.clone(), now.cloned()),
        });
        let said = now.map_or_else(String::new, |now| format!(", {}", format::said(now.by)));
        Self::new("class", format!("Class of {tool}{said}"), choices)
    }

    /// The choice of the pane that replaces the focused one.
    pub fn pane(view: &View) -> Self {
        let others = PaneId::ALL.iter().filter(|pane| **pane != view.focus);
        let choices = others.map(|pane| ChoiceItem {
            label: pane.name().to_owned(),
            detail: match view.layouts.now.slot_of(*pane) {
                Some(_) => "moves here".to_owned(),
                None => "hidden".to_owned(),
            },
            current: false,
            does: ChoiceOutcome::Show(*pane),
        });
        let title = format!("Replace {} with another pane", view.focus.name());
        Self::new("pane", title, choices.collect())
    }

    /// The choice of a demo.
    pub fn demo(demos: &[(&'static str, &'static str)]) -> Self {
        let choices = demos.iter().map(|(name, about)| ChoiceItem {
            label: (*name).to_owned(),
            detail: (*about).to_owned(),
            current: false,
            does: ChoiceOutcome::Demo(name),
        });
        let title = "Demos: no key, no network, at most two minutes each".to_owned();
        Self::new("demo", title, choices.collect())
    }

    /// The choice of one of the user's commands to run.
    pub fn command(commands: &[OwnCommand]) -> Self {
        let choices = commands.iter().enumerate().map(|(at, command)| ChoiceItem {
            label: command.name.clone(),
            detail: if command.doc.is_empty() { &command.run } else { &command.doc }.clone(),
            current: false,
            does: ChoiceOutcome::Act(own::action(at)),
        });
        let title = "Run one of your commands on the selection".to_owned();
        Self::new("command", title, choices.collect())
    }

    /// The choice whether to allow a call that waits for consent.
    pub fn consent(live: &State, id: EffectId) -> Option<Self> {
        let call = live.tool_call(id)?;
        let arguments = text::clean(&call.arguments.to_string()).to_string();
        let choice = |label: &str, detail: String, does| ChoiceItem {
            label: label.to_owned(),
            detail,
            current: false,
            does,
        };
        let effect = id;
        let decide = |allowed| ChoiceOutcome::Send(Command::Consent { effect, allowed });
        let later = choice("decide later", "the call waits".to_owned(), ChoiceOutcome::Stay);
        let refuse =
            choice("refuse", "this call; the agent sees the refusal".to_owned(), decide(false));
        let (tool, arguments) = (&call.tool, text::cut(&arguments, 60));
        // The call may have run already, so no rule can allow it.
        if live.is_unknown(id) {
            let again = choice("allow", "repeat this call".to_owned(), decide(true));
            let title = format!("Call {tool} again? It may have run before. {arguments}");
            return Some(Self::new("answer", title, vec![later, again, refuse]));
        }
        let choices = vec![
            later,
            choice("allow", "this call".to_owned(), decide(true)),
            choice(
                "allow always",
                format!("every call of {tool} in this session"),
                ChoiceOutcome::Send(Command::AllowTool { effect }),
            ),
            refuse,
        ];
        let title = format!("Allow {tool}? {arguments}");
        Some(Self::new("answer", title, choices))
    }

    /// The choice of a twin: the session without faults, or with frozen scores, or the one from which it came.
    pub fn twin(has_origin: bool) -> Self {
        let choice = |kind: TwinKind, detail: &str| ChoiceItem {
            label: kind.name().to_owned(),
            detail: detail.to_owned(),
            current: false,
            does: ChoiceOutcome::Twin(kind),
        };
        let origin = choice(TwinKind::Origin, "its journal is read, nothing runs");
        let mut choices: Vec<ChoiceItem> = has_origin.then_some(origin).into_iter().collect();
        choices.extend([
            choice(TwinKind::Unbroken, "the same session, unbroken"),
            choice(TwinKind::Frozen, "the same faults, frozen scores"),
        ]);
        let title = match has_origin {
            true => "Beside this session",
            false => "The same tasks from the start, with the current strategy, models and knobs",
        };
        Self::new("twin", title.to_owned(), choices)
    }

    /// The choice of a knob's value by name.
    pub fn knob(knob: Knob, names: &[&str], value: f64) -> Self {
        let choices = names.iter().enumerate().map(|(i, name)| ChoiceItem {
            label: (*name).to_owned(),
            detail: String::new(),
            current: i as f64 == value,
            does: ChoiceOutcome::Send(Command::TurnKnob { knob, value: i as f64 }),
        });
        let title = format!("{}: {}", knob.spec().name, knob.spec().doc);
        Self::new("value", title, choices.collect())
    }

    fn new(noun: &'static str, title: String, choices: Vec<ChoiceItem>) -> Self {
        let now = choices.iter().position(|choice| choice.current).unwrap_or(0);
        let words = choices.iter().map(|choice| Words::new(&choice.label, &choice.detail));
        let chooser = Chooser::new(noun, words.collect(), now);
        Self { title, choices, chooser }
    }
}

impl ChooserPopup for Choose {
    fn hints(&self) -> &'static [Hint] {
        &[(&[Action::Accept], "choose"), (&[Action::Leave], "leave")]
    }

    fn chooser(&mut self) -> &mut Chooser {
        &mut self.chooser
    }

    fn choose(&mut self, thing: usize, world: &World<'_>, view: &mut View) -> Reply {
        let ChoiceItem { does, current, .. } = &self.choices[thing];
        match does {
            ChoiceOutcome::Type(tool, now) => {
                Reply::Replace(Box::new(ValueEntry::class(tool.clone(), now.as_ref())))
            }
            ChoiceOutcome::Show(pane) => {
                let beside = view.focus;
                view.layouts.now.put(*pane, beside);
                view.go_to(*pane);
                Reply::Close
            }
            ChoiceOutcome::Demo(name) => {
                Reply::Done(vec![ScreenRequest::Leave(NextSession::Demo(name))])
            }
            ChoiceOutcome::Act(action) => Reply::Act(*action),
            ChoiceOutcome::Stay => Reply::Close,
            ChoiceOutcome::Twin(TwinKind::Origin) => {
                Reply::Done(vec![ScreenRequest::StartTwin(TwinKind::Origin)])
            }
            ChoiceOutcome::Twin(kind) => match Confirm::twin(world.live, *kind) {
                Some(question) => Reply::Replace(Box::new(question)),
                None => Reply::Done(vec![ScreenRequest::StartTwin(*kind)]),
            },
            ChoiceOutcome::Send(_) if *current => Reply::Close,
            ChoiceOutcome::Send(command) => Reply::send(command.clone()),
        }
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let widest = |text: fn(&ChoiceItem) -> &str| {
            self.choices.iter().map(|choice| text::width(text(choice))).max().unwrap_or(0)
        };
        let labels = widest(|choice| &choice.label).min(32);
        let details = widest(|choice| &choice.detail);
        let width = (labels + details + 7).max(text::width(&self.title) + 2).max(44);
        let look = ChooserFrame { title: &self.title, hints: self.hints(), width };
        let styles = (cx.theme.text, cx.theme.letters());
        self.chooser.draw(cx, (area, buf, hits), &look, |found, line, buf| {
            let choice = &self.choices[found.id];
            let mut row = Row::new(line, buf);
            row.gap(1).put(if choice.current { CHOSEN } else { " " }, cx.theme.text).gap(1);
            chooser::put(&mut row, found, (&choice.label, &choice.detail), (labels, 2), styles);
        });
    }
}

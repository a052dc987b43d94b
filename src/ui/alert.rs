//! Alerts for a person who looks elsewhere: a bell, or a notification of the terminal (OSC 9).

use std::io::{self, Write};
use std::time::{Duration, Instant};

use strum::{IntoStaticStr, VariantArray};

use crate::domain::{
    ConsentEvent, ControlEvent, Event, ModelCallEvent, Origin, Record, SessionEvent, TaskEvent,
    ToolCallEvent,
};

/// The least time between two alerts.
const APART: Duration = Duration::from_secs(2);

/// Time for which a person who has pressed a key is taken to look at the screen.
const NEAR: Duration = Duration::from_secs(10);

/// Occasion for an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Alert {
    /// The session is held.
    Held,
    /// A call failed, and no fault made it fail.
    Failed,
    /// All tasks are done, or the session has ended.
    Ended,
}

/// The means of an alert.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum CallsBy {
    #[default]
    Bell,
    /// The terminal shows a text outside of its window, if it can.
    Notification,
}

/// Calls the person, as configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alerts {
    pub on: Vec<Alert>,
    pub by: CallsBy,
}

impl Alert {
    /// Returns the alert for an event; `has_work`: there is a task that runs or waits.
    pub fn of(record: &Record, has_work: bool) -> Option<Self> {
        match &record.event {
            Event::Control(ControlEvent::Paused { run: None })
            | Event::Consent(ConsentEvent::ConsentAsked { .. }) => Some(Alert::Held),
            Event::ToolCall(ToolCallEvent::ToolCallFailed { effect, .. })
            | Event::ModelCall(ModelCallEvent::ModelCallFailed { effect, .. }) => {
                (effect.origin != Origin::Injected).then_some(Alert::Failed)
            }
            Event::Task(TaskEvent::TaskFinished { .. }) => (!has_work).then_some(Alert::Ended),
            Event::Session(SessionEvent::SessionEnded { .. }) => Some(Alert::Ended),
            _ => None,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Alert::Held => "toolyard: the session is held",
            Alert::Failed => "toolyard: a call failed",
            Alert::Ended => "toolyard: all tasks are done",
        }
    }
}

/// The time of the last alert, and whether the person looks at the terminal.
#[derive(Debug, Default)]
pub struct Caller {
    alerts: Alerts,
    /// Whether the terminal has the focus, if the terminal reports that.
    has_focus: Option<bool>,
    /// The time of the last key, for terminals that do not report the focus.
    pressed: Option<Instant>,
    last: Option<Instant>,
}

impl Caller {
    pub fn new(alerts: Alerts) -> Self {
        Self { alerts, ..Self::default() }
    }

    /// The terminal got the focus, or lost it.
    pub fn focus(&mut self, has_focus: bool) {
        self.has_focus = Some(has_focus);
    }

    /// A key was pressed.
    pub fn press(&mut self) {
        self.pressed = Some(Instant::now());
    }

    fn is_looked_at(&self) -> bool {
        let is_near = self.pressed.is_some_and(|pressed| pressed.elapsed() < NEAR);
        self.has_focus.unwrap_or(is_near)
    }

    /// Calls the person, unless they look, were called just now, or do not want this alert.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn call(&mut self, alert: Alert, out: &mut impl Write) -> io::Result<()> {
        let is_recent = self.last.is_some_and(|last| last.elapsed() < APART);
        if self.is_looked_at() || is_recent || !self.alerts.on.contains(&alert) {
            return Ok(());
        }
        self.last = Some(Instant::now());
        match self.alerts.by {
            CallsBy::Bell => out.write_all(b"\x07")?,
            CallsBy::Notification => write!(out, "\x1b]9;{}\x07", alert.text())?,
        }
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_called_once_and_only_where_they_look_elsewhere() {
        let alerts = Alerts { on: vec![Alert::Held], by: CallsBy::Notification };
        let called = |looks: Option<bool>, all: &[Alert]| {
            let mut caller = Caller { has_focus: looks, ..Caller::new(alerts.clone()) };
            let mut out = Vec::new();
            all.iter().for_each(|alert| caller.call(*alert, &mut out).unwrap());
            String::from_utf8(out).unwrap()
        };
        let held = "\x1b]9;toolyard: the session is held\x07";
        assert_eq!(called(Some(false), &[Alert::Failed, Alert::Held, Alert::Held]), held);
        assert_eq!(called(None, &[Alert::Held]), held);
        assert_eq!(called(Some(true), &[Alert::Held]), "");
        let mut near = Caller::new(alerts.clone());
        near.press();
        assert!(near.is_looked_at());
        near.focus(false);
        assert!(!near.is_looked_at());
        let mut bell = Caller::new(Alerts { on: vec![Alert::Ended], by: CallsBy::Bell });
        let mut out = Vec::new();
        bell.call(Alert::Ended, &mut out).unwrap();
        assert_eq!(out, b"\x07");
    }
}

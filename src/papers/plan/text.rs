//! The text form, line by line. Lines that are neither plan nor call are prose: before the first
//! plan and after a call it is left out; after a plan's first line it continues the plan's text.

use super::head::{self, Call, Head};
use super::{MOST, Unreadable, bracket};
use crate::domain::{Evidence, EvidenceId, Plan, PlanStep, words};

/// Characters up to which an unreadable line is shown.
const SHOWN: usize = 80;

/// Reads plans and calls from a text with Unix line ends; an empty result is not an error here.
///
/// # Errors
/// An unfinished call that cannot be parsed, or more than [`MOST`] plans or calls.
pub(super) fn read(text: &str) -> Result<Plan, Unreadable> {
    let mut reader = Reader {
        text,
        calls: calls(text),
        steps: Vec::new(),
        is_open: false,
        evidence: 0,
        unread: Vec::new(),
    };
    let mut at = 0;
    while at < text.len() {
        at = reader.line(at)?;
    }
    reader.finish()
}

/// The starts of lines that begin with a call and a hash: none of them is inside of another call.
fn calls(text: &str) -> Vec<usize> {
    let mut at = 0;
    let mut calls = Vec::new();
    for line in text.split_inclusive('\n') {
        let marked = line.contains(['#', '＃']);
        if marked && head::evidence(line.trim_end()).is_some() {
            calls.push(at);
        }
        at += line.len();
    }
    calls
}

struct Reader<'t> {
    text: &'t str,
    /// See [`calls`].
    calls: Vec<usize>,
    steps: Vec<PlanStep>,
    /// Whether the last plan's text may continue.
    is_open: bool,
    /// The number of calls read.
    evidence: usize,
    /// Apparent calls that could not be parsed; fine if the call was made elsewhere.
    unread: Vec<(EvidenceId, &'t str)>,
}

impl<'t> Reader<'t> {
    /// Reads the line that begins here, or the rest of it; returns the position to continue at,
    /// which is further.
    fn line(&mut self, at: usize) -> Result<usize, Unreadable> {
        let rest = &self.text[at..];
        let length = rest.find('\n').unwrap_or(rest.len());
        let line = rest[..length].trim_end();
        let next = at + length + usize::from(length < rest.len());
        if let Some(head) = head::evidence(line) {
            return Ok(self.call(head, line, at)?.unwrap_or(next));
        }
        let inline = head::inline(line);
        self.prose(inline.as_ref().map_or(line, |(begins, _)| &line[..*begins]))?;
        let end = inline.map(|(_, head)| self.call(head, line, at)).transpose()?;
        Ok(end.flatten().unwrap_or(next))
    }

    /// Reads a line of prose, or its part before a call.
    fn prose(&mut self, line: &str) -> Result<(), Unreadable> {
        if let Some(said) = head::step(line) {
            self.begin_plan()?;
            self.go_on(said);
        } else if line.trim().is_empty() || head::is_border(line) {
            self.is_open &= self.steps.last().is_some_and(|step| step.text.is_empty());
        } else {
            self.go_on(line);
        }
        Ok(())
    }

    fn go_on(&mut self, text: &str) {
        let Some(step) = self.steps.last_mut().filter(|_| self.is_open) else { return };
        for word in text.split_whitespace() {
            if !step.text.is_empty() {
                step.text.push(' ');
            }
            step.text.push_str(word);
        }
    }

    fn begin_plan(&mut self) -> Result<(), Unreadable> {
        self.is_open = true;
        // A heading above the plans is not a plan.
        if self.steps.last().is_some_and(is_hollow) {
            return Ok(());
        }
        if self.steps.len() == MOST {
            return Err(Unreadable::TooMany { what: "plans" });
        }
        self.steps.push(PlanStep::default());
        Ok(())
    }

    /// Reads the call that begins in this line, which begins at `at`; returns the end of the call.
    fn call(
        &mut self,
        head: Head<'t>,
        line: &'t str,
        at: usize,
    ) -> Result<Option<usize>, Unreadable> {
        let (tool, input, end) = match head.call {
            Call::Unread => {
                self.unread.push((head.id, line));
                return Ok(None);
            }
            Call::Name(tool) => (tool, "", None),
            Call::Open { tool, bracket, left } => {
                let from = at + line.len() - left;
                let until = self.calls.partition_point(|call| *call <= at);
                let until = self.calls.get(until).copied().unwrap_or(self.text.len());
                let Some((input, rest)) = bracket::inside(&self.text[from..until], bracket) else {
                    return Err(Unreadable::Unclosed { id: head.id, line: shown(line) });
                };
                (tool, input.trim(), Some(until - rest.len()))
            }
        };
        if self.evidence == MOST {
            return Err(Unreadable::TooMany { what: "calls" });
        }
        self.evidence += 1;
        self.is_open = false;
        if self.steps.is_empty() {
            self.steps.push(PlanStep::default());
        }
        let evidence = Evidence { id: head.id, tool: tool.into(), input: input.into() };
        if let Some(step) = self.steps.last_mut() {
            step.evidence.push(evidence);
        }
        Ok(end)
    }

    fn finish(mut self) -> Result<Plan, Unreadable> {
        self.steps.retain(|step| !is_hollow(step));
        let plan = Plan { steps: self.steps };
        let lost = self.unread.into_iter().find(|(id, _)| plan.get(*id).is_none());
        match lost {
            Some((id, line)) => Err(Unreadable::NoCall { id, line: shown(line) }),
            None => Ok(plan),
        }
    }
}

fn is_hollow(step: &PlanStep) -> bool {
    step.text.is_empty() && step.evidence.is_empty()
}

fn shown(line: &str) -> String {
    words::clipped(line.trim(), SHOWN)
}

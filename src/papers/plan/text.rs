//! The text form, line by line. Each line is a step, a field of a call, a call, a heading, a border or prose; the
//! [`Assembler`] assembles calls. Prose before the first plan and after a call is left out; after a plan's first line
//! it continues the plan's text.

use super::assemble::Assembler;
use super::call_forms::{self, CallText, Head};
use super::callable_tools::PlanTools;
use super::fields::value_of;
use super::head::{self, Begin};
use super::label::{self, LabelField, Labelled};
use super::reading::Unreadable;
use super::step::{Lost, Opened, StepDraft};
use super::table::{self, PlanTable};
use super::{bracket, json, names};
use crate::domain::{EvidenceId, words};

/// Characters up to which an unreadable line is shown.
const SHOWN: usize = 80;
/// Bytes of a sentence in which calls are searched.
const SENTENCE: usize = 2000;

/// The calls that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    /// All; an unfinished one is an error.
    All,
    /// Whole calls only.
    Whole,
}

/// Reads plans and calls from a text with Unix line ends; an empty result is not an error here.
///
/// # Errors
/// An unfinished call that cannot be parsed, or more than [`MOST`](super::MOST) plans or calls.
pub(super) fn read(
    text: &str,
    offered: &PlanTools,
    parts: Parts,
) -> Result<(Vec<StepDraft>, Vec<Lost>), Unreadable> {
    let mut reader = PlanReader {
        text,
        calls: calls(text, offered),
        offered,
        parts,
        to: Assembler::new(offered),
        block: None,
        is_tail: false,
        table: None,
        unread: Vec::new(),
    };
    let mut at = 0;
    while at < text.len() {
        at = reader.line(at)?;
    }
    let (mut steps, mut lost) = reader.to.finish()?;
    let last = steps.last_mut().map(|step| &mut step.calls);
    if let Some(calls) = last
        && let Some(call) = calls.pop_if(|call| is_cut(text, &call.input))
    {
        match parts {
            Parts::All => return Err(Unreadable::Cut { line: shown(&call.input) }),
            Parts::Whole => lost.push(Lost::Cut(call.id, shown(&call.input))),
        }
    }
    lost.extend(reader.unread.into_iter().map(|(id, line)| Lost::Evidence(id, shown(line))));
    Ok((steps, lost))
}

/// Whether a text ends inside its last input.
fn is_cut(text: &str, input: &str) -> bool {
    !input.is_empty() && text.trim_end().ends_with(input) && bracket::is_open(input)
}

/// The starts of lines that begin with a call and a hash: none of them is inside another call.
fn calls(text: &str, offered: &PlanTools) -> Vec<usize> {
    let mut at = 0;
    let mut calls = Vec::new();
    for line in text.split_inclusive('\n') {
        let marked = line.contains(['#', '＃']);
        let begun = || head::begin(line.trim_end(), offered);
        if marked
            && matches!(begun(), Some(Begin::Evidence(head)) if head.sure || is_call(&head.call))
        {
            calls.push(at);
        }
        at += line.len();
    }
    calls
}

pub(super) fn is_call(call: &CallText<'_>) -> bool {
    matches!(call, CallText::Open { .. } | CallText::Said { .. })
}

/// Lines that belong to the field before them.
pub(super) struct FieldBlock {
    /// Characters before the field on its line.
    pub indent: usize,
    pub field: LabelField,
    /// Whether the field is between the borders of a block of code.
    pub fenced: bool,
}

pub(super) struct PlanReader<'t, 'o> {
    pub text: &'t str,
    /// The starts of lines with calls, see [`calls`].
    calls: Vec<usize>,
    pub offered: &'o PlanTools,
    parts: Parts,
    pub to: Assembler<'o>,
    pub block: Option<FieldBlock>,
    /// Whether this is the rest of a line, after a call.
    is_tail: bool,
    table: Option<PlanTable>,
    /// Apparent calls that could not be parsed; no problem if the call was made elsewhere.
    unread: Vec<(EvidenceId, &'t str)>,
}

impl<'t> PlanReader<'t, '_> {
    /// Reads the line that begins here, or the rest of it; returns the position at which to continue, which is later.
    fn line(&mut self, at: usize) -> Result<usize, Unreadable> {
        let rest = &self.text[at..];
        self.is_tail = at > 0 && !self.text[..at].ends_with('\n');
        let length = rest.find('\n').unwrap_or(rest.len());
        let line = rest[..length].trim_end();
        let next = at + length + usize::from(length < rest.len());
        if self.in_block(line)? {
            return Ok(next);
        }
        if let Some(end) = self.json(line)? {
            return Ok(end);
        }
        if self.row(line, next)? {
            return Ok(next);
        }
        match head::begin(line, self.offered) {
            Some(Begin::Evidence(head)) => return Ok(self.head(head, line)?.unwrap_or(next)),
            Some(Begin::Call(call)) => return Ok(self.open(None, &call, line)?.unwrap_or(next)),
            Some(_) => {}
            None => {
                if let Some((name, call)) = call_forms::assigned(head::bare(line), self.offered) {
                    let end = self.open(None, &call, line)?;
                    self.to.variable(name);
                    return Ok(end.unwrap_or(next));
                }
            }
        }
        let inline = call_forms::inline(line, self.offered);
        let before = inline.as_ref().map_or(line, |(begins, _)| &line[..*begins]);
        let end = self.plain(before)?;
        let end = match inline {
            Some((_, head)) => self.head(head, line)?,
            None => end,
        };
        Ok(end.unwrap_or(next))
    }

    /// The position of a part of the text.
    pub(super) fn position(&self, part: &str) -> usize {
        part.as_ptr().addr() - self.text.as_ptr().addr()
    }

    /// Whether a line belongs to the field before it.
    fn in_block(&mut self, line: &'t str) -> Result<bool, Unreadable> {
        let Some(mut block) = self.block.take() else { return Ok(false) };
        let bare = line.trim_start();
        if bare.starts_with("```") {
            if !block.fenced && (block.field != LabelField::Input || self.to.has_input()) {
                return Ok(false);
            }
            if !block.fenced {
                let indent = line.len() - bare.len();
                self.block = Some(FieldBlock { fenced: true, indent, ..block });
            }
            return Ok(true);
        }
        let calls = matches!(head::begin(line, self.offered), Some(Begin::Evidence(head)) if is_call(&head.call));
        if block.fenced && !calls {
            let border = line.len() - bare.len();
            self.to.more_input(line.get(border.min(block.indent)..).unwrap_or(bare));
            self.block = Some(block);
            return Ok(true);
        }
        let value = head::bare(line).trim();
        let awaited = block.field == LabelField::Input && self.to.awaits_input();
        let deeper = awaited || line.len() - bare.len() > block.indent;
        let known = match head::begin(line, self.offered) {
            Some(Begin::Call(_)) if block.field == LabelField::Input => false,
            Some(Begin::Field(LabelField::Asked | LabelField::Remark, _)) => false,
            Some(_) => true,
            None => false,
        };
        if bare.is_empty() || known || !deeper {
            return Ok(false);
        }
        match block.field {
            LabelField::Tool => self.tool(value, false, line)?,
            _ => self.to.more_input(value),
        }
        block.fenced = false;
        self.block = Some(block);
        Ok(true)
    }

    /// Reads a call in JSON, such as `{"tool": "search_web", "input": "x"}`; returns its end.
    fn json(&mut self, line: &'t str) -> Result<Option<usize>, Unreadable> {
        let bare = line.trim_start_matches([' ', '-', '*', '`']);
        let bare = bare.strip_prefix("<tool_call>").unwrap_or(bare);
        if !bare.starts_with("{\"") && !bare.starts_with("[{\"") && bare != "{" && bare != "[" {
            return Ok(None);
        }
        let from = self.position(bare);
        let mut values = serde_json::Deserializer::from_str(&self.text[from..]).into_iter();
        let Some(Ok(value)) = values.next() else { return Ok(None) };
        let end = from + values.byte_offset();
        let Some(steps) = json::calls(&value) else { return Ok(None) };
        for (id, tool, input) in steps {
            self.to.call(id, &tool, &input)?;
        }
        Ok(Some(end))
    }

    /// Reads the line if it is a row of a table; returns whether it is.
    fn row(&mut self, line: &'t str, next: usize) -> Result<bool, Unreadable> {
        let Some(cells) = table::cells(line) else {
            self.table = None;
            return Ok(false);
        };
        let Some(table) = &self.table else {
            let below = self.text[next..].lines().next().unwrap_or_default();
            self.table = PlanTable::new(&cells, below);
            return Ok(self.table.is_some());
        };
        if table::is_rule(line) {
            return Ok(true);
        }
        let (step, fields) = table.row(&cells);
        self.to.step(Opened::ByStep, true, 0, step)?;
        for (field, value) in fields {
            self.field(field, &Labelled { label: "", field: Some(field), value }, line)?;
        }
        self.to.flush()?;
        self.block = None;
        Ok(true)
    }

    /// Reads a line, or the part of it before a call: anything except evidence with its call.
    pub(super) fn plain(&mut self, line: &'t str) -> Result<Option<usize>, Unreadable> {
        let indent = line.len() - line.trim_start().len();
        match head::begin(line, self.offered) {
            Some(Begin::Step { is_plan, numbered, text }) => {
                let opened = if is_plan { Opened::ByPlan } else { Opened::ByStep };
                self.to.step(opened, numbered, indent, text)?;
                return self.sentence(text, line);
            }
            Some(Begin::Field(field, found)) if !self.is_prose(field) => {
                return self.field(field, &found, line);
            }
            Some(Begin::Call(call)) => {
                if let Some(end) = self.open(None, &call, line)? {
                    return Ok(Some(end));
                }
            }
            Some(Begin::Evidence(head)) => return self.head(head, line),
            Some(Begin::Field(..)) | None => {}
        }
        if line.trim().is_empty() || head::is_border(line) {
            self.to.blank();
            return Ok(None);
        }
        if self.is_tail {
            self.to.go_on(line);
            return Ok(None);
        }
        if let Some(text) = head::numbered(line).filter(|_| self.to.may_number(indent)) {
            let text = text.trim().trim_end_matches(':').trim_matches('*').trim_end_matches(':');
            self.to.step(Opened::ByNumber, true, indent, text)?;
            return self.sentence(text, line);
        }
        if let Some(text) = head::heading(line) {
            if self.to.may_head() {
                self.to.step(Opened::ByHeading, true, indent, text)?;
                self.to.is_open = false;
            } else {
                self.to.blank();
            }
            return Ok(None);
        }
        if !self.argument(line)? {
            let bare = head::bare(line);
            if call_forms::is_other_call(bare) {
                self.to.lost.push(Lost::Call(shown(line)));
            }
            if !self.to.has_step() && bare.len() < line.trim_start().len() && self.calls_in(bare) {
                self.to.step(Opened::ByNumber, true, indent, "")?;
            }
            self.to.go_on(line);
            if self.to.has_step() {
                self.remarks(line);
            }
        }
        Ok(None)
    }

    /// Reads evidence and its call; returns the end of the call.
    pub(super) fn head(
        &mut self,
        head: Head<'t>,
        line: &'t str,
    ) -> Result<Option<usize>, Unreadable> {
        match head.call {
            CallText::Open { .. } => return self.open(Some(head.id), &head.call, line),
            CallText::Said { tool, input } => self.to.call(Some(head.id), tool, value_of(input))?,
            CallText::Name(tool) if head.sure || self.offered.named_exactly(tool).is_some() => {
                self.to.bare_call(head.id, tool, head.sure, line)?;
            }
            CallText::Name(rest) | CallText::Unread(rest) => {
                if head.sure && !self.to.awaits_name() && !rest.is_empty() {
                    self.unread.push((head.id, line));
                } else {
                    self.to.name(&[head.id], false, line)?;
                }
                if let Some(Begin::Field(field, found)) = head::begin(rest, self.offered) {
                    return self.field(field, &found, line);
                }
            }
        }
        Ok(None)
    }

    /// Reads a call with brackets; returns its end.
    pub(super) fn open(
        &mut self,
        id: Option<EvidenceId>,
        call: &CallText<'t>,
        line: &'t str,
    ) -> Result<Option<usize>, Unreadable> {
        let CallText::Open { tool, bracket, rest } = call else { return Ok(None) };
        let from = self.position(rest);
        let until = self.calls.partition_point(|call| *call <= from);
        let until = self.calls.get(until).copied().unwrap_or(self.text.len());
        let Some((input, after)) = bracket::inside(&self.text[from..until], *bracket) else {
            if self.parts == Parts::Whole {
                self.to.lost.push(Lost::Cut(id, shown(line)));
                return Ok(Some(until));
            }
            let call = id.map_or_else(|| (*tool).to_owned(), |id| id.to_string());
            return Err(Unreadable::Unclosed { call, line: shown(line) });
        };
        let end = until - after.len();
        let tail = after.lines().next().unwrap_or_default();
        let id = id.or_else(|| names::behind(tail));
        self.to.call(id, tool, input)?;
        Ok(Some(end))
    }

    /// Reads the sentence of a step: calls in it, the name of its result at the end, or the tool alone.
    fn sentence(&mut self, text: &'t str, line: &'t str) -> Result<Option<usize>, Unreadable> {
        self.remarks(text);
        if let Some((_, id)) = names::at_end(text) {
            self.to.name(&[id], false, line)?;
        } else if let Some(tool) = self.offered.named_exactly(text.trim_matches(label::DRESS)) {
            self.to.tools(vec![tool.name.clone()], line)?;
        }
        Ok(None)
    }

    /// Whether a text has an offered tool before a bracket.
    fn calls_in(&self, text: &str) -> bool {
        let end = text.len().min(SENTENCE);
        let marks = text.match_indices(['[', '(']).take_while(|(at, _)| *at < end);
        marks
            .into_iter()
            .any(|(at, _)| self.offered.ends(text[..at].trim_end_matches(['`', '*'])).is_some())
    }

    /// Finds calls inside a sentence.
    fn remarks(&mut self, text: &'t str) {
        let end = (0..=text.len().min(SENTENCE)).rev().find(|at| text.is_char_boundary(*at));
        let text = &text[..end.unwrap_or(0)];
        for (at, mark) in text.match_indices(['[', '(']) {
            let before = text[..at].trim_end_matches(['`', '*']);
            let Some(tool) = self.offered.ends(before) else { continue };
            let tool = tool.name.clone();
            let open = if mark == "[" { '[' } else { '(' };
            let Some((input, after)) = bracket::inside(&text[at + 1..], open) else { return };
            let is_input = open == '['
                || input.trim_start().starts_with(['"', '\'', '{', '#'])
                || input.contains('=');
            if is_input {
                self.to.remark(names::behind(after), &tool, input);
            }
        }
    }
}

pub(super) fn shown(line: &str) -> String {
    words::clipped(line.trim(), SHOWN)
}

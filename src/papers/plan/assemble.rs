//! Assembles steps and calls from what the lines contain. A call may be spread over lines: its tool, its input and the
//! name of its evidence, in any order. It is complete as soon as it has a tool and an input.

use std::collections::BTreeSet;

use super::callable_tools::PlanTools;
use super::reading::{MOST, Unreadable};
use super::step::{CallDraft, Lost, Opened, StepDraft, is_alike, is_nothing, plain};
use super::{call_forms, names};
use crate::domain::{EvidenceId, words};

/// Characters up to which an unreadable line is shown.
const SHOWN: usize = 80;

/// A call of which some parts are known.
#[derive(Debug, Default)]
struct Draft {
    ids: Vec<EvidenceId>,
    tools: Vec<String>,
    input: Option<String>,
    variable: Option<String>,
    /// Whether a tool without an input is called without one.
    sure: bool,
    /// The line that began it, for messages.
    line: String,
}

pub(super) struct Assembler<'o> {
    pub offered: &'o PlanTools,
    pub steps: Vec<StepDraft>,
    pub lost: Vec<Lost>,
    draft: Draft,
    /// Whether the last step's text may continue.
    pub is_open: bool,
    used: BTreeSet<EvidenceId>,
    calls: usize,
    /// The number of calls, including those that are written again.
    written: usize,
}

impl<'o> Assembler<'o> {
    pub fn new(offered: &'o PlanTools) -> Self {
        let (steps, lost, draft, used) = Default::default();
        Self { offered, steps, lost, draft, is_open: false, used, calls: 0, written: 0 }
    }

    pub fn has_step(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Begins a step, or continues one that has only a heading.
    pub fn step(
        &mut self,
        opened: Opened,
        numbered: bool,
        indent: usize,
        text: &str,
    ) -> Result<(), Unreadable> {
        self.flush()?;
        self.is_open = true;
        if let Some(last) = self.steps.last_mut().filter(|last| last.calls.is_empty()) {
            let heads = opened == Opened::ByPlan && !numbered && last.opened < opened;
            if last.opened == Opened::ByHeading {
                last.text.clear();
            }
            if last.text.is_empty() && last.remarks.is_empty() || heads {
                last.indent = indent;
                last.opened = opened;
                if heads
                    && !last.text.is_empty()
                    && !text.is_empty()
                    && !last.text.ends_with([':', '.', '?', '!'])
                {
                    last.text.push(':');
                }
                self.go_on(text);
                return Ok(());
            }
        }
        if self.steps.len() == MOST {
            return Err(Unreadable::TooMany { what: "plans" });
        }
        self.steps.push(StepDraft {
            text: String::new(),
            calls: Vec::new(),
            remarks: Vec::new(),
            opened,
            indent,
        });
        self.go_on(text);
        Ok(())
    }

    /// Whether a number at this indent begins a step: not below a plan that has no call yet, nor in a list of details.
    pub fn may_number(&self, indent: usize) -> bool {
        let Some(last) = self.steps.last() else { return true };
        let is_below = last.opened >= Opened::ByNumber && indent > last.indent + 1;
        let goes_on = last.opened >= Opened::ByStep
            && last.calls.is_empty()
            && !last.text.is_empty()
            && self.is_open;
        !is_below && !goes_on
    }

    /// Whether a heading begins a step: only in a plan of headings.
    pub fn may_head(&self) -> bool {
        let better = self.steps.iter().any(|step| step.opened > Opened::ByHeading);
        let is_free = |last: &StepDraft| !last.calls.is_empty() || last.text.is_empty();
        !better && (self.draft_is_whole() || self.steps.last().is_none_or(is_free))
    }

    pub fn go_on(&mut self, text: &str) {
        let Some(step) = self.steps.last_mut().filter(|_| self.is_open) else { return };
        if !text.contains(char::is_alphanumeric) {
            return;
        }
        for word in text.split_whitespace() {
            let word = word.strip_prefix("**").unwrap_or(word);
            let word = word.strip_suffix("**").unwrap_or(word);
            if !step.text.is_empty() {
                step.text.push(' ');
            }
            step.text.push_str(word);
        }
    }

    pub fn blank(&mut self) {
        self.is_open &= self.steps.last().is_some_and(|step| step.text.is_empty());
    }

    /// The parameters of the tool whose input is incomplete.
    pub fn parameters(&self) -> &[String] {
        let tool = self.draft.tools.first().and_then(|tool| self.offered.get(tool));
        tool.map_or(&[], |tool| &tool.parameters)
    }

    pub fn has_input(&self) -> bool {
        self.draft.input.as_ref().is_some_and(|input| !input.is_empty())
    }

    pub fn awaits_input(&self) -> bool {
        !self.draft.tools.is_empty() && self.draft.input.is_none()
    }

    fn draft_is_whole(&self) -> bool {
        !self.draft.tools.is_empty() && self.draft.input.is_some()
    }

    pub fn tools(&mut self, tools: Vec<String>, line: &str) -> Result<(), Unreadable> {
        if !self.draft.tools.is_empty() {
            self.flush()?;
        }
        self.is_open = false;
        self.draft.tools = tools;
        self.draft.line = words::clipped(line.trim(), SHOWN);
        Ok(())
    }

    pub fn input(&mut self, input: &str, line: &str) -> Result<(), Unreadable> {
        self.is_open = false;
        if self.draft.input.is_some() {
            let tools = self.draft.tools.clone();
            self.flush()?;
            self.draft.tools = tools;
        }
        if self.draft.line.is_empty() {
            self.draft.line = words::clipped(line.trim(), SHOWN);
        }
        self.draft.input = Some(input.trim().to_owned());
        Ok(())
    }

    /// Adds a named argument to the input: `city: Oslo`.
    pub fn argument(&mut self, name: &str, value: &str) {
        self.is_open = false;
        let input = self.draft.input.get_or_insert_default();
        if !input.is_empty() {
            input.push('\n');
        }
        input.push_str(&format!("{name}: {value}"));
    }

    /// Adds a line to an input.
    pub fn more_input(&mut self, line: &str) {
        let input = self.draft.input.get_or_insert_default();
        if !input.is_empty() {
            input.push('\n');
        }
        input.push_str(line);
    }

    /// Adds a name of evidence: to the call before it if that has none, else to the call after it. `labelled`: a label
    /// marks this as the evidence's name.
    pub fn name(
        &mut self,
        ids: &[EvidenceId],
        labelled: bool,
        line: &str,
    ) -> Result<(), Unreadable> {
        self.is_open = false;
        let whole = self.draft_is_whole() && self.draft.ids.is_empty();
        if let [id] = ids
            && labelled
            && whole
        {
            self.draft.ids = vec![*id];
            return Ok(());
        }
        let known = &self.draft.ids;
        let new: Vec<_> = ids
            .iter()
            .copied()
            .filter(|id| !self.used.contains(id) && !known.contains(id))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        if !self.draft.ids.is_empty() {
            self.flush()?;
        }
        self.draft.ids = new;
        if self.draft.line.is_empty() {
            self.draft.line = words::clipped(line.trim(), SHOWN);
        }
        Ok(())
    }

    /// Adds a complete call. It may repeat parts that labels gave before.
    pub fn call(
        &mut self,
        id: Option<EvidenceId>,
        tool: &str,
        input: &str,
    ) -> Result<(), Unreadable> {
        self.count()?;
        self.is_open = false;
        let tool = self.tool_name(tool);
        let draft = &self.draft;
        let same_tool = draft.tools.is_empty() || draft.tools == [tool.as_str()];
        let same_input = draft
            .input
            .as_deref()
            .is_none_or(|known| is_alike(known, input) || draft.tools.is_empty());
        // Labels without a name describe a call that is written again below them.
        let retold = id.is_some() && draft.ids.is_empty() && draft.tools == [tool.as_str()];
        let same_id = id.is_none() || draft.ids.is_empty() || draft.ids.as_slice() == id.as_slice();
        if !(same_tool && same_input && same_id || retold) {
            self.flush()?;
        }
        self.draft.tools = vec![tool];
        // Of a call that is written twice, the first one counts.
        if retold || self.draft.input.is_none() || self.draft.ids.is_empty() {
            let input = input.trim();
            let format =
                input.strip_prefix('f').filter(|text| text.starts_with('"') && text.ends_with('"'));
            self.draft.input = Some(format.unwrap_or(input).to_owned());
        }
        if let Some(id) = id {
            self.draft.ids = vec![id];
        }
        Ok(())
    }

    /// Names the result of the call that was just read, as code does.
    pub fn variable(&mut self, name: &str) {
        self.draft.variable = Some(name.to_owned());
    }

    /// Adds a tool's name that is alone after an equals sign.
    pub fn bare_call(
        &mut self,
        id: EvidenceId,
        tool: &str,
        sure: bool,
        line: &str,
    ) -> Result<(), Unreadable> {
        if !(self.draft.ids.is_empty() || self.draft.ids == [id]) || !self.draft.tools.is_empty() {
            self.flush()?;
        }
        let tool = self.tool_name(tool);
        self.tools(vec![tool], line)?;
        self.draft.ids = vec![id];
        self.draft.sure = sure;
        Ok(())
    }

    /// Adds a call inside a sentence.
    pub fn remark(&mut self, id: Option<EvidenceId>, tool: &str, input: &str) {
        let tool = self.tool_name(tool);
        if let Some(step) = self.steps.last_mut().filter(|step| step.remarks.len() < MOST) {
            step.remarks.push(CallDraft::new(id, tool, input));
        }
    }

    /// Whether the call that was just read has no name yet.
    pub fn awaits_name(&self) -> bool {
        self.draft_is_whole() && self.draft.ids.is_empty()
    }

    pub fn tool_name(&self, written: &str) -> String {
        let written = written.trim();
        self.offered
            .named_exactly(written)
            .map_or_else(|| written.to_owned(), |tool| tool.name.clone())
    }

    /// Ends the draft, which becomes a call or is lost.
    pub fn flush(&mut self) -> Result<(), Unreadable> {
        let mut draft = std::mem::take(&mut self.draft);
        let text = self.steps.last().map(|step| step.text.clone()).unwrap_or_default();
        if draft.tools.is_empty() && draft.input.is_some() {
            // `Search with Wikipedia`, and the input on a line below.
            if let [tool] = self.offered.mentioned(&text).as_slice() {
                draft.tools.push(tool.name.clone());
            }
        }
        if draft.tools.is_empty()
            && draft.input.is_none()
            && let [id] = draft.ids[..]
        {
            self.named_remark(id, &text);
            if self.used.contains(&id) || self.take_remark(id)? {
                return Ok(());
            }
        }
        if let [tool] = draft.tools.as_slice()
            && draft.input.is_none()
        {
            let tool = self.offered.get(tool);
            let none = tool.is_some_and(|tool| tool.takes_nothing);
            let unknown = tool.is_none_or(|tool| tool.parameters.is_empty());
            if draft.sure && unknown || none && !draft.ids.is_empty() {
                draft.input = Some(String::new());
            }
        }
        match (draft.tools.first(), draft.input) {
            (Some(_), Some(input)) => {
                for (at, tool) in draft.tools.iter().enumerate() {
                    let mut call = CallDraft::new(draft.ids.get(at).copied(), tool.clone(), &input);
                    call.variable.clone_from(&draft.variable);
                    self.push(call)?;
                }
                let rest = draft.ids.iter().skip(draft.tools.len());
                self.lost.extend(rest.map(|id| Lost::Evidence(*id, draft.line.clone())));
            }
            (Some(tool), None) => {
                self.lost.push(Lost::Tool(tool.clone(), draft.line, draft.ids));
            }
            (None, input) => {
                let ids = draft.ids.iter();
                self.lost.extend(ids.map(|id| Lost::Evidence(*id, draft.line.clone())));
                if input.is_some_and(|input| !is_nothing(&input)) {
                    self.lost.push(Lost::Input(draft.line));
                }
            }
        }
        Ok(())
    }

    /// Takes the call inside the step's text that this evidence names.
    fn take_remark(&mut self, id: EvidenceId) -> Result<bool, Unreadable> {
        let Some(step) = self.steps.last_mut().filter(|step| step.calls.is_empty()) else {
            return Ok(false);
        };
        let Some(at) = step.remarks.iter().position(|call| call.id.is_none()) else {
            return Ok(false);
        };
        let mut call = step.remarks.remove(at);
        call.id = Some(id);
        self.push(call)?;
        Ok(true)
    }

    /// Makes a call of a sentence with one tool and one quoted text, for the evidence that is named below it.
    fn named_remark(&mut self, id: EvidenceId, text: &str) {
        let (rest, _) = names::at_end(text).unwrap_or((text, id));
        if let Some(call_forms::CallText::Said { tool, input }) =
            call_forms::said(rest, self.offered)
        {
            let (tool, input) = (tool.to_owned(), input.to_owned());
            self.remark(None, &tool, &input);
            return;
        }
        let quoted: Vec<&str> = text.split(['"', '“', '”']).skip(1).step_by(2).collect();
        if let ([tool], [input]) = (self.offered.mentioned(text).as_slice(), quoted.as_slice()) {
            let tool = tool.name.clone();
            if !self.used.contains(&id) {
                self.remark(None, &tool, input);
            }
        }
    }

    /// Counts calls as they are written, so that a text that repeats one call is not read without end.
    fn count(&mut self) -> Result<(), Unreadable> {
        self.written += 1;
        if self.written > 2 * MOST { Err(Unreadable::TooMany { what: "calls" }) } else { Ok(()) }
    }

    /// Adds a call, unless it was made before.
    fn push(&mut self, call: CallDraft) -> Result<(), Unreadable> {
        self.count()?;
        let calls = self.steps.iter_mut().flat_map(|step| &mut step.calls);
        let mut alike = calls.filter(|known| known.is_alike(&call));
        let again = match call.id {
            Some(id) => alike.find(|known| known.id.is_none_or(|own| own == id)),
            None => alike.next(),
        };
        self.used.extend(call.id);
        if let Some(known) = again {
            known.id = known.id.or(call.id);
            return Ok(());
        }
        if self.calls == MOST {
            return Err(Unreadable::TooMany { what: "calls" });
        }
        self.calls += 1;
        if self.steps.is_empty() {
            let (text, calls, remarks) = Default::default();
            self.steps.push(StepDraft { text, calls, remarks, opened: Opened::ByCall, indent: 0 });
        }
        if let Some(step) = self.steps.last_mut() {
            step.calls.push(call);
        }
        Ok(())
    }

    /// The remaining steps at the end of the text.
    pub fn finish(mut self) -> Result<(Vec<StepDraft>, Vec<Lost>), Unreadable> {
        self.flush()?;
        let steps = self.settled();
        Ok((steps, self.lost))
    }

    /// Turns remarks into calls if there are no others, and leaves out steps that repeat others or only head them.
    fn settled(&mut self) -> Vec<StepDraft> {
        let mut steps = std::mem::take(&mut self.steps);
        let mut made: Vec<CallDraft> = steps.iter().flat_map(|step| step.calls.clone()).collect();
        for step in &mut steps {
            if !step.calls.is_empty() {
                continue;
            }
            for call in std::mem::take(&mut step.remarks) {
                if !made.iter().any(|known| known.is_alike(&call)) {
                    made.push(call.clone());
                    step.calls.push(call);
                }
            }
        }
        let labelled = steps.iter().any(|step| step.opened >= Opened::ByStep);
        let mut said = BTreeSet::new();
        for step in &steps {
            if !step.calls.is_empty() {
                said.insert(plain(&step.text));
            }
        }
        steps.retain(|step| {
            let kept =
                step.opened >= Opened::ByStep || step.opened == Opened::ByNumber && !labelled;
            !step.calls.is_empty()
                || kept && !step.text.is_empty() && said.insert(plain(&step.text))
        });
        steps
    }
}

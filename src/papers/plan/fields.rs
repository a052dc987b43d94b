//! Reads the values of labels: tools, inputs and names of evidence.

use super::call_forms::{self, CallText};
use super::callable_tools::OfferedTool;
use super::head::{self, Begin};
use super::label::{self, LabelField, Labelled, labelled};
use super::reading::Unreadable;
use super::step::Opened;
use super::text::{FieldBlock, PlanReader, is_call};
use super::{bracket, names};
use crate::domain::EvidenceId;

/// Words of a label's value that can still be names of tools.
const NAMES: usize = 6;

impl<'t> PlanReader<'t, '_> {
    /// Whether a label is an ordinary word here.
    pub(super) fn is_prose(&self, field: LabelField) -> bool {
        field == LabelField::Asked && !self.to.awaits_input()
    }

    /// Reads `city: Oslo` if the tool has such an argument, and `Google Search: "x"` if it is offered.
    pub(super) fn argument(&mut self, line: &'t str) -> Result<bool, Unreadable> {
        let Some(found) = labelled(head::bare(line)) else { return Ok(false) };
        if label::is_parameter(found.label, self.to.parameters()) {
            let name = self
                .to
                .parameters()
                .iter()
                .find(|name| label::is_parameter(found.label, std::slice::from_ref(name)));
            let name = name.cloned().unwrap_or_default();
            self.to.argument(&name, value_of(found.value));
            return Ok(true);
        }
        let label = found.label.trim_end_matches(['s', 'S']);
        let asks = ["query", "input", "search quer", "query input"].iter().find_map(|word| {
            let at = label.len().checked_sub(word.len())?;
            let tail = label.get(at..)?;
            tail.eq_ignore_ascii_case(word).then(|| label[..at].trim())
        });
        let tool = asks.and_then(|name| self.offered.meant(name)).map(|tool| tool.name.clone());
        let (Some(tool), true, false) = (tool, self.to.has_step(), found.value.is_empty()) else {
            return Ok(false);
        };
        self.to.tools(vec![tool], line)?;
        self.to.input(value_of(found.value), line)?;
        Ok(true)
    }

    /// Reads the value of a label, and the fields after it on the same line.
    pub(super) fn field(
        &mut self,
        field: LabelField,
        found: &Labelled<'t>,
        line: &'t str,
    ) -> Result<Option<usize>, Unreadable> {
        let (mut field, mut label, mut whole) = (field, found.label, found.value);
        loop {
            let cut = if field == LabelField::Step { None } else { label::next_on_line(whole) };
            let value = cut.map_or(whole, |at| &whole[..at]);
            let end = self.field_alone(field, label, value, line)?;
            let Some(at) = cut.filter(|_| end.is_none()) else { return Ok(end) };
            self.block = None;
            let mark = whole[at..].chars().next().map_or(0, char::len_utf8);
            let Some(next) = labelled(&whole[at + mark..]) else { return Ok(None) };
            (field, label, whole) =
                (next.field.unwrap_or(LabelField::Remark), next.label, next.value);
        }
    }

    fn field_alone(
        &mut self,
        field: LabelField,
        label: &str,
        value: &'t str,
        line: &'t str,
    ) -> Result<Option<usize>, Unreadable> {
        let indent = line.len() - line.trim_start().len();
        let call = call_forms::offered_call(value, self.offered);
        let trimmed = value.trim();
        match field {
            LabelField::Step => self.to.step(Opened::ByPlan, false, indent, trimmed)?,
            LabelField::Remark => self.to.blank(),
            LabelField::Input | LabelField::Asked => {
                if let Some(call) = call.filter(|call| self.is_whole_call(call)) {
                    return self.open(None, &call, line);
                }
                if let Some(end) = self.json_input(value, line)? {
                    return Ok(Some(end));
                }
                let fenced = trimmed.starts_with("```");
                if !trimmed.is_empty() && !fenced {
                    self.to.input(value_of(value), line)?;
                }
                self.block = Some(FieldBlock { indent, field: LabelField::Input, fenced });
            }
            LabelField::Tool | LabelField::Call => {
                if let Some(call) = call {
                    return self.open(None, &call, line);
                }
                if trimmed.is_empty() && field == LabelField::Tool {
                    self.block = Some(FieldBlock { indent, field, fenced: false });
                } else if trimmed.is_empty() {
                    self.to.blank();
                } else if let Some(Begin::Evidence(head)) = head::begin(value, self.offered) {
                    return self.head(head, line);
                } else {
                    self.tool(
                        trimmed,
                        label.to_lowercase() == "action" || field == LabelField::Call,
                        line,
                    )?;
                }
            }
            LabelField::Evidence => {
                if let Some(head) = call_forms::evidence(undressed(value), self.offered)
                    .filter(|head| is_call(&head.call))
                {
                    return self.head(head, line);
                }
                let number = label.chars().rev().take_while(char::is_ascii_digit).count();
                let own: Option<EvidenceId> = label[label.len() - number..].parse().ok();
                if let Some(call) = call {
                    return self.open(own, &call, line);
                }
                let mut ids = names::named(value);
                if ids.is_empty() && !trimmed.is_empty() {
                    ids.extend(own);
                }
                self.to.name(&ids, true, line)?;
            }
        }
        Ok(None)
    }

    /// Reads the value of a label for tools.
    pub(super) fn tool(&mut self, value: &str, loose: bool, line: &str) -> Result<(), Unreadable> {
        let value = value_of(value).trim_matches(['`', '*', '"', ' ']);
        let value = value.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(
            value,
            |(class, rest)| {
                if rest.trim().is_empty() { class } else { rest.trim() }
            },
        );
        let short = value.split_whitespace().count() <= NAMES;
        let bare = value.split([' ', '(']).next().unwrap_or(value);
        let mut meant: Vec<&OfferedTool> = self.offered.meant(value).into_iter().collect();
        if meant.is_empty() && short {
            meant = self.offered.mentioned(value);
        }
        if !meant.is_empty() {
            return self.to.tools(meant.into_iter().map(|tool| tool.name.clone()).collect(), line);
        }
        let nothing = ["none", "n/a", "no", "-", "–", "—", "null", ""]
            .contains(&bare.to_lowercase().as_str());
        let is_name = value.split_whitespace().count() <= if loose { 1 } else { 3 };
        if nothing || !is_name {
            self.to.flush()?;
            self.to.blank();
            return Ok(());
        }
        self.to.tools(vec![value.to_owned()], line)
    }

    /// Reads an input in JSON that continues in the next lines; returns its end.
    fn json_input(&mut self, value: &'t str, line: &'t str) -> Result<Option<usize>, Unreadable> {
        let bare = value.trim_start_matches(['`', ' ']);
        if !bare.starts_with('{') || bare.trim_end().ends_with('}') {
            return Ok(None);
        }
        let from = self.position(bare);
        let mut values = serde_json::Deserializer::from_str(&self.text[from..])
            .into_iter::<serde::de::IgnoredAny>();
        let Some(Ok(_)) = values.next() else { return Ok(None) };
        let end = from + values.byte_offset();
        self.to.input(&self.text[from..end], line)?;
        Ok(Some(end))
    }

    /// Whether the line consists only of the call.
    fn is_whole_call(&self, call: &CallText<'t>) -> bool {
        let CallText::Open { bracket, rest, .. } = call else { return false };
        bracket::inside(rest, *bracket)
            .is_some_and(|(_, after)| !after.contains(char::is_alphanumeric))
    }
}

fn undressed(text: &str) -> &str {
    text.trim_start_matches(label::DRESS)
}

/// The value of a label without marks for bold, and without a closing bracket that was opened before it.
pub(super) fn value_of(text: &str) -> &str {
    let text = text.trim().trim_end_matches("**").trim();
    let ticked = text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    let text = ticked.filter(|inside| !inside.contains('`')).unwrap_or(text);
    let text =
        text.strip_prefix("\\(").and_then(|rest| rest.strip_suffix("\\)")).unwrap_or(text).trim();
    let inside = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let plain = inside.filter(|inside| !inside.contains(['[', ']', '"', ',']));
    let text = plain.unwrap_or(text);
    if text.ends_with(')') && !text.contains('(') {
        text.trim_end_matches(')').trim()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::value_of;

    #[test]
    fn what_dresses_a_value_is_no_part_of_it() {
        for text in ["a", " a ** ", "`a`", "\\(a\\)", "[a]", "a)"] {
            assert_eq!(value_of(text), "a", "{text}");
        }
        for text in ["`a` or `b`", "[a, b]", "[\"a\"]", "f(a)", "[[a]]"] {
            assert_eq!(value_of(text), text);
        }
    }
}

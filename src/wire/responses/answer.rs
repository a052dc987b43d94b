//! A growing answer: events of a stream, or one whole response, become a reply.

use std::sync::Arc;

use serde_json::Value;

use super::built;
use super::item::{ItemSlot, More, ResponsesItem, text_of};
use super::kinds::ClientCallKind;
use crate::domain::{Reply, Request};
use crate::errors::is_error;
use crate::names::FunctionNames;
use crate::reading::{self, AnswerFault, AnswerPiece, GrowingAnswer};
use crate::sse::Event;
use crate::usage::{self, Report};

/// Largest answer in bytes. No model writes that much, but a broken server may.
const LARGEST: usize = 16 * 1024 * 1024;
/// The most items of an answer.
const MOST_ITEMS: usize = 1024;

/// The items that have arrived so far.
#[derive(Debug, Default)]
pub struct ResponsesAnswer {
    names: Arc<FunctionNames>,
    items: Vec<ResponsesItem>,
    /// The text as it came.
    text: String,
    /// Whether thoughts of another item have been seen, so that those of the next item begin a paragraph.
    has_thought: bool,
    /// Bytes of content that the model has written and that its endpoint has added.
    size: usize,
    weight: usize,
    end: Option<End>,
    id: String,
    usage: Option<Report>,
    /// The cost that the endpoint reports in a header, apart from the usage.
    cost: Report,
}

/// How an answer ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    Complete,
    /// An incomplete answer, with the reason in the endpoint's words.
    Incomplete(String),
}

impl GrowingAnswer for ResponsesAnswer {
    fn whole(
        &mut self,
        document: &Value,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<(), AnswerFault> {
        if is_error(document) {
            return Err(AnswerFault::Said(document.clone()));
        }
        if !document["output"].is_array() {
            let is_response = document["object"] == "response";
            return Err(match is_response && document["status"] != "failed" {
                true => AnswerFault::Missing("output"),
                false if is_response => AnswerFault::Said(document.clone()),
                false => AnswerFault::Other(document.clone()),
            });
        }
        self.end(document, document["status"].as_str().unwrap_or("completed"), seen)
    }

    fn event(
        &mut self,
        event: &Event,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<bool, AnswerFault> {
        if event.is_last() {
            // Some servers end a stream with this alone. An answer with half of a call is never complete.
            if self.size > 0 && self.items.iter().all(ResponsesItem::is_whole) {
                self.end.get_or_insert(End::Complete);
            }
            return Ok(true);
        }
        let data = reading::data(event)?;
        if is_error(&data) || event.name == "error" {
            return Err(AnswerFault::Said(data));
        }
        let kind = data["type"].as_str().unwrap_or(&event.name);
        if kind.is_empty() || !data.is_object() {
            return Err(AnswerFault::Other(data));
        }
        let Some(kind) = kind.strip_prefix("response.") else { return Ok(false) };
        // Some servers put the fields of the response into the event.
        let response = if data["response"].is_object() { &data["response"] } else { &data };
        let is_last = match kind {
            "completed" | "done" => self.end(response, "completed", seen).map(|()| true),
            "incomplete" | "failed" | "cancelled" => self.end(response, kind, seen).map(|()| true),
            _ => {
                self.name(&data["response"]);
                self.part(kind, &data, seen);
                Ok(false)
            }
        }?;
        self.check()?;
        Ok(is_last)
    }

    fn is_finished(&self) -> bool {
        self.end.is_some()
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn size(&self) -> usize {
        self.size
    }

    fn reply(mut self: Box<Self>, request: &Request, endpoint: &str) -> (Reply, Report) {
        self.items.sort_by_key(|item| item.order);
        let built = built::of(self.items, request, &self.names, endpoint);
        let finish = built.finish(self.end.as_ref());
        let report = self.usage.unwrap_or_default().or_cost(self.cost);
        let (text, reasoning) = (built.text, built.reasoning);
        let calls = built.calls;
        let usage = report.usage(|| usage::estimate(request, &[&text, &reasoning], &calls));
        let source = built.source.map(Arc::new);
        (Reply { text, reasoning, calls, finish, usage, source, repairs: Vec::new() }, report)
    }
}

impl ResponsesAnswer {
    /// An answer to a request with these names of tools. `cost` is what the endpoint reports apart from the usage.
    pub fn begin(names: &Arc<FunctionNames>, cost: Report) -> Box<dyn GrowingAnswer> {
        Box::new(Self { cost, names: Arc::clone(names), ..Self::default() })
    }

    fn name(&mut self, response: &Value) {
        if let Some(id) = response["id"].as_str() {
            id.clone_into(&mut self.id);
        }
    }

    /// Reads the end of an answer, with all of its items where the server sends them.
    fn end(
        &mut self,
        response: &Value,
        kind: &str,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<(), AnswerFault> {
        let status = response["status"].as_str().unwrap_or(kind);
        self.name(response);
        // A server may repeat the initial status in its last event.
        let is_begun = ["in_progress", "queued"].contains(&status);
        let status = if is_begun { kind } else { status };
        self.usage = usage::read(&response["usage"]).or(self.usage.take());
        let reason = response["incomplete_details"]["reason"].as_str();
        let end = match (status, kind) {
            ("failed", _) | (_, "failed") => return Err(AnswerFault::Said(response.clone())),
            ("cancelled" | "in_progress" | "queued", _) | (_, "cancelled") => {
                return Err(AnswerFault::Ended(status.to_owned()));
            }
            ("incomplete", _) | (_, "incomplete") => {
                End::Incomplete(reason.unwrap_or("incomplete").to_owned())
            }
            _ => End::Complete,
        };
        self.output(response["output"].as_array().map_or(&[][..], Vec::as_slice), seen)?;
        self.end = Some(end);
        Ok(())
    }

    /// Takes all items at once. Content that they lack was in the pieces.
    fn output(
        &mut self,
        output: &[Value],
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<(), AnswerFault> {
        if output.is_empty() {
            return Ok(());
        }
        if output.len() > MOST_ITEMS {
            return Err(AnswerFault::TooLarge(LARGEST / (1024 * 1024)));
        }
        let mut before = std::mem::take(&mut self.items);
        (self.size, self.weight) = (0, 0);
        for (order, value) in (0..).zip(output) {
            let known =
                known(&before, Some(order), value["id"].as_str().unwrap_or_default(), |it| {
                    value["type"].as_str().is_none_or(|kind| kind == it.kind)
                });
            let item = known.map(|at| before.swap_remove(at)).unwrap_or_default();
            self.items.push(ResponsesItem { order, index: Some(order), ..item });
            self.change(self.items.len() - 1, (0, 0), seen, |item, seen| item.take(value, seen));
        }
        self.check()
    }

    /// Reads an event that adds a part.
    fn part(&mut self, kind: &str, data: &Value, seen: &mut dyn FnMut(AnswerPiece)) {
        let Some((stem, step)) = kind.rsplit_once('.') else { return };
        let index = |name: &str| data[name].as_u64().unwrap_or_default();
        let slot = match stem {
            "output_item" => return self.item(&data["item"], step == "added", data, seen),
            "content_part" => return self.content_part(index("content_index"), data, seen),
            "output_text" => ItemSlot::Text(index("content_index")),
            "refusal" => ItemSlot::Refusal(index("content_index")),
            "reasoning_text" | "reasoning" => ItemSlot::Thought(index("content_index")),
            "reasoning_summary_text" | "reasoning_summary" => {
                ItemSlot::Summary(index("summary_index"))
            }
            "function_call_arguments" => ItemSlot::Input(ClientCallKind::Function),
            "custom_tool_call_input" => ItemSlot::Input(ClientCallKind::Custom),
            _ => return,
        };
        let whole = match slot {
            ItemSlot::Text(_) | ItemSlot::Thought(_) | ItemSlot::Summary(_) => "text",
            ItemSlot::Refusal(_) => "refusal",
            ItemSlot::Input(call) => call.input(|_| true),
        };
        let at = self.place(data, slot.kind());
        let text = |name: &str| text_of(&data[name]);
        match step {
            "delta" => self.touch(at, seen, |item, seen| {
                item.add(slot, &text("delta")).into_iter().for_each(seen);
            }),
            "done" => self.touch(at, seen, |item, seen| {
                item.set(slot, &text(whole)).into_iter().for_each(seen);
            }),
            _ => {}
        }
    }

    /// Reads the beginning or the end of a part. A part of a summary has its text in separate events.
    fn content_part(&mut self, at: u64, data: &Value, seen: &mut dyn FnMut(AnswerPiece)) {
        let part = &data["part"];
        let is_thought = part["type"] == "reasoning_text";
        let place = self.place(data, if is_thought { "reasoning" } else { "message" });
        self.touch(place, seen, |item, seen| {
            item.part("content", at, part).into_iter().for_each(seen);
        });
    }

    /// Reads the beginning or the end of an item.
    fn item(
        &mut self,
        item: &Value,
        begins: bool,
        data: &Value,
        seen: &mut dyn FnMut(AnswerPiece),
    ) {
        if !item.is_object() {
            return;
        }
        let id = item["id"].as_str().unwrap_or_default();
        let kind = item["type"].as_str().unwrap_or_default();
        let index = data["output_index"].as_u64();
        // An item begins once. A server that gives all items the same index begins another one.
        let fits = |it: &ResponsesItem| it.kind == kind && !(begins && it.is_begun && it.id != id);
        let at = known(&self.items, index, id, fits).unwrap_or_else(|| self.begin_item(index));
        self.touch(at, seen, |it, seen| {
            it.is_begun = true;
            it.take(item, seen);
        });
    }

    /// The place of the item to which an event belongs; a new one, if none of this type was begun.
    fn place(&mut self, data: &Value, kind: &str) -> usize {
        let index = data["output_index"].as_u64();
        let id = data["item_id"].as_str().unwrap_or_default();
        known(&self.items, index, id, |item| item.kind == kind).unwrap_or_else(|| {
            let at = self.begin_item(index);
            self.items[at].id = id.to_owned();
            self.items[at].kind = kind.to_owned();
            at
        })
    }

    fn begin_item(&mut self, index: Option<u64>) -> usize {
        let last = self.items.iter().map(|item| item.order).max();
        let order = index.or(last).unwrap_or_default();
        self.items.push(ResponsesItem { order, index, ..ResponsesItem::default() });
        self.items.len() - 1
    }

    /// Changes an item of this answer.
    fn touch(
        &mut self,
        at: usize,
        seen: &mut dyn FnMut(AnswerPiece),
        change: impl FnOnce(&mut ResponsesItem, &mut dyn FnMut(More)),
    ) {
        let before = (self.items[at].size(), self.items[at].weight);
        self.change(at, before, seen, change);
    }

    /// Changes an item of this size, and counts the difference.
    fn change(
        &mut self,
        at: usize,
        before: (usize, usize),
        seen: &mut dyn FnMut(AnswerPiece),
        change: impl FnOnce(&mut ResponsesItem, &mut dyn FnMut(More)),
    ) {
        let item = &mut self.items[at];
        let (text, has_thought) = (&mut self.text, &mut self.has_thought);
        let mut thinks = !item.contents.is_empty() || !item.summary.is_empty();
        change(item, &mut |more| match more {
            More::Text(more) => {
                text.push_str(&more);
                seen(AnswerPiece::Text(more));
            }
            More::Reasoning(more) => {
                let more = if *has_thought && !thinks { format!("\n\n{more}") } else { more };
                (*has_thought, thinks) = (true, true);
                seen(AnswerPiece::Reasoning(more));
            }
        });
        self.size = (self.size + item.size()).saturating_sub(before.0);
        self.weight = (self.weight + item.weight).saturating_sub(before.1);
    }

    fn check(&self) -> Result<(), AnswerFault> {
        let is_large = self.size.max(self.weight) > LARGEST || self.items.len() > MOST_ITEMS;
        if is_large || self.items.iter().any(ResponsesItem::is_too_large) {
            return Err(AnswerFault::TooLarge(LARGEST / (1024 * 1024)));
        }
        Ok(())
    }
}

/// The last item that fits, by its index and its id. Some servers give every item the same index, some use a new id in
/// each event, and some send neither.
fn known(
    items: &[ResponsesItem],
    index: Option<u64>,
    id: &str,
    fits: impl Fn(&ResponsesItem) -> bool,
) -> Option<usize> {
    let last =
        |is_it: &dyn Fn(&ResponsesItem) -> bool| items.iter().rposition(|it| is_it(it) && fits(it));
    let is_at = |it: &ResponsesItem| index.is_some() && it.index == index;
    let is_same = |it: &ResponsesItem| it.id == id;
    last(&|it| is_at(it) && is_same(it))
        .or_else(|| if id.is_empty() { None } else { last(&is_same) })
        .or_else(|| last(&is_at))
        .or_else(|| if index.is_none() && id.is_empty() { last(&|_| true) } else { None })
}

//! Values that many lines have are read once, and their records share them: tools and messages of requests, menus. They
//! are forgotten with the list of parts that they are in.

use std::any::Any;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::RandomState;
use memchr::memmem;
use serde::de::DeserializeOwned;

use super::parts::{Span, Whole, string_end, value_end};
use crate::domain::{
    Event, MenuItem, Message, Messages, ModelCallEvent, Record, TaskEvent, ToolDef, ToolName,
    read_known,
};

/// Values of a list of parts that were read.
#[derive(Debug, Default)]
pub(super) struct SharedValues {
    values: HashMap<usize, Box<dyn Any + Send + Sync>, RandomState>,
    /// A line without these values.
    rest: Vec<u8>,
}

impl SharedValues {
    /// Forgets all values: a new list of parts begins.
    pub fn clear(&mut self) {
        self.values.clear();
    }

    /// The record of a line.
    ///
    /// # Errors
    /// As [`Record::read`].
    pub fn read(&mut self, line: Whole) -> Result<Record, String> {
        if line.has_begun {
            self.clear();
            return Record::read(line.text);
        }
        // A line of an unexpected form is read as a whole, so that the error says what is wrong.
        let shared = if line.spans.is_empty() { None } else { self.shared(line) };
        shared.map_or_else(|| Record::read(line.text), Ok)
    }

    fn shared(&mut self, line: Whole) -> Option<Record> {
        // Only numbers are before it.
        let kind = memmem::find(line.text.get(..BEFORE)?, KIND)? + KIND.len();
        let end = string_end(line.text, kind - 1)?;
        let data = end + line.text[end..].strip_prefix(DATA).map(|_| DATA.len())?;
        match &line.text[kind..end - 1] {
            b"ModelCallRequested" => {
                let request = line.member(data, b"\"request\"")?.start;
                let messages = line.member(request, b"\"messages\"")?;
                let tools = line.member(request, b"\"tools\"");
                let all = [Some(messages.clone()), tools.clone()];
                let mut record = self.without(line, all.into_iter().flatten().collect())?;
                let Event::ModelCall(ModelCallEvent::ModelCallRequested { request, .. }) =
                    &mut record.event
                else {
                    return None;
                };
                let request = Arc::get_mut(request)?;
                request.messages = self.messages(line, &messages)?;
                if let Some(tools) = tools {
                    request.tools = self.get::<Arc<[ToolDef]>>(line, &tools)?;
                }
                Some(record)
            }
            b"StepStarted" => {
                let items = line.member(data, b"\"menu\"")?;
                let mut record = self.without(line, vec![items.clone()])?;
                let Event::Task(TaskEvent::StepStarted { menu, .. }) = &mut record.event else {
                    return None;
                };
                *menu = self.get::<Arc<[MenuItem]>>(line, &items)?;
                Some(record)
            }
            b"ToolArraySet" => {
                let names = line.member(data, b"\"tools\"")?;
                let mut record = self.without(line, vec![names.clone()])?;
                let Event::Task(TaskEvent::ToolArraySet { tools, .. }) = &mut record.event else {
                    return None;
                };
                *tools = self.get::<Arc<[ToolName]>>(line, &names)?;
                Some(record)
            }
            _ => None,
        }
    }

    /// The record with an empty list for each of these values; `None` if it has fields of a newer version.
    fn without(&mut self, line: Whole, mut values: Vec<Range<usize>>) -> Option<Record> {
        values.sort_unstable_by_key(|value| value.start);
        self.rest.clear();
        let mut copied = 0;
        for value in values {
            self.rest.extend_from_slice(&line.text[copied..value.start]);
            self.rest.extend_from_slice(b"[]");
            copied = value.end;
        }
        self.rest.extend_from_slice(&line.text[copied..]);
        Record::read(&self.rest).ok().filter(|record| record.newer.is_none())
    }

    /// The value in this range, which is parsed unless it was parsed before.
    fn get<T>(&mut self, line: Whole, range: &Range<usize>) -> Option<T>
    where
        T: Clone + DeserializeOwned + Send + Sync + 'static,
    {
        let read = || read_known(&line.text[range.clone()]);
        let Some(span) = line.span(range.start).filter(|span| span.range.end == range.end) else {
            return read();
        };
        if let Some(known) = self.values.get(&span.id).and_then(|it| it.downcast_ref::<T>()) {
            return Some(known.clone());
        }
        let value: T = read()?;
        self.values.insert(span.id, Box::new(value.clone()));
        Some(value)
    }

    /// Like `get`, with each message shared.
    fn messages(&mut self, line: Whole, range: &Range<usize>) -> Option<Messages> {
        let here = line.at(range.start);
        let all = here.first().filter(|span| span.range.end == range.end);
        let known = |span: &Span| self.values.get(&span.id)?.downcast_ref::<Messages>().cloned();
        if let Some(known) = all.and_then(known) {
            return Some(known);
        }
        let begun = here.iter().find_map(|span| Some((known(span)?, span.range.end)));
        let (mut messages, mut at) =
            begun.unwrap_or_else(|| (Messages::default(), range.start + 1));
        while at < range.end - 1 {
            let end = line.value_end(at)?;
            messages.push_shared(self.get::<Arc<Message>>(line, &(at..end))?);
            at = end + usize::from(line.text.get(end) == Some(&b','));
        }
        if let Some(all) = all {
            self.values.insert(all.id, Box::new(messages.clone()));
        }
        Some(messages)
    }
}

/// The kind of an event is within this many bytes of its line.
const BEFORE: usize = 80;
const KIND: &[u8] = b"\"kind\":\"";
const DATA: &[u8] = b",\"data\":";

impl Whole<'_> {
    /// The spans that begin here.
    fn at(&self, start: usize) -> &[Span] {
        let from = self.spans.partition_point(|span| span.range.start < start);
        let len = self.spans[from..].iter().take_while(|span| span.range.start == start).count();
        &self.spans[from..from + len]
    }

    /// The outermost of them.
    fn span(&self, start: usize) -> Option<&Span> {
        self.at(start).first()
    }

    /// The end of the value that begins here.
    fn value_end(&self, start: usize) -> Option<usize> {
        let span = self.span(start).map(|span| span.range.end);
        span.or_else(|| value_end(self.text, start))
    }

    /// The value of this quoted key in the object that begins here.
    fn member(&self, object: usize, key: &[u8]) -> Option<Range<usize>> {
        let mut at = object;
        while at == object && self.text.get(at) == Some(&b'{') || self.text.get(at) == Some(&b',') {
            let end = string_end(self.text, at + 1)?;
            let value = end + 1..self.value_end(end + 1)?;
            if &self.text[at + 1..end] == key {
                return Some(value);
            }
            at = value.end;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::super::{Header, Journal, read};
    use super::*;
    use crate::domain::{
        EffectClass, EffectId, EffectRef, MenuReason, ModelName, Request, Role, TaskId,
    };

    fn requested(n: u64, messages: &Messages) -> Record {
        let tool = |name: &str| ToolDef {
            name: name.into(),
            description: format!("what {name} does, in so many words"),
            parameters: Arc::new(json!({"type": "object", "properties": {"messages": {"=": 7}}})),
        };
        let mut request = Request::new(Role::Actor, messages.clone());
        request.tools = [tool("search"), tool("calculator")].into();
        // Fields of these names in other places are not shared values.
        request.schema = Some(json!({"tools": ["a text that is longer"], "messages": [n]}));
        let (effect, model) = (EffectRef::new(EffectId(7), EffectClass::Read), ModelName::new("m"));
        let request = Arc::new(request);
        let (task, role, evidence) = (TaskId(1), Role::Actor, None);
        let event =
            ModelCallEvent::ModelCallRequested { effect, task, role, model, request, evidence };
        Record::new(n, n, event)
    }

    fn step(n: u64) -> Record {
        let item = |tool: &str| MenuItem { tool: tool.into(), weight: None, why: MenuReason::All };
        let (task, step, from) = (TaskId(1), 1, "start".into());
        let menu = [item("search"), item("calculator")].into();
        Record::new(n, n, TaskEvent::StepStarted { task, step, from, menu })
    }

    fn request(record: &Record) -> Arc<Request> {
        match &record.event {
            Event::ModelCall(ModelCallEvent::ModelCallRequested { request, .. }) => request.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn written(path: &Path, records: &[Record]) {
        let header = Header::at(jiff::Timestamp::UNIX_EPOCH);
        let mut journal = Journal::create(path, &header).unwrap();
        records.iter().for_each(|record| journal.append(record).unwrap());
    }

    #[test]
    fn requests_share_what_they_have_in_common() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let mut messages = Messages::from(vec![Message::system("You are an agent with tools.")]);
        let mut records = Vec::new();
        for n in (1..40).step_by(2) {
            messages.push(Message::user(format!("the question with the number {n}, and \n {n}")));
            records.extend([requested(n, &messages), step(n + 1)]);
        }
        // A conversation that continues from the middle of an earlier one.
        messages.truncate(5);
        messages.push(Message::user("something else"));
        records.push(requested(41, &messages));
        written(&path, &records);
        let loaded = read(&path).unwrap().records;
        assert_eq!(loaded, records);
        // The line that begins the list of parts is read as a whole.
        let requests: Vec<_> = loaded[2..].iter().step_by(2).map(request).collect();
        for two in requests[..19].windows(2) {
            assert!(Arc::ptr_eq(&two[0].tools, &two[1].tools));
            let mut both = two[0].messages.shared().zip(two[1].messages.shared());
            assert!(both.all(|(one, other)| Arc::ptr_eq(one, other)));
        }
        assert!(Arc::ptr_eq(&requests[18].tools, &requests[19].tools));
    }

    #[test]
    fn fields_of_a_newer_version_within_a_shared_value_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let records: Vec<_> = (1..5)
            .map(|n| requested(n, &vec![Message::user("what is asked here")].into()))
            .collect();
        written(&path, &records);
        let text = std::fs::read_to_string(&path).unwrap();
        // The second tool is like the first one.
        let tool = "\"name\":\"search\",";
        std::fs::write(&path, text.replacen(tool, &format!("{tool}\"risk\":1,"), 1)).unwrap();
        let loaded = read(&path).unwrap().records;
        assert_eq!(loaded.len(), 4);
        for record in &loaded {
            let newer = record.newer.as_ref().unwrap();
            assert_eq!(newer.fields, ["request.tools.0.risk", "request.tools.1.risk"]);
            assert_eq!(newer.data["request"]["tools"][0]["risk"], 1);
        }
        std::fs::write(&path, text.replacen(tool, "\"name\":7,", 1)).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("data.request.tools[0].name"), "{error}");
    }
}

//! Values that many lines have are parsed once, and their records share them: tools and messages of requests, menus. They
//! are known by a hash of their text before it is parsed.

use std::any::Any;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::Arc;

use foldhash::quality::RandomState;
use memchr::memmem;
use serde::de::DeserializeOwned;

use super::spans::{self, string_end, value_end};
use crate::domain::{
    Event, MenuItem, Message, Messages, ModelCallEvent, Record, TaskEvent, ToolDef, ToolName,
    read_known,
};

/// Values are forgotten once this many bytes of text were parsed after their last use, or twice as many.
const KEPT: usize = 8 << 20;
/// A list of messages counts as this many bytes: it shares its messages and most of their places.
const LIST: usize = 1 << 10;

/// The kind of an event is within this many bytes of its line.
const BEFORE: usize = 80;
const KIND: &[u8] = b"\"kind\":\"";
const DATA: &[u8] = b",\"data\":";

type Values = HashMap<u64, SharedValue, RandomState>;

#[derive(Debug)]
struct SharedValue {
    /// In bytes.
    text: usize,
    value: Box<dyn Any + Send + Sync>,
}

/// Values that were read. The keys of the hash are random, so no journal can be made in which two texts have the same.
#[derive(Debug, Default)]
pub(super) struct SharedValues {
    new: Values,
    old: Values,
    /// The bytes of the text of the new ones.
    text: usize,
    /// A line without these values.
    rest: Vec<u8>,
}

impl SharedValues {
    /// The record of a line.
    ///
    /// # Errors
    /// As [`Record::read`].
    pub fn read(&mut self, line: &[u8]) -> Result<Record, String> {
        // A line of an unexpected form is read as a whole, so that the error says what is wrong.
        self.shared(line).map_or_else(|| Record::read(line), Ok)
    }

    fn shared(&mut self, line: &[u8]) -> Option<Record> {
        // Only numbers are before it.
        let before = &line[..line.len().min(BEFORE)];
        let kind = memmem::find(before, KIND)? + KIND.len();
        let end = string_end(line, kind - 1)?;
        let data = end + line[end..].strip_prefix(DATA).map(|_| DATA.len())?;
        let list = |key: &[u8]| {
            let list = spans::member(line, data, key)?;
            (list.len() > b"[]".len()).then_some(list)
        };
        match &line[kind..end - 1] {
            b"ModelCallRequested" => {
                let request = spans::begin(line, data, b"\"request\"")?;
                let begin = spans::begin(line, request, b"\"messages\"")?;
                let (messages, end) = self.messages(line, begin)?;
                let tools = spans::member(line, end, b"\"tools\"");
                let all = [Some(begin..end), tools.clone()];
                let mut record = self.without(line, all.into_iter().flatten())?;
                let Event::ModelCall(ModelCallEvent::ModelCallRequested { request, .. }) =
                    &mut record.event
                else {
                    return None;
                };
                let request = Arc::get_mut(request)?;
                request.messages = messages;
                if let Some(tools) = tools {
                    request.tools = self.get::<Arc<[ToolDef]>>(&line[tools])?;
                }
                Some(record)
            }
            b"StepStarted" => {
                let items = list(b"\"menu\"")?;
                let mut record = self.without(line, [items.clone()])?;
                let Event::Task(TaskEvent::StepStarted { menu, .. }) = &mut record.event else {
                    return None;
                };
                *menu = self.get::<Arc<[MenuItem]>>(&line[items])?;
                Some(record)
            }
            b"ToolArraySet" => {
                let names = list(b"\"tools\"")?;
                let mut record = self.without(line, [names.clone()])?;
                let Event::Task(TaskEvent::ToolArraySet { tools, .. }) = &mut record.event else {
                    return None;
                };
                *tools = self.get::<Arc<[ToolName]>>(&line[names])?;
                Some(record)
            }
            _ => None,
        }
    }

    /// The record with an empty list for each of these values, which are in their order; `None` if it has fields of a
    /// newer version.
    fn without(
        &mut self,
        line: &[u8],
        values: impl IntoIterator<Item = Range<usize>>,
    ) -> Option<Record> {
        self.rest.clear();
        let mut copied = 0;
        for value in values {
            self.rest.extend_from_slice(&line[copied..value.start]);
            self.rest.extend_from_slice(b"[]");
            copied = value.end;
        }
        self.rest.extend_from_slice(&line[copied..]);
        Record::read(&self.rest).ok().filter(|record| record.newer.is_none())
    }

    /// The value with this text, which is parsed unless it is known.
    fn get<T>(&mut self, text: &[u8]) -> Option<T>
    where
        T: Clone + DeserializeOwned + Send + Sync + 'static,
    {
        let hash = self.new.hasher().hash_one(text);
        if let Some(known) = self.known(hash) {
            return Some(known);
        }
        let value: T = read_known(text)?;
        self.keep(hash, text.len(), value.clone());
        Some(value)
    }

    /// The messages of the list that begins here, each shared, and its end. A list that continues a known one is read
    /// from there on.
    fn messages(&mut self, line: &[u8], begin: usize) -> Option<(Messages, usize)> {
        let (mut at, mut hash, mut ranges) = (begin + 1, 0, Vec::new());
        while line.get(at)? != &b']' {
            let end = value_end(line, at)?;
            // The hash of all messages up to here.
            hash = self.new.hasher().hash_one((hash, &line[at..end]));
            ranges.push((at..end, hash));
            at = end + usize::from(line.get(end) == Some(&b','));
        }
        let known = ranges.iter().enumerate().rev();
        let known = known.filter_map(|(last, (_, hash))| Some((last + 1, self.known(*hash)?)));
        let (begun, mut messages): (usize, Messages) = known.take(1).next().unwrap_or_default();
        for (message, _) in &ranges[begun..] {
            messages.push_shared(self.get::<Arc<Message>>(&line[message.clone()])?);
        }
        if begun < ranges.len() {
            self.keep(hash, LIST, messages.clone());
        }
        Some((messages, at + 1))
    }

    fn known<T: Clone + 'static>(&mut self, hash: u64) -> Option<T> {
        if let Some(old) = self.old.remove(&hash) {
            self.insert(hash, old);
        }
        self.new.get(&hash)?.value.downcast_ref::<T>().cloned()
    }

    fn keep(&mut self, hash: u64, text: usize, value: impl Any + Send + Sync) {
        self.insert(hash, SharedValue { text, value: Box::new(value) });
        if self.text > KEPT {
            self.old = std::mem::take(&mut self.new);
            self.text = 0;
        }
    }

    fn insert(&mut self, hash: u64, value: SharedValue) {
        self.text += value.text;
        self.new.insert(hash, value);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::super::{Header, Journal, JournalReader, read};
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
        let mut reader = JournalReader::open(&path).unwrap();
        let mut text = reader.newest_head().unwrap() + "\n";
        while let Some(line) = reader.newest_line().unwrap() {
            text += &(line + "\n");
        }
        let tool = "\"name\":\"search\",";
        std::fs::write(&path, text.replace(tool, &format!("{tool}\"risk\":1,"))).unwrap();
        let loaded = read(&path).unwrap().records;
        assert_eq!(loaded.len(), 4);
        for record in &loaded {
            let newer = record.newer.as_ref().unwrap();
            assert_eq!(newer.fields, ["request.tools.0.risk"]);
            assert_eq!(newer.data["request"]["tools"][0]["risk"], 1);
        }
        std::fs::write(&path, text.replacen(tool, "\"name\":7,", 1)).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("data.request.tools[0].name"), "{error}");
    }
}

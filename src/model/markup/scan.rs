//! The calls in a text, one after the other, in any markup.

use serde_json::{Map, Value};

use super::{MarkupCall, is_result, offered, skipped};
use crate::domain::lenient::{self, is_special, token};
use crate::domain::{ToolDef, arguments};
use crate::papers::atc::calls as python;

/// Why no call was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The text has no call.
    NoCall,
    /// The text has a call that cannot be read, or one of a tool that was not offered.
    Call,
}

/// The label of a call's arguments, after the label and the name of its action.
pub const INPUT: &str = "Action Input:";

/// The most calls of one text.
const MOST: usize = 64;

/// The calls at the beginning of a text, and the text after them. `is_marked`: a mark before the text announced a call;
/// otherwise an object must have both a name and arguments.
///
/// # Errors
/// The text does not begin with a call, or a call cannot be read.
pub fn calls<'a>(
    text: &'a str,
    tools: &[ToolDef],
    is_marked: bool,
) -> Result<(Vec<MarkupCall>, &'a str), Broken> {
    let scan = Scan { tools, is_marked };
    let mut calls = Vec::new();
    let mut rest = skipped(text);
    while !rest.is_empty() && !is_invented(rest) {
        match scan.item(rest) {
            Ok((more, after)) => {
                calls.extend(more);
                rest = skipped(after);
            }
            Err(Broken::NoCall) if !calls.is_empty() => return Ok((calls, rest)),
            Err(broken) => return Err(broken),
        }
        if calls.len() > MOST {
            return Err(Broken::Call);
        }
    }
    if calls.is_empty() { Err(Broken::NoCall) } else { Ok((calls, "")) }
}

/// Whether a text continues with a result, which the model has invented.
fn is_invented(text: &str) -> bool {
    text.starts_with("Observation:") || token(text).is_some_and(|(tag, _)| is_result(tag))
}

struct Scan<'t> {
    tools: &'t [ToolDef],
    is_marked: bool,
}

type MarkupScan<'a> = Result<(Vec<MarkupCall>, &'a str), Broken>;

impl Scan<'_> {
    fn item<'a>(&self, text: &'a str) -> MarkupScan<'a> {
        let text = text.strip_prefix("Action:").map_or(text, skipped);
        if text.starts_with('{') {
            return self.object(text);
        }
        if text.starts_with('[') {
            return self.object(text).or_else(|broken| self.python(text).ok_or(broken));
        }
        if text.starts_with('<') {
            return self.tag(text);
        }
        self.named(text)
    }

    /// JSON: an object, or a list of them.
    fn object<'a>(&self, text: &'a str) -> MarkupScan<'a> {
        let read = lenient::first(text).ok_or(Broken::Call)?;
        let all = match &read.value {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let calls: Option<Vec<Vec<MarkupCall>>> = all.iter().map(|one| self.of_json(one)).collect();
        Ok((calls.ok_or(Broken::Call)?.concat(), read.rest))
    }

    fn of_json(&self, value: &Value) -> Option<Vec<MarkupCall>> {
        if let Some(calls) = value["tool_calls"].as_array() {
            let calls: Option<Vec<_>> = calls.iter().map(|call| self.of_json(call)).collect();
            return calls.map(|calls| calls.concat());
        }
        let inner = if value["function"].is_object() { &value["function"] } else { value };
        let fields = inner.as_object()?;
        let first = |names: &[&str]| names.iter().find_map(|name| fields.get(*name));
        let name = first(&["name", "tool_name", "tool", "function", "action", "recipient_name"]);
        let given = first(&["arguments", "parameters", "args", "input", "action_input", "kwargs"]);
        let (name, given) = match (name.and_then(Value::as_str), fields.iter().next()) {
            (Some(name), _) => (name, given),
            // The name is the only field.
            (None, Some((name, given))) if fields.len() == 1 && self.is_marked => {
                (name.as_str(), Some(given))
            }
            _ => return None,
        };
        let tool = offered(name, self.tools)?;
        let arguments = match given {
            Some(Value::Object(fields)) => fields.clone(),
            Some(Value::String(raw)) => match serde_json::from_str(raw) {
                Ok(fields) => fields,
                Err(_) => lenient::object(raw)?.0,
            },
            Some(Value::Null) | None if self.is_marked => Map::new(),
            _ => return None,
        };
        Some(vec![self.call(tool, arguments)])
    }

    fn call(&self, tool: &ToolDef, arguments: Map<String, Value>) -> MarkupCall {
        MarkupCall { tool: tool.name.clone(), arguments: arguments.into() }
    }

    /// Calls as Python writes them, up to the next tag or fence.
    fn python<'a>(&self, text: &'a str) -> Option<(Vec<MarkupCall>, &'a str)> {
        let ends = ["<|", "<｜", "</", "```"];
        let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
        let calls = python::calls(text[..end].trim())?;
        let one = |(name, given): (String, Map<String, Value>)| {
            Some(self.call(offered(&name, self.tools)?, given))
        };
        Some((calls.into_iter().map(one).collect::<Option<_>>()?, &text[end..]))
    }

    /// `<function=NAME>`, `<invoke name="NAME">` and the like, with parameters or an object inside.
    fn tag<'a>(&self, text: &'a str) -> MarkupScan<'a> {
        let (tag, rest) = token(text).ok_or(Broken::NoCall)?;
        let (kind, name) = attribute(tag).ok_or(Broken::NoCall)?;
        if !["function", "invoke", "tool"].contains(&kind) {
            return Err(Broken::NoCall);
        }
        let tool = offered(name, self.tools).ok_or(Broken::Call)?;
        let inside = rest.trim_start();
        if inside.starts_with('{') {
            let read = lenient::first(inside).ok_or(Broken::Call)?;
            let Value::Object(fields) = read.value else { return Err(Broken::Call) };
            return Ok((vec![self.call(tool, fields)], read.rest));
        }
        let (fields, rest) = parameters(rest, &tool.parameters)?;
        Ok((vec![self.call(tool, fields)], rest))
    }

    /// A name, and its arguments after it.
    fn named<'a>(&self, text: &'a str) -> MarkupScan<'a> {
        let text = ["assistant<|channel|>", "assistant ", "commentary "]
            .iter()
            .fold(text, |text, role| text.strip_prefix(role).unwrap_or(text));
        let is_of_name = |c: char| c.is_alphanumeric() || "_-.:/=".contains(c);
        let end = text.find(|c| !is_of_name(c)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        if name.is_empty() {
            return Err(Broken::NoCall);
        }
        if name == "functools" && rest.starts_with('[') {
            return self.object(rest);
        }
        if rest.starts_with('(') {
            return self.python(text).ok_or(Broken::NoCall);
        }
        let after = to_arguments(rest);
        let tool = offered(name, self.tools);
        if after.starts_with("<arg_key>") {
            let tool = tool.ok_or(Broken::Call)?;
            let (fields, rest) = keyed(after, &tool.parameters)?;
            return Ok((vec![self.call(tool, fields)], rest));
        }
        if after.starts_with('{') {
            let tool = tool.ok_or(Broken::Call)?;
            if let Some(read) = lenient::first(after) {
                let Value::Object(fields) = read.value else { return Err(Broken::Call) };
                return Ok((vec![self.call(tool, fields)], read.rest));
            }
            return self.escaped(tool, after);
        }
        if rest.trim_start().starts_with(INPUT) {
            let (line, below) = after.split_once('\n').unwrap_or((after, ""));
            let tool = tool.ok_or(Broken::Call)?;
            return match arguments::read(line.trim(), &tool.parameters) {
                Value::Object(fields) => Ok((vec![self.call(tool, fields)], below)),
                _ => Err(Broken::Call),
            };
        }
        // `function` and a token before the name.
        if after.len() < rest.len() && name == "function" && !after.is_empty() {
            return self.named(after);
        }
        match tool {
            Some(tool) if is_end(after) && arguments::required(&tool.parameters).is_empty() => {
                Ok((vec![self.call(tool, Map::new())], after))
            }
            _ if rest.len() > after.len() && rest.contains('<') => Err(Broken::Call),
            _ => Err(Broken::NoCall),
        }
    }

    /// `{city:<escape>Lisbon<escape>}`.
    fn escaped<'a>(&self, tool: &ToolDef, text: &'a str) -> MarkupScan<'a> {
        let end = text.find('}').filter(|_| text.contains("<escape>")).ok_or(Broken::Call)?;
        let inside = text[1..end].replace("<escape>", "\"");
        match arguments::read(&inside, &tool.parameters) {
            Value::Object(fields) => Ok((vec![self.call(tool, fields)], &text[end + 1..])),
            _ => Err(Broken::Call),
        }
    }
}

/// Whether a call ends here, where its arguments would begin.
fn is_end(text: &str) -> bool {
    text.is_empty() || text.starts_with("</")
}

/// The text at which the arguments of a name begin: after special tokens, ids and fences.
fn to_arguments(text: &str) -> &str {
    let mut rest = text;
    loop {
        let before = rest;
        rest = rest.trim_start();
        rest = rest.strip_prefix("[ARGS]").or_else(|| rest.strip_prefix(INPUT)).unwrap_or(rest);
        if let Some(id) = rest.strip_prefix("[CALL_ID]") {
            rest = id.trim_start_matches(|c: char| c.is_alphanumeric());
        }
        if let Some((_, after)) =
            token(rest).filter(|(tag, _)| is_special(tag) || *tag == "<tool_sep>")
        {
            rest = after;
        }
        rest = rest.strip_prefix("```json").or_else(|| rest.strip_prefix("```")).unwrap_or(rest);
        // After `<|constrain|>` and `<|channel|>`.
        for word in ["json", "commentary"] {
            let after = rest.strip_prefix(word).map(str::trim_start);
            rest = after.filter(|after| after.starts_with('<')).unwrap_or(rest);
        }
        if rest == before {
            return rest;
        }
    }
}

/// `<arg_key>city</arg_key><arg_value>Lisbon</arg_value>`, once for each argument.
fn keyed<'a>(text: &'a str, schema: &Value) -> Result<(Map<String, Value>, &'a str), Broken> {
    let mut fields = Map::new();
    let mut rest = text;
    while let Some(key) = rest.trim_start().strip_prefix("<arg_key>") {
        let (key, after) = key.split_once("</arg_key>").ok_or(Broken::Call)?;
        let text = after.trim_start().strip_prefix("<arg_value>").ok_or(Broken::Call)?;
        let (text, after) = text.split_once("</arg_value>").ok_or(Broken::Call)?;
        let key = key.trim();
        fields.insert(key.to_owned(), value(text, &schema["properties"][key]));
        rest = after;
    }
    Ok((fields, rest))
}

/// The kind of a tag and the name in it, as in `<parameter=city>` and `<parameter name="city" string="true">`.
fn attribute(tag: &str) -> Option<(&str, &str)> {
    let inside = tag.trim_start_matches('<').trim_end_matches('>');
    let inside = inside.rsplit(['|', '｜']).next()?;
    let end = inside.find([' ', '='])?;
    let (kind, rest) = inside.split_at(end);
    let rest = rest.trim_start();
    let name = rest.strip_prefix("name=").or_else(|| rest.strip_prefix('='))?;
    let quoted = |quote| name.strip_prefix(quote)?.split_once(quote).map(|(name, _)| name);
    Some((kind, quoted('"').or_else(|| quoted('\'')).unwrap_or(name).trim()))
}

/// The parameters of a call as tags, up to its end.
fn parameters<'a>(text: &'a str, schema: &Value) -> Result<(Map<String, Value>, &'a str), Broken> {
    let mut fields = Map::new();
    let mut rest = text;
    loop {
        let Some((tag, after)) = token(rest.trim_start()) else {
            // The end tag was never written.
            return if rest.trim().is_empty() { Ok((fields, "")) } else { Err(Broken::Call) };
        };
        let Some((kind, key)) = attribute(tag).filter(|(kind, _)| kind.starts_with("param")) else {
            return Ok((fields, rest));
        };
        let close = close_of(tag, kind);
        let (text, after) = after.split_once(&close).ok_or(Broken::Call)?;
        let of = &schema["properties"][key];
        let is_text = tag.contains("string=\"true\"");
        let read = if is_text { text.into() } else { value(text, of) };
        fields.insert(key.to_owned(), read);
        rest = after;
    }
}

/// The tag that closes this one.
fn close_of(tag: &str, kind: &str) -> String {
    let prefix = tag.find(kind).map_or("", |at| &tag[1..at]);
    format!("</{prefix}{kind}>")
}

/// The value of a parameter as its schema wants it. The line breaks around it belong to the markup.
fn value(text: &str, schema: &Value) -> Value {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let text = text.strip_suffix('\n').unwrap_or(text);
    if arguments::is_text(schema) { text.into() } else { arguments::value(text.trim(), schema) }
}

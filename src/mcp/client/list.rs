//! A server's list of tools, read page by page. The SDK refuses a page for one wrong tool; here only that tool is left
//! out.

use std::collections::HashSet;

use rmcp::handler::client::progress::ProgressDispatcher;
use rmcp::model::{
    ClientRequest, CustomRequest, ListToolsRequest, PaginatedRequestParams, ServerResult,
};
use rmcp::service::Peer;
use rmcp::{RoleClient, ServiceError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::definition::Definition;
use super::{failure, request};
use crate::domain::words::{clipped, counted};
use crate::files::json_file;
use crate::files::safe_text::visible;

/// The most tools of a server.
const MOST: usize = 10_000;
/// The most pages of a list.
const PAGES: usize = 1000;
/// The most tools that are left out one by one.
const LEFT_OUT: usize = 10;
/// The most characters of a text of the server in a notice.
const TEXT: usize = 200;

/// The tools of a server.
#[derive(Debug, Default)]
pub struct ToolList {
    pub tools: Vec<Definition>,
    /// Notices about tools that cannot be read.
    pub left_out: Vec<String>,
}

/// Requests all pages of the list.
///
/// # Errors
/// Why there is no list.
pub async fn all(
    peer: &Peer<RoleClient>,
    progress: &ProgressDispatcher,
) -> Result<ToolList, String> {
    let mut list = ToolList::default();
    let mut seen = HashSet::new();
    let mut cursor: Option<Value> = None;
    loop {
        let next = match request::sent(peer, page(cursor), progress, |_| {}).await {
            Ok(answer) => list.add(answer)?,
            // The server offers no tools, only resources or prompts.
            Err(ServiceError::McpError(error)) if error.code.0 == -32601 => None,
            Err(error) => return Err(without_list(&failure::of_request(&error))),
        };
        if list.tools.len() + list.left_out.len() > MOST {
            return Err(format!("it lists more than {MOST} tools"));
        }
        // Only a missing cursor ends the list: an empty text is a cursor.
        let Some(next) = next else { break };
        if seen.len() == PAGES || !seen.insert(next.to_string()) {
            let mut names = HashSet::new();
            list.tools.retain(|tool| names.insert(tool.name.clone()));
            let page = clipped(&visible(&next.to_string()), TEXT);
            let text = format!("its list of tools comes back to the page {page}, and ends there");
            list.left_out.push(text);
            break;
        }
        cursor = Some(next);
    }
    let more = list.left_out.len().saturating_sub(LEFT_OUT);
    if more > 0 {
        list.left_out.truncate(LEFT_OUT);
        list.left_out.push(format!("{} more left out", counted(more, "tool")));
    }
    Ok(list)
}

/// The request for a page. A cursor that is no text goes back as it came.
fn page(cursor: Option<Value>) -> ClientRequest {
    let mut page = PaginatedRequestParams::default();
    match cursor {
        Some(cursor @ (Value::Number(_) | Value::Object(_) | Value::Array(_) | Value::Bool(_))) => {
            let params = json!({ "cursor": cursor });
            return ClientRequest::CustomRequest(CustomRequest::new("tools/list", Some(params)));
        }
        Some(Value::String(cursor)) => page.cursor = Some(cursor),
        Some(Value::Null) | None => {}
    }
    ListToolsRequest::with_param(page).into()
}

fn without_list(why: &str) -> String {
    format!("it does not list its tools: {why}")
}

/// A page with at least one wrong tool.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object with `tools`")]
struct RawPage {
    tools: Vec<Value>,
    #[serde(default)]
    next_cursor: Option<Value>,
}

impl ToolList {
    /// Adds the tools of an answer; returns the cursor of the next page.
    fn add(&mut self, answer: ServerResult) -> Result<Option<Value>, String> {
        let raw = match answer {
            ServerResult::ListToolsResult(page) => {
                self.tools.extend(page.tools.iter().map(Definition::of));
                return Ok(page.next_cursor.map(Value::String));
            }
            ServerResult::CustomResult(raw) => raw.0,
            _ => return Err(without_list("its answer has no `tools`")),
        };
        let page: RawPage = json_file::read_part(raw)
            .map_err(|why| without_list(&clipped(&visible(&why), TEXT)))?;
        for tool in page.tools {
            let name = match tool.get("name").and_then(Value::as_str) {
                Some(name) => format!("the tool {:?}", clipped(name, TEXT)),
                None => format!("tool {} of its list", self.tools.len() + self.left_out.len() + 1),
            };
            match json_file::read_part(tool) {
                Ok(tool) => self.tools.push(Definition::of(&tool)),
                Err(why) => {
                    let why = clipped(&why, TEXT);
                    self.left_out.push(visible(&format!("{name} is left out: {why}")).into_owned());
                }
            }
        }
        Ok(page.next_cursor.filter(|next| *next != false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(answer: Value) -> (ToolList, Result<Option<Value>, String>) {
        let mut list = ToolList::default();
        let next = list.add(serde_json::from_value(answer).unwrap());
        (list, next)
    }

    #[test]
    fn one_wrong_tool_is_left_out_alone() {
        let schema = json!({"type": "object"});
        let with = |field: &str, value: Value| {
            let mut tool = json!({"name": "bad", "inputSchema": schema});
            tool[field] = value;
            tool
        };
        for (bad, why) in [
            (json!("bad"), "tool 2 of its list is left out: invalid type: string \"bad\""),
            (json!({"name": "bad"}), "the tool \"bad\" is left out: missing field `inputSchema`"),
            (with("inputSchema", Value::Null), "is left out: inputSchema: invalid type: null"),
            (
                with("inputSchema", json!("x")),
                "is left out: inputSchema: invalid type: string \"x\"",
            ),
            (with("inputSchema", json!(true)), "is left out: inputSchema: invalid type: boolean"),
            (
                with("annotations", json!({"readOnlyHint": "true"})),
                "is left out: annotations.readOnlyHint: invalid type: string \"true\"",
            ),
            (with("icons", json!("x")), "is left out: icons: invalid type: string \"x\""),
            (with("name", json!(5)), "tool 2 of its list is left out: name: invalid type: integer"),
        ] {
            let good = |name: &str| json!({"name": name, "inputSchema": schema});
            let tools = json!([good("a"), bad, good("b")]);
            let (list, next) = added(json!({"tools": tools, "nextCursor": ""}));
            assert_eq!(next, Ok(Some(json!(""))));
            let names: Vec<_> = list.tools.iter().map(|tool| tool.name.as_str()).collect();
            assert_eq!(names, ["a", "b"], "{bad}");
            let [told] = list.left_out.as_slice() else { panic!("{:?}", list.left_out) };
            assert!(told.contains(why), "{told}\nwithout {why}");
        }
    }

    #[test]
    fn an_answer_without_a_list_says_what_is_wrong() {
        for (answer, why) in [
            (json!({}), "its answer has no `tools`"),
            (json!({"tool": []}), "missing field `tools`"),
            (json!({"tools": "x"}), "tools: invalid type: string \"x\""),
            (json!("x"), "expected an object with `tools`"),
        ] {
            let error = added(answer).1.unwrap_err();
            assert!(error.starts_with("it does not list its tools: "), "{error}");
            assert!(error.contains(why), "{error}\nwithout {why}");
        }
        for (cursor, next) in
            [(json!(2), Some(json!(2))), (json!(null), None), (json!(false), None)]
        {
            assert_eq!(added(json!({"tools": [], "nextCursor": cursor})).1, Ok(next));
        }
        let hostile = json!({"tools": [{"name": format!("\u{1b}[2J{}", "x".repeat(9000))}]});
        let (list, _) = added(hostile);
        assert!(!list.left_out[0].contains('\u{1b}') && list.left_out[0].len() < 600);
    }
}

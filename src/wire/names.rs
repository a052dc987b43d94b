//! Function names as the endpoints accept them: `[A-Za-z0-9_-]`, 1 to 64. Tools may have other
//! names, so names are mapped on the way out and back on the way in.

use std::collections::{BTreeSet, HashMap};

use crate::domain::{Chance, Request, ToolName};
use crate::ids::calls;

const LONGEST: usize = 64;

/// The names of one request, both ways. A tool has the same name on the wire in every request, so
/// that an endpoint's prompt cache stays valid, unless another tool's own name conflicts.
#[derive(Debug, Default)]
pub struct FunctionNames {
    out: HashMap<ToolName, String>,
    back: HashMap<String, ToolName>,
}

impl FunctionNames {
    /// The names of all tools in a request, both in its menu and in its past.
    pub fn of(request: &Request) -> Self {
        let menu = request.tools.iter().map(|tool| &tool.name);
        let past = calls(request).map(|call| &call.tool);
        let tools: BTreeSet<&ToolName> = menu.chain(past).collect();
        let mut names = Self::default();
        // Valid names are used as they are, so they are taken first.
        let (fit, unfit): (Vec<_>, Vec<_>) =
            tools.into_iter().partition(|tool| fits(tool.as_str()));
        for tool in fit {
            names.add(tool, tool.as_str().to_owned());
        }
        for tool in unfit {
            let free = |salt: &u64| !names.back.contains_key(&made(tool.as_str(), *salt));
            let salt = (0..).find(free).unwrap_or_default();
            names.add(tool, made(tool.as_str(), salt));
        }
        names
    }

    fn add(&mut self, tool: &ToolName, wire: String) {
        self.out.insert(tool.clone(), wire.clone());
        self.back.insert(wire, tool.clone());
    }

    /// The name to send.
    pub fn out<'a>(&'a self, tool: &'a ToolName) -> &'a str {
        self.out.get(tool).map_or_else(|| tool.as_str(), String::as_str)
    }

    /// Whether a tool was sent with this name.
    pub fn has(&self, wire: &str) -> bool {
        self.back.contains_key(wire)
    }

    /// The tool for a name from the endpoint. A name that was never sent stays as it is.
    pub fn back(&self, wire: &str) -> ToolName {
        self.back.get(wire).cloned().unwrap_or_else(|| wire.into())
    }
}

fn fits(name: &str) -> bool {
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(allowed)
}

fn allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// A readable name, plus a hash that distinguishes names that read the same.
fn made(name: &str, salt: u64) -> String {
    let hash = Chance::new(salt).with(name.as_bytes()).bits() as u32;
    let keep = |c: char| u8::try_from(c).is_ok_and(allowed);
    let readable = name.chars().map(|c| if keep(c) { c } else { '_' });
    let readable: String = readable.take(LONGEST - "_12345678".len()).collect();
    format!("{readable}_{hash:08x}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::domain::chat::{Role, ToolDef};

    fn request(names: &[String]) -> Request {
        let tool = |name: &String| ToolDef {
            name: name.as_str().into(),
            description: String::new(),
            parameters: json!({}).into(),
        };
        Request { tools: names.iter().map(tool).collect(), ..Request::new(Role::Actor, Vec::new()) }
    }

    proptest! {
        #[test]
        fn names_fit_and_come_back(mut names in prop::collection::vec("[a.é_]{0,3}|.{60,70}", 0..30)) {
            // Names that look like generated ones must not collide with them.
            let looks: Vec<String> = names.iter().map(|name| made(name, 0)).collect();
            names.extend(looks);
            let map = FunctionNames::of(&request(&names));
            for name in &names {
                let tool = ToolName::from(name.as_str());
                let wire = map.out(&tool);
                prop_assert!(fits(wire), "{wire}");
                prop_assert_eq!(map.back(wire), tool);
            }
        }
    }

    #[test]
    fn names_that_fit_stay_and_others_are_stable() {
        let names = ["search-web_2".to_owned(), "files.read".to_owned()];
        let map = FunctionNames::of(&request(&names));
        assert_eq!(map.out(&"search-web_2".into()), "search-web_2");
        let wire = map.out(&"files.read".into()).to_owned();
        assert!(wire.starts_with("files_read_"), "{wire}");
        assert_eq!(FunctionNames::of(&request(&names[1..])).out(&"files.read".into()), wire);
        assert_eq!(map.back("never_sent"), "never_sent".into());
    }
}

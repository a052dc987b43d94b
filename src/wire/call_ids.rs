//! Ids of calls as they are sent. An endpoint gets its own ids back unchanged, but may refuse those of others: Mistral
//! wants nine letters and digits, others at most 64 characters, and most want each id once.

use std::collections::{HashSet, VecDeque};

use crate::domain::{Chance, ToolCall};
use crate::ids::{LENGTH, fits};

/// The letters of generated ids.
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The ids of one conversation, message by message. The id of a call depends on nothing after it, so that an endpoint
/// finds the conversation in its cache.
#[derive(Debug, Default)]
pub struct CallIds {
    sent: HashSet<String>,
    /// The calls of the last message that have no result so far: their ids, and those that were sent.
    open: VecDeque<(String, String)>,
}

impl CallIds {
    /// The id to send with the next call of a message. `is_own`: the endpoint chose the call's id.
    pub fn call(&mut self, call: &ToolCall, is_own: bool) -> String {
        let id = &call.id;
        let is_free = |id: &str| !id.is_empty() && !self.sent.contains(id);
        let stays = (is_own || fits(id)) && is_free(id);
        let sent = if stays { Some(id.clone()) } else { None };
        let sent = sent.or_else(|| (0..).map(|salt| made(id, salt)).find(|made| is_free(made)));
        let sent = sent.unwrap_or_default();
        self.sent.insert(sent.clone());
        self.open.push_back((id.clone(), sent.clone()));
        sent
    }

    /// Begins a message: the results of earlier ones have all come.
    pub fn begin(&mut self) {
        self.open.clear();
    }

    /// The id to send with the next result of the call with this id.
    pub fn result(&mut self, id: &str) -> String {
        let at = self.open.iter().position(|(own, _)| own == id);
        let found = at.and_then(|at| self.open.remove(at)).map(|(_, sent)| sent);
        found.unwrap_or_else(|| if fits(id) { id.to_owned() } else { made(id, 0) })
    }
}

/// Generates an id that fits everywhere, always the same one for an id.
fn made(id: &str, salt: u64) -> String {
    let mut bits = Chance::new(salt).with(b"call id").with(id.as_bytes()).bits();
    let letters = (0..LENGTH).map(|_| {
        let letter = LETTERS[(bits % 62) as usize];
        bits /= 62;
        char::from(letter)
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.into(), tool: "t".into(), arguments: json!({}) }
    }

    proptest! {
        #[test]
        fn ids_are_unique_fit_and_stay_with_their_results(
            messages in prop::collection::vec(
                (any::<bool>(), prop::collection::vec("(c1|c2|call00001|.{0,3}|.{70})", 0..4)), 0..6),
        ) {
            let (mut ids, mut all) = (CallIds::default(), HashSet::new());
            for (is_own, calls) in &messages {
                ids.begin();
                let sent: Vec<String> = calls.iter().map(|id| ids.call(&call(id), *is_own)).collect();
                for (own, sent) in calls.iter().zip(&sent) {
                    prop_assert!(all.insert(sent.clone()), "{sent} twice");
                    prop_assert!(fits(sent) || *is_own && own == sent, "{sent}");
                }
                let results: Vec<String> = calls.iter().map(|id| ids.result(id)).collect();
                prop_assert_eq!(results, sent);
            }
        }
    }

    #[test]
    fn an_id_that_another_endpoint_gave_is_always_mapped_to_the_same_one() {
        let sent = |is_own| CallIds::default().call(&call("call_abc"), is_own);
        assert_eq!(sent(true), "call_abc");
        assert_eq!(sent(false), sent(false));
        assert!(fits(&sent(false)), "{}", sent(false));
    }
}

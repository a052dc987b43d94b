//! Lines at the end of an agent about requests that nobody here read, and about faults that hit nothing.

use crate::domain::api_requests::ToldRequests;
use crate::domain::words::counted;
use crate::domain::{State, api_requests};

/// Observations of an agent until its end.
#[derive(Debug, Default)]
pub struct Seen {
    /// Whether one of its requests was understood.
    pub has_asked: bool,
    /// Facts beside its requests.
    pub facts: Vec<String>,
    pub advice: Vec<String>,
    /// Connections that surely went past the listener.
    pub past: Vec<String>,
}

impl Seen {
    pub fn lines(&mut self, state: &State) -> Vec<String> {
        let Self { has_asked, mut facts, advice, past } =
            Self { has_asked: self.has_asked, ..std::mem::take(self) };
        let watched = state.watched.as_deref();
        let ToldRequests { of_apis, of_services, others } =
            watched.map(|it| api_requests::told(&it.unread)).unwrap_or_default();
        let idle = state
            .faults
            .values()
            .filter_map(|fault| Some(format!("the fault {} {}", fault.spec, fault.idle(state)?)));
        if has_asked {
            let passed = of_apis.into_iter().chain(of_services);
            return passed.chain(past).chain(idle).collect();
        }
        let odd = watched.map_or(0, |it| it.not_understood);
        let odd = (odd > 0).then(|| format!("{} not understood", counted(odd, "request")));
        facts.splice(0..0, of_apis.into_iter().chain(of_services).chain(others).chain(odd));
        let facts =
            if facts.is_empty() { String::new() } else { format!(": {}", facts.join("; ")) };
        let first =
            format!("the agent ended without a model request that toolyard understands{facts}");
        [first].into_iter().chain(idle).chain(advice).collect()
    }
}

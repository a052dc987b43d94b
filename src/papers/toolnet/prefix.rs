//! The cost of tool definitions where an endpoint caches prompt prefixes. The paper does not cover this; there a
//! request defines only the tools of its menu.

/// Tokens of the shortest prefix that endpoints cache (as OpenAI and Anthropic document it).
const LEAST: f64 = 1024.0;

/// The prefixes of an agent's requests, in tokens.
#[derive(Clone, Copy, Debug)]
pub struct Prefix {
    /// The definitions of all tools, which are the same in every task.
    pub all: f64,
    /// The definitions of one task's tools, which differ from those of the task before.
    pub some: f64,
    /// The shared text of all tasks after the definitions.
    pub system: f64,
    /// Requests of a task, from 1.
    pub steps: f64,
    /// The price of a cached token as a fraction of a new token's, from 0 to 1.
    pub cached: f64,
}

impl Prefix {
    /// Whether a task costs less with all definitions, which every request finds in the cache. A task's own definitions
    /// are new to its first request, and to all requests if they are too short to be cached.
    pub fn all_cost_less(self) -> bool {
        let some = self.some + self.system;
        let later = if some < LEAST { 1.0 } else { self.cached };
        let all = self.all + self.system;
        let kept = if all < LEAST { 1.0 } else { self.cached };
        kept * self.steps * all < some * (1.0 + later * (self.steps - 1.0).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_tools_are_cheaper_together_and_many_are_not() {
        let prefix = Prefix { all: 1500.0, some: 500.0, system: 200.0, steps: 3.0, cached: 0.1 };
        // 0.3 * 1700 < 3 * 700
        assert!(prefix.all_cost_less());
        // 0.3 * 7200 > 3 * 700
        assert!(!Prefix { all: 7000.0, ..prefix }.all_cost_less());
        // Without a cache it never costs less.
        assert!(!Prefix { cached: 1.0, ..prefix }.all_cost_less());
        // Too short to be cached: 3 * 1000 > 3 * 700
        assert!(!Prefix { all: 800.0, ..prefix }.all_cost_less());
        // A task's own definitions that are cached: 0.3 * 5200 < 1500 * 1.2, and 0.3 * 6200 is more.
        let long = Prefix { some: 1300.0, ..prefix };
        assert!(Prefix { all: 5000.0, ..long }.all_cost_less());
        assert!(!Prefix { all: 6000.0, ..long }.all_cost_less());
    }
}

//! The cost of tool definitions where an endpoint caches prompt prefixes. The paper does not cover this; there a
//! request defines only the tools of its menu.

/// Tokens of the shortest prefix that endpoints cache (as OpenAI and Anthropic document it).
const LEAST: f64 = 1024.0;

/// The prefixes of an agent's requests, in tokens.
#[derive(Clone, Copy, Debug)]
pub struct Prefix {
    /// The definitions with which earlier requests began.
    pub kept: f64,
    /// The definitions that a task needs besides those.
    pub missing: f64,
    /// The definitions that a task needs.
    pub some: f64,
    /// The shared text of all tasks after the definitions.
    pub system: f64,
    /// Requests of a task, from 1.
    pub steps: f64,
    /// The price of a cached token as a fraction of a new token's, from 0 to 1.
    pub cached: f64,
}

impl Prefix {
    /// Whether a task costs at most as much if its requests begin with the kept definitions, to which it adds what it needs,
    /// as with its own alone. What was sent before is in the cache, if it is long enough.
    pub fn keeping_costs_less(self) -> bool {
        let price = |prefix: f64| if prefix < LEAST { 1.0 } else { self.cached };
        let later = (self.steps - 1.0).max(0.0);
        let own = self.some + self.system;
        let all = self.kept + self.missing + self.system;
        let first = match self.missing > 0.0 {
            // Behind the first new definition nothing is in the cache.
            true => price(self.kept) * self.kept + self.missing + self.system,
            false => price(all) * all,
        };
        first + price(all) * all * later <= own * (1.0 + price(own) * later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_kept_as_long_as_they_cost_less_than_a_new_beginning() {
        let (some, system, steps, cached) = (500.0, 200.0, 3.0, 0.1);
        let prefix = Prefix { kept: 1500.0, missing: 0.0, some, system, steps, cached };
        // 0.1 * 1700 * 3 < 700 * 3
        assert!(prefix.keeping_costs_less());
        // 0.1 * 7200 * 3 > 700 * 3
        assert!(!Prefix { kept: 7000.0, ..prefix }.keeping_costs_less());
        // Without a cache it never costs less.
        assert!(!Prefix { cached: 1.0, ..prefix }.keeping_costs_less());
        // Too short to be cached: 800 * 3 > 700 * 3
        assert!(!Prefix { kept: 600.0, ..prefix }.keeping_costs_less());
        // Nothing to keep: the same.
        assert!(Prefix { kept: 0.0, missing: 500.0, ..prefix }.keeping_costs_less());
        // New definitions: 150 + 100 + 200 + 0.1 * 1800 * 2 < 700 * 3
        assert!(Prefix { missing: 100.0, ..prefix }.keeping_costs_less());
        // Its own would be cached: 0.1 * 5900 * 3 < 1500 * 1.2, and 0.1 * 6100 * 3 is more.
        let long = Prefix { some: 1300.0, ..prefix };
        assert!(Prefix { kept: 5700.0, ..long }.keeping_costs_less());
        assert!(!Prefix { kept: 5900.0, ..long }.keeping_costs_less());
    }
}

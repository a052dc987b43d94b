//! The source of all randomness of a session: hashes of the seed and the decision, never a shared
//! stream. So the same decision always gets the same draw, whatever runs at the same time, and runs
//! repeat.

use serde::{Serialize, Serializer};
use serde_json::Value;

/// A draw, and a key from which further draws are derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(mix(seed ^ 0x9e37_79b9_7f4a_7c15))
    }

    /// The draw for this decision below the one so far.
    #[must_use]
    pub fn with(self, key: &[u8]) -> Self {
        // FNV-1a over the key, then a finaliser: short keys must spread over all 64 bits.
        let mut hash = self.0 ^ 0xcbf2_9ce4_8422_2325;
        for byte in key {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Self(mix(hash ^ key.len() as u64))
    }

    /// 64 bits.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// A number from 0 (included) to 1 (excluded).
    pub fn unit(self) -> f64 {
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An index below the length of these weights, drawn in proportion to them; the last one if
    /// they sum to 0. `None` for an empty list.
    pub fn pick(self, weights: &[f64]) -> Option<usize> {
        let total: f64 = weights.iter().sum();
        let mut left = self.unit() * total;
        for (i, weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return Some(i);
            }
        }
        weights.len().checked_sub(1)
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A short name for some bytes; it changes if they do.
pub fn fingerprint(bytes: &[u8]) -> String {
    format!("{:016x}", Chance::new(0).with(bytes).bits())
}

/// Arguments as one text in which the order of keys does not matter.
pub fn canonical(value: &Value) -> String {
    struct Sorted<'a>(&'a Value);

    impl Serialize for Sorted<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self.0 {
                Value::Object(map) => {
                    let mut entries: Vec<_> = map.iter().collect();
                    entries.sort_unstable_by_key(|(key, _)| key.as_str());
                    serializer.collect_map(entries.into_iter().map(|(key, it)| (key, Sorted(it))))
                }
                Value::Array(items) => serializer.collect_seq(items.iter().map(Sorted)),
                plain => plain.serialize(serializer),
            }
        }
    }
    // A value can always be written.
    serde_json::to_string(&Sorted(value)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_order_decide() {
        let root = Chance::new(1);
        assert_eq!(root.with(b"a"), Chance::new(1).with(b"a"));
        assert_ne!(root.with(b"a"), root.with(b"b"));
        assert_ne!(root.with(b"a").with(b"b"), root.with(b"b").with(b"a"));
        assert_ne!(root.with(b"ab"), root.with(b"a").with(b"b"));
    }

    /// A session with the same seed draws the same in every version, so that its journal runs again.
    #[test]
    fn the_draws_of_a_seed_stay_the_same() {
        let draws = [
            Chance::new(0),
            Chance::new(7),
            Chance::new(7).with(b""),
            Chance::new(7).with(b"tool"),
            Chance::new(7).with(b"tool").with(b"time"),
            Chance::new(7).with(b"weather"),
        ];
        let bits = [
            // The first number of SplitMix64 for the seed 0.
            16_294_208_416_658_607_535,
            17_824_971_123_127_853_533,
            17_058_382_885_188_021_783,
            8_158_441_536_059_382_965,
            8_379_533_905_475_834_000,
            9_960_097_614_598_787_635,
        ];
        assert_eq!(draws.map(Chance::bits), bits);
    }

    #[test]
    fn a_fingerprint_is_that_of_all_bytes() {
        let names = ["", "a", "b", "ab"].map(|bytes| fingerprint(bytes.as_bytes()));
        assert_eq!(names[1], fingerprint(b"a"));
        assert!(names.iter().all(|name| name.len() == 16), "{names:?}");
        let different: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), 4, "{names:?}");
    }

    #[test]
    fn picks_in_proportion() {
        let root = Chance::new(3);
        let mut counts = [0; 3];
        for n in 0u32..30_000 {
            counts[root.with(&n.to_le_bytes()).pick(&[1.0, 0.0, 2.0]).unwrap()] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((9_500..10_500).contains(&counts[0]), "{counts:?}");
        assert_eq!(root.pick(&[]), None);
    }

    #[test]
    fn canonical_ignores_key_order() {
        let a: Value = serde_json::from_str(r#"{"b":[{"y":1,"x":2}],"a":1}"#).unwrap();
        let b: Value = serde_json::from_str(r#"{"a":1,"b":[{"x":2,"y":1}]}"#).unwrap();
        assert_eq!(canonical(&a), canonical(&b));
    }
}

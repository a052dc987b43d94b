//! References within a document: JSON pointers to any part of it. They are followed step by step, since a document may
//! refer in a circle.

use std::cell::Cell;

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Most references on the way to one part, with those in the pointers of others.
const HOPS: usize = 64;

/// A document whose parts refer to each other.
#[derive(Clone, Copy)]
pub(super) struct Root<'d> {
    pub value: &'d Value,
    /// The name of its file, which references may begin with.
    pub file: &'d str,
}

impl<'d> Root<'d> {
    /// The part itself, or the one that its references lead to.
    ///
    /// # Errors
    /// A reference leads to nothing in this document, to another document, or in a circle.
    pub fn follow(&self, part: &'d Value) -> Result<&'d Value, String> {
        self.follow_within(part, &Cell::new(HOPS))
    }

    /// The part that a reference names; it may be a reference itself.
    ///
    /// # Errors
    /// The reference leads to nothing in this document, or to another document.
    pub fn at(&self, reference: &str) -> Result<&'d Value, String> {
        self.at_within(reference, &Cell::new(HOPS))
    }

    /// Follows references. All references on the way count, and `hops` may still be followed.
    fn follow_within(&self, mut part: &'d Value, hops: &Cell<usize>) -> Result<&'d Value, String> {
        while let Some(reference) = reference_of(part) {
            let Some(left) = hops.get().checked_sub(1) else {
                return Err(format!("its references lead in a circle at {reference:?}"));
            };
            hops.set(left);
            part = self.at_within(reference, hops)?;
        }
        Ok(part)
    }

    fn at_within(&self, reference: &str, hops: &Cell<usize>) -> Result<&'d Value, String> {
        let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let is_own = file.is_empty() || file.strip_prefix("./").unwrap_or(file) == self.file;
        if !is_own {
            return Err(format!("{reference:?} leads to another file, which is not read"));
        }
        let nothing = || format!("{reference:?} leads to nothing in this file");
        let pointer = percent_decode_str(pointer).decode_utf8_lossy();
        let mut names = pointer.split('/');
        if names.next() != Some("") {
            return Err(nothing());
        }
        let mut part = self.value;
        for name in names {
            let name = name.replace("~1", "/").replace("~0", "~");
            let child = match child(part, &name) {
                Some(child) => Some(child),
                // A name may be behind another reference.
                None if reference_of(part).is_some() => {
                    child(self.follow_within(part, hops)?, &name)
                }
                None => None,
            };
            part = child.ok_or_else(nothing)?;
        }
        Ok(part)
    }
}

fn child<'d>(part: &'d Value, name: &str) -> Option<&'d Value> {
    match part {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => part.get(name),
    }
}

/// The reference in place of a part.
pub(super) fn reference_of(part: &Value) -> Option<&str> {
    part.get("$ref")?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn any_local_pointer_is_followed() {
        let document = json!({
            "paths": { "/a": { "get": { "parameters": [{ "name": "x" }] } } },
            "x": { "a~b c": { "$ref": "#/y" }, "own": { "$ref": "./f.yaml#/y/z" } },
            "y": { "z": 1 },
            "one": { "$ref": "#/two" },
            "two": { "$ref": "#/one" },
        });
        let root = Root { value: &document, file: "f.yaml" };
        let at = |reference: &str| root.at(reference).cloned();
        assert_eq!(at("#/paths/~1a/get/parameters/0"), Ok(json!({ "name": "x" })));
        assert_eq!(at("#/x/a~0b%20c/z"), Ok(json!(1)));
        assert_eq!(root.follow(&document["x"]["own"]), Ok(&json!(1)));
        for (reference, why) in [
            ("#/paths/~1b", "leads to nothing in this file"),
            ("other.yaml#/a", "leads to another file, which is not read"),
            ("#/one/deep", "lead in a circle at"),
        ] {
            let error = at(reference).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        assert!(root.follow(&document["one"]).unwrap_err().contains("lead in a circle at \"#/"));
    }
}

//! The workers of a plan: the classes of tools, the null filter, and the time limit of a call.

use std::time::Duration;

use indexmap::IndexMap;

use crate::domain::{NullFilter, ToolClass, ToolClasses, WorkerSettings, words};
use crate::files::toml_file::{TomlField, TomlFields};

/// Characters of the name of a class or a domain: they appear before each tool in the planner's
/// prompt.
const NAME: usize = 64;
/// Characters of a pattern, which is compared with the beginning of results.
const PATTERN: usize = 200;
const LONGEST: Duration = Duration::from_secs(3600);

pub(super) fn workers(fields: &mut TomlFields<'_>, workers: &mut WorkerSettings) {
    fields.put("timeout", &mut workers.timeout_ms, |field| {
        u64::try_from(field.duration(Duration::from_millis(1), LONGEST)?.as_millis()).ok()
    });
    fields.put("classes", &mut workers.classes, classes);
    fields.section("null", |fields| null(fields, &workers.classes, &mut workers.null));
}

/// The configured classes replace the default ones.
fn classes(field: &TomlField<'_>) -> Option<ToolClasses> {
    let mut classes = ToolClasses(IndexMap::new());
    for (name, field) in field.table()?.all() {
        if let Some((other, _)) = classes.find(name) {
            field.refuse(format!("duplicate of class {other:?}; names are case-insensitive"));
        } else if is_name(name, &field) {
            // A class with a faulty description is still known to other settings.
            classes.0.insert(name.to_owned(), class(&field).unwrap_or_default());
        }
    }
    if classes.0.is_empty() {
        field.refuse(
            "expected at least one class, such as \"Information Retrieval\" = \"looks up\"",
        );
        return None;
    }
    Some(classes)
}

/// A description, or a table with a description and domains.
fn class(field: &TomlField<'_>) -> Option<ToolClass> {
    if field.is_text() {
        return Some(ToolClass { description: described(field)?, domains: IndexMap::new() });
    }
    let mut fields = field.table()?;
    let description = fields.need("description", "description = \"what tools of this class do\"");
    let written = fields.get("domains").and_then(|field| field.table());
    let mut domains = IndexMap::new();
    for (name, field) in written.iter().flat_map(TomlFields::all) {
        if is_name(name, &field)
            && let Some(text) = described(&field)
        {
            domains.insert(name.to_owned(), text);
        }
    }
    fields.finish();
    Some(ToolClass { description: described(&description?)?, domains })
}

fn described(field: &TomlField<'_>) -> Option<String> {
    let text = field.text()?.trim();
    if text.is_empty() {
        field.refuse("expected a description: a model sorts tools by it");
        return None;
    }
    Some(text.to_owned())
}

/// Whether the name can be written as `[name]` before a tool's description.
fn is_name(name: &str, field: &TomlField<'_>) -> bool {
    let plain = !name.contains(|c: char| c.is_control() || matches!(c, '[' | ']'));
    let good = plain && name.trim() == name && !name.is_empty() && name.chars().count() <= NAME;
    if !good {
        field.refuse(format!(
            "a name of a class or domain has 1 to {NAME} characters, no brackets and no spaces around it"
        ));
    }
    good
}

/// `all` replaces the default patterns; those of tools and classes count in addition.
fn null(fields: &mut TomlFields<'_>, known: &ToolClasses, null: &mut NullFilter) {
    fields.put("all", &mut null.all, patterns);
    for (name, field) in fields.get("tools").iter().flat_map(named) {
        null.tools.extend(patterns(&field).map(|list| (name.to_owned(), list)));
    }
    for (name, field) in fields.get("classes").iter().flat_map(named) {
        if is_known(name, known) {
            null.classes.extend(patterns(&field).map(|list| (name.to_owned(), list)));
        } else {
            let expected = words::expected(name, class_names(known));
            field.refuse(format!("no such class in [workers.classes]; {expected}"));
        }
    }
}

fn named<'f>(field: &TomlField<'f>) -> Vec<(&'f str, TomlField<'f>)> {
    field.table().map(|fields| fields.all()).unwrap_or_default()
}

fn is_known(name: &str, classes: &ToolClasses) -> bool {
    let domain = |class: &ToolClass| class.find_domain(name).is_some();
    classes.find(name).is_some() || classes.0.values().any(domain)
}

/// The names of all classes and of all domains.
fn class_names(classes: &ToolClasses) -> impl Iterator<Item = &str> + Clone {
    let names = classes.0.keys().chain(classes.0.values().flat_map(|class| class.domains.keys()));
    names.map(String::as_str)
}

fn patterns(field: &TomlField<'_>) -> Option<Vec<String>> {
    let each = field.list()?.into_iter().map(|field| {
        let text = field.text()?;
        if text.trim().is_empty() || text.chars().count() > PATTERN {
            field.refuse(format!(
                "expected 1 to {PATTERN} characters; empty results are always null"
            ));
            return None;
        }
        Some(text.to_owned())
    });
    each.collect()
}

//! The fields that expressions can use.

use super::Page;
use crate::domain::expression::{FIELDS, Scope};

pub fn write(page: &mut Page<'_>) {
    let (text, dim) = (page.theme.text, page.theme.dim);
    page.text(
        "Expressions are Common Expression Language: == != < > && || ! + - * / %, in, ?:, \
         text.contains(\"x\"), text.matches(\"^a\"), size(text), has(args.x), list.exists(x, x > 1). \
         Numbers with decimals go with numbers with decimals: 2.0 * left.",
        dim,
    );
    for (scope, title) in [
        (Scope::Session, "At every moment: watches, values and conditions"),
        (Scope::Call, "At a call: conditions, logs and filters of calls"),
    ] {
        page.blank();
        page.heading(title);
        for field in FIELDS.iter().filter(|field| field.scope == scope) {
            let name = format!("{:<11} {:<20} {}", field.name, field.kind.name(), field.doc);
            page.text(&name, text);
        }
    }
}

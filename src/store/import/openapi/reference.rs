//! References between components of a document. They are followed step by step, since a document may refer in a circle.

use oas3::Map as Named;
use oas3::spec::ObjectOrReference;
use percent_encoding::percent_decode_str;

/// Most references on the way to one component.
const HOPS: usize = 8;

/// The name in a reference to a component of this kind, such as `schemas`; `None` if it leads elsewhere.
pub(super) fn name(path: &str, kind: &str) -> Option<String> {
    let name = path.strip_prefix("#/components/")?.strip_prefix(kind)?.strip_prefix('/')?;
    let name = percent_decode_str(name).decode_utf8_lossy();
    Some(name.replace("~1", "/").replace("~0", "~"))
}

/// The component, wherever references lead.
///
/// # Errors
/// A reference leads to no component of this document, or in a circle.
pub(super) fn followed<'d, T>(
    mut component: &'d ObjectOrReference<T>,
    named: &'d Named<String, ObjectOrReference<T>>,
    kind: &str,
) -> Result<&'d T, String> {
    for _ in 0..HOPS {
        match component {
            ObjectOrReference::Object(object) => return Ok(object),
            ObjectOrReference::Ref { ref_path, .. } => {
                let target = name(ref_path, kind).and_then(|name| named.get(&name));
                component = target.ok_or_else(|| {
                    format!("{ref_path:?} leads to nothing in `components.{kind}` of this file")
                })?;
            }
        }
    }
    Err(format!("its references in `components.{kind}` lead in a circle"))
}

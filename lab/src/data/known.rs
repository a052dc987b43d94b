//! Published data sets: names, licences and templates.

use crate::papers::cotools::QueryTemplate;

/// A published set.
pub struct PublishedSet {
    pub name: &'static str,
    pub licence: &'static str,
    pub template: QueryTemplate,
}

/// Sets by the `dataset_name` of their records, in lower case.
const SETS: [(&str, PublishedSet); 4] = [
    ("simplequestionsv2", set("STQuestions", "CC BY 3.0", QueryTemplate::Knowledge)),
    ("funcqa", set("FuncQA", "Apache-2.0", QueryTemplate::Short)),
    ("gsm8k_xl", set("GSM8K-XL", "MIT", QueryTemplate::StepByStep)),
    ("kamel", set("KAMEL", "CC BY-NC 4.0", QueryTemplate::Knowledge)),
];

pub const API_BANK: PublishedSet = set("API-Bank", "Apache-2.0", QueryTemplate::Knowledge);

const fn set(name: &'static str, licence: &'static str, template: QueryTemplate) -> PublishedSet {
    PublishedSet { name, licence, template }
}

/// The set whose records have this `dataset_name`.
pub fn known(name: &str) -> Option<&'static PublishedSet> {
    let name = name.to_lowercase();
    SETS.iter().find(|(own, _)| name.starts_with(own)).map(|(_, known)| known)
}

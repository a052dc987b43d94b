//! Results as JUnit XML, which CI servers read: a suite for each scenario, with the cases that are also printed.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::verdict::{CaseEnd, ScenarioVerdict};
use crate::ui::text::clean;

/// The results of a run as one document.
///
/// # Errors
/// None: it writes to memory.
pub fn junit(verdicts: &[ScenarioVerdict]) -> io::Result<String> {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let all: Counts = verdicts.iter().map(Counts::of).sum();
    let suites = xml.create_element("testsuites").with_attribute(("name", "toolyard"));
    suites
        .with_attributes(all.attributes().iter().map(pair))
        .write_inner_content(|xml| verdicts.iter().try_for_each(|verdict| suite(xml, verdict)))?;
    let text = String::from_utf8(xml.into_inner()).map_err(io::Error::other)?;
    Ok(text + "\n")
}

/// The numbers of a suite, or of all suites.
#[derive(Clone, Copy, Default)]
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    seconds: f64,
}

impl Counts {
    fn of(verdict: &ScenarioVerdict) -> Self {
        Self {
            tests: verdict.cases().count(),
            failures: verdict.count(CaseEnd::Failed),
            errors: verdict.count(CaseEnd::EndedEarly),
            skipped: verdict.count(CaseEnd::Skipped),
            seconds: verdict.seconds,
        }
    }

    fn attributes(self) -> [(&'static str, String); 5] {
        [
            ("tests", self.tests.to_string()),
            ("failures", self.failures.to_string()),
            ("errors", self.errors.to_string()),
            ("skipped", self.skipped.to_string()),
            ("time", seconds(self.seconds)),
        ]
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            tests: sum.tests + one.tests,
            failures: sum.failures + one.failures,
            errors: sum.errors + one.errors,
            skipped: sum.skipped + one.skipped,
            seconds: sum.seconds + one.seconds,
        })
    }
}

type Xml = Writer<Vec<u8>>;

fn suite(xml: &mut Xml, verdict: &ScenarioVerdict) -> io::Result<()> {
    let name = allowed(&verdict.name);
    let attributes = Counts::of(verdict).attributes();
    let suite = xml.create_element("testsuite").with_attribute(("name", name.as_str()));
    let suite = suite.with_attributes(attributes.iter().map(pair));
    suite.with_attribute(("file", allowed(&verdict.file).as_str())).write_inner_content(|xml| {
        verdict.cases().try_for_each(|case| write_case(xml, &name, case))
    })?;
    Ok(())
}

fn write_case(
    xml: &mut Xml,
    suite: &str,
    (end, expected, found): (CaseEnd, &str, &str),
) -> io::Result<()> {
    let (expected, found) = (allowed(expected), allowed(found));
    let case = xml.create_element("testcase").with_attribute(("name", expected.as_str()));
    let case = case.with_attributes([("classname", suite), ("time", "0.000")]);
    let (element, kind) = match end {
        CaseEnd::Met => return case.write_empty().map(drop),
        CaseEnd::Skipped => ("skipped", None),
        CaseEnd::EndedEarly => ("error", Some("ended early")),
        CaseEnd::Failed => ("failure", Some("expectation")),
    };
    case.write_inner_content(|xml| {
        let inner = xml.create_element(element).with_attribute(("message", found.as_str()));
        let inner = inner.with_attributes(kind.map(|kind| ("type", kind)));
        if end != CaseEnd::Failed {
            return inner.write_empty().map(drop);
        }
        let text = format!("expected: {expected}\nfound: {found}");
        inner.write_text_content(BytesText::new(&text)).map(drop)
    })?;
    Ok(())
}

fn pair<'p>((name, value): &'p (&'static str, String)) -> (&'p str, &'p str) {
    (name, value.as_str())
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.3}")
}

/// A text on one line, with only characters that XML allows: control characters cannot even be escaped there.
fn allowed(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(clean).collect();
    lines.join(" ").replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use quick_xml::Reader;

    use super::*;
    use crate::scenario::Checked;

    /// The elements of a document, each with its attributes. Anything that is not well formed is an error.
    fn elements(xml: &str) -> Vec<(String, Vec<(String, String)>)> {
        let mut reader = Reader::from_str(xml);
        let mut found = Vec::new();
        loop {
            match reader.read_event().unwrap() {
                Event::Start(element) | Event::Empty(element) => {
                    let attribute = |it: quick_xml::events::attributes::Attribute<'_>| {
                        let value = quick_xml::escape::unescape(&it.value).unwrap().into_owned();
                        (it.key.as_ref().to_owned(), value)
                    };
                    let attributes = element.attributes().map(|it| attribute(it.unwrap()));
                    found.push((element.name().as_ref().to_owned(), attributes.collect()));
                }
                Event::Eof => return found,
                _ => {}
            }
        }
    }

    fn value<'a>(element: &'a (String, Vec<(String, String)>), name: &str) -> &'a str {
        &element.1.iter().find(|(known, _)| known == name).unwrap().1
    }

    #[test]
    fn hostile_text_stays_text() {
        let evil = "\u{1b}[2J</failure>]]><x a=\"&\u{0}'\">\u{ffff}\u{202e}\n\t\u{9b}ä";
        let one = |held| Checked { expected: evil.into(), held, found: evil.into() };
        let file = (evil.to_owned(), "s.toml".to_owned());
        let verdict =
            ScenarioVerdict::new(file, Some(evil.into()), vec![one(true), one(false)], 1.5);
        let xml = junit(&[verdict]).unwrap();
        assert!(!xml.contains(|c: char| c.is_control() && c != '\n'), "{xml:?}");
        assert!(!xml.contains(['\u{ffff}', '\u{202e}']), "{xml:?}");
        let elements = elements(&xml);
        let names: Vec<&str> = elements.iter().map(|(name, _)| name.as_str()).collect();
        let cases = ["testcase", "testcase", "failure", "testcase", "error"];
        assert_eq!(names, [&["testsuites", "testsuite"][..], &cases].concat());
        assert!(value(&elements[4], "message").contains("</failure>]]><x a=\"&"), "{xml}");
        assert_eq!(value(&elements[6], "type"), "ended early");
    }

    #[test]
    fn suites_are_counted() {
        let one = |held| Checked { expected: "e".into(), held, found: "f".into() };
        let name = |name: &str| (name.to_owned(), format!("{name}.toml"));
        let passed = ScenarioVerdict::new(name("a"), None, vec![one(true)], 0.25);
        let failed = ScenarioVerdict::new(name("b"), None, vec![one(false), one(true)], 1.0);
        let early = ScenarioVerdict::new(name("c"), Some("why".into()), Vec::new(), 0.0);
        let idle = Checked { found: "no call".into(), ..one(false) };
        let early = ScenarioVerdict { idle: vec![idle], ..early };
        assert!(passed.passed && !failed.passed && !early.passed);
        let xml = junit(&[passed, failed, early]).unwrap();
        let elements = elements(&xml);
        let counts = |at: usize| {
            ["tests", "failures", "errors", "skipped", "time"]
                .map(|name| value(&elements[at], name).to_owned())
        };
        assert_eq!(counts(0), ["5", "1", "1", "1", "1.250"]);
        assert_eq!(elements.iter().filter(|(name, _)| name == "testcase").count(), 5);
        assert!(xml.contains("<skipped message=\"no call\"/>"), "{xml}");
        assert_eq!(counts(1), ["1", "0", "0", "0", "0.250"]);
        assert_eq!(junit(&[]).unwrap().lines().count(), 3);
    }
}

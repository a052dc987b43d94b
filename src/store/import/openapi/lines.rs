//! The line of a field in JSON or YAML. The readers of whole documents forget lines, so the text is read again for the
//! one field that a message is about, by the same walk as for the way in which a number is written.

use granit_parser::{Event, Parser};

/// The position of a reader of events in an object or a list.
pub(super) enum Level {
    Object { key: Option<String> },
    List { at: usize },
}

/// The line, from 1, of the field of these names; if it is missing, of the nearest field around it. `None` for the
/// document as a whole, and for text that cannot be read.
pub(super) fn line_of(text: &str, field: &[String]) -> Option<usize> {
    // The best place so far: how many names lead to it, and its line.
    let mut best: (usize, Option<usize>) = (0, None);
    walk(text, |levels, _, line| {
        note(levels, field, line, &mut best);
        best.0 != field.len() || field.is_empty()
    });
    best.1
}

/// Visits all keys and values of a text in their order, with the levels that lead to each, the text of a scalar that is
/// a value, and the line. Ends if a visit returns false, or at text that cannot be read.
pub(super) fn walk(text: &str, mut visit: impl FnMut(&[Level], Option<&str>, usize) -> bool) {
    let mut levels: Vec<Level> = Vec::new();
    for next in Parser::new_from_str(text.trim_start_matches('\u{feff}')) {
        let Ok((event, span)) = next else { break };
        let line = span.start.line();
        let mut goes_on = true;
        match event {
            Event::Scalar(text, ..) => match levels.last_mut() {
                Some(Level::Object { key: key @ None }) => {
                    *key = Some(text.into_owned());
                    goes_on = visit(&levels, None, line);
                }
                _ => {
                    goes_on = visit(&levels, Some(&text), line);
                    passed(&mut levels);
                }
            },
            Event::Alias(..) => passed(&mut levels),
            Event::MappingStart(..) => {
                goes_on = visit(&levels, None, line);
                levels.push(Level::Object { key: None });
            }
            Event::SequenceStart(..) => {
                goes_on = visit(&levels, None, line);
                levels.push(Level::List { at: 0 });
            }
            Event::MappingEnd | Event::SequenceEnd => {
                levels.pop();
                passed(&mut levels);
            }
            _ => {}
        }
        if !goes_on {
            break;
        }
    }
}

/// Moves on to the next value, since this one has ended.
fn passed(levels: &mut [Level]) {
    match levels.last_mut() {
        Some(Level::Object { key }) => *key = None,
        Some(Level::List { at }) => *at += 1,
        None => {}
    }
}

fn note(levels: &[Level], field: &[String], line: usize, best: &mut (usize, Option<usize>)) {
    let is_there = |(level, name): (&Level, &String)| match level {
        Level::Object { key } => key.as_ref() == Some(name),
        Level::List { at } => at.to_string() == *name,
    };
    if levels.len() > best.0
        && levels.len() <= field.len()
        && levels.iter().zip(field).all(is_there)
    {
        *best = (levels.len(), Some(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, field: &str) -> Option<usize> {
        line_of(text, &field.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_field_has_its_line_in_yaml_and_json() {
        let yaml = "openapi: 3.0.0\npaths:\n  /a:\n    get:\n      parameters:\n      - name: x\n      - in: body\n  /b: {}\n";
        assert_eq!(line(yaml, "paths"), Some(2));
        assert_eq!(line(yaml, "paths /a get parameters 1 in"), Some(7));
        assert_eq!(line(yaml, "paths /b get"), Some(8));
        assert_eq!(line(yaml, "info"), None);
        let json =
            "{\n \"openapi\": \"3.0.0\",\n \"paths\": { \"/a\": {\n  \"get\": [1,\n 2] } } }";
        assert_eq!(line(json, "paths /a get 1"), Some(5));
        assert_eq!(line("{", "paths"), None);
    }
}

//! The labels of the format in the variants that models write: bold, numbered, as headings, in a
//! list, in any case, several on one line.

/// The beginning of a line of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Thought,
    Action,
    Input,
    Observation,
    Answer,
}

/// The names of the labels. Longer names come first, so that `Action Input` is not taken for `Action`.
const NAMES: [(&str, Label); 9] = [
    ("action input", Label::Input),
    ("action_input", Label::Input),
    ("actioninput", Label::Input),
    ("final answer", Label::Answer),
    ("final_answer", Label::Answer),
    ("observation", Label::Observation),
    ("thought", Label::Thought),
    ("action", Label::Action),
    ("answer", Label::Answer),
];

/// A part of an answer under its label; without one, the text before the first label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section<'a> {
    pub label: Option<Label>,
    pub text: &'a str,
}

/// Splits an answer at its labels. An [`Label::Answer`] continues over thoughts and actions, which
/// may be the answer's own words, up to an invented observation.
pub(super) fn sections(text: &str) -> Vec<Section<'_>> {
    let sections = cut(text, at_line_starts(text));
    let acts = |section: &Section<'_>| matches!(section.label, Some(Label::Action | Label::Answer));
    if sections.iter().any(acts) { sections } else { cut(text, inside_lines(text)) }
}

/// The start of a label, the start of its text, and the label.
type LabelMark = (usize, usize, Label);

fn cut(text: &str, marks: Vec<LabelMark>) -> Vec<Section<'_>> {
    let first = marks.first().map_or(text.len(), |mark| mark.0);
    let mut sections = vec![Section { label: None, text: text[..first].trim() }];
    let mut answered = false;
    let mut kept: Vec<LabelMark> = Vec::new();
    for mark in marks {
        if !answered || mark.2 == Label::Observation {
            kept.push(mark);
        }
        answered |= mark.2 == Label::Answer;
    }
    for (at, &(_, start, label)) in kept.iter().enumerate() {
        let end = kept.get(at + 1).map_or(text.len(), |next| next.0);
        sections.push(Section { label: Some(label), text: text[start..end].trim() });
    }
    sections
}

fn at_line_starts(text: &str) -> Vec<LabelMark> {
    let mut marks = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some((length, label)) = label(line) {
            marks.push((start, start + length, label));
            if label == Label::Action {
                marks.extend(inside(&line[length..], start + length));
            }
        }
        start += line.len();
    }
    marks
}

/// Labels in running text: only with a capital and after a space; otherwise ordinary prose would contain some.
fn inside_lines(text: &str) -> Vec<LabelMark> {
    let mut marks: Vec<LabelMark> = at_line_starts(text);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        marks.extend(inside(line, start));
        start += line.len();
    }
    marks.sort_by_key(|mark| mark.0);
    without_overlaps(marks)
}

fn inside(line: &str, start: usize) -> Vec<LabelMark> {
    let capitals = line.char_indices().filter(|(_, c)| matches!(c, 'A' | 'F' | 'O' | 'T'));
    let after_space = capitals.filter(|&(at, _)| line[..at].ends_with([' ', '\t', '*']));
    let found = after_space.filter_map(|(at, _)| {
        let (length, label) = label(&line[at..])?;
        // A bare "Answer:" in prose is too ambiguous.
        (label != Label::Answer || line[at..].starts_with('F')).then_some((
            start + at,
            start + at + length,
            label,
        ))
    });
    without_overlaps(found.collect())
}

/// Drops a mark that begins inside the previous one: "Final Answer:" contains "Answer:", and
/// "*Action:" is found with its star and without. Marks must be in order.
fn without_overlaps(mut marks: Vec<LabelMark>) -> Vec<LabelMark> {
    marks.dedup_by(|next, mark| next.0 < mark.1);
    marks
}

/// The label at the beginning of a line, and the length of it and its decoration in bytes.
fn label(line: &str) -> Option<(usize, Label)> {
    let decoration: &[char] = &[' ', '\t', '*', '_', '#', '>', '`', '-'];
    let bare = line.trim_start_matches(decoration);
    let (name, label) = NAMES.iter().find(|(name, _)| {
        bare.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
    })?;
    let rest = bare[name.len()..].trim_start_matches([' ', '*', '_', '`']);
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.trim_start_matches([' ', '*', '_', '`']);
    let rest = rest.strip_prefix([':', '：'])?;
    let rest = rest.strip_prefix("**").or_else(|| rest.strip_prefix("__")).unwrap_or(rest);
    Some((line.len() - rest.len(), *label))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Vec<(Option<Label>, &str)> {
        sections(text).iter().map(|section| (section.label, section.text)).collect()
    }

    #[test]
    fn finds_labels_in_every_dress() {
        let dressed = [
            "Action: x",
            "**Action:** x",
            "**Action**: x",
            "### Action: x",
            "action 2: x",
            "- Action : x",
            "> Action:x",
            "__Action__: x",
            "ACTION： x",
        ];
        for text in dressed {
            assert_eq!(labels(text), [(None, ""), (Some(Label::Action), "x")], "{text}");
        }
        for text in ["Actions speak: louder", "The action: none", "Actionable: x", "Thoughtful"] {
            assert_eq!(labels(text), [(None, text)], "{text}");
        }
    }

    #[test]
    fn finds_labels_on_one_line() {
        let text = "Thought: I look. Action: search Action Input: {} Observation: none";
        let expected = [
            (None, ""),
            (Some(Label::Thought), "I look."),
            (Some(Label::Action), "search"),
            (Some(Label::Input), "{}"),
            (Some(Label::Observation), "none"),
        ];
        assert_eq!(labels(text), expected);
    }

    #[test]
    fn a_decorated_label_is_found_once() {
        for text in ["*Observation: none", "- Observation: none", "see\n* **Observation:** none"] {
            let found = labels(text);
            assert_eq!(found[1..], [(Some(Label::Observation), "none")], "{text}");
        }
    }

    #[test]
    fn an_answer_runs_to_the_end_but_not_into_an_observation() {
        let text = "Final Answer: steps:\nAction: mix\nThought: stir\nObservation: made up";
        assert_eq!(
            labels(text)[1..],
            [
                (Some(Label::Answer), "steps:\nAction: mix\nThought: stir"),
                (Some(Label::Observation), "made up")
            ]
        );
    }
}

//! Files of environment variables, lines of `NAME=value`, as editors and shells read them.

use crate::files::toml_file::Problem;

/// The variables of a file, in order, and its invalid lines.
pub(super) fn read(file: &str, text: &str) -> (Vec<(String, String)>, Vec<Problem>) {
    let (mut variables, mut problems) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match variable(line) {
            Some(variable) => variables.push(variable),
            // The line may be a secret, so it is not repeated.
            None => problems.push(Problem::of_line(file, number, "", "expected NAME=value")),
        }
    }
    (variables, problems)
}

fn variable(line: &str) -> Option<(String, String)> {
    let (name, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
    let name = name.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    Some((name.to_owned(), unquoted(value.trim())?))
}

/// The value without quotes, or without the comment after it; `None` if a quote does not end.
fn unquoted(value: &str) -> Option<String> {
    if let Some(rest) = value.strip_prefix('\'') {
        return Some(rest.split_once('\'')?.0.to_owned());
    }
    let Some(rest) = value.strip_prefix('"') else {
        let end = value.find(" #").unwrap_or(value.len());
        return Some(value[..end].trim_end().to_owned());
    };
    let mut text = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            '"' => return Some(text),
            '\\' => text.push(match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other => other,
            }),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_with_quotes_and_without() {
        let text = "\u{feff}# keys\nA=1\nexport B = two words # why\n\nC=\"a\\n\\\"b\\\" #c\"\nD='$x \\n'\nE=\nF=a#b\n";
        let (variables, problems) = read("f", text);
        let variables: Vec<_> = variables.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(
            variables,
            [
                ("A", "1"),
                ("B", "two words"),
                ("C", "a\n\"b\" #c"),
                ("D", "$x \\n"),
                ("E", ""),
                ("F", "a#b")
            ]
        );
        assert_eq!(problems, []);
    }

    #[test]
    fn a_line_that_is_no_variable_is_named_without_its_text() {
        let (variables, problems) = read(".env", "A=1\nhunter22\nB=\"x\n=y\nC=2\n");
        assert_eq!(variables.len(), 2);
        let problems: Vec<_> = problems.iter().map(Problem::to_string).collect();
        assert_eq!(problems, [2, 3, 4].map(|line| format!(".env:{line}: expected NAME=value")));
    }
}

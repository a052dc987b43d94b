//! Files of variables as dotenv reads them.

use std::collections::BTreeMap;

/// A `.env` file that was read.
#[derive(Debug, Default)]
pub struct Dotenv {
    pub variables: BTreeMap<String, String>,
    /// The numbers of the lines that assign nothing, each with the variable that it names in the form `NAME: value`.
    pub unread: Vec<(usize, Option<String>)>,
    /// The variables whose values are too long.
    pub long: Vec<String>,
}

/// The longest value in bytes. Each may repeat the ones before it.
const LONGEST: usize = 64 << 10;

/// The variables of a `.env` file; if a variable is assigned several times, the last value counts. `${NAME}` in a value
/// that is not in single quotes is the value of an earlier line, else that of `environment`.
pub fn read(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Dotenv {
    let Dotenv { mut variables, mut unread, mut long } = Dotenv::default();
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while !rest.is_empty() {
        let (line, after) = line(rest);
        let assigned = line.split_once('=').filter(|(name, _)| is_name(name));
        let Some((name, _)) = assigned else {
            if !line.starts_with('#') {
                let number = 1 + text[..text.len() - rest.len()].matches('\n').count();
                let named = line
                    .split_once(':')
                    .filter(|(name, value)| is_name(name) && value.starts_with([' ', '\t']));
                let named = named.map(|(name, _)| name);
                unread.push((number, named.map(|name| bare(name).to_owned())));
            }
            rest = after.trim_start();
            continue;
        };
        let value = rest[name.len() + 1..].trim_start_matches([' ', '\t']);
        let (value, quote, after) = quoted(value).unwrap_or_else(|| plain(value));
        let known = |name: &str| environment(name).or_else(|| variables.get(name).cloned());
        let value = if quote == Some('\'') { Some(value) } else { expanded(&value, &known) };
        let name = bare(name).to_owned();
        match value.filter(|value| value.len() <= LONGEST) {
            Some(value) => drop(variables.insert(name, value)),
            None => long.push(name),
        }
        rest = after.trim_start();
    }
    Dotenv { variables, unread, long }
}

/// The name in the text before an assignment.
fn bare(text: &str) -> &str {
    text.strip_prefix("export ").unwrap_or(text).trim()
}

fn is_name(text: &str) -> bool {
    let good = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    !bare(text).is_empty() && bare(text).chars().all(good)
}

/// The first line, and the rest.
fn line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

/// A value in quotes, which may have several lines, and the text after its line; `None` if it is not in quotes.
fn quoted(text: &str) -> Option<(String, Option<char>, &str)> {
    let quote = text.chars().next().filter(|first| matches!(first, '\'' | '"' | '`'))?;
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next()?.1 {
                'n' if quote == '"' => value.push('\n'),
                'r' if quote == '"' => value.push('\r'),
                't' if quote == '"' => value.push('\t'),
                escaped if escaped == quote || escaped == '\\' => value.push(escaped),
                other => value.extend(['\\', other]),
            },
            c if c == quote => return Some((value, Some(quote), line(&text[at..]).1)),
            c => value.push(c),
        }
    }
    None
}

/// A value without quotes: to the end of the line, or to a comment.
fn plain(text: &str) -> (String, Option<char>, &str) {
    let (value, after) = line(text);
    let is_comment = |at: &usize| value[..*at].is_empty() || value[..*at].ends_with([' ', '\t']);
    let end = value.match_indices('#').map(|(at, _)| at).find(is_comment);
    (value[..end.unwrap_or(value.len())].trim().to_owned(), None, after)
}

/// The value with its variables replaced; `${NAME:-OTHER}` is another text if the variable is not set. `None` if it is too
/// long.
fn expanded(value: &str, known: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut parts = value.split("${");
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}') {
            Some((inside, after)) => {
                let (name, other) = inside.split_once(":-").unwrap_or((inside, ""));
                all += &known(name).unwrap_or_else(|| other.to_owned());
                all += after;
            }
            None => all.extend(["${", part]),
        }
        if all.len() > LONGEST {
            return None;
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_those_that_dotenv_reads() {
        let text = "\u{feff}# a comment = 1\n\nPLAIN=http://a/v1\n  SPACED = b c  # why\nexport OUT=d\nHASH=a#b\n\
                    SINGLE='x # ${PLAIN} \\n'\nDOUBLE=\"a\\n\\\"b\\\"\" # why\nEMPTY=\nNONE=# why\nno assignment\n\
                    MANY=\"first\nSECOND=2\"\nPLAIN=http://b/v1\r\nFROM=${PLAIN}/x${HOME}${NO:-y}${\nOPEN=\"a\nLAST='é'";
        let home = |name: &str| (name == "HOME").then(|| "/h".to_owned());
        let Dotenv { variables: found, unread, .. } = read(text, &home);
        assert_eq!(unread, [(11, None)]);
        let expected = [
            ("DOUBLE", "a\n\"b\""),
            ("EMPTY", ""),
            ("FROM", "http://b/v1/x/hy${"),
            ("HASH", "a#b"),
            ("LAST", "é"),
            ("MANY", "first\nSECOND=2"),
            ("NONE", ""),
            ("OPEN", "\"a"),
            ("OUT", "d"),
            ("PLAIN", "http://b/v1"),
            ("SINGLE", "x # ${PLAIN} \\n"),
            ("SPACED", "b c"),
        ];
        let found: Vec<_> = found.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_that_assign_nothing_are_numbered() {
        let text = "\u{feff}\n# why: not\nA=1\nOPENAI_BASE_URL: http://h/v1?key=k\nexport B: x\n\nsk-a-secret\nM=\"a\nb\"\na b=c\n=d\nhttp://h/?a=b";
        let found = read(text, &|_| None);
        let names = [("A", "1"), ("M", "a\nb")];
        let expected = names.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(found.variables, BTreeMap::from(expected));
        let unread: Vec<_> = found.unread.iter().map(|(n, name)| (*n, name.as_deref())).collect();
        let yaml = [(4, Some("OPENAI_BASE_URL")), (5, Some("B")), (7, None)];
        assert_eq!(unread, [&yaml[..], &[(10, None), (11, None), (12, None)]].concat());
    }

    #[test]
    fn a_value_that_doubles_is_not_read() {
        let text = "A=0123456789\nB=x\n".to_owned() + &"A=${A}${A}\n".repeat(40) + "C=${B}\n";
        let found = read(&text, &|_| None);
        assert!(found.variables["A"].len() <= LONGEST && found.variables["C"] == "x");
        assert_eq!(found.long.len(), 28);
    }

    proptest! {
        #[test]
        fn no_text_stops_the_reader(text in "[a=#'\"`\\\\${}:\\- \t\r\né\u{feff}]{0,60}") {
            read(&text, &|_| None);
        }
    }
}

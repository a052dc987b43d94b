//! Common values for arguments. No ids.

use serde_json::Value;

use super::document::Document;
use super::words;
use crate::papers::atc::literal::literal;

/// Well-known subjects, by the subject of a function.
const SUBJECTS: [(&[&str], [&str; 3]); 8] = [
    (&["person", "people", "actor"], ["Steven Spielberg", "Clint Eastwood", "Akira Kurosawa"]),
    (&["collection"], ["Star Wars Collection", "Harry Potter Collection", "The Hobbit Collection"]),
    (&["movie", "film", "multi"], ["Titanic", "The Matrix", "Star Wars"]),
    (&["tv", "show", "series"], ["Breaking Bad", "Game of Thrones", "Friends"]),
    (&["company", "studio"], ["Universal Pictures", "Walt Disney Pictures", "Lucasfilm"]),
    (&["keyword", "word"], ["space", "love", "war"]),
    (&["country"], ["France", "Japan", "Brazil"]),
    (&["city", "weather", "hotel"], ["Paris", "London", "Tokyo"]),
];

/// The values of one reply.
pub struct Values {
    /// The number of earlier replies.
    nth: usize,
}

impl Values {
    pub fn new(nth: usize) -> Self {
        Self { nth }
    }

    /// The value of an argument as an expression; `None` for an id, and for an unknown value.
    pub fn of(&self, function: &Document, name: &str) -> Option<String> {
        let number = |numbers: [i64; 3]| Some(numbers[self.nth % 3].to_string());
        match name {
            _ if Self::is_name(name) => {
                Some(literal(&Value::from(self.subject_of(function, name))))
            }
            "year" => number([1994, 2001, 2010]),
            "page" | "season_number" | "episode_number" | "month" | "day" => number([1, 1, 2]),
            "date" => Some("\"2020-05-17\"".to_owned()),
            "language" => Some("\"en\"".to_owned()),
            "region" => Some("\"US\"".to_owned()),
            "media_type" => Some("\"movie\"".to_owned()),
            "time_window" => Some("\"day\"".to_owned()),
            _ => None,
        }
    }

    /// Whether an argument is the name of something.
    pub fn is_name(argument: &str) -> bool {
        ["query", "q", "name", "title", "text", "keyword", "word", "city", "country"]
            .contains(&argument)
    }

    /// The number of earlier replies.
    pub fn nth(&self) -> usize {
        self.nth
    }

    /// Returns the subject of the question.
    pub fn subject(&self, function: &Document) -> String {
        self.subject_of(function, "").to_owned()
    }

    fn subject_of(&self, function: &Document, name: &str) -> &'static str {
        let is_about = |topics: &[&str]| {
            words(&function.name).chain([name]).any(|word| topics.contains(&word))
        };
        let subjects = SUBJECTS.iter().find(|(topics, _)| is_about(topics));
        subjects.map_or("Paris", |(_, names)| names[self.nth % names.len()])
    }
}

//! Texts at which an answer ends. They may begin in one piece of a stream and end in another one.

/// Holds back text that may be the beginning of a text at which the answer ends.
pub struct Stops<'a> {
    texts: &'a [String],
    held: String,
}

impl<'a> Stops<'a> {
    pub fn new(texts: &'a [String]) -> Self {
        Self { texts, held: String::new() }
    }

    /// The text that belongs to the answer for sure, and whether the answer ends behind it.
    pub fn push(&mut self, more: &str) -> (String, bool) {
        self.held.push_str(more);
        let texts = || self.texts.iter().filter(|text| !text.is_empty());
        if let Some(end) = texts().filter_map(|text| self.held.find(text.as_str())).min() {
            self.held.truncate(end);
            return (std::mem::take(&mut self.held), true);
        }
        let mut places = self.held.char_indices().map(|(at, _)| at);
        let is_begin = |at: &usize| texts().any(|text| text.starts_with(&self.held[*at..]));
        let kept = places.find(is_begin).unwrap_or(self.held.len());
        let rest = self.held.split_off(kept);
        (std::mem::replace(&mut self.held, rest), false)
    }

    /// What was held back at the end of the answer.
    pub fn finish(self) -> String {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer, its pieces, and whether it was ended.
    fn stream(texts: &[&str], pieces: &[&str]) -> (Vec<String>, bool) {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let mut stops = Stops::new(&texts);
        let mut said = Vec::new();
        for piece in pieces {
            let (text, is_end) = stops.push(piece);
            said.push(text);
            if is_end {
                return (said, true);
            }
        }
        said.push(stops.finish());
        (said, false)
    }

    fn answer(texts: &[&str], pieces: &[&str]) -> (String, bool) {
        let (said, is_end) = stream(texts, pieces);
        (said.concat(), is_end)
    }

    #[test]
    fn an_answer_ends_before_the_first_of_its_texts() {
        let stop = ["\nObservation:", "END"];
        assert_eq!(answer(&stop, &["a\nObs", "erva", "tion: 4"]), ("a".into(), true));
        assert_eq!(answer(&stop, &["a\nObs", "EN", "D b\nObservation:"]), ("a\nObs".into(), true));
        assert_eq!(answer(&stop, &["a END b\nObservation:"]), ("a ".into(), true));
        assert_eq!(answer(&stop, &["a\nObservation", " is"]), ("a\nObservation is".into(), false));
        assert_eq!(answer(&stop, &["EEN", "D"]), ("E".into(), true));
        assert_eq!(answer(&["aab"], &["aa", "aab"]), ("aa".into(), true));
        assert_eq!(answer(&["éé"], &["xé", "y", "é"]), ("xéyé".into(), false));
        assert_eq!(answer(&[""], &["x"]), ("x".into(), false));
    }

    #[test]
    fn what_cannot_begin_such_a_text_is_said_at_once() {
        let (said, _) = stream(&["END"], &["a", "bE", "x", "EN"]);
        assert_eq!(said, ["a", "b", "Ex", "", "EN"]);
    }
}

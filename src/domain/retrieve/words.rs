//! Names of tools, split into words.

/// The text with compound names split, so that `GetUserToken`, `get_user_token` and `user.getToken`
/// share words with "get the user's token".
pub fn taken_apart(text: &str) -> String {
    let mut apart = String::with_capacity(text.len() + text.len() / 8);
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied().unwrap_or(' ');
        let joint = c == '_' || c == '.' && before.is_alphabetic() && next.is_alphabetic();
        let hump = c.is_uppercase()
            && (before.is_lowercase() || before.is_uppercase() && next.is_lowercase());
        if hump {
            apart.push(' ');
        }
        apart.push(if joint { ' ' } else { c });
        before = c;
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::taken_apart;

    #[test]
    fn compound_names_come_apart_and_text_does_not() {
        for (whole, apart) in [
            ("GetUserToken", "Get User Token"),
            ("get_user_token", "get user token"),
            ("repos.listIssues", "repos list Issues"),
            ("parseHTTPHeader", "parse HTTP Header"),
            ("Pi is 3.14. A fact.", "Pi is 3.14. A fact."),
            ("", ""),
        ] {
            assert_eq!(taken_apart(whole), apart);
        }
    }
}

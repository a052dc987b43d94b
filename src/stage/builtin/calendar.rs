//! Days between dates, and dates at a distance in days.

use jiff::{ToSpan, civil::Date};
use serde_json::Value;

use super::arguments;
use crate::tool::{ToolError, ToolErrorKind};

fn date(arguments: &Value, name: &str) -> Result<Date, ToolError> {
    let text = arguments::text(arguments, name)?;
    // The library also accepts times and zones, but would silently drop them.
    let date = Some(text).filter(|text| text.len() == 10).and_then(|text| text.parse().ok());
    date.ok_or_else(|| {
        let text = format!("arguments.{name}: expected a date such as 1921-05-03, got {text:?}");
        ToolError::new(ToolErrorKind::Arguments, text)
    })
}

/// The number of days `from` one date `to` another; negative if it is earlier.
pub fn days_between(arguments: &Value) -> Result<String, ToolError> {
    let (from, to) = (date(arguments, "from")?, date(arguments, "to")?);
    Ok((to - from).get_days().to_string())
}

/// The date this many `days` after a `date`, with its weekday.
pub fn shift(arguments: &Value) -> Result<String, ToolError> {
    let (start, days) = (date(arguments, "date")?, arguments::whole(arguments, "days")?);
    let end = start.checked_add(days.days()).map_err(|error| {
        ToolError::new(ToolErrorKind::Failed, format!("the date is out of range: {error}"))
    })?;
    Ok(end.strftime("%Y-%m-%d (%A)").to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn leap_years_count() {
        let days = |from: &str, to: &str| days_between(&json!({ "from": from, "to": to })).unwrap();
        assert_eq!(days("1783-09-17", "1921-05-03"), "50266");
        assert_eq!(days("2024-03-01", "2024-02-28"), "-2");
        let shifted = shift(&json!({ "date": "2024-02-28", "days": 2 })).unwrap();
        assert_eq!(shifted, "2024-03-01 (Friday)");
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for bad in ["2023-02-29", "3 May 1921", "2024-13-01", "-", "2024-01-01T10:00"] {
            let error = days_between(&json!({ "from": bad, "to": "2024-01-01" })).unwrap_err();
            assert_eq!(error.kind, ToolErrorKind::Arguments, "{bad}");
        }
        assert!(shift(&json!({ "date": "9999-12-31", "days": 1 })).is_err());
    }
}

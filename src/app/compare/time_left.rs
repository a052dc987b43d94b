//! How long a comparison will probably take.

use std::time::Duration;

/// The rest of the time, if all sessions take as long as those that ended: `, about 40 s left`.
pub fn left(elapsed: Duration, ended: usize, all: usize) -> String {
    let open = all.saturating_sub(ended);
    if open == 0 || ended == 0 {
        return String::new();
    }
    let seconds = elapsed.as_secs_f64() * open as f64 / ended as f64;
    match seconds {
        0.0..1.0 => ", less than 1 s left".to_owned(),
        1.0..90.0 => format!(", about {seconds:.0} s left"),
        90.0..5400.0 => format!(", about {:.0} min left", seconds / 60.0),
        _ => format!(", about {:.0} h left", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_what_was() {
        let after = |seconds, ended, all| left(Duration::from_secs(seconds), ended, all);
        assert_eq!(after(10, 1, 4), ", about 30 s left");
        assert_eq!(after(60, 1, 11), ", about 10 min left");
        assert_eq!(after(3600, 1, 4), ", about 3 h left");
        assert_eq!(left(Duration::from_millis(10), 1, 2), ", less than 1 s left");
        assert_eq!([after(10, 4, 4), after(10, 0, 4)], ["", ""]);
    }
}

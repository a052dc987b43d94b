//! The processor's time of this process.

use std::fs;

/// Ticks per second, in which Linux reports all times to programs.
const TICKS: f64 = 100.0;

/// Processor seconds so far, of all threads; `None` if the system does not report them as Linux does.
pub fn cpu_seconds() -> Option<f64> {
    seconds(&fs::read_to_string("/proc/self/stat").ok()?)
}

/// Parses the text of `/proc/self/stat`. The name of the program, in brackets, may have spaces.
fn seconds(stat: &str) -> Option<f64> {
    let (_, after) = stat.rsplit_once(')')?;
    let mut fields = after.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_time_count() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 1 0 0 0 150 25 3 4 20 0 1 0";
        assert_eq!(seconds(stat), Some(1.75));
        assert_eq!(seconds("7 S 1"), None);
    }
}

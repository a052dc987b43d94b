//! Options that do not apply to a paper's comparison.

use crate::program::Home;

#[test]
fn what_a_paper_does_not_compare_is_said_before_anything_runs() {
    let home = Home::new();
    for (arguments, says) in [
        (&["compare"][..], "<PRESET>"),
        (&["compare", "btp", "--budgets", "-1"], "budget takes"),
        (&["compare", "btp", "--seeds", "4..1"], "expected seeds such as"),
        (&["compare", "btp", "--vary", "blacklst=off"], "did you mean `blacklist`?"),
        (&["compare", "btp", "--journal", "j.jsonl"], "--out keeps the journals"),
        (&["compare", "btp", "--experience", "none.sqlite"], "no such file"),
        (&["compare", "toolnet", "--strategies", "react"], "has its own strategies"),
        (&["compare", "atc", "--vary", "tau=0.1"], "has its own strategies"),
        (&["compare", "everything"], "everything"),
    ] {
        let ran = home.run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.err.contains(says) && ran.out.is_empty(), "{arguments:?}: {ran:?}");
    }
}

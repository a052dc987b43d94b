//! The simulated agent says only what an agent could know: retrieval reads its words, so a tool's name or a result in them
//! would decide what it is offered.

use toolyard::store::journal;

use crate::honesty::assert_honest;
use crate::program::Home;

#[test]
fn no_tool_is_named_and_no_result_before_it_is_found() {
    for strategy in ["react+btp", "toolnet", "workers+btp"] {
        let home = Home::new();
        let run = ["run", "--journal", "j.jsonl", "--strategy", strategy, "--tasks-limit", "60"];
        home.run(&run);
        let loaded = journal::read(&home.path("j.jsonl")).unwrap();
        assert_honest(strategy, &loaded.records);
    }
}

//! Own tools of a task, as in data sets whose queries come with candidate tools (ToolBench).

use indexmap::IndexSet;

use crate::domain::{Lexical, Task, ToolName, ToolSpec};

/// Gives each task `count` tools, unless it has its own: first the usual tool of each step of its reference chain, then
/// the others of these steps, then tools that match its words, then any. So these tools can solve the task, and some of
/// them do not help.
pub(super) fn give<'t>(
    tasks: &mut [Task],
    tools: impl Iterator<Item = &'t ToolSpec> + Clone,
    count: usize,
) {
    let index = Lexical::new(tools.clone());
    for task in tasks.iter_mut().filter(|task| task.tools.is_empty()) {
        let steps = || task.chain.iter().map(|step| &step.tools);
        let usual = steps().filter_map(|tools| tools.first());
        let others = steps().flat_map(|tools| tools.iter().skip(1));
        let matching = index.search(&task.text).map(|(tool, _)| tool);
        let any = tools.clone().map(|tool| &tool.name);
        let all: IndexSet<&ToolName> = usual.chain(others).chain(matching).chain(any).collect();
        task.tools = all.into_iter().take(count).cloned().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::Sample;

    #[test]
    fn a_task_can_be_solved_with_its_tools() {
        let manifests = Sample::General.manifests().unwrap();
        let specs = manifests.iter().map(|manifest| &*manifest.spec);
        let mut tasks = Sample::General.tasks().unwrap();
        give(&mut tasks, specs, 5);
        for task in &tasks {
            assert_eq!(task.tools.len(), 5, "{}", task.name);
            let usual = task.chain.iter().filter_map(|step| step.tools.first());
            assert!(usual.into_iter().all(|tool| task.tools.contains(tool)), "{}", task.name);
        }
        tasks[0].tools = vec!["rot13".into()];
        let specs = manifests.iter().map(|manifest| &*manifest.spec);
        give(&mut tasks, specs, 3);
        assert_eq!(tasks[0].tools, [ToolName::from("rot13")], "its own stay");
    }
}

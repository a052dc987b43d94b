//! Mistakes in manifests and in the configuration: each is named with file, line and field, by a start and by the doctor.

use crate::program::Home;

#[test]
fn a_workspace_with_a_wrong_manifest_opens_without_it() {
    let home = Home::new();
    let good = "name = \"good\"\ndescription = \"d\"\neffect = \"read\"\n[source]\nurl = \"http://127.0.0.1:9/\"\n";
    home.write("w/tools/good.toml", good);
    home.write("w/tools/bad.toml", good.replace("good", "bad").replace("9/", "9/?a=1"));
    let problem = "w/tools/bad.toml:5: source.url: expected an address without `?` and `#`";
    let doctor = home.run(&["doctor", "--workspace", "w"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    assert!(doctor.out.contains(&format!("FAIL  workspace: {problem}")), "{doctor:?}");
    let called = home.run(&["tools", "call", "good", "--workspace", "w"]);
    assert!(
        called.err.contains(problem) && called.err.contains("this tool is left out"),
        "{called:?}"
    );
    assert!(called.err.contains("good failed: 127.0.0.1:9 cannot be reached"), "{called:?}");
    // With nothing that is right, there is no workspace.
    std::fs::remove_file(home.path("w/tools/good.toml")).unwrap();
    let called = home.run(&["tools", "call", "bad", "--workspace", "w"]);
    assert!(called.code == 2 && called.err.contains(problem), "{called:?}");
}

#[test]
fn what_is_probably_a_mistake_in_a_manifest_is_named_with_its_field() {
    let home = Home::new();
    home.write(
        "w/tools/a.toml",
        "name = \"a\"\ndescription = \"d\"\neffect = \"read\"\n\n[parameters]\nrequird = [\"city\"]\n\n\
         [parameters.properties.city]\ntype = \"string\"\nminLenght = 2\n\n[source]\ncommand = [\"sh\", \"none.sh\"]\n",
    );
    home.write("w/tools/b.toml", "name = \"b\"\ndescription = \"d\"\n[parameters.properties.c]\ntype = \"strng\"\n[source]\nurl = \"http://h/\"\n");
    let expected = [
        "w/tools/a.toml:6: parameters.requird: unknown word in a JSON Schema, so it checks nothing; did you mean `required`?",
        "w/tools/a.toml:10: parameters.properties.city.minLenght: unknown word in a JSON Schema",
        "w/tools/a.toml:13: source.command[1]: no such file: ",
        "w/tools/b.toml:4: parameters.properties.c.type: not a JSON Schema: \"strng\" is not a type; did you mean `string`?",
    ];
    let doctor = home.run(&["doctor", "--workspace", "w"]);
    let run = home.run(&["run", "--workspace", "w", "--task", "Hello?"]);
    for problem in expected {
        assert!(doctor.out.contains(problem), "{problem} is not in {doctor:?}");
        assert!(
            run.err.contains(problem) || run.out.contains(problem),
            "{problem} is not in {run:?}"
        );
    }
    assert_eq!(doctor.code, 1);
}

#[test]
fn a_folder_that_the_configuration_names_and_is_not_there_is_named_with_its_line() {
    let home = Home::new();
    home.write("c.toml", "[session]\nseed = 1\nworkspace = \"nowhere\"\n");
    home.write("d.toml", "[tools]\nfolders = [\n  \"none\",\n]\n");
    for (file, problem) in [
        ("c.toml", "c.toml:3: session.workspace: no such folder: "),
        ("d.toml", "d.toml:3: tools.folders[0]: no such folder: "),
    ] {
        let run = home.run(&["run", "--config", file, "--task", "Hello?"]);
        assert!(run.code == 2 && run.err.contains(problem), "{run:?}");
        let doctor = home.run(&["doctor", "--config", file]);
        assert!(doctor.code == 1 && doctor.out.contains(problem), "{doctor:?}");
    }
    // A folder that is given instead is enough.
    home.write(
        "w/tools/good.toml",
        "name = \"good\"\ndescription = \"d\"\n[source]\nurl = \"http://h/\"\n",
    );
    let doctor = home.run(&["doctor", "--config", "c.toml", "--workspace", "w"]);
    assert!(!doctor.out.contains("session.workspace"), "{doctor:?}");
}

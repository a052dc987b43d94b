use super::*;
use crate::known::without_known;

#[test]
fn keys_on_a_command_line_are_hidden() {
    words(
        &[
            "sh",
            "-c",
            "KEY=w0rd-1n-a-shell-0 python agent-number-0.py --api-key='w0rd-1n-a-shell-1'; other --token elsewhere",
            "--api-key",
            "w0rd-of-arguments-1",
            "--token=w0rd-of-arguments-2",
            "w0rd-of-arguments-3",
            "--client-secret",
            "correct-passphrase",
            "--max-tokens",
            "w0rd-of-arguments-4",
            "--password",
            "--verbose-mode",
            "DB_PASSWORD=w0rd-of-arguments-5",
            "-H",
            "Authorization: Bearer w0rd-of-arguments-6",
            "--base=http://me:w0rd-of-arguments-7@h/v1",
            "print(key=0s.environ)",
        ],
        names_a_key,
    );
    for hidden in [
        "w0rd-1n-a-shell-0",
        "w0rd-1n-a-shell-1",
        "w0rd-of-arguments-1",
        "w0rd-of-arguments-2",
        "correct-passphrase",
        "w0rd-of-arguments-5",
        "w0rd-of-arguments-6",
        "w0rd-of-arguments-7",
    ] {
        assert_eq!(without_known(hidden), "[key]", "{hidden}");
    }
    for shown in [
        "agent-number-0.py",
        "elsewhere",
        "w0rd-of-arguments-3",
        "w0rd-of-arguments-4",
        "--verbose-mode",
        "0s.environ)",
    ] {
        assert_eq!(without_known(shown), shown);
    }
}

#[test]
fn values_of_variables_are_hidden_if_their_names_say_so() {
    for (name, value, shown) in [
        ("OPENAI_API_KEY", "var1able-of-tests-1", "[key]"),
        ("GITHUB_TOKEN", "variable-of-tests", "[key]"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-1/agent.1", "/tmp/ssh-1/agent.1"),
        ("GIT_AUTHOR_NAME", "var1able-of-tests-2", "var1able-of-tests-2"),
        ("PWD", "/w0rk/of/tests", "/w0rk/of/tests"),
    ] {
        variable(name, value);
        assert_eq!(without_known(value), shown, "{name}");
    }
}

#[test]
fn arguments_behind_names_of_secrets_are_hidden() {
    let args = [
        "-y",
        "--api-key",
        "arg-s3cret-1",
        "--auth-token=arg-s3cret-2",
        "arg-s3cret-3",
        "-e",
        "API_KEY=arg-s3cret-4",
        "--header",
        "Authorization: Bearer arg-s3cret-5",
    ];
    words(&args, is_named_secret);
    let all = "arg-s3cret-1 arg-s3cret-2 arg-s3cret-3 arg-s3cret-4 arg-s3cret-5";
    assert_eq!(without_known(all), "[key] [key] arg-s3cret-3 [key] [key]");
}

fn expect(hidden: &[&str], shown: &[&str]) {
    for text in hidden {
        assert_eq!(without_known(text), "[key]", "{text}");
    }
    for text in shown {
        assert_eq!(without_known(text), *text);
    }
}

#[test]
fn logins_in_addresses_are_hidden_whatever_the_variable_is_called() {
    for (name, value) in [
        ("DATABASE_URL", "postgres://u:dsn-w0rd-01@h/db"),
        ("X", "a://u:dsn-w0rd-02@h1, b+c://u:dsn-w0rd-03@h2;amqp://:dsn-w0rd-04@h3/%2f"),
        ("X", "mongodb://u:dsn-w0rd-05@h1:27017,h2:27017/db"),
        ("X", "jdbc:postgresql://h/db?user=u&password=dsn-w0rd-06&ssl=true"),
        ("X", r#"{"url": "redis://:dsn-w0rd-07@h", "headers": {"X-Any": "json-w0rd-01"}}"#),
        ("X", "postgres://u:dsn#w0rd@08/x@h/db"),
        ("X", "http://u:dsn%2dw0rd%2d09@h"),
        ("X", "AccountName=storage0name;AccountKey=dsn/w0rd+10==;EndpointSuffix=core"),
        ("X", "://@ :// ://u:p@"),
        ("X", "https://h/projects/project-w0rd-2026/x, https://h/?email=me@example.org"),
    ] {
        variable(name, value);
    }
    let words = (1..=7).map(|n| format!("dsn-w0rd-{n:02}")).collect::<Vec<_>>();
    expect(&words.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    expect(
        &["json-w0rd-01", "dsn#w0rd@08/x", "dsn-w0rd-09", "dsn/w0rd+10=="],
        &["storage0name", "EndpointSuffix"],
    );
    expect(&[], &["project-w0rd-2026", "me@example.org", "postgres://u"]);
}

#[test]
fn short_options_have_keys_if_they_look_so() {
    words(
        &[
            "curl",
            "-k",
            "sh0rtOption1sOfTests7",
            "-kj0inedOption1sOfTest8",
            "-p",
            "my-profile-2026-of-t3sts",
            "-t",
            "/tmp/f1le0fT3stsAndMore99",
            "-H",
            "X-Api-Key: header-w0rd-1",
            "-HX-Auth-Token: header-w0rd-2",
            "-H",
            "Accept: text/w0rd-of-tests",
            "-u",
            "me:l0gin-of-tests",
            "--user",
            "postgres-w0rd:postgres-w0rd",
            "-u",
            "1000:/w0rk/of/tests",
            "sh",
            "psql postgres://me:l0gin-in-a-shell@h; curl -H 'X-Api-Key: header-w0rd-3' -H \"Authorization: Bearer header-w0rd-4\"",
            "see https://h/commit/0a1b2c3d4e5f60718293 why",
            "-p",
            "say why comm1t0fT3stsAndMore is wrong",
            "the token: please do not hide w0rd-of-a-prompt",
        ],
        names_a_key,
    );
    expect(
        &[
            "sh0rtOption1sOfTests7",
            "j0inedOption1sOfTest8",
            "header-w0rd-1",
            "header-w0rd-2",
            "l0gin-of-tests",
            "l0gin-in-a-shell",
            "header-w0rd-3",
            "header-w0rd-4",
        ],
        &[
            "my-profile-2026-of-t3sts",
            "/tmp/f1le0fT3stsAndMore99",
            "text/w0rd-of-tests",
            "postgres-w0rd",
            "/w0rk/of/tests",
            "0a1b2c3d4e5f60718293",
            "say why comm1t0fT3stsAndMore is wrong",
            "w0rd-of-a-prompt",
        ],
    );
}

#[test]
fn headers_of_gateways_have_keys_in_them() {
    for (name, value) in [
        ("x-portkey-config", r#"{"provider": "pr0vider-name", "api_key": "c0nfig-key-1"}"#),
        ("x-portkey-config", "pc-c0nfig-key-2"),
        ("x-gateway-config", "default-of-tests"),
        ("x-portkey-config", r#"{"retry": {"#),
        ("x-portkey-metadata", r#"{"_user": "us3r-of-tests"}"#),
        ("x-portkey-trace-id", "tr4ce-of-tests-header"),
        ("Helicone-Auth", "Bearer helic0ne-key-1"),
        ("helicone-target-url", "https://h/v1?key=helic0ne-key-2"),
    ] {
        header(name, value, true);
    }
    let shown = ["pr0vider-name", "default-of-tests", "us3r-of-tests", "tr4ce-of-tests-header"];
    let hidden = ["c0nfig-key-1", "pc-c0nfig-key-2", "helic0ne-key-1", "helic0ne-key-2"];
    expect(&hidden, &shown);
}

#[test]
fn fields_of_a_body_are_hidden_by_their_names_and_texts_are_not_searched() {
    let text = r#"{"model": "m0del-of-tests", "max_tokens": 12345678, "prompt_cache_key": "cache-w0rd-of-tests",
        "apiKey": "b0dy-key-1", "extra_body": {"a": [{"client_secret": "b0dy-key-2"}]},
        "metadata": {"access_token": "Bearer b0dy-key-3", "user_id": "us3r-of-body", "k": 1},
        "messages": [{"password": "t3xt-of-message"}],
        "authorization": {"type": "bearer-w0rd", "value": "b0dyKey4IsRandom77"},
        "bos_token": "<|begin_0f_text|>", "api_key": "a sentence w1th words",
        "tools": [
            {"type": "function", "function": {"parameters": {"properties": {"password": {"default": "sch3ma-default"}}}}},
            {"name": "x", "input_schema": {"api_key": "sch3ma-example"}},
            {"type": "mcp", "server_url": "https://h/mcp/s/b0dyKeyOfAPath5InTests/mcp", "authorization": "b0dy-key-6",
             "headers": {"X-Any": "b0dy-key-7", "Accept": "application/json-w"}}],
        "mcp_servers": [{"url": "https://h/?key=b0dy-key-8", "authorization_token": "b0dy-key-9"}]}"#;
    body(text.as_bytes(), &(0..0));
    let hidden = [1, 2, 3, 6, 7, 8, 9].map(|n| format!("b0dy-key-{n}"));
    expect(&hidden.each_ref().map(String::as_str), &[]);
    let shown = [
        "m0del-of-tests",
        "12345678",
        "cache-w0rd-of-tests",
        "us3r-of-body",
        "t3xt-of-message",
        "bearer-w0rd",
        "<|begin_0f_text|>",
        "a sentence w1th words",
        "sch3ma-default",
        "sch3ma-example",
        "application/json-w",
    ];
    expect(&["b0dyKey4IsRandom77", "b0dyKeyOfAPath5InTests"], &shown);
    // With a range that is not there, cut, and very deep.
    body(br#"{"api_key": "cut-0f-body-1", "x": [{}]}"#, &(5..99));
    body(br#"{"api_key": "x", "x": [{"#, &(0..0));
    body(format!("{{\"x\": {}", "[".repeat(1 << 20)).as_bytes(), &(0..0));
    let deep = format!("{{\"x\": {}1{}}}", "[".repeat(1 << 18), "]".repeat(1 << 18));
    body(deep.as_bytes(), &(0..0));
    body(b"no JSON", &(3..3));
    expect(&["cut-0f-body-1"], &[]);
}

#[test]
fn messages_of_a_long_body_are_not_read_again() {
    let messages = "{\"role\":\"user\",\"content\":\"x\"},".repeat(1 << 16);
    let start = "{\"messages\":[";
    let text = format!("{start}{messages}not even JSON],\"api_key\":\"behind-l0ng-messages\"}}");
    let end = text.rfind(']').unwrap();
    body(text.as_bytes(), &(start.len()..end));
    expect(&["behind-l0ng-messages"], &[]);
}

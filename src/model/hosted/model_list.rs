//! Lists of models: the ids of all models, and the owner and the window of one. Each server has its own fields.

use serde_json::Value;

use crate::About;

/// Fields with the window in tokens. That of the loaded model comes first, since a server may give less than the model
/// was trained for. llama.cpp has `meta.n_ctx`, vLLM `max_model_len`, LM Studio and routers the others.
const WINDOWS: [&str; 7] = [
    "/meta/n_ctx",
    "/loaded_context_length",
    "/max_model_len",
    "/context_length",
    "/context_window",
    "/max_context_length",
    "/inputTokenLimit",
];

/// Fields with the name of a model.
const NAMES: [&str; 3] = ["id", "model", "name"];

/// The entries of a list of models: that of OpenAI, Ollama's own, or a bare list.
fn entries(list: &Value) -> &[Value] {
    let lists = [&list["data"], &list["models"], list];
    lists.into_iter().find_map(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The ids of a list of models.
pub(super) fn ids(list: &Value) -> Vec<&str> {
    let id = |entry: &Value| NAMES.into_iter().find(|id| entry[*id].is_string());
    let ids = entries(list).iter().filter_map(|entry| match id(entry) {
        Some(id) => entry[id].as_str(),
        None => entry.as_str(),
    });
    ids.collect()
}

/// The facts about this model in the list. A list's only entry counts for every name, since a server with one model
/// answers with it, whatever name a request has.
pub(super) fn about(list: &Value, model: &str) -> About {
    let entries = entries(list);
    let named = entries.iter().find(|entry| NAMES.iter().any(|name| entry[*name] == model));
    let entry = match (named, entries) {
        (Some(entry), _) | (None, [entry]) => entry,
        _ => return About::default(),
    };
    let window = WINDOWS.iter().find_map(|field| entry.pointer(field)?.as_u64());
    About {
        owner: entry["owned_by"].as_str().map(str::to_owned),
        window: window.filter(|tokens| *tokens > 0),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(entry: Value) -> About {
        about(&json!({ "data": [entry, { "id": "other", "max_model_len": 7 }] }), "m")
    }

    #[test]
    fn each_server_says_its_window_in_its_own_field() {
        let trained = json!({ "id": "m", "owned_by": "llamacpp", "meta": { "n_ctx": 8192, "n_ctx_train": 32768 } });
        assert_eq!(of(trained), About { owner: Some("llamacpp".into()), window: Some(8192) });
        let window = |entry: Value| of(entry).window;
        assert_eq!(window(json!({ "id": "m", "max_model_len": 4096 })), Some(4096));
        let loaded =
            json!({ "id": "m", "max_context_length": 32768, "loaded_context_length": 4096 });
        assert_eq!(window(loaded), Some(4096));
        assert_eq!(window(json!({ "id": "m", "meta": { "n_ctx_train": 32768 } })), None);
        assert_eq!(window(json!({ "id": "m", "max_model_len": 0 })), None);
    }

    #[test]
    fn an_only_model_answers_to_every_name() {
        let one = json!({ "data": [{ "id": "file.gguf", "max_model_len": 5 }] });
        assert_eq!(about(&one, "m").window, Some(5));
        let two = json!({ "data": [{ "id": "a", "max_model_len": 5 }, { "id": "b" }] });
        assert_eq!(about(&two, "m"), About::default());
        assert_eq!(about(&json!("text"), "m"), About::default());
        let ollama = json!({ "models": [{ "name": "m", "context_length": 6 }, { "name": "b" }] });
        assert_eq!((about(&ollama, "m").window, ids(&ollama)), (Some(6), vec!["m", "b"]));
    }
}

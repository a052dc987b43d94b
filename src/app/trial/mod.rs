//! A trial of an endpoint: one small request with one tool takes the path of every model call, and the reply shows what
//! the endpoint does with tools.

mod behaviour;
mod server;
mod words;

use std::time::Duration;

use serde_json::json;

pub use self::behaviour::Behaviour;
pub use self::server::Server;
pub use self::words::{Words, of_window, words};
use crate::domain::{Message, ModelError, ModelErrorKind, Reply, Request, Role, ToolDef, ToolMode};
use crate::model::{Model as _, hosted::Hosted, http::Endpoint, text, understood};
use crate::store::prices;

/// The longest time of a trial. A server that first loads a model, or reads the request slowly, needs most of it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Most tokens of the answer: a call needs thirty, and thoughts before it some more.
const LONGEST: u32 = 256;

/// The tool of the trial.
const TOOL: &str = "weather_report";

/// The argument of a right call.
const CITY: &str = "Lisbon";

/// Whether requests to this endpoint are free: it is in a private network, and no provider charges for it.
pub fn is_free(endpoint: &Endpoint) -> bool {
    endpoint.provider.is_none() && prices::is_private(&endpoint.base_url)
}

/// Sends the request, once, and reads the reply.
pub async fn of(endpoint: &Endpoint) -> Behaviour {
    let mut endpoint = endpoint.clone();
    endpoint.max_retries = 0;
    endpoint.silence_timeout = endpoint.silence_timeout.min(PATIENCE);
    endpoint.call_timeout = endpoint.call_timeout.min(PATIENCE);
    let mode = endpoint.mode;
    let meant = request();
    let reply = match tokio::time::timeout(PATIENCE, ask(endpoint, &meant)).await {
        Ok(reply) => reply,
        Err(_) => {
            let text = format!("no answer within {} s", PATIENCE.as_secs());
            Err(ModelError::new(ModelErrorKind::Timeout, text))
        }
    };
    Behaviour::of(mode, &meant, reply)
}

/// The reply as in a session, except that text is parsed as a call only if the endpoint is configured so.
async fn ask(endpoint: Endpoint, meant: &Request) -> Result<Reply, ModelError> {
    let mode = endpoint.mode;
    let model = Hosted::new(endpoint)?;
    let reply = match mode {
        ToolMode::Native => model.ask(meant, &mut |_| {}).await?,
        ToolMode::Text => {
            let reply = model.ask(&text::to_text(meant), &mut |_| {}).await?;
            understood(mode, meant, reply)
        }
    };
    Ok(reply)
}

/// The request. Its tool has enough tokens to notice their absence from the endpoint's count.
fn request() -> Request {
    let unit = "The unit of temperatures: celsius, fahrenheit or kelvin. Without it celsius is used, as most stations do.";
    let hours = "How many hours from now on the report covers, from 1 to 240. Without it the report covers the rest of \
                 the day, and a word about the night.";
    let detail = "How much the report says: brief is one sentence about the sky and the temperature, full has wind, \
                  rain, pressure, humidity, visibility, and the times at which the sun and the moon rise and set.";
    let parameters = json!({
        "type": "object",
        "properties": {
            "city": { "type": "string", "description": "The name of the city, without its country." },
            "unit": { "type": "string", "enum": ["celsius", "fahrenheit", "kelvin"], "description": unit },
            "hours": { "type": "integer", "minimum": 1, "maximum": 240, "description": hours },
            "detail": { "type": "string", "enum": ["brief", "full"], "description": detail },
        },
        "required": ["city"],
    });
    let description = "Tells the weather of a city, as its weather stations report it: the sky, the temperature, the \
                       wind and the chance of rain. Only the city is needed; everything else may be left out.";
    let tool = ToolDef {
        name: TOOL.into(),
        description: description.into(),
        parameters: parameters.into(),
    };
    let system = "You answer with the help of tools.";
    let user = format!("How is the weather in {CITY}? Call {TOOL} to find out.");
    Request {
        tools: vec![tool].into(),
        temperature: None,
        max_tokens: Some(LONGEST),
        ..Request::new(Role::Actor, vec![Message::system(system), Message::user(user)])
    }
}

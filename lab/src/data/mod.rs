//! The data sets of CoTools, and others in their form: tools, and records whose texts have calls with results.
//!
//! ```text
//! DIR/tool.json                    {"tool_dict": {NAME: NUMBER}, "tool_information": {NAME: {"tool_description": …}}}
//! DIR/train.jsonl, dev.jsonl, test.jsonl, also packed:
//!                {"text": …, "start_str_idx": [CHARACTER, …], "tool_calling": [{"call_tool": NAME}, …]}
//!                or {"question": …, "tool": NAME}, with or without the `<` and `>` of NAME
//! ```
//!
//! The program contains none of them: a person names the folder. A folder of API-Bank is read too, as questions.

mod api_bank;
mod gzip;
mod known;
mod load;
mod queries;
mod records;
mod set;
pub mod tool_declarations;
mod tools;

pub use self::load::{load, with_dev};
pub use self::queries::read_queries;
pub use self::set::{DataSet, DataTool, Record};

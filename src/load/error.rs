//! Why a load test could not be made or finished.

use crate::interrupt::Interrupted;
use crate::runner::RunError;
use crate::scenario::SetError;
use crate::scenario::source::Span;
use crate::server::Connections;
use crate::wire::WireError;

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(
        "scenario `{scenario}` has no load test\nhelp: give it one, such as `-- @load approve(:worker, 100) by 16 workers, 400 requests`"
    )]
    NoLoad { scenario: String },
    #[error("no strategy `{name}`{}\nhelp: there are {}", did_you_mean(.nearest), .known.join(", "))]
    UnknownStrategy { name: String, nearest: Option<String>, known: Vec<String> },
    #[error(transparent)]
    Set(#[from] SetError),
    #[error("the load test calls `{transaction}` with {arguments} arguments, and there is no such transaction")]
    NoSuchCall { transaction: String, arguments: usize },
    #[error("`{command}` does not run in a load test")]
    OnlyStaged { command: &'static str, span: Span },
    #[error("the load test calls nothing")]
    NoCalls,
    #[error(
        "too few connections: {needed} are needed, and {connections}\n\
         help: use fewer --workers, or raise the limit"
    )]
    TooFewConnections { needed: u32, connections: Connections },
    #[error("worker {worker} lost its connection and could not reconnect in {failures} attempts: {error}")]
    ServerLost { worker: u32, failures: u32, error: WireError },
    #[error("cannot start a thread for a worker: {0}")]
    Thread(#[source] std::io::Error),
    /// A mistake of the lab itself.
    #[error("{requests} requests were handed out, but {counted} were counted; this is a bug of isolab")]
    CountsDoNotAddUp { requests: u64, counted: u64 },
    #[error(transparent)]
    Run(Box<RunError>),
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl LoadError {
    /// Whether a limit was reached, rather than something broken.
    pub fn is_time_limit(&self) -> bool {
        let is_timeout = |error: &WireError| matches!(error, WireError::TimedOut { .. });
        match self {
            LoadError::Wire(error) => is_timeout(error),
            LoadError::Run(error) => match error.as_ref() {
                RunError::TimeLimit { .. } => true,
                RunError::Wire(error) => is_timeout(error),
                _ => false,
            },
            _ => false,
        }
    }
}

impl From<RunError> for LoadError {
    fn from(error: RunError) -> LoadError {
        LoadError::Run(Box::new(error))
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(", did you mean `{name}`?")).unwrap_or_default()
}

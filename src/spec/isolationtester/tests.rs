use super::*;
use crate::scenario::source::Span;
use crate::spec::event::{Copy, Table};
use crate::spec::testing::spec;
use crate::wire::ServerError;

const FILE: &str = "session a step a1 { SELECT 1; } step a2 {\n  COMMIT;\n} session b step b1 { UPDATE; }";

fn told(events: Vec<Event>, stop: Option<Stop>) -> String {
    let transcript = transcript(&spec(FILE), &Playback { events, stop });
    String::from_utf8(transcript.bytes().to_vec()).unwrap()
}

fn error(severity: &str, message: &str) -> Box<ServerError> {
    Box::new(ServerError { severity: severity.to_owned(), message: message.to_owned(), ..ServerError::default() })
}

#[test]
fn steps_wait_complete_and_fail() {
    let table = Table { columns: vec!["x".to_owned()], rows: vec![vec![b"1".to_vec()]] };
    let events = vec![
        Event::Permutation { steps: vec![0, 2, 1] },
        Event::Completed { step: 0, waited: false },
        Event::Rows(table),
        Event::Waiting { step: 1 },
        Event::Notice { session: 1, notice: error("NOTICE", "n") },
        Event::Completed { step: 2, waited: false },
        Event::Failed(error("ERROR", "no")),
        Event::Completed { step: 1, waited: true },
        Event::Lost,
    ];
    let expected = "Parsed test spec with 2 sessions\n\nstarting permutation: a1 b1 a2\n\
                    step a1: SELECT 1;\nx\n-\n1\n(1 row)\n\n\
                    step a2: \n  COMMIT;\n <waiting ...>\n\
                    b: NOTICE:  n\nstep b1: UPDATE;\nERROR:  no\n\
                    step a2: <... completed>\nserver closed the connection unexpectedly\n\
                    \tThis probably means the server terminated abnormally\n\tbefore or while processing the request.\n\n";
    assert_eq!(told(events, None), expected);
}

#[test]
fn notifications_name_their_sender() {
    let notified = |sender| Event::Notified { session: 0, sender, channel: "c".to_owned(), payload: String::new() };
    let expected = "Parsed test spec with 2 sessions\n\
                    a: NOTIFY \"c\" with payload \"\" from b\na: NOTIFY \"c\" with payload \"\" from PID 7\n";
    assert_eq!(told(vec![notified(Sender::Session(1)), notified(Sender::Pid(7))], None), expected);
}

#[test]
fn what_ends_a_file_goes_to_standard_error_as_isolationtester_words_it() {
    let ended = |stop| told(vec![], Some(stop)).replacen("Parsed test spec with 2 sessions\n", "", 1);
    let setup = |session, failure| Stop::Setup { session, failure, span: Span::default() };
    let refused = Failure::Refused { error: error("ERROR", "no"), sql: String::new() };
    assert_eq!(ended(setup(None, refused)), "setup failed: ERROR:  no\n");
    let session = Some("a".to_owned());
    assert_eq!(ended(setup(session, Failure::Empty)), "setup of session a failed: ");
    assert_eq!(ended(Stop::Mutual), "failed to complete permutation due to mutually-blocking steps\n");
    let busy = Stop::Busy { step: "a1".to_owned(), seconds: 4, active: vec!["a1".to_owned(), "b1".to_owned()] };
    assert_eq!(ended(busy), "step a1 timed out after 4 seconds\nactive steps are: a1 b1\n");
    let copy = Stop::Copy { what: "step a1".to_owned(), copy: Copy::Out };
    assert!(ended(copy).starts_with("isolab: step a1 runs COPY TO STDOUT"));
}

#[test]
fn unused_steps_come_first() {
    let file = spec("session a step x { } step y { } permutation x");
    let transcript = transcript(&file, &Playback { events: vec![], stop: None });
    assert_eq!(transcript.bytes(), b"unused step name: y\nParsed test spec with 1 sessions\n");
}

use super::*;

const INSERT: Call<'static> = Call::change("insert", Subject::Entity);
const GET: Call<'static> = Call::read("get", Subject::Entity);

fn answered(call: &Call<'_>, status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Error {
    let mut all = Headers::new();
    for (name, value) in headers {
        all.insert(*name, *value);
    }
    of_answer(call, StatusCode::from(status), &all, body.as_bytes())
}

#[test]
fn codes_are_read_from_json_and_xml_and_the_header() {
    let json = r#"{"odata.error":{"code":"EntityAlreadyExists","message":{"lang":"en-US","value":"It exists."}}}"#;
    let xml = "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>AuthenticationFailed</Code><Message>No.</Message></Error>";
    let conflict = answered(&INSERT, 409, &[("x-ms-request-id", "r-1")], json);
    assert_eq!((conflict.kind(), conflict.service_code()), (ErrorKind::AlreadyExists, Some("EntityAlreadyExists")));
    assert_eq!(conflict.request_id(), Some("r-1"));
    let denied = answered(&INSERT, 403, &[], xml);
    assert_eq!((denied.kind(), denied.service_code()), (ErrorKind::PermissionDenied, Some("AuthenticationFailed")));
    let missing = answered(&INSERT, 404, &[("x-ms-error-code", "TableNotFound")], "");
    assert_eq!((missing.kind(), missing.service_code()), (ErrorKind::TableNotFound, Some("TableNotFound")));
}

#[test]
fn a_body_that_is_neither_leaves_the_status() {
    for body in ["", "<html>", "{}", "{\"odata.error\":5}", "\u{0}\u{1}"] {
        let error = answered(&GET, 412, &[], body);
        assert_eq!((error.kind(), error.service_code()), (ErrorKind::PreconditionFailed, None), "{body}");
    }
}

#[test]
fn a_message_of_the_service_is_not_repeated() {
    let json = r#"{"odata.error":{"code":"InvalidInput","message":{"lang":"en-US","value":"hidden is bad"}}}"#;
    let error = answered(&INSERT, 400, &[], json);
    assert!(!format!("{error} {error:?}").contains("hidden"), "{error:?}");
}

#[test]
fn only_a_write_that_may_have_begun_leaves_a_doubt() {
    for (call, status, code, doubt) in [
        (&INSERT, 500, "OperationTimedOut", true),
        (&INSERT, 503, "", true),
        (&INSERT, 504, "", true),
        (&INSERT, 408, "", true),
        (&INSERT, 503, "ServerBusy", false),
        (&INSERT, 429, "", false),
        (&INSERT, 409, "EntityAlreadyExists", false),
        (&GET, 500, "", false),
    ] {
        let error = of_status(call, StatusCode::from(status), Some(code));
        assert_eq!(error.outcome_unknown(), doubt, "{status} {code}");
    }
}

#[test]
fn what_passes_is_tried_again_and_what_stays_is_not() {
    for (status, code, retryable) in [
        (503, "ServerBusy", true),
        (429, "", true),
        (500, "InternalError", true),
        (409, "TableBeingDeleted", true),
        (302, "", false),
        (400, "InvalidInput", false),
        (403, "AuthenticationFailed", false),
        (501, "NotImplemented", false),
    ] {
        assert_eq!(
            of_status(&INSERT, StatusCode::from(status), Some(code)).is_retryable(),
            retryable,
            "{status} {code}"
        );
    }
}

#[test]
fn what_is_missing_depends_on_what_was_asked_for() {
    for (subject, kind) in [
        (Subject::Table, ErrorKind::TableNotFound),
        (Subject::Entity, ErrorKind::NotFound),
        (Subject::Queue, ErrorKind::QueueNotFound),
        (Subject::Message, ErrorKind::PreconditionFailed),
        (Subject::Container, ErrorKind::NotFound),
    ] {
        assert_eq!(of_status(&Call::change("x", subject), StatusCode::NotFound, Some("ResourceNotFound")).kind(), kind);
    }
}

#[test]
fn every_form_of_retry_after_is_read() {
    let wait = |headers: &[(&'static str, &'static str)]| answered(&GET, 503, headers, "").retry_after();
    assert_eq!(wait(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
    assert_eq!(wait(&[("x-ms-retry-after-ms", "250"), ("retry-after", "7")]), Some(Duration::from_millis(250)));
    assert_eq!(wait(&[("retry-after", "soon")]), None);
    assert_eq!(wait(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")]), None);
    let far = wait(&[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")]).unwrap();
    assert!(far > Duration::from_secs(3600), "{far:?}");
}

#[test]
fn the_index_of_a_failed_operation_is_read() {
    let index = |body: &str| json_error(body.as_bytes()).and_then(|error| error.operation_index());
    let body =
        |message: &str| format!(r#"{{"odata.error":{{"code":"X","message":{{"lang":"en","value":"{message}"}}}}}}"#);
    assert_eq!(index(&body("12:The specified entity already exists.")), Some(12));
    assert_eq!(index(&body("The table does not exist.")), None);
    assert_eq!(index(r#"{"odata.error":{"code":"X","message":"3:plain"}}"#), Some(3));
    assert_eq!(index(r#"{"odata.error":{"code":"X"}}"#), None);
}

#[test]
fn a_cause_that_quotes_an_address_is_left_out() {
    let inner = std::io::Error::other("connection refused");
    let outer = azure_core::Error::with_error(CoreKind::Io, inner, "failed");
    assert_eq!(cause(&outer).as_deref(), Some("connection refused"));
    let leaky = std::io::Error::other("error for url (https://a.net/?sig=hidden)");
    let error = of_error(&INSERT, &azure_core::Error::with_error(CoreKind::Io, leaky, "failed"));
    assert!(!format!("{error} {error:?}").contains("hidden"), "{error:?}");
    assert!(error.outcome_unknown());
}

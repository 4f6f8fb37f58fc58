//! The text that a request to queues or blobs signs: verb, headers and resource.

use std::collections::BTreeMap;

use azure_core::http::headers::HeaderName;
use azure_core::http::{Request, Url};

/// The headers that are signed by position, in their order.
///
/// `date` stays empty: `x-ms-date` is among the headers that are signed by name.
const POSITIONAL: [&str; 11] = [
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
];

/// The text to sign for a request to queues or blobs.
pub(super) fn text_to_sign(account: &str, request: &Request) -> String {
    let header = |name: &'static str| request.headers().get_optional_str(&HeaderName::from_static(name));
    let mut text = format!("{}\n", request.method());
    for name in POSITIONAL {
        let value = match name {
            "" => String::new(),
            "content-length" => {
                request.body().len().filter(|length| *length > 0).map(|n| n.to_string()).unwrap_or_default()
            }
            name => header(name).unwrap_or_default().to_owned(),
        };
        text.push_str(&value);
        text.push('\n');
    }
    text.push_str(&named_headers(request));
    text.push_str(&resource(account, request.url()));
    text
}

/// All headers of the service's own, by name, a line each.
fn named_headers(request: &Request) -> String {
    let own = request.headers().iter().map(|(name, value)| (name.as_str().to_ascii_lowercase(), value.as_str()));
    let own: BTreeMap<String, &str> = own.filter(|(name, _)| name.starts_with("x-ms-")).collect();
    let mut text = String::new();
    for (name, value) in own {
        text.extend([name.as_str(), ":", value.trim(), "\n"]);
    }
    text
}

/// The account, the path as it is sent, and every parameter by name, decoded, a line each.
fn resource(account: &str, url: &Url) -> String {
    let mut parameters: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in url.query_pairs() {
        parameters.entry(name.to_lowercase()).or_default().push(value.into_owned());
    }
    let mut text = format!("/{account}{}", url.path());
    for (name, mut values) in parameters {
        values.sort();
        text.extend(["\n", name.as_str(), ":", values.join(",").as_str()]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use azure_core::http::Method;

    fn request(method: Method, url: &str, headers: &[(&'static str, &'static str)], body: &'static str) -> Request {
        let mut request = Request::new(Url::parse(url).unwrap(), method);
        for (name, value) in headers {
            request.insert_header(*name, *value);
        }
        request.set_body(body);
        request
    }

    #[test]
    fn the_text_is_that_of_the_service_documentation() {
        let get = request(
            Method::Get,
            "https://myaccount.blob.core.windows.net/mycontainer?restype=container&comp=metadata&timeout=20",
            &[("x-ms-version", "2015-02-21"), ("x-ms-date", "Fri, 26 Jun 2015 23:39:12 GMT"), ("accept", "*/*")],
            "",
        );
        let expected = "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2015-02-21\n\
                        /myaccount/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20";
        assert_eq!(text_to_sign("myaccount", &get), expected);
    }

    #[test]
    fn the_length_and_type_of_a_body_are_signed() {
        let post = request(
            Method::Post,
            "http://127.0.0.1:10001/devstoreaccount1/work/messages?visibilitytimeout=5",
            &[("content-type", "application/xml"), ("x-ms-date", "d")],
            "<QueueMessage/>",
        );
        let expected = "POST\n\n\n15\n\napplication/xml\n\n\n\n\n\n\nx-ms-date:d\n\
                        /devstoreaccount1/devstoreaccount1/work/messages\nvisibilitytimeout:5";
        assert_eq!(text_to_sign("devstoreaccount1", &post), expected);
    }

    #[test]
    fn parameters_are_signed_decoded() {
        let delete =
            request(Method::Delete, "https://a.queue.core.windows.net/q/messages/1?popreceipt=A%2BB%3D%3D", &[], "");
        assert!(text_to_sign("a", &delete).ends_with("/a/q/messages/1\npopreceipt:A+B=="));
    }
}

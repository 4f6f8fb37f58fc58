//! The text that a request to tables signs: its date and its resource.

use azure_core::http::Url;

/// The text to sign for a request to tables.
///
/// The resource is the account and the path as it is sent, still percent-encoded. In a path-style
/// address, such as the emulator's, the account stands in it twice.
pub(super) fn text_to_sign(account: &str, url: &Url, date: &str) -> String {
    let comp = url.query_pairs().find(|(name, _)| name == "comp");
    let comp = comp.map(|(_, value)| format!("?comp={value}")).unwrap_or_default();
    format!("{date}\n/{account}{}{comp}", url.path())
}

#[cfg(test)]
mod tests {
    use super::super::{Scheme, signature};
    use super::*;

    /// The emulator's key, which is public.
    const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn the_text_is_that_of_the_service_documentation() {
        let text = text_to_sign(
            "testaccount1",
            &url("https://testaccount1.table.core.windows.net/Tables"),
            "Sun, 11 Oct 2009 19:52:39 GMT",
        );
        assert_eq!(text, "Sun, 11 Oct 2009 19:52:39 GMT\n/testaccount1/Tables");
    }

    #[test]
    fn the_signature_is_that_of_another_client() {
        // Published with Microsoft's client for Node.
        let date = "Mon, 05 Dec 2011 17:55:02 GMT";
        let text = text_to_sign("devstoreaccount1", &url("http://host/?restype=service&comp=properties"), date);
        let key = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, KEY).unwrap();
        assert_eq!(signature(&key, &text), "b89upLBiJ54w3Ju3zBv4GzThZGj/M6C3CdTm1BySj28=");
        assert_eq!(Scheme::SharedKeyLite.as_str(), "SharedKeyLite");
    }

    #[test]
    fn a_path_style_address_names_the_account_twice() {
        let emulator = url("http://127.0.0.1:10002/devstoreaccount1/Tables");
        assert_eq!(text_to_sign("devstoreaccount1", &emulator, "d"), "d\n/devstoreaccount1/devstoreaccount1/Tables");
    }

    #[test]
    fn the_path_stays_encoded_and_the_query_is_left_out() {
        let row = url("https://a.table.core.windows.net/Staff(PartitionKey='%25',RowKey='%C3%A9')?$select=A");
        assert_eq!(text_to_sign("a", &row, "d"), "d\n/a/Staff(PartitionKey='%25',RowKey='%C3%A9')");
    }
}

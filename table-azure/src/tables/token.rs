//! Continuations: what the service wants back to give the next page.

use azure_core::http::headers::{HeaderName, Headers};
use table_core::store::PageToken;
use table_core::{Error, Result};

/// The first line of our tokens, so that those of other stores are refused.
const MARK: &str = "azure-1";

/// The headers that continue a query, and the parameters that take them back.
pub(super) const OF_ROWS: [(&str, &str); 2] =
    [("x-ms-continuation-nextpartitionkey", "NextPartitionKey"), ("x-ms-continuation-nextrowkey", "NextRowKey")];

/// The header that continues a listing, and the parameter that takes it back.
pub(super) const OF_TABLES: [(&str, &str); 1] = [("x-ms-continuation-nexttablename", "NextTableName")];

/// The token of the next page, where an answer says that there is one. The first header decides.
pub(super) fn of_headers(headers: &Headers, names: &[(&'static str, &str)]) -> Option<PageToken> {
    let value = |(name, _): &(&'static str, &str)| headers.get_optional_str(&HeaderName::from_static(name));
    value(names.first()?)?;
    // No header holds a line feed, so that parts cannot run into each other. What is there begins with `=`, since an
    // empty value is another than none.
    let part = |name| value(name).map(|value| format!("={value}")).unwrap_or_default();
    let parts: Vec<String> = names.iter().map(part).collect();
    Some(PageToken::new(format!("{MARK}\n{}", parts.join("\n"))))
}

/// The parameters that continue where a token says.
///
/// # Errors
/// `InvalidQuery` for a token of another store, or of another kind of query.
pub(super) fn parameters<'n>(token: &PageToken, names: &[(&str, &'n str)]) -> Result<Vec<(&'n str, String)>> {
    let foreign =
        || Error::invalid_query("the continuation is not of such a query on this store; begin anew without it");
    let rest = token.as_str().strip_prefix(MARK).and_then(|rest| rest.strip_prefix('\n')).ok_or_else(foreign)?;
    let parts: Vec<&str> = rest.split('\n').collect();
    if parts.len() != names.len() {
        return Err(foreign());
    }
    let pairs =
        names.iter().zip(parts).map(|((_, parameter), part)| Some((*parameter, part.strip_prefix('=')?.to_owned())));
    Ok(pairs.flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> Headers {
        let mut headers = Headers::new();
        for (name, value) in pairs {
            headers.insert(*name, *value);
        }
        headers
    }

    #[test]
    fn a_token_leads_back_to_its_parameters() {
        let both = headers(&[(OF_ROWS[0].0, "1!8!YQ--"), (OF_ROWS[1].0, "1!4!MQ--")]);
        let token = of_headers(&both, &OF_ROWS).unwrap();
        let pairs = parameters(&token, &OF_ROWS).unwrap();
        assert_eq!(pairs, [("NextPartitionKey", "1!8!YQ--".to_owned()), ("NextRowKey", "1!4!MQ--".to_owned())]);
    }

    #[test]
    fn a_next_partition_may_come_without_a_row() {
        let token = of_headers(&headers(&[(OF_ROWS[0].0, "p")]), &OF_ROWS).unwrap();
        assert_eq!(parameters(&token, &OF_ROWS).unwrap(), [("NextPartitionKey", "p".to_owned())]);
        let token = of_headers(&headers(&[(OF_ROWS[0].0, "")]), &OF_ROWS).unwrap();
        assert_eq!(parameters(&token, &OF_ROWS).unwrap(), [("NextPartitionKey", String::new())]);
        assert_eq!(of_headers(&Headers::new(), &OF_ROWS), None);
    }

    #[test]
    fn a_token_of_another_kind_is_refused() {
        let listing = of_headers(&headers(&[(OF_TABLES[0].0, "t")]), &OF_TABLES).unwrap();
        for token in [listing, PageToken::new("key-1\na\nb"), PageToken::new(""), PageToken::new("azure-12\na\nb")] {
            assert!(parameters(&token, &OF_ROWS).is_err(), "{token:?}");
        }
    }
}

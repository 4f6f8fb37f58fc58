//! Continuations: where the next page begins, in words.

use crate::error::{Error, Result};
use crate::store::PageToken;

/// The first line of our tokens, so that those of other stores are refused.
const MARK: &str = "memory-1";

/// A token of these texts. No key and no name holds a line feed, so they cannot run into each other.
pub(super) fn encode<const N: usize>(parts: [&str; N]) -> PageToken {
    PageToken::new(format!("{MARK}\n{}", parts.join("\n")))
}

/// The texts of a token.
pub(super) fn decode<const N: usize>(token: &PageToken) -> Result<[&str; N]> {
    let rest = token.as_str().strip_prefix(MARK).and_then(|rest| rest.strip_prefix('\n')).ok_or_else(foreign)?;
    rest.split('\n').collect::<Vec<_>>().try_into().map_err(|_| foreign())
}

pub(super) fn foreign() -> Error {
    Error::invalid_query("the continuation is not of such a query on this store; begin anew without it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_back_and_another_kind_does_not() {
        let token = encode(["a", ""]);
        assert_eq!(decode(&token).unwrap(), ["a", ""]);
        assert!(decode::<1>(&token).is_err());
        assert!(decode::<1>(&PageToken::new("memory-1")).is_err());
        assert!(decode::<1>(&PageToken::new("memory-2\na")).is_err());
    }
}

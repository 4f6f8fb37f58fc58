//! Filters as OData text: printed for the service and for people, parsed from what people paste.
//!
//! Printing a [normalised](crate::query::Filter::normalised) filter and parsing the text gives the
//! same filter again. Parsing never panics: text of any length and depth is either a filter or an
//! error that says where it stopped making sense.
//!
//! | value | text |
//! | --- | --- |
//! | string | `'it''s'` |
//! | Int32, Int64 | `42`, `42L` |
//! | Double | `1.5`, `1e300`, `NaN`, `INF`, `-INF` |
//! | Boolean | `true`, `false` |
//! | DateTime | `datetime'2014-08-22T00:50:32.1234567Z'` |
//! | Guid | `guid'c9da6455-213d-42c9-9a79-3e9149a57833'` |
//! | Binary | `X'cafe'` |
//!
//! `true` and `false` alone stand for the filter that every row, or no row, fulfils. The planner
//! removes them, so a store never meets them.

mod lex;
mod parse;
mod print;

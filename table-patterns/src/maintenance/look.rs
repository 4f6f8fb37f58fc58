//! Looking at what others write meanwhile, until it stands still.

use table_core::Result;

use super::Wrong;

/// How often a source may change while one of its copies is looked at.
const LOOKS: usize = 3;

/// What was found out about a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict<W = Wrong> {
    Right,
    /// A change is on its way to it.
    InFlight,
    /// So it is, and so it stays.
    Wrong(W),
}

/// Looks, again where something changed during a look (which is then none), and says what was found out. What never
/// stands still has a change on its way.
pub(crate) async fn until_still<W, F>(look: impl Fn() -> F) -> Result<Verdict<W>>
where
    F: Future<Output = Result<Option<Verdict<W>>>>,
{
    for _ in 0..LOOKS {
        if let Some(verdict) = look().await? {
            return Ok(verdict);
        }
    }
    Ok(Verdict::InFlight)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn what_never_stands_still_is_in_flight_after_a_bounded_number_of_looks() {
        let looks = Cell::new(0);
        let at = async |still: usize| {
            looks.set(0);
            let look = || {
                looks.set(looks.get() + 1);
                std::future::ready(Ok((looks.get() == still).then_some(Verdict::Wrong(Wrong::Stale))))
            };
            until_still(look).await
        };
        assert_eq!((at(1).await.unwrap(), looks.get()), (Verdict::Wrong(Wrong::Stale), 1));
        assert_eq!((at(LOOKS).await.unwrap(), looks.get()), (Verdict::Wrong(Wrong::Stale), LOOKS));
        assert_eq!((at(LOOKS + 1).await.unwrap(), looks.get()), (Verdict::InFlight, LOOKS));
    }
}

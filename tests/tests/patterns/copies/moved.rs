//! Targets that move in the index by which they are found, while changes of their source look for them.

use std::sync::Arc;

use table_core::{Entity, Key, QueueStore, Result, Table, TableStore};
use table_patterns::denormalization::{Denormalized, KeepsCopies, Targets};
use table_patterns::eventually_consistent_transactions::Mover;
use table_patterns::{Indexed, IndexedTransaction};
use table_tests::gate::Gate;
use table_tests::pattern::memory;

use crate::nap::Nap;

/// One more than the rows of a page.
const SEATS: u32 = 1001;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{id}", row = "show")]
pub(super) struct Show {
    pub(super) id: String,
    pub(super) title: String,
}

/// Found by an index in its partition, which is read page by page.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "hall", row = "seat_{number:04}")]
#[index(order, row = "at_{rank}_{number:04}", include())]
pub(super) struct Seat {
    pub(super) number: u32,
    pub(super) rank: String,
    pub(super) show: String,
    pub(super) title: String,
}

impl KeepsCopies for Seat {
    type Source = Show;

    fn targets(_: &Show) -> Targets<Self> {
        Targets::by_index(Self::range_by_order().query())
    }

    fn source(&self) -> Option<Key<Show>> {
        Some(Show::key(&self.show))
    }

    fn take(&mut self, show: Option<&Show>) {
        self.title = show.map(|show| show.title.clone()).unwrap_or_default();
    }
}

pub(super) async fn kept(
    tables: &Arc<dyn TableStore>,
    queues: &Arc<dyn QueueStore>,
) -> Result<(Denormalized<Seat>, Mover)> {
    let (shows, seats) = (Table::new(Arc::clone(tables), "Shows")?, Table::new(Arc::clone(tables), "Seats")?);
    let builder = Mover::builder(Arc::clone(queues), "moves")?;
    let mover = builder.keep_copies::<Seat>(&shows, &seats).build().await?;
    Ok((Denormalized::kept_by(shows, seats, &mover)?, mover))
}

/// The last of the second page comes to the first, after that has been read.
#[tokio::test(start_paused = true)]
async fn a_target_that_moves_to_a_page_that_was_read_is_not_missed() -> Result<()> {
    let mut naps = 0;
    for call in 1.. {
        let store = memory();
        let (seats, mover) = kept(&store.tables, &store.queues).await?;
        seats.create_if_missing().await?;
        seats.insert(&Show { id: "ham".into(), title: "Hamlet".into() }).await?;
        let numbers: Vec<u32> = (0..SEATS).collect();
        for numbers in numbers.chunks(50) {
            let begin = IndexedTransaction::new(seats.table());
            let insert = numbers.iter().fold(begin, |insert, number| {
                let (show, title) = ("ham".into(), "Hamlet".into());
                insert.insert(&Seat { number: *number, rank: "m".into(), show, title })
            });
            insert.commit().await?;
        }
        let nap = Nap::before(call);
        let tables: Arc<dyn TableStore> = Arc::new(Gate::new(store.tables.clone(), nap.clone()));
        let queues: Arc<dyn QueueStore> = Arc::new(Gate::new(store.queues.clone(), nap.clone()));
        let (late, _) = kept(&tables, &queues).await?;
        let moving = tokio::spawn(async move {
            late.update_target(Seat::key(SEATS - 1), |seat| seat.rank = "a".into()).await.map(|_| ())
        });
        let slept = nap.asleep().await;
        if slept {
            // The writer goes through the first page, and a worker through the rest.
            seats.update(Show::key("ham"), |ham| ham.title = "The Tragedy of Hamlet".into()).await?;
            nap.wake();
            naps += 1;
        }
        moving.await.unwrap()?;
        super::settle(&store, &mover).await;
        let show = seats.sources().require(Show::key("ham")).await?;
        let all = Indexed::<Seat>::new(seats.table().clone())?.all(Seat::range_by_order().query()).await?;
        assert_eq!(all.len(), SEATS as usize);
        for seat in super::all::<Seat>(&store.tables, "Seats").await {
            assert_eq!(seat.title, show.title, "seat {} after a nap before call {call}", seat.number);
        }
        if !slept {
            break;
        }
    }
    assert!(naps > 5, "only {naps} naps");
    Ok(())
}

/// Found by an index elsewhere whose key has what is changed, and what is copied.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "guest{guest}", row = "ticket")]
#[index(show, table = "TicketsByShow", partition = "{show}", row = "at_{rank}_{title}_{guest}", include())]
struct Ticket {
    guest: u32,
    rank: String,
    show: String,
    title: String,
}

impl KeepsCopies for Ticket {
    type Source = Show;

    fn targets(show: &Show) -> Targets<Self> {
        Targets::by_index(Self::range_by_show(&show.id).query())
    }

    fn source(&self) -> Option<Key<Show>> {
        Some(Show::key(&self.show))
    }

    fn take(&mut self, show: Option<&Show>) {
        self.title = show.map(|show| show.title.clone()).unwrap_or_default();
    }
}

async fn booked(tables: &Arc<dyn TableStore>, queues: &Arc<dyn QueueStore>) -> Result<(Denormalized<Ticket>, Mover)> {
    let (shows, tickets) = (Table::new(Arc::clone(tables), "Shows")?, Table::new(Arc::clone(tables), "Tickets")?);
    let builder = Mover::builder(Arc::clone(queues), "moves")?.keep_indexes::<Ticket>(&tickets);
    let mover = builder.keep_copies::<Ticket>(&shows, &tickets).build().await?;
    Ok((Denormalized::kept_by(shows, tickets, &mover)?, mover))
}

/// The second change misses the target while the copy of the first is written into it.
#[tokio::test(start_paused = true)]
async fn a_target_that_moves_is_not_missed_by_either_of_two_changes() -> Result<()> {
    let mut naps = 0;
    let mut is_late = true;
    for first in 1.. {
        if !is_late {
            break;
        }
        for second in first + 1.. {
            let store = memory();
            let (tickets, mover) = booked(&store.tables, &store.queues).await?;
            tickets.create_if_missing().await?;
            tickets.insert(&Show { id: "ham".into(), title: "Hamlet".into() }).await?;
            let (show, title) = ("ham".into(), String::new());
            tickets.insert_target(&Ticket { guest: 1, rank: "m".into(), show, title }).await?;
            let (one, other) = (Nap::before(first), Nap::before(second));
            let tables = Gate::new(Gate::new(store.tables.clone(), one.clone()), other.clone());
            let queues = Gate::new(Gate::new(store.queues.clone(), one.clone()), other.clone());
            let (late, _) = booked(&(Arc::new(tables) as _), &(Arc::new(queues) as _)).await?;
            let moving = tokio::spawn(async move {
                late.update_target(Ticket::key(1), |ticket| ticket.rank = "a".into()).await.map(|_| ())
            });
            is_late = one.asleep().await;
            if is_late {
                tickets.update(Show::key("ham"), |ham| ham.title = "Prince Hamlet".into()).await?;
                one.wake();
            }
            let is_late_again = other.asleep().await;
            if is_late_again {
                tickets.update(Show::key("ham"), |ham| ham.title = "The Tragedy of Hamlet".into()).await?;
                other.wake();
                naps += 1;
            }
            moving.await.unwrap()?;
            super::settle(&store, &mover).await;
            let show = tickets.sources().require(Show::key("ham")).await?;
            let ticket = tickets.table().require(Ticket::key(1)).await?;
            assert_eq!((&*ticket.rank, &*ticket.title), ("a", &*show.title), "after naps before {first} and {second}");
            if !is_late_again {
                break;
            }
        }
    }
    assert!(naps > 50, "only {naps} naps");
    Ok(())
}

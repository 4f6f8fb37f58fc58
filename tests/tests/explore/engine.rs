//! The explorer itself: it meets what it says, and repeats it.

use std::sync::Arc;

use futures_util::TryStreamExt;
use futures_util::future::LocalBoxFuture;
use table_core::{DynamicEntity, Entity, IfMatch, Table};
use table_tests::explore::{Answer, Explorer, Judgement, Scenario, Search, Stage, StoreHandle, Wrong};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "counter", row = "{name}")]
struct Counter {
    name: String,
    value: i32,
}

/// Reads, and writes one more, whatever was written in between.
async fn increments(store: StoreHandle) -> table_core::Result<()> {
    let table = Table::new(store, "Counters")?;
    let mut read = table.require(Counter::key("calls")).await?.into_value();
    read.value += 1;
    table.insert_or_replace(&read).await.map(|_| ())
}

/// Two that count without a condition, so that a count can be lost.
fn careless(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let table = Table::new(Arc::new(stage.memory()), "Counters").unwrap();
        table.create().await.unwrap();
        table.insert(&Counter { name: "calls".into(), value: 0 }).await.unwrap();
        let told = [stage.actor("one", increments), stage.actor("two", increments)];
        stage.judge(async move {
            let mut judgement = Judgement::default();
            let value = table.require(Counter::key("calls")).await.unwrap().value;
            let done = told.iter().filter(|told| told.answer() == Answer::Done).count();
            judgement.expect(value >= i32::try_from(done).unwrap(), Wrong::Lost, || format!("{value} of {done}"));
            judgement
        });
    })
}

const CARELESS: Scenario = Scenario::new("careless", careless);

#[test]
fn a_lost_update_takes_one_preemption() {
    let none = Explorer::new(CARELESS, Search::Exhaustive { preemptions: 0 }).run();
    assert!(none.counts.is_clean(), "{none}");
    let one = Explorer::new(CARELESS, Search::Exhaustive { preemptions: 1 }).run();
    assert!(one.counts.lost > 0, "{one}");
}

#[test]
fn a_failure_is_told_in_its_shortest_form_and_replays() {
    for search in [Search::Exhaustive { preemptions: 3 }, Search::Random { executions: 1000, seed: 1 }] {
        let explorer = Explorer::new(CARELESS, search);
        let failure = explorer.run().failure.unwrap();
        let name: table_tests::explore::ExecutionName = failure.execution.to_string().parse().unwrap();
        assert_eq!((name.scenario.as_str(), &name.schedule), ("careless", &failure.execution.schedule));
        let (story, clean) = Explorer::new(CARELESS, name.search).replay(&name.schedule);
        assert!(!clean);
        assert_eq!(story, failure.story);
        let calls: Vec<&str> = story.lines().map(str::trim).collect();
        assert_eq!(calls.len(), 5, "{story}");
        assert!(calls[1].starts_with("one: get") || calls[1].starts_with("two: get"), "{story}");
        assert_eq!(calls[4], "Lost: 1 of 2");
    }
}

/// Two calls by one actor, and what the table held when it had died or ended.
fn two_inserts(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let table = Table::new(Arc::new(stage.memory()), "Counters").unwrap();
        table.create().await.unwrap();
        let told = stage.actor("writer", |store| async move {
            let table = Table::new(store, "Counters")?;
            table.insert(&Counter { name: "a".into(), value: 0 }).await?;
            table.insert(&Counter { name: "b".into(), value: 0 }).await.map(|_| ())
        });
        stage.judge(async move {
            let rows = table.all(table_core::Query::<DynamicEntity>::all().allow_scan()).await.unwrap();
            let mut judgement = Judgement::default();
            let kept: Vec<_> = rows.iter().map(|row| row.key.row.as_str()).collect();
            judgement.find(Wrong::Broken, format!("{:?} {kept:?}", told.answer()));
            judgement
        });
    })
}

#[test]
fn an_actor_dies_before_each_call_and_loses_each_request_and_answer() {
    let scenario = Scenario::new("two inserts", two_inserts);
    let explorer = Explorer::new(scenario, Search::Exhaustive { preemptions: 3 });
    let report = explorer.run();
    assert_eq!(report.executions, 7, "one without a fault, and three faults at each of two calls");
    let endings = ["-", "0=1", "0=2", "0=3", "1=1", "1=2", "1=3"].map(|schedule| {
        let (story, _) = explorer.replay(&schedule.parse().unwrap());
        story.lines().last().unwrap().trim().replace("Broken: ", "")
    });
    let expected = [
        r#"Done ["a", "b"]"#,
        "None []",
        "Unknown []",
        r#"Unknown ["a"]"#,
        r#"None ["a"]"#,
        r#"Unknown ["a"]"#,
        r#"Unknown ["a", "b"]"#,
    ];
    assert_eq!(endings, expected);
}

/// Sleeps between its calls, as whoever backs off does.
fn sleepers(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let table = Table::new(Arc::new(stage.memory()), "Counters").unwrap();
        table.create().await.unwrap();
        let sleeps = |store: StoreHandle, name: &'static str| async move {
            let table = Table::new(store, "Counters")?;
            table.insert(&Counter { name: name.into(), value: 0 }).await?;
            tokio::time::sleep(std::time::Duration::from_secs(5)).await;
            table.delete_unconditionally(Counter::key(name)).await
        };
        let told =
            [stage.actor("one", move |store| sleeps(store, "a")), stage.actor("two", move |store| sleeps(store, "b"))];
        stage.judge(async move {
            let mut judgement = Judgement::default();
            let ended = told.iter().all(|told| told.answer() != Answer::None || told.answer().is_open());
            judgement.expect(ended, Wrong::Broken, || "somebody never woke up".to_owned());
            judgement
        });
    })
}

#[test]
fn actors_that_sleep_are_woken() {
    let report = Explorer::new(Scenario::new("sleepers", sleepers), Search::Exhaustive { preemptions: 1 }).run();
    assert!(report.counts.is_clean(), "{report}");
    assert!(report.executions > 10, "{report}");
}

/// Makes its calls side by side, with what polls only those that were woken.
fn side_by_side(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        let table = Table::new(Arc::new(stage.memory()), "Counters").unwrap();
        table.create().await.unwrap();
        stage.actor("writer", |store| async move {
            let table = Table::new(store, "Counters")?;
            let names = ["a", "b", "c"].map(|name| Counter { name: name.into(), value: 0 });
            let inserts = names.iter().map(|counter| table.insert(counter));
            inserts.collect::<futures_util::stream::FuturesUnordered<_>>().try_for_each(|_| async { Ok(()) }).await
        });
        stage.judge(async move {
            let mut judgement = Judgement::default();
            let rows = table.all(table_core::Query::<Counter>::all().allow_scan()).await.unwrap();
            judgement.expect(rows.len() == 3, Wrong::Lost, || format!("{} rows", rows.len()));
            judgement
        });
    })
}

#[test]
fn calls_side_by_side_go_on_one_by_one() {
    let scenario = Scenario::new("side by side", side_by_side);
    let (story, clean) = Explorer::new(scenario, Search::Exhaustive { preemptions: 0 }).replay(&"-".parse().unwrap());
    assert!(clean, "{story}");
    assert_eq!(story.lines().count(), 3, "{story}");
}

/// Waits for what nobody does.
fn stuck(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        stage.actor("waiter", |_| std::future::pending());
    })
}

/// Writes to a row that is not there, and panics about it.
fn panicking(stage: &mut Stage) -> LocalBoxFuture<'_, ()> {
    Box::pin(async move {
        stage.actor("writer", |store| async move {
            let table = Table::new(store, "Nowhere")?;
            let missing = DynamicEntity::new(table_core::EntityKey::parse("a", "b")?);
            let write = table_core::Operation::new(table_core::Action::Replace(missing, IfMatch::Any))?;
            panic!("{}", table.store().write(table.name(), write).await.unwrap_err().kind().as_str());
        });
    })
}

#[test]
fn who_never_ends_and_who_panics_is_reported_and_not_waited_for() {
    let none = Search::Exhaustive { preemptions: 0 };
    let report = Explorer::new(Scenario::new("stuck", stuck), none).run();
    assert!(report.failure.unwrap().story.contains("never comes"));
    let report = Explorer::new(Scenario::new("panicking", panicking), none).run();
    assert!(report.failure.unwrap().story.contains("writer panicked: "));
}

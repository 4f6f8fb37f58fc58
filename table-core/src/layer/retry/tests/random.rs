use super::*;
use crate::Value;
use crate::layer::testing::{insert, marked, replace, row_with};

const WRITERS: usize = 3;
const INCREMENTS: usize = 4;

/// What became of all increments of a run.
#[derive(Debug, Default)]
struct Count {
    done: i32,
    undecided: i32,
}

fn value(row: &DynamicEntity) -> i32 {
    match row.get("Value") {
        Some(Value::Int32(value)) => *value,
        other => panic!("the counter holds {other:?}"),
    }
}

/// Increments a counter in an ETag loop, alone or beside another row, and stops on doubt.
async fn increment(store: &Retry<Fault<MemoryStore>>, name: &str, in_transaction: bool) -> Option<bool> {
    for round in 0..100 {
        let counter = store.get(&employees(), &key("counter"), &Selection::All).await.ok()??;
        let mark = format!("{name} {round}");
        let next = replace(marked(row_with("counter", value(&counter) + 1), &mark), &counter.etag?);
        let result = if in_transaction {
            let log = insert(row_with(&mark, 0));
            store.transact(&employees(), Transaction::new(vec![log, next]).unwrap()).await.map(drop)
        } else {
            store.write(&employees(), next).await.map(drop)
        };
        match result {
            Ok(()) => return Some(true),
            Err(error) if error.outcome_unknown() => return Some(false),
            Err(error) if error.kind() == ErrorKind::PreconditionFailed => {}
            Err(_) => return None,
        }
    }
    panic!("a hundred rounds are enough for anybody");
}

async fn run(seed: u64) -> (Count, i32) {
    let faults = FaultOptions::default()
        .with_throttling(0.2)
        .with_losses(0.3)
        .with_latency(Duration::ZERO..=Duration::from_millis(50))
        .with_seed(seed);
    let setup = setup_with(faults, RetryOptions::default()).await;
    setup.put(row_with("counter", 0)).await;
    let writers = (0..WRITERS).map(|writer| {
        let store = setup.store.clone();
        async move {
            let mut count = Count::default();
            for step in 0..INCREMENTS {
                match increment(&store, &format!("{writer} {step}"), step % 2 == 1).await {
                    Some(true) => count.done += 1,
                    Some(false) => count.undecided += 1,
                    None => {}
                }
            }
            count
        }
    });
    let mut total = Count::default();
    for count in futures_util::future::join_all(writers).await {
        total.done += count.done;
        total.undecided += count.undecided;
    }
    (total, value(&setup.stored("counter").await.unwrap()))
}

/// No acknowledged increment is lost, none is applied twice, and none that was refused is applied.
#[tokio::test(start_paused = true)]
async fn counters_are_exact_whatever_answers_get_lost() {
    let (mut done, mut undecided) = (0, 0);
    for seed in 0..300 {
        let (count, counter) = run(seed).await;
        assert!(
            (count.done..=count.done + count.undecided).contains(&counter),
            "seed {seed}: the counter is {counter} after {count:?}"
        );
        done += count.done;
        undecided += count.undecided;
    }
    // The runs must have met both, else they show nothing.
    assert!(done > 2000 && undecided > 0, "{done} done, {undecided} undecided");
}

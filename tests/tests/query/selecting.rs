//! Reading a part of an entity.

use table_core::query::Predicate;
use table_core::store::Selection;
use table_core::{DynamicEntity, Entity, ErrorKind, FromRow, Property, PropertyName, Query, Result, Versioned};

use crate::support::{Call, Recorder, Visit, table_on, visits};

fn of_customer() -> Predicate<Visit> {
    Visit::REGION.eq("S") & Visit::TEAM.eq(1) & Visit::CUSTOMER.eq("c")
}

#[tokio::test]
async fn one_column_reads_as_its_type() {
    let (table, store) = visits(Recorder::default(), &["S"], 0..3).await;
    let ages = table.all(Query::all().filter(of_customer()).select(Visit::AGE)).await.unwrap();
    let ages: Vec<i32> = ages.into_iter().map(Versioned::into_value).collect();
    assert_eq!(ages, [0, 1, 2]);
    let [Call::Query(query)] = &store.calls()[..] else { panic!("one call") };
    let names = ["Age", "EntityType", "EntityVersion", "RowKind"].map(|name| PropertyName::new(name).unwrap());
    assert_eq!(query.selection, Selection::Only(names.to_vec()));
}

#[tokio::test]
async fn a_tuple_reads_as_a_tuple_and_key_fields_from_the_key() {
    let (table, _) = visits(Recorder::default(), &["S"], -1..1).await;
    let columns = (Visit::REGION, Visit::FLOOR, Visit::AGE, Visit::RATING.optional());
    let found = table.all(Query::all().filter(of_customer()).select(columns)).await.unwrap();
    let found: Vec<(String, i8, i32, Option<f64>)> = found.into_iter().map(Versioned::into_value).collect();
    assert_eq!(found, [("S".into(), -1, -1, None), ("S".into(), 0, 0, None)]);
}

#[tokio::test]
async fn an_absent_property_is_an_error_unless_it_is_optional() {
    let (table, _) = table_on(Recorder::default()).await;
    table.insert(&Visit { rating: Some(4.5), ..Visit::numbered("S", 0) }).await.unwrap();
    table.insert(&Visit::numbered("S", 1)).await.unwrap();
    let query = Query::all().filter(of_customer());
    let error = table.all(query.clone().select(Visit::RATING)).await.unwrap_err();
    assert_eq!((error.kind(), error.property()), (ErrorKind::Corrupted, Some("Rating")));
    assert_eq!(error.key().unwrap().row.as_str(), "v_c_p001false_");
    let ratings = table.all(query.select(Visit::RATING.optional())).await.unwrap();
    assert_eq!(ratings.iter().map(|rating| **rating).collect::<Vec<_>>(), [Some(4.5), None]);
}

/// What the derive of a projection writes.
#[derive(Debug, PartialEq)]
struct Age(i32);

impl FromRow for Age {
    fn selection() -> Selection {
        Selection::Only(vec![PropertyName::new("Age").unwrap()])
    }

    fn recognizes(row: &DynamicEntity) -> bool {
        Visit::recognizes(row)
    }

    fn from_row(row: DynamicEntity) -> Result<Versioned<Self>> {
        let age = i32::from_value(row.get("Age").cloned().unwrap())?;
        Versioned::from_read(Self(age), row, Vec::new())
    }
}

#[tokio::test]
async fn a_projection_reads_a_smaller_struct() {
    let (table, _) = visits(Recorder::default(), &["S"], 0..2).await;
    let query = Query::all().filter(of_customer()).project::<Age>();
    assert!(query.explain().unwrap().selection().includes("EntityType"));
    let found = table.all(query).await.unwrap();
    assert_eq!(found.iter().map(|age| age.0).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(found[0].key(), &Visit::numbered("S", 0).entity_key().unwrap());
}

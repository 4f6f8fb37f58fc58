//! Keys of every form: several parts, times, optional index parts, parts that lose information.

use table_core::keys::KeyPart;
use table_core::{Entity, FromRow, Property, Query, Timestamp};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{names, range, stored};

#[derive(Property, Clone, Debug, PartialEq)]
struct DeviceId(String);

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{device}_{at:%Y%m}", row = "{{{at:desc}}}_{level}_{flag}")]
#[index(batch, partition = "batch_{batch}", row = "{score}_{at}_{device}", include())]
#[index(day, partition = "day_{at:%Y-%m-%d}", row = "{device}_{level:03}", include(note))]
#[index(all, table = "Everything", row = "{ratio}")]
struct Reading {
    device: DeviceId,
    at: Timestamp,
    level: i16,
    flag: bool,
    batch: Option<Uuid>,
    score: i64,
    ratio: f64,
    note: Option<String>,
}

fn reading() -> Reading {
    Reading {
        device: DeviceId("a_b".into()),
        at: "2014-07-31T18:00:00Z".parse().unwrap(),
        level: -5,
        flag: true,
        batch: Some(Uuid::from_u128(1)),
        score: 0,
        ratio: 0.5,
        note: None,
    }
}

#[test]
fn a_field_that_one_part_holds_exactly_is_not_stored() {
    let row = reading().to_row().unwrap();
    assert_eq!(row.key.partition.as_str(), "a^~b_201407");
    assert_eq!(row.key.row.as_str(), "{2519954711999999999}_n99994_true");
    assert_eq!(names(&row), ["Batch", "EntityType", "Ratio", "Score"]);
    assert_eq!(*Reading::from_row(stored(row)).unwrap(), reading());
}

#[test]
fn a_key_takes_each_field_once() {
    let key = Reading::key(&DeviceId("a_b".into()), reading().at, -5, true);
    assert_eq!(key.resolve().unwrap(), reading().entity_key().unwrap());
}

#[test]
fn a_field_that_the_copy_holds_with_loss_is_stored_in_it() {
    let high = Reading { level: 5, ..reading() };
    let row = high.index_row(1).unwrap().unwrap();
    assert_eq!(row.key.to_string(), "(day_2014-07-31, a^~b_005)");
    assert_eq!(names(&row), ["At", "EntityType", "Flag", "RowKind"]);
    let copy = ReadingByDay::from_row(stored(row)).unwrap();
    assert_eq!((copy.at, copy.level, copy.note.as_deref()), (high.at, 5, None));
    assert_eq!(copy.source_key().resolve().unwrap(), high.entity_key().unwrap());
    assert!(Reading::SCHEMA.indexes[1].unique);
}

#[test]
fn a_none_in_an_index_key_means_no_copy() {
    let without = Reading { batch: None, ..reading() };
    assert_eq!(without.index_key(0).unwrap(), None);
    assert_eq!(without.index_row(0).unwrap(), None);
    let indexes: Vec<_> = Reading { level: 1, ..without }.index_keys().unwrap().iter().map(|key| key.index).collect();
    assert_eq!(indexes, ["day", "all"]);

    let row = reading().index_row(0).unwrap().unwrap();
    assert_eq!(names(&row), ["EntityType", "Flag", "Level", "RowKind"]);
    let copy = ReadingByBatch::from_row(stored(row)).unwrap();
    assert_eq!((copy.batch, copy.score), (Some(Uuid::from_u128(1)), 0));
}

#[test]
fn a_full_copy_holds_every_field() {
    let row = reading().index_row(2).unwrap().unwrap();
    assert_eq!(row.key.partition, reading().entity_key().unwrap().partition);
    let copy = ReadingByAll::from_row(stored(row)).unwrap().into_value();
    let ReadingByAll { device, at, level, flag, batch, score, ratio, note } = copy;
    assert_eq!(Reading { device, at, level, flag, batch, score, ratio, note }, reading());
}

#[test]
fn a_negative_number_with_a_width_is_refused_with_its_name() {
    let error = reading().index_row(1).unwrap_err();
    assert_eq!(error.property(), Some("level"));
}

#[test]
fn a_row_that_fits_no_index_key_can_be_read_and_has_no_copy_there() {
    let read = Reading::from_row(stored(reading().to_row().unwrap())).unwrap();
    let indexes: Vec<_> = read.index_keys().iter().map(|key| key.index).collect();
    assert_eq!(indexes, ["batch", "all"]);
}

#[test]
fn lookups_take_the_parts_up_to_the_last_of_their_own() {
    let batch = range(Reading::by_batch(Uuid::from_u128(1), 7));
    assert_eq!(batch.partition.as_exact(), Some("batch_00000000-0000-0000-0000-000000000001"));
    assert!(batch.row.contains("p0000000000000000007_0635424264000000000_x"));
    assert!(!batch.row.contains("p0000000000000000008_0635424264000000000_x"));

    let day = range(Reading::by_day(reading().at));
    assert_eq!(day.partition.as_exact(), Some("day_2014-07-31"));
    assert!(day.row.is_all());

    let all = Reading::by_all(&DeviceId("d".into()), reading().at, 0.5);
    assert_eq!(all.table(), Some("Everything"));
    assert_eq!(all.resolve().unwrap().partition.as_str(), "d_201407");
}

#[test]
fn ranges_over_falling_times_and_signed_numbers() {
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    let device = DeviceId("d".into());
    let july = || Reading::range(&device, at("2014-07-01T00:00:00Z"));
    let key = |time: &str| Reading { at: at(time), ..reading() }.entity_key().unwrap().row;
    let days = range(july().at_range(at("2014-07-10T00:00:00Z")..at("2014-07-20T00:00:00Z")));
    assert_eq!(days.partition.as_exact(), Some("d_201407"));
    assert!(days.row.contains(key("2014-07-10T00:00:00Z").as_str()));
    assert!(days.row.contains(key("2014-07-19T23:59:59Z").as_str()));
    assert!(!days.row.contains(key("2014-07-20T00:00:00Z").as_str()));
    assert!(!days.row.contains(key("2014-07-09T23:59:59Z").as_str()));

    let levels = range(july().at(reading().at).level_range(-10..=-5));
    assert!(levels.row.contains(key("2014-07-31T18:00:00Z").as_str()));
    let one = range(Query::from(july().at(reading().at).level(-5).flag(true)));
    assert_eq!(one.row.as_exact(), Some(key("2014-07-31T18:00:00Z").as_str()));
}

#[test]
fn times_of_the_time_crate_stand_in_keys_too() {
    #[derive(Entity, Debug, PartialEq)]
    #[entity(partition = "", row = "{at}")]
    struct Event {
        at: OffsetDateTime,
        seen: Option<OffsetDateTime>,
    }
    let event = Event { at: OffsetDateTime::UNIX_EPOCH, seen: Some(OffsetDateTime::UNIX_EPOCH) };
    let row = stored(event.to_row().unwrap());
    assert_eq!(row.key.to_string(), "(, 0621355968000000000)");
    assert_eq!(*Event::from_row(row).unwrap(), event);
    assert!(OffsetDateTime::UNIX_EPOCH.to_key().is_ok());
}

#[test]
fn a_part_that_loses_information_leaves_an_index_unique_unless_the_primary_key_loses_the_same() {
    #[derive(Entity)]
    #[entity(partition = "{at:%Y%m}", row = "id_{id}")]
    #[index(same, row = "s_{kind}_{at:%Y%m}_{id}", include())]
    #[index(exact, row = "e_{kind}_{at}_{id}", include())]
    #[index(coarse, partition = "{kind}", row = "c_{at:%Y}_{id}", include())]
    struct Event {
        at: Timestamp,
        id: u32,
        kind: u8,
    }
    let unique: Vec<_> = Event::SCHEMA.indexes.iter().map(|index| (index.name, index.unique)).collect();
    assert_eq!(unique, [("same", false), ("exact", false), ("coarse", true)]);
}

#[test]
fn a_copy_is_told_by_its_mark_and_by_its_keys() {
    let mut row = stored(reading().index_row(0).unwrap().unwrap());
    assert!(ReadingByBatch::recognizes(&row));
    let key = row.key.clone();
    row.key.row = table_core::RowKey::new("elsewhere").unwrap();
    assert!(!ReadingByBatch::recognizes(&row));
    row.key = key;
    row.key.partition = table_core::PartitionKey::new("elsewhere").unwrap();
    assert!(!ReadingByBatch::recognizes(&row));
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "{site}", row = "{at:%Y%m%d}_{visitor}")]
struct Visit {
    site: String,
    at: Timestamp,
    visitor: u32,
}

#[test]
fn a_range_of_times_by_calendar_leaves_no_row_out() {
    let at = |text: &str| -> Timestamp { text.parse().unwrap() };
    let row = |text: &str| Visit { site: "a".into(), at: at(text), visitor: 1 }.entity_key().unwrap().row;
    let holds = |query: Query<Visit>, text: &str| range(query).row.contains(row(text).as_str());
    let (morning, noon, midnight) = ("2014-07-31T08:00:00Z", "2014-07-31T12:00:00Z", "2014-08-01T00:00:00Z");

    // Within a day, and up to the middle of one.
    assert!(holds(Visit::range("a").at_range(at(morning)..at(noon)), morning));
    assert!(holds(Visit::range("a").at_range(..at(noon)), morning));
    // Up to the end of a day, which is the beginning of the next.
    assert!(holds(Visit::range("a").at_range(at(morning)..at(midnight)), noon));
    assert!(!holds(Visit::range("a").at_range(at(morning)..at(midnight)), midnight));
    // After a time of a day, and after the last one.
    let after = |text: &str| (std::ops::Bound::Excluded(at(text)), std::ops::Bound::Unbounded);
    assert!(holds(Visit::range("a").at_range(after(morning)), noon));
    assert!(!holds(Visit::range("a").at_range(after("2014-07-31T23:59:59.9999999Z")), noon));
}

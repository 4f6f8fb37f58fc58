//! The code that the derive writes for keys does what the templates do, to the letter of their errors.

use proptest::prelude::*;
use table_core::keys::{KeyPart, KeyValue};
use table_core::{DynamicEntity, Entity, EntityKey, Error, ErrorKind, FromRow, PartitionKey, RowKey, Timestamp};
use uuid::Uuid;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(
    partition = "t_{team}_{level:03}{at:%Y}{bucket(id, 16):02}",
    row = "{at:desc}v{name}!{score}{ratio}{flag}-{id}{count:06}{wide}|{rest}"
)]
struct Everything {
    team: String,
    level: u16,
    at: Timestamp,
    name: String,
    score: i64,
    ratio: f64,
    flag: bool,
    id: Uuid,
    count: i32,
    wide: u64,
    rest: String,
}

#[derive(Entity)]
#[entity(partition = "one", row = "{level:03}")]
struct Narrow {
    level: u8,
}

/// With names that generated code could take for its own, and with functions that stand in the way of generated ones.
#[derive(Entity, Clone)]
#[entity(partition = "{key}", row = "x{first}_{row_text_1}", names(key_fields = "fields_of_key"))]
#[index(by_row, partition = "{row_text_1}_{first}", row = "r_{key}_{level:03}", include())]
struct Confusing {
    key: String,
    first: String,
    row_text_1: String,
    level: Option<u8>,
}

impl Confusing {
    const fn key_fields() -> u8 {
        7
    }
}

type Fields = (String, u16, Timestamp, String, i64, f64, bool, Uuid, i32, u64, String);

/// What is told of an error.
fn told(error: &Error) -> (ErrorKind, String, Option<String>) {
    (error.kind(), error.message().to_owned(), error.property().map(str::to_owned))
}

/// The key as the templates make it, part by part at run time.
fn written(each: &Everything) -> Result<EntityKey, Error> {
    let partition = [each.team.to_key()?, each.level.to_key()?, each.at.to_key()?, each.id.to_key()?];
    let row = [
        each.at.to_key()?,
        each.name.to_key()?,
        each.score.to_key()?,
        each.ratio.to_key()?,
        each.flag.to_key()?,
        each.id.to_key()?,
        each.count.to_key()?,
        each.wide.to_key()?,
        each.rest.to_key()?,
    ];
    let schema = Everything::SCHEMA;
    Ok(EntityKey::new(schema.partition.partition_key(&partition)?, schema.row.row_key(&row)?))
}

/// The fields as the templates find them.
fn found(key: &EntityKey) -> Result<Fields, Error> {
    let (mut partition, mut row) = ([const { KeyValue::Lost }; 4], [const { KeyValue::Lost }; 9]);
    Everything::SCHEMA.partition.decode(key.partition.as_str(), &mut partition)?;
    Everything::SCHEMA.row.decode(key.row.as_str(), &mut row)?;
    let ([team, level, _, _], [at, name, score, ratio, flag, id, count, wide, rest]) = (partition, row);
    Ok((
        String::from_key(team)?,
        u16::from_key(level)?,
        Timestamp::from_key(at)?,
        String::from_key(name)?,
        i64::from_key(score)?,
        f64::from_key(ratio)?,
        bool::from_key(flag)?,
        Uuid::from_key(id)?,
        i32::from_key(count)?,
        u64::from_key(wide)?,
        String::from_key(rest)?,
    ))
}

/// Texts of what is escaped, what stands beside it, and ordinary words, some of them longer than a word of memory.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[/\\\\#?~}._^\\[\">!| \u{e9}\u{1f600}a]{0,6}", "[a-z]{0,20}", "[a-z]{7,9}[_!|~/\u{7f}]?[a-z]{0,9}"]
}

fn everything() -> impl Strategy<Value = Everything> {
    let texts = (any_text(), any_text(), any_text());
    let numbers = (0..1_100_u16, any::<i64>(), -100..1_100_000_i32, any::<u64>());
    let others = (0..3_155_378_975_999_999_999_i64, any::<f64>(), any::<bool>(), any::<u128>());
    (texts, numbers, others).prop_map(|((team, name, rest), (level, score, count, wide), (ticks, ratio, flag, id))| {
        Everything {
            team,
            level,
            at: Timestamp::from_ticks(ticks).unwrap(),
            name,
            score,
            ratio,
            flag,
            id: Uuid::from_u128(id),
            count,
            wide,
            rest,
        }
    })
}

/// One character of a text taken out, and another put in its place.
fn altered(text: &str, at: usize, with: &str) -> String {
    let at = at % (text.chars().count() + 1);
    text.chars().take(at).chain(with.chars()).chain(text.chars().skip(at + 1)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_key_is_written_as_the_template_writes_it(each in everything()) {
        let (ours, templates) = (each.entity_key(), written(&each));
        prop_assert_eq!(ours.as_ref().map_err(told), templates.as_ref().map_err(told));
        let key = Everything::key(&each.team, each.level, each.at, each.id, &each.name, each.score, each.ratio, each.flag, each.count, each.wide, &each.rest);
        prop_assert_eq!(key.resolve().map_err(|error| told(&error)), templates.map_err(|error| told(&error)));
    }

    #[test]
    fn a_key_is_read_as_the_template_reads_it(
        each in everything(),
        (in_row, at, with) in (any::<bool>(), 0..400_usize, "[~}^_!|a09\u{e9}v]?"),
    ) {
        let each = Everything { level: each.level % 1_000, count: each.count.abs() % 1_000_000, ratio: 0.5, ..each };
        let Ok(key) = each.entity_key() else { return Ok(()) };
        let (mut partition, mut row) = (key.partition.to_string(), key.row.to_string());
        if in_row { row = altered(&row, at, &with) } else { partition = altered(&partition, at, &with) }
        for key in [key, EntityKey::new(PartitionKey::new(partition).unwrap(), RowKey::new(row).unwrap())] {
            let (ours, templates) = (Everything::key_fields(&key), found(&key));
            let is_of_type = templates.is_ok();
            prop_assert_eq!(ours.map_err(|error| told(&error)), templates.map_err(|error| told(&error)));
            let row = DynamicEntity::new(key);
            prop_assert_eq!(Everything::recognizes(&row), is_of_type);
            prop_assert_eq!(Everything::SCHEMA.recognizes(&row), is_of_type);
        }
    }

    #[test]
    fn the_key_of_a_copy_is_written_as_its_templates_write_it(
        (key, first, row_text_1) in (any_text(), any_text(), any_text()),
        level in any::<Option<u8>>(),
    ) {
        let confusing = Confusing { key, first, row_text_1, level };
        let index = &Confusing::SCHEMA.indexes[0];
        let templates = || -> Result<_, Error> {
            let partition = [confusing.row_text_1.to_key()?, confusing.first.to_key()?];
            let Some(level) = level else { return Ok(None) };
            let row = [confusing.key.to_key()?, level.to_key()?];
            let partition = index.partition.unwrap().partition_key(&partition)?;
            Ok(Some(EntityKey::new(partition, index.row.row_key(&row)?)))
        };
        let (ours, templates) = (confusing.index_key(0), templates());
        if level.is_some() {
            prop_assert_eq!(ours.as_ref().map_err(told), templates.as_ref().map_err(told));
        } else {
            prop_assert_eq!(ours.as_ref().ok(), Some(&None));
        }
        if let (Ok(Some(held)), Ok(source)) = (ours, confusing.entity_key()) {
            let mut row = confusing.index_row(0).unwrap().unwrap();
            prop_assert_eq!(&row.key, &held);
            row.etag = Some(table_core::ETag::from_timestamp(Timestamp::UNIX_EPOCH));
            prop_assert_eq!(Confusing::copy_source(0, row).unwrap(), source);
        }
    }
}

#[test]
fn no_name_of_a_field_is_taken_for_another() {
    let confusing = Confusing { key: "A".into(), first: "B".into(), row_text_1: "C".into(), level: Some(9) };
    let key = confusing.entity_key().unwrap();
    assert_eq!(key.to_string(), "(A, xB_C)");
    assert_eq!(Confusing::key("A", "B", "C").resolve().unwrap(), key);
    assert_eq!(Confusing::fields_of_key(&key).unwrap(), ("A".into(), "B".into(), "C".into()));
    assert_eq!(Confusing::key_fields(), 7);
}

#[test]
fn digits_that_the_field_cannot_hold_are_refused_by_its_name() {
    let error = Narrow::key_fields(&EntityKey::parse("one", "256").unwrap()).unwrap_err();
    assert_eq!((error.kind(), error.property()), (ErrorKind::Corrupted, Some("level")));
    assert_eq!(Narrow::key_fields(&EntityKey::parse("one", "255").unwrap()).unwrap(), (255,));
}

#[test]
fn a_key_that_gets_too_long_is_refused_by_what_it_is() {
    let name = "n".repeat(512);
    let error = Everything::key(&name, 1, Timestamp::UNIX_EPOCH, Uuid::nil(), "", 0, 0.0, true, 0, 0, "").resolve();
    assert_eq!(error.as_ref().unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert!(error.unwrap_err().message().contains("partition key"));
    let error = Everything::key("", 1, Timestamp::UNIX_EPOCH, Uuid::nil(), &name, 0, 0.0, true, 0, 0, "").resolve();
    assert!(error.unwrap_err().message().contains("row key"));
}

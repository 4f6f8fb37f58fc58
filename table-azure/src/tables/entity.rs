//! Entities as OData JSON with minimal metadata, types exact both ways.
//!
//! JSON has no types for most of ours, so each value that is not plainly a text, a truth or an Int32 is sent with its type
//! beside it, `Age@odata.type`, as the service sends them back.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Number, Value as Json};
use table_core::store::Selection;
use table_core::{DynamicEntity, ETag, EdmType, EntityKey, Error, PropertyName, Result, Timestamp, Value};

const ETAG: &str = "odata.etag";
const TYPE: &str = "@odata.type";

/// The body of a write.
pub(super) fn encode(entity: &DynamicEntity) -> Vec<u8> {
    let mut body = Vec::with_capacity(512);
    encode_into(&mut body, entity);
    body
}

/// Writes the body of a write behind what is there.
pub(super) fn encode_into(text: &mut Vec<u8>, entity: &DynamicEntity) {
    // Texts as keys and a vector to write to: there is nothing that could fail.
    let _ = serde_json::to_writer(text, &Body(entity));
}

/// An entity as it is sent. It goes straight into text: a tree of JSON would copy every name and value first.
struct Body<'e>(&'e DynamicEntity);

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Self(entity) = self;
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry("PartitionKey", entity.key.partition.as_str())?;
        body.serialize_entry("RowKey", entity.key.row.as_str())?;
        for (name, value) in entity.properties.iter() {
            if needs_type(value) {
                body.serialize_entry(&format_args!("{name}{TYPE}"), value.edm_type().as_str())?;
            }
            body.serialize_entry(name.as_str(), &Sent(value))?;
        }
        body.end()
    }
}

const fn needs_type(value: &Value) -> bool {
    !matches!(value, Value::Boolean(_) | Value::Int32(_) | Value::String(_))
}

/// A value as it is sent.
struct Sent<'v>(&'v Value);

impl Serialize for Sent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            Value::Binary(bytes) => serializer.serialize_str(&STANDARD.encode(bytes)),
            Value::Boolean(truth) => serializer.serialize_bool(*truth),
            Value::DateTime(at) => serializer.collect_str(at),
            Value::Double(number) if number.is_nan() => serializer.serialize_str("NaN"),
            Value::Double(f64::INFINITY) => serializer.serialize_str("Infinity"),
            Value::Double(f64::NEG_INFINITY) => serializer.serialize_str("-Infinity"),
            Value::Double(number) => serializer.serialize_f64(*number),
            Value::Guid(uuid) => serializer.collect_str(uuid),
            Value::Int32(number) => serializer.serialize_i32(*number),
            Value::Int64(number) => serializer.collect_str(number),
            Value::String(text) => serializer.serialize_str(text),
        }
    }
}

/// An entity that the service sent. Properties that were not selected are left out, should they come all the same.
///
/// # Errors
/// `Corrupted`, naming the property.
pub(super) fn decode(body: &Map<String, Json>, selection: &Selection) -> Result<DynamicEntity> {
    let text = |name: &str| body.get(name).and_then(Json::as_str);
    let key = match (text("PartitionKey"), text("RowKey")) {
        (Some(partition), Some(row)) => EntityKey::parse(partition, row)?,
        _ => return Err(Error::corrupted("an entity in the service's answer has no keys")),
    };
    let mut entity = DynamicEntity::new(key);
    entity.etag = text(ETAG).map(ETag::from);
    entity.timestamp = text("Timestamp").map(str::parse::<Timestamp>).transpose()?;
    for (name, value) in body {
        if is_metadata(name) || !selection.includes(name) {
            continue;
        }
        let edm_type = body.get(&format!("{name}{TYPE}")).and_then(Json::as_str);
        let located = |error: Error| error.with_property(name.as_str()).with_key(entity.key.clone());
        // A property that is null is one that the entity lacks.
        if let Some(value) = value_of(value, edm_type).map_err(located)? {
            entity.properties.insert(PropertyName::new(name)?, value);
        }
    }
    Ok(entity)
}

fn is_metadata(name: &str) -> bool {
    name.contains('@') || name.starts_with("odata.") || matches!(name, "PartitionKey" | "RowKey" | "Timestamp")
}

fn value_of(json: &Json, edm_type: Option<&str>) -> Result<Option<Value>> {
    let junk = || Error::corrupted("a value in the service's answer does not fit its type");
    let value = match (json, edm_type) {
        (Json::Null, _) => return Ok(None),
        (Json::String(text), Some(edm_type)) => typed(text, edm_type).ok_or_else(junk)?,
        (Json::String(text), None) => Value::String(text.clone()),
        (Json::Bool(truth), _) => Value::Boolean(*truth),
        (Json::Number(number), edm_type) => numeric(number, edm_type).ok_or_else(junk)?,
        (Json::Array(_) | Json::Object(_), _) => return Err(junk()),
    };
    Ok(Some(value))
}

fn typed(text: &str, edm_type: &str) -> Option<Value> {
    Some(match edm_of(edm_type)? {
        EdmType::String => Value::String(text.to_owned()),
        EdmType::Binary => Value::from(STANDARD.decode(text).ok()?),
        EdmType::DateTime => Value::DateTime(text.parse().ok()?),
        EdmType::Guid => Value::Guid(text.parse().ok()?),
        EdmType::Int64 => Value::Int64(text.parse().ok()?),
        EdmType::Int32 => Value::Int32(text.parse().ok()?),
        EdmType::Boolean => Value::Boolean(text.parse().ok()?),
        EdmType::Double => Value::Double(match text {
            "NaN" => f64::NAN,
            "Infinity" | "INF" => f64::INFINITY,
            "-Infinity" | "-INF" => f64::NEG_INFINITY,
            number => number.parse().ok()?,
        }),
    })
}

/// A number without a type is an Int32, or a double where it has a point or an exponent.
fn numeric(number: &Number, edm_type: Option<&str>) -> Option<Value> {
    match edm_type.map(edm_of) {
        Some(Some(EdmType::Double)) => Some(Value::Double(number.as_f64()?)),
        Some(Some(EdmType::Int64)) => Some(Value::Int64(number.as_i64()?)),
        None | Some(Some(EdmType::Int32)) => match number.as_i64() {
            Some(whole) => i32::try_from(whole).ok().map(Value::Int32),
            None => number.as_f64().map(Value::Double),
        },
        Some(_) => None,
    }
}

fn edm_of(name: &str) -> Option<EdmType> {
    use EdmType::{Binary, Boolean, DateTime, Double, Guid, Int32, Int64, String};
    [Binary, Boolean, DateTime, Double, Guid, Int32, Int64, String].into_iter().find(|each| each.as_str() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn read(json: &str) -> Result<DynamicEntity> {
        decode(&serde_json::from_str(json).unwrap(), &Selection::All)
    }

    fn value(json: &str) -> Option<Value> {
        read(&format!(r#"{{"PartitionKey":"p","RowKey":"r",{json}}}"#)).unwrap().get("A").cloned()
    }

    #[test]
    fn types_are_read_as_the_service_sends_them() {
        let at: Timestamp = "2014-08-22T00:50:32.1234567Z".parse().unwrap();
        let uuid = Uuid::from_u128(0xc9da_6455_213d_42c9_9a79_3e91_49a5_7833);
        for (json, expected) in [
            (r#""A":"text""#, Value::from("text")),
            (r#""A":42"#, Value::Int32(42)),
            (r#""A":true"#, Value::Boolean(true)),
            (r#""A":1.5"#, Value::Double(1.5)),
            (r#""A":1.0"#, Value::Double(1.0)),
            (r#""A@odata.type":"Edm.Double","A":1"#, Value::Double(1.0)),
            (r#""A@odata.type":"Edm.Double","A":"Infinity""#, Value::Double(f64::INFINITY)),
            (r#""A@odata.type":"Edm.Double","A":"-Infinity""#, Value::Double(f64::NEG_INFINITY)),
            (r#""A@odata.type":"Edm.Double","A":"NaN""#, Value::Double(f64::NAN)),
            (r#""A@odata.type":"Edm.Int64","A":"9007199254740993""#, Value::Int64(9_007_199_254_740_993)),
            (r#""A@odata.type":"Edm.DateTime","A":"2014-08-22T00:50:32.1234567Z""#, Value::DateTime(at)),
            (r#""A@odata.type":"Edm.Guid","A":"c9da6455-213d-42c9-9a79-3e9149a57833""#, Value::Guid(uuid)),
            (r#""A@odata.type":"Edm.Binary","A":"yv4=""#, Value::from(vec![0xca, 0xfe])),
        ] {
            assert_eq!(value(json), Some(expected), "{json}");
        }
    }

    #[test]
    fn null_is_absent_and_metadata_is_no_property() {
        let row = read(
            r#"{"odata.metadata":"m","odata.etag":"W/\"x\"","PartitionKey":"p","RowKey":"r","Timestamp":"2014-08-22T00:50:32Z","A":null}"#,
        )
        .unwrap();
        assert!(row.properties.is_empty());
        assert_eq!(row.etag, Some(ETag::from("W/\"x\"")));
        assert_eq!(row.timestamp.unwrap().to_string(), "2014-08-22T00:50:32.0000000Z");
    }

    #[test]
    fn junk_is_corrupted_and_names_its_property() {
        for json in [
            r#""A@odata.type":"Edm.Int64","A":"x""#,
            r#""A@odata.type":"Edm.Guid","A":"x""#,
            r#""A@odata.type":"Edm.DateTime","A":"x""#,
            r#""A@odata.type":"Edm.Binary","A":"*""#,
            r#""A@odata.type":"Edm.Unheard","A":"x""#,
            r#""A@odata.type":"Edm.Guid","A":5"#,
            r#""A":4000000000"#,
            r#""A":[1]"#,
            r#""A":{}"#,
        ] {
            let error = read(&format!(r#"{{"PartitionKey":"p","RowKey":"r",{json}}}"#)).unwrap_err();
            assert_eq!(error.property(), Some("A"), "{json}");
        }
        assert!(read(r#"{"PartitionKey":"p"}"#).is_err());
    }

    #[test]
    fn a_selection_holds_whatever_comes() {
        let body = serde_json::from_str(r#"{"PartitionKey":"p","RowKey":"r","A":1,"B":2}"#).unwrap();
        let row = decode(&body, &Selection::Only(vec![PropertyName::new("B").unwrap()])).unwrap();
        assert_eq!((row.get("A"), row.get("B")), (None, Some(&Value::Int32(2))));
    }

    fn values() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<i32>().prop_map(Value::Int32),
            any::<i64>().prop_map(Value::Int64),
            // There are many NaNs and one way to write them.
            any::<f64>().prop_map(|number| Value::Double(if number.is_nan() { f64::NAN } else { number })),
            any::<bool>().prop_map(Value::Boolean),
            any::<String>().prop_map(Value::String),
            any::<Vec<u8>>().prop_map(Value::from),
            any::<u128>().prop_map(|bits| Value::Guid(Uuid::from_u128(bits))),
            (Timestamp::MIN_PROPERTY.ticks()..=Timestamp::MAX.ticks())
                .prop_map(|ticks| Value::DateTime(Timestamp::from_ticks(ticks).unwrap())),
        ]
    }

    proptest! {
        #[test]
        fn every_value_comes_back_exactly(value in values()) {
            let row = DynamicEntity::new(EntityKey::parse("p", "r").unwrap()).with("A", value).unwrap();
            let body = serde_json::from_slice(&encode(&row)).unwrap();
            prop_assert_eq!(decode(&body, &Selection::All).unwrap(), row);
        }
    }
}

//! Finds the common part of several JSON values, and the rest of each.
//!
//! Must not know: the meaning of the values. Start reading at [`of`]; [`with`] joins the parts again. The rule for
//! readers: objects are merged key by key, any other value of a job replaces the common one.

use serde_json::{Map, Value};

/// The common part of all values: the whole value if all are equal, common keys if all are objects with the same keys,
/// otherwise nothing.
pub(super) fn of(values: &[&Value]) -> Option<Value> {
    let (first, others) = values.split_first()?;
    if others.iter().all(|other| other == first) {
        return Some((*first).clone());
    }
    let objects: Vec<&Map<String, Value>> = values.iter().map(|value| value.as_object()).collect::<Option<_>>()?;
    let has_keys_of_first = |other: &&Map<String, Value>| {
        other.len() == objects[0].len() && other.keys().all(|key| objects[0].contains_key(key))
    };
    // An object with other keys would get the common keys when it is read.
    if !objects.iter().all(has_keys_of_first) {
        return None;
    }
    let of_key = |key: &String| {
        let children: Vec<&Value> = objects.iter().filter_map(|object| object.get(key)).collect();
        of(&children).map(|shared| (key.clone(), shared))
    };
    let shared: Map<String, Value> = objects[0].keys().filter_map(of_key).collect();
    (!shared.is_empty()).then_some(Value::Object(shared))
}

/// The rest of a value without the common part; `None`: nothing is left.
pub(super) fn without(value: &Value, shared: &Value) -> Option<Value> {
    let (Value::Object(object), Value::Object(shared_object)) = (value, shared) else {
        return (value != shared).then(|| value.clone());
    };
    let of_key = |(key, child): (&String, &Value)| {
        let rest = match shared_object.get(key) {
            Some(shared) => without(child, shared),
            None => Some(child.clone()),
        };
        rest.map(|rest| (key.clone(), rest))
    };
    let rest: Map<String, Value> = object.iter().filter_map(of_key).collect();
    (!rest.is_empty()).then_some(Value::Object(rest))
}

/// A value, joined from the common part and its own.
pub(super) fn with(own: &Value, shared: &Value) -> Value {
    let (Value::Object(own), Value::Object(shared)) = (own, shared) else { return own.clone() };
    let mut whole = shared.clone();
    for (key, child) in own {
        let merged = whole.get(key).map_or_else(|| child.clone(), |shared| with(child, shared));
        whole.insert(key.clone(), merged);
    }
    Value::Object(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn parts_of_known_values() {
        let values = [json!({"a": {"x": 1, "y": 2}, "b": null}), json!({"a": {"x": 1, "y": 3}, "b": null})];
        let shared = of(&[&values[0], &values[1]]).unwrap();
        assert_eq!(shared, json!({"a": {"x": 1}, "b": null}));
        assert_eq!(without(&values[1], &shared), Some(json!({"a": {"y": 3}})));
        assert_eq!(of(&[&json!({"Bytes": 1}), &json!({"Percent": 1})]), None);
        assert_eq!(of(&[&json!([1, 2]), &json!([1, 3])]), None);
        assert_eq!(of(&[]), None);
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(Value::Null), (0..3_u8).prop_map(Value::from), "[ab]".prop_map(Value::from)];
        leaf.prop_recursive(3, 24, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[abc]", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn nothing_is_lost(values in prop::collection::vec(any_value(), 1..5)) {
            let all: Vec<&Value> = values.iter().collect();
            if let Some(shared) = of(&all) {
                for value in &values {
                    let own = without(value, &shared);
                    // Values that are no objects have a common part only if all are equal.
                    let read = own.map_or_else(|| shared.clone(), |own| with(&own, &shared));
                    prop_assert_eq!(&read, value);
                }
            }
        }
    }
}

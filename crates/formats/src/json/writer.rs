//! Writes JSON in fio's own layout: `"key" : value`, two blanks for each level, numbers as `%f`.
//!
//! Must not know: results. Start reading at [`JsonWriter`].

use crate::text::put;
use serde_json::Value;

/// Writes one document. Values go to the object or array whose closure is running.
#[derive(Debug, Default)]
pub(super) struct JsonWriter {
    out: String,
    depth: usize,
    /// The current object or array has at least one value.
    has_values: bool,
}

impl JsonWriter {
    /// The document of one object, with a newline at its end.
    pub(super) fn document(fill: impl FnOnce(&mut Self)) -> String {
        let mut writer = Self::default();
        writer.enclosed('{', '}', fill);
        writer.out.push('\n');
        writer.out
    }

    pub(super) fn object(&mut self, key: &str, fill: impl FnOnce(&mut Self)) {
        self.key(key);
        self.enclosed('{', '}', fill);
    }

    /// An array as a member of an object.
    pub(super) fn array(&mut self, key: &str, fill: impl FnOnce(&mut Self)) {
        self.key(key);
        self.enclosed('[', ']', fill);
    }

    /// An object as an element of an array.
    pub(super) fn element(&mut self, fill: impl FnOnce(&mut Self)) {
        self.next_value();
        self.enclosed('{', '}', fill);
    }

    /// A whole number as an element of an array.
    pub(super) fn integer_element(&mut self, value: impl Into<i128>) {
        self.next_value();
        put!(&mut self.out, "{}", value.into());
    }

    pub(super) fn string(&mut self, key: &str, value: &str) {
        self.key(key);
        self.quoted(value);
    }

    /// A whole number.
    pub(super) fn integer(&mut self, key: &str, value: impl Into<i128>) {
        self.key(key);
        put!(&mut self.out, "{}", value.into());
    }

    /// A number with six decimals. JSON cannot express infinities and non-numbers; they become 0.
    pub(super) fn float(&mut self, key: &str, value: f64) {
        self.key(key);
        put!(&mut self.out, "{:.6}", if value.is_finite() { value } else { 0.0 });
    }

    /// Any JSON value, in the same layout.
    pub(super) fn value(&mut self, key: &str, value: &Value) {
        self.key(key);
        self.any(value);
    }

    /// A value after its key or its indentation. The nesting is bounded, because only our own types are written this
    /// way.
    fn any(&mut self, value: &Value) {
        match value {
            Value::Object(members) => {
                self.enclosed('{', '}', |writer| members.iter().for_each(|(key, value)| writer.value(key, value)));
            }
            Value::Array(values) => self.enclosed('[', ']', |writer| {
                for value in values {
                    writer.next_value();
                    writer.any(value);
                }
            }),
            Value::String(text) => self.quoted(text),
            Value::Number(number) if number.is_f64() => put!(&mut self.out, "{:.6}", number.as_f64().unwrap_or(0.0)),
            Value::Number(_) | Value::Bool(_) | Value::Null => put!(&mut self.out, "{value}"),
        }
    }

    fn key(&mut self, key: &str) {
        self.next_value();
        self.quoted(key);
        self.out.push_str(" : ");
    }

    /// Ends the value before this one and indents.
    fn next_value(&mut self) {
        if self.has_values {
            self.out.push_str(",\n");
        }
        self.has_values = true;
        self.indent();
    }

    fn indent(&mut self) {
        self.out.extend(std::iter::repeat_n("  ", self.depth));
    }

    /// Empty brackets contain an empty line, as in fio.
    fn enclosed(&mut self, open: char, close: char, fill: impl FnOnce(&mut Self)) {
        self.out.push(open);
        self.out.push('\n');
        self.depth += 1;
        self.has_values = false;
        fill(self);
        self.depth -= 1;
        self.has_values = true;
        self.out.push('\n');
        self.indent();
        self.out.push(close);
    }

    /// fio escapes only `"` and `\\`. Control characters are escaped too here, because in a job's name they would make
    /// the document invalid.
    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        for character in text.chars() {
            match character {
                '"' | '\\' => self.out.extend(['\\', character]),
                '\0'..' ' => put!(&mut self.out, "\\u{:04x}", u32::from(character)),
                _ => self.out.push(character),
            }
        }
        self.out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn layout() {
        let text = JsonWriter::document(|writer| {
            writer.string("fio version", "a\"b\\c\n");
            writer.object("empty", |_| {});
            writer.array("list", |writer| {
                writer.element(|writer| writer.integer("n", u64::MAX));
                writer.element(|writer| writer.float("f", 12.0));
            });
            writer.float("last", f64::NAN);
        });
        let expected = "{\n  \"fio version\" : \"a\\\"b\\\\c\\u000a\",\n  \"empty\" : {\n\n  },\n  \"list\" : [\n    {\n      \
             \"n\" : 18446744073709551615\n    },\n    {\n      \"f\" : 12.000000\n    }\n  ],\n  \"last\" : 0.000000\n}\n";
        assert_eq!(text, expected);
        serde_json::from_str::<serde_json::Value>(&text).expect("valid JSON");
    }

    #[test]
    fn any_value_is_laid_out_like_the_rest() {
        let value = serde_json::json!({"list": [1, -2.5, "a\"b", null, [true]], "empty": []});
        let text = JsonWriter::document(|writer| writer.value("deep", &value));
        let expected = "{\n  \"deep\" : {\n    \"list\" : [\n      1,\n      -2.500000,\n      \"a\\\"b\",\n      null,\n      \
             [\n        true\n      ]\n    ],\n    \"empty\" : [\n\n    ]\n  }\n}\n";
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Value>(&text).expect("valid JSON")["deep"], value);
    }

    proptest! {
        #[test]
        fn any_text_is_valid_and_survives(key in any::<String>(), value in any::<String>(), number in any::<f64>()) {
            let text = JsonWriter::document(|writer| {
                writer.string(&key, &value);
                writer.array("list", |writer| writer.element(|writer| writer.float("f", number)));
            });
            let read: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
            prop_assert_eq!(read[&key].as_str(), Some(value.as_str()));
        }
    }
}

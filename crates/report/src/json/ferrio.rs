//! The `ferrio` key: what ferrio has to add to fio's document. All of it stands under this one key, the last of the
//! document, and the key is there only when there is something to add.
//!
//! Must not know: jobs. Start reading at [`write()`].

use super::writer::Writer;
use ferrio_stats::{Messages, RunResult};

/// Writes the key.
pub(super) fn write(writer: &mut Writer, result: &RunResult) {
    if result.messages.is_empty() {
        return;
    }
    writer.object("ferrio", |writer| messages(writer, &result.messages));
}

/// What fio prints before the document, where nothing but documents goes to their stream.
fn messages(writer: &mut Writer, messages: &Messages) {
    if messages.is_empty() {
        return;
    }
    writer.array("messages", |writer| {
        for message in messages.kept() {
            writer.element(|writer| {
                writer.string("stream", message.stream.name());
                writer.string("text", &message.text);
            });
        }
    });
    if messages.n_left_out() > 0 {
        writer.integer("messages_left_out", messages.n_left_out());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::MessageStream::{Error, Info};

    fn document(all: &Messages) -> String {
        Writer::document(|writer| messages(writer, all))
    }

    #[test]
    fn messages_have_their_stream() {
        let mut all = Messages::default();
        all.push(Info, "\nfio: terminating on signal 2\n");
        all.push(Error, "fio: \"a\\b\": \t no\n");
        let read: serde_json::Value = serde_json::from_str(&document(&all)).expect("valid JSON");
        let expected = serde_json::json!({"messages": [
            {"stream": "info", "text": "fio: terminating on signal 2"},
            {"stream": "error", "text": "fio: \"a\\b\": \t no"},
        ]});
        assert_eq!(read, expected);
    }

    #[test]
    fn those_without_room_are_counted() {
        let mut all = Messages::default();
        (0..1_003).for_each(|_| all.push(Info, "again"));
        let read: serde_json::Value = serde_json::from_str(&document(&all)).expect("valid JSON");
        assert_eq!(read["messages"].as_array().map(Vec::len), Some(1_000));
        assert_eq!(read["messages_left_out"], 3);
    }

    #[test]
    fn nothing_without_anything_to_add() {
        assert_eq!(document(&Messages::default()), "{\n\n}\n");
    }
}

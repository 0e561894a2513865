//! Messages of the Debug Adapter Protocol: a header with the length, and JSON.

use std::io::{self, BufRead};

use serde_json::Value;

/// The longest message that is read.
const MOST_BYTES: usize = 16 << 20;

/// Reads a message; none at the end.
///
/// # Errors
/// It is no message.
pub(super) fn read(from: &mut impl BufRead) -> io::Result<Option<Value>> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut length = None;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(text) = line.strip_prefix("Content-Length:") {
            length = text.trim().parse().ok();
        }
    }
    let length: usize = length.ok_or_else(|| wrong("a message without its length"))?;
    if length > MOST_BYTES {
        return Err(wrong(&format!(
            "a message of {length} bytes; at most {MOST_BYTES} are read"
        )));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(io::Error::from)
}

/// A message as it is written.
pub(super) fn written(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_read_as_they_are_written() {
        let (one, two) = (json!({"seq": 1, "text": "\u{e9}"}), json!([2]));
        let mut bytes = written(&one);
        bytes.extend(written(&two));
        let mut from = bytes.as_slice();
        assert_eq!(read(&mut from).expect("a message"), Some(one));
        assert_eq!(read(&mut from).expect("a message"), Some(two));
        assert_eq!(read(&mut from).expect("the end"), None);
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for text in [
            "Content-Length: 99999999999\r\n\r\n{}",
            "Content-Length: 17\r\n\r\n{}",
            "Content-Length: 2\r\n\r\n{x",
            "X: 1\r\n\r\n",
        ] {
            assert!(read(&mut text.as_bytes()).is_err(), "{text}");
        }
    }
}

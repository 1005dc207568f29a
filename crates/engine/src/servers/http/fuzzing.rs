//! An answer from its bytes alone, for the fuzz target: taken in pieces, and all that is made of it.
//!
//! Must not know: sockets. Start reading at [`take_answer`].

use super::answer::{BodyUse, HttpAnswer};
use super::explain;
use super::login::HttpLogin;
use super::request::Method;
use crate::fuzzing::TakenAnswer;

/// Takes an answer; see [`crate::fuzzing::http_answer`].
pub(crate) fn take_answer(bytes: &[u8], piece_bytes: usize, block_bytes: usize, reads: bool) -> TakenAnswer {
    let (mut answer, mut block, mut input) = (HttpAnswer::default(), vec![0; block_bytes], Vec::new());
    answer.clear(if reads { BodyUse::Data(200, 206) } else { BodyUse::Inquiry });
    let mut taken = Ok(());
    for piece in bytes.chunks(piece_bytes) {
        input.extend_from_slice(piece);
        match answer.take(&input, &mut block) {
            Ok(n_used) => drop(input.drain(..n_used)),
            Err(error) => {
                taken = Err(error);
                break;
            }
        }
    }
    if taken.is_ok() && !answer.is_whole() {
        taken = answer.close();
    }
    let login = HttpLogin::answer(&answer.headers.challenges, &("user".to_owned(), "password".to_owned()));
    let has_login = login.map(|mut login| login.header(&("user".to_owned(), "password".to_owned()), "GET", "/o"));
    TakenAnswer {
        status: answer.status,
        error: taken.err().map(|fault| fault.to_string()),
        block,
        reason: explain::reason(Method::Get, &answer, true),
        has_login: has_login.is_some(),
    }
}

//! What is served under which path.
//!
//! Must not know: sockets, frames. Start reading at [`router`].

use super::guard::{Refused, WebGuard};
use super::metrics::{MetricsForm, metrics_text};
use super::page::LivePage;
use super::places::ConnectionPlace;
use super::state::{WebReports, WebState, end_event};
use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::body::Frame;
use serde_json::json;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::{mpsc, watch};

const JSON: &str = "application/json";
const HTML: &str = "text/html; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// What streams of events are told next.
#[derive(Debug, Clone)]
pub(super) enum News {
    /// Nothing has happened yet.
    Nothing,
    /// An event.
    Event(Bytes),
    /// The last event.
    Last(Bytes),
}

pub(super) struct WebShared {
    state: Mutex<WebState>,
    news: watch::Sender<News>,
    guard: WebGuard,
    page: LivePage,
    /// Pages that follow the run and will fetch its report.
    n_following: AtomicUsize,
    n_fetched: AtomicUsize,
}

impl WebShared {
    pub(super) fn new(guard: WebGuard) -> Self {
        Self {
            state: Mutex::default(),
            news: watch::Sender::new(News::Nothing),
            guard,
            page: LivePage::new(),
            n_following: AtomicUsize::new(0),
            n_fetched: AtomicUsize::new(0),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, WebState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the run, and tells the streams what is new. Without a stream there is nothing to make.
    pub(super) fn tell(&self) {
        let mut state = self.state();
        if matches!(*self.news.borrow(), News::Last(_)) {
            // A stream that is slow, or begins now, has still to take the last event.
            return;
        }
        let has_news = state.look();
        if self.news.receiver_count() == 0 {
            state.leave_points_out();
        } else if has_news {
            self.news.send_replace(News::Event(state.now_event()));
        }
    }

    /// Tells the streams that nothing more comes.
    pub(super) fn tell_end(&self) {
        let state = self.state();
        self.news.send_replace(News::Last(end_event(state.reports.is_some())));
    }

    /// A page that follows the run has not fetched its report.
    pub(super) fn is_awaited(&self) -> bool {
        self.state().reports.is_some()
            && self.n_fetched.load(Ordering::Relaxed) < self.n_following.load(Ordering::Relaxed)
    }

    fn reports(&self) -> Option<WebReports> {
        self.state().reports.clone()
    }
}

/// The paths of the server.
pub(super) fn router(shared: &Arc<WebShared>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/events", get(events))
        .route("/metrics", get(metrics))
        .route("/result.json", get(result))
        .fallback(|| async {
            (StatusCode::NOT_FOUND, "There are /, /metrics, /result.json and /events.\n").into_response()
        })
        .layer(middleware::from_fn_with_state(Arc::clone(shared), check))
        .with_state(Arc::clone(shared))
}

/// Refuses what the guard refuses, and adds the headers that all answers have.
async fn check(State(shared): State<Arc<WebShared>>, request: Request, next: Next) -> Response {
    let mut response = match judge(&shared.guard, &request) {
        Ok(()) => next.run(request).await,
        Err(refused) => refusal(refused),
    };
    let headers = response.headers_mut();
    let common = [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in common {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn judge(guard: &WebGuard, request: &Request) -> Result<(), Refused> {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    guard.judge(text(header::HOST), text(header::AUTHORIZATION), request.uri().query())
}

fn refusal(refused: Refused) -> Response {
    let (status, text) = match refused {
        Refused::NoHost => (StatusCode::BAD_REQUEST, "The request names no host.\n"),
        Refused::OtherHost => (StatusCode::FORBIDDEN, "This server has another name: use its address, or localhost.\n"),
        Refused::NoToken => (
            StatusCode::UNAUTHORIZED,
            "The token of --web-token is missing or wrong: give it as ?token=TOKEN or in a header Authorization: Bearer TOKEN.\n",
        ),
    };
    let mut response = answer(status, PLAIN, text);
    if refused == Refused::NoToken {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

fn answer(status: StatusCode, kind: &'static str, content: impl Into<Body>) -> Response {
    (status, [(header::CONTENT_TYPE, kind)], content.into()).into_response()
}

/// The page that follows the run, and at its end the report in its place.
async fn page(State(shared): State<Arc<WebShared>>, method: Method) -> Response {
    if let Some(reports) = shared.reports() {
        shared.n_fetched.fetch_add(usize::from(method == Method::GET), Ordering::Relaxed);
        return answer(StatusCode::OK, HTML, reports.page);
    }
    let mut response = answer(StatusCode::OK, HTML, shared.page.html.clone());
    if let Ok(policy) = HeaderValue::from_str(&shared.page.policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

async fn metrics(State(shared): State<Arc<WebShared>>, headers: HeaderMap) -> Response {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let form = MetricsForm::of_accept(accept);
    let text = metrics_text(&shared.state().board, form);
    answer(StatusCode::OK, form.media_type(), text)
}

/// The result, or that there is none yet.
async fn result(State(shared): State<Arc<WebShared>>) -> Response {
    if let Some(reports) = shared.reports() {
        return answer(StatusCode::OK, JSON, reports.document);
    }
    let left_secs = shared.state().board.state.eta_secs;
    let text = json!({ "error": "the run goes on: the result is here at its end", "left_secs": left_secs });
    let mut response = answer(StatusCode::SERVICE_UNAVAILABLE, JSON, format!("{text}\n"));
    let seconds = left_secs.unwrap_or_default().clamp(1, 60);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// The course of the run as server-sent events. A page that will fetch the report says so with `page` in the query: the server waits
/// for it at the end.
async fn events(State(shared): State<Arc<WebShared>>, request: Request) -> Response {
    let is_page = request.uri().query().is_some_and(|query| query.split('&').any(|word| word == "page"));
    if let Some(place) = request.extensions().get::<Arc<ConnectionPlace>>() {
        place.becomes_stream();
    }
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(follow(shared, sender, is_page));
    answer(StatusCode::OK, "text/event-stream", Body::new(EventBody(receiver)))
}

/// Sends the events to one stream until the run is over or the stream is closed. A slow stream gets fewer events.
async fn follow(shared: Arc<WebShared>, events: mpsc::Sender<Bytes>, is_page: bool) {
    let n_following = usize::from(is_page);
    shared.n_following.fetch_add(n_following, Ordering::Relaxed);
    if !send_all(&shared, &events).await {
        shared.n_following.fetch_sub(n_following, Ordering::Relaxed);
    }
}

/// False: the stream was closed before the last event.
async fn send_all(shared: &WebShared, events: &mpsc::Sender<Bytes>) -> bool {
    let mut news = shared.news.subscribe();
    let first = {
        let state = shared.state();
        [state.course_event(), state.first_now_event()]
    };
    for event in first {
        if events.send(event).await.is_err() {
            return false;
        }
    }
    // An event of before would be older than these; if it was the last one, none comes.
    let mut is_new = matches!(*news.borrow(), News::Last(_));
    loop {
        let newest = news.borrow_and_update().clone();
        if is_new
            && let News::Event(event) | News::Last(event) = &newest
            && events.send(event.clone()).await.is_err()
        {
            return false;
        }
        if let News::Last(_) = newest {
            return true;
        }
        if news.changed().await.is_err() {
            return false;
        }
        is_new = true;
    }
}

/// The events of a stream as the body of an answer.
struct EventBody(mpsc::Receiver<Bytes>);

impl HttpBody for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.get_mut().0.poll_recv(context).map(|event| event.map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::frame::{FinalReports, LiveFrame};
    use std::net::IpAddr;
    use std::time::Duration;
    use tokio::time::timeout;

    /// Nothing takes so long.
    const LIMIT: Duration = Duration::from_secs(60);

    /// The names of the events that come from now on.
    async fn names(events: &mut mpsc::Receiver<Bytes>) -> Vec<String> {
        let mut names = Vec::new();
        while let Some(event) = timeout(LIMIT, events.recv()).await.unwrap_or_else(|_| panic!("no end: {names:?}")) {
            let text = std::str::from_utf8(&event).unwrap();
            names.push(text.lines().next().unwrap().to_owned());
            assert!(names.len() < 10, "{names:?}");
        }
        names
    }

    /// A stream that takes its events late, and one that begins late, are told that the run has ended: looks at the run go on until
    /// the server ends.
    #[test]
    fn nothing_comes_instead_of_the_last_event() {
        let guard = WebGuard::new("127.0.0.1".to_owned(), IpAddr::from([127, 0, 0, 1]), None);
        let shared = Arc::new(WebShared::new(guard));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let follow_run = || {
                let (sender, receiver) = mpsc::channel(1);
                tokio::spawn(follow(Arc::clone(&shared), sender, true));
                receiver
            };
            let mut early = follow_run();
            early.recv().await.unwrap();
            early.recv().await.unwrap();
            shared.state().apply(LiveFrame::Reports(FinalReports { document: String::new(), page: String::new() }));
            shared.tell_end();
            shared.tell();
            let mut late = follow_run();
            assert_eq!(names(&mut early).await, ["event: end"]);
            assert_eq!(names(&mut late).await, ["event: course", "event: now", "event: end"]);
        });
    }
}

//! The one call of the service: a worker attends a run. It sends reports and receives orders until both have said the last.
//!
//! tonic's own programs write this from a `.proto` file; with one call it is shorter than what would make it. Start reading at
//! [`AttendService`] (the coordinator's end) and [`attend`] (a worker's).

use super::codec::RecordCodec;
use super::message::{FleetOrder, FleetReport, SentReport};
use super::secrets::{COORDINATOR_NAME, RunKey, SecretsError};
use super::stream::{FleetStream, OneConnection};
use http::uri::PathAndQuery;
use serde::Serialize;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tonic::body::Body;
use tonic::transport::{ClientTlsConfig, Endpoint, Error as TransportError};
use tonic::{Request, Response, Status, Streaming};

/// The path of the call.
pub(crate) const PATH: &str = "/ferrio.Fleet/Attend";

/// The largest message that is taken, bytes: records of runs with many jobs are the largest.
pub(crate) const MOST_MESSAGE_BYTES: usize = 64 << 20;

/// Time after which a silent end is asked whether it is still there.
pub(crate) const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);
/// Time for its answer.
pub(crate) const KEEPALIVE_LIMIT: Duration = Duration::from_millis(1_500);
/// Time for the answer of a coordinator, which has many to answer.
const COORDINATOR_LIMIT: Duration = Duration::from_secs(5);
/// Up to so many workers are answered in that time, also on a busy machine.
const QUICK_HOSTS: u32 = 256;
/// Time that each host adds to that in which one answers: the answers of all of them come in one thread.
pub(crate) const EACH_HOST_LIMIT: Duration = Duration::from_millis(5);
/// Time that each host adds to that between two questions whether the other end is still there: thousands of hosts ask more rarely.
pub(crate) const EACH_HOST_PAUSE: Duration = Duration::from_millis(1);
/// Time for a connection and its TLS.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// The coordinator's side of a worker that calls.
pub(crate) trait Attendance: Clone + Send + Sync + 'static {
    /// Takes the call of a new worker with its reports, and returns the orders for it.
    fn attended(&self, call: Request<Streaming<SentReport>>) -> OrderStream;
}

/// Orders in the order in which they were given.
#[derive(Debug)]
pub(crate) struct OrderStream(pub(crate) mpsc::UnboundedReceiver<FleetOrder>);

impl Stream for OrderStream {
    type Item = Result<FleetOrder, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|order| order.map(Ok))
    }
}

/// Reports as they are made.
#[derive(Debug)]
struct ReportStream<T>(mpsc::Receiver<T>);

impl<T> Stream for ReportStream<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

/// The service of the coordinator.
#[derive(Debug, Clone)]
pub(crate) struct AttendService<A>(pub(crate) A);

impl<A: Attendance> tower_service::Service<http::Request<Body>> for AttendService<A> {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let attendance = self.0.clone();
        Box::pin(async move {
            if request.uri().path() != PATH {
                return Ok(Status::unimplemented("there is no such call").into_http());
            }
            let grpc = tonic::server::Grpc::new(RecordCodec::<FleetOrder, SentReport>::default());
            Ok(grpc.max_decoding_message_size(MOST_MESSAGE_BYTES).streaming(OneCall(attendance), request).await)
        })
    }
}

/// One worker's call.
struct OneCall<A>(A);

impl<A: Attendance> tonic::server::StreamingService<SentReport> for OneCall<A> {
    type Response = FleetOrder;
    type ResponseStream = OrderStream;
    type Future = Pin<Box<dyn Future<Output = Result<Response<OrderStream>, Status>> + Send>>;

    fn call(&mut self, request: Request<Streaming<SentReport>>) -> Self::Future {
        let orders = self.0.attended(request);
        Box::pin(async move { Ok(Response::new(orders)) })
    }
}

/// A worker cannot attend.
#[derive(Debug, thiserror::Error)]
pub enum AttendError {
    /// There are no certificates.
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    /// The connection was refused, by either end: their keys differ, or the coordinator is none.
    #[error("the coordinator is not that of this run, or has refused: {}", innermost(.0))]
    Transport(#[from] TransportError),
    /// The connection was lost.
    #[error("the coordinator has gone: {}", .0.message())]
    Lost(#[from] Box<Status>),
    /// The call has no such path.
    #[error("the service cannot be called")]
    Path,
}

/// The reason at the bottom.
fn innermost(error: &TransportError) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

/// Calls the coordinator over a connection, with reports from this channel; returns its orders.
///
/// # Errors
/// There is no coordinator of this run at the other end.
pub(crate) async fn attend(
    stream: FleetStream,
    (key, n_hosts): (&RunKey, u32),
    reports: mpsc::Receiver<FleetReport>,
) -> Result<Streaming<FleetOrder>, AttendError> {
    attend_at(stream, (key.worker_tls()?, n_hosts), PATH, reports).await
}

/// As [`attend`], with this TLS, as one of so many hosts, and at this path.
pub(crate) async fn attend_at<T: Serialize + Send + Sync + 'static>(
    stream: FleetStream,
    (tls, n_hosts): (ClientTlsConfig, u32),
    path: &'static str,
    reports: mpsc::Receiver<T>,
) -> Result<Streaming<FleetOrder>, AttendError> {
    let uri = format!("https://{COORDINATOR_NAME}");
    let n_more = n_hosts.saturating_sub(QUICK_HOSTS);
    let endpoint = Endpoint::from_shared(uri)?
        .tls_config(tls)?
        .connect_timeout(CONNECT_LIMIT)
        .http2_keep_alive_interval(KEEPALIVE_INTERVAL + EACH_HOST_PAUSE.saturating_mul(n_more))
        .keep_alive_timeout(COORDINATOR_LIMIT + EACH_HOST_LIMIT.saturating_mul(n_more))
        .keep_alive_while_idle(true);
    let channel = endpoint.connect_with_connector(OneConnection(Some(stream))).await?;
    let mut grpc = tonic::client::Grpc::new(channel).max_decoding_message_size(MOST_MESSAGE_BYTES);
    grpc.ready().await?;
    let path = PathAndQuery::from_static(path);
    let request = Request::new(ReportStream(reports));
    let codec = RecordCodec::<T, FleetOrder>::default();
    let response = grpc.streaming(request, path, codec).await.map_err(Box::new)?;
    Ok(response.into_inner())
}

//! Messages as bytes, for tonic. The bytes are not trusted: their length and the memory of their values are limited.

use super::message::FromOtherEnd;
use ferrio_stats::wire;
use serde::Serialize;
use std::marker::PhantomData;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
// The traits of these buffers.
use bytes::{Buf, BufMut};

/// A codec that sends `Sent` and receives `FromOtherEnd`.
#[derive(Debug)]
pub(super) struct RecordCodec<Sent, Taken>(PhantomData<fn(Sent) -> Taken>);

impl<Sent, Taken> Default for RecordCodec<Sent, Taken> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<Sent, Taken> Codec for RecordCodec<Sent, Taken>
where
    Sent: Serialize + Send + 'static,
    Taken: FromOtherEnd + Send + 'static,
{
    type Encode = Sent;
    type Decode = Taken;
    type Encoder = RecordEncoder<Sent>;
    type Decoder = RecordDecoder<Taken>;

    fn encoder(&mut self) -> Self::Encoder {
        RecordEncoder(PhantomData)
    }

    fn decoder(&mut self) -> Self::Decoder {
        RecordDecoder(PhantomData)
    }
}

/// Writes values.
#[derive(Debug)]
pub(super) struct RecordEncoder<T>(PhantomData<fn(T)>);

impl<T: Serialize> Encoder for RecordEncoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, item: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&wire::to_bytes(&item));
        Ok(())
    }
}

/// Reads values.
#[derive(Debug)]
pub(super) struct RecordDecoder<T>(PhantomData<fn() -> T>);

impl<T: FromOtherEnd> Decoder for RecordDecoder<T> {
    type Item = T;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<T>, Status> {
        let mut bytes = vec![0; buffer.remaining()];
        buffer.copy_to_slice(&mut bytes);
        T::received(bytes).map(Some).map_err(|error| Status::invalid_argument(format!("no message: {error}")))
    }
}

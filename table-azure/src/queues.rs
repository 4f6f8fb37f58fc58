//! Queues by `azure_storage_queue`, with our signing and none of its retries.
//!
//! Bodies travel as base64, which is the service's own convention for bytes in its XML. A message that somebody else
//! sent as plain text comes as the bytes of that text.

use std::time::Duration;

use async_trait::async_trait;
use azure_core::http::headers::HeaderName;
use azure_core::http::{RequestContent, XmlFormat};
use azure_core::time::OffsetDateTime;
use azure_storage_queue::models::{
    ListOfSentMessage, QueueClientGetPropertiesResultHeaders, QueueClientPeekMessagesOptions,
    QueueClientReceiveMessagesOptions, QueueClientSendMessageOptions, QueueClientUpdateMessageOptions, QueueMessage,
    ReceivedMessage,
};
use azure_storage_queue::{QueueClient, QueueClientOptions};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use table_core::store::{
    Message, MessageReceipt, PeekedMessage, ReceiveOptions, SendOptions, TimeToLive, check_body, check_count,
    check_visibility,
};
use table_core::{Error, QueueName, QueueStore, Result, Timestamp};

use crate::account::AzureAccount;
use crate::call::{Answer, Call, Subject};
use crate::endpoint::Service;
use crate::failure;

const POP_RECEIPT: HeaderName = HeaderName::from_static("x-ms-popreceipt");

/// The queues of an account: one request for each call, none repeated.
///
/// [`AzureAccount::queues`] gives them behind [`Retry`](table_core::layer::Retry), which is what applications want.
#[derive(Debug, Clone)]
pub struct AzureQueues {
    account: AzureAccount,
}

impl AzureQueues {
    pub(crate) fn new(account: &AzureAccount) -> Self {
        Self { account: account.clone() }
    }

    fn client(&self, queue: &QueueName) -> Result<QueueClient> {
        let url = self.account.endpoint(Service::Queues)?.at(queue.as_str());
        let options = QueueClientOptions {
            client_options: self.account.client_options(Service::Queues),
            ..QueueClientOptions::default()
        };
        QueueClient::new(url, None, Some(options))
            .map_err(|_| Error::unsupported("no client can be made for this queue endpoint"))
    }

    async fn run<T: Answer>(
        &self,
        call: &Call<'_>,
        work: impl Future<Output = azure_core::Result<T>> + Send,
    ) -> Result<T> {
        call.run(self.account.options().traced_keys, work).await
    }
}

#[async_trait]
impl QueueStore for AzureQueues {
    async fn create_queue(&self, queue: &QueueName) -> Result<()> {
        let call = Call::change("create_queue", Subject::Queue).on(queue.as_str());
        let client = self.client(queue).map_err(|error| call.locate(error))?;
        match self.run(&call, client.create(None)).await {
            Ok(_) => Ok(()),
            // A queue with metadata of somebody's own is there all the same.
            Err(error) if error.service_code() == Some("QueueAlreadyExists") => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn delete_queue(&self, queue: &QueueName) -> Result<()> {
        let call = Call::change("delete_queue", Subject::Queue).on(queue.as_str());
        let client = self.client(queue).map_err(|error| call.locate(error))?;
        self.run(&call, client.delete(None)).await.map(drop)
    }

    async fn send(&self, queue: &QueueName, body: Bytes, options: SendOptions) -> Result<MessageReceipt> {
        let call = Call::change("send", Subject::Queue).on(queue.as_str());
        let located = |error| call.locate(error);
        options.check(&body).map_err(located)?;
        let client = self.client(queue).map_err(located)?;
        let content = content(&body).map_err(located)?;
        let delay = seconds(options.delay);
        let life = match options.time_to_live {
            // Both times are rounded up, and a message must outlive its delay.
            TimeToLive::For(life) => seconds(life).max(delay.saturating_add(1)),
            TimeToLive::Never => -1,
        };
        let options = QueueClientSendMessageOptions {
            message_time_to_live: Some(life),
            visibility_timeout: Some(delay),
            ..QueueClientSendMessageOptions::default()
        };
        let answer = self.run(&call, client.send_message(content, Some(options))).await?;
        let sent = answer
            .into_model()
            .and_then(ListOfSentMessage::into_message)
            .map_err(|error| located(failure::of_error(&call, &error)))?;
        receipt(sent.message_id, sent.pop_receipt).map_err(located)
    }

    async fn receive(&self, queue: &QueueName, options: ReceiveOptions) -> Result<Vec<Message>> {
        let call = Call::change("receive", Subject::Queue).on(queue.as_str());
        let located = |error| call.locate(error);
        options.check().map_err(located)?;
        let client = self.client(queue).map_err(located)?;
        let options = QueueClientReceiveMessagesOptions {
            number_of_messages: i32::try_from(options.count).ok(),
            visibility_timeout: Some(seconds(options.visibility)),
            ..QueueClientReceiveMessagesOptions::default()
        };
        let answer = self.run(&call, client.receive_messages(Some(options))).await?;
        let received = answer.into_model().map_err(|error| located(failure::of_error(&call, &error)))?;
        received.items.unwrap_or_default().into_iter().map(message).collect::<Result<_>>().map_err(located)
    }

    async fn update_message(
        &self,
        queue: &QueueName,
        receipt: &MessageReceipt,
        visibility: Duration,
        body: Option<Bytes>,
    ) -> Result<MessageReceipt> {
        let call = Call::change("update_message", Subject::Message).on(queue.as_str());
        let located = |error| call.locate(error);
        check_visibility(visibility).map_err(located)?;
        body.as_ref().map_or(Ok(()), check_body).map_err(located)?;
        check_receipt(receipt).map_err(located)?;
        let client = self.client(queue).map_err(located)?;
        let options = QueueClientUpdateMessageOptions {
            queue_message: body.as_ref().map(content).transpose().map_err(located)?,
            ..QueueClientUpdateMessageOptions::default()
        };
        let work = client.update_message(&receipt.id, &receipt.receipt, seconds(visibility), Some(options));
        let answer = self.run(&call, work).await?;
        let fresh = answer.headers().get_optional_string(&POP_RECEIPT);
        self::receipt(Some(receipt.id.clone()), fresh).map_err(located)
    }

    async fn delete_message(&self, queue: &QueueName, receipt: &MessageReceipt) -> Result<()> {
        let call = Call::change("delete_message", Subject::Message).on(queue.as_str());
        let located = |error| call.locate(error);
        check_receipt(receipt).map_err(located)?;
        let client = self.client(queue).map_err(located)?;
        self.run(&call, client.delete_message(&receipt.id, &receipt.receipt, None)).await.map(drop)
    }

    async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<PeekedMessage>> {
        let call = Call::read("peek", Subject::Queue).on(queue.as_str());
        let located = |error| call.locate(error);
        check_count(count).map_err(located)?;
        let client = self.client(queue).map_err(located)?;
        let options = QueueClientPeekMessagesOptions {
            number_of_messages: i32::try_from(count).ok(),
            ..QueueClientPeekMessagesOptions::default()
        };
        let answer = self.run(&call, client.peek_messages(Some(options))).await?;
        let peeked = answer.into_model().map_err(|error| located(failure::of_error(&call, &error)))?;
        let peeked = peeked.items.unwrap_or_default().into_iter().map(|each| {
            Ok(PeekedMessage {
                id: each.message_id.ok_or_else(unreadable)?,
                body: body_of(each.message_text),
                dequeue_count: count_of(each.dequeue_count),
                sent: time_of(each.insertion_time)?,
            })
        });
        peeked.collect::<Result<_>>().map_err(located)
    }

    async fn queue_length(&self, queue: &QueueName) -> Result<u64> {
        let call = Call::read("queue_length", Subject::Queue).on(queue.as_str());
        let located = |error| call.locate(error);
        let client = self.client(queue).map_err(located)?;
        let answer = self.run(&call, client.get_properties(None)).await?;
        let count = answer.approximate_messages_count().ok().flatten();
        count.and_then(|count| u64::try_from(count).ok()).ok_or_else(|| located(unreadable()))
    }
}

/// Whole seconds, rounded up: a time that the caller waits for has passed then.
fn seconds(time: Duration) -> i32 {
    i32::try_from(time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0))).unwrap_or(i32::MAX)
}

fn content(body: &Bytes) -> Result<RequestContent<QueueMessage, XmlFormat>> {
    let message = QueueMessage { message_text: Some(STANDARD.encode(body)) };
    message.try_into().map_err(|_| Error::invalid_value("the message cannot be written as XML"))
}

fn body_of(text: Option<String>) -> Bytes {
    let text = text.unwrap_or_default();
    STANDARD.decode(&text).unwrap_or_else(|_| text.into_bytes()).into()
}

fn message(received: ReceivedMessage) -> Result<Message> {
    Ok(Message {
        receipt: receipt(received.message_id, received.pop_receipt)?,
        body: body_of(received.message_text),
        dequeue_count: count_of(received.dequeue_count),
        sent: time_of(received.insertion_time)?,
        next_visible: time_of(received.time_next_visible)?,
    })
}

fn receipt(id: Option<String>, receipt: Option<String>) -> Result<MessageReceipt> {
    match (id, receipt) {
        (Some(id), Some(receipt)) => Ok(MessageReceipt { id, receipt }),
        _ => Err(unreadable().with_outcome_unknown(true)),
    }
}

fn count_of(count: Option<i64>) -> u32 {
    u32::try_from(count.unwrap_or_default()).unwrap_or(u32::MAX)
}

fn time_of(at: Option<OffsetDateTime>) -> Result<Timestamp> {
    at.ok_or_else(unreadable).and_then(Timestamp::try_from)
}

fn unreadable() -> Error {
    Error::corrupted("the service's answer lacks a part of a message")
}

/// Refuses the receipt of another store, whose id would be another address.
fn check_receipt(receipt: &MessageReceipt) -> Result<()> {
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_id(&receipt.id) {
        return Ok(());
    }
    Err(Error::precondition_failed("the receipt is not of this service; use that of the last receive or update"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up_to_seconds() {
        for (millis, expected) in [(0, 0), (1, 1), (1000, 1), (1001, 2)] {
            assert_eq!(seconds(Duration::from_millis(millis)), expected);
        }
        assert_eq!(seconds(Duration::MAX), i32::MAX);
    }

    #[test]
    fn a_message_in_plain_text_comes_as_its_bytes() {
        assert_eq!(body_of(Some("aGk=".to_owned())), "hi");
        assert_eq!(body_of(Some("not base64!".to_owned())), "not base64!");
        assert_eq!(body_of(None), "");
    }

    #[test]
    fn an_id_that_is_another_address_is_stale() {
        for id in ["", "../x", "a/b", "a?b", "a#b", "a%2fb"] {
            let receipt = MessageReceipt { id: id.to_owned(), receipt: "r".to_owned() };
            assert!(check_receipt(&receipt).is_err(), "{id}");
        }
    }
}

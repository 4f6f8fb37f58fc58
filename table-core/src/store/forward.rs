//! Boxed and shared stores are stores.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use super::{
    Capabilities, Message, MessageReceipt, Page, PageToken, PeekedMessage, QueueStore, ReceiveOptions, Selection,
    SendOptions, StoreQuery, TablePage, TableStore,
};
use crate::dynamic::DynamicEntity;
use crate::error::Result;
use crate::keys::EntityKey;
use crate::names::{QueueName, TableName};
use crate::operation::{Operation, Transaction, Written};

macro_rules! forward {
    ($pointer:ident) => {
        #[async_trait]
        impl<S: TableStore + ?Sized> TableStore for $pointer<S> {
            fn capabilities(&self) -> Capabilities {
                self.deref().capabilities()
            }

            async fn create_table(&self, table: &TableName) -> Result<()> {
                self.deref().create_table(table).await
            }

            async fn delete_table(&self, table: &TableName) -> Result<()> {
                self.deref().delete_table(table).await
            }

            async fn list_tables(&self, after: Option<&PageToken>) -> Result<TablePage> {
                self.deref().list_tables(after).await
            }

            async fn get(
                &self,
                table: &TableName,
                key: &EntityKey,
                selection: &Selection,
            ) -> Result<Option<DynamicEntity>> {
                self.deref().get(table, key, selection).await
            }

            async fn query(&self, table: &TableName, query: &StoreQuery) -> Result<Page> {
                self.deref().query(table, query).await
            }

            async fn write(&self, table: &TableName, operation: Operation) -> Result<Written> {
                self.deref().write(table, operation).await
            }

            async fn transact(&self, table: &TableName, transaction: Transaction) -> Result<Vec<Written>> {
                self.deref().transact(table, transaction).await
            }
        }

        #[async_trait]
        impl<S: QueueStore + ?Sized> QueueStore for $pointer<S> {
            async fn create_queue(&self, queue: &QueueName) -> Result<()> {
                self.deref().create_queue(queue).await
            }

            async fn delete_queue(&self, queue: &QueueName) -> Result<()> {
                self.deref().delete_queue(queue).await
            }

            async fn send(&self, queue: &QueueName, body: Bytes, options: SendOptions) -> Result<MessageReceipt> {
                self.deref().send(queue, body, options).await
            }

            async fn receive(&self, queue: &QueueName, options: ReceiveOptions) -> Result<Vec<Message>> {
                self.deref().receive(queue, options).await
            }

            async fn update_message(
                &self,
                queue: &QueueName,
                receipt: &MessageReceipt,
                visibility: Duration,
                body: Option<Bytes>,
            ) -> Result<MessageReceipt> {
                self.deref().update_message(queue, receipt, visibility, body).await
            }

            async fn delete_message(&self, queue: &QueueName, receipt: &MessageReceipt) -> Result<()> {
                self.deref().delete_message(queue, receipt).await
            }

            async fn peek(&self, queue: &QueueName, count: usize) -> Result<Vec<PeekedMessage>> {
                self.deref().peek(queue, count).await
            }

            async fn queue_length(&self, queue: &QueueName) -> Result<u64> {
                self.deref().queue_length(queue).await
            }
        }
    };
}

forward!(Box);
forward!(Arc);

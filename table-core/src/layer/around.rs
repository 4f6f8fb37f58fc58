//! How a layer that does something around each call becomes a store.

/// Implements both store traits for a layer with a field `inner` and a method
/// `async fn around<T: Answer>(&self, call: Call, work: impl Future<Output = Result<T>> + Send) -> Result<T>`.
///
/// The work is the call to the wrapped store; a layer that never awaits it never makes the call.
macro_rules! around_every_call {
    ($layer:ident) => {
        impl<S> $layer<S> {
            /// The wrapped store.
            #[must_use]
            pub const fn inner(&self) -> &S {
                &self.inner
            }

            /// The wrapped store, to keep.
            #[must_use]
            pub fn into_inner(self) -> S {
                self.inner
            }
        }

        #[async_trait::async_trait]
        impl<S: $crate::store::TableStore> $crate::store::TableStore for $layer<S> {
            fn capabilities(&self) -> $crate::store::Capabilities {
                self.inner.capabilities()
            }

            async fn create_table(&self, table: &$crate::TableName) -> $crate::Result<()> {
                self.around(Call::change_table("create_table", table), self.inner.create_table(table)).await
            }

            async fn delete_table(&self, table: &$crate::TableName) -> $crate::Result<()> {
                self.around(Call::change_table("delete_table", table), self.inner.delete_table(table)).await
            }

            async fn list_tables(
                &self,
                after: Option<&$crate::store::PageToken>,
            ) -> $crate::Result<$crate::store::TablePage> {
                self.around(Call::read_store("list_tables"), self.inner.list_tables(after)).await
            }

            async fn get(
                &self,
                table: &$crate::TableName,
                key: &$crate::EntityKey,
                selection: &$crate::store::Selection,
            ) -> $crate::Result<Option<$crate::DynamicEntity>> {
                self.around(Call::get(table, key), self.inner.get(table, key, selection)).await
            }

            async fn query(
                &self,
                table: &$crate::TableName,
                query: &$crate::store::StoreQuery,
            ) -> $crate::Result<$crate::store::Page> {
                self.around(Call::query(table, query), self.inner.query(table, query)).await
            }

            async fn write(
                &self,
                table: &$crate::TableName,
                operation: $crate::Operation,
            ) -> $crate::Result<$crate::Written> {
                self.around(Call::write(table, &operation), self.inner.write(table, operation)).await
            }

            async fn transact(
                &self,
                table: &$crate::TableName,
                transaction: $crate::Transaction,
            ) -> $crate::Result<Vec<$crate::Written>> {
                self.around(Call::transact(table, &transaction), self.inner.transact(table, transaction)).await
            }
        }

        #[async_trait::async_trait]
        impl<S: $crate::store::QueueStore> $crate::store::QueueStore for $layer<S> {
            async fn create_queue(&self, queue: &$crate::QueueName) -> $crate::Result<()> {
                self.around(Call::change_queue("create_queue", queue), self.inner.create_queue(queue)).await
            }

            async fn delete_queue(&self, queue: &$crate::QueueName) -> $crate::Result<()> {
                self.around(Call::change_queue("delete_queue", queue), self.inner.delete_queue(queue)).await
            }

            async fn send(
                &self,
                queue: &$crate::QueueName,
                body: bytes::Bytes,
                options: $crate::store::SendOptions,
            ) -> $crate::Result<$crate::store::MessageReceipt> {
                let call = Call::change_message("send", queue, Some(&body));
                self.around(call, self.inner.send(queue, body, options)).await
            }

            async fn receive(
                &self,
                queue: &$crate::QueueName,
                options: $crate::store::ReceiveOptions,
            ) -> $crate::Result<Vec<$crate::store::Message>> {
                self.around(Call::change_queue("receive", queue), self.inner.receive(queue, options)).await
            }

            async fn update_message(
                &self,
                queue: &$crate::QueueName,
                receipt: &$crate::store::MessageReceipt,
                visibility: std::time::Duration,
                body: Option<bytes::Bytes>,
            ) -> $crate::Result<$crate::store::MessageReceipt> {
                let call = Call::change_message("update_message", queue, body.as_ref());
                self.around(call, self.inner.update_message(queue, receipt, visibility, body)).await
            }

            async fn delete_message(
                &self,
                queue: &$crate::QueueName,
                receipt: &$crate::store::MessageReceipt,
            ) -> $crate::Result<()> {
                let call = Call::change_message("delete_message", queue, None);
                self.around(call, self.inner.delete_message(queue, receipt)).await
            }

            async fn peek(
                &self,
                queue: &$crate::QueueName,
                count: usize,
            ) -> $crate::Result<Vec<$crate::store::PeekedMessage>> {
                self.around(Call::read_queue("peek", queue), self.inner.peek(queue, count)).await
            }

            async fn queue_length(&self, queue: &$crate::QueueName) -> $crate::Result<u64> {
                self.around(Call::read_queue("queue_length", queue), self.inner.queue_length(queue)).await
            }
        }
    };
}

pub(super) use around_every_call;

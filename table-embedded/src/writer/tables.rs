//! Tables and queues made and removed.

use std::sync::Arc;

use table_core::{Error, QueueName, TableName};

use super::group::{Failure, Group};
use crate::engine::QueueEntry;
use crate::format::catalog::{self, QueueTables, TableNumber};

impl Group<'_> {
    /// Creates a table.
    pub(crate) fn create_table(&mut self, table: TableName) -> Result<(), Failure> {
        if self.table(&table, "create_table").is_ok() {
            return Err(Error::already_exists("a table of this name is there already")
                .with_operation("create_table")
                .with_table(table.as_str())
                .into());
        }
        let number = TableNumber(self.next_number()?);
        self.changed = true;
        self.transaction.open_table(catalog::bytes_table(&number.rows_name()))?;
        let key = catalog::table_key(&table);
        self.transaction.open_table(catalog::TABLES)?.insert(&*key, (number.0, table.as_str()))?;
        self.changes.tables.insert(table.clone(), Some((table, number)));
        Ok(())
    }

    /// Removes a table. Its rows are freed later.
    pub(crate) fn delete_table(&mut self, table: TableName) -> Result<(), Failure> {
        let number = self.table(&table, "delete_table")?;
        self.changed = true;
        self.rows.remove(&number);
        self.transaction.open_table(catalog::TABLES)?.remove(&*catalog::table_key(&table))?;
        self.drop_later(&number.rows_name())?;
        self.changes.tables.insert(table, None);
        Ok(())
    }

    /// Creates a queue, unless it is there.
    pub(crate) fn create_queue(&mut self, queue: QueueName) -> Result<(), Failure> {
        if self.queue(&queue, "create_queue").is_ok() {
            return Ok(());
        }
        let number = self.next_number()?;
        self.changed = true;
        let tables = QueueTables::new(number);
        self.transaction.open_table(catalog::messages_table(&tables.messages))?;
        self.transaction.open_table(catalog::times_table(&tables.visible))?;
        self.transaction.open_table(catalog::times_table(&tables.expiring))?;
        self.transaction.open_table(catalog::QUEUES)?.insert(queue.as_str(), number)?;
        self.changes.queues.insert(queue, Some(Arc::new(QueueEntry { tables })));
        Ok(())
    }

    /// Removes a queue. Its messages are freed later.
    pub(crate) fn delete_queue(&mut self, queue: QueueName) -> Result<(), Failure> {
        let entry = self.queue(&queue, "delete_queue")?;
        self.changed = true;
        self.transaction.open_table(catalog::QUEUES)?.remove(queue.as_str())?;
        let QueueTables { messages, visible, expiring } = &entry.tables;
        for name in [messages, visible, expiring] {
            self.drop_later(name)?;
        }
        self.changes.queues.insert(queue, None);
        Ok(())
    }

    fn drop_later(&mut self, name: &str) -> Result<(), Failure> {
        self.transaction.open_table(catalog::DROPPED)?.insert(name, ())?;
        self.changes.dropped = true;
        Ok(())
    }
}

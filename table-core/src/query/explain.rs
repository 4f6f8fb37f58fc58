//! What a query will do, in words for the person who runs it.

use std::fmt;

use super::filter::Filter;
use super::plan::{CostClass, Plan, Step};
use crate::error::{Error, ErrorKind, Result};
use crate::store::Selection;

/// What a query reads and what that costs.
///
/// ```
/// use table_core::{DynamicEntity, Query};
///
/// let query = Query::<DynamicEntity>::all()
///     .filter_odata("PartitionKey eq 'Sales' and (RowKey eq '121' or RowKey eq '322') and Age ge 40");
/// assert_eq!(
///     query.explain()?.to_string(),
///     "MultiRange: several ranges of keys, read in parallel
///   read    PartitionKey eq 'Sales' and RowKey eq '121' and Age ge 40
///   read    PartitionKey eq 'Sales' and RowKey eq '322' and Age ge 40
///   select  all properties"
/// );
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Explain {
    table: Option<&'static str>,
    plan: Plan,
    selection: Selection,
    top: Option<usize>,
    allow_scan: bool,
}

impl Explain {
    pub(super) const fn new(
        table: Option<&'static str>,
        plan: Plan,
        selection: Selection,
        top: Option<usize>,
        allow_scan: bool,
    ) -> Self {
        Self { table, plan, selection, top, allow_scan }
    }

    /// The table that the query names, where it names one.
    #[must_use]
    pub const fn table(&self) -> Option<&'static str> {
        self.table
    }

    /// What the query costs.
    #[must_use]
    pub const fn class(&self) -> CostClass {
        self.plan.class()
    }

    /// The ranges that are read, in key order, and what is left to check in each.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        self.plan.steps()
    }

    /// The OData filter of each range, as a service takes it.
    pub fn filters(&self) -> impl Iterator<Item = Filter> {
        self.steps().iter().map(Step::to_filter)
    }

    /// The properties that are read.
    #[must_use]
    pub const fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Refuses a scan that was not allowed, as running the query would.
    ///
    /// # Errors
    /// [`ScanRefused`](ErrorKind::ScanRefused).
    pub fn check_scan(&self) -> Result<()> {
        if self.allow_scan || !self.class().is_scan() {
            return Ok(());
        }
        let advice = match self.class() {
            CostClass::PartitionScan => "it reads whole partitions; narrow it by a range of row keys",
            _ => "it does not fix the partition key; fix it, or every partition is read",
        };
        Err(Error::new(
            ErrorKind::ScanRefused,
            format!("the query is a {}: {advice}; if that is meant, add allow_scan()", self.class()),
        ))
    }
}

impl Step {
    /// Range and filter as one filter.
    pub(super) fn to_filter(&self) -> Filter {
        Filter::all_of([Filter::from(&self.range), self.filter.clone().unwrap_or(Filter::ALWAYS)])
    }
}

impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meaning = match self.class() {
            CostClass::Empty => "no key can match, so nothing is read",
            CostClass::Point => "one entity by its full key",
            CostClass::Range => "a range of row keys in one partition",
            CostClass::MultiRange => "several ranges of keys, read in parallel",
            CostClass::PartitionScan => "every row of the partitions that are named",
            CostClass::TableScan => "every partition in turn",
        };
        write!(f, "{}: {meaning}", self.class())?;
        if self.class().is_scan() && !self.allow_scan {
            f.write_str("; refused without allow_scan()")?;
        }
        if let Some(table) = self.table {
            write!(f, "\n  table   {table}")?;
        }
        for filter in self.filters() {
            if filter == Filter::ALWAYS {
                f.write_str("\n  read    every row")?;
            } else {
                write!(f, "\n  read    {filter}")?;
            }
        }
        match &self.selection {
            Selection::All => f.write_str("\n  select  all properties")?,
            Selection::Only(names) => {
                f.write_str("\n  select  ")?;
                for (position, name) in names.iter().enumerate() {
                    write!(f, "{}{name}", if position > 0 { ", " } else { "" })?;
                }
            }
        }
        match self.top {
            Some(top) => write!(f, "\n  top     {top}"),
            None => Ok(()),
        }
    }
}

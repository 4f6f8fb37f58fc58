//! Going over all rows: a page at a time, several rows at once, no faster than told.

use futures_util::stream::{self, StreamExt, TryStreamExt};
use table_core::keys::KeyRange;
use table_core::store::StoreQuery;
use table_core::{DynamicEntity, Error, Result, Table, TableName, limits};
use tokio::time::Instant;

use super::options::{Cursor, MaintenanceOptions, Progress};
use super::report::{Finding, Repaired, Report};
use super::{Checked, Maintained, Tables};

pub(super) async fn build<M: Maintained>(of: &M, options: MaintenanceOptions) -> Result<Report> {
    let Tables { sources, .. } = of.tables()?;
    pass(&sources, options, |table, row| of.fill(table, row)).await
}

pub(super) async fn verify<M: Maintained>(of: &M, options: MaintenanceOptions) -> Result<Report> {
    let Tables { mut sources, copies } = of.tables()?;
    sources.extend(copies);
    let clock = options.clock.clone();
    pass(&sources, options, |table, row| of.check(table, row, clock.now())).await
}

/// Mends findings one after the other, so that what stands in the way of others goes first.
pub(super) async fn repair<M: Maintained>(of: &M, report: &Report, options: MaintenanceOptions) -> Result<Repaired> {
    let mut findings: Vec<&Finding> = report.findings.iter().collect();
    findings.sort_by_key(|finding| finding.wrong);
    let speed = Speed::new(&options);
    let mut repaired = Repaired::default();
    for (done, finding) in (1..).zip(findings) {
        if of.mend(finding, options.clock.now()).await? {
            repaired.mended += 1;
        } else {
            repaired.left.push(finding.clone());
        }
        speed.keep(done).await;
    }
    Ok(repaired)
}

/// Visits every row of some tables.
async fn pass<'t, F>(
    tables: &'t [Table],
    options: MaintenanceOptions,
    visit: impl Fn(&'t Table, DynamicEntity) -> F,
) -> Result<Report>
where
    F: Future<Output = Result<Checked>> + Send,
{
    let speed = Speed::new(&options);
    let mut report = Report::default();
    let mut cursor = first(tables, options.from.clone())?;
    while let Some(Cursor { table: name, after }) = cursor {
        let mut rest = tables.iter().skip_while(|table| *table.name() != name);
        let (Some(table), following) = (rest.next(), rest.next()) else { break };
        let query = StoreQuery { limit: Some(speed.page_size()), after, ..StoreQuery::new(KeyRange::ALL) };
        let page = table.store().query(table.name(), &query).await?;
        // In order, so that two passes over the same rows give the same report.
        let visits = page.entities.into_iter().map(|row| visit(table, row));
        let checked: Vec<Checked> = stream::iter(visits).buffered(options.concurrency).try_collect().await?;
        for checked in checked {
            report.add(checked, options.most_findings);
        }
        cursor = match page.next {
            Some(after) => Some(Cursor { table: name, after: Some(after) }),
            None => following.map(|next| Cursor { table: next.name().clone(), after: None }),
        };
        let findings = report.findings.len() as u64 + report.omitted;
        let Report { rows, written, .. } = report;
        (options.progress)(Progress { rows, written, findings, cursor: cursor.clone() });
        if cursor.is_some() {
            speed.keep(rows).await;
        }
    }
    Ok(report)
}

/// Where to begin.
fn first(tables: &[Table], from: Option<Cursor>) -> Result<Option<Cursor>> {
    match from {
        Some(cursor) if tables.iter().all(|table| *table.name() != cursor.table) => Err(of_another(&cursor.table)),
        Some(cursor) => Ok(Some(cursor)),
        None => Ok(tables.first().map(|table| Cursor { table: table.name().clone(), after: None })),
    }
}

fn of_another(table: &TableName) -> Error {
    Error::invalid_query("the cursor is of another pass: it names a table that this one does not go over")
        .with_table(table.as_str())
}

/// No more than so many rows in a second.
struct Speed {
    began: Instant,
    rows_per_second: Option<u32>,
}

impl Speed {
    fn new(options: &MaintenanceOptions) -> Self {
        Self { began: Instant::now(), rows_per_second: options.rows_per_second }
    }

    /// The rows of a page: those of one second where it goes slowly.
    fn page_size(&self) -> usize {
        let rows = self.rows_per_second.and_then(|rows| usize::try_from(rows).ok());
        rows.unwrap_or(limits::PAGE_ENTITIES).min(limits::PAGE_ENTITIES)
    }

    /// Waits until so many rows are allowed.
    async fn keep(&self, rows: u64) {
        if let Some(rate) = self.rows_per_second {
            #[expect(clippy::cast_precision_loss, reason = "a row more or less in a quadrillion")]
            let due = std::time::Duration::try_from_secs_f64(rows as f64 / f64::from(rate)).unwrap_or_default();
            tokio::time::sleep_until(self.began + due).await;
        }
    }
}

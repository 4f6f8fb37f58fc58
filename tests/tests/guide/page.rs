//! Every line of code in the page is one that is run here.

const PAGE: &str = include_str!("../../../docs/from-the-guide-to-code.md");
const SOURCES: [&str; 3] = [include_str!("main.rs"), include_str!("basics.rs"), include_str!("patterns.rs")];

/// The code in the last column of every table.
fn lines() -> Vec<&'static str> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    rows.filter_map(|row| row.rsplit_once(" | ").map(|(_, last)| last))
        .flat_map(|last| last.split('`').skip(1).step_by(2))
        .collect()
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().concat()
}

#[test]
fn every_line_of_the_page_is_run() {
    let sources = squeezed(&SOURCES.concat());
    let lines = lines();
    assert!(lines.len() > 40, "only {} lines were found; the page has changed its form", lines.len());
    for line in lines {
        // A table writes `|` so.
        let code = squeezed(&line.replace(r"\|", "|"));
        assert!(sources.contains(&code), "no test runs `{line}`");
    }
}

/// The guide's headings, in its order, but for those that every pattern has.
const HEADINGS: &str = "
## About the Azure Table service
### Table partitions
### Entity Group Transactions
### Capacity considerations
### Cost considerations
## Guidelines for table design
## Design for querying
### How your choice of PartitionKey and RowKey impacts query performance
### Choosing an appropriate PartitionKey
### Optimizing queries for the Table service
### Sorting data in the Table service
## Design for data modification
### Optimizing the performance of insert, update, and delete operations
### Ensuring consistency in your stored entities
### Ensuring your design for efficient modifications facilitates efficient queries
## Encrypting Table Data
## Modelling relationships
### One-to-many relationships
### One-to-one relationships
### Join in the client
### Inheritance relationships
## Table Design Patterns
### Intra-partition secondary index pattern
### Inter-partition secondary index pattern
### Eventually consistent transactions pattern
### Index Entities Pattern
### Denormalization pattern
### Compound key pattern
### Log tail pattern
### High volume delete pattern
### Data series pattern
### Wide entities pattern
### Large entities pattern
### Prepend/append anti-pattern
### Log data anti-pattern
## Implementation considerations
### Retrieving entities
### Modifying entities
### Working with heterogeneous entity types
### Controlling access with Shared Access Signatures
### Asynchronous and parallel operations
";

#[test]
fn the_page_goes_through_every_section_of_the_guide() {
    let headings: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("##")).collect();
    assert_eq!(headings, HEADINGS.trim().lines().collect::<Vec<_>>());
}

//! Products, and the shelves that show their names.

use std::fmt;

use table_core::{Entity, Key};
use table_patterns::denormalization::{KeepsCopies, Targets};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "p{id}", row = "product")]
pub(super) struct Product {
    pub(super) id: u32,
    pub(super) name: String,
}

pub(super) fn product(id: u32) -> Product {
    Product { id, name: format!("p{id}") }
}

pub(super) fn product_key(id: u32) -> Key<Product> {
    Product::key(id)
}

/// What holds a product and shows its name, in the table of shelves.
pub(super) trait Holder: KeepsCopies<Source = Product> + Clone + fmt::Debug {
    /// An empty one.
    fn new(id: u32, product: u32) -> Self;

    fn at(id: u32) -> Key<Self>;

    fn point(&mut self, product: u32);

    fn fill(&mut self);

    fn content(&self) -> Content;
}

/// What a shelf says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) id: u32,
    pub(super) product: u32,
    pub(super) label: Option<String>,
    pub(super) items: u32,
}

/// All in one room, so that one query finds them.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "room", row = "shelf_{id}")]
pub(super) struct Shelf {
    id: u32,
    product: u32,
    label: Option<String>,
    items: u32,
}

impl KeepsCopies for Shelf {
    type Source = Product;

    fn targets(_: &Product) -> Targets<Self> {
        Self::range().query().into()
    }

    fn source(&self) -> Option<Key<Product>> {
        Some(product_key(self.product))
    }

    fn take(&mut self, product: Option<&Product>) {
        self.label = product.map(|product| product.name.clone());
    }
}

impl Holder for Shelf {
    fn new(id: u32, product: u32) -> Self {
        Self { id, product, label: None, items: 0 }
    }

    fn at(id: u32) -> Key<Self> {
        Self::key(id)
    }

    fn point(&mut self, product: u32) {
        self.product = product;
    }

    fn fill(&mut self) {
        self.items = 7;
    }

    fn content(&self) -> Content {
        let Self { id, product, label, items } = self.clone();
        Content { id, product, label, items }
    }
}

/// Found by an index elsewhere, in which it moves whenever its items change, or its label.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(partition = "room", row = "shelf_{id}")]
#[index(product, table = "ShelvesByProduct", partition = "p{product}", row = "at_{items:02}_{label}_{id}", include())]
pub(super) struct SortedShelf {
    id: u32,
    product: u32,
    label: String,
    items: u32,
}

impl KeepsCopies for SortedShelf {
    type Source = Product;

    fn targets(product: &Product) -> Targets<Self> {
        Targets::by_index(Self::range_by_product(product.id).query())
    }

    fn source(&self) -> Option<Key<Product>> {
        Some(product_key(self.product))
    }

    fn take(&mut self, product: Option<&Product>) {
        self.label = product.map(|product| product.name.clone()).unwrap_or_default();
    }
}

impl Holder for SortedShelf {
    fn new(id: u32, product: u32) -> Self {
        Self { id, product, label: String::new(), items: 0 }
    }

    fn at(id: u32) -> Key<Self> {
        Self::key(id)
    }

    fn point(&mut self, product: u32) {
        self.product = product;
    }

    fn fill(&mut self) {
        self.items = 7;
    }

    fn content(&self) -> Content {
        let Self { id, product, label, items } = self.clone();
        Content { id, product, label: (!label.is_empty()).then_some(label), items }
    }
}

//! Mistakes in attributes, collected so that all of a struct are reported at once.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The mistakes found so far, each with its own span.
#[derive(Default)]
pub(crate) struct Errors {
    found: Vec<syn::Error>,
}

impl Errors {
    /// Adds a mistake at these tokens.
    pub(crate) fn add(&mut self, at: impl ToTokens, message: impl std::fmt::Display) {
        self.found.push(syn::Error::new_spanned(at, message));
    }

    /// Adds a mistake that the parser found.
    pub(crate) fn parser(&mut self, error: syn::Error) {
        self.found.push(error);
    }

    /// Whether nothing was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All mistakes as `compile_error!` calls.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.found.iter().map(syn::Error::to_compile_error).collect()
    }
}

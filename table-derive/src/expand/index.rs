//! Indexes: the struct of a copy, how it is read, and the lookups.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::codec;
use super::keys::KeySource;
use super::range::{self, Rows, parameters_of};
use super::{Context, keys, without_defaults};
use crate::ast::{Index, Key};
use crate::field::Field;
use crate::names::{self, Case};

/// For each index its types, the entity's functions, and the trait implementations.
pub(super) fn indexes(context: &Context<'_>) -> (Vec<TokenStream>, Vec<TokenStream>, Vec<TokenStream>) {
    let mut all = (Vec::new(), Vec::new(), Vec::new());
    for (position, index) in context.entity.indexes.iter().enumerate() {
        let one = OneIndex { context, index, position, copy: copy_name(context, index) };
        let (range_types, range_function) = one.range();
        let (copy, lookup) = (one.copy_struct(), one.lookup());
        all.0.push(quote!(#copy #range_types));
        all.1.push(quote!(#lookup #range_function));
        all.2.push(one.row_impl());
    }
    all
}

fn copy_name(context: &Context<'_>, index: &Index) -> Ident {
    context.named(&format!("By{}", Case::Pascal.apply(&names::plain(&index.name))))
}

/// The type of an index's copy, with the entity's parameters.
pub(super) fn copy_type(context: &Context<'_>, index: &Index) -> TokenStream {
    let copy = copy_name(context, index);
    let (_, parameters, _) = context.generics().split_for_impl();
    quote!(#copy #parameters)
}

/// The key of an index's copies, with its templates in the schema.
pub(super) fn key_source<'i>(context: &Context<'_>, index: &'i Index, position: usize) -> KeySource<'i> {
    let (krate, schema) = (&context.krate, context.schema());
    KeySource {
        key: &index.key,
        partition: quote!(#krate::__private::index_partition(#schema, #position)),
        row: quote!(&#krate::__private::index(#schema, #position).row),
    }
}

struct OneIndex<'c> {
    context: &'c Context<'c>,
    index: &'c Index,
    position: usize,
    /// The name of the copy's struct.
    copy: Ident,
}

impl OneIndex<'_> {
    fn copy_type(&self) -> TokenStream {
        copy_type(self.context, self.index)
    }

    fn key_source(&self) -> KeySource<'_> {
        key_source(self.context, self.index, self.position)
    }

    fn table(&self) -> TokenStream {
        super::option(self.index.table.as_ref().map(|table| quote!(#table)))
    }

    fn copy_struct(&self) -> TokenStream {
        let Self { context, index, copy, .. } = self;
        let Context { krate, entity } = context;
        let (vis, ident, this) = (context.vis(), context.ident(), context.this());
        let fields = entity.copied(index).into_iter().filter_map(|field| entity.fields.get(field)).map(|field| {
            let Field { ident, vis, ty, name, .. } = field;
            let doc = format!("The field `{name}` of the entity.");
            quote!(#[doc = #doc] #vis #ident: #ty,)
        });
        let marker = context.is_generic().then(|| {
            let phantom = context.phantom();
            quote!(#[doc(hidden)] #vis __entity: #phantom,)
        });
        let derives = &index.derives;
        let generics = without_defaults(context.generics());
        let (impl_generics, _, where_clause) = generics.split_for_impl();
        let copy_type = self.copy_type();
        let write = context.key_source().write(krate, &entity.fields, |field| keys::own_value(krate, field));
        let doc = format!("The copy of an `{ident}` that the index `{}` keeps.", names::plain(&index.name));
        quote! {
            #[doc = #doc]
            #[allow(dead_code)]
            #[derive(Clone, Debug #(, #derives)*)]
            #vis struct #copy #impl_generics #where_clause {
                #(#fields)*
                #marker
            }

            #[allow(dead_code)]
            #[automatically_derived]
            impl #impl_generics #copy_type #where_clause {
                /// The key of the entity that this is a copy of.
                #vis fn source_key(&self) -> #krate::Key<#this> {
                    #krate::Key::new(#write)
                }
            }
        }
    }

    fn row_impl(&self) -> TokenStream {
        let Self { context, index, position, .. } = self;
        let Context { krate, entity } = context;
        let (copy_type, schema, label) = (self.copy_type(), context.schema(), self.copy.to_string());
        let this = context.this();
        let (impl_generics, _, where_clause) = context.generics().split_for_impl();
        let source = self.key_source();
        let copied = entity.copied(index);
        let (read_key, of_key) = source.read(krate, &entity.fields, &copied);
        let (read_properties, mut fields) = codec::read(krate, &entity.fields, &copied, &of_key);
        let KeySource { partition, row, .. } = source;
        if context.is_generic() {
            fields.push(quote!(__entity: ::core::marker::PhantomData));
        }
        quote! {
            #[automatically_derived]
            impl #impl_generics #krate::FromRow for #copy_type #where_clause {
                fn row_prefix() -> &'static str {
                    (#row).literal_prefix()
                }

                fn label() -> &'static str {
                    #label
                }

                fn recognizes(row: &#krate::DynamicEntity) -> bool {
                    let index = #krate::__private::index(#schema, #position);
                    #krate::__private::recognizes_copy(#schema, index, #partition, row)
                }

                fn from_row(__row: #krate::DynamicEntity) -> #krate::Result<#krate::Versioned<Self>> {
                    #krate::__private::check_version(#schema, &__row)?;
                    #krate::__private::read_row(__row, |__key, __properties| {
                        #read_key
                        #read_properties
                        ::core::result::Result::Ok(Self { #(#fields),* })
                    })
                }
            }

            #[automatically_derived]
            impl #impl_generics #krate::IndexCopy for #copy_type #where_clause {
                type Source = #this;

                const INDEX: usize = #position;

                fn source(&self) -> #krate::Key<#this> {
                    self.source_key()
                }
            }
        }
    }

    /// `Employee::by_email(...)`: a key where the arguments fix one, else a query.
    fn lookup(&self) -> TokenStream {
        let Self { context, index, .. } = self;
        let Context { krate, entity } = context;
        let (vis, copy_type, table) = (context.vis(), self.copy_type(), self.table());
        let function = format_ident!("by_{}", names::plain(&index.name), span = index.name.span());
        let (arguments, fixed) = lookup_arguments(&entity.key, &index.key);
        let parameters = parameters_of(&arguments, &entity.fields);
        let value = |field: &Field<'_>| keys::parameter_value(krate, field);
        let source = self.key_source();
        let name = names::plain(&index.name);
        if fixed == index.key.row.fields().count() {
            let write = source.write(krate, &entity.fields, value);
            let doc = format!("The key of the one copy in the index `{name}` with these fields.");
            return quote! {
                #[doc = #doc]
                #vis fn #function(#(#parameters),*) -> #krate::Key<#copy_type> {
                    #krate::Key::new(#write).in_table(#table)
                }
            };
        }
        let partition = source.write_partition(krate, &entity.fields, value);
        let row_template = source.row;
        let pushes = index.key.row.fields().take(fixed).filter_map(|(field, _)| entity.fields.get(field)).map(value);
        let doc = format!("All copies in the index `{name}` with these fields.");
        quote! {
            #[doc = #doc]
            #vis fn #function(#(#parameters),*) -> #krate::Query<#copy_type> {
                #krate::Query::in_range(
                    #krate::keys::KeyPrefix::new(
                        #partition,
                        #row_template,
                    )
                    #(.push(#pushes))*
                    .finish(),
                )
                .in_table(#table)
            }
        }
    }

    fn range(&self) -> (TokenStream, TokenStream) {
        range::builder(
            self.context,
            &Rows {
                builder: format_ident!("{}Range", self.copy),
                function: format_ident!("range_by_{}", names::plain(&self.index.name), span = self.index.name.span()),
                read_as: self.copy_type(),
                source: self.key_source(),
                table: self.table(),
                what: format!("copies in the index `{}`", names::plain(&self.index.name)),
            },
        )
    }
}

/// The fields that a lookup takes, and how many row parts they fix: the partition's, and the
/// row's up to the last that is not part of the primary key.
fn lookup_arguments(primary: &Key, index: &Key) -> (Vec<usize>, usize) {
    let mut arguments: Vec<usize> = Vec::new();
    let add = |arguments: &mut Vec<usize>, field: usize| {
        if !arguments.contains(&field) {
            arguments.push(field);
        }
    };
    index.partition.fields().for_each(|(field, _)| add(&mut arguments, field));
    let row: Vec<usize> = index.row.fields().map(|(field, _)| field).collect();
    let own = row.iter().rposition(|field| !primary.holds(*field)).map_or(0, |last| last + 1);
    row.iter().take(own).for_each(|field| add(&mut arguments, *field));
    let more = row.iter().skip(own).take_while(|field| arguments.contains(field)).count();
    (arguments, own + more)
}

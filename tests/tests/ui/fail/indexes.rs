use table_core::Entity;

#[derive(Entity)]
#[entity(partition = "p", row = "r_{id}")]
#[index(row = "x_{email}")]
#[index(a::b, row = "x_{email}")]
#[index(email)]
#[index(email, row = "e_{emial}", tabel = "Others", include(emial, email, email, hidden))]
#[index(elsewhere, table = "No-Such Table", row = "e_{email}")]
#[index(tables, table = "Tables", row = "t_{email}", include = "email")]
#[index(short, table = "ab", row = "s_{email}", derive = "PartialEq")]
#[index(digit, table = "1abc", row = "d_{email}")]
struct Indexed {
    id: u32,
    email: String,
    #[entity(skip)]
    hidden: i32,
}

fn main() {}

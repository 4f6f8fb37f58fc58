use table_core::Property;

#[derive(Property)]
#[property(rename_al = "snake_case")]
enum Status {
    Active,
    #[property(rename = "Active")]
    Live,
    Other(String),
    #[property(name = "x")]
    Odd,
}

#[derive(Property)]
enum Never {}

#[derive(Property)]
struct Pair(u32, u32);

#[derive(Property)]
struct Unit;

#[derive(Property)]
union Union {
    a: u32,
}

fn main() {
    fn is_property<P: Property>() {}
    is_property::<Status>();
    is_property::<Never>();
    is_property::<Pair>();
}

use table_core::Entity;

#[derive(Entity)]
#[entity(partition = "{department}", row = "{name}")]
#[index(email, row = "email_{email}")]
#[index(mail, row = "email_{id}")]
struct Primary {
    department: String,
    name: String,
    email: String,
    id: u32,
}

#[derive(Entity)]
#[entity(partition = "{department}", row = "{id:06}")]
#[index(number, partition = "n_{number}", row = "{number:06}")]
#[index(first, table = "Others", row = "x_{email}")]
#[index(second, table = "others", row = "{email}_x")]
#[index(third, table = "Elsewhere", row = "{id:06}")]
struct Tables {
    department: String,
    id: u32,
    number: u32,
    email: String,
}

fn main() {}

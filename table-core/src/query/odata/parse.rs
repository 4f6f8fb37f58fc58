//! OData text as a filter, by recursive descent.
//!
//! ```text
//! any        = all { "or" all }
//! all        = one { "and" one }
//! one        = "not" one | "(" any ")" | comparison
//! comparison = name operator literal | literal operator name | name | "true" | "false"
//! ```

use std::str::FromStr;

use super::lex::{Kind, Lexer, Token};
use crate::error::{Error, Result};
use crate::query::{Comparison, Field, Filter};
use crate::value::{EdmType, Value};

/// How deep parentheses and `not` may nest, so that no text exhausts the stack.
const MAX_DEPTH: usize = 64;
/// How many bytes a filter's text may have: two of the longest texts that a property holds, and more.
const MAX_BYTES: usize = 256 * 1024;

impl Filter {
    /// Reads a filter from OData text, such as an operator pastes.
    ///
    /// Operators are in lower case. A comparison may have its literal on either side, and a name
    /// alone stands for `name eq true`. Keys compare with texts only, `Timestamp` with times only.
    ///
    /// ```
    /// use table_core::query::Filter;
    ///
    /// let filter = Filter::parse("(PartitionKey eq 'Sales') and (40 le Age)")?;
    /// assert_eq!(filter.to_string(), "PartitionKey eq 'Sales' and Age ge 40");
    ///
    /// let error = Filter::parse("LastName = 'Jones'").unwrap_err();
    /// assert_eq!(error.message(), "a filter has no `=`; write `eq` (at character 10 of the filter)");
    /// # Ok::<(), table_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`InvalidQuery`](crate::ErrorKind::InvalidQuery), with the place and what to write there.
    pub fn parse(text: &str) -> Result<Self> {
        if text.len() > MAX_BYTES {
            return Err(Error::invalid_query(format!(
                "a filter holds at most {MAX_BYTES} bytes, this one has {}; split the query",
                text.len()
            )));
        }
        let mut lexer = Lexer::new(text);
        let token = lexer.next()?;
        let mut parser = Parser { lexer, token, depth: 0 };
        let filter = parser.any()?;
        match parser.token.kind {
            Kind::End => Ok(filter.normalised()),
            Kind::Close => Err(parser.error("this parenthesis was never opened")),
            Kind::Word(word) => Err(parser.error(joint_hint(word))),
            _ => Err(parser.error("the filter should end here, or go on with `and` or `or`")),
        }
    }
}

impl FromStr for Filter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The token that comes next.
    token: Token<'t>,
    depth: usize,
}

/// One side of a comparison.
enum Operand {
    Field(Field),
    Literal(Value),
}

impl<'t> Parser<'t> {
    fn error(&self, problem: &str) -> Error {
        self.lexer.error(self.token.at, problem)
    }

    fn take(&mut self) -> Result<Token<'t>> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn take_word(&mut self, word: &str) -> Result<bool> {
        let found = self.token.kind == Kind::Word(word);
        if found {
            self.take()?;
        }
        Ok(found)
    }

    fn any(&mut self) -> Result<Filter> {
        let mut any = vec![self.all()?];
        while self.take_word("or")? {
            any.push(self.all()?);
        }
        Ok(Filter::any_of(any))
    }

    fn all(&mut self) -> Result<Filter> {
        let mut all = vec![self.one()?];
        while self.take_word("and")? {
            all.push(self.one()?);
        }
        Ok(Filter::all_of(all))
    }

    fn one(&mut self) -> Result<Filter> {
        match self.token.kind {
            Kind::Open => {
                self.descend()?;
                let filter = self.any()?;
                match self.token.kind {
                    Kind::Close => self.take()?,
                    Kind::Word(word) => return Err(self.error(joint_hint(word))),
                    _ => return Err(self.error("a parenthesis should be closed here")),
                };
                self.depth -= 1;
                Ok(filter)
            }
            Kind::Word("not") => {
                self.descend()?;
                let filter = self.one()?.negated();
                self.depth -= 1;
                Ok(filter)
            }
            _ => self.comparison(),
        }
    }

    /// Takes the token that opens a level.
    fn descend(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("a filter nests at most 64 levels; write it with fewer parentheses"));
        }
        self.take().map(|_| ())
    }

    fn comparison(&mut self) -> Result<Filter> {
        let at = self.token.at;
        let left = self.operand()?;
        let Some(comparison) = self.operator()? else {
            return self.alone(at, left);
        };
        let right = self.operand()?;
        let (field, comparison, value) = match (left, right) {
            (Operand::Field(field), Operand::Literal(value)) => (field, comparison, value),
            (Operand::Literal(value), Operand::Field(field)) => (field, comparison.mirrored(), value),
            (Operand::Field(_), Operand::Field(_)) => {
                return Err(self.lexer.error(at, "two properties cannot be compared; a text stands in single quotes"));
            }
            (Operand::Literal(_), Operand::Literal(_)) => {
                return Err(self.lexer.error(at, "a comparison needs the name of a property on one side"));
            }
        };
        if let Some(problem) = type_problem(&field, &value) {
            return Err(self.lexer.error(at, problem));
        }
        Ok(Filter::Compare { field, comparison, value })
    }

    /// A name or a literal without an operator after it.
    fn alone(&self, at: usize, operand: Operand) -> Result<Filter> {
        match operand {
            Operand::Literal(Value::Boolean(true)) => Ok(Filter::ALWAYS),
            Operand::Literal(Value::Boolean(false)) => Ok(Filter::NEVER),
            Operand::Field(field @ Field::Property(_)) if self.ends_condition() => {
                Ok(Filter::compare(field, Comparison::Eq, true))
            }
            _ => Err(match self.token.kind {
                Kind::Word(word) => self.error(operator_hint(word)),
                Kind::Open => {
                    self.error("a filter has no functions; for texts that begin with x, compare with ge and lt")
                }
                _ => self.lexer.error(at, "a comparison should stand here, such as `Age ge 40`"),
            }),
        }
    }

    /// Whether what comes next can follow a whole condition.
    fn ends_condition(&self) -> bool {
        matches!(self.token.kind, Kind::End | Kind::Close | Kind::Word("and" | "or"))
    }

    fn operand(&mut self) -> Result<Operand> {
        match self.token.kind {
            Kind::Word("null") => {
                Err(self.error("nothing compares with null; a row without a property fulfils `not (Name ge '')`"))
            }
            Kind::Word(word) if is_keyword(word) => {
                Err(self.error("a name or a literal should stand here, not an operator"))
            }
            Kind::Word(word) => {
                let field = Field::new(word).map_err(|_| self.error("no property can have this name"))?;
                self.take()?;
                Ok(Operand::Field(field))
            }
            Kind::Literal(_) => {
                let Token { kind: Kind::Literal(value), .. } = self.take()? else {
                    return Err(self.error("a literal should stand here"));
                };
                Ok(Operand::Literal(value))
            }
            Kind::End => Err(self.error("the filter ends where a condition should stand, such as `Age ge 40`")),
            Kind::Open | Kind::Close => Err(self.error("a name or a literal should stand here, not a parenthesis")),
        }
    }

    fn operator(&mut self) -> Result<Option<Comparison>> {
        let Kind::Word(word) = self.token.kind else { return Ok(None) };
        let found = Comparison::ALL.into_iter().find(|each| each.as_str() == word);
        if found.is_some() {
            self.take()?;
        }
        Ok(found)
    }
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "and" | "or" | "not") || Comparison::ALL.iter().any(|each| each.as_str() == word)
}

/// What is wrong with comparing a field of the service's own with a value.
fn type_problem(field: &Field, value: &Value) -> Option<&'static str> {
    match (field, value.edm_type()) {
        (Field::PartitionKey | Field::RowKey, EdmType::String)
        | (Field::Timestamp, EdmType::DateTime)
        | (Field::Property(_), _) => None,
        (Field::Timestamp, _) => Some("Timestamp compares only with a time, such as datetime'2014-08-22T00:00:00Z'"),
        _ => Some("a key compares only with a text in single quotes"),
    }
}

/// What was probably meant by a word where an operator should stand.
fn operator_hint(word: &str) -> &'static str {
    match word.to_ascii_lowercase().as_str() {
        "eq" | "ne" | "gt" | "ge" | "lt" | "le" | "and" | "or" | "not" => "operators are written in lower case",
        "is" | "equals" => "a comparison for equality is written `eq`",
        "like" | "contains" | "startswith" | "in" | "between" => {
            "a filter knows only eq, ne, gt, ge, lt and le; for a range compare with ge and lt"
        }
        _ => "an operator should stand here: eq, ne, gt, ge, lt or le",
    }
}

/// What was probably meant by a word where `and`, `or` or an end should stand.
fn joint_hint(word: &str) -> &'static str {
    if word.eq_ignore_ascii_case("and") || word.eq_ignore_ascii_case("or") {
        "operators are written in lower case"
    } else {
        "the filter should end here, or go on with `and` or `or`"
    }
}

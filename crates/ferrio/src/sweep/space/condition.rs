//! Conditions of `--where`: which points of a sweep are made.
//!
//! A condition compares sums and products of options and numbers: `bs * iodepth <= 4m`, `rw == randread or iodepth == 1`. `and` binds closer
//! than `or`. A word that is no option of the sweep and no number is compared as a text. Must not know: runs. Start reading at
//! [`PointCondition::parse`], then [`PointCondition::holds`].

use super::range::number_with_unit;
use super::{SpaceError, SweepPoint};

/// A condition that a point fulfils or not.
#[derive(Debug, Clone, PartialEq)]
pub struct PointCondition {
    text: String,
    /// It holds where all comparisons of one of these lists hold.
    alternatives: Vec<Vec<PointComparison>>,
}

#[derive(Debug, Clone, PartialEq)]
struct PointComparison {
    left: Sum,
    relation: Relation,
    right: Sum,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Less,
    AtMost,
    Equal,
    Unequal,
    AtLeast,
    More,
}

/// Terms with their signs.
type Sum = Vec<(f64, Product)>;
/// Words, which multiply, or divide (`true`).
type Product = Vec<(bool, String)>;

/// What a side of a comparison is at a point.
#[derive(Debug, PartialEq)]
enum Side {
    Number(f64),
    Text(String),
}

impl PointCondition {
    /// Parses a condition. `names`: the options of the sweep, one of which it must have.
    ///
    /// # Errors
    /// The text is no condition, or about no option of the sweep.
    pub fn parse(text: &str, names: &[String]) -> Result<Self, SpaceError> {
        let bad = |reason: &'static str| SpaceError::Condition { text: text.to_owned(), reason };
        if text.contains(['(', ')', '[', ']', '{', '}']) {
            return Err(bad(
                "it has brackets, which have no meaning here: write each comparison out, joined by and, or",
            ));
        }
        let tokens = tokens(text);
        let alternatives = tokens.split(|token| token == "or").map(|alternative| {
            alternative.split(|token| token == "and").map(|tokens| comparison(tokens).map_err(bad)).collect()
        });
        let alternatives: Vec<Vec<PointComparison>> = alternatives.collect::<Result<_, _>>()?;
        let is_about = |comparison: &PointComparison| {
            let words = comparison.left.iter().chain(&comparison.right).flat_map(|(_, product)| product);
            words.into_iter().any(|(_, word)| names.contains(word))
        };
        if !alternatives.iter().flatten().all(is_about) {
            return Err(bad("each comparison must have an option that the sweep sets (--over)"));
        }
        Ok(Self { text: text.to_owned(), alternatives })
    }

    /// True if the point is to be made.
    ///
    /// # Errors
    /// A text is to be computed with.
    pub fn holds(&self, point: &SweepPoint) -> Result<bool, SpaceError> {
        let bad = |reason| SpaceError::Condition { text: self.text.clone(), reason };
        let mut is_met = false;
        for alternative in &self.alternatives {
            let mut all = true;
            for comparison in alternative {
                all &= comparison.holds(point).map_err(bad)?;
            }
            is_met |= all;
        }
        Ok(is_met)
    }
}

impl PointComparison {
    fn holds(&self, point: &SweepPoint) -> Result<bool, &'static str> {
        let (left, right) = (side(&self.left, point)?, side(&self.right, point)?);
        match (left, self.relation, right) {
            (Side::Number(left), relation, Side::Number(right)) => Ok(match relation {
                Relation::Less => left < right,
                Relation::AtMost => left <= right,
                Relation::Equal => left.total_cmp(&right).is_eq(),
                Relation::Unequal => left.total_cmp(&right).is_ne(),
                Relation::AtLeast => left >= right,
                Relation::More => left > right,
            }),
            (left, Relation::Equal, right) => Ok(left == right),
            (left, Relation::Unequal, right) => Ok(left != right),
            _ => Err("texts are equal (==) or not (!=), and neither more nor less"),
        }
    }
}

fn side(sum: &Sum, point: &SweepPoint) -> Result<Side, &'static str> {
    let value = |word: &String| point.value_of(word).unwrap_or(word).to_owned();
    if let [(sign, product)] = &sum[..]
        && let ([(false, word)], true) = (&product[..], *sign > 0.0)
    {
        let text = value(word);
        return Ok(number(&text).map_or(Side::Text(text), Side::Number));
    }
    let mut total = 0.0;
    for (sign, product) in sum {
        let mut factor = *sign;
        for (divides, word) in product {
            let value = number(&value(word)).ok_or("it computes with a text")?;
            factor = if *divides { factor / value } else { factor * value };
        }
        total += factor;
    }
    Ok(Side::Number(total))
}

/// A number as options have it; sizes in bytes.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.strip_suffix('%').unwrap_or(text);
    let n_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, unit) = text.split_at(n_digits);
    let whole = digits.parse().ok().and_then(|number| number_with_unit(number, unit)).map(|number| number as f64);
    whole.or_else(|| text.parse().ok().filter(|number: &f64| number.is_finite()))
}

fn comparison(tokens: &[String]) -> Result<PointComparison, &'static str> {
    let relation_of = |token: &String| {
        Some(match token.as_str() {
            "<" => Relation::Less,
            "<=" => Relation::AtMost,
            "=" | "==" => Relation::Equal,
            "!=" => Relation::Unequal,
            ">=" => Relation::AtLeast,
            ">" => Relation::More,
            _ => return None,
        })
    };
    let mut sides = tokens.split(|token| relation_of(token).is_some());
    let relation = tokens.iter().find_map(relation_of).ok_or("it compares nothing (<, <=, ==, !=, >=, >)")?;
    let (left, right) = sides.next().zip(sides.next()).ok_or("it compares nothing")?;
    if sides.next().is_some() {
        return Err("a comparison has two sides: join several by and");
    }
    Ok(PointComparison { left: sum(left)?, relation, right: sum(right)? })
}

fn sum(tokens: &[String]) -> Result<Sum, &'static str> {
    let (mut terms, mut sign, mut start) = (Vec::new(), 1.0, 0);
    for (at, token) in tokens.iter().enumerate() {
        if token == "+" || token == "-" {
            terms.push((sign, product(&tokens[start..at])?));
            sign = if token == "-" { -1.0 } else { 1.0 };
            start = at + 1;
        }
    }
    terms.push((sign, product(&tokens[start..])?));
    Ok(terms)
}

fn product(tokens: &[String]) -> Result<Product, &'static str> {
    let (mut factors, mut divides) = (Vec::new(), None);
    for token in tokens {
        match (token.as_str(), divides) {
            ("*" | "/", None) if !factors.is_empty() => divides = Some(token == "/"),
            ("*" | "/", _) => return Err("something is missing beside * or /"),
            (_, Some(by)) => {
                factors.push((by, token.clone()));
                divides = None;
            }
            (_, None) if factors.is_empty() => factors.push((false, token.clone())),
            _ => return Err("two words stand beside each other without an operator"),
        }
    }
    if divides.is_some() || factors.is_empty() { Err("something is missing beside an operator") } else { Ok(factors) }
}

/// Words and operators. Plus and minus are operators where blanks stand around them: names and values may have them.
fn tokens(text: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(2 * text.len());
    let mut chars = text.chars().peekable();
    while let Some(letter) = chars.next() {
        match letter {
            '<' | '>' | '=' | '!' => {
                spaced.push(' ');
                spaced.push(letter);
                spaced.extend(chars.next_if_eq(&'='));
                spaced.push(' ');
            }
            '*' | '/' => spaced.extend([' ', letter, ' ']),
            _ => spaced.push(letter),
        }
    }
    spaced.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::space::{Space, SweepAxis};

    fn kept(conditions: &[&str]) -> Vec<String> {
        let axes =
            ["bs=4k,1m", "iodepth=1..4", "rw=randread,write"].map(|text| SweepAxis::parse(text).expect("an axis"));
        let conditions: Vec<String> = conditions.iter().map(|text| (*text).to_owned()).collect();
        let space = Space::new(axes.to_vec(), &conditions).expect("a space");
        let points = space.points().expect("points");
        points.iter().map(SweepPoint::to_string).collect()
    }

    #[test]
    fn points_are_left_out() {
        assert_eq!(kept(&[]).len(), 12);
        let few = kept(&["bs * iodepth < 1m", "rw == write"]);
        assert_eq!(few, ["bs=4k iodepth=1 rw=write", "bs=4k iodepth=2 rw=write", "bs=4k iodepth=4 rw=write"]);
        let other =
            kept(&["rw != write and bs=1m and iodepth > 1 + 2 - 1 or rw == write and bs == 4k and iodepth/4 >= 1"]);
        assert_eq!(other, ["bs=4k iodepth=4 rw=write", "bs=1m iodepth=4 rw=randread"]);
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        let names = ["bs".to_owned(), "rw".to_owned()];
        for text in [
            "",
            "bs",
            "bs <",
            "bs < 4k < 8k",
            "bs bs < 1",
            "bs * < 1",
            "iodepth < 4",
            "bs < 1 or 1 < 2",
            "bs + < 3",
            "(bs < 4k or rw == read) and bs < 8k",
            "and",
        ] {
            assert!(PointCondition::parse(text, &names).is_err(), "{text}");
        }
        let texts = PointCondition::parse("rw < write", &names).expect("a condition");
        let space = Space::new(vec![SweepAxis::parse("rw=read").expect("an axis")], &[]).expect("a space");
        assert!(texts.holds(&space.points().expect("points")[0]).is_err());
    }
}

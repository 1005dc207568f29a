//! Decimal arithmetic on values in which a `$keyword` was replaced. fio runs the calculator `bc` for it; the results
//! are the same: exact decimals, and quotients without digits after the point.
//!
//! Must not know: options, suffixes (a suffix is an error, as it is for `bc`).
//! Start reading at [`evaluate`].

/// Deepest nesting of parentheses and signs.
const MAX_DEPTH: usize = 64;

/// Most digits after the point; far more than a value needs, and few enough for 128 bits.
const MAX_SCALE: u32 = 18;

/// The result of `text`, written as `bc` writes it; `None` when the text is no such expression, divides by zero, or
/// needs more than 128 bits.
pub fn evaluate(text: &str) -> Option<String> {
    let mut parser = Parser { rest: text.trim_start(), depth: 0 };
    let value = parser.sum()?;
    parser.rest.is_empty().then(|| value.write())
}

/// `mantissa / 10^scale`.
#[derive(Debug, Clone, Copy)]
struct Decimal {
    mantissa: i128,
    scale: u32,
}

impl Decimal {
    fn at_scale(self, scale: u32) -> Option<i128> {
        self.mantissa.checked_mul(10_i128.checked_pow(scale.checked_sub(self.scale)?)?)
    }

    fn cut_to(self, scale: u32) -> Self {
        if scale >= self.scale {
            return self;
        }
        // Cannot overflow: scales are at most 2 * MAX_SCALE = 36, and 10^36 fits into 127 bits.
        Self { mantissa: self.mantissa / 10_i128.pow(self.scale - scale), scale }
    }

    fn add(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        Some(Self { mantissa: self.at_scale(scale)?.checked_add(other.at_scale(scale)?)?, scale })
    }

    fn multiply(self, other: Self) -> Option<Self> {
        let exact = Self { mantissa: self.mantissa.checked_mul(other.mantissa)?, scale: self.scale + other.scale };
        Some(exact.cut_to(self.scale.max(other.scale)))
    }

    fn divide(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        Some(Self { mantissa: self.at_scale(scale)?.checked_div(other.at_scale(scale)?)?, scale: 0 })
    }

    fn remainder(self, other: Self) -> Option<Self> {
        let whole = self.divide(other)?.multiply(other)?;
        self.add(Self { mantissa: whole.mantissa.checked_neg()?, ..whole })
    }

    fn power(self, exponent: Self) -> Option<Self> {
        let exponent = u32::try_from(exponent.cut_to(0).mantissa).ok().filter(|exponent| *exponent <= 128)?;
        (0..exponent).try_fold(Self { mantissa: 1, scale: 0 }, |product, _| product.multiply(self))
    }

    /// As `bc`: no zero before the point.
    fn write(self) -> String {
        let sign = if self.mantissa < 0 { "-" } else { "" };
        let unit = 10_u128.pow(self.scale);
        let (whole, part) = (self.mantissa.unsigned_abs() / unit, self.mantissa.unsigned_abs() % unit);
        let width = self.scale as usize;
        match (self.scale, whole) {
            (0, _) => format!("{sign}{whole}"),
            (_, 0) => format!("{sign}.{part:0width$}"),
            _ => format!("{sign}{whole}.{part:0width$}"),
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn take(&mut self, symbol: char) -> bool {
        let Some(rest) = self.rest.strip_prefix(symbol) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn sum(&mut self) -> Option<Decimal> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value = value.add(self.product()?)?;
            } else if self.take('-') {
                let right = self.product()?;
                value = value.add(Decimal { mantissa: right.mantissa.checked_neg()?, ..right })?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<Decimal> {
        let mut value = self.power()?;
        loop {
            if self.take('*') {
                value = value.multiply(self.power()?)?;
            } else if self.take('/') {
                value = value.divide(self.power()?)?;
            } else if self.take('%') {
                value = value.remainder(self.power()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn power(&mut self) -> Option<Decimal> {
        let base = self.signed()?;
        if self.take('^') { self.nested(Self::power).and_then(|exponent| base.power(exponent)) } else { Some(base) }
    }

    fn signed(&mut self) -> Option<Decimal> {
        if self.take('-') {
            let value = self.nested(Self::signed)?;
            return Some(Decimal { mantissa: value.mantissa.checked_neg()?, ..value });
        }
        if self.take('(') {
            let value = self.nested(Self::sum)?;
            return self.take(')').then_some(value);
        }
        self.number()
    }

    fn nested(&mut self, parse: fn(&mut Self) -> Option<Decimal>) -> Option<Decimal> {
        self.depth += 1;
        let value = (self.depth <= MAX_DEPTH).then(|| parse(self)).flatten();
        self.depth -= 1;
        value
    }

    fn number(&mut self) -> Option<Decimal> {
        let end = self.rest.find(|symbol: char| !symbol.is_ascii_digit() && symbol != '.').unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let scale = u32::try_from(part.len()).ok().filter(|scale| *scale <= MAX_SCALE)?;
        let mantissa = format!("{whole}{part}").parse().ok()?;
        Some(Decimal { mantissa, scale })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // Expected values: results of GNU bc 1.07 with its default scale of 0.
    #[test]
    fn results_are_those_of_bc() {
        for (text, expected) in [
            ("4096*100", "409600"),
            ("4096 * 4", "16384"),
            ("(2+3)*2", "10"),
            ("(2+3)/2", "2"),
            ("2/3", "0"),
            ("2 - 4", "-2"),
            ("-7/2", "-3"),
            ("7%3", "1"),
            ("-7%3", "-1"),
            ("2^3^2", "512"),
            ("2^10+1", "1025"),
            ("-2^2", "4"),
            ("2*1.5", "3.0"),
            ("1.25+1", "2.25"),
            ("2*.25", ".50"),
            ("0.5-1", "-.5"),
            ("1.25*1.25", "1.56"),
            ("7.5/2", "3"),
        ] {
            assert_eq!(evaluate(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_bc_refuses_is_refused() {
        for text in ["", "2*4k", "2+", "(2", "2)", "1/0", "1%0", "+2", "foo", "1.2.3", "2 3", "9^999999999"] {
            assert_eq!(evaluate(text), None, "{text}");
        }
        assert_eq!(evaluate(&"(".repeat(100_000)), None);
        assert_eq!(evaluate(&"-".repeat(100_000)), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[-0-9.+*/%^() ]{0,60}") {
            let _ = evaluate(&text);
        }
    }
}

//! Arithmetic in values: everything that starts with `(`, as in `(2*64k)` or `(1h - 30)`.
//!
//! Operators `+ - * / % ^` and unary minus, parentheses, hexadecimal and decimal numbers, suffixes. Evaluated in
//! doubles. Reading stops at `,`, `:` or `#` behind a complete expression.
//!
//! Must not know: the meaning of suffixes, which the caller provides. Start reading at [`evaluate`].

use super::ParseError;

/// Nested parentheses and powers that are followed. Bounds the stack, and more is no job file.
const MAX_DEPTH: usize = 100;

/// True for values that are arithmetic.
pub(super) fn is_expression(text: &str) -> bool {
    text.starts_with('(')
}

/// The value of an expression, finite. `factor_of` returns the factor of a suffix, `None` if it is unknown.
pub(super) fn evaluate(text: &str, factor_of: &dyn Fn(&str) -> Option<f64>) -> Result<f64, ParseError> {
    let mut evaluator = Evaluator { text, position: 0, depth: 0, factor_of };
    let value = evaluator.sum()?;
    match evaluator.peek() {
        None | Some(b',' | b':' | b'#') => {}
        Some(_) => return Err(evaluator.problem("an operator is expected")),
    }
    if value.is_finite() { Ok(value) } else { Err(evaluator.problem("the result is too large")) }
}

struct Evaluator<'t> {
    text: &'t str,
    position: usize,
    depth: usize,
    factor_of: &'t dyn Fn(&str) -> Option<f64>,
}

impl<'t> Evaluator<'t> {
    fn sum(&mut self) -> Result<f64, ParseError> {
        let mut value = self.product()?;
        loop {
            if self.accept(b'+') {
                value += self.product()?;
            } else if self.accept(b'-') {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, ParseError> {
        let mut value = self.signed()?;
        loop {
            if self.accept(b'*') {
                value *= self.signed()?;
            } else if self.accept(b'/') {
                value /= self.divisor()?;
            } else if self.accept(b'%') {
                value %= self.divisor()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn divisor(&mut self) -> Result<f64, ParseError> {
        let value = self.signed()?;
        if value == 0.0 { Err(self.problem("division by zero")) } else { Ok(value) }
    }

    fn signed(&mut self) -> Result<f64, ParseError> {
        let mut is_negative = false;
        while self.accept(b'-') {
            is_negative = !is_negative;
        }
        let value = self.power()?;
        Ok(if is_negative { -value } else { value })
    }

    /// Binds tighter than a minus on its left, and to the right: `-2^2` is -4, `2^3^2` is `2^9`.
    fn power(&mut self) -> Result<f64, ParseError> {
        let base = self.primary()?;
        if !self.accept(b'^') {
            return Ok(base);
        }
        let exponent = self.nested(Self::signed)?;
        Ok(base.powf(exponent))
    }

    fn primary(&mut self) -> Result<f64, ParseError> {
        if !self.accept(b'(') {
            return self.number();
        }
        let value = self.nested(Self::sum)?;
        if self.accept(b')') { Ok(value) } else { Err(self.problem("`)` is expected")) }
    }

    fn nested(&mut self, rule: fn(&mut Self) -> Result<f64, ParseError>) -> Result<f64, ParseError> {
        if self.depth == MAX_DEPTH {
            return Err(self.problem("too deeply nested"));
        }
        self.depth += 1;
        let value = rule(self);
        self.depth -= 1;
        value
    }

    fn number(&mut self) -> Result<f64, ParseError> {
        self.skip_blanks();
        let value = match self.take_hex() {
            Some(value) => value,
            None => self.take_decimal().ok_or_else(|| self.problem("a number is expected"))?,
        };
        let start = self.position;
        let suffix = self.take_while(|b| b.is_ascii_alphabetic());
        if suffix.is_empty() {
            return Ok(value);
        }
        let factor = (self.factor_of)(suffix);
        self.position = if factor.is_none() { start } else { self.position };
        Ok(value * factor.ok_or_else(|| self.problem("unknown suffix"))?)
    }

    fn take_hex(&mut self) -> Option<f64> {
        let mark = self.text.get(self.position..self.position + 2)?;
        if !mark.eq_ignore_ascii_case("0x") {
            return None;
        }
        self.position += 2;
        let digits = self.take_while(|b| b.is_ascii_hexdigit());
        Some(digits.bytes().fold(0.0, |value, digit| {
            // Each byte is a hexadecimal digit, hence the default is never taken.
            value * 16.0 + f64::from(char::from(digit).to_digit(16).unwrap_or(0))
        }))
    }

    fn take_decimal(&mut self) -> Option<f64> {
        let mut has_point = false;
        let digits = self.take_while(|b| b.is_ascii_digit() || (b == b'.' && !std::mem::replace(&mut has_point, true)));
        digits.parse().ok()
    }

    fn take_while(&mut self, mut is_wanted: impl FnMut(u8) -> bool) -> &'t str {
        let start = self.position;
        let n_bytes = self.text.bytes().skip(start).take_while(|b| b.is_ascii() && is_wanted(*b)).count();
        self.position += n_bytes;
        &self.text[start..self.position]
    }

    fn accept(&mut self, symbol: u8) -> bool {
        let is_there = self.peek() == Some(symbol);
        self.position += usize::from(is_there);
        is_there
    }

    /// The next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        self.skip_blanks();
        self.text.as_bytes().get(self.position).copied()
    }

    fn skip_blanks(&mut self) {
        self.take_while(|b| b.is_ascii_whitespace());
    }

    fn problem(&self, problem: &'static str) -> ParseError {
        let column = self.text[..self.position].chars().count() + 1;
        ParseError::Expression { given: self.text.to_owned(), problem, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `k` is 1024, `ms` is a thousandth.
    fn factor_of(suffix: &str) -> Option<f64> {
        match suffix {
            "k" => Some(1024.0),
            "ms" => Some(0.001),
            _ => None,
        }
    }

    fn value(text: &str) -> f64 {
        evaluate(text, &factor_of).unwrap()
    }

    #[test]
    fn precedence_and_association() {
        let table = [
            ("(1+2*3)", 7.0),
            ("(1+2)*3", 9.0),
            ("(10-4-3)", 3.0),
            ("(64/4/2)", 8.0),
            ("(7%4)", 3.0),
            ("(2^10)", 1024.0),
            ("(2^3^2)", 512.0),
            ("(-2^2)", -4.0),
            ("(2^-1)", 0.5),
            ("(2*-3)", -6.0),
            ("(--4)", 4.0),
            ("(7/2)", 3.5),
            ("( 1 + 0x10 )", 17.0),
            ("(.5+1.)", 1.5),
            ("((((3))))", 3.0),
        ];
        for (text, expected) in table {
            assert!((value(text) - expected).abs() < 1e-12, "{text}");
        }
    }

    #[test]
    fn suffixes_multiply_fractions() {
        let table = [("(2k)", 2048.0), ("(1.5k)", 1536.0), ("(1.9)", 1.9), ("(500ms)", 0.5), ("(0x2k)", 2048.0)];
        for (text, expected) in table {
            assert!((value(text) - expected).abs() < 1e-12, "{text}");
        }
    }

    #[test]
    fn what_follows_a_separator_is_left_alone() {
        for text in ["(4),(8)", "(4):x", "(4)#"] {
            assert!((value(text) - 4.0).abs() < 1e-12, "{text}");
        }
    }

    #[test]
    fn errors_name_the_place() {
        let table = [
            ("(1+", "`(1+`: a number is expected at character 4"),
            ("(1", "`(1`: `)` is expected at character 3"),
            ("(1)2", "`(1)2`: an operator is expected at character 4"),
            ("(3q)", "`(3q)`: unknown suffix at character 3"),
            ("(1/0)", "`(1/0)`: division by zero at character 5"),
            ("(1%0)", "`(1%0)`: division by zero at character 5"),
            ("(.)", "`(.)`: a number is expected at character 3"),
            ("(é)", "`(é)`: a number is expected at character 2"),
            ("(9^9999)", "`(9^9999)`: the result is too large at character 9"),
            ("()", "`()`: a number is expected at character 2"),
        ];
        for (text, message) in table {
            assert_eq!(evaluate(text, &factor_of).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |n| format!("{}1{}", "(".repeat(n), ")".repeat(n));
        assert!(evaluate(&nested(MAX_DEPTH), &factor_of).is_ok());
        assert!(evaluate(&nested(MAX_DEPTH + 1), &factor_of).is_err());
        assert!(evaluate(&format!("(1{})", "^1".repeat(1_000_000)), &factor_of).is_err());
        assert!(evaluate(&format!("({}1)", "-".repeat(1_000_000)), &factor_of).is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_a_value_or_an_error(text in "\\([-+*/%^()0-9.xkms ,é]{0,30}") {
            if let Ok(value) = evaluate(&text, &factor_of) {
                prop_assert!(value.is_finite());
            }
        }
    }
}

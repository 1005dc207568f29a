//! Writing formatted text into a `String`, which cannot fail.
//!
//! Must not know: formats.

/// `write!` into a `String`.
macro_rules! put {
    ($out:expr, $($argument:tt)*) => {
        ::std::fmt::Write::write_fmt($out, format_args!($($argument)*))
            .expect("writing into a String can't fail")
    };
}

pub(crate) use put;

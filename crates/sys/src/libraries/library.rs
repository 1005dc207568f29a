//! Shared libraries of others, opened while the program runs, so that only a job that needs one needs it installed.
//!
//! A library is opened once for a process and never closed, because its threads may outlive all uses. Its functions are declared by
//! hand, from the public headers alone, with [`vendor_functions!`](crate::vendor_functions). Must not know: what the functions do.
//! Start reading at [`VendorLibrary`], then the macro.
#![expect(unsafe_code, reason = "dlopen, dlsym")]

use crate::error::{Error, Result};
use std::mem::ManuallyDrop;

/// A library that may be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VendorLibrary {
    pub name: &'static str,
    /// Names of files whose interfaces are known here, the preferred one first.
    pub sonames: &'static [&'static str],
    /// The Debian package, or several, that has it.
    pub package: &'static str,
}

#[derive(Debug)]
pub struct Library {
    def: VendorLibrary,
    inner: ManuallyDrop<libloading::Library>,
}

impl VendorLibrary {
    /// Opens the first of the files that is there.
    ///
    /// # Errors
    /// None is there, or the loader cannot use it. The text has the package and the loader's words.
    pub fn open(&self) -> Result<Library> {
        if cfg!(target_feature = "crt-static") {
            return Err(self.unavailable("this program is linked statically and cannot open shared libraries"));
        }
        let mut why = Vec::new();
        for soname in self.sonames {
            // SAFETY: the initialisers of these libraries ask nothing of the program.
            match unsafe { libloading::Library::new(*soname) } {
                Ok(inner) => return Ok(Library { def: *self, inner: ManuallyDrop::new(inner) }),
                Err(error) => why.push(loader_text(&error)),
            }
        }
        Err(self.unavailable(&format!("install the Debian package {} ({})", self.package, why.join("; "))))
    }

    fn unavailable(&self, reason: &str) -> Error {
        Error::Unavailable { what: self.name, reason: reason.to_owned() }
    }
}

impl Library {
    /// A function of the library.
    ///
    /// # Errors
    /// The library has none of this name.
    ///
    /// # Safety
    /// `F` is a pointer to a function of the type that the library's public header gives.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> Result<F> {
        // SAFETY: the caller's promise.
        let found = unsafe { self.inner.get::<F>(name.as_bytes()) };
        found.map(|symbol| *symbol).map_err(|error| self.def.unavailable(&loader_text(&error)))
    }
}

fn loader_text(error: &libloading::Error) -> String {
    match error {
        libloading::Error::DlOpen { source } | libloading::Error::DlSym { source } => source.to_string(),
        error => error.to_string(),
    }
}

/// Declares functions of a library: a type with a field for each. Its head has the name of the library, those of its files (the preferred
/// one first), and the Debian package, or several, that has it. `get` of the type opens the library and finds all functions, once for
/// a process; `maybe fn` is one that older versions lack.
///
/// ```
/// ferrio_sys::vendor_functions! {
///     /// Functions of the mathematical library.
///     pub struct Maths of "libm" ["libm.so.6"] in "libc6";
///     fn cbrt(f64) -> f64;
///     maybe fn no_such_function(i32);
/// }
/// let maths = Maths::get()?;
/// // SAFETY: any number has a cubic root.
/// assert!((unsafe { (maths.cbrt)(27.0) } - 3.0).abs() < 1e-9);
/// assert!(maths.no_such_function.is_none());
/// # Ok::<(), ferrio_sys::Error>(())
/// ```
#[macro_export]
macro_rules! vendor_functions {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $api:ident of $library:literal [$($soname:literal),+] in $package:literal;
        $(fn $name:ident($($argument:ty),* $(,)?) $(-> $result:ty)?;)*
        $(maybe fn $newer:ident($($newer_argument:ty),* $(,)?) $(-> $newer_result:ty)?;)*
    ) => {
        $(#[$attribute])*
        #[derive(Debug)]
        $visibility struct $api {
            $(
                #[doc = concat!("`", stringify!($name), "` of the library.")]
                pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,
            )*
            $(
                #[doc = concat!("`", stringify!($newer), "` of the library, if it has one.")]
                pub $newer: Option<unsafe extern "C" fn($($newer_argument),*) $(-> $newer_result)?>,
            )*
            // A name that does not begin as those of the functions do.
            _open: (),
        }

        impl $api {
            /// The functions; the library is opened at the first call in a process.
            ///
            /// # Errors
            /// The library is not there, or has another interface.
            $visibility fn get() -> $crate::Result<&'static Self> {
                static OPEN: ::std::sync::OnceLock<$api> = ::std::sync::OnceLock::new();
                if let Some(open) = OPEN.get() {
                    return Ok(open);
                }
                let library = $crate::library::VendorLibrary {
                    name: $library,
                    sonames: &[$($soname),+],
                    package: $package,
                }
                .open()?;
                let found = Self {
                    // SAFETY: the types are those of the public header.
                    $($name: unsafe { library.function(stringify!($name)) }?,)*
                    // SAFETY: the types are those of the public header.
                    $($newer: unsafe { library.function(stringify!($newer)) }.ok(),)*
                    _open: (),
                };
                Ok(OPEN.get_or_init(|| found))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    vendor_functions! {
        struct Maths of "libm" ["libm.so.77", "libm.so.6"] in "libc6";
        fn cbrt(f64) -> f64;
        maybe fn cbrt_of_ferrio(f64) -> f64;
    }

    vendor_functions! {
        /// A function that the mathematical library lacks.
        struct Lacking of "libm" ["libm.so.6"] in "libc6";
        fn cbrt_of_ferrio(f64) -> f64;
    }

    #[test]
    fn a_function_is_found_and_called() {
        let maths = Maths::get().unwrap();
        // SAFETY: any number has a cubic root.
        let root = unsafe { (maths.cbrt)(27.0) };
        assert!((root - 3.0).abs() < 1e-9 && maths.cbrt_of_ferrio.is_none());
        assert!(std::ptr::eq(maths, Maths::get().unwrap()));
    }

    #[test]
    fn an_absent_library_is_said_with_its_package_and_the_words_of_the_loader() {
        let absent = VendorLibrary { name: "libnone", sonames: &["libnone.so.2", "libnone.so.1"], package: "libnone2" };
        let text = absent.open().unwrap_err().to_string();
        assert!(
            text.starts_with("libnone is not available: install the Debian package libnone2 (libnone.so.2: "),
            "{text}"
        );
        assert!(text.contains("; libnone.so.1: cannot open shared object file"), "{text}");
        let text = Lacking::get().map(|lacking| lacking.cbrt_of_ferrio).unwrap_err().to_string();
        assert!(text.starts_with("libm is not available: ") && text.contains("cbrt_of_ferrio"), "{text}");
    }
}

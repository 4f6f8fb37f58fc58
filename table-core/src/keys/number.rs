//! Numbers in keys: digits and hexadecimal digits of a fixed width.

use smol_str::SmolStrBuilder;

use crate::error::{Error, Result};

/// Digits of the largest `u64`.
const MAX_DIGITS: usize = 20;

/// Room for a number with leading zeros.
///
/// A one before the digits brings their zeros with it: 223 in six digits is 1000223 without its first.
pub(super) struct Digits(itoa::Buffer);

impl Digits {
    #[inline]
    pub(super) fn new() -> Self {
        Self(itoa::Buffer::new())
    }

    /// The least number with one digit more, where there is room for it and any of `width` digits.
    #[inline]
    fn one(width: u8) -> Option<u64> {
        10_u64.checked_pow(u32::from(width)).filter(|one| width > 0 && one.checked_mul(2).is_some())
    }

    /// Whether a number fits a width, and the width is one of those that are written here.
    #[inline]
    pub(super) fn holds(number: u64, width: u8) -> bool {
        Self::one(width).is_some_and(|one| number < one)
    }

    /// A number that [`Digits::holds`].
    #[inline]
    pub(super) fn padded(&mut self, number: u64, width: u8) -> &str {
        let one = Self::one(width).unwrap_or(0);
        self.0.format(one + number).get(1..).unwrap_or_default()
    }
}

impl std::fmt::Debug for Digits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Digits")
    }
}

/// Writes a number with leading zeros.
#[inline]
pub(super) fn push_padded(out: &mut SmolStrBuilder, number: u64, width: u8) -> Result<()> {
    if Digits::holds(number, width) {
        out.push_str(Digits::new().padded(number, width));
        return Ok(());
    }
    push_wide(out, number, width)
}

/// Writes a number into a width that [`Digits`] does not write, or refuses one that is too wide.
fn push_wide(out: &mut SmolStrBuilder, number: u64, width: u8) -> Result<()> {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number);
    let Some(zeros) = usize::from(width).checked_sub(digits.len()) else {
        let used = digits.len();
        return Err(Error::invalid_key(format!(
            "the number {number} does not fit the {width} digits of its key template; widen the template, as in {{field:0{used}}}"
        )));
    };
    (0..zeros).for_each(|_| out.push('0'));
    out.push_str(digits);
    Ok(())
}

/// Takes `width` digits off the front.
#[inline]
pub(super) fn take_padded(text: &str, width: u8) -> Option<(u64, &str)> {
    let (digits, rest) = text.split_at_checked(usize::from(width))?;
    if usize::from(width) >= MAX_DIGITS {
        let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        return all_digits.then(|| digits.parse().ok()).flatten().map(|number| (number, rest));
    }
    // No number of fewer digits is too large, so nothing but the digits has to be checked.
    let mut number: u64 = 0;
    for byte in digits.bytes() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    Some((number, rest))
}

/// Ten to the power of `digits`, less one: the largest number of so many digits.
const fn nines(digits: u8) -> u64 {
    if digits as usize >= MAX_DIGITS { u64::MAX } else { 10_u64.pow(digits as u32) - 1 }
}

/// Writes a signed number so that it sorts: `p` and the digits, or `n` and what the digits lack to nines.
pub(super) fn push_signed(out: &mut SmolStrBuilder, number: i64, digits: u8) -> Result<()> {
    let magnitude = number.unsigned_abs();
    if number >= 0 {
        out.push('p');
        push_padded(out, magnitude, digits)
    } else {
        out.push('n');
        push_padded(out, nines(digits).saturating_sub(magnitude), digits)
    }
}

/// Takes a signed number off the front.
pub(super) fn take_signed(text: &str, digits: u8) -> Option<(i64, &str)> {
    let sign = text.chars().next()?;
    let (number, rest) = take_padded(text.get(1..)?, digits)?;
    let number = match sign {
        'p' => i64::try_from(number).ok()?,
        'n' => {
            let magnitude = nines(digits).checked_sub(number)?;
            let number = 0_i64.checked_sub_unsigned(magnitude)?;
            // Zero has one form only.
            if number == 0 {
                return None;
            }
            number
        }
        _ => return None,
    };
    Some((number, rest))
}

/// Writes the low bits of a number in hexadecimal.
pub(super) fn push_hex(out: &mut SmolStrBuilder, number: u64, digits: u32) {
    for place in (0..digits).rev() {
        let nibble = u32::try_from((number >> (place * 4)) & 0xf).unwrap_or(0);
        out.push(char::from_digit(nibble, 16).unwrap_or('0'));
    }
}

/// Takes hexadecimal digits in lower case off the front.
pub(super) fn take_hex(text: &str, digits: usize) -> Option<(u64, &str)> {
    let (hex, rest) = text.split_at_checked(digits)?;
    let lower = hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    lower.then(|| u64::from_str_radix(hex, 16).ok()).flatten().map(|number| (number, rest))
}

/// The bits of a float, turned so that they compare as the floats do.
pub(super) const fn ordered_f64(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// The float that [`ordered_f64`] was made of.
pub(super) const fn from_ordered_f64(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 { ordered & !(1 << 63) } else { !ordered })
}

/// The bits of a float, turned so that they compare as the floats do.
pub(super) const fn ordered_f32(number: f32) -> u32 {
    let bits = number.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// The float that [`ordered_f32`] was made of.
pub(super) const fn from_ordered_f32(ordered: u32) -> f32 {
    f32::from_bits(if ordered >> 31 == 1 { ordered & !(1 << 31) } else { !ordered })
}

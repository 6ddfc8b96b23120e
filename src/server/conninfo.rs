//! Taking single parameters out of a connection string, whichever of its two forms it has.

use std::str::Chars;

use percent_encoding::percent_decode_str;

/// The string without the parameters that are `wanted`, and these with their values.
pub fn take(text: &str, wanted: &[&str]) -> Result<(String, Vec<(String, String)>), String> {
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        take_from_url(text, wanted)
    } else {
        take_from_pairs(text, wanted)
    }
}

fn take_from_url(url: &str, wanted: &[&str]) -> Result<(String, Vec<(String, String)>), String> {
    let Some((start, query)) = url.split_once('?') else { return Ok((url.to_owned(), Vec::new())) };
    let mut taken = Vec::new();
    let mut left = Vec::new();
    for parameter in query.split('&') {
        match parameter.split_once('=') {
            Some((keyword, value)) if wanted.contains(&keyword) => {
                let value = percent_decode_str(value).decode_utf8();
                taken.push((keyword.to_owned(), value.map_err(|_| format!("{keyword} is not UTF-8"))?.into_owned()));
            }
            _ => left.push(parameter),
        }
    }
    let rest = if left.is_empty() { start.to_owned() } else { format!("{start}?{}", left.join("&")) };
    Ok((rest, taken))
}

fn take_from_pairs(text: &str, wanted: &[&str]) -> Result<(String, Vec<(String, String)>), String> {
    let (taken, left) = pairs(text)?.into_iter().partition(|(keyword, _)| wanted.contains(&keyword.as_str()));
    let quote =
        |(keyword, value): (String, String)| format!("{keyword}='{}'", value.replace('\\', r"\\").replace('\'', r"\'"));
    let left: Vec<(String, String)> = left;
    Ok((left.into_iter().map(quote).collect::<Vec<_>>().join(" "), taken))
}

/// `keyword = value` pairs; a value with blanks stands in quotes, and a backslash takes the next letter as it is.
fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    const FORM: &str = "it is neither a URL such as postgres://user@localhost:5432/database nor pairs such as \
                        `host=localhost user=user dbname=database`";
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (keyword, after) = rest.split_once('=').ok_or(FORM)?;
        let keyword = keyword.trim_end();
        if keyword.is_empty() || keyword.contains(char::is_whitespace) {
            return Err(FORM.to_owned());
        }
        let after = after.trim_start();
        let quoted = after.starts_with('\'');
        let mut letters = after.chars();
        if quoted {
            letters.next();
        }
        pairs.push((keyword.to_owned(), value(&mut letters, quoted)?));
        rest = letters.as_str().trim_start();
    }
    Ok(pairs)
}

fn value(letters: &mut Chars<'_>, quoted: bool) -> Result<String, String> {
    let mut value = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => value.extend(letters.next()),
            '\'' if quoted => return Ok(value),
            blank if !quoted && blank.is_whitespace() => return Ok(value),
            letter => value.push(letter),
        }
    }
    if quoted { Err("a quote is not closed".to_owned()) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_parameters_are_taken_and_the_rest_stays() {
        let sslmode = vec![("sslmode".to_owned(), "verify-full".to_owned())];
        assert_eq!(
            take("postgres://h/db?a=1&sslmode=verify%2Dfull&b=2", &["sslmode"]).unwrap(),
            ("postgres://h/db?a=1&b=2".to_owned(), sslmode.clone())
        );
        assert_eq!(
            take(r"host = h password='it\'s \\ a' sslmode=verify-full x=", &["sslmode"]).unwrap(),
            (r"host='h' password='it\'s \\ a' x=''".to_owned(), sslmode)
        );
        assert!(take("just words", &[]).is_err());
    }
}

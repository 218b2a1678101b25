//! What must not be in a message: tokens, passwords and keys that somebody wrote where a message quotes.

/// From so many hexadecimal digits in a row on they are taken for a key: those of NEA and NIA have 32.
const DIGITS: usize = 32;
/// Parts of names of values that are not shown, whether there is such a key or it is a slip.
const NAMES: [&str; 8] = ["token", "secret", "password", "passwd", "key", "credential", "url", "uri"];

/// Whether the value of a configuration's key is not to be shown: for its name, as in `api.token`, or because it looks like an address with a password. A path is no
/// secret.
pub fn is_secret(key: &str, value: &str) -> bool {
    let name = key.rsplit('.').next().unwrap_or(key).to_ascii_lowercase();
    let names_secret = !name.ends_with("_file") && NAMES.iter().any(|part| name.contains(part));
    names_secret || value.contains('@') || without_keys(value) != value
}

/// The text with `…` in the place of each key. Before it is cut: a part of a key would not be known for one.
pub fn without_keys(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(from) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        let (before, at) = rest.split_at(from);
        let (run, after) = at.split_at(at.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(at.len()));
        shown.push_str(before);
        shown.push_str(if run.len() < DIGITS { run } else { "…" });
        rest = after;
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_left_out_and_all_else_stays() {
        let key = "000102030405060708090a0b0c0d0e0f";
        assert_eq!(without_keys(&format!("invalid type: string \"{key}\", expected u8")), "invalid type: string \"…\", expected u8");
        assert_eq!(without_keys(&format!("{key}{key} é {key}")), "… é …");
        for plain in ["", "port[1].gtpu[0] = \"10.3.0.9\"", "18446744073709551615", &key[1..], "é"] {
            assert_eq!(without_keys(plain), plain);
        }
    }

    #[test]
    fn secrets_are_told_by_name_and_by_form() {
        for (key, value) in [
            ("api.token", "\"abc\""),
            ("service[0].key", "\"abc\""),
            ("service[0].cipherkey", "\"abc\""),
            ("n4.store.shared.uri", "\"abc\""),
            ("n4.store.path", "\"redis:u:secret@h\""),
            ("service[0].bearer", "\"000102030405060708090a0b0c0d0e0f\""),
        ] {
            assert!(is_secret(key, value), "{key}");
        }
        for (key, value) in [
            ("api.token_file", "\"/etc/splitplane/token\""),
            ("service[0].key_file", "\"keys\""),
            ("n4.listen", "\"10.0.0.1\""),
            ("key[0].mtu", "1"),
        ] {
            assert!(!is_secret(key, value), "{key}");
        }
    }
}

//! Does the preprocessor take what `cpp -x assembler-with-cpp`, by which p4c reads programs, takes?

use p4_syntax::{Options, parse_str};

/// The names that are declared.
fn declared(text: &str) -> Vec<String> {
    let parsed = parse_str("x.p4", text, &Options::default());
    assert!(parsed.diagnostics.is_empty(), "{text}\n{}", parsed.render());
    parsed.program.decls.iter().filter_map(|d| d.name()).map(|n| n.name.clone()).collect()
}

fn message(text: &str) -> String {
    let parsed = parse_str("x.p4", text, &Options::default());
    assert!(!parsed.is_ok(), "{text}");
    parsed.render()
}

#[test]
fn a_line_that_begins_with_a_hash_and_no_directive_is_a_remark() {
    for remark in [
        "#",
        "# a remark",
        "    # indented, with an it's in it",
        "\t#TODO: nothing",
        "################################",
        "#!/usr/bin/env p4",
        "#recirculate",
        "#first.apply();",
        "# files/*.p4 are generated",
        "# see // below \"open",
        "# if1 is no #if, #define2 no #define",
        "#1 one",
        "# 12 \"file.p4\" 3",
        "#@name",
        "#/path",
        "#(x",
        "#\u{e4}rger",
        "# goes on \\\n behind its end ( {",
        "# /* a comment of\n two lines */",
        "#--- ,",
        "#a#b",
        "# ## x",
        "#_x",
        "# ended",
        "# else_where",
        "# \"",
    ] {
        let text = format!(
            "{remark}\nconst int a = 1;\n  {remark}\nconst int b =\n{remark}\n 2;\n#define F(x) x\nconst int c = F(\n{remark}\n3\n);\n{remark}"
        );
        assert_eq!(declared(&text), ["a", "b", "c"], "{remark}");
        let text = format!("#if 0\n{remark}\n#else\n{remark}\nconst int d = 1;\n#endif\n{remark}\n");
        assert_eq!(declared(&text), ["d"], "{remark}");
    }
    for (text, wanted) in [
        ("#inlcude <core.p4>\n", "did you mean `#include`?"),
        ("#elifdef X\n", "`#elifdef` is not supported"),
        ("# include_next <core.p4>\n", "`#include_next` is not supported"),
        ("const int a = 1; # behind something\n", "found `#`"),
    ] {
        assert!(message(text).contains(wanted), "{text}: {}", message(text));
    }
}

#[test]
fn conditions_are_those_of_c() {
    for holds in [
        "16u == 16",
        "16U == 0x10UL",
        "1ull + 2LL == 3lu",
        "010 == 8",
        "0 == 00",
        "0b101 == 5",
        "'a' == 97",
        "'a' < 'b'",
        "'\\n' == 10",
        "'\\0' == 0",
        "'\\x41' == 'A'",
        "'\\101' == 'A'",
        "'\\'' == 39",
        "'\\\\' == 92",
        "'\"' == 34",
        "'ab' == 24930",
        "'\\xff' == -1",
        "-1 > 0u",
        "-1 < 0",
        "0xffffffffffffffff == -1u",
        "0xffffffffffffffff > 0",
        "(2u - 3) > 0",
        "-7 / 2 == -3",
        "-1 >> 1 == -1",
        "(-1u >> 63) == 1",
        "1 << 62 > 0",
        "1 << 64 == 0",
        "8 << -1 == 4",
        "0 && 1 / 0 || 1",
        "1 || 1 / 0",
        "1 ? 2 : 1 / 0",
        "(0 ? -1 : 0u) - 1 > 0",
        "~0u == 18446744073709551615",
        "!'a' == 0",
        "defined(A) && A == 'x'",
        "B + 1 == 4",
        "8w5 == 5",
    ] {
        let text = format!("#define A 'x'\n#define B 3u\n#if {holds}\nconst int yes = 1;\n#else\nconst int no = 1;\n#endif\n");
        assert_eq!(declared(&text), ["yes"], "{holds}");
    }
    for (text, wanted) in [
        ("#if 1 / 0\n#endif\n", "division by zero"),
        ("#if 1 && 5 % 0u\n#endif\n", "division by zero"),
        ("#if 16z\n#endif\n", "malformed number"),
        ("#if 16lul\n#endif\n", "`lul` is no suffix"),
        ("#if 1lL\n#endif\n", "`lL` is no suffix"),
        ("#if 09\n#endif\n", "malformed number"),
        ("#if ''\n#endif\n", "expected a value"),
        ("#if '\\q'\n#endif\n", "escape that is not known"),
        ("#if 'abcde'\n#endif\n", "longer than an int"),
        ("#if '\\x100'\n#endif\n", "beyond one byte"),
        ("#if 'a\n#endif\n", "expected a value"),
        ("#if 18446744073709551616\n#endif\n", "too large"),
        ("#if L'a'\n#endif\n", "unexpected the character constant"),
        ("const int a = 'a';\n", "may stand in the conditions of `#if` only"),
        ("const int a = it's;\n", "is not part of any P4 token"),
    ] {
        assert!(message(text).contains(wanted), "{text}: {}", message(text));
    }
    assert_eq!(declared("@note(it's 'fine' don't) const int a = 1;\n"), ["a"]);
}

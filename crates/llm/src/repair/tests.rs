use base::transcript::Mended;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// What models write, and what they mean by it.
const ALMOST: &[(&str, &str)] = &[
    // Quotes of the wrong kind.
    ("{'a': 'b'}", r#"{"a":"b"}"#),
    ("{'it': 'isn\\'t'}", r#"{"it":"isn't"}"#),
    ("{'a': \"b\"}", r#"{"a":"b"}"#),
    ("{`a`: `b`}", r#"{"a":"b"}"#),
    ("{“a”: “b”}", r#"{"a":"b"}"#),
    ("{‘a’: ‘b’}", r#"{"a":"b"}"#),
    (r#"{"a": "say “hi”"}x"#, r#"{"a":"say “hi”"}"#),
    (
        r#"{"a": """two
lines"""}"#,
        r#"{"a":"two\nlines"}"#,
    ),
    // Keys without quotes.
    ("{a: 1}", r#"{"a":1}"#),
    ("{a_b-c: 1, $d: 2}", r#"{"a_b-c":1,"$d":2}"#),
    ("{a: 'b', c: [1, 2]}", r#"{"a":"b","c":[1,2]}"#),
    ("{1: \"x\"}", r#"{"1":"x"}"#),
    ("{path: src/main.rs}", r#"{"path":"src/main.rs"}"#),
    // Commas and colons, too many and too few.
    (r#"{"a": 1,}"#, r#"{"a":1}"#),
    (r#"{"a": [1, 2,],}"#, r#"{"a":[1,2]}"#),
    (r#"{,"a": 1}"#, r#"{"a":1}"#),
    (r#"{"a": 1,, "b": 2}"#, r#"{"a":1,"b":2}"#),
    (r#"{"a": "x" "b": "y"}"#, r#"{"a":"x","b":"y"}"#),
    ("{\"a\": \"x\"\n\"b\": 2}", r#"{"a":"x","b":2}"#),
    ("{\"a\": {\"x\": 1}\n\"b\": 2}", r#"{"a":{"x":1},"b":2}"#),
    (r#"{"a": [1 2 3]}"#, r#"{"a":[1,2,3]}"#),
    (r#"{a: 1 b: true c: "x"}"#, r#"{"a":1,"b":true,"c":"x"}"#),
    (r#"{"a": ["x" "y"]}"#, r#"{"a":["x","y"]}"#),
    (r#"{"a" "b"}"#, r#"{"a":"b"}"#),
    (r#"{"a" 1}"#, r#"{"a":1}"#),
    (r#"{"a" = 1}"#, r#"{"a":1}"#),
    (r#"{"a" => 1}"#, r#"{"a":1}"#),
    (r#"{"a": 1; "b": 2}"#, r#"{"a":1,"b":2}"#),
    // Comments.
    ("{\"a\": 1 // one\n}", r#"{"a":1}"#),
    ("{/* one */ \"a\": 1}", r#"{"a":1}"#),
    ("{\n# one\n\"a\": 1\n}", r#"{"a":1}"#),
    (r#"{"url": "http://x", /* y */}"#, r#"{"url":"http://x"}"#),
    // Ends that are missing.
    (r#"{"a": 1"#, r#"{"a":1}"#),
    (r#"{"a": "b"#, r#"{"a":"b"}"#),
    (r#"{"a": ["b", "c"#, r#"{"a":["b","c"]}"#),
    (r#"{"a": {"b": [1"#, r#"{"a":{"b":[1]}}"#),
    (r#"{"a": [1, 2}"#, r#"{"a":[1,2]}"#),
    (r#"{"a": [{"b": 1], "c": 2}"#, r#"{"a":[{"b":1}],"c":2}"#),
    (r#"{"a": 1, "b"#, r#"{"a":1}"#),
    (r#"{"a": 1, "b":"#, r#"{"a":1}"#),
    (r#"{"a": 1, "b": tr"#, r#"{"a":1}"#),
    (r#"{"a": 1, "b": -"#, r#"{"a":1}"#),
    (r#"{"a": "x\"#, r#"{"a":"x"}"#),
    (r#"{"a": "\ud83e}é"#, "{\"a\":\"\u{fffd}}é\"}"),
    (r#"{"a": "x\u00"#, r#"{"a":"x"}"#),
    (r#"{"a": "x\ud83d"#, r#"{"a":"x"}"#),
    (r#"{"a": "x\ud83d\u"#, r#"{"a":"x"}"#),
    ("{", "{}"),
    // Control characters as they are.
    ("{\"a\": \"x\ny\tz\"}", r#"{"a":"x\ny\tz"}"#),
    ("{\"a\": \"x\r\ny\"}", r#"{"a":"x\r\ny"}"#),
    ("{\"a\": \"\u{1}\"}", r#"{"a":"\u0001"}"#),
    // Escapes that JSON does not know.
    (r#"{"re": "\d+\s"}"#, r#"{"re":"\\d+\\s"}"#),
    (r#"{"a": "it\'s"}"#, r#"{"a":"it's"}"#),
    (r#"{"path": "C:\Users\me"}"#, r#"{"path":"C:\\Users\\me"}"#),
    (r#"{"a": "\uZZZZ"}"#, r#"{"a":"\\uZZZZ"}"#),
    (r#"{"a": "x\ud83d y"}"#, r#"{"a":"x� y"}"#),
    (r#"{"a": "\ude00"}"#, r#"{"a":"�"}"#),
    (r#"{"a": "\ud83d\ude00", b: 1}"#, r#"{"a":"😀","b":1}"#),
    // Words of other languages.
    ("{\"a\": True, \"b\": False, \"c\": None}", r#"{"a":true,"b":false,"c":null}"#),
    (r#"{"a": NaN, "b": Infinity, "c": undefined}"#, r#"{"a":null,"b":null,"c":null}"#),
    (r#"{"a": +1}"#, r#"{"a":1}"#),
    // Wrapped in something.
    ("```json\n{\"a\": 1}\n```", r#"{"a":1}"#),
    ("```\n{\"a\": 1}\n```", r#"{"a":1}"#),
    ("Here you are: {\"a\": 1}. Anything else?", r#"{"a":1}"#),
    ("Fill {x} like this: {\"a\": 1}", r#"{"a":1}"#),
    ("{\"a\": 1}}", r#"{"a":1}"#),
    ("{\"a\": 1}{\"b\": 2}", r#"{"a":1}"#),
    ("{\"a\": 1}\n{\"b\": 2}", r#"{"a":1}"#),
    ("[{\"a\": 1}]", r#"{"a":1}"#),
    (r#""{\"a\": 1}""#, r#"{"a":1}"#),
    (r#""{\"a\": \"b\",}""#, r#"{"a":"b"}"#),
    (r#""{\"a\": 1"#, r#"{"a":1}"#),
    (r#""a": 1, "b": 2"#, r#"{"a":1,"b":2}"#),
    (r#""a": "b"}"#, r#"{"a":"b"}"#),
    ("null", "{}"),
    ("\u{feff}{\"a\": 1}", r#"{"a":1}"#),
    // Quotes inside quotes.
    (r#"{"cmd": "echo "hi" there"}"#, r#"{"cmd":"echo \"hi\" there"}"#),
    (r#"{"cmd": "say "hi", ok", "n": 1}"#, r#"{"cmd":"say \"hi\", ok","n":1}"#),
    (r#"{"a": ["x", "say "hi" now"]}"#, r#"{"a":["x","say \"hi\" now"]}"#),
];

/// What nobody can be sure of.
const HOPELESS: &[&str] = &[
    "ls -la",
    "42",
    "true",
    "\"text\"",
    "[1, 2]",
    "[{\"a\": 1}, {\"b\": 2}]",
    "{\"a\", \"b\"}",
    "{\"a\": }",
    "{\"a\": , \"b\": 1}",
    "{a}",
    "{\"a\": foo(1)}",
    "{\"a\": 12 monkeys}",
    "<path>src</path>",
    "}",
    "\"",
];

#[test]
fn what_is_almost_json_is_repaired_and_the_original_kept() {
    assert!(ALMOST.len() >= 60);
    for (text, meant) in ALMOST {
        let input = call_input(text);
        let meant: Value = serde_json::from_str(meant).unwrap();
        assert_eq!(Value::Object(input.value), meant, "{text}");
        assert_eq!(input.mended, Some(Mended::Repaired((*text).to_owned())), "{text}");
    }
}

#[test]
fn what_nobody_can_be_sure_of_is_broken() {
    for text in HOPELESS {
        let input = call_input(text);
        assert_eq!(input.mended, Some(Mended::Broken((*text).to_owned())), "{:?}", input.value);
        assert!(input.value.is_empty());
    }
}

#[test]
fn no_text_means_no_arguments() {
    for text in ["", " ", "\n\t"] {
        assert_eq!(call_input(text), CallInput::default());
    }
}

#[test]
fn deep_nesting_is_refused_and_costs_little() {
    for open in ["[", "{\"a\":", "{a:", "[{'a':"] {
        let input = call_input(&open.repeat(100_000));
        assert!(matches!(input.mended, Some(Mended::Broken(_))), "{open}");
    }
    for odd in ["{\"a\": \"x\" ", "{\"a\":\"\"\"", "/*", "{\"a\"", "\\", "{\"a\": \"\\"] {
        call_input(&odd.repeat(50_000));
    }
}

#[test]
fn a_preview_shows_what_has_come_so_far() {
    assert_eq!(partial(r#"{"path": "src/ma"#), Some(json!({"path": "src/ma"})));
    assert_eq!(
        partial(r#"{"path": "a", "content": "x\n"#),
        Some(json!({"path": "a", "content": "x\n"}))
    );
    assert_eq!(partial("{"), Some(json!({})));
    assert_eq!(partial(""), None);
    assert_eq!(partial("4"), None);
}

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[ -~]{0,12}".boxed(),
        prop::sample::select(vec!["\"", "\\", "\n", "é😀", "\u{1}", "', \"b\": 1}", "//", "\\u12"])
            .prop_map(str::to_owned)
            .boxed(),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[ -~]{0,8}", inner, 0..4)
                .prop_map(|fields| fields.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map("[ -~]{0,8}", value(), 0..5)
        .prop_map(|all| all.into_iter().collect())
}

/// Whether `part` says nothing that `whole` does not.
fn is_part_of(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(key, value)| whole.get(key).is_some_and(|whole| is_part_of(value, whole))),
        (Value::Array(part), Value::Array(whole)) => {
            part.len() <= whole.len()
                && part.iter().zip(whole).all(|(part, whole)| is_part_of(part, whole))
        }
        (Value::String(part), Value::String(whole)) => whole.starts_with(part.as_str()),
        (Value::Number(part), Value::Number(whole)) => {
            whole.to_string().starts_with(&part.to_string())
        }
        (part, whole) => part == whole,
    }
}

proptest! {
    #[test]
    fn an_object_is_read_as_it_is(fields in object(), pretty in any::<bool>()) {
        let value = Value::Object(fields.clone());
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        prop_assert_eq!(call_input(&text), CallInput::sound(fields));
    }

    #[test]
    fn the_beginning_of_an_object_is_read_as_part_of_it(fields in object(), cut in 0.0..1.0_f64) {
        let whole = Value::Object(fields);
        let text = whole.to_string();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let end = text.floor_char_boundary((text.len() as f64 * cut) as usize).max(1);
        let input = call_input(&text[..end]);
        prop_assert!(matches!(input.mended, Some(Mended::Repaired(_))), "{}", &text[..end]);
        let part = Value::Object(input.value);
        prop_assert!(is_part_of(&part, &whole), "{part} of {whole}");
    }

    #[test]
    fn nothing_makes_it_panic(text in "[\\[\\]{}\"':,\\\\/*#a-c0-9 \\nu“é-]{0,60}", any in ".*") {
        call_input(&text);
        call_input(&any);
        partial(&text);
        lossy_json(text.as_bytes());
    }
}

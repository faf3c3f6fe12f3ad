//! Secrets that must go, and text that must stay.

use proptest::prelude::*;

use super::*;

fn mask(text: &str) -> String {
    Redactor::default().text(text).into_owned()
}

/// Text, and the part of it that must not be left. `§` stands where a scanner would find a token in this file.
const SECRETS: &[(&str, &str)] = &[
    (
        "key: sk-§ant-api03-Xk29fJq0LmZ7pRtY4vB8nCdE1sWgHuAi3oKb6TzQx5jVyM0eDcFrNl2PhGwSa9-AA",
        "Xk29f",
    ),
    ("OPENAI_API_KEY=sk-§proj-8fK2mQ9zX4vB7nL1tR6yW3pD5sG0hJ", "8fK2mQ"),
    ("sk-§8fK2mQ9zX4vB7nL1tR6yW3pD5sG0hJcVbN4kMx1Z2a3S4d5F", "8fK2mQ"),
    ("using sk-§or-v1-9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0.", "9f8e7d"),
    ("sk-§svcacct-Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe", "Zx9Yw8"),
    ("stripe.api_key = 'sk_§live_51HqLyjWDarjtT1zdp7dcYz1A'", "51HqLyj"),
    ("rk_§test_51HqLyjWDarjtT1zdp7dcYz1A", "51HqLyj"),
    ("endpoint secret whsec_§C2FVsBQIhrscChlQIMV0b5sFYspob7oD", "C2FVsB"),
    ("git clone https://ghp_§16C7e42F292c6912E7710c838347Ae178B4a@github.com/a/b", "16C7e42F"),
    ("gho_§16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F"),
    ("GITHUB_TOKEN: ghs_§16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F"),
    (
        "github_§pat_11ABCDEFG0aB3dE5fG7hI9_jK1lM3nO5pQ7rS9tU1vW3xY5zA7bC9dE1fG3hI5jK7lM9nO1pQ3",
        "0aB3dE5f",
    ),
    ("PRIVATE-TOKEN: glpat-§Zr4bX9qW2eT7yU1iO5pA", "Zr4bX9"),
    ("glrt-§Zr4bX9qW2eT7yU1iO5pA", "Zr4bX9"),
    ("xoxb-§123456789012-1234567890123-AbCdEfGhIjKlMnOpQrSt4uVw", "QrSt4uVw"),
    ("xoxp-§123456789012-123456789012-123456789012-a1b2c3d4e5f6071829384756", "a1b2c3d4"),
    ("xapp-§1-A0123ABC-1234567890-9f8e7d6c5b4a39281706", "9f8e7d6c"),
    (
        "POST https://hooks.slack.com/services/T00000000/B00000000/X§qW3eR5tY7uI9oP1aS3dF5gH",
        "qW3eR5t",
    ),
    (
        "https://discord.com/api/webhooks/123456789012345678/aB3-§dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3",
        "dE5fG7h",
    ),
    ("aws_access_key_id = AKIA§IOSFODNN7EXAMPLE", "IOSFODNN7"),
    ("ASIA§Y34FZKBOKMUTVV7A,wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "K7MDENG"),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "K7MDENG"),
    (r#"{"SecretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}"#, "K7MDENG"),
    ("maps?key=AIza§SyDdI0hCZtE6vySjMm-WEfRq3CPzqKqqsHI&v=3", "SyDdI0h"),
    ("token ya29.§a0AfH6SMBx7Qk2mN4pR6tV8wY0zA1bC3dE5fG", "a0AfH6S"),
    ("GOCSPX-§4fG7hJ9kL2mN5pQ8rS1tU3vW6xY0", "4fG7hJ9"),
    (
        "eyJ§hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "dozjgNry",
    ),
    ("//registry.npmjs.org/:_authToken=npm_§aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5", "aB3dE5f"),
    ("pypi-§AgEIcHlwaS5vcmcCJDEyMzQ1Njc4LWFiY2QtZWZnaC1pamtsLW1ub3BxcnN0dXZ3", "AgEIcHl"),
    ("rubygems_§9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a3928", "9f8e7d6c"),
    ("HF_TOKEN=hf_§QrStUvWxYzAbMnOpQkLmNbVcXzAsDfGhJq", "QrStUvW"),
    ("gsk_§8fK2mQ9zX4vB7nL1tR6yW3pD5sG0hJcVbN4kMx1Z2a3S4d5F", "8fK2mQ9"),
    ("xai-§8fK2mQ9zX4vB7nL1tR6yW3pD5sG0hJcVbN4kMx1Z2a3S4d5F", "8fK2mQ9"),
    ("nvapi-§8fK2mQ9zX4vB7nL1tR6yW3pD5sG0hJcVbN4kMx1Z2a3S4d5F", "8fK2mQ9"),
    ("pplx-§8fK2mQ9zX4vB7nL1tR6yW3pD5sG0hJcVbN4kMx1Z", "8fK2mQ9"),
    ("r8_§8fK2mQ9zX4vB7nL1tR6yW3pD5sG0hJcVbN4kM", "8fK2mQ9"),
    ("dop_§v1_9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0", "9f8e7d6c"),
    ("docker login -p dckr_§pat_4fG7hJ9kL2mN5pQ8rS1tU3vW6xY", "4fG7hJ9"),
    ("shpat_§9f8e7d6c5b4a39281706f5e4d3c2b1a0", "9f8e7d6c"),
    ("SG.§ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf-09kqeF8tAmbihYzrnopKc-1s5cr", "TwL2iGAB"),
    ("VAULT_TOKEN=hvs.§CAESIJlU9Jc2nQ8rS1tU3vW6xY0zA4bD7", "CAESIJl"),
    ("lin_§api_4fG7hJ9kL2mN5pQ8rS1tU3vW6xY0zA4bD7eF", "4fG7hJ9"),
    ("cargo login cio§Zr4bX9qW2eT7yU1iO5pA3sD6fG8hJ0kL", "Zr4bX9q"),
    ("AGE-§SECRET-KEY-1QYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQ3290G", "QYQSZQ"),
    (
        "https://api.telegram.org/bot123456789:§AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0/getMe",
        "HdqTcvCH",
    ),
    ("TOKEN = '1234567890:§AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0'", "HdqTcvCH"),
    ("client.login(MTk4NjIyNDgz§NDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs)", "ZnCjm1X"),
    ("curl -H 'Authorization: Bearer 9f8e7d6c5b4a39281706f5e4'", "9f8e7d6c"),
    (r#"headers = {"Authorization": "Basic dXNlcjpwYXNzd29yZA=="}"#, "dXNlcjpw"),
    ("authorization: token 16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F"),
    ("Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "QWxhZGRp"),
    ("DATABASE_URL=postgres://app:s3cr3t-pa55@db.internal:5432/app", "s3cr3t-pa55"),
    ("redis://:hunter2x9@localhost:6379/0", "hunter2x9"),
    ("mongodb+srv://admin:Zr4bX9qW@cluster0.mongodb.net", "Zr4bX9qW"),
    ("https://user:p%40ss%21word9@example.com/x", "p%40ss%21word9"),
    (r#"api_key = "9f8e7d6c5b4a39281706f5e4d3c2b1a0""#, "9f8e7d6c"),
    (r#"const API_KEY: &str = "Zr4bX9qW2eT7yU1iO5pA";"#, "Zr4bX9qW"),
    (r#""client_secret": "4fG7hJ9kL2mN5pQ8rS1tU3vW6xY0""#, "4fG7hJ9"),
    ("GET /v1/data?api_key=4fG7hJ9kL2mN5pQ8rS1t&limit=5", "4fG7hJ9"),
    ("X-Api-Key: 4fG7hJ9kL2mN5pQ8rS1tU3vW6xY0", "4fG7hJ9"),
    ("deploy --token 4fG7hJ9kL2mN5pQ8rS1tU3vW6xY0 --force", "4fG7hJ9"),
    ("<password>Tr0ub4dor&3-x9</password>", "Tr0ub4dor"),
    ("password = \"Tr0ub4dor&3-x9\"", "Tr0ub4dor"),
    ("accessToken: '4fG7hJ9kL2mN5pQ8rS1tU3vW6xY0',", "4fG7hJ9"),
    (
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
        "Eby8vdM",
    ),
    (
        r#"{"text":"first\nsk-§ant-api03-Xk29fJq0LmZ7pRtY4vB8nCdE1sWgHuAi3oKb6TzQx5jVyM0\nlast"}"#,
        "Xk29f",
    ),
    (r#"{\"api_key\": \"9f8e7d6c5b4a39281706f5e4d3c2b1a0\"}"#, "9f8e7d6c"),
    ("redirect=key%3Dsk-§ant-api03-Xk29fJq0LmZ7pRtY4vB8nCdE1sWg", "Xk29f"),
];

const INNOCENT: &[&str] = &[
    "commit 16c7e42f292c6912e7710c838347ae178b4a1234",
    "Merge branch 'main' of github.com:caiman/caiman into topic (9f8e7d6)",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    "token: 550e8400-e29b-41d4-a716-446655440000",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "\"integrity\": \"sha512-xvFZjo5PgG0P5a2Fe3V3wmjzv0c1Y5Q6lH8Qk1o0pZ5j0z9bKq3m1YgWmA4uE9w==\"",
    "checksum = \"0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0\"",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "let token = self.tokenizer.next_token()?;",
    "fn refresh_token(&mut self, token: &str) -> Result<Token, AuthError>",
    "token: String,",
    "pub access_token: Option<SecretString>,",
    "password: \"\"",
    "password = os.environ[\"DB_PASSWORD\"]",
    "password = getpass.getpass()",
    "password: process.env.DATABASE_PASSWORD,",
    "password = \"Password123!\"",
    "password: changeme",
    "if (password !== confirmPassword) {",
    "const secret = crypto.randomBytes(32).toString('hex')",
    "secret = SecretStr(config.client_secret)",
    "api_key = \"your-api-key-here-1234567890\"",
    "api_key = \"YOUR_API_KEY\"",
    "api_key=${ANTHROPIC_API_KEY}",
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "export ANTHROPIC_API_KEY=sk-ant-...",
    "api_key: <your key>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer ${{ secrets.GITHUB_TOKEN }}",
    "Authorization: Bearer <token>",
    "headers[\"Authorization\"] = f\"Bearer {access_token}\"",
    "The bearer of this letter is entitled to a refund of everything.",
    "Bearer authentication is described in RFC 6750",
    "Basic understanding of authorization: see chapter 3",
    "<div class=\"sk-folding-cube sk-loading-indicator-wrapper\">",
    "import sk-learn-contrib-extensions-2 as skl",
    "npm_config_registry=https://registry.npmjs.org/",
    "npm_lifecycle_script='node ./scripts/build-everything-in-parallel.js'",
    "hf_hub_download(repo_id=\"bert-base-uncased\")",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AKIAXXXXXXXXXXXXXXXX",
    "ASIANDEVELOPMENTBANK",
    "https://docs.rs/regex/latest/regex/struct.Regex.html",
    "https://user:password@example.com/",
    "https://user:$PASSWORD@example.com/",
    "postgres://postgres:postgres@localhost:5432/test",
    "ssh://git@github.com:22/owner/repo.git",
    "see http://[::1]:8080/a@b for it",
    "time 12:34:56 user:AAAA group:BBBB",
    "eyJ is how base64 of a JSON object begins",
    "eyJhbGciOiJIUzI1NiJ9",
    "const nextPageToken = \"CAUQAA4fG7hJ9kL2mN5pQ8rS1tU3vW\";",
    "\"next_token\": \"AQICAHgz3Qk2mN4pR6tV8wY0zA1bC3dE5fG7\"",
    "max_tokens: 4096, token_count = 128000",
    "tokens_per_second=123456789012345678",
    "if line.starts_with(\"-----BEGIN RSA PRIVATE KEY-----\") {",
    "pem = \"-----BEGIN PRIVATE KEY-----\\n\" + body + \"\\n-----END PRIVATE KEY-----\"",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl user@host",
    "use std::sync::atomic::{AtomicU64, Ordering}; // secret: none",
    "private_key_path = \"/etc/ssl/private/server-2024.key\"",
    "secret_key_base: <%= ENV[\"SECRET_KEY_BASE\"] %>",
    "PWD=/srv/app/process OLDPWD=/root/a1B2c3D4e5F6",
    "cache_key: 9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "/usr/lib/x86_64-linux-gnu/libsecret-1.so.0.0.0",
    "Token::Identifier(name) => self.lookup(name),",
    "assert_eq!(token, TokenKind::StringLiteral2);",
    "\"tokenizer_class\": \"PreTrainedTokenizerFast\"",
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-4fG7hJ",
    "r8_unorm r16_float rgba8_unorm_srgb_with_padding_and_more_bits1",
    "fw_version_2_of_the_device_firmware_image",
    "SELECT token, password FROM users WHERE id = 4",
    "MTk4NjIyNDgzNDcxOTI1MjQ4",
    "v1.2.3-alpha.20240115+build.5114f85",
];

#[test]
fn every_secret_goes() {
    assert!(SECRETS.len() >= 60, "{}", SECRETS.len());
    for (text, secret) in SECRETS {
        let text = text.replace('§', "");
        let masked = mask(&text);
        assert!(!masked.contains(&secret.replace('§', "")), "{text}\n{masked}");
        assert!(masked.contains("[masked: "), "{masked}");
        assert_eq!(mask(&masked), masked, "masking again changes nothing");
    }
}

#[test]
fn every_innocent_stays() {
    assert!(INNOCENT.len() >= 60, "{}", INNOCENT.len());
    for text in INNOCENT {
        assert_eq!(mask(text), *text);
    }
}

#[test]
fn a_mask_says_what_it_hides_and_leaves_what_is_around_it() {
    let key = concat!("sk-", "ant-api03-Xk29fJq0LmZ7pRtY4vB8nCdE1sWgHuAi3oKb6Tz");
    assert_eq!(mask(&format!("a = \"{key}\"\nb")), "a = \"[masked: Anthropic key]\"\nb");
    assert_eq!(
        mask("x postgres://app:s3cr3t-pa55@db/app y"),
        "x postgres://app:[masked: password]@db/app y"
    );
    let pem = "-----BEGIN RSA PRIVATE KEY-----";
    let line = "MIIEpAIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gun";
    let block = format!("a\n{pem}\n{line}\n{line}\n-----END RSA PRIVATE KEY-----\nb");
    let kept = format!("a\n{pem}\n[masked: private key]\n-----END RSA PRIVATE KEY-----\nb");
    assert_eq!(mask(&block), kept);
    assert_eq!(mask(&block.replace('\n', "\\n")), kept.replace('\n', "\\n"));
    let cut = format!("a\n{pem}\n{line}\n{line}");
    assert_eq!(mask(&cut), format!("a\n{pem}\n[masked: private key]"));
    let tail = format!("{line}\n{line}\n-----END RSA PRIVATE KEY-----\n");
    assert_eq!(mask(&tail), "[masked: private key]\n-----END RSA PRIVATE KEY-----\n");
}

#[test]
fn known_values_go_wherever_they_stand() {
    let env = Env::from_iter([
        ("DEPLOY_TOKEN", "hunter22"),
        ("DB_PASSWORD", "postgres"),
        ("SSH_KEY", "/home/me/.ssh/id_ed25519"),
        ("QUOTED_SECRET", "a\"b\\c-9x7z"),
        ("HOME", "/home/hunter"),
    ]);
    let redactor =
        Redactor::new(&env, [Secret::new("local-model-key-77aa"), Secret::new("ollama")]);
    let text = "xhunter22x postgres /home/me/.ssh/id_ed25519 local-model-key-77aa ollama";
    assert_eq!(
        redactor.text(text),
        "x[masked: secret]x postgres /home/me/.ssh/id_ed25519 [masked: secret] ollama"
    );
    assert_eq!(redactor.text(r#"{"a":"a\"b\\c-9x7z"}"#), r#"{"a":"[masked: secret]"}"#);
    assert!(!format!("{redactor:?}").contains("hunter"));
}

#[test]
fn bait_takes_linear_time() {
    let bait = [
        "token:",
        "token=\"",
        "eyJaaaa-",
        "/eyJaaaa.",
        "-----BEGIN PRIVATE KEY-----",
        "sk-",
        "://a:",
        "/api/webhooks/",
        "AKIA",
        "-eyJaaaaaaa-AKIAAAAAAAAAAAAAAAA7-",
        "1234567890:AA",
        "authorization: ",
        "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.",
        "-----END PRIVATE KEY-----",
    ];
    for piece in bait {
        let time = |bytes: usize| {
            let text = piece.repeat(bytes / piece.len());
            let begin = std::time::Instant::now();
            std::hint::black_box(Redactor::default().text(&text).len());
            begin.elapsed()
        };
        let (small, large) = (time(16_000), time(128_000));
        // Eight times the text; quadratic time would be sixty-four times as much.
        assert!(
            large < small * 30 + std::time::Duration::from_millis(50),
            "{piece}: {small:?} {large:?}"
        );
    }
}

fn text_with_secrets() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-zA-Z0-9_=:\"', ]{0,12}",
        2 => "[\n ]",
        2 => prop::sample::select(SECRETS).prop_map(|(text, _)| text.replace('§', "")),
        2 => prop::sample::select(INNOCENT).prop_map(str::to_owned),
        1 => "(token=|Bearer |\n-----BEGIN RSA PRIVATE KEY-----\n|ü)",
        1 => "\n-----BEGIN EC PRIVATE KEY-----\n([A-Z0-9]{40}\n){1,3}-----END EC PRIVATE KEY-----\n",
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_stream_masks_like_the_whole_text(
        text in text_with_secrets(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..10),
    ) {
        let env = Env::from_iter([("A_TOKEN", "known value 99x"), ("B_TOKEN", "Zr4bX9qW")]);
        let redactor = Redactor::new(&env, []);
        let text = format!("{text} known value 99x");
        let mut cuts: Vec<usize> =
            cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut stream = redactor.stream();
        let mut out = String::new();
        for pair in cuts.windows(2) {
            out.push_str(&stream.push(&text[pair[0]..pair[1]]));
        }
        out.push_str(&stream.finish());
        prop_assert_eq!(out, redactor.text(&text));
    }

    #[test]
    fn any_text_can_be_masked_and_masking_twice_changes_nothing(text in "(\\PC|\n){0,200}") {
        let once = mask(&text);
        prop_assert_eq!(mask(&once), once.clone());
        prop_assert_eq!(once.matches('\n').count(), text.matches('\n').count());
    }
}

#[test]
fn what_is_learned_later_is_masked_by_every_clone() {
    let redactor = Redactor::default();
    let (clone, mut stream) = (redactor.clone(), redactor.stream());
    let env = Env::from_iter([("DEPLOY_TOKEN", "qv7-blue-kite-91"), ("EDITOR", "qv8-other-91")]);
    redactor.learn(&env);
    redactor.learn(&env);
    assert_eq!(redactor.known().len(), 1, "nothing is learned twice");
    assert_eq!(clone.text("it is qv7-blue-kite-91."), "it is [masked: secret].");
    assert_eq!(clone.text("qv8-other-91"), "qv8-other-91", "its name says no secret");
    let shown = stream.push("say qv7-blue-kite-91 twice ") + &stream.finish();
    assert_eq!(shown, "say [masked: secret] twice ");
}

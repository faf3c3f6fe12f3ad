//! Cloud credentials, found in files and asked for over real HTTP.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use base::{Clock, CommandLine, Env, Paths, RunCommand, RunError, Timestamp};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use llm::transport::{Prepared, Signer, prepare};
use llm::{Auth, Error, Request, Target, Transport, wire};
use reqwest::Client;
use serde_json::{Value, json};
use settings::provider::Wire;
use tempfile::TempDir;

use crate::loopback::Loopback;
use crate::targets;

/// 2026-01-01T00:00:00Z.
const NOW: i64 = 1_767_225_600_000;

/// A home folder, an environment, a clock that stands still, and commands that print one thing.
struct Desk {
    home: TempDir,
    env: Vec<(String, String)>,
    clock: Clock,
    shell: Arc<Shell>,
}

#[derive(Default)]
struct Shell {
    prints: String,
    /// A file each command writes what it prints to as well.
    writes: Option<PathBuf>,
    runs: AtomicUsize,
}

impl RunCommand for Shell {
    fn run(&self, _command: &CommandLine) -> Result<String, RunError> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        if let Some(path) = &self.writes {
            std::fs::write(path, &self.prints).unwrap();
        }
        Ok(self.prints.clone())
    }
}

impl Desk {
    fn new(env: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let home_path = home.path().to_str().unwrap().to_owned();
        let mut vars = vec![
            ("HOME".to_owned(), home_path.clone()),
            ("USERPROFILE".to_owned(), home_path),
            // Nobody listens on port 1: no test may wait for a real cloud.
            ("AWS_EC2_METADATA_SERVICE_ENDPOINT".to_owned(), "http://127.0.0.1:1".to_owned()),
            ("GCE_METADATA_HOST".to_owned(), "127.0.0.1:1".to_owned()),
        ];
        vars.extend(env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let clock = Clock::fixed(Timestamp::from_millis(NOW));
        Self { home, env: vars, clock, shell: Arc::default() }
    }

    fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn signer(&self) -> Signer {
        let env: Env = self.env.iter().cloned().collect();
        let paths = Paths::of(&env).unwrap();
        Signer::new(env, paths, self.clock.clone(), self.shell.clone())
    }
}

fn bedrock(profile: Option<&str>, refresh: Option<&str>) -> Target {
    let (profile, refresh) = (profile.map(str::to_owned), refresh.map(str::to_owned));
    let region = "us-west-2".to_owned();
    let transport = Transport::Bedrock { region, profile, refresh };
    Target { transport, auth: Auth::Cloud, ..targets::target(Wire::BedrockConverse) }
}

fn vertex() -> Target {
    let (project, location) = ("p".to_owned(), "global".to_owned());
    let transport = Transport::Vertex { project, location };
    Target { transport, auth: Auth::Cloud, ..targets::target(Wire::Gemini) }
}

async fn signed(signer: &Signer, target: &Target) -> Result<Prepared, Error> {
    // No test speaks TLS, and a machine without certificates can run them too.
    let http = Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let mut prepared = prepare(wire::encode(&Request::default(), target), target, true).unwrap();
    signer.authorize(&http, &mut prepared, target).await?;
    Ok(prepared)
}

fn header(prepared: &Prepared, name: &str) -> String {
    prepared.headers.get(name).map_or(String::new(), |value| value.to_str().unwrap().to_owned())
}

/// Signs and returns the access key and the session token that signed.
async fn keys(signer: &Signer, target: &Target) -> (String, String) {
    let prepared = signed(signer, target).await.unwrap();
    let authorization = header(&prepared, "authorization");
    let scope =
        "/20260101/us-west-2/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date";
    let (key, rest) = authorization.split_once(scope).unwrap_or_else(|| panic!("{authorization}"));
    assert!(rest.contains("Signature="), "{authorization}");
    let key = key.strip_prefix("AWS4-HMAC-SHA256 Credential=").unwrap();
    (key.to_owned(), header(&prepared, "x-amz-security-token"))
}

fn pair(key: &str, token: &str) -> (String, String) {
    (key.to_owned(), token.to_owned())
}

#[tokio::test]
async fn the_environment_signs_unless_settings_name_a_profile() {
    let desk = Desk::new(&[
        ("AWS_ACCESS_KEY_ID", "ENV"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
        ("AWS_SESSION_TOKEN", "t"),
    ]);
    desk.write(".aws/credentials", "[work]\naws_access_key_id=WORK\naws_secret_access_key=s\n");
    let signer = desk.signer();
    assert_eq!(keys(&signer, &bedrock(None, None)).await, pair("ENV", "t"));
    assert_eq!(keys(&signer, &bedrock(Some("work"), None)).await, pair("WORK", ""));
    let error = signed(&signer, &bedrock(Some("gone"), None)).await.unwrap_err();
    assert!(error.message.contains("`gone`"), "{error}");
}

#[tokio::test]
async fn a_credential_process_runs_again_only_when_its_answer_has_expired() {
    let mut desk = Desk::new(&[("AWS_PROFILE", "tool")]);
    let printed = json!({
        "Version": 1, "AccessKeyId": "PROC", "SecretAccessKey": "s", "SessionToken": "t",
        "Expiration": "2026-01-01T01:00:00Z",
    });
    desk.shell = Arc::new(Shell { prints: printed.to_string(), ..Shell::default() });
    desk.write(".aws/config", "[profile tool]\ncredential_process = /bin/helper --json\n");
    let (signer, target) = (desk.signer(), bedrock(None, None));
    assert_eq!(keys(&signer, &target).await, pair("PROC", "t"));
    keys(&signer, &target).await;
    assert_eq!(desk.shell.runs.load(Ordering::SeqCst), 1);
    desk.clock.advance(Duration::from_mins(59));
    keys(&signer, &target).await;
    assert_eq!(desk.shell.runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_login_buys_a_roles_credentials_until_it_expires() {
    let bought = json!({ "roleCredentials": {
        "accessKeyId": "SSO", "secretAccessKey": "s", "sessionToken": "t",
        "expiration": NOW + 3_600_000,
    }});
    let server = Loopback::start(&[("GET /federation/credentials", &bought.to_string())]).await;
    let desk = Desk::new(&[("AWS_PROFILE", "dev"), ("AWS_ENDPOINT_URL_SSO", &server.url)]);
    desk.write(
        ".aws/config",
        "[profile dev]\nsso_session = corp\nsso_account_id = 12\nsso_role_name = Power User\n\
         [sso-session corp]\nsso_start_url = https://corp/start\nsso_region = eu-west-1\n",
    );
    // The SHA-1 of `corp`.
    let cache = ".aws/sso/cache/ee0bfd2552fbd840c02cc48b6e823320543c450f.json";
    desk.write(cache, r#"{"accessToken":"tok","expiresAt":"2026-01-01T08:00:00Z"}"#);
    assert_eq!(keys(&desk.signer(), &bedrock(None, None)).await, pair("SSO", "t"));
    let seen = &server.seen()[0];
    assert!(seen.line.ends_with("?role_name=Power%20User&account_id=12"), "{}", seen.line);
    assert!(seen.head.contains("x-amz-sso_bearer_token: tok"), "{}", seen.head);
    desk.write(cache, r#"{"accessToken":"tok","expiresAt":"2025-12-31T08:00:00Z"}"#);
    let error = signed(&desk.signer(), &bedrock(None, None)).await.unwrap_err();
    assert!(error.message.contains("aws sso login --profile dev"), "{error}");
}

const STS_ANSWER: &str = "<AssumeRoleResponse><AssumeRoleResult><Credentials>\
    <AccessKeyId>ROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey>\
    <SessionToken>t</SessionToken><Expiration>2026-01-01T01:00:00Z</Expiration>\
    </Credentials></AssumeRoleResult></AssumeRoleResponse>";

#[tokio::test]
async fn a_role_is_assumed_with_the_profile_it_leans_on() {
    let server = Loopback::start(&[("POST /", STS_ANSWER)]).await;
    let desk = Desk::new(&[("AWS_ENDPOINT_URL_STS", &server.url)]);
    desk.write(
        ".aws/config",
        "[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = base\nexternal_id = x\n\
         [profile base]\naws_access_key_id = BASE\naws_secret_access_key = s\n\
         [profile loop]\nrole_arn = a\nsource_profile = pool\n\
         [profile pool]\nrole_arn = b\nsource_profile = loop\n",
    );
    assert_eq!(keys(&desk.signer(), &bedrock(None, None)).await, pair("ROLE", "t"));
    let seen = &server.seen()[0];
    assert!(seen.head.contains("Credential=BASE/20260101/us-west-2/sts/"), "{}", seen.head);
    let form = "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr";
    assert_eq!(seen.body, format!("{form}&RoleSessionName=caiman&ExternalId=x"));
    let error = signed(&desk.signer(), &bedrock(Some("loop"), None)).await.unwrap_err();
    assert!(error.message.contains("leans on itself"), "{error}");
}

#[tokio::test]
async fn a_clusters_token_buys_a_role() {
    let server = Loopback::start(&[("POST /", STS_ANSWER)]).await;
    let mut desk = Desk::new(&[
        ("AWS_ENDPOINT_URL_STS", &server.url),
        ("AWS_ROLE_ARN", "arn:aws:iam::1:role/pod"),
    ]);
    desk.write("token", "jwt\n");
    let file = desk.home.path().join("token").to_str().unwrap().to_owned();
    desk.env.push(("AWS_WEB_IDENTITY_TOKEN_FILE".into(), file));
    assert_eq!(keys(&desk.signer(), &bedrock(None, None)).await, pair("ROLE", "t"));
    let body = &server.seen()[0].body;
    assert!(body.starts_with("Action=AssumeRoleWithWebIdentity"), "{body}");
    assert!(body.ends_with("WebIdentityToken=jwt"), "{body}");
}

#[tokio::test]
async fn a_container_and_an_instance_have_credentials_of_their_own() {
    let own = r#"{"AccessKeyId":"BOX","SecretAccessKey":"s","Token":"t","Expiration":"2026-01-01T06:00:00Z"}"#;
    let role = "/latest/meta-data/iam/security-credentials/";
    let server = Loopback::start(&[
        ("GET /creds", own),
        ("PUT /latest/api/token", "session"),
        (&format!("GET {role}"), "my-role"),
        (&format!("GET {role}my-role"), own),
    ])
    .await;
    let url = format!("{}/creds", server.url);
    let container = Desk::new(&[
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &url),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "pass"),
    ]);
    assert_eq!(keys(&container.signer(), &bedrock(None, None)).await, pair("BOX", "t"));
    assert!(server.seen()[0].head.contains("authorization: pass"));
    let instance = Desk::new(&[("AWS_EC2_METADATA_SERVICE_ENDPOINT", &server.url)]);
    assert_eq!(keys(&instance.signer(), &bedrock(None, None)).await, pair("BOX", "t"));
    assert!(server.seen()[3].head.contains("x-aws-ec2-metadata-token: session"));
}

#[tokio::test]
async fn where_there_is_nothing_the_error_says_what_to_set() {
    let desk = Desk::new(&[]);
    let error = signed(&desk.signer(), &bedrock(None, None)).await.unwrap_err();
    assert_eq!(error.class, llm::Class::Auth);
    assert!(error.message.contains("AWS_BEARER_TOKEN_BEDROCK"), "{error}");
    let error = signed(&desk.signer(), &vertex()).await.unwrap_err();
    assert!(error.message.contains("gcloud auth application-default login"), "{error}");
}

#[tokio::test]
async fn the_renewal_command_brings_credentials_that_were_not_there() {
    let mut desk = Desk::new(&[]);
    desk.write(".aws/config", "");
    desk.shell = Arc::new(Shell {
        prints: "[default]\naws_access_key_id=NEW\naws_secret_access_key=s\n".into(),
        writes: Some(desk.home.path().join(".aws/credentials")),
        runs: AtomicUsize::new(0),
    });
    let (signer, target) = (desk.signer(), bedrock(None, Some("corp-login")));
    assert_eq!(keys(&signer, &target).await, pair("NEW", ""));
    keys(&signer, &target).await;
    assert_eq!(desk.shell.runs.load(Ordering::SeqCst), 1);
    assert!(signer.renew(&target).await.unwrap());
    assert_eq!(desk.shell.runs.load(Ordering::SeqCst), 2);
}

async fn google(desk: &Desk) -> (String, String) {
    let prepared = signed(&desk.signer(), &vertex()).await.unwrap();
    (header(&prepared, "authorization"), header(&prepared, "x-goog-user-project"))
}

const GCLOUD: &str = ".config/gcloud/application_default_credentials.json";

fn user_file(server: &Loopback) -> Value {
    json!({
        "type": "authorized_user", "client_id": "id", "client_secret": "a&b",
        "refresh_token": "again", "quota_project_id": "payer",
        "token_uri": format!("{}/token", server.url),
    })
}

#[tokio::test]
async fn a_user_of_gcloud_gets_a_token_and_keeps_it_while_it_lives() {
    let granted = r#"{"access_token":"ya29","expires_in":3599}"#;
    let server = Loopback::start(&[("POST /token", granted)]).await;
    let desk = Desk::new(&[]);
    desk.write(GCLOUD, &user_file(&server).to_string());
    assert_eq!(google(&desk).await, pair("Bearer ya29", "payer"));
    let body = &server.seen()[0].body;
    assert_eq!(
        body,
        "grant_type=refresh_token&client_id=id&client_secret=a%26b&refresh_token=again"
    );
    let signer = desk.signer();
    for _ in 0..3 {
        signed(&signer, &vertex()).await.unwrap();
    }
    assert_eq!(server.seen().len(), 2);
    desk.clock.advance(Duration::from_hours(1));
    signed(&signer, &vertex()).await.unwrap();
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_service_account_signs_a_claim_that_its_public_key_confirms() {
    let granted = r#"{"access_token":"svc","expires_in":3599}"#;
    let server = Loopback::start(&[("POST /token", granted)]).await;
    let mut desk = Desk::new(&[]);
    let key = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let pkcs8 = AsDer::<Pkcs8V1Der<'_>>::as_der(&key).unwrap();
    let pem = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        STANDARD.encode(pkcs8.as_ref())
    );
    let file = json!({
        "type": "service_account", "client_email": "bot@p.iam", "private_key": pem,
        "private_key_id": "k1", "token_uri": format!("{}/token", server.url),
    });
    desk.write("sa.json", &file.to_string());
    let path = desk.home.path().join("sa.json").to_str().unwrap().to_owned();
    desk.env.push(("GOOGLE_APPLICATION_CREDENTIALS".into(), path));
    assert_eq!(google(&desk).await, pair("Bearer svc", ""));
    let body = server.seen()[0].body.clone();
    let assertion = body.split_once("&assertion=").unwrap().1;
    let (message, signature) = assertion.rsplit_once('.').unwrap();
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.public_key().as_ref());
    public.verify(message.as_bytes(), &signature).unwrap();
    let claims = URL_SAFE_NO_PAD.decode(message.split_once('.').unwrap().1).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!((&claims["iss"], &claims["iat"]), (&json!("bot@p.iam"), &json!(NOW / 1000)));
}

#[tokio::test]
async fn an_impersonated_account_and_a_machine_have_tokens_too() {
    let own = r#"{"access_token":"own","expires_in":3599}"#;
    let lent = r#"{"accessToken":"lent","expireTime":"2026-01-01T01:00:00Z"}"#;
    let machine = "GET /computeMetadata/v1/instance/service-accounts/default/token";
    let answers =
        [("POST /token", own), ("POST /as/bot:generateAccessToken", lent), (machine, own)];
    let server = Loopback::start(&answers).await;
    let desk = Desk::new(&[]);
    let file = json!({
        "type": "impersonated_service_account",
        "service_account_impersonation_url": format!("{}/as/bot:generateAccessToken", server.url),
        "source_credentials": user_file(&server),
    });
    desk.write(GCLOUD, &file.to_string());
    assert_eq!(google(&desk).await.0, "Bearer lent");
    assert!(server.seen()[1].head.contains("authorization: Bearer own"));
    let host = server.url.strip_prefix("http://").unwrap();
    let desk = Desk::new(&[("GCE_METADATA_HOST", host)]);
    assert_eq!(google(&desk).await.0, "Bearer own");
    desk.write(GCLOUD, r#"{"type":"external_account"}"#);
    let error = signed(&desk.signer(), &vertex()).await.unwrap_err();
    assert!(error.message.contains("external_account"), "{error}");
}

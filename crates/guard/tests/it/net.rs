//! The gate, held against every spelling of an inner address we know of.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use guard::net::{Gate, NetError, Opening, Place, REDIRECT_LIMIT, odd_port};
use proptest::prelude::*;
use url::Url;

fn judge(gate: &Gate, text: &str) -> Result<(), NetError> {
    gate.check(&Url::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn inner_addresses_are_refused_in_every_spelling() {
    let gate = Gate::closed();
    for host in [
        // This machine.
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "127.255.255.254",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "0x7F.0x0.0x0.0x1",
        "127.0.0.1.",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "%31%32%37.0.0.1",
        "0",
        "0.0.0.0",
        "0.1.2.3",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[::7f00:1]",
        "[::ffff:0:127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "[2002:7f00:0001::1]",
        "[fe80::5efe:127.0.0.1]",
        // Private networks.
        "10.0.0.1",
        "10.255.255.255",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "192.168.1.1.",
        "100.64.0.1",
        "100.127.255.255",
        "167772161",
        "0xa.1",
        "012.0.0.1",
        "[fc00::1]",
        "[fd12:3456::1]",
        "[fec0::1]",
        "[::ffff:10.0.0.1]",
        "[::ffff:c0a8:101]",
        "[64:ff9b::10.0.0.1]",
        "[2002:c0a8:101::1]",
        "[64:ff9b:1::1]",
        "[2001:470:1:1:0:5efe:192.168.0.1]",
        // Link-local and metadata.
        "169.254.0.1",
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "0xa9.0xfe.0xa9.0xfe",
        "0251.0376.0251.0376",
        "169.254.43518",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "[febf::1]",
        "[2002:a9fe:a9fe::]",
        "[64:ff9b::a9fe:a9fe]",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        // Nobody's.
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "198.51.100.7",
        "203.0.113.9",
        "198.18.0.1",
        "192.88.99.1",
        "[ff02::1]",
        "[2001:db8::1]",
        "[2001::1]",
        "[100::1]",
        "[5f00::1]",
        "[3fff::1]",
        "[4000::1]",
        "[::8.8.8.8]",
        // Names.
        "localhost",
        "LOCALHOST",
        "localhost.",
        "localhost..",
        "a.localhost",
        "printer.local",
        "metadata.google.internal",
        "metadata",
        "instance-data",
        "kubernetes.default.svc.cluster.local",
        "router.lan",
        "wiki.corp",
        "x.intranet",
        "nas.home.arpa",
        "localhost.localdomain",
        "router",
    ] {
        let url = format!("http://{host}/latest/meta-data/");
        match Url::parse(&url) {
            Ok(url) => assert!(
                matches!(gate.check(&url), Err(NetError::Inner { .. } | NetError::NoHost)),
                "{host} ({url}) got through"
            ),
            // What the parser refuses cannot be fetched either.
            Err(_) => assert!(host.contains("..") || host.contains('%'), "{host} is no host"),
        }
    }
}

#[test]
fn public_addresses_pass() {
    let gate = Gate::closed();
    for text in [
        "https://example.com/",
        "http://8.8.8.8:8080/x",
        "https://172.15.0.1",
        "https://172.32.0.1",
        "http://100.63.0.1",
        "http://100.128.0.1",
        "http://169.253.1.1",
        "http://[2606:4700::1111]/",
        "http://[::ffff:8.8.8.8]/",
        "http://[64:ff9b::8.8.8.8]",
        "http://[2002:808:808::1]",
        "http://1.1",
        "https://xn--bcher-kva.example/",
        "https://localhost.example.com",
        "https://notlocal.com",
        "https://internal.example.com",
        "https://192.0.1.1",
        "https://example.com./",
    ] {
        assert_eq!(judge(&gate, text), Ok(()), "{text}");
    }
}

#[test]
fn only_plain_web_addresses_pass() {
    let gate = Gate::closed();
    for text in
        ["file:///etc/passwd", "ftp://example.com", "gopher://example.com", "data:text/plain,x"]
    {
        assert!(matches!(judge(&gate, text), Err(NetError::Scheme(_))), "{text}");
    }
    for text in
        ["https://user@example.com", "https://:pw@example.com", "http://8.8.8.8@example.com"]
    {
        assert_eq!(judge(&gate, text), Err(NetError::UserInfo), "{text}");
    }
    for text in
        ["http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://1.2.3.256/", "http://"]
    {
        assert!(Url::parse(text).is_err(), "{text}");
    }
    assert_eq!(odd_port(&Url::parse("http://example.com:22").unwrap()), Some(22));
    assert_eq!(odd_port(&Url::parse("http://example.com:80").unwrap()), None);
}

#[test]
fn redirects_are_judged_like_first_addresses() {
    let gate = Gate::closed();
    let url = |text: &str| Url::parse(text).unwrap();
    let (open, secure) = (url("http://example.com"), url("https://example.com"));
    assert_eq!(gate.check_redirect(&open, &secure, 1), Ok(()));
    assert!(matches!(gate.check_redirect(&secure, &open, 1), Err(NetError::Downgrade(_))));
    let inner = gate.check_redirect(&open, &url("http://169.254.169.254/"), 1);
    assert!(matches!(inner, Err(NetError::Inner { place: Place::Metadata, .. })));
    let last = gate.check_redirect(&open, &secure, REDIRECT_LIMIT);
    assert_eq!(last, Ok(()));
    let many = gate.check_redirect(&open, &secure, REDIRECT_LIMIT + 1);
    assert_eq!(many, Err(NetError::TooManyRedirects));
}

#[test]
fn what_a_name_resolves_to_is_judged_as_a_whole() {
    let gate = Gate::closed();
    let public: SocketAddr = "93.184.216.34:80".parse().unwrap();
    let inner: SocketAddr = "127.0.0.1:80".parse().unwrap();
    assert_eq!(gate.admit("example.com", &[public]), Ok(vec![public]));
    let error = gate.admit("rebind.example", &[public, inner]).unwrap_err();
    assert_eq!(
        error.to_string().split(';').next(),
        Some("rebind.example is this machine, not on the public internet")
    );
    assert_eq!(gate.admit("gone.example", &[]), Err(NetError::Unknown("gone.example".into())));
}

#[test]
fn openings_let_through_what_they_name_and_no_more() {
    let gate = |text: &str| Gate::with([text.parse::<Opening>().unwrap()]);
    for (opening, through, stopped) in [
        ("127.0.0.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8081"),
        ("localhost:80", "http://localhost", "https://localhost"),
        ("10.1.0.0/16", "http://10.1.255.1", "http://10.2.0.1"),
        ("10.1.0.0/16:443", "https://10.1.0.1", "http://10.1.0.1"),
        ("[::1]:80", "http://[::1]", "http://[::1]:81"),
        ("fd00::/8", "http://[fd12::1]", "http://[fc12::1]"),
        ("*.corp", "http://wiki.corp", "http://corp"),
        ("wiki.corp", "http://WIKI.corp.", "http://evilwiki.corp"),
        ("private", "http://192.168.1.1", "http://169.254.169.254"),
        ("0.0.0.0/0", "http://127.0.0.1", "http://[::1]"),
        ("::/0", "http://[::1]", "http://127.0.0.1"),
        ("10.0.0.1", "http://[::ffff:10.0.0.1]", "http://10.0.0.2"),
    ] {
        assert_eq!(judge(&gate(opening), through), Ok(()), "{opening} {through}");
        assert!(judge(&gate(opening), stopped).is_err(), "{opening} {stopped}");
    }
    let wiki = gate("wiki.corp");
    let inner: SocketAddr = "10.0.0.7:80".parse().unwrap();
    assert_eq!(wiki.admit("wiki.corp", &[inner]), Ok(vec![inner]));
    assert!(wiki.admit("other.corp", &[inner]).is_err());
    for bad in
        ["", "*", "*.", "10.0.0.0/33", "a b", "host:99999", "[::1", "[::1]x", "/8", "http://x"]
    {
        assert!(bad.parse::<Opening>().is_err(), "{bad}");
    }
}

/// The forms in which an IPv6 address can hold an IPv4 address.
fn disguises(address: Ipv4Addr) -> Vec<Ipv6Addr> {
    let [a, b, c, d] = address.octets();
    let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    vec![
        address.to_ipv6_mapped(),
        Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_disguise_changes_nothing(bits in any::<u32>()) {
        let address = Ipv4Addr::from(bits);
        let place = Place::of(IpAddr::V4(address));
        for disguise in disguises(address) {
            prop_assert_eq!(Place::of(IpAddr::V6(disguise)), place, "{}", disguise);
        }
    }

    #[test]
    fn no_inner_network_is_public(rest in any::<u32>(), which in 0..6_usize) {
        let (network, bits) = [
            ("10.0.0.0", 8), ("172.16.0.0", 12), ("192.168.0.0", 16),
            ("127.0.0.0", 8), ("169.254.0.0", 16), ("100.64.0.0", 10),
        ][which];
        let network = u32::from(network.parse::<Ipv4Addr>().unwrap());
        let address = Ipv4Addr::from(network | (rest >> bits));
        let gate = Gate::closed();
        let number = u32::from(address);
        for host in [address.to_string(), number.to_string(), format!("{number:#x}"), format!("0{number:o}")] {
            let url = Url::parse(&format!("http://{host}/")).unwrap();
            prop_assert!(gate.check(&url).is_err(), "{}", host);
        }
    }

    #[test]
    fn any_host_gets_an_answer(host in "[ -~éß。]{0,40}") {
        if let Ok(url) = Url::parse(&format!("http://{host}/")) {
            drop(Gate::closed().check(&url));
        }
        drop(host.parse::<Opening>());
    }
}

//! What an IP address is for, in all the forms one address can hide in another.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Anybody's, on the public internet.
    Public,
    /// This machine.
    Loopback,
    /// A private network.
    Private,
    /// This network segment alone.
    LinkLocal,
    /// Where a cloud hands out its machines' keys.
    Metadata,
    /// Many machines at once.
    Multicast,
    /// No machine: unspecified, reserved, documentation, tests.
    Reserved,
    /// A name that only means something nearby.
    InnerName,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "a public address",
            Self::Loopback => "this machine",
            Self::Private => "a private network",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "a cloud's metadata service",
            Self::Multicast => "a multicast address",
            Self::Reserved => "a reserved address",
            Self::InnerName => "a local name",
        })
    }
}

impl Place {
    /// What `address` is for. An IPv4 address inside an IPv6 address counts as itself.
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }
}

fn of_v4(address: Ipv4Addr) -> Place {
    match address.octets() {
        // Amazon and most others; Alibaba; Azure's host; Oracle.
        [169, 254, 169, 254] | [100, 100, 100, 200] | [168, 63, 129, 16] | [192, 0, 0, 192] => {
            Place::Metadata
        }
        // "This network" reaches this machine on Linux.
        [0 | 127, ..] => Place::Loopback,
        // Private, and what carriers share among their customers.
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => Place::Private,
        [169, 254, ..] => Place::LinkLocal,
        [224..=239, ..] => Place::Multicast,
        // Protocol assignments, documentation, 6to4 relays, benchmarks, future use, broadcast.
        [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [240..=255, ..] => Place::Reserved,
        _ => Place::Public,
    }
}

fn of_v6(address: Ipv6Addr) -> Place {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Place::Loopback,
        [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254] | [0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x254] => {
            Place::Metadata
        }
        // Mapped, translated, NAT64, 6to4: the IPv4 address inside is where it goes.
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => of_v4(inner(high, low)),
        // Compatible, and ISATAP behind any prefix: no longer in use, so never public.
        [0, 0, 0, 0, 0, 0, high, low] | [.., 0x0 | 0x200, 0x5efe, high, low] => {
            never_public(of_v4(inner(high, low)))
        }
        [0xfe80..=0xfebf, ..] => Place::LinkLocal,
        // Unique local, site-local, NAT64 of a local network.
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] | [0x64, 0xff9b, 1, ..] => Place::Private,
        [0xff00..=0xffff, ..] => Place::Multicast,
        // Teredo tunnels, protocol assignments, documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Place::Reserved,
        [0x2000..=0x3fff, ..] => Place::Public,
        _ => Place::Reserved,
    }
}

fn inner(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))
}

fn never_public(place: Place) -> Place {
    match place {
        Place::Public => Place::Reserved,
        Place::Loopback
        | Place::Private
        | Place::LinkLocal
        | Place::Metadata
        | Place::Multicast
        | Place::Reserved
        | Place::InnerName => place,
    }
}

//! Interface questions and orders by ioctl (netdevice(7), ethtool) and getifaddrs(3), in the calling thread's network namespace.

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use libc::{c_int, c_ulong, ifreq};

use super::{check, socket};

const SIOCETHTOOL: c_ulong = 0x8946;

/// A socket to ask through, and the interface asked about.
pub(crate) struct Query {
    socket: OwnedFd,
    name: [libc::c_char; libc::IFNAMSIZ],
}

/// `struct ethtool_value`: a command with one word, for get and set.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// `struct ethtool_drvinfo`.
#[repr(C)]
struct EthtoolDriver {
    command: u32,
    driver: [u8; 32],
    rest: [u8; 160],
}

/// `struct ethtool_channels`: maxima of rx, tx, other, combined, then the counts in the same order.
#[repr(C)]
struct EthtoolChannels {
    command: u32,
    maxima: [u32; 4],
    counts: [u32; 4],
}

impl Query {
    /// Prepares questions about `name`; whether it exists only they tell. `None` if no interface can have that name.
    pub(crate) fn new(name: &str) -> Option<io::Result<Query>> {
        let chars = name_chars(name)?;
        Some(socket(libc::AF_INET, libc::SOCK_DGRAM, 0).map(|socket| Query { socket, name: chars }))
    }

    pub(crate) fn index(&self) -> io::Result<u32> {
        let request = self.request(libc::SIOCGIFINDEX)?;
        // SAFETY: SIOCGIFINDEX fills this member, an integer.
        Ok(unsafe { request.ifr_ifru.ifru_ifindex } as u32)
    }

    pub(crate) fn mtu(&self) -> io::Result<usize> {
        let request = self.request(libc::SIOCGIFMTU)?;
        // SAFETY: SIOCGIFMTU fills this member, an integer.
        Ok(usize::try_from(unsafe { request.ifr_ifru.ifru_mtu }).unwrap_or(0))
    }

    /// `IFF_` flags.
    pub(crate) fn flags(&self) -> io::Result<c_int> {
        let request = self.request(libc::SIOCGIFFLAGS)?;
        // SAFETY: SIOCGIFFLAGS fills this member, an integer.
        Ok(c_int::from(unsafe { request.ifr_ifru.ifru_flags }))
    }

    /// `ARPHRD_` type and hardware address.
    pub(crate) fn hardware(&self) -> io::Result<(u16, [u8; 6])> {
        let request = self.request(libc::SIOCGIFHWADDR)?;
        // SAFETY: SIOCGIFHWADDR fills this member, integers.
        let address = unsafe { request.ifr_ifru.ifru_hwaddr };
        let mut mac = [0; 6];
        for (to, from) in mac.iter_mut().zip(address.sa_data) {
            *to = from as u8;
        }
        Ok((address.sa_family, mac))
    }

    /// Name of the driver.
    pub(crate) fn driver(&self) -> io::Result<String> {
        const ETHTOOL_GDRVINFO: u32 = 3;
        let mut info = EthtoolDriver { command: ETHTOOL_GDRVINFO, driver: [0; 32], rest: [0; 160] };
        self.ethtool(&mut info)?;
        let end = info.driver.iter().position(|&b| b == 0).unwrap_or(info.driver.len());
        Ok(String::from_utf8_lossy(&info.driver[..end]).into_owned())
    }

    /// Receive queues in use: dedicated ones and those combined with a transmit queue.
    pub(crate) fn rx_queues(&self) -> io::Result<u32> {
        const ETHTOOL_GCHANNELS: u32 = 0x3c;
        let mut channels = EthtoolChannels { command: ETHTOOL_GCHANNELS, maxima: [0; 4], counts: [0; 4] };
        self.ethtool(&mut channels)?;
        Ok(channels.counts[0].saturating_add(channels.counts[3]))
    }

    /// An ethtool command that reads one word.
    pub(crate) fn ethtool_get(&self, command: u32) -> io::Result<u32> {
        let mut value = EthtoolValue { command, data: 0 };
        self.ethtool(&mut value)?;
        Ok(value.data)
    }

    /// An ethtool command that writes one word.
    pub(crate) fn ethtool_set(&self, command: u32, data: u32) -> io::Result<()> {
        self.ethtool(&mut EthtoolValue { command, data })
    }

    pub(crate) fn set_mtu(&self, mtu: u16) -> io::Result<()> {
        self.order(libc::SIOCSIFMTU, |request| request.ifr_ifru.ifru_mtu = c_int::from(mtu))
    }

    /// Sets it up, administratively.
    pub(crate) fn set_up(&self) -> io::Result<()> {
        let flags = self.flags()? | libc::IFF_UP;
        self.order(libc::SIOCSIFFLAGS, |request| request.ifr_ifru.ifru_flags = flags as libc::c_short)
    }

    fn order(&self, command: c_ulong, fill: impl FnOnce(&mut ifreq)) -> io::Result<()> {
        // SAFETY: as in `request`.
        let mut request: ifreq = unsafe { std::mem::zeroed() };
        request.ifr_name = self.name;
        fill(&mut request);
        // SAFETY: these commands read the ifreq, which outlives the call.
        check(unsafe { libc::ioctl(self.socket.as_raw_fd(), command as _, &raw mut request) }).map(drop)
    }

    fn request(&self, command: c_ulong) -> io::Result<ifreq> {
        // SAFETY: ifreq is integers and a union of integers and pointers; zero is a value of all.
        let mut request: ifreq = unsafe { std::mem::zeroed() };
        request.ifr_name = self.name;
        // SAFETY: these commands read the name and write within the ifreq, which outlives the call.
        check(unsafe { libc::ioctl(self.socket.as_raw_fd(), command as _, &raw mut request) })?;
        Ok(request)
    }

    /// `T` must be the structure that its command word belongs to: the private callers above see to it.
    fn ethtool<T>(&self, value: &mut T) -> io::Result<()> {
        // SAFETY: as in `request`.
        let mut request: ifreq = unsafe { std::mem::zeroed() };
        request.ifr_name = self.name;
        request.ifr_ifru.ifru_data = (value as *mut T).cast();
        // SAFETY: the kernel reads and writes the structure of the command, which `value` is, exclusively borrowed for the call.
        check(unsafe { libc::ioctl(self.socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) })?;
        Ok(())
    }
}

/// The name as the kernel has it; `None` if no interface can have that name.
pub(crate) fn name_chars(name: &str) -> Option<[libc::c_char; libc::IFNAMSIZ]> {
    let valid = !name.is_empty() && name.len() < libc::IFNAMSIZ && !name.bytes().any(|b| b == 0 || b == b'/' || b.is_ascii_whitespace());
    let mut chars = [0; libc::IFNAMSIZ];
    for (to, from) in chars.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    valid.then_some(chars)
}

/// Has the kernel answer a netlink socket by all that a request says, and not by its kind alone.
pub(crate) fn only_what_is_asked_for(socket: &impl AsFd) -> io::Result<()> {
    super::set_option(socket.as_fd(), libc::SOL_NETLINK, libc::NETLINK_GET_STRICT_CHK, 1)
}

/// Addresses of `name`, with prefix lengths in bits.
pub(crate) fn addresses(name: &str) -> io::Result<Vec<(IpAddr, u8)>> {
    let mut list = std::ptr::null_mut();
    // SAFETY: on success the call stores the head of a list that we free below.
    check(unsafe { libc::getifaddrs(&raw mut list) })?;
    let mut found = Vec::new();
    let mut at = list;
    while !at.is_null() {
        // SAFETY: non-null nodes of the list are valid until freeifaddrs.
        let node = unsafe { &*at };
        at = node.ifa_next;
        // SAFETY: ifa_name is a C string of the list.
        if unsafe { CStr::from_ptr(node.ifa_name) }.to_bytes() != name.as_bytes() {
            continue;
        }
        // SAFETY: both point into the list or are null; see `ip`.
        if let Some(address) = unsafe { ip(node.ifa_addr) } {
            // SAFETY: as above.
            let prefix = match unsafe { ip(node.ifa_netmask) } {
                Some(IpAddr::V4(mask)) => mask.to_bits().count_ones(),
                Some(IpAddr::V6(mask)) => mask.to_bits().count_ones(),
                None => 0,
            };
            found.push((address, prefix as u8));
        }
    }
    // SAFETY: the list came from getifaddrs and no reference into it is left.
    unsafe { libc::freeifaddrs(list) };
    Ok(found)
}

/// # Safety
/// `address` is null or points to a socket address of the length that its family has.
unsafe fn ip(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: every socket address starts with its family.
    match c_int::from(unsafe { (*address).sa_family }) {
        libc::AF_INET => {
            // SAFETY: the family says that it is a sockaddr_in; the list's alignment may be less.
            let v4 = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(IpAddr::V4(Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr))))
        }
        libc::AF_INET6 => {
            // SAFETY: as above with sockaddr_in6.
            let v6 = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(IpAddr::V6(Ipv6Addr::from(v6.sin6_addr.s6_addr)))
        }
        _ => None,
    }
}

/// Whether an interface with this index exists: in the calling thread's network namespace.
pub fn index_exists(index: u32) -> bool {
    let mut name = [0 as libc::c_char; libc::IFNAMSIZ];
    // SAFETY: the buffer has the IF_NAMESIZE bytes that the call may write.
    !unsafe { libc::if_indextoname(index, name.as_mut_ptr()) }.is_null()
}

//! The AF_XDP sockets of one queue of an interface: their memory, their rings, and who owns which frame.
//!
//! A packet can only be redirected to a socket that is bound to the device *and* the queue that it arrived by. Several sockets are
//! bound to one queue by sharing the first one's memory (XDP_SHARED_UMEM; Documentation/networking/af_xdp.rst, "XDP_SHARED_UMEM
//! bind flag"). Each then has a receive and a transmit ring of its own, but the queue has one fill ring and one completion ring,
//! and each of these one producer and one consumer: ours are several workers.
//!
//! So both rings, with the frames that are free to send, lie in a [`Pool`] behind a lock that is taken once for a burst. The
//! alternatives were an owner who refills for all, whom every worker would have to wait for or wake, and a lock-free way back
//! to it, which still needs the owner. A worker that receives does not wait for another one that the system has put to sleep inside
//! the lock: it keeps its spent frames, up to [`IN_HAND`] of them, and gives them back with a later burst.
//!
//! Every frame is in exactly one place: the fill ring or the kernel's receive path (the kernel writes it), a receive ring (its
//! socket's to read), in a socket's hand (read, but not given back), a transmit ring or the completion ring (the kernel reads
//! it), or the free list (ours to write). All methods keep that; so they are safe.
//!
//! **There are as many frames to receive into as all receive rings hold, and what all sockets may have in hand besides.** So the
//! fill ring never runs dry: a worker that is behind loses what its own ring does not hold, and nothing of the others'.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use libc::{c_int, off_t, sockaddr_xdp, socklen_t, xdp_desc, xdp_mmap_offsets, xdp_statistics, xdp_umem_reg};

use super::ring::{Mapping, Ring};
use super::{Plain, check, get_option, pending_error, set_option, socket};

/// Bytes of a frame: one page, the most that the kernel allows for aligned frames, or half of it, where that holds what an interface has.
const FRAME: usize = 4096;
const SMALL_FRAME: usize = FRAME / 2;
/// Bytes that the kernel keeps free in front of a received packet (XDP_PACKET_HEADROOM).
const KERNEL_HEADROOM: usize = 256;
/// Bytes in front of a received packet that a program may leave a word in (XDP metadata).
const WORD: usize = 8;
/// Longest packet that a frame of the larger kind holds.
pub(crate) const MAX_FRAME: usize = FRAME - KERNEL_HEADROOM;
/// Spent frames that a socket keeps while another one has the pool, at most: some bursts.
const IN_HAND: usize = 256;

/// Of a socket with a ring of so many packets.
fn in_hand(ring: u32) -> usize {
    IN_HAND.min(ring as usize)
}
/// `XDP_MAX_TX_SKB_BUDGET`, Linux 6.17: packets that one kick may send in copy mode; 32 before and by default.
const XDP_MAX_TX_SKB_BUDGET: c_int = 9;

/// How a queue is bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Copying {
    /// The kernel copies between socket buffers and our memory: any driver.
    Copy,
    /// The device reads and writes our memory.
    Zero,
}

/// One socket. See the file's top.
pub(crate) struct Xsk {
    // Dropped in this order: the socket first, so that the kernel lets go of what the rings and the memory map.
    fd: OwnedFd,
    receive: Ring<xdp_desc>,
    transmit: Ring<xdp_desc>,
    umem: Arc<Umem>,
    /// Frames that were read and not yet returned, and how many there may be.
    spent: Vec<u64>,
    in_hand: usize,
    /// Frames to send in, taken from the pool for the burst at hand.
    free: Vec<u64>,
}

/// What the sockets of a queue share.
struct Umem {
    pool: Mutex<Pool>,
    memory: Mapping,
    /// Bytes of a frame.
    frame: usize,
}

/// Frames that no socket has.
struct Pool {
    /// Bytes of one.
    frame: usize,
    fill: Ring<u64>,
    completion: Ring<u64>,
    free: Vec<u64>,
}

// SAFETY: `xdp_umem_reg`, `xdp_statistics` and `xdp_mmap_offsets` are structures of integers.
unsafe impl Plain for xdp_umem_reg {}
// SAFETY: as above.
unsafe impl Plain for xdp_statistics {}
// SAFETY: as above.
unsafe impl Plain for xdp_mmap_offsets {}

/// Sockets that share memory, for packets of at most so many bytes, with rings of so many each (a power of two), and as many frames to send in as the
/// first one's have; not bound yet. The error names the step that failed.
pub(crate) fn open(longest: usize, ring: u32, others: &[u32]) -> Result<Vec<Xsk>, (&'static str, io::Error)> {
    let frame = if longest <= SMALL_FRAME - KERNEL_HEADROOM { SMALL_FRAME } else { FRAME };
    let incoming = others.iter().chain([&ring]).map(|ring| *ring as usize + in_hand(*ring)).sum::<usize>();
    let frames = incoming + ring as usize;
    let memory = Mapping::anonymous(frames * frame).map_err(|e| ("allocating packet memory", e))?;
    let first = new_socket(ring)?;
    let registration = xdp_umem_reg {
        addr: memory.address(),
        len: memory.len() as u64,
        chunk_size: frame as u32,
        headroom: 0,
        flags: 0,
        tx_metadata_len: 0,
    };
    set_option(first.as_fd(), libc::SOL_XDP, libc::XDP_UMEM_REG, registration).map_err(|e| ("registering packet memory", e))?;
    // Twice: the kernel shows packets before it shows that it has taken their frames, and we may be in between.
    let fill_size = (2 * incoming).next_power_of_two() as u32;
    for (name, size) in [(libc::XDP_UMEM_FILL_RING, fill_size), (libc::XDP_UMEM_COMPLETION_RING, ring)] {
        set_option(first.as_fd(), libc::SOL_XDP, name, size).map_err(|e| ("sizing rings", e))?;
    }
    let offsets = ring_offsets(first.as_fd())?;
    let map = |page, offsets, size| Ring::map(first.as_fd(), page as off_t, offsets, size).map_err(|e| ("mapping rings", e));
    let mut fill = map(libc::XDP_UMEM_PGOFF_FILL_RING, &offsets.fr, fill_size)?;
    let completion = map(libc::XDP_UMEM_PGOFF_COMPLETION_RING, &offsets.cr, ring)?;
    let mut addresses = (0..frames as u64).map(|n| n * frame as u64);
    addresses.by_ref().take(incoming).for_each(|address| fill.push(address));
    fill.submit();
    let pool = Mutex::new(Pool { frame, fill, completion, free: addresses.collect() });
    let umem = Arc::new(Umem { pool, memory, frame });
    let mut sockets = vec![Xsk::new(first, ring, &umem)?];
    for ring in others {
        sockets.push(Xsk::new(new_socket(*ring)?, *ring, &umem)?);
    }
    Ok(sockets)
}

/// Binds sockets from [`open`] to one queue of an interface. From here on packets flow, once a program redirects to them.
pub(crate) fn bind(sockets: &[Xsk], ifindex: u32, queue: u32, copying: Copying) -> io::Result<()> {
    let Some((first, others)) = sockets.split_first() else { return Ok(()) };
    let mode = match copying {
        Copying::Copy => libc::XDP_COPY,
        Copying::Zero => libc::XDP_ZEROCOPY,
    };
    first.bind(ifindex, queue, mode | libc::XDP_USE_NEED_WAKEUP, 0)?;
    // The mode is the first one's.
    others.iter().try_for_each(|socket| socket.bind(ifindex, queue, libc::XDP_SHARED_UMEM, first.raw_fd() as u32))
}

fn new_socket(ring: u32) -> Result<OwnedFd, (&'static str, io::Error)> {
    let fd = socket(libc::AF_XDP, libc::SOCK_RAW, 0).map_err(|e| ("opening an AF_XDP socket", e))?;
    for name in [libc::XDP_RX_RING, libc::XDP_TX_RING] {
        set_option(fd.as_fd(), libc::SOL_XDP, name, ring).map_err(|e| ("sizing rings", e))?;
    }
    // Older kernels do not know it: more system calls, same result.
    let _ = set_option(fd.as_fd(), libc::SOL_XDP, XDP_MAX_TX_SKB_BUDGET, ring.min(256));
    Ok(fd)
}

fn ring_offsets(fd: BorrowedFd<'_>) -> Result<xdp_mmap_offsets, (&'static str, io::Error)> {
    get_option(fd, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS).map_err(|e| ("reading ring offsets", e))
}

impl Xsk {
    fn new(fd: OwnedFd, ring: u32, umem: &Arc<Umem>) -> Result<Xsk, (&'static str, io::Error)> {
        let offsets = ring_offsets(fd.as_fd())?;
        let map = |page, offsets| Ring::map(fd.as_fd(), page, offsets, ring).map_err(|e| ("mapping rings", e));
        Ok(Xsk {
            receive: map(libc::XDP_PGOFF_RX_RING as off_t, &offsets.rx)?,
            transmit: map(libc::XDP_PGOFF_TX_RING as off_t, &offsets.tx)?,
            umem: umem.clone(),
            spent: Vec::with_capacity(in_hand(ring)),
            in_hand: in_hand(ring),
            free: Vec::new(),
            fd,
        })
    }

    fn bind(&self, ifindex: u32, queue: u32, flags: u16, shared: u32) -> io::Result<()> {
        let address = sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: flags,
            sxdp_ifindex: ifindex,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: shared,
        };
        let length = size_of::<sockaddr_xdp>() as socklen_t;
        // SAFETY: pointer and length describe `address`.
        check(unsafe { libc::bind(self.fd.as_raw_fd(), (&raw const address).cast(), length) })?;
        Ok(())
    }

    /// Hands up to `limit` received packets to `take` and gives their frames back to the kernel. Returns how many. With each packet comes the
    /// word of XDP metadata that lies in front of it, 0 for none: in copy mode nothing else writes there.
    pub(crate) fn receive(&mut self, limit: usize, mut take: impl FnMut(&[u8], u64)) -> usize {
        let mut count = 0;
        let mut any = false;
        while count < limit {
            if self.spent.len() == self.in_hand {
                self.give_back();
            }
            let Some(descriptor) = self.receive.pop() else { break };
            any = true;
            // SAFETY: a frame in our receive ring is ours until it goes back into the fill ring.
            if let Some(bytes) = unsafe { self.umem.memory.bytes(descriptor.addr, descriptor.len as usize) } {
                take(bytes, self.take_word(descriptor.addr));
                count += 1;
            }
            self.spent.push(descriptor.addr & !(self.umem.frame as u64 - 1));
        }
        if any {
            self.receive.release();
        }
        if !self.spent.is_empty() {
            let wakeup = match self.umem.pool.try_lock() {
                Ok(mut pool) => pool.take_back(&mut self.spent),
                Err(TryLockError::Poisoned(pool)) => pool.into_inner().take_back(&mut self.spent),
                Err(TryLockError::WouldBlock) => false,
            };
            if wakeup {
                self.wake(libc::POLLIN);
            }
        }
        count
    }

    /// What lies in front of a packet of ours: each word is found once, as the frame's next packet may come without.
    fn take_word(&self, address: u64) -> u64 {
        if (address as usize) % self.umem.frame < WORD {
            return 0;
        }
        // SAFETY: the word is in the packet's frame, which is ours until it goes back into the fill ring.
        let Some(bytes) = (unsafe { self.umem.memory.bytes_mut(address - WORD as u64, WORD) }) else { return 0 };
        let word = u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
        if word != 0 {
            bytes.fill(0);
        }
        word
    }

    /// Gives all spent frames back, waiting for the pool if need be.
    pub(crate) fn give_back(&mut self) {
        if !self.spent.is_empty() && lock(&self.umem.pool).take_back(&mut self.spent) {
            self.wake(libc::POLLIN);
        }
    }

    /// Packets that wait in the receive ring.
    pub(crate) fn waiting(&self) -> usize {
        self.receive.waiting() as usize
    }

    /// Makes ready to transmit so many packets; how many can be.
    pub(crate) fn reserve(&mut self, packets: usize) -> usize {
        let most = packets.min(self.transmit.room() as usize);
        if self.free.len() < most {
            let mut pool = lock(&self.umem.pool);
            pool.reclaim();
            let rest = pool.free.len().saturating_sub(most - self.free.len());
            self.free.extend(pool.free.drain(rest..));
        }
        most.min(self.free.len())
    }

    /// Longest packet that a frame holds.
    pub(crate) fn max_frame(&self) -> usize {
        self.umem.frame - KERNEL_HEADROOM
    }

    /// Queues a copy of `packet` for transmission. `false` if it is longer than a frame, or not reserved.
    /// The kernel sees it after [`Xsk::submit`].
    pub(crate) fn transmit(&mut self, packet: &[u8]) -> bool {
        if packet.len() > self.max_frame() || self.transmit.is_full() {
            return false;
        }
        let Some(address) = self.free.pop() else { return false };
        // SAFETY: a frame of the free list is in no ring: it has no other reader or writer.
        if let Some(bytes) = unsafe { self.umem.memory.bytes_mut(address, packet.len()) } {
            bytes.copy_from_slice(packet);
        }
        self.transmit.push(xdp_desc { addr: address, len: packet.len() as u32, options: 0 });
        true
    }

    /// Shows the kernel what [`Xsk::transmit`] queued.
    pub(crate) fn submit(&mut self) {
        self.transmit.submit();
    }

    /// Packets submitted that the kernel has not taken yet.
    pub(crate) fn unsent(&self) -> u32 {
        self.transmit.unconsumed()
    }

    /// Whether the kernel needs a wake-up to send.
    pub(crate) fn wants_kick(&self) -> bool {
        self.transmit.needs_wakeup()
    }

    /// Tells the kernel to send; one call sends only so many.
    pub(crate) fn kick(&self) -> io::Result<()> {
        // SAFETY: an empty message: no pointers are read.
        check(unsafe { libc::sendto(self.fd.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0) } as c_int)?;
        Ok(())
    }

    /// What this socket has lost; `rx_fill_ring_empty_descs` is the whole queue's.
    pub(crate) fn statistics(&self) -> io::Result<xdp_statistics> {
        get_option(self.fd.as_fd(), libc::SOL_XDP, libc::XDP_STATISTICS)
    }

    pub(crate) fn pending_error(&self) -> io::Result<()> {
        pending_error(self.fd.as_fd())
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Lets the driver look at the fill ring: only zero-copy drivers ask for it.
    fn wake(&self, events: i16) {
        let mut polled = libc::pollfd { fd: self.fd.as_raw_fd(), events, revents: 0 };
        // SAFETY: one live pollfd; a timeout of zero does not block. Its outcome shows in the rings.
        unsafe { libc::poll(&raw mut polled, 1, 0) };
    }
}

impl Drop for Xsk {
    /// What the others of the queue can still use. What arrives from now on until the socket closes is lost with its frames, as is
    /// what was never sent.
    fn drop(&mut self) {
        while let Some(descriptor) = self.receive.pop() {
            self.spent.push(descriptor.addr & !(self.umem.frame as u64 - 1));
        }
        let mut pool = lock(&self.umem.pool);
        pool.take_back(&mut self.spent);
        pool.free.append(&mut self.free);
    }
}

impl Pool {
    /// Puts spent frames into the fill ring; returns whether the driver needs a wake-up.
    fn take_back(&mut self, spent: &mut Vec<u64>) -> bool {
        // There is room: the ring holds twice the frames that are for receiving.
        spent.drain(..).for_each(|address| self.fill.push(address));
        self.fill.submit();
        self.fill.needs_wakeup()
    }

    /// Takes back the frames that have been sent, by any socket.
    fn reclaim(&mut self) {
        let mut any = false;
        while let Some(address) = self.completion.pop() {
            self.free.push(address & !(self.frame as u64 - 1));
            any = true;
        }
        if any {
            self.completion.release();
        }
    }
}

/// Who panicked in it, which is a defect, left frames lost at worst.
fn lock(pool: &Mutex<Pool>) -> MutexGuard<'_, Pool> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

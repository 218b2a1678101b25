//! An AF_XDP socket: its memory, its four rings, and who owns which frame.
//!
//! Every frame of the memory is in exactly one place: the fill ring or the kernel's receive path (the kernel writes it), the
//! receive ring (ours to read), the transmit or completion ring (the kernel reads it), or the free list (ours to write). All
//! methods keep that; so they are safe.

use std::io;
use std::marker::PhantomData;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use libc::{c_int, off_t, sockaddr_xdp, socklen_t, xdp_desc, xdp_mmap_offsets, xdp_ring_offset, xdp_statistics, xdp_umem_reg};

use super::{Plain, check, get_option, pending_error, set_option, socket};

/// Bytes of a frame: one page, the most that the kernel allows for aligned frames.
pub(crate) const FRAME: usize = 4096;
/// Bytes that the kernel keeps free in front of a received packet (XDP_PACKET_HEADROOM).
const KERNEL_HEADROOM: usize = 256;
/// Longest packet that a frame holds.
pub(crate) const MAX_FRAME: usize = FRAME - KERNEL_HEADROOM;
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

/// See the file's top.
pub(crate) struct Xsk {
    // Dropped in this order: the socket first, so that the kernel lets go of what the rings and the memory map.
    fd: OwnedFd,
    fill: Ring<u64>,
    receive: Ring<xdp_desc>,
    transmit: Ring<xdp_desc>,
    completion: Ring<u64>,
    memory: Mapping,
    free: Vec<u64>,
}

// SAFETY: `xdp_umem_reg`, `xdp_statistics` and `xdp_mmap_offsets` are structures of integers.
unsafe impl Plain for xdp_umem_reg {}
// SAFETY: as above.
unsafe impl Plain for xdp_statistics {}
// SAFETY: as above.
unsafe impl Plain for xdp_mmap_offsets {}

impl Xsk {
    /// A socket with `ring` frames (a power of two) for each direction, not bound yet. The error names the step that failed.
    pub(crate) fn open(ring: u32) -> Result<Xsk, (&'static str, io::Error)> {
        let fd = socket(libc::AF_XDP, libc::SOCK_RAW, 0).map_err(|e| ("opening an AF_XDP socket", e))?;
        let frames = 2 * ring as usize;
        let memory = Mapping::anonymous(frames * FRAME).map_err(|e| ("allocating packet memory", e))?;
        let registration = xdp_umem_reg {
            addr: memory.start.as_ptr() as u64,
            len: memory.length as u64,
            chunk_size: FRAME as u32,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        set_option(fd.as_fd(), libc::SOL_XDP, libc::XDP_UMEM_REG, registration).map_err(|e| ("registering packet memory", e))?;
        for name in [libc::XDP_UMEM_FILL_RING, libc::XDP_UMEM_COMPLETION_RING, libc::XDP_RX_RING, libc::XDP_TX_RING] {
            set_option(fd.as_fd(), libc::SOL_XDP, name, ring).map_err(|e| ("sizing rings", e))?;
        }
        // Older kernels do not know it: more system calls, same result.
        let _ = set_option(fd.as_fd(), libc::SOL_XDP, XDP_MAX_TX_SKB_BUDGET, ring.min(256));
        let offsets: xdp_mmap_offsets =
            get_option(fd.as_fd(), libc::SOL_XDP, libc::XDP_MMAP_OFFSETS).map_err(|e| ("reading ring offsets", e))?;
        let map = |e| ("mapping rings", e);
        let mut xsk = Xsk {
            fill: Ring::map(fd.as_fd(), libc::XDP_UMEM_PGOFF_FILL_RING as off_t, &offsets.fr, ring).map_err(map)?,
            receive: Ring::map(fd.as_fd(), libc::XDP_PGOFF_RX_RING, &offsets.rx, ring).map_err(map)?,
            transmit: Ring::map(fd.as_fd(), libc::XDP_PGOFF_TX_RING, &offsets.tx, ring).map_err(map)?,
            completion: Ring::map(fd.as_fd(), libc::XDP_UMEM_PGOFF_COMPLETION_RING as off_t, &offsets.cr, ring).map_err(map)?,
            memory,
            free: (u64::from(ring)..frames as u64).map(|frame| frame * FRAME as u64).collect(),
            fd,
        };
        for frame in 0..u64::from(ring) {
            xsk.fill.push(frame * FRAME as u64);
        }
        xsk.fill.submit();
        Ok(xsk)
    }

    /// Binds to one queue of an interface. From here on packets flow, once a program redirects to this socket.
    pub(crate) fn bind(&self, ifindex: u32, queue: u32, copying: Copying) -> io::Result<()> {
        let mode = match copying {
            Copying::Copy => libc::XDP_COPY,
            Copying::Zero => libc::XDP_ZEROCOPY,
        };
        let address = sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: mode | libc::XDP_USE_NEED_WAKEUP,
            sxdp_ifindex: ifindex,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: 0,
        };
        let length = size_of::<sockaddr_xdp>() as socklen_t;
        // SAFETY: pointer and length describe `address`.
        check(unsafe { libc::bind(self.fd.as_raw_fd(), (&raw const address).cast(), length) })?;
        Ok(())
    }

    /// Hands up to `limit` received packets to `take` and gives their frames back to the kernel. Returns how many.
    pub(crate) fn receive(&mut self, limit: usize, mut take: impl FnMut(&[u8])) -> usize {
        let mut count = 0;
        let mut any = false;
        while count < limit {
            let Some(descriptor) = self.receive.pop() else { break };
            any = true;
            // SAFETY: a frame in the receive ring is ours until it goes back into the fill ring below.
            if let Some(bytes) = unsafe { self.memory.bytes(descriptor.addr, descriptor.len as usize) } {
                take(bytes);
                count += 1;
            }
            // There is room: of the frames that the fill ring was made for, this one is not in it.
            self.fill.push(descriptor.addr & !(FRAME as u64 - 1));
        }
        if any {
            self.receive.release();
            self.fill.submit();
        }
        if self.fill.needs_wakeup() {
            self.wake(libc::POLLIN);
        }
        count
    }

    /// Queues a copy of `packet` for transmission. `false` if all frames are under way, or it is longer than a frame.
    /// The kernel sees it after [`Xsk::submit`].
    pub(crate) fn transmit(&mut self, packet: &[u8]) -> bool {
        if packet.len() > MAX_FRAME || self.transmit.is_full() {
            return false;
        }
        let Some(address) = self.free.pop() else { return false };
        // SAFETY: a frame of the free list is in no ring: nobody else reads or writes it.
        if let Some(bytes) = unsafe { self.memory.bytes_mut(address, packet.len()) } {
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

    /// Whether the kernel waits to be told that there is something to send.
    pub(crate) fn wants_kick(&self) -> bool {
        self.transmit.needs_wakeup()
    }

    /// Tells the kernel to send; one call sends only so many.
    pub(crate) fn kick(&self) -> io::Result<()> {
        // SAFETY: an empty message: no pointers are read.
        check(unsafe { libc::sendto(self.fd.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0) } as c_int)?;
        Ok(())
    }

    /// Takes back the frames that have been sent.
    pub(crate) fn reclaim(&mut self) {
        let mut any = false;
        while let Some(address) = self.completion.pop() {
            self.free.push(address & !(FRAME as u64 - 1));
            any = true;
        }
        if any {
            self.completion.release();
        }
    }

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

/// Memory from mmap(2), unmapped when dropped.
struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: plain memory that this value alone owns; `Xsk` is used by one thread at a time.
unsafe impl Send for Mapping {}

impl Mapping {
    fn anonymous(length: usize) -> io::Result<Mapping> {
        Mapping::map(length, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE, -1, 0)
    }

    fn map(length: usize, flags: c_int, fd: RawFd, offset: off_t) -> io::Result<Mapping> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping where the kernel likes: no existing memory is touched.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, fd, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast::<u8>()).ok_or_else(|| io::Error::other("mmap returned null"))?;
        Ok(Mapping { start, length })
    }

    fn contains(&self, address: u64, length: usize) -> bool {
        usize::try_from(address).ok().and_then(|a| a.checked_add(length)).is_some_and(|end| end <= self.length)
    }

    /// # Safety
    /// While the slice lives nobody, the kernel included, writes there.
    unsafe fn bytes(&self, address: u64, length: usize) -> Option<&[u8]> {
        // SAFETY: inside the mapping as just checked; initialised, as mmap gives zeroes.
        self.contains(address, length).then(|| unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(address as usize), length) })
    }

    /// # Safety
    /// While the slice lives nobody else, the kernel included, reads or writes there.
    unsafe fn bytes_mut(&mut self, address: u64, length: usize) -> Option<&mut [u8]> {
        // SAFETY: as above, and `self` is exclusively borrowed.
        self.contains(address, length).then(|| unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(address as usize), length) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped, and no slice of it outlives `self`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// A single-producer, single-consumer ring shared with the kernel, whichever side we are: `push` and `submit` for the rings that
/// we fill, `pop` and `release` for those we empty. Indices run freely and wrap at 2^32.
struct Ring<T> {
    mapping: Mapping,
    producer: usize,
    consumer: usize,
    flags: usize,
    entries: usize,
    size: u32,
    /// Our index, ahead of the shared one until `submit` or `release`.
    mine: u32,
    /// The kernel's index when last looked at.
    theirs: u32,
    entry: PhantomData<T>,
}

impl<T: Copy> Ring<T> {
    fn map(fd: BorrowedFd<'_>, page: off_t, offsets: &xdp_ring_offset, size: u32) -> io::Result<Ring<T>> {
        let entries = offsets.desc as usize;
        let length = entries + size as usize * size_of::<T>();
        let mapping = Mapping::map(length, libc::MAP_SHARED | libc::MAP_POPULATE, fd.as_raw_fd(), page)?;
        let inside = |offset: u64| mapping.contains(offset, size_of::<u32>()) && offset.is_multiple_of(4);
        if !(inside(offsets.producer) && inside(offsets.consumer) && inside(offsets.flags) && entries.is_multiple_of(align_of::<T>())) {
            return Err(io::Error::other("the kernel's ring offsets make no sense"));
        }
        Ok(Ring {
            mapping,
            producer: offsets.producer as usize,
            consumer: offsets.consumer as usize,
            flags: offsets.flags as usize,
            entries,
            size,
            mine: 0,
            theirs: 0,
            entry: PhantomData,
        })
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: `map` checked that the offset is inside the mapping and aligned; both sides access it atomically.
        unsafe { &*self.mapping.start.as_ptr().add(offset).cast::<AtomicU32>() }
    }

    fn entry(&self, index: u32) -> *mut T {
        let at = self.entries + (index & (self.size - 1)) as usize * size_of::<T>();
        // SAFETY: masked to the ring's size: inside the mapping, whose length `map` computed from it.
        unsafe { self.mapping.start.as_ptr().add(at).cast::<T>() }
    }

    /// As producer: whether there is no room.
    fn is_full(&mut self) -> bool {
        if self.mine.wrapping_sub(self.theirs) == self.size {
            self.theirs = self.word(self.consumer).load(Ordering::Acquire);
        }
        self.mine.wrapping_sub(self.theirs) == self.size
    }

    /// As producer: adds an entry, which the kernel sees after `submit`. Does nothing if the ring is full.
    fn push(&mut self, entry: T) {
        if self.is_full() {
            debug_assert!(false, "ring overrun");
            return;
        }
        // SAFETY: between our index and the kernel's the entry is ours to write.
        unsafe { self.entry(self.mine).write(entry) };
        self.mine = self.mine.wrapping_add(1);
    }

    fn submit(&mut self) {
        self.word(self.producer).store(self.mine, Ordering::Release);
    }

    /// As producer: entries that the kernel has not consumed.
    fn unconsumed(&self) -> u32 {
        self.mine.wrapping_sub(self.word(self.consumer).load(Ordering::Acquire))
    }

    /// As consumer: the next entry; the kernel may reuse its place after `release`.
    fn pop(&mut self) -> Option<T> {
        if self.mine == self.theirs {
            self.theirs = self.word(self.producer).load(Ordering::Acquire);
        }
        if self.mine == self.theirs {
            return None;
        }
        // SAFETY: between our index and the kernel's the entry is filled and ours to read.
        let entry = unsafe { self.entry(self.mine).read() };
        self.mine = self.mine.wrapping_add(1);
        Some(entry)
    }

    fn release(&mut self) {
        self.word(self.consumer).store(self.mine, Ordering::Release);
    }

    fn needs_wakeup(&self) -> bool {
        self.word(self.flags).load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring over plain memory: the test plays the kernel.
    fn ring() -> Ring<u64> {
        let mapping = Mapping::anonymous(4096).unwrap();
        Ring {
            mapping,
            producer: 0,
            consumer: 64,
            flags: 128,
            entries: 192,
            size: 4,
            mine: u32::MAX - 1,
            theirs: u32::MAX - 1,
            entry: PhantomData,
        }
    }

    #[test]
    fn a_ring_wraps_and_fills() {
        let mut producer = ring();
        producer.word(producer.consumer).store(u32::MAX - 1, Ordering::Release);
        for value in 0..4 {
            assert!(!producer.is_full());
            producer.push(value);
        }
        assert!(producer.is_full());
        producer.submit();
        assert_eq!(producer.unconsumed(), 4);
        producer.word(producer.consumer).store(0, Ordering::Release);
        assert!(!producer.is_full());
        assert_eq!(producer.unconsumed(), 2);

        let mut consumer = ring();
        consumer.word(consumer.producer).store(1, Ordering::Release);
        for index in [u32::MAX - 1, u32::MAX, 0] {
            // SAFETY: the index is masked; the test owns the memory.
            unsafe { consumer.entry(index).write(u64::from(index)) };
        }
        let got: Vec<u64> = std::iter::from_fn(|| consumer.pop()).collect();
        assert_eq!(got, [u64::from(u32::MAX - 1), u64::from(u32::MAX), 0]);
        consumer.release();
        assert_eq!(consumer.word(consumer.consumer).load(Ordering::Acquire), 1);
    }

    #[test]
    fn memory_outside_the_mapping_is_never_handed_out() {
        let mapping = Mapping::anonymous(8192).unwrap();
        // SAFETY: nobody else uses the mapping.
        unsafe {
            assert_eq!(mapping.bytes(8190, 2).map(<[u8]>::len), Some(2));
            assert!(mapping.bytes(8190, 3).is_none());
            assert!(mapping.bytes(u64::MAX, 1).is_none());
            assert!(mapping.bytes(1, usize::MAX).is_none());
        }
    }
}

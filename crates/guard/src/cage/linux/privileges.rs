//! Capabilities a caged process gives up. Only root has any; it keeps those that let it work on files of
//! other users, as in a container that mounts a user's folder.

#![expect(unsafe_code, reason = "raw system calls: the only thing allowed between fork and exec")]

use std::io;

use libc::c_ulong;

use super::system::check;

/// CHOWN, `DAC_OVERRIDE`, FOWNER, FSETID, SETGID and SETUID.
const KEPT: u32 = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7;
const LAST: u32 = 63;
const VERSION_3: u32 = 0x2008_0522;
const PR_CAP_AMBIENT: i32 = 47;
const PR_CAP_AMBIENT_CLEAR_ALL: c_ulong = 4;

/// The kernel's `struct __user_cap_header_struct`.
#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

/// The kernel's `struct __user_cap_data_struct`: 32 capabilities.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Gives up what is not kept, for the programs that follow too.
pub(super) fn drop_all() -> io::Result<()> {
    for capability in
        (0..=LAST).filter(|capability| *capability > 31 || KEPT & (1 << capability) == 0)
    {
        // SAFETY: plain numbers. It fails for capabilities nobody has, and without privileges there is
        // nothing to give up.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, c_ulong::from(capability), 0, 0, 0) };
    }
    // SAFETY: plain numbers. Kernels before 4.3 have no such set.
    unsafe { libc::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) };
    let mut header = Header { version: VERSION_3, pid: 0 };
    let mut sets = [Sets::default(); 2];
    // SAFETY: version 3 fills two sets, and both structures outlive the calls.
    unsafe {
        check(libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()))?;
        for (set, kept) in sets.iter_mut().zip([KEPT, 0]) {
            set.effective &= kept;
            set.permitted &= kept;
            set.inheritable = 0;
        }
        check(libc::syscall(libc::SYS_capset, &raw mut header, sets.as_ptr()))
    }
}

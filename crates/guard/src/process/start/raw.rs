//! System calls without the C library, for a process that runs beside us on our own memory.
//!
//! The library keeps the last error in the memory of a thread. A supervisor has no such memory of its own: it would
//! write into that of the thread that started it.

#![expect(unsafe_code, reason = "there is no safe way to make a system call by hand")]

use std::ffi::CStr;

/// Makes a system call; a negative result is an error of the kernel.
///
/// # Safety
/// The arguments must be what the call expects.
#[cfg(target_arch = "x86_64")]
unsafe fn call(number: libc::c_long, arguments: [usize; 4]) -> isize {
    let result: isize;
    // SAFETY: the kernel changes these registers and what the arguments lead to, nothing else.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Makes a system call; a negative result is an error of the kernel.
///
/// # Safety
/// The arguments must be what the call expects.
#[cfg(target_arch = "aarch64")]
unsafe fn call(number: libc::c_long, arguments: [usize; 4]) -> isize {
    let result: isize;
    // SAFETY: the kernel changes this register and what the arguments lead to, nothing else.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") arguments[0] => result,
            in("x1") arguments[1],
            in("x2") arguments[2],
            in("x3") arguments[3],
            options(nostack),
        );
    }
    result
}

/// Makes a system call; a negative result is an error of the kernel.
///
/// # Safety
/// The arguments must be what the call expects.
#[cfg(target_arch = "riscv64")]
unsafe fn call(number: libc::c_long, arguments: [usize; 4]) -> isize {
    let result: isize;
    // SAFETY: the kernel changes this register and what the arguments lead to, nothing else.
    unsafe {
        std::arch::asm!(
            "ecall",
            in("a7") number,
            inlateout("a0") arguments[0] => result,
            in("a1") arguments[1],
            in("a2") arguments[2],
            in("a3") arguments[3],
            options(nostack),
        );
    }
    result
}

/// Makes a system call; a negative result is an error. There is no sandbox on these machines, so nothing runs beside us.
///
/// # Safety
/// The arguments must be what the call expects.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
unsafe fn call(number: libc::c_long, arguments: [usize; 4]) -> isize {
    let [one, two, three, four] = arguments;
    // SAFETY: as the caller says.
    unsafe { libc::syscall(number, one, two, three, four) as isize }
}

/// What [`reap`] found.
pub(super) enum Reaped {
    /// This child has ended, with this status.
    Child(i32, i32),
    /// There are children, but none has ended.
    Running,
    /// There are no children.
    Empty,
}

/// Takes a child that has ended off the books, without waiting.
pub(super) fn reap() -> Reaped {
    let mut status = 0_i32;
    let flags = libc::WNOHANG | libc::__WALL;
    // SAFETY: the status outlives the call; -1 stands for any child.
    let result = unsafe {
        call(
            libc::SYS_wait4,
            [usize::MAX, (&raw mut status) as usize, flags.cast_unsigned() as usize, 0],
        )
    };
    match i32::try_from(result) {
        Ok(0) => Reaped::Running,
        Ok(child @ 1..) => Reaped::Child(child, status),
        Ok(_) | Err(_) => Reaped::Empty,
    }
}

/// Waits for one of the signals of a mask, at most `limit_ms` if that is given. All are blocked. Returns its
/// number, or something negative.
pub(super) fn wait_for_signal(mask: u64, limit_ms: Option<u32>) -> isize {
    let limit = limit_ms.map(|ms| [0_i64, i64::from(ms) * 1_000_000]);
    let limit = limit.as_ref().map_or(0, |limit| limit.as_ptr() as usize);
    // SAFETY: mask and time outlive the call; what came with the signal is not asked for.
    unsafe {
        call(libc::SYS_rt_sigtimedwait, [(&raw const mask) as usize, 0, limit, size_of::<u64>()])
    }
}

/// Writes a few bytes.
pub(super) fn write(descriptor: i32, bytes: &[u8]) -> isize {
    // SAFETY: the bytes outlive the call.
    unsafe {
        call(
            libc::SYS_write,
            [descriptor.cast_unsigned() as usize, bytes.as_ptr() as usize, bytes.len(), 0],
        )
    }
}

/// Reads the beginning of a file; the number of bytes, or something negative.
pub(super) fn read_file(path: &CStr, bytes: &mut [u8]) -> isize {
    let here = libc::AT_FDCWD.cast_unsigned() as usize;
    let flags = (libc::O_RDONLY | libc::O_CLOEXEC).cast_unsigned() as usize;
    // SAFETY: path and bytes outlive the calls; the descriptor is closed once.
    unsafe {
        let file = call(libc::SYS_openat, [here, path.as_ptr() as usize, flags, 0]);
        let Ok(file) = usize::try_from(file) else { return file };
        let count = call(libc::SYS_read, [file, bytes.as_mut_ptr() as usize, bytes.len(), 0]);
        call(libc::SYS_close, [file, 0, 0, 0]);
        count
    }
}

/// Kills a process.
pub(super) fn kill(process: usize) {
    // SAFETY: plain numbers.
    unsafe { call(libc::SYS_kill, [process, libc::SIGKILL.cast_unsigned() as usize, 0, 0]) };
}

/// Ends this process.
pub(super) fn exit(code: usize) -> ! {
    loop {
        // SAFETY: a number; the call does not return.
        unsafe { call(libc::SYS_exit_group, [code, 0, 0, 0]) };
    }
}

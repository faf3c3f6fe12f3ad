//! The system calls of a child on its way into the cage. None allocates; the C library has no names for
//! most of them.

#![expect(unsafe_code, reason = "raw system calls: the only thing allowed between fork and exec")]

use std::ffi::CStr;
use std::io;
use std::ptr;

use libc::{c_int, c_long, c_uint, c_ulong};

const OPEN_TREE_CLONE: c_uint = 1;
const AT_RECURSIVE: c_uint = 0x8000;
const MOVE_MOUNT_F_EMPTY_PATH: c_uint = 4;
const MOVE_MOUNT_T_SYMLINKS: c_uint = 0x10;
const MOUNT_ATTR_RDONLY: u64 = 1;

/// Whether a link at the end of a path stands for itself or for what it points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    Itself,
    Target,
}

/// What can be done in a new file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    Link,
    Other,
}

/// A descriptor of the child; closed when dropped.
pub(super) struct Tree(c_int);

impl Drop for Tree {
    fn drop(&mut self) {
        // SAFETY: ours, and closed once.
        unsafe { libc::close(self.0) };
    }
}

/// The kernel's `struct mount_attr`.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// The kernel's `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct PathBeneath {
    access: u64,
    parent: c_int,
}

/// Adds a rule about all below a folder to a ruleset.
pub(super) fn add_rule(ruleset: c_int, path: &CStr, access: u64) -> io::Result<()> {
    const PATH_BENEATH: c_uint = 1;
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: path and rule outlive the calls; the descriptor is closed by `Tree`.
    unsafe {
        let folder = Tree(libc::open(path.as_ptr(), flags));
        check(folder.0.into())?;
        let rule = PathBeneath { access, parent: folder.0 };
        let call = libc::SYS_landlock_add_rule;
        check(libc::syscall(call, ruleset, PATH_BENEATH, &raw const rule, 0))
    }
}

/// Mounts a new file system of a kind that needs no device, read-only where nothing is to be written.
pub(super) fn mount_new(
    kind: &CStr,
    path: &CStr,
    options: &CStr,
    access: Access,
) -> io::Result<()> {
    let read_only = if access == Access::Read { libc::MS_RDONLY } else { 0 };
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC | read_only;
    // SAFETY: the strings outlive the call.
    check(
        unsafe {
            libc::mount(kind.as_ptr(), path.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast())
        }
        .into(),
    )
}

/// Keeps others from looking into this process, as our own hardening does.
pub(super) fn refuse_looks() -> io::Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) }.into())
}

/// Leaves the shared namespaces.
pub(super) fn unshare(flags: c_int) -> io::Result<()> {
    // SAFETY: a number.
    check(unsafe { libc::unshare(flags) }.into())
}

/// What is mounted from now on is seen here only.
pub(super) fn make_private() -> io::Result<()> {
    let flags: c_ulong = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: constant strings; source, type and options are not looked at for this change.
    check(
        unsafe { libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), flags, ptr::null()) }.into(),
    )
}

/// A copy of the tree at a path, attached nowhere yet.
pub(super) fn copy_tree(path: &CStr, link: Link) -> io::Result<Tree> {
    let follow = if link == Link::Itself { libc::AT_SYMLINK_NOFOLLOW.cast_unsigned() } else { 0 };
    let flags = OPEN_TREE_CLONE | AT_RECURSIVE | libc::O_CLOEXEC.cast_unsigned() | follow;
    // SAFETY: the path outlives the call.
    let tree = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) };
    check(tree)?;
    Ok(Tree(c_int::try_from(tree).map_err(|_| io::ErrorKind::InvalidData)?))
}

/// Attaches a tree over what is at a path.
pub(super) fn attach(tree: &Tree, path: &CStr, link: Link) -> io::Result<()> {
    let follow = if link == Link::Target { MOVE_MOUNT_T_SYMLINKS } else { 0 };
    let flags = MOVE_MOUNT_F_EMPTY_PATH | follow;
    // SAFETY: both paths outlive the call; the descriptor is ours.
    check(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.0,
            c"".as_ptr(),
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
        )
    })
}

/// Makes a tree read-only, with all mounts below.
pub(super) fn make_tree_read_only(tree: &Tree) -> io::Result<()> {
    set_read_only(tree.0, c"", libc::AT_EMPTY_PATH.cast_unsigned())
}

/// Makes all of the file system read-only.
pub(super) fn make_all_read_only() -> io::Result<()> {
    set_read_only(libc::AT_FDCWD, c"/", 0)
}

fn set_read_only(folder: c_int, path: &CStr, flags: c_uint) -> io::Result<()> {
    let attributes =
        MountAttributes { set: MOUNT_ATTR_RDONLY, clear: 0, propagation: 0, user_namespace: 0 };
    // SAFETY: path and attributes outlive the call, and the size is theirs.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            folder,
            path.as_ptr(),
            flags | AT_RECURSIVE,
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    })
}

/// What is at a path, links not followed.
pub(super) fn kind(path: &CStr, link: Link) -> io::Result<Kind> {
    let flags = if link == Link::Itself { libc::AT_SYMLINK_NOFOLLOW } else { 0 };
    // SAFETY: all-zero bytes are a valid `stat`, and the path outlives the call.
    let found = unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        check(libc::fstatat(libc::AT_FDCWD, path.as_ptr(), &raw mut found, flags).into())?;
        found
    };
    Ok(match found.st_mode & libc::S_IFMT {
        libc::S_IFDIR => Kind::Folder,
        libc::S_IFLNK => Kind::Link,
        _ => Kind::Other,
    })
}

/// Goes to a folder.
pub(super) fn change_folder(path: &CStr) -> io::Result<()> {
    // SAFETY: the path outlives the call.
    check(unsafe { libc::chdir(path.as_ptr()) }.into())
}

/// Writes a short text to a file of `/proc`.
pub(super) fn write_file(path: &CStr, text: &[u8]) -> io::Result<()> {
    // SAFETY: path and text outlive the calls; the descriptor is closed by `Tree`.
    unsafe {
        let file = Tree(libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC));
        check(file.0.into())?;
        let written = libc::write(file.0, text.as_ptr().cast(), text.len());
        check(written as c_long)
    }
}

/// Lets the process look at itself in `/proc`, which our own hardening took from it with the copy.
pub(super) fn allow_own_files() -> io::Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) }.into())
}

/// Gives up all hope of privileges, then enters the ruleset.
pub(super) fn restrict(ruleset: c_int) -> io::Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())?;
    // SAFETY: a descriptor of ours and a number.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) })
}

/// Version of the kernel's Landlock; 0 without it.
pub(super) fn landlock_abi() -> u8 {
    const VERSION: c_uint = 1;
    // SAFETY: no ruleset is given, which is how the version is asked for.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<u8>(), 0_usize, VERSION)
    };
    u8::try_from(version).unwrap_or(0)
}

/// The error of a call that failed.
pub(super) fn check(result: c_long) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

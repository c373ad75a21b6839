#!/bin/sh
# Builds the file system of a sandbox out of nothing, makes it the root, and runs a command in it. Called in new namespaces,
# with the privileges in them to mount; the command drops them.
#
# ROOT OWNER MEGABYTES [PATH]... -- COMMAND...
#   ROOT       an existing folder, hidden from here on
#   OWNER      id of the user who may write in the work folder
#   MEGABYTES  size of the work folder
#   PATH       files and folders of the host that may be read
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin
root=$1 owner=$2 megabytes=$3
shift 3

mount -t tmpfs -o size=4m,mode=755,nosuid,nodev tmpfs "$root"
while [ "$1" != -- ]; do
  mkdir -p "$root$(dirname "$1")"
  if [ -L "$1" ]; then
    cp -P "$1" "$root$1"
  elif [ -d "$1" ]; then
    mkdir -p "$root$1"
    mount --rbind "$1" "$root$1"
  elif [ -f "$1" ]; then
    : > "$root$1"
    mount --bind "$1" "$root$1"
  fi
  shift
done
shift

# Each mount below, with the options that it has: without privileges outside, none of them may be taken away.
findmnt -Rnro TARGET,VFS-OPTIONS "$root" | while read -r target options; do
  target=$(printf '%b' "$target")
  [ "$target" = "$root" ] || mount -o "remount,bind,$options,ro,nosuid,nodev" "$target"
done

mkdir -p "$root/proc" "$root/work" "$root/tmp" "$root/dev/shm" "$root/etc" "$root/.old"
printf 'trial:x:%s:%s::/work:/bin/sh\n' "$owner" "$owner" > "$root/etc/passwd"
for device in null zero full random urandom; do
  : > "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
for stream in stdin:0 stdout:1 stderr:2; do
  ln -s "/proc/self/fd/${stream#*:}" "$root/dev/${stream%:*}"
done
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t tmpfs -o "size=${megabytes}m,nr_inodes=20000,mode=700,uid=$owner,gid=$owner,nosuid,nodev" tmpfs "$root/work"
mount -t tmpfs -o size=64m,nr_inodes=20000,mode=1777,nosuid,nodev tmpfs "$root/tmp"
mount -t tmpfs -o size=64m,nr_inodes=20000,mode=1777,nosuid,nodev,noexec tmpfs "$root/dev/shm"

cd "$root"
pivot_root . .old
umount -l /.old
rmdir /.old
mount -o remount,bind,ro,nosuid,nodev /
cd /work
exec "$@"

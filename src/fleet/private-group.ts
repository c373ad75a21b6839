import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

/** What is known about a user of the system. */
export interface GroupUser {
  /** Undefined where the system has no entry for the user. */
  readonly name?: string | undefined;
  readonly uid: number;
  readonly gid: number;
}

/** Lines of `/etc/group` and `/etc/passwd`: fields between colons. */
export interface GroupFiles {
  readonly groups: string;
  readonly users: string;
}

/** Whether whoever is in a group may do as this user does: the administrators, and a group that is this user's alone. */
export function isPrivateGroup(gid: number): boolean {
  if (gid === 0) return true;
  const user = { name: userName(), uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  return isPrivateGroupOf(user, gid, { groups: read('/etc/group'), users: read('/etc/passwd') });
}

/**
 * Many systems give each user a group with the user's name or number. Others put all users into one group, such as `users`: what that
 * group may write to, others may write to.
 */
export function isPrivateGroupOf(user: GroupUser, gid: number, { groups, users }: GroupFiles): boolean {
  if (gid !== user.gid) return false;
  const group = fieldsOf(groups).find((fields) => fields[2] === String(gid));
  const members = [
    ...(group?.[3]?.split(',') ?? []),
    ...fieldsOf(users)
      .filter((fields) => fields[3] === String(gid))
      .map(([name]) => name),
  ];
  const others = members.filter((name) => name !== '' && name !== user.name);
  const ownName = user.name !== undefined && group?.[0] === user.name;
  return others.length === 0 && (ownName || gid === user.uid);
}

function fieldsOf(text: string): string[][] {
  return text.split('\n').map((line) => line.split(':'));
}

function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // The system has no entry for this user.
    return undefined;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The system keeps its users elsewhere: the numbers alone say whose group it is.
    return '';
  }
}

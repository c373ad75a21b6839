import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

/** The known data of a user of the system. */
export interface GroupUser {
  /** Undefined if the system has no entry for the user. */
  readonly name?: string | undefined;
  readonly uid: number;
  readonly gid: number;
}

/** Lines of `/etc/group` and `/etc/passwd`: fields between colons. */
export interface GroupFiles {
  readonly groups: string;
  readonly users: string;
}

/** Whether members of a group may have this user's rights: administrators, and a group that only has this user. */
export function isPrivateGroup(gid: number): boolean {
  if (gid === 0) return true;
  const user = { name: userName(), uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  return isPrivateGroupOf(user, gid, { groups: read('/etc/group'), users: read('/etc/passwd') });
}

/**
 * Many systems give each user a group with the user's name or number. Others put all users into one group, such as `users`:
 * other users may write where that group may write.
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
  const hasUserName = user.name !== undefined && group?.[0] === user.name;
  return others.length === 0 && (hasUserName || gid === user.uid);
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
    // The system stores its users elsewhere: only the numbers identify the group.
    return '';
  }
}

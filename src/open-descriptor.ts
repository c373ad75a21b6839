import { constants, fstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { UsageError } from './errors.js';

/** What a shell passes for `<(command)`. A link that leads there is something else: anybody can make one. */
const DESCRIPTOR = /^\/(?:dev|proc\/self)\/fd\/(\d{1,6})$/;
/** Standard input has a name of its own, `-`. Standard output and standard error are not there to be read. */
const FIRST_PASSED_ON = 3;

/** O_CLOEXEC and O_NONBLOCK, as `fdinfo` shows them. */
const OWN_DESCRIPTOR_FLAGS = 0o2004000;

const taken = new Set<number>();

/** The number of the descriptor that an argument literally names, where it is a pipe or socket that was passed on. */
export function namedDescriptor(name: string): number | undefined {
  const digits = DESCRIPTOR.exec(name)?.[1];
  if (digits === undefined) return undefined;
  const descriptor = Number(digits);
  if (descriptor < FIRST_PASSED_ON) return undefined;
  try {
    const found = fstatSync(descriptor);
    return (found.isFIFO() || found.isSocket()) && !isOwn(descriptor) ? descriptor : undefined;
  } catch {
    // Not open: opening the name reports the error.
    return undefined;
  }
}

/**
 * Whether Node made it for itself: those do not block and are closed where it starts a program, or are written in this
 * process too. A second reader of one of them would end the process.
 */
function isOwn(descriptor: number): boolean {
  if (process.platform !== 'linux') return false;
  const { pipe, flags } = lookAt(String(descriptor));
  if ((flags & OWN_DESCRIPTOR_FLAGS) === OWN_DESCRIPTOR_FLAGS) return true;
  return readdirSync('/proc/self/fd').some((name) => {
    const other = lookAt(name);
    return other.pipe === pipe && (other.flags & constants.O_WRONLY) !== 0;
  });
}

function lookAt(descriptor: string): { readonly pipe?: string; readonly flags: number } {
  try {
    const pipe = readlinkSync(`/proc/self/fd/${descriptor}`);
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    return { pipe, flags: Number.parseInt(/^flags:\s*(\d+)$/m.exec(info)?.[1] ?? '0', 8) };
  } catch {
    // It was closed meanwhile, like the one by which the folder was listed.
    return { flags: 0 };
  }
}

/**
 * Reads a descriptor. It is a stream that can be interrupted: a read of the file by its name would wait in a thread, which
 * nothing ends.
 * @throws UsageError `unreadable-input` where it was read before.
 */
export function readDescriptor(descriptor: number): Socket {
  if (taken.has(descriptor)) {
    throw new UsageError('unreadable-input', `descriptor ${descriptor} can be read once`);
  }
  taken.add(descriptor);
  return new Socket({ fd: descriptor, readable: true, writable: false });
}

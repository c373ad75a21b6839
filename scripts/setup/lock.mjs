import { linkSync, mkdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { SetupError, say } from './failure.mjs';

const LOCK_TIMEOUT_MS = 15 * 60_000;
/** Taking over a dead owner's lock takes microseconds; a guard this old belongs to a run that died in between. */
const GUARD_EXPIRY_MS = 10_000;

/**
 * Runs `work` while no other process that names the same lock file runs its own. A lock whose owner has died
 * is taken over. (The scripts run before anything is installed or built, so this is alone.)
 *
 * @template T
 * @param {string} path
 * @param {() => Promise<T> | T} work
 * @returns {Promise<T>}
 */
export async function withLock(path, work) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  await acquire(path);
  const release = () => unlinkIfThere(path);
  const endBySignal = (signal) => {
    release();
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.once('SIGINT', endBySignal).once('SIGTERM', endBySignal);
  try {
    return await work();
  } finally {
    process.off('SIGINT', endBySignal).off('SIGTERM', endBySignal);
    release();
  }
}

async function acquire(path) {
  const giveUpAt = Date.now() + LOCK_TIMEOUT_MS;
  let isAnnounced = false;
  while (!create(path)) {
    const owner = readOwner(path);
    if (owner !== undefined && !isAlive(owner)) {
      removeDeadLock(path);
      continue;
    }
    if (Date.now() > giveUpAt) {
      throw new SetupError(
        `Process ${owner} holds ${path} for too long. If it is not a set-up, delete the file.`,
      );
    }
    if (!isAnnounced) say(`Waiting for another set-up (process ${owner}) to finish …`);
    isAnnounced = true;
    await wait(100);
  }
}

/** A hard link makes the file appear whole or not at all, and fails where one exists. */
function create(path) {
  const own = `${path}.${process.pid}`;
  // One of that name was left by a process that is gone, whose number this one has now.
  rmSync(own, { force: true });
  writeFileSync(own, String(process.pid), { flag: 'wx', mode: 0o600 });
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  } finally {
    unlinkSync(own);
  }
}

/** Only the holder of the guard removes a dead owner's lock, so nobody removes the lock of a live successor. */
function removeDeadLock(path) {
  const guard = `${path}.guard`;
  if (!create(guard)) {
    if (age(guard) > GUARD_EXPIRY_MS) unlinkIfThere(guard);
    return;
  }
  try {
    const owner = readOwner(path);
    if (owner !== undefined && !isAlive(owner)) unlinkIfThere(path);
  } finally {
    unlinkIfThere(guard);
  }
}

function readOwner(path) {
  return ifThere(() => Number(readFileSync(path, 'utf8')));
}

function age(path) {
  return Date.now() - (ifThere(() => statSync(path).mtimeMs) ?? Date.now());
}

function unlinkIfThere(path) {
  ifThere(() => unlinkSync(path));
}

function ifThere(read) {
  try {
    return read();
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

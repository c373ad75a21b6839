import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { execa } from 'execa';
import { Docker } from './docker.js';

/** A container engine that can be used. */
export interface Engine {
  readonly docker: Docker;
  readonly version: string;
  /** Whether this program has started it: then nobody else's images and containers are in it. */
  readonly isOwn: boolean;
  stop(): Promise<void>;
}

/** Why there is none. */
export class NoEngine extends Error {}

const READY_MS = 60_000;
const PID_FILE = 'dockerd.pid';
const FOLDERS = ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin'];

/** Images and layers of an engine of our own: kept, so that a second run need not make the base images again. */
function engineFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'solution-fleet', 'engine');
}

/**
 * The engine that the `docker` client reaches, or else one that is started here: `dockerd` needs root, and no service.
 * @throws NoEngine within seconds where there is none.
 */
export async function openEngine(): Promise<Engine> {
  const docker = new Docker();
  const { exitCode } = await docker.try(['--version'], { timeoutMs: 10_000 });
  if (exitCode !== 0) throw new NoEngine('there is no docker client');
  if ((await docker.try(['compose', 'version'], { timeoutMs: 10_000 })).exitCode !== 0) {
    throw new NoEngine(
      'the docker client has no Compose (package docker-compose-v2 or docker-compose-plugin)',
    );
  }
  const version = await versionOf(docker);
  if (version !== undefined) return { docker, version, isOwn: false, stop: async () => undefined };
  return startEngine();
}

async function versionOf(docker: Docker): Promise<string | undefined> {
  const { exitCode, stdout } = await docker.try(['version', '--format', '{{.Server.Version}}'], {
    timeoutMs: 10_000,
  });
  return exitCode === 0 ? stdout.trim() : undefined;
}

async function startEngine(): Promise<Engine> {
  const program = FOLDERS.map((folder) => join(folder, 'dockerd')).find((path) => existsSync(path));
  if (program === undefined) throw new NoEngine('no engine answers, and dockerd is not installed');
  if (process.getuid?.() !== 0) throw new NoEngine('no engine answers, and only root may start dockerd');
  const folder = engineFolder();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const at = (name: string) => join(folder, name);
  await stopLeftover(folder);
  const log = openSync(at('dockerd.log'), 'w');
  const host = `unix://${at('docker.sock')}`;
  const child = spawn(
    program,
    [
      ...['--data-root', at('data'), '--exec-root', at('run'), '--pidfile', at(PID_FILE)],
      ...['--host', host, '--mtu', String(await mtuOfDefaultRoute())],
    ],
    { stdio: ['ignore', log, log], detached: true },
  );
  const docker = new Docker(host);
  try {
    const version = await untilReady(child, docker);
    return { docker, version, isOwn: true, stop: () => stopEngine(child) };
  } catch (thrown) {
    await stopEngine(child);
    const lines = readFileSync(at('dockerd.log'), 'utf8').trim().split('\n').slice(-3).join('\n');
    throw new NoEngine(`${thrown instanceof Error ? thrown.message : String(thrown)}:\n${lines}`);
  }
}

async function untilReady(child: ChildProcess, docker: Docker): Promise<string> {
  const giveUpAt = performance.now() + READY_MS;
  while (performance.now() < giveUpAt) {
    if (child.exitCode !== null) throw new Error(`dockerd ended with ${child.exitCode}`);
    const version = await versionOf(docker);
    if (version !== undefined) return version;
    await wait(250);
  }
  throw new Error(`dockerd was not ready within ${READY_MS / 1_000} s`);
}

/** Removes images and layers of earlier runs. */
export async function removeEngineFolder(): Promise<void> {
  await stopLeftover(engineFolder());
  rmSync(engineFolder(), { recursive: true, force: true });
}

/** Stops the engine of a run that was killed. */
async function stopLeftover(folder: string): Promise<void> {
  const pidFile = join(folder, PID_FILE);
  if (!existsSync(pidFile)) return;
  const commandLine = `/proc/${readFileSync(pidFile, 'utf8').trim()}/cmdline`;
  const isRunning = () => existsSync(commandLine) && readFileSync(commandLine, 'utf8').includes(folder);
  if (isRunning()) process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGTERM');
  while (isRunning()) await wait(250);
}

/** It stops its containers first. */
async function stopEngine(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Packets of containers that are larger than those of the machine are lost in some networks. */
async function mtuOfDefaultRoute(): Promise<number> {
  const { stdout } = await execa('ip', ['route', 'show', 'default'], { reject: false });
  const device = /dev (\S+)/.exec(String(stdout))?.[1];
  if (device === undefined) return 1_500;
  return Math.min(1_500, Number(readFileSync(`/sys/class/net/${device}/mtu`, 'utf8')));
}

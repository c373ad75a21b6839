import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function hasCompiler(): boolean {
  try {
    execFileSync('gcc', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    // None is installed: the data are then hostile by their keys alone.
    return false;
  }
}

const WITH_GCC = hasCompiler();

/** A key that a server has only if it has loaded the data. */
export const PLANTED_KEY = 'planted';

/** Data of a Redis server that run native code when they are loaded: a file `marker` then appears beside them. */
export function plantHostileData(folder: string): { readonly marker: string } {
  const data = join(folder, 'appendonlydir');
  mkdirSync(data, { recursive: true });
  const marker = join(folder, 'marker');
  const commands = [
    ['SELECT', '0'],
    ['SET', PLANTED_KEY, 'yes'],
  ];
  if (WITH_GCC) {
    compileModule(folder, marker);
    commands.push(['MODULE', 'LOAD', './m.so']);
  }
  writeFileSync(join(data, 'appendonly.aof.manifest'), 'file appendonly.aof.1.incr.aof seq 1 type i\n');
  writeFileSync(join(data, 'appendonly.aof.1.incr.aof'), commands.map(encode).join(''));
  return { marker };
}

function compileModule(folder: string, marker: string): void {
  const source = join(folder, 'm.c');
  const code = [
    '#include <fcntl.h>',
    '#include <unistd.h>',
    'int RedisModule_OnLoad(void *c, void **v, int n) {',
    `  close(open(${JSON.stringify(marker)}, O_CREAT | O_WRONLY, 0600));`,
    '  return 1;',
    '}',
  ];
  writeFileSync(source, code.join('\n'));
  execFileSync('gcc', ['-shared', '-fPIC', '-o', join(folder, 'm.so'), source]);
}

function encode(command: readonly string[]): string {
  return `*${command.length}\r\n${command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`;
}
